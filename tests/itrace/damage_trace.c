/* SPDX-License-Identifier: MIT */
/* damage_trace KIND SEED FILE: damages the trace in FILE, in the first half of its bytes. stdin: a
 * line "OFFSET SIZE" a buffer, in their order. KIND: flip (bits), cut (bytes are missing), noise,
 * reorder (pieces, or whole buffers where there are some). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 4096 };

static uint64_t state;

static uint64_t next(uint64_t limit) /* xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return limit ? state % limit : 0;
}

/* All buffers as one; what is written comes back to the file. */
struct trace {
    size_t offset[BUFFERS], size[BUFFERS], count, total;
    uint8_t *bytes;
};

static int transfer(struct trace *trace, FILE *file, int put)
{
    size_t at = 0;
    for (size_t i = 0; i < trace->count; at += trace->size[i++]) {
        uint8_t *bytes = trace->bytes + at;
        if (fseek(file, (long)trace->offset[i], SEEK_SET) ||
            (put ? fwrite(bytes, 1, trace->size[i], file)
                 : fread(bytes, 1, trace->size[i], file)) != trace->size[i])
            return 0;
    }
    return 1;
}

static void flip(struct trace *trace, size_t limit)
{
    for (size_t n = 1 + next(40); n; n--)
        trace->bytes[next(limit)] ^= (uint8_t)(1u << next(8));
}

/* What is behind moves up, zeros (PAD) fill the end. */
static void cut(struct trace *trace, size_t limit)
{
    for (size_t n = 1 + next(4); n; n--) {
        size_t at = next(limit), length = 1 + next(300);
        if (length > limit - at)
            length = limit - at;
        memmove(trace->bytes + at, trace->bytes + at + length, trace->total - at - length);
        memset(trace->bytes + trace->total - length, 0, length);
    }
}

static void noise(struct trace *trace, size_t limit)
{
    size_t at = next(limit), length = 1 + next(2000);
    for (size_t i = at; i < limit && i < at + length; i++)
        trace->bytes[i] = (uint8_t)next(256);
}

static void swap(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

static void reorder(struct trace *trace, size_t limit)
{
    for (size_t n = 1 + next(4); n; n--) {
        size_t size = 1 + next(limit / 4), a = next(limit / 2 - size),
               b = limit / 2 + next(limit / 2 - size);
        swap(trace->bytes + a, trace->bytes + b, size);
    }
}

int main(int argc, char **argv)
{
    static struct trace trace;
    FILE *file = argc == 4 ? fopen(argv[3], "r+b") : NULL;
    if (!file)
        return 2;
    state = strtoull(argv[2], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    while (trace.count < BUFFERS &&
           scanf("%zu %zu", &trace.offset[trace.count], &trace.size[trace.count]) == 2)
        trace.total += trace.size[trace.count++];
    trace.bytes = malloc(trace.total + 1);
    size_t limit = trace.total / 2;
    if (!trace.bytes || limit < 64 || !transfer(&trace, file, 0))
        return 1;
    switch (argv[1][0]) {
    case 'f': flip(&trace, limit); break;
    case 'c': cut(&trace, limit); break;
    case 'n': noise(&trace, limit); break;
    default: reorder(&trace, limit); break;
    }
    int ok = transfer(&trace, file, 1) && fclose(file) == 0;
    free(trace.bytes);
    return !ok;
}
