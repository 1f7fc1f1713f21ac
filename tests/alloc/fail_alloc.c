/* SPDX-License-Identifier: MIT */
/* A library to preload: the ALLOC_FAIL_AT-th allocation of the process fails, once, and who asked
 * for it is written to the file ALLOC_FAIL_LOG: the call stack as lines of "object(function+offset)
 * [address]", the innermost first. With ALLOC_STACKS=FILE none fails; the numbers of those that
 * came by a call stack seen less than ALLOC_EACH times before are written there, a line each. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default) /* of all that stands in for the C library */

enum { DEPTH = 40, EARLY_BYTES = 1 << 16, ALIGNMENT = 16, STACKS = 1 << 17, INNERMOST = 16 };

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);

static atomic_long allocations;
static long fail_at;
static int log_file = -1;

/* The call stacks that allocations came by, as hashes of their innermost frames, and how often
 * each did. All frames would give what calls itself a stack of its own for each level. */
static struct {
    uint64_t hash;
    unsigned count;
} stacks[STACKS];
static unsigned each;
static int stacks_file = -1;
static atomic_flag stacks_busy = ATOMIC_FLAG_INIT;

/* What is asked for while the functions above are looked up. It is never given back. */
static _Alignas(ALIGNMENT) unsigned char early[EARLY_BYTES];
static size_t early_used;

static bool is_early(const void *block)
{
    return (const unsigned char *)block >= early &&
           (const unsigned char *)block < early + EARLY_BYTES;
}

static void *early_alloc(size_t size)
{
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size > EARLY_BYTES || rounded > EARLY_BYTES - early_used)
        return NULL;
    void *block = early + early_used;
    early_used += rounded;
    return block;
}

static void look_up(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

__attribute__((constructor)) static void start(void)
{
    look_up(&real_calloc, "calloc");
    look_up(&real_realloc, "realloc");
    look_up(&real_aligned_alloc, "aligned_alloc");
    look_up(&real_posix_memalign, "posix_memalign");
    look_up(&real_free, "free");
    look_up(&real_malloc, "malloc");
    void *stack[DEPTH];
    (void)backtrace(stack, DEPTH); /* its first call loads a library */
    const char *log = getenv("ALLOC_FAIL_LOG"), *at = getenv("ALLOC_FAIL_AT");
    if (log)
        log_file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const char *list = getenv("ALLOC_STACKS"), *times = getenv("ALLOC_EACH");
    if (list)
        stacks_file = open(list, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    each = times ? (unsigned)atoi(times) : 1;
    atomic_store(&allocations, 0);
    fail_at = at ? atol(at) : 0;
}

/* Whether this call stack was seen less than `each` times. A table that is full knows none. */
static bool is_new(uint64_t hash)
{
    size_t at = hash % STACKS;
    for (size_t tries = 0; tries < STACKS; tries++, at = (at + 1) % STACKS) {
        if (stacks[at].count && stacks[at].hash != hash)
            continue;
        stacks[at].hash = hash;
        return stacks[at].count++ < each;
    }
    return true;
}

static void note_stack(long number)
{
    void *stack[INNERMOST];
    int depth = backtrace(stack, INNERMOST);
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < depth; i++)
        hash = (hash ^ (uintptr_t)stack[i] ^ (uintptr_t)stack[i] >> 29) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
    while (atomic_flag_test_and_set(&stacks_busy))
        ;
    bool wanted = is_new(hash);
    atomic_flag_clear(&stacks_busy);
    char line[32];
    if (wanted &&
        write(stacks_file, line, (size_t)snprintf(line, sizeof line, "%ld\n", number)) < 0)
        abort();
}

static bool fails(void)
{
    if (!fail_at && stacks_file < 0)
        return false;
    long number = atomic_fetch_add(&allocations, 1) + 1;
    if (stacks_file >= 0)
        note_stack(number);
    if (number != fail_at)
        return false;
    void *stack[DEPTH];
    int depth = backtrace(stack, DEPTH);
    backtrace_symbols_fd(stack, depth, log_file);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    if (!real_malloc)
        return early_alloc(size);
    return fails() ? NULL : real_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!real_calloc)
        return early_alloc(count * size); /* it is zero: it has never been used */
    return fails() ? NULL : real_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    if (!is_early(block))
        return fails() ? NULL : real_realloc(block, size);
    void *moved = malloc(size);
    size_t rest = (size_t)(early + EARLY_BYTES - (unsigned char *)block);
    return moved ? memcpy(moved, block, size < rest ? size : rest) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : real_aligned_alloc(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    return fails() ? ENOMEM : real_posix_memalign(out, alignment, size);
}

void free(void *block)
{
    if (block && !is_early(block))
        real_free(block);
}
