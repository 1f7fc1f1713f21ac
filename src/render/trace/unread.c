/* SPDX-License-Identifier: MIT */
/* Which arguments of a system call it does not read, given the values of its other arguments. */
#include "format/enums.h"
#include "render/trace/commands.h"
#include "render/trace/syscall.h"

/* Which arguments an operation of futex does not read, as bits of argument numbers. */
static unsigned unread_by_futex(uint64_t operation)
{
    enum { TIME = 1 << 3, ADDRESS_2 = 1 << 4, VALUE = 1 << 5, FLAGS_OF_IT = 0x180 };
    static const uint8_t unread[] = { VALUE | ADDRESS_2,
                                      VALUE | ADDRESS_2 | TIME,
                                      VALUE | ADDRESS_2 | TIME,
                                      VALUE | TIME,
                                      TIME,
                                      0,
                                      VALUE | ADDRESS_2 | TIME,
                                      VALUE | ADDRESS_2 | TIME,
                                      VALUE | ADDRESS_2,
                                      ADDRESS_2,
                                      ADDRESS_2,
                                      0,
                                      TIME };
    operation = (uint32_t)operation & ~(uint32_t)FLAGS_OF_IT;
    return operation < PD_LENGTH(unread) ? unread[operation] : 0;
}

static unsigned unread_by_clone(const struct pd_syscall *syscall, const uint64_t *values,
                                bool zeros)
{
    static const struct {
        const char *argument;
        uint64_t flags;
    } wanted[] = { { "parent_tidptr", 0x100000 },
                   { "child_tidptr", 0x1200000 },
                   { "tls", 0x80000 } };
    uint64_t flags = 0;
    unsigned unread = 0;
    for (unsigned i = 0; i < syscall->count; i++)
        if (!strcmp(syscall->arguments[i].name, "clone_flags"))
            flags = values[i];
    for (unsigned i = 0; (zeros || flags) && i < syscall->count; i++)
        for (size_t k = 0; k < PD_LENGTH(wanted); k++)
            if (!strcmp(syscall->arguments[i].name, wanted[k].argument) &&
                !(flags & wanted[k].flags))
                unread |= 1u << i;
    return unread;
}

static unsigned unread_by_prctl(uint64_t option)
{
    enum { SECOND = 1 << 1, THIRD = 1 << 2, LATER = 3 << 3 };
    switch (option) {
    case 2:
    case 3:
    case 27: return SECOND | THIRD | LATER;
    case 1:
    case 4:
    case SET_NAME:
    case 28:
    case 36:
    case 37: return THIRD | LATER;
    case SET_MM: return LATER;
    default: return 0;
    }
}

static unsigned unread_by_fcntl(uint64_t command)
{
    switch (command) {
    case GETFD:
    case GETFL:
    case GETOWN:
    case GETSIG:
    case GETLEASE:
    case GET_SEALS: return 1 << 2;
    default: return 0;
    }
}

unsigned pd_syscall_unread(const struct pd_syscall *syscall, const uint64_t *values, bool zeros)
{
    enum { CREATE = 0x40 };
    const char *name = syscall->like;
    if (!strcmp(name, "mmap") || !strcmp(name, "mmap2"))
        return values[3] & PD_MAP_ANONYMOUS ? 3 << 4 : 0;
    if (!strcmp(name, "open"))
        return (!zeros && !(uint32_t)values[1]) || values[1] & CREATE ? 0 : 1 << 2;
    if (!strcmp(name, "openat"))
        return (!zeros && !(uint32_t)values[2]) || values[2] & CREATE ? 0 : 1 << 3;
    if (!strcmp(name, "futex"))
        return zeros || (uint32_t)values[1] ? unread_by_futex(values[1]) : 0;
    if (!strcmp(name, "clone"))
        return unread_by_clone(syscall, values, zeros);
    if (!strcmp(name, "prctl"))
        return unread_by_prctl(values[0]);
    if (!strcmp(name, "fcntl"))
        return unread_by_fcntl(values[1]);
    if (!strcmp(name, "kcmp"))
        return values[2] ? 3 << 3 : 0;
    return 0;
}
