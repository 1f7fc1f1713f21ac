/* SPDX-License-Identifier: MIT */
/* Recordings of Intel PT for tests. */
#ifndef MAKE_AUX_H
#define MAKE_AUX_H
#include "make_file.h"

enum {
    AUX_INFO = 70,
    AUX_TRACE = 71,
    AUX_INFO_WORDS = 20,
    AUX_ID_ALL = 1 << 18,
    AUX_IP_TID_TIME = 7
};

static const uint8_t aux_psb_tsc[] = { 2,    0x82, 2,    0x82, 2,    0x82, 2,    0x82, 2,
                                       0x82, 2,    0x82, 2,    0x82, 2,    0x82, 0x19 };

/* A PSB+ with this TSC, 26 bytes. */
PD_INLINE size_t aux_psb(uint8_t *to, uint64_t tsc)
{
    memcpy(to, aux_psb_tsc, sizeof aux_psb_tsc);
    for (unsigned i = 0; i < 7; i++)
        to[sizeof aux_psb_tsc + i] = (uint8_t)(tsc >> 8 * i);
    to[24] = 0x02;
    to[25] = 0x23;
    return 26;
}

PD_INLINE void aux_info(struct file *f, const char *filter)
{
    static const uint64_t words[] = { 0, 10, 1000,  55,      1,   0x400, 0x800, 3,
                                      0, 1,  0x200, 0x3c000, 184, 2,     2,     23 };
    size_t at = file_record(f, AUX_INFO, 0, 16 + 8 * AUX_INFO_WORDS);
    file_u32_at(f, at + 8, 1);
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        file_u64_at(f, at + 16 + 8 * i, words[i]);
    file_u64_at(f, at + 16 + 8 * 16, strlen(filter));
    memcpy(f->bytes + at + 16 + 8 * 17, filter, strlen(filter)); /* below 16 bytes */
    file_u64_at(f, at + 16 + 8 * (17 + pd_align8(strlen(filter) + 1) / 8), 1);
}

/* Returns where the record begins. */
PD_INLINE size_t aux_trace(struct file *f, uint32_t queue, uint32_t cpu, const uint8_t *bytes,
                           size_t size)
{
    size_t at = file_record(f, AUX_TRACE, 0, 48);
    file_u64_at(f, at + 8, size);
    file_u64_at(f, at + 24, 1000 + at);
    file_u32_at(f, at + 32, queue);
    file_u32_at(f, at + 36, UINT32_MAX);
    file_u32_at(f, at + 40, cpu);
    size_t to = f->size;
    file_room(f, size);
    memcpy(f->bytes + to, bytes, size);
    return at;
}

#endif
