/* SPDX-License-Identifier: MIT */
/* perfdata_aux_print_packets(), _print_index(), perfdata_trace_print_packets(): packets with their
 * times. */
#include "render/aux/scan.h"
#include "io/io.h"
#include "itrace/intel_pt/clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum dump_form { FORM_TEXT, FORM_JSON, FORM_PERF, FORM_INDEX, FORM_INDEX_JSON };

struct dump {
    struct pd_aux_out out;
    const struct pd_aux *aux; /* NULL: a bare trace */
    enum dump_form form;
    struct pd_pt_clock clock;
    const struct pd_aux_queue *queue;
    struct pd_aux_piece piece;
    bool in_psb; /* index: the PSB+ at `psb` has no time yet */
    uint64_t psb;
};

/* ---- times ---- */

static bool has_time(const struct dump *dump)
{
    return dump->clock.time.timestamp && !(dump->aux && dump->aux->modes.timeless);
}

static uint64_t time_now(const struct dump *dump)
{
    return pd_tsc_to_time(&dump->aux->info.pt.time, dump->clock.time.timestamp);
}

/* Seconds and nanoseconds; of a bare trace ticks. */
static void put_time(struct dump *dump, struct pd_text *out)
{
    if (!has_time(dump)) {
        pd_text_fill(out, ' ', 18);
    } else if (!dump->aux) {
        pd_text_hex(out, dump->clock.time.timestamp, 18, ' ');
    } else {
        uint64_t now = time_now(dump);
        pd_text_u64(out, now / 1000000000, 8, ' ');
        pd_text_char(out, '.');
        pd_text_u64(out, now % 1000000000, 9, '0');
    }
}

static void put_json_time(struct dump *dump, struct pd_text *out)
{
    if (!has_time(dump))
        return;
    if (dump->aux)
        pd_text_format(out, ",\"time\":\"%" PRIu64 "\"", time_now(dump));
    pd_text_format(out, ",\"tsc\":\"%" PRIu64 "\"", dump->clock.time.timestamp);
}

/* ---- packets ---- */

static void put_packet(struct dump *dump, const struct pd_scan_packet *at)
{
    struct pd_text *out = &dump->out.text;
    uint64_t place = dump->piece.from + at->offset;
    if (dump->form == FORM_PERF) {
        pd_pt_dump_packet(place, at->bytes, &at->packet, out);
        return;
    }
    if (dump->form == FORM_TEXT) {
        pd_text_hex(out, place, 10, ' ');
        pd_text_char(out, ' ');
        put_time(dump, out);
        pd_text_string(out, "  ");
        pd_pt_packet_text(&at->packet, out);
        pd_text_char(out, '\n');
        return;
    }
    if (dump->queue)
        pd_text_format(out, "{\"queue\":%u,\"buffer\":%" PRIu64 ",\"offset\":", dump->queue->number,
                       dump->piece.trace_number);
    else
        pd_text_string(out, "{\"offset\":");
    pd_text_u64(out, place, 0, ' ');
    pd_text_format(out, ",\"size\":%u", at->packet.size);
    put_json_time(dump, out);
    pd_text_format(out, ",\"kind\":\"%s\",\"text\":\"", pd_pt_kind_name(at->packet.kind));
    pd_pt_packet_text(&at->packet, out); /* letters, digits, blanks */
    pd_text_string(out, "\"}\n");
}

/* ---- PSBs ---- */

static void put_psb(struct dump *dump)
{
    struct pd_text *out = &dump->out.text;
    const struct pd_aux_piece *piece = &dump->piece;
    uint64_t in_buffer = piece->from + dump->psb, position = piece->position + dump->psb;
    uint64_t file = piece->buffer->file_offset;
    dump->in_psb = false;
    if (dump->form == FORM_INDEX) {
        pd_text_format(out, "%5u %4ld %7ld %8" PRIu64 " %12" PRIx64 " %14" PRIx64 " ",
                       dump->queue->number, pd_aux_signed(dump->queue->cpu),
                       pd_aux_signed(dump->queue->tid), piece->trace_number, in_buffer, position);
        if (file == UINT64_MAX)
            pd_text_string(out, "           -");
        else
            pd_text_format(out, "%12" PRIx64, file + in_buffer);
        put_time(dump, out);
        pd_text_char(out, '\n');
        return;
    }
    pd_text_format(out,
                   "{\"queue\":%u,\"cpu\":%ld,\"tid\":%ld,\"buffer\":%" PRIu64
                   ",\"offset\":%" PRIu64 ",\"position\":%" PRIu64,
                   dump->queue->number, pd_aux_signed(dump->queue->cpu),
                   pd_aux_signed(dump->queue->tid), piece->trace_number, in_buffer, position);
    if (file != UINT64_MAX)
        pd_text_format(out, ",\"file_offset\":%" PRIu64, file + in_buffer);
    put_json_time(dump, out);
    pd_text_string(out, "}\n");
}

/* Adds the packet to the index of PSBs. A PSB's time is that of the TSC in its PSB+. */
static void index_packet(struct dump *dump, const struct pd_scan_packet *at)
{
    if (at->packet.kind == PD_PT_PSB) {
        if (dump->in_psb)
            put_psb(dump);
        dump->in_psb = true;
        dump->psb = at->offset;
    } else if (dump->in_psb && (at->packet.kind == PD_PT_TSC || at->packet.kind == PD_PT_PSBEND ||
                                at->packet.kind == PD_PT_OVF || at->packet.kind == PD_PT_BAD)) {
        put_psb(dump);
    }
}

