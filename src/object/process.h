/* SPDX-License-Identifier: MIT */
/* Whose file a recorded path names: a process in a container, or one that was given another root,
 * maps files whose paths mean something else here. While it lives its files are read through
 * /proc/PID/root. */
#ifndef PD_OBJECT_PROCESS_H
#define PD_OBJECT_PROCESS_H
#include "base/base.h"

enum { PD_ROOT_ROOM = 32 };

/* A file as a process has it mapped. */
struct pd_mapped_file {
    const char *path;
    uint32_t pid;   /* as we count; 0 or all ones: none */
    uint64_t start; /* of the map */
    uint64_t inode; /* 0: not recorded */
    /* inode of the one that a NAMESPACES record gave to the process; 0: none did */
    uint64_t mount_namespace;
};

enum pd_path_owner {
    PD_PATH_OURS,    /* the file that lies there for us, as far as can be told */
    PD_PATH_PROCESS, /* the file that lies there below the process's root */
    PD_PATH_NOBODY /* a file of another mount namespace, or root, that cannot be reached any more */
};

/* `root` gets "/proc/PID/root" for PD_PATH_PROCESS, else "". Costs one stat() for a process that is
 * gone, four for one that sees our files; the maps of other processes are read. */
enum pd_path_owner pd_path_owner(const struct pd_mapped_file *file, char root[PD_ROOT_ROOM]);
/* The pid that the process has in its innermost namespace; 0: the process is gone. */
uint32_t pd_process_own_pid(uint32_t pid);
/* Is a user among those that the process runs as? 1 yes, 0 no, -1: it is gone. */
int pd_process_has_user(uint32_t pid, uint32_t user);
/* Whether a live process has another root than ours, or another mount namespace; `root` as above,
 * filled then. */
bool pd_process_is_elsewhere(uint32_t pid, char root[PD_ROOT_ROOM]);
/* Whether the file at `path` has this inode number, as far as file systems tell. False where there
 * is no such file. */
bool pd_file_has_inode(const char *path, uint64_t inode);

#endif
