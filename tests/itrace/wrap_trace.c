/* SPDX-License-Identifier: MIT */
/* wrap_trace OUT SEED SIZE [TRACE]: a recording around SIZE random bytes of Intel PT, or around
 * TRACE with SEED's bit flips, holes and noise in it, in several buffers, so that perf and perfdata
 * can be asked for its packets. OUT.raw gets the bare bytes. */
#include "../unit/make_file.h"
#include <stdio.h>

enum { INFO = 70, TRACE = 71, INFO_WORDS = 18, PIECES = 3, OLD_ATTR = 128 };

static uint64_t state;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Half of the bytes begin packets with two bytes, so that these are not rare. */
static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint64_t r = next_random();
        bytes[i] = r >> 8 & 7 ? (uint8_t)r : 2;
    }
}

static void mutate(uint8_t *bytes, size_t size)
{
    for (size_t n = size / 64 + 1; n; n--) {
        uint64_t r = next_random();
        size_t at = (size_t)(r >> 20) % size, length = PD_MIN(size - at, (size_t)(r & 15) + 1);
        switch (r >> 16 & 3) {
        case 0: bytes[at] ^= (uint8_t)(1u << (r & 7)); break;
        case 1: memset(bytes + at, 0, length); break;
        case 2: fill(bytes + at, length); break;
        default: memmove(bytes + at, bytes + at + length / 2, length - length / 2); break;
        }
    }
}

static uint8_t *read_all(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(16 << 20);
    if (!file || !bytes)
        exit(1);
    *size = fread(bytes, 1, 16 << 20, file);
    fclose(file);
    return bytes;
}

static void write_all(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
        exit(1);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    state = strtoull(argv[2], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    size_t size = strtoull(argv[3], NULL, 10);
    uint8_t *bytes = argc > 4 ? read_all(argv[4], &size) : malloc(size);
    if (!bytes || !size)
        return 1;
    if (argc > 4)
        mutate(bytes, size);
    else
        fill(bytes, size);
    struct file f = file_begin(false);
    size_t attr = file_event(&f, 7, 1 << 18, 0, NULL);
    file_data(&f);
    size_t at = file_record(&f, INFO, 0, 16 + 8 * INFO_WORDS);
    file_u32_at(&f, at + 8, 1);
    file_u64_at(&f, at + 16, 1);
    uint64_t index[2 * PIECES];
    for (unsigned i = 0; i < PIECES; i++) {
        size_t from = size / PIECES * i, end = i + 1 < PIECES ? size / PIECES * (i + 1) : size;
        at = file_record(&f, TRACE, 0, 48);
        index[2 * i] = at;
        index[2 * i + 1] = 48;
        file_u64_at(&f, at + 8, end - from);
        file_u64_at(&f, at + 16, from);
        file_u32_at(&f, at + 40, UINT32_MAX);
        size_t to = f.size;
        file_room(&f, end - from);
        memcpy(f.bytes + to, bytes + from, end - from);
    }
    file_feature(&f, 18, index, sizeof index);
    file_end(&f);
    /* an attr of 128 bytes, which older perfs read, too, without ids */
    file_u64_at(&f, 16, OLD_ATTR + 16);
    file_u64_at(&f, 32, OLD_ATTR + 16);
    file_u32_at(&f, attr + 4, OLD_ATTR);
    file_u64_at(&f, attr + FILE_ATTR, 0);
    write_all(argv[1], f.bytes, f.size);
    char raw[4096];
    snprintf(raw, sizeof raw, "%s.raw", argv[1]);
    write_all(raw, bytes, size);
    file_free(&f);
    free(bytes);
    return 0;
}
