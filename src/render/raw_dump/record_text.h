/* SPDX-License-Identifier: MIT */
/* What perf prints of a record behind PERF_RECORD_NAME: script's --show-*-events and the raw
 * dump. */
#ifndef PD_RECORD_TEXT_H
#define PD_RECORD_TEXT_H
#include "base/text.h"
#include "format/structs.h"

union pd_any_record {
    struct pd_record_mmap mmap;
    struct pd_record_mmap2 mmap2;
    struct pd_record_lost lost;
    struct pd_record_comm comm;
    struct pd_record_fork fork; /* EXIT has the same shape */
    struct pd_record_switch_cpu_wide wide;
    struct pd_record_namespaces namespaces;
    struct pd_record_ksymbol ksymbol;
    struct pd_record_bpf_event bpf;
    struct pd_record_cgroup cgroup;
    struct pd_record_text_poke poke;
    struct pd_record_read read;
    struct pd_record_aux aux;
    struct pd_record_itrace_start itrace_start;
    struct pd_record_aux_output_hw_id hw_id;
    struct pd_record_lost_samples lost_samples;
    struct pd_record_throttle throttle;
    struct pd_record_auxtrace_error error;
};

/* The size of the structure that pd_record_decode() fills in for this type; 0: perf prints nothing
 * of such a record here. */
size_t pd_any_record_size(uint32_t type);
/* Adds " name+0xoff" for a kernel address; false: it has no known name. */
struct pd_record_namer {
    bool (*name)(void *data, uint64_t address, struct pd_text *text);
    void *data;
};

/* Ends with a newline. `namer` may be NULL. */
void pd_record_text(const union pd_any_record *body, uint32_t type, uint16_t misc,
                    const struct pd_record_namer *namer, struct pd_text *text);
/* The whole line of an AUXTRACE_ERROR. */
void pd_auxtrace_error_text(const struct pd_record_auxtrace_error *error, struct pd_text *text);

#endif
