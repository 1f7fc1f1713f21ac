/* SPDX-License-Identifier: MIT */
/* The bytes of a queue of Arm SPE -> what the hardware recorded of one operation each. */
#ifndef PD_SPE_RECORD_H
#define PD_SPE_RECORD_H
#include "itrace/aux/aux.h"

#define PD_SPE_NO_CONTEXT UINT64_MAX

struct pd_spe_record {
    uint64_t ip, to;         /* 0: not recorded */
    uint64_t data, physical; /* addresses */
    uint64_t time;           /* ticks of the generic timer; 0: not recorded */
    uint64_t context;        /* CONTEXTIDR, the thread's id; PD_SPE_NO_CONTEXT */
    uint64_t events;         /* bits of enum pd_spe_event of its events packets */
    uint32_t latency;        /* cycles from dispatch to completion */
    uint16_t source;         /* the model's own number for where data came from */
    bool loads, stores;
};

struct pd_spe_reader {
    const struct pd_aux *aux;
    uint32_t queue;
    size_t next; /* buffer of the queue to read when the present one is through */
    const struct pd_aux_buffer *buffer; /* NULL: none yet */
    uint64_t from;                      /* in it: behind what has been read */
    uint8_t *bytes;                     /* read, and not yet used: [at, size) */
    size_t at, size;
    uint64_t bad;     /* bytes that begin no packet */
    uint64_t unknown; /* packets whose meaning is not known here */
};

/* All of `out` is set. free(reader->bytes) ends it. */
void pd_spe_reader_init(struct pd_spe_reader *reader, const struct pd_aux *aux, uint32_t queue);

enum pd_spe_got { PD_SPE_NOTHING, PD_SPE_WHOLE, PD_SPE_BROKEN };

/* The next record.
 * PD_SPE_BROKEN: a byte was met that begins no packet, or an operation of a reserved class; `out`
 * is what was read before it.
 * PD_SPE_NOTHING: the trace ends; a record without an end does not count.
 * < 0: status. */
int pd_spe_read(struct pd_spe_reader *reader, struct pd_spe_record *out);

/* Where the data was found, as PERF_SAMPLE_DATA_SRC says it; 0: no access to memory. `midr` is the
 * CPU's main id register, as models have sources of their own. */
uint64_t pd_spe_data_source(const struct pd_spe_record *record, uint64_t midr);

#endif
