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

/* What objdump printed. */
struct pd_objdump_output {
    struct pd_text text; /* the caller's to free */
    bool failed;         /* it could not be started, or ended with another code than 0 */
    int error;           /* 0, minus its exit code, or one of the above */
};

/* Runs objdump on the code of the file from address `start` to before `end`, which are addresses as
 * in the file, and waits for its end. May be called on any thread. What objdump says on its
 * standard error is dropped. It is not run on a path that is no regular file. */
void pd_objdump_run(const struct pd_objdump *how, const char *path, uint64_t start, uint64_t end,
                    struct pd_objdump_output *out);
/* The command line, as perf shows it. */
void pd_objdump_command(const struct pd_objdump *how, uint64_t start, uint64_t end,
                        struct pd_text *out);
/* Looks in PATH for the objdump of another architecture (pd_arch_normalise()'s name) than this
 * machine's and writes its name to `name`; false: there is none. */
bool pd_objdump_find(const char *arch, char *name, size_t size);

#endif
