/* SPDX-License-Identifier: MIT */
/* Builds a small recording in memory: one cpu-clock event, samples and sideband with times, rounds.
 *
 *     struct maker m = maker_begin();
 *     maker_sample(&m, time, pid, tid, ip);
 *     maker_round(&m);
 *     maker_end(&m);      m.bytes, m.size: a whole file
 *     maker_free(&m);
 */
#ifndef MAKE_RECORDING_H
#define MAKE_RECORDING_H
#include "base/base.h"
#include <stdlib.h>

struct maker {
    uint8_t *bytes;
    size_t size, capacity;
};

#define MAKER_DATA 0x100
#define MAKER_ID 7

static inline void maker_room(struct maker *m, size_t more)
{
    if (m->size + more > m->capacity) {
        m->capacity = (m->size + more) * 2;
        m->bytes = realloc(m->bytes, m->capacity);
        if (!m->bytes)
            abort();
    }
}

static inline void maker_u64(struct maker *m, uint64_t value)
{
    maker_room(m, 8);
    pd_store64(m->bytes + m->size, value, false);
    m->size += 8;
}

static inline void maker_u32(struct maker *m, uint32_t a, uint32_t b)
{
    maker_u64(m, (uint64_t)b << 32 | a);
}

static inline struct maker maker_begin(void)
{
    struct maker m = { 0 };
    maker_room(&m, MAKER_DATA);
    memset(m.bytes, 0, MAKER_DATA);
    m.size = MAKER_DATA;
    memcpy(m.bytes, "PERFILE2", 8);
    pd_store64(m.bytes + 8, 104, false);
    pd_store64(m.bytes + 16, 144, false);
    pd_store64(m.bytes + 24, 0x70, false);
    pd_store64(m.bytes + 32, 144, false);
    pd_store64(m.bytes + 40, MAKER_DATA, false);
    pd_store64(m.bytes + 0x68, MAKER_ID, false);
    uint8_t *attr = m.bytes + 0x70;
    pd_store32(attr, 1, false);
    pd_store32(attr + 4, 128, false);
    pd_store64(attr + 16, 4000, false);
    pd_store64(attr + 24, 0x10107, false); /* IP, TID, TIME, PERIOD, IDENTIFIER */
    pd_store64(attr + 32, 4, false);
    pd_store64(attr + 40, 0x1942700, false); /* among others sample_id_all */
    pd_store64(attr + 128, 0x68, false);
    pd_store64(attr + 136, 8, false);
    return m;
}

static inline void maker_header(struct maker *m, uint32_t type, uint16_t misc, uint16_t size)
{
    maker_u64(m, (uint64_t)size << 48 | (uint64_t)misc << 32 | type);
}

static inline void maker_sample(struct maker *m, uint64_t time, uint32_t pid, uint32_t tid,
                                uint64_t ip)
{
    maker_header(m, 9, 2, 48);
    maker_u64(m, MAKER_ID);
    maker_u64(m, ip);
    maker_u32(m, pid, tid);
    maker_u64(m, time);
    maker_u64(m, 1);
}

static inline void maker_trailer(struct maker *m, uint32_t pid, uint32_t tid, uint64_t time)
{
    maker_u32(m, pid, tid);
    maker_u64(m, time);
    maker_u64(m, MAKER_ID);
}

/* `name`: at most 7 characters. */
static inline void maker_comm(struct maker *m, uint64_t time, uint32_t pid, uint32_t tid,
                              const char *name)
{
    uint64_t text = 0;
    memcpy(&text, name, strnlen(name, 7));
    maker_header(m, 3, 0, 48);
    maker_u32(m, pid, tid);
    maker_u64(m, text);
    maker_trailer(m, pid, tid, time);
}

/* FORK (7) or EXIT (4). */
static inline void maker_task(struct maker *m, uint32_t type, uint64_t time, uint32_t pid,
                              uint32_t ppid, uint32_t tid, uint32_t ptid)
{
    maker_header(m, type, 0, 56);
    maker_u32(m, pid, ppid);
    maker_u32(m, tid, ptid);
    maker_u64(m, time);
    maker_trailer(m, pid, tid, time);
}

static inline void maker_user(struct maker *m, uint32_t type)
{
    maker_header(m, type, 0, 8);
}

static inline void maker_round(struct maker *m)
{
    maker_user(m, 68);
}

static inline void maker_end(struct maker *m)
{
    pd_store64(m->bytes + 48, m->size - MAKER_DATA, false);
}

static inline void maker_free(struct maker *m)
{
    free(m->bytes);
}
#endif
