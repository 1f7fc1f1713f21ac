/* SPDX-License-Identifier: MIT */
/* load SECONDS: something to record. Forks, pipes, files and work on the CPU with call chains of
 * some depth. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static volatile uint64_t result;
static unsigned char bytes[65536];

KEEP static uint64_t checksum(const unsigned char *data, size_t size)
{
    uint64_t sum = 1469598103934665603u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ data[i]) * 1099511628211u;
    return sum;
}

static int by_value(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

KEEP static uint64_t sort_bytes(unsigned seed)
{
    unsigned char some[2048];
    for (size_t i = 0; i < sizeof some; i++)
        some[i] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
    qsort(some, sizeof some, 1, by_value);
    return checksum(some, sizeof some);
}

KEEP static uint64_t descend(unsigned depth, unsigned seed);

KEEP static uint64_t other_way(unsigned depth, unsigned seed)
{
    uint64_t sum = descend(depth - 1, seed * 7 + 1);
    return sum + checksum(bytes, 512);
}

KEEP static uint64_t descend(unsigned depth, unsigned seed)
{
    uint64_t sum;
    if (!depth)
        sum = seed & 1 ? sort_bytes(seed) : checksum(bytes, sizeof bytes);
    else
        sum = seed & 2 ? other_way(depth, seed) : descend(depth - 1, seed * 5 + 3);
    return sum + 1; /* no tail call */
}

KEEP static void use_pipe(const int *ends)
{
    char some[64] = { 0 };
    for (int i = 0; i < 200; i++)
        if (write(ends[1], some, sizeof some) != sizeof some ||
            read(ends[0], some, sizeof some) < 0)
            exit(1);
}

KEEP static void use_files(void)
{
    char some[4096];
    int fd = open("/proc/self/maps", O_RDONLY);
    while (fd >= 0 && read(fd, some, sizeof some) > 0)
        result += (unsigned char)some[0];
    if (fd >= 0)
        close(fd);
}

/* Page faults without new maps, of which a process has few. */
KEEP static void use_memory(unsigned char *memory, size_t size)
{
    for (size_t i = 0; i < size; i += 4096)
        memory[i] = (unsigned char)i;
    madvise(memory, size, MADV_DONTNEED);
}

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);
    int ends[2];
    unsigned turn = (unsigned)getpid();
    size_t size = 256 * 1024;
    unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                 -1, 0);
    if (pipe(ends) || memory == MAP_FAILED)
        return 1;
    while (time(NULL) < end) {
        for (unsigned i = 0; i < 8; i++)
            result += descend(i % 7, turn++ * 2654435761u >> 7);
        use_pipe(ends);
        use_files();
        use_memory(memory, size);
        pid_t child = fork();
        if (!child)
            _exit((int)(descend(3, turn) & 1));
        waitpid(child, NULL, 0);
        if (turn % 512 < 8 && !(child = fork())) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        if (turn % 512 < 8)
            waitpid(child, NULL, 0);
        nanosleep(&(struct timespec){ 0, 300000 }, NULL);
    }
    return 0;
}
