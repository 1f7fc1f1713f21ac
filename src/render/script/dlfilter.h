/* SPDX-License-Identifier: MIT */
/* Filters of `script` that are loaded from shared objects, made for perf: what passes between them
 * and us. The layout is perf's binary interface (its manual page perf-dlfilter). */
#ifndef PD_SCRIPT_DLFILTER_H
#define PD_SCRIPT_DLFILTER_H
#include <stdint.h>

struct pd_dl_sample {
    uint32_t size;
    uint16_t ins_lat, p_stage_cyc;
    uint64_t ip;
    int32_t pid, tid;
    uint64_t time, addr, id, stream_id, period, weight, transaction, insn_cnt, cyc_cnt;
    int32_t cpu;
    uint32_t flags;
    uint64_t data_src, phys_addr, data_page_size, code_page_size, cgroup;
    uint8_t cpumode, addr_correlates_sym;
    uint16_t misc;
    uint32_t raw_size;
    const void *raw_data;
    uint64_t brstack_nr;
    const void *brstack;
    uint64_t raw_callchain_nr;
    const uint64_t *raw_callchain;
    const char *event;
    int32_t machine_pid, vcpu;
};

struct pd_dl_location {
    uint32_t size, symoff;
    const char *sym;
    uint64_t addr, sym_start, sym_end;
    const char *dso;
    uint8_t sym_binding, is_64_bit, is_kernel_ip;
    uint32_t buildid_size;
    const uint8_t *buildid;
    /* Set by resolve_ip() only: */
    uint8_t filtered;
    const char *comm;
};

struct pd_dl_functions {
    const struct pd_dl_location *(*resolve_ip)(void *ctx);
    const struct pd_dl_location *(*resolve_addr)(void *ctx);
    char **(*args)(void *ctx, int *count);
    int32_t (*resolve_address)(void *ctx, uint64_t address, struct pd_dl_location *out);
    const uint8_t *(*insn)(void *ctx, uint32_t *length);
    const char *(*srcline)(void *ctx, uint32_t *line);
    void *(*attr)(void *ctx);
    int32_t (*object_code)(void *ctx, uint64_t ip, void *to, uint32_t length);
    void *(*reserved[120])(void *);
};

/* The functions that a filter may have; each may be NULL. */
struct pd_dl_filter {
    int (*start)(void **data, void *ctx);
    int (*stop)(void *data, void *ctx);
    int (*filter_event)(void *data, const struct pd_dl_sample *sample, void *ctx);
    int (*filter_event_early)(void *data, const struct pd_dl_sample *sample, void *ctx);
};

/* cycles.c: built in, as dlfilter-show-cycles.so. It prints by pd_dl_print(). */
extern const struct pd_dl_filter pd_dl_show_cycles;
/* Up to two values as "%10llu ", and blanks in place of those missing. */
void pd_dl_print(void *ctx, const uint64_t *values, unsigned count);

#endif
