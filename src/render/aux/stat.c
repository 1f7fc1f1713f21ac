/* SPDX-License-Identifier: MIT */
/* perfdata_aux_print_statistics(): what each queue holds. */
#include "render/aux/scan.h"
#include <inttypes.h>
#include <stdlib.h>

/* Counters by kind of packet. TNT is told apart by size: the last counter is for the long ones. */
enum { TNT_LONG = PD_PT_KINDS, COUNTERS, TNT_LONG_SIZE = 8 };

struct counts {
    uint64_t buffers, bytes, skipped, padding;
    uint64_t packets[COUNTERS], sizes[COUNTERS];
    uint64_t psb_least, psb_most, psb_sum, psb_spans;
    uint64_t psb_last; /* place in the queue; UINT64_MAX: none yet in these consecutive bytes */
    uint64_t truncated, partial, collision;
    uint64_t position; /* of the piece in the queue */
    uint64_t buffer;   /* number of the last one seen */
};

static int begin(void *data, const struct pd_aux_queue *queue, const struct pd_aux_piece *piece)
{
    struct counts *counts = data;
    (void)queue;
    if (counts->buffer != piece->trace_number) {
        counts->buffers++;
        counts->buffer = piece->trace_number;
    }
    if (!piece->consecutive)
        counts->psb_last = UINT64_MAX;
    counts->bytes += piece->size;
    counts->position = piece->position;
    return 0;
}

static int count(void *data, const struct pd_scan_packet *at)
{
    struct counts *counts = data;
    unsigned kind = at->packet.kind;
    if (kind == PD_PT_TNT && at->own_size == TNT_LONG_SIZE)
        kind = TNT_LONG;
    counts->padding += kind == PD_PT_PAD ? at->packet.size : at->packet.size - at->own_size;
    counts->packets[kind]++;
    counts->sizes[kind] += at->own_size;
    if (kind != PD_PT_PSB)
        return 0;
    uint64_t place = counts->position + at->offset, span = place - counts->psb_last;
    if (counts->psb_last != UINT64_MAX) {
        counts->psb_least = PD_MIN(counts->psb_least, span);
        counts->psb_most = PD_MAX(counts->psb_most, span);
        counts->psb_sum += span;
        counts->psb_spans++;
    }
    counts->psb_last = place;
    return 0;
}

/* Counts what the kernel's AUX records said of this CPU or thread. */
static void count_records(const struct pd_aux *aux, const struct pd_aux_queue *queue,
                          struct counts *counts)
{
    for (size_t i = 0; i < aux->records.count; i++) {
        const struct pd_aux_record *record = &aux->records.data[i];
        if (queue->cpu != UINT32_MAX ? record->cpu != queue->cpu : record->tid != queue->tid)
            continue;
        counts->truncated += (record->flags & PD_AUX_TRUNCATED) != 0;
        counts->partial += (record->flags & PD_AUX_PARTIAL) != 0;
        counts->collision += (record->flags & PD_AUX_COLLISION) != 0;
    }
}

static const char *counter_name(unsigned kind)
{
    return kind == TNT_LONG ? "TNT.long" : kind == PD_PT_BAD ? "bad" : pd_pt_kind_name(kind);
}

static void put_json(const struct pd_aux_queue *queue, const struct counts *counts,
                     struct pd_text *out)
{
    bool first = true;
    pd_text_format(out,
                   "{\"queue\":%u,\"cpu\":%ld,\"tid\":%ld,\"buffers\":%" PRIu64
                   ",\"bytes\":%" PRIu64 ",\"skipped\":%" PRIu64 ",\"padding\":%" PRIu64
                   ",\"packets\":{",
                   queue->number, pd_aux_signed(queue->cpu), pd_aux_signed(queue->tid),
                   counts->buffers, counts->bytes, counts->skipped, counts->padding);
    for (unsigned kind = 0; kind < COUNTERS; kind++) {
        if (!counts->packets[kind])
            continue;
        pd_text_format(out, "%s\"%s\":%" PRIu64, first ? "" : ",", counter_name(kind),
                       counts->packets[kind]);
        first = false;
    }
    pd_text_string(out, "}");
    if (counts->psb_spans)
        pd_text_format(out,
                       ",\"psb_distance\":{\"least\":%" PRIu64 ",\"mean\":%" PRIu64
                       ",\"most\":%" PRIu64 "}",
                       counts->psb_least, counts->psb_sum / counts->psb_spans, counts->psb_most);
    pd_text_format(
        out, ",\"truncated\":%" PRIu64 ",\"partial\":%" PRIu64 ",\"collision\":%" PRIu64 "}\n",
        counts->truncated, counts->partial, counts->collision);
}

