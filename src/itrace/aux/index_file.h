/* SPDX-License-Identifier: MIT */
/* The file that index_make.c writes and index.c reads (docs/aux.md), all in the byte order of the
 * machine that wrote it: head, jumps, rows, entries, runs. */
#ifndef PD_AUX_INDEX_FILE_H
#define PD_AUX_INDEX_FILE_H
#include "base/hash.h"
#include "itrace/aux/index.h"

enum { PD_INDEX_VERSION = 3, PD_INDEX_ORDER = 0x01020304 };
#define PD_INDEX_MAGIC "PDPSBIDX"

struct pd_index_head {
    char magic[8];
    uint32_t version, order;
    uint64_t recording_size, recording_changed; /* nanoseconds */
    uint64_t psb_jumps, rows, entries, runs;
    uint64_t checksum; /* over all but the jumps, with this field 0 */
};

/* A buffer, in the order in which they are queued. */
struct pd_index_row {
    uint64_t record_offset, size, reference;
    uint64_t first_entry, first_run; /* its entries and runs: up to those of the next row */
};

/* A PSB: it and all before it in the buffer have a TSC, of which `tsc` is the greatest. */
struct pd_index_entry {
    uint64_t offset, tsc;
};

/* PSBs that are plain and alike: the one at `first`, the jumps, and the one at `resume`. */
struct pd_index_run {
    uint64_t first, resume; /* in the buffer */
    uint64_t first_jump;
    uint32_t psb_jumps;
    uint16_t has_tma, told_count;
    struct pd_pt_psb_jump told[2]; /* enough of them where nobody wants to see each one */
    uint64_t checksum;             /* of its jumps */
};

/* The sum over all but the jumps. */
PD_INLINE uint64_t pd_index_checksum(const struct pd_index_head *head,
                                     const struct pd_index_row *rows,
                                     const struct pd_index_entry *entries,
                                     const struct pd_index_run *runs)
{
    struct pd_index_head clean = *head;
    clean.checksum = 0;
    uint64_t sum = pd_digest(&clean, sizeof clean, 0);
    sum = pd_digest(rows, head->rows * sizeof *rows, sum);
    sum = pd_digest(entries, head->entries * sizeof *entries, sum);
    return pd_digest(runs, head->runs * sizeof *runs, sum);
}

/* In index.c: the path of the index; false: there is no place for one. */
bool pd_index_path(const struct pd_aux *aux, char *path, size_t size);
/* Whether the trace lies in one file, whose size and time tell whether it is still the same. */
bool pd_index_is_possible(const struct pd_aux *aux);

#endif
