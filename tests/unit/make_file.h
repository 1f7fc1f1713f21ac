/* SPDX-License-Identifier: MIT */
/* Builds a recording in memory, in either byte order, with any events, ids and features: for tests
 * of the container.
 *
 *     struct file f = file_begin(true);            big-endian
 *     file_event(&f, sample_type, flags, 2, ids);  as many as wanted, then
 *     file_data(&f);
 *     file_record(&f, type, misc, size);           the header; the body is zeros, to be set with
 *                                                  file_u64_at()
 *     file_features(&f);
 *     file_feature(&f, number, bytes, size);       ascending
 *     file_end(&f);                                f.bytes, f.size
 *     file_free(&f); */
#ifndef MAKE_FILE_H
#define MAKE_FILE_H
#include "base/base.h"
#include <stdlib.h>

enum { FILE_EVENTS = 4, FILE_ATTR = 136, FILE_ENTRY = FILE_ATTR + 16, FILE_FEATURES = 16 };

struct file {
    uint8_t *bytes;
    size_t size, capacity;
    bool big, swap;
    unsigned events, features;
    size_t data, table;
    struct {
        unsigned number;
        const void *bytes;
        size_t size;
    } feature[FILE_FEATURES];
    size_t entry_room; /* of an entry of the attrs section, 0: FILE_ENTRY */
};

static inline void file_room(struct file *f, size_t more)
{
    if (f->size + more > f->capacity) {
        f->capacity = (f->size + more) * 2;
        f->bytes = realloc(f->bytes, f->capacity);
        if (!f->bytes)
            abort();
    }
    memset(f->bytes + f->size, 0, more);
    f->size += more;
}

static inline void file_u64_at(struct file *f, size_t at, uint64_t value)
{
    pd_store64(f->bytes + at, value, f->swap);
}

static inline void file_u32_at(struct file *f, size_t at, uint32_t value)
{
    pd_store32(f->bytes + at, value, f->swap);
}

/* Room for FILE_EVENTS entries and 16 ids each lies in front of the data. */
static inline struct file file_begin(bool big)
{
    struct file f = { .big = big };
    f.swap = big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    file_room(&f, 104 + FILE_EVENTS * (FILE_ENTRY + 16 * 8));
    memcpy(f.bytes, big ? "2ELIFREP" : "PERFILE2", 8);
    file_u64_at(&f, 8, 104);
    file_u64_at(&f, 16, FILE_ENTRY);
    file_u64_at(&f, 24, 104);
    return f;
}

/* flags: as in a little-endian file. Returns where the entry begins. */
static inline size_t file_event(struct file *f, uint64_t sample_type, uint64_t flags,
                                unsigned count, const uint64_t *ids)
{
    size_t at = 104 + f->events * (size_t)FILE_ENTRY;
    size_t ids_at = 104 + FILE_EVENTS * (size_t)FILE_ENTRY + f->events * 16u * 8;
    if (f->big) { /* bit n of the word is bit 63 - n */
        uint64_t mirrored = 0;
        for (unsigned i = 0; i < 64; i++)
            mirrored |= (flags >> i & 1) << (63 - i);
        flags = mirrored;
    }
    file_u32_at(f, at, 1);
    file_u32_at(f, at + 4, FILE_ATTR);
    file_u64_at(f, at + 8, f->events);
    file_u64_at(f, at + 16, 4000);
    file_u64_at(f, at + 24, sample_type);
    file_u64_at(f, at + 40, flags);
    file_u64_at(f, at + FILE_ATTR, ids_at);
    file_u64_at(f, at + FILE_ATTR + 8, 8u * count);
    for (unsigned i = 0; i < count; i++)
        file_u64_at(f, ids_at + 8 * i, ids[i]);
    f->events++;
    file_u64_at(f, 32, f->events * (uint64_t)FILE_ENTRY);
    return at;
}

static inline void file_data(struct file *f)
{
    f->data = f->size;
    file_u64_at(f, 40, f->data);
}

/* Returns where the record begins. */
static inline size_t file_record(struct file *f, uint32_t type, uint16_t misc, uint16_t size)
{
    size_t at = f->size;
    file_room(f, size < 8 ? 8 : size);
    file_u32_at(f, at, type);
    pd_store16(f->bytes + at + 4, misc, f->swap);
    pd_store16(f->bytes + at + 6, size, f->swap);
    return at;
}

/* The bytes must live until file_end(). */
static inline void file_feature(struct file *f, unsigned number, const void *bytes, size_t size)
{
    f->feature[f->features].number = number;
    f->feature[f->features].bytes = bytes;
    f->feature[f->features++].size = size;
    f->bytes[72 + (f->big ? 8 * (number / 64) + 7 - number % 64 / 8 : number / 8)] |=
        (uint8_t)(1u << number % 8);
}

static inline void file_end(struct file *f)
{
    file_u64_at(f, 48, f->size - f->data);
    f->table = f->size;
    file_room(f, 16u * f->features);
    for (unsigned i = 0; i < f->features; i++) {
        size_t at = f->size;
        file_room(f, f->feature[i].size);
        memcpy(f->bytes + at, f->feature[i].bytes, f->feature[i].size);
        file_u64_at(f, f->table + 16 * i, at);
        file_u64_at(f, f->table + 16 * i + 8, f->feature[i].size);
    }
}

static inline void file_free(struct file *f)
{
    free(f->bytes);
}

#endif