static int each_packet(void *data, const struct pd_scan_packet *at)
{
    struct dump *dump = data;
    if (dump->form != FORM_PERF)
        pd_pt_clock_packet(&dump->clock, &at->packet, at->bytes + at->packet.size,
                           at->left - at->packet.size, at->after);
    if (dump->form >= FORM_INDEX)
        index_packet(dump, at);
    else
        put_packet(dump, at);
    return pd_aux_out_flush(&dump->out, false) ? 0 : dump->out.status;
}

static int begin(void *data, const struct pd_aux_queue *queue, const struct pd_aux_piece *piece)
{
    struct dump *dump = data;
    struct pd_text *out = &dump->out.text;
    if (dump->in_psb)
        put_psb(dump);
    if (queue != dump->queue)
        pd_pt_clock_init(&dump->clock, &dump->aux->info.pt, &dump->aux->modes);
    pd_pt_clock_buffer(&dump->clock, piece->reference, piece->consecutive);
    dump->queue = queue;
    dump->piece = *piece;
    if (dump->form == FORM_PERF)
        pd_text_format(out, ".\n. ... Intel Processor Trace data: size %zu bytes\n", piece->size);
    else if (dump->form == FORM_TEXT) {
        pd_text_string(out, "# ");
        pd_aux_queue_name(queue, out);
        pd_text_format(out, ", buffer %" PRIu64 ", offset %" PRIx64 ", %zu bytes%s\n",
                       piece->trace_number, piece->buffer->offset + piece->from, piece->size,
                       piece->consecutive ? "" : ", a new beginning");
    }
    return 0;
}

static perfdata_status dump_all(perfdata_aux *view, enum dump_form form, perfdata_write_fn write,
                                void *data)
{
    struct dump dump = {
        .out = { .context = &view->recording->context, .write = write, .data = data },
        .aux = view->aux,
        .form = form
    };
    struct pd_scan_all all = { .scan = { .each = each_packet, .data = &dump },
                               .cut = view->flags & PERFDATA_AUX_PRINT_CUT,
                               .begin = begin };
    int result = pd_aux_need_pt(view);
    if (!result && form == FORM_INDEX)
        pd_text_string(&dump.out.text, "#   q  cpu     tid   buffer       offset       position"
                                       "  file offset              time\n");
    for (uint32_t i = 0; i < view->aux->queues.count && !result; i++)
        if (view->aux->queues.data[i].set)
            result = pd_scan_queue(view->aux, i, &all);
    if (!result && dump.in_psb)
        put_psb(&dump);
    return pd_aux_out_end(&dump.out, result);
}

perfdata_status perfdata_aux_print_packets(perfdata_aux *view, perfdata_write_fn write, void *data)
{
    enum dump_form form = view->flags & PERFDATA_AUX_PRINT_AS_PERF ? FORM_PERF
                          : view->flags & PERFDATA_AUX_PRINT_JSON  ? FORM_JSON
                                                                   : FORM_TEXT;
    return dump_all(view, form, write, data);
}

perfdata_status perfdata_aux_print_index(perfdata_aux *view, perfdata_write_fn write, void *data)
{
    return dump_all(view, view->flags & PERFDATA_AUX_PRINT_JSON ? FORM_INDEX_JSON : FORM_INDEX,
                    write, data);
}

/* ---- a bare trace ---- */

static perfdata_status read_source(void *data, uint64_t from, void *to, size_t size, size_t *got)
{
    return pd_source_read(data, from, to, size, got);
}

perfdata_status perfdata_trace_print_packets(const char *path, uint32_t flags,
                                             perfdata_write_fn write, void *data, char *error,
                                             size_t error_size)
{
    struct pd_context context;
    struct pd_source *source = NULL;
    static const struct pd_pt_info nothing = { .time.mult = 1 };
    static const struct pd_pt_modes no_modes;
    struct dump dump = { .out = { .context = &context, .write = write, .data = data } };
    pd_context_init(&context);
    dump.form = flags & PERFDATA_AUX_PRINT_AS_PERF ? FORM_PERF
                : flags & PERFDATA_AUX_PRINT_JSON  ? FORM_JSON
                                                   : FORM_TEXT;
    pd_pt_clock_init(&dump.clock, &nothing, &no_modes);
    context.path = path;
    int result = pd_source_open_path(&context, path, &source);
    if (result == PERFDATA_OK) {
        struct pd_scan scan = { .read = read_source,
                                .read_data = source,
                                .each = each_packet,
                                .data = &dump,
                                .size = pd_source_size(source) };
        if (dump.form == FORM_PERF && scan.size != UINT64_MAX)
            pd_text_format(&dump.out.text,
                           ".\n. ... Intel Processor Trace data: size %" PRIu64 " bytes\n",
                           scan.size);
        pd_source_stop_keeping(source);
        result = pd_scan_run(&context, &scan);
    }
    result = pd_aux_out_end(&dump.out, result);
    if (error && error_size)
        snprintf(error, error_size, "%s", context.message);
    pd_source_close(source);
    pd_context_fini(&context);
    return result;
}
