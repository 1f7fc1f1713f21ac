/* SPDX-License-Identifier: MIT */
/* Behind <perfdata/itrace.h>: the AUX areas of a recording as they are printed. */
#ifndef PD_AUX_VIEW_H
#define PD_AUX_VIEW_H
#include "container/handle.h"
#include "select/filter.h"
#include "itrace/aux/aux.h"
#include <perfdata/itrace.h>

struct perfdata_aux {
    struct pd_recording *recording;
    struct pd_filter filter; /* CPUs */
    struct pd_aux *aux;
    uint32_t flags;
};

/* Text that goes out in large pieces. */
struct pd_aux_out {
    struct pd_context *context;
    perfdata_write_fn write;
    void *data;
    struct pd_text text;
    perfdata_status status; /* of the first failure */
};

/* Passes the text to write() when there is much of it, or in any case with `all`. False after a
 * failure. */
bool pd_aux_out_flush(struct pd_aux_out *out, bool all);
/* Writes the rest and frees the text. `status` is that of the work so far; the first failure of all
 * is returned. */
perfdata_status pd_aux_out_end(struct pd_aux_out *out, perfdata_status status);

/* PERFDATA_ERROR_UNSUPPORTED, with the trace's kind by name, unless it is Intel PT. */
perfdata_status pd_aux_need_pt(const struct perfdata_aux *view);
/* What the kernel said of a buffer's bytes: the flags of all AUX records that overlap the
 * buffer. */
uint64_t pd_aux_flags_of(const struct pd_aux *aux, const struct pd_aux_buffer *buffer);
/* The name of a queue: "cpu3", "tid4711". */
void pd_aux_queue_name(const struct pd_aux_queue *queue, struct pd_text *out);
/* For JSON (".cpu":3 and the like): -1 for none. */
PD_INLINE long pd_aux_signed(uint32_t value)
{
    return (int32_t)value;
}

#endif
