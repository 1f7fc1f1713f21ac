/* SPDX-License-Identifier: MIT */
/* Every packet of some bytes of Intel PT, which are read in windows. */
#ifndef PD_AUX_SCAN_H
#define PD_AUX_SCAN_H
#include "render/aux/view.h"
#include "itrace/intel_pt/packet.h"

struct pd_scan_packet {
    uint64_t offset;      /* from the start of the bytes */
    const uint8_t *bytes; /* packet->size of them are its own */
    size_t left;          /* how many bytes are known from its start on */
    struct pd_pt_packet packet;
    unsigned own_size;
    enum pd_pt_context before, after; /* the block context around it */
};

struct pd_scan {
    /* Reads as pd_aux_read() does. */
    perfdata_status (*read)(void *data, uint64_t from, void *to, size_t size, size_t *got);
    void *read_data;
    /* 0, or what ends the scan. */
    int (*each)(void *data, const struct pd_scan_packet *packet);
    void *data;
    uint64_t size; /* UINT64_MAX: up to where read() has no more */
};

/* 0, what each() returned, or a status. */
int pd_scan_run(struct pd_context *context, const struct pd_scan *scan);
/* The same for bytes in memory; `read` is not used. */
int pd_scan_bytes(const struct pd_scan *scan, const uint8_t *bytes, size_t size);

/* All of a recording's Intel PT, queue by queue, buffer by buffer. With `cut`, bytes that two
 * buffers share are scanned once. `begin` is called before the packets of each buffer, or piece of
 * one; scan.read and scan.size are filled in. */
struct pd_scan_all {
    struct pd_scan scan;
    bool cut;
    int (*begin)(void *data, const struct pd_aux_queue *queue, const struct pd_aux_piece *piece);
};
int pd_scan_queue(const struct pd_aux *aux, uint32_t queue, const struct pd_scan_all *all);

#endif
