/* SPDX-License-Identifier: MIT */
/* Commands of system calls that decide what the calls' other arguments mean. */
#ifndef PD_RENDER_TRACE_COMMANDS_H
#define PD_RENDER_TRACE_COMMANDS_H

/* fcntl's, by its command. */
enum file_command {
    GETFD = 1,
    SETFD,
    GETFL,
    SETFL,
    GETLK,
    SETLKW = 7,
    SETOWN,
    GETOWN,
    GETSIG = 11,
    SETOWN_EX = 15,
    GETOWN_EX,
    SETLEASE = 1024,
    GETLEASE,
    GET_SEALS = 1034,
    GET_RW_HINT,
    SET_FILE_RW_HINT = 1038
};

/* prctl's, by its option. */
enum { SET_NAME = 15, SET_MM = 35 };

#endif
