/* SPDX-License-Identifier: MIT */
/* header_walk FILE: the floor. Nothing but the walk from header to header, with the last 8 bytes of
 * each record. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    struct stat info;
    if (fd < 0 || fstat(fd, &info) || info.st_size < 104)
        return 1;
    size_t size = (size_t)info.st_size;
    const uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (file == MAP_FAILED)
        return 1;
    uint64_t at, length, count = 0, samples = 0, sum = 0;
    memcpy(&at, file + 40, 8);
    memcpy(&length, file + 48, 8);
    if (at > size || length > size - at)
        return 1;
    for (uint64_t end = at + length; end - at >= 8;) {
        uint32_t type;
        uint16_t bytes;
        uint64_t last;
        memcpy(&type, file + at, 4);
        memcpy(&bytes, file + at + 6, 2);
        if (bytes < 8 || bytes > end - at)
            break;
        memcpy(&last, file + at + bytes - 8, 8);
        sum += last;
        samples += type == 9;
        count++;
        at += bytes;
    }
    printf("%" PRIu64 " records, %" PRIu64 " samples, %" PRIx64 "\n", count, samples, sum);
    return 0;
}
