/* SPDX-License-Identifier: MIT */
/* System calls by number, with the arguments that the kernel declares. */
#include "render/trace/syscall.h"
#include <fnmatch.h>
#include <stdlib.h>

enum { NUMBERS = 512 };

struct pd_syscalls {
    struct pd_syscall all[NUMBERS];
};

static const struct {
    uint16_t number;
    const char *name, *arguments;
} table[] = {
#define SYSCALL(number, name, arguments) { number, #name, arguments },
#include "render/trace/syscalls.def"
};

/* "const char * filename" */
static bool add_argument(struct pd_syscall *syscall, const char *text, size_t length)
{
    struct pd_syscall_argument *argument = &syscall->arguments[syscall->count];
    char *type = strndup(text, length), *name = type ? strrchr(type, ' ') : NULL;
    if (!name) {
        free(type);
        return !!type;
    }
    *name = 0;
    *argument = (struct pd_syscall_argument){ .row = pd_syscall_row(syscall->name, name + 1),
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

struct pd_syscalls *pd_syscalls_new(void)
{
    struct pd_syscalls *syscalls = calloc(1, sizeof *syscalls);
    for (size_t i = 0; syscalls && i < PD_LENGTH(table); i++) {
        struct pd_syscall *syscall = &syscalls->all[table[i].number];
        syscall->name = table[i].name;
        if (add_arguments(syscall, table[i].arguments))
            continue;
        pd_syscalls_free(syscalls);
        return NULL;
    }
    return syscalls;
}

void pd_syscalls_free(struct pd_syscalls *syscalls)
{
    for (size_t i = 0; syscalls && i < NUMBERS; i++)
        for (unsigned k = 0; k < syscalls->all[i].count; k++)
            free(syscalls->all[i].arguments[k].type);
    free(syscalls);
}

const struct pd_syscall *pd_syscalls_at(const struct pd_syscalls *syscalls, uint64_t number)
{
    return number < NUMBERS && syscalls->all[number].name ? &syscalls->all[number] : NULL;
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
