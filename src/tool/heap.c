/* SPDX-License-Identifier: MIT */
/* Memory for a small recording, in huge pages. Half of what its memory cost was the first touch of
 * each page, with a trip into the kernel, and waiting for addresses to be translated. */
#include "tool/tool.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __GLIBC__ && defined MADV_HUGEPAGE
#include <malloc.h>

/* What is smaller needs few pages; what is larger asks for large tables by itself. */
enum { LEAST = 256 << 10, MOST = 16 << 20 };

/* Only addresses are taken: memory comes when it is touched. A report with chains of 4 MB has used
 * 70 MB of them in the end. */
enum { ROOM = 128 << 20, BLOCK_MOST = 32 << 20 };

/* The room lies in the heap, which is never given back. Threads share it, instead of each having a
 * heap of small pages. */
static void take_room(void)
{
    enum { USUAL_PAD = 128 << 10, PROBE = 1 << 20 };
    const char *before = sbrk(0);
    mallopt(M_MMAP_THRESHOLD, BLOCK_MOST);
    mallopt(M_TRIM_THRESHOLD, 2 * ROOM);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TOP_PAD, ROOM);
    /* More than the heap has left, so that it grows by the room. Compilers leave out what is not
     * volatile. */
    void *volatile probe = malloc(PROBE);
    mallopt(M_TOP_PAD, USUAL_PAD);
    const char *behind = sbrk(0);
    free(probe);
    if (before != (void *)-1 && behind > before)
        (void)madvise((void *)(uintptr_t)before, (size_t)(behind - before), MADV_HUGEPAGE);
}

/* Under a limit on addresses, those taken here could be missing later. */
static bool is_limited(void)
{
    struct rlimit all, data;
    return getrlimit(RLIMIT_AS, &all) != 0 || all.rlim_cur != RLIM_INFINITY ||
           getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY;
}

void tool_prepare_heap(const char *input)
{
    struct stat info;
    if (!is_limited() && stat(input, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_size >= LEAST && info.st_size <= MOST)
        take_room();
}

#else

void tool_prepare_heap(const char *input)
{
    (void)input;
}

#endif
