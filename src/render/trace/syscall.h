/* SPDX-License-Identifier: MIT */
/* System calls by number: their names, their arguments, the words for these. */
#ifndef PD_RENDER_TRACE_SYSCALL_H
#define PD_RENDER_TRACE_SYSCALL_H
#include "base/text.h"

enum { PD_SYSCALL_ARGUMENTS = 6 };

struct pd_syscall_row;

/* Which bits of open() mean what. */
enum pd_open_flags { PD_OPEN_GENERIC, PD_OPEN_ARM, PD_OPEN_POWERPC };

/* What differs between machines. */
struct pd_syscall_machine {
    const char *arch; /* a pattern of what its kernel calls it */
    uint8_t word;     /* bytes of a `long` */
    enum pd_open_flags open_flags;
    bool is_powerpc; /* further flags and commands have other numbers */
    bool is_generic; /* its calls have the numbers of the table that new machines share */
};

struct pd_syscall_argument {
    const struct pd_syscall_row *row; /* how it is shown; NULL: by its type */
    char *name, *type; /* as the kernel's tracepoints have them; type begins the memory of both */
};

struct pd_syscall {
    const char *name; /* NULL: there is none of that number */
    const char *like; /* the call's name whose arguments it has, mostly its own */
    const struct pd_syscall_machine *machine;
    bool perf_lacks; /* perf on that machine shows nothing of it */
    unsigned count;
    struct pd_syscall_argument arguments[PD_SYSCALL_ARGUMENTS];
};

struct pd_syscalls;

/* Is there a table of calls of such a machine ("aarch64", as its kernel says)? */
bool pd_syscalls_know(const char *arch);
/* NULL: no memory, or no table. */
struct pd_syscalls *pd_syscalls_new(const char *arch);
void pd_syscalls_free(struct pd_syscalls *syscalls);
/* NULL: there is no call of that number. */
const struct pd_syscall *pd_syscalls_at(const struct pd_syscalls *syscalls, uint64_t number);

/* Is the name one of the patterns "open*,read"; behind "!": none of them? NULL: yes. */
bool pd_syscall_is_one_of(const char *name, const char *patterns);

/* How an argument of that name is shown; NULL: by its type. */
const struct pd_syscall_row *pd_syscall_row(const struct pd_syscall *syscall, const char *argument);

/* The name of a task; NULL: it is not known. */
struct pd_task_names {
    const char *(*name)(void *data, uint32_t tid);
    void *data;
};

/* A call's text. perf writes "0x" for some bits and then takes it back: where nothing follows it is
 * seen. */
struct pd_syscall_text {
    struct pd_text text;
    bool zeros, no_names; /* of arguments; without their names zeros are shown, too */
    /* where `text` ended when such characters, PD_SYSCALL_HANGING, were left behind it */
    size_t hanging;
};
enum { PD_SYSCALL_HANGING = 3 };

/* The arguments that a call does not read, as others of it say: bits of their numbers. Flags of 0
 * tell so only where they are shown (`zeros`). */
unsigned pd_syscall_unread(const struct pd_syscall *syscall, const uint64_t *values, bool zeros);
/* Appends an argument's value as perf shows it; false: it is not shown. `values` are all of the
 * call's. */
bool pd_syscall_put_argument(const struct pd_syscall *syscall, unsigned index,
                             const uint64_t *values, const struct pd_task_names *names,
                             struct pd_syscall_text *out);
/* A result as the machine means it: of 32 bits what lies above errors is an address. */
int64_t pd_syscall_result(const struct pd_syscall *syscall, uint64_t value);
/* Results that are addresses, or processes. */
bool pd_syscall_returns_address(const struct pd_syscall *syscall);
bool pd_syscall_returns_task(const struct pd_syscall *syscall);
/* A result that is shown as a word, by the arguments; false: it is a number. */
bool pd_syscall_put_result(const struct pd_syscall *syscall, const uint64_t *values, int64_t result,
                           const struct pd_task_names *names, struct pd_text *out);
/* "0 (Timeout)" of it. */
bool pd_syscall_times_out(const struct pd_syscall *syscall);

#endif