static void put_text(const struct pd_aux_queue *queue, const struct counts *counts,
                     struct pd_text *out)
{
    uint64_t packets = 0;
    for (unsigned kind = 0; kind < COUNTERS; kind++)
        packets += counts->packets[kind];
    pd_aux_queue_name(queue, out);
    pd_text_format(out, ": %" PRIu64 " buffers, %" PRIu64 " bytes", counts->buffers, counts->bytes);
    if (counts->skipped)
        pd_text_format(out, " (and %" PRIu64 " that came twice)", counts->skipped);
    pd_text_format(out, ", %" PRIu64 " packets\n", packets);
    for (unsigned kind = 0; kind < COUNTERS; kind++)
        if (counts->packets[kind])
            pd_text_format(out, "  %-10s %12" PRIu64 " %14" PRIu64 " bytes %6.2f%%\n",
                           counter_name(kind), counts->packets[kind], counts->sizes[kind],
                           100.0 * (double)counts->sizes[kind] / (double)counts->bytes);
    if (counts->padding)
        pd_text_format(out, "  %-10s %12s %14" PRIu64 " bytes %6.2f%%\n", "padding", "",
                       counts->padding, 100.0 * (double)counts->padding / (double)counts->bytes);
    if (counts->psb_spans)
        pd_text_format(out,
                       "  from PSB to PSB: %" PRIu64 " to %" PRIu64 " bytes, mean %" PRIu64 "\n",
                       counts->psb_least, counts->psb_most, counts->psb_sum / counts->psb_spans);
    pd_text_format(out, "  lost: %" PRIu64 " overflows", counts->packets[PD_PT_OVF]);
    pd_text_format(out,
                   ", %" PRIu64 " times truncated, %" PRIu64 " with gaps, %" PRIu64 " collisions\n",
                   counts->truncated, counts->partial, counts->collision);
}

perfdata_status perfdata_aux_print_statistics(perfdata_aux *view, perfdata_write_fn write,
                                              void *data)
{
    const struct pd_aux *aux = view->aux;
    struct pd_aux_out out = { .context = &view->recording->context, .write = write, .data = data };
    int result = pd_aux_need_pt(view);
    for (uint32_t i = 0; i < aux->queues.count && !result; i++) {
        const struct pd_aux_queue *queue = &aux->queues.data[i];
        if (!queue->set)
            continue;
        struct counts counts = { .psb_least = UINT64_MAX, .psb_last = UINT64_MAX };
        struct pd_scan_all all = { .scan = { .each = count, .data = &counts },
                                   .cut = view->flags & PERFDATA_AUX_PRINT_CUT,
                                   .begin = begin };
        result = pd_scan_queue(aux, i, &all);
        for (size_t k = 0; k < queue->buffers.count; k++)
            counts.skipped += aux->buffers.data[queue->buffers.data[k]].size;
        counts.skipped -= PD_MIN(counts.skipped, counts.bytes);
        count_records(aux, queue, &counts);
        (view->flags & PERFDATA_AUX_PRINT_JSON ? put_json : put_text)(queue, &counts, &out.text);
        if (!pd_aux_out_flush(&out, false))
            break;
    }
    return pd_aux_out_end(&out, result);
}
