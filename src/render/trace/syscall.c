/* SPDX-License-Identifier: MIT */
/* System calls by number, with the arguments that the kernel declares. */
#include "render/trace/syscall.h"
#include <fnmatch.h>
#include <stdlib.h>

/* Lower numbers are looked up in a table; arm has some numbers of its own above them. */
enum { NUMBERS = 512, PRIVATE_NUMBERS = 8 };
enum column { X86_64, I386, AARCH64, RISCV64, ARM, S390X, PPC64, COLUMNS };
enum { NONE = -1 };

struct pd_syscalls {
    struct pd_syscall all[NUMBERS + PRIVATE_NUMBERS];
    struct {
        uint64_t number;
        const struct pd_syscall *call;
    } own[PRIVATE_NUMBERS];
    unsigned own_count;
};

struct call {
    const char *name, *arguments;
    const char *like; /* WIDER: the other call, which has the arguments */
    bool is_hidden;
};

static const struct call calls[] = {
#define CALL(name, arguments) { #name, arguments, NULL, false },
#define OTHER(name, arguments) { #name, arguments, NULL, true },
#define WIDER(name, like) { #name, NULL, #like, true },
#include "render/trace/syscalls.def"
};

static const struct {
    const char *name;
    int32_t on[COLUMNS];
} numbers[] = {
#define NUMBERS(name, ...) { #name, { __VA_ARGS__ } },
#include "render/trace/numbers.def"
};

#define CLONE_BACKWARDS                                                                            \
    "unsigned long clone_flags, unsigned long newsp, int * parent_tidptr, unsigned long tls, "     \
    "int * child_tidptr"
#define CLONE_BACKWARDS_2                                                                          \
    "unsigned long newsp, unsigned long clone_flags, int * parent_tidptr, int * child_tidptr, "    \
    "unsigned long tls"

static const struct machine {
    struct pd_syscall_machine public;
    enum column column;
    const char *clone; /* the arguments of clone where they stand in another order */
} machines[] = {
    { { "x86_64", 8, PD_OPEN_GENERIC, false, false }, X86_64, NULL },
    { { "i?86", 4, PD_OPEN_GENERIC, false, false }, I386, CLONE_BACKWARDS },
    { { "aarch64*", 8, PD_OPEN_ARM, false, true }, AARCH64, CLONE_BACKWARDS },
    { { "riscv64", 8, PD_OPEN_GENERIC, false, true }, RISCV64, CLONE_BACKWARDS },
    { { "arm*", 4, PD_OPEN_ARM, false, false }, ARM, CLONE_BACKWARDS },
    { { "s390x", 8, PD_OPEN_GENERIC, false, false }, S390X, CLONE_BACKWARDS_2 },
    { { "ppc64*", 8, PD_OPEN_POWERPC, true, false }, PPC64, CLONE_BACKWARDS },
};

static const struct machine *machine_of(const char *arch)
{
    for (size_t i = 0; i < PD_LENGTH(machines); i++)
        if (!fnmatch(machines[i].public.arch, arch, 0))
            return &machines[i];
    return NULL;
}

bool pd_syscalls_know(const char *arch)
{
    return machine_of(arch) != NULL;
}

/* Adds an argument, as in "const char * filename". */
static bool add_argument(struct pd_syscall *syscall, const char *text, size_t length)
{
    struct pd_syscall_argument *argument = &syscall->arguments[syscall->count];
    char *type = strndup(text, length), *name = type ? strrchr(type, ' ') : NULL;
    if (!name) {
        free(type);
        return !!type;
    }
    *name = 0;
    *argument = (struct pd_syscall_argument){ .row = pd_syscall_row(syscall, name + 1),
                                              .name = name + 1,
                                              .type = type };
    syscall->count++;
    return true;
}

static bool add_arguments(struct pd_syscall *syscall, const char *text)
{
    while (*text && syscall->count < PD_SYSCALL_ARGUMENTS) {
        size_t length = strcspn(text, ",");
        if (!add_argument(syscall, text, length))
            return false;
        text += length;
        text += strspn(text, ", ");
    }
    return true;
}

static int by_name(const void *name, const void *call)
{
    return strcmp(name, ((const struct call *)call)->name);
}

static const struct call *find_call(const char *name)
{
    return bsearch(name, calls, PD_LENGTH(calls), sizeof *calls, by_name);
}

/* Calls that perf does not know on machines whose table of numbers is shared by 32 and 64 bits:
 * there, one number has two names. */
static bool has_two_names(const char *name)
{
    static const char *const names[] = { "fadvise64", "fcntl",  "fstat",   "fstatfs",
                                         "ftruncate", "lseek",  "mmap",    "newfstatat",
                                         "sendfile",  "statfs", "truncate" };
    for (size_t i = 0; i < PD_LENGTH(names); i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static bool add_call(struct pd_syscalls *syscalls, const struct machine *machine,
                     const struct call *call, uint32_t number)
{
    const struct call *like = call && call->like ? find_call(call->like) : call;
    bool is_own = number >= NUMBERS;
    if (!like || (is_own && syscalls->own_count >= PRIVATE_NUMBERS))
        return true;
    struct pd_syscall *syscall = &syscalls->all[is_own ? NUMBERS + syscalls->own_count : number];
    *syscall = (struct pd_syscall){
        .name = call->name,
        .like = like->name,
        .machine = &machine->public,
        .perf_lacks = call->is_hidden || (machine->public.is_generic && has_two_names(call->name)),
        .is_exit = !strcmp(call->name, "exit") || !strcmp(call->name, "exit_group"),
    };
    if (is_own) {
        syscalls->own[syscalls->own_count].number = number;
        syscalls->own[syscalls->own_count++].call = syscall;
    }
    bool is_clone = machine->clone && !strcmp(call->name, "clone");
    return add_arguments(syscall, is_clone ? machine->clone : like->arguments);
}

struct pd_syscalls *pd_syscalls_new(const char *arch)
{
    const struct machine *machine = machine_of(arch);
    struct pd_syscalls *syscalls = machine ? calloc(1, sizeof *syscalls) : NULL;
    for (size_t i = 0; syscalls && i < PD_LENGTH(numbers); i++) {
        int32_t number = numbers[i].on[machine->column];
        if (number == NONE ||
            add_call(syscalls, machine, find_call(numbers[i].name), (uint32_t)number))
            continue;
        pd_syscalls_free(syscalls);
        return NULL;
    }
    return syscalls;
}

void pd_syscalls_free(struct pd_syscalls *syscalls)
{
    for (size_t i = 0; syscalls && i < PD_LENGTH(syscalls->all); i++)
        for (unsigned k = 0; k < syscalls->all[i].count; k++)
            free(syscalls->all[i].arguments[k].type);
    free(syscalls);
}

const struct pd_syscall *pd_syscalls_at(const struct pd_syscalls *syscalls, uint64_t number)
{
    if (number < NUMBERS)
        return syscalls->all[number].name ? &syscalls->all[number] : NULL;
    for (unsigned i = 0; i < syscalls->own_count; i++)
        if (syscalls->own[i].number == number)
            return syscalls->own[i].call;
    return NULL;
}

bool pd_syscall_is_one_of(const char *name, const char *patterns)
{
    const char *at = patterns;
    bool without = at && *at == '!';
    if (!at)
        return true;
    for (at += without; *at; at += *at == ',') {
        char pattern[64];
        size_t length = strcspn(at, ",");
        if (length < sizeof pattern) {
            memcpy(pattern, at, length);
            pattern[length] = 0;
            if (!fnmatch(pattern, name, 0))
                return !without;
        }
        at += length;
    }
    return without;
}
