/* SPDX-License-Identifier: MIT */
/* The program objdump, which turns code into text. */
#ifndef PD_OBJDUMP_H
#define PD_OBJDUMP_H
#include "base/text.h"

struct pd_objdump {
    const char *program; /* looked for in PATH where it has no slash */
    const char *style;   /* -M; NULL: none */
    const char *prefix;  /* of source files' paths; NULL: none */
    const char *prefix_strip;
    bool source, raw; /* -S; the bytes of instructions */
};

enum {
    PD_OBJDUMP_NO_OUTPUT = -1, /* whatever its exit code was */
    PD_OBJDUMP_MEMORY = -1000
};

/* What it printed. */
struct pd_objdump_output {
    struct pd_text text; /* the caller's to free */
    bool failed;         /* it could not be started, or ended with another code than 0 */
    int error;           /* 0, minus its exit code, or one of the above */
};

/* Runs it for the code of the file from `start` to before `end`, as the file counts. Waits for its
 * end; any thread. What it says on its standard error is dropped. A path that is no regular file is
 * not given to it. */
void pd_objdump_run(const struct pd_objdump *how, const char *path, uint64_t start, uint64_t end,
                    struct pd_objdump_output *out);
/* The command line, as perf shows it. */
void pd_objdump_command(const struct pd_objdump *how, uint64_t start, uint64_t end,
                        struct pd_text *out);
/* The objdump for code of another architecture (pd_arch_normalise()'s name) than this machine's, in
 * PATH: written to `name`; false: there is none. */
bool pd_objdump_find(const char *arch, char *name, size_t size);

#endif
