/* SPDX-License-Identifier: MIT */
/* System calls by number: their names, their arguments, and the words that these are shown as. */
#ifndef PD_RENDER_TRACE_SYSCALL_H
#define PD_RENDER_TRACE_SYSCALL_H
#include "base/text.h"

enum { PD_SYSCALL_ARGUMENTS = 6 };

struct pd_syscall_row;

/* Which numbers the flags of open() have. */
enum pd_open_flags { PD_OPEN_GENERIC, PD_OPEN_ARM, PD_OPEN_POWERPC };

/* What differs between machines. */
struct pd_syscall_machine {
    const char *arch; /* pattern of the kernel's names for the machine */
    uint8_t word;     /* bytes of a `long` */
    enum pd_open_flags open_flags;
    bool is_powerpc; /* further flags and commands, too, have numbers of their own */
    bool is_generic; /* its calls have the numbers that newer machines share */
};

struct pd_syscall_argument {
    const struct pd_syscall_row *row; /* how the argument is shown; NULL: by its type */
    char *name, *type; /* as the kernel's tracepoints have them; both lie in the memory at `type` */
};

struct pd_syscall {
    const char *name; /* NULL: no call has that number */
    const char *like; /* the call whose arguments it has, mostly itself */
    const struct pd_syscall_machine *machine;
    bool perf_lacks; /* perf on that machine does not show it */
    bool is_exit;    /* it ends the thread or the process, and so never returns */
    unsigned count;
    struct pd_syscall_argument arguments[PD_SYSCALL_ARGUMENTS];
};

struct pd_syscalls;

/* Is there a table of system calls for such a machine ("aarch64", as its kernel calls itself)? */
bool pd_syscalls_know(const char *arch);
/* The calls of a machine; NULL: no memory, or no table. */
struct pd_syscalls *pd_syscalls_new(const char *arch);
void pd_syscalls_free(struct pd_syscalls *syscalls);
/* NULL: there is no call of that number. */
const struct pd_syscall *pd_syscalls_at(const struct pd_syscalls *syscalls, uint64_t number);

/* Does the name match one of the patterns, as in "open*,read", or with "!" before these none of
 * them? NULL: yes. */
bool pd_syscall_is_one_of(const char *name, const char *patterns);

/* How the call's argument of that name is shown; NULL: by its type. */
const struct pd_syscall_row *pd_syscall_row(const struct pd_syscall *syscall, const char *argument);

/* The name of a task; NULL: it is not known. */
struct pd_task_names {
    const char *(*name)(void *data, uint32_t tid);
    void *data;
};

/* A call's text. perf writes "0x" for some bits and then moves back over it, so that these
 * characters are seen only where nothing is written over them. */
struct pd_syscall_text {
    struct pd_text text;
    bool zeros, no_names; /* of arguments; zeros are also shown without names */
    /* the end of `text` when such characters, PD_SYSCALL_HANGING, were left behind it */
    size_t hanging;
};
enum { PD_SYSCALL_HANGING = 3 };

/* The arguments that the call does not read, given the values of its others, as bits of argument
 * numbers. Flags that are 0 decide this only where they are shown (`zeros`). */
unsigned pd_syscall_unread(const struct pd_syscall *syscall, const uint64_t *values, bool zeros);
/* Appends an argument's value as perf shows it; false: it is not shown. `values` are those of all
 * arguments of the call. */
bool pd_syscall_put_argument(const struct pd_syscall *syscall, unsigned index,
                             const uint64_t *values, const struct pd_task_names *names,
                             struct pd_syscall_text *out);
/* A result as the machine means it: on one of 32 bits, negative values below the errors are
 * addresses and have no sign. */
int64_t pd_syscall_result(const struct pd_syscall *syscall, uint64_t value);
/* Whether the call's result is an address, or a process. */
bool pd_syscall_returns_address(const struct pd_syscall *syscall);
bool pd_syscall_returns_task(const struct pd_syscall *syscall);
/* Appends a result that is shown as a word, depending on the arguments; false: it is a number. */
bool pd_syscall_put_result(const struct pd_syscall *syscall, const uint64_t *values, int64_t result,
                           const struct pd_task_names *names, struct pd_text *out);
/* Whether a result of 0 is shown as "0 (Timeout)". */
bool pd_syscall_times_out(const struct pd_syscall *syscall);

#endif
