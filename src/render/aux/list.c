/* SPDX-License-Identifier: MIT */
/* perfdata_aux_print_list(): one line a buffer. */
#include "render/aux/view.h"
#include "format/names.h"
#include <inttypes.h>

static void put_flags(const struct pd_aux_buffer *buffer, uint64_t flags, struct pd_text *out)
{
    if (buffer->sample)
        pd_text_string(out, "sample");
    else if (flags)
        pd_bits_text(out, &pd_names_aux_flags, flags, ",");
    else
        pd_text_char(out, '-');
}

static void put_json(const struct pd_aux_buffer *buffer, uint64_t flags, struct pd_text *out)
{
    pd_text_format(out,
                   "{\"nr\":%" PRIu64 ",\"queue\":%u,\"cpu\":%ld,\"pid\":%ld,\"tid\":%ld,"
                   "\"offset\":\"%" PRIu64 "\",\"size\":%" PRIu64 ",\"reference\":\"%" PRIu64
                   "\",\"file_offset\":",
                   buffer->number, buffer->queue, pd_aux_signed(buffer->cpu),
                   pd_aux_signed(buffer->pid), pd_aux_signed(buffer->tid), buffer->offset,
                   buffer->size, buffer->reference);
    if (buffer->file_offset == UINT64_MAX)
        pd_text_string(out, "null");
    else
        pd_text_u64(out, buffer->file_offset, 0, ' ');
    pd_text_format(out, ",\"sample\":%s,\"flags\":\"%" PRIu64 "\"}\n",
                   buffer->sample ? "true" : "false", flags);
}

static void put_line(const struct pd_aux_buffer *buffer, uint64_t flags, struct pd_text *out)
{
    pd_text_format(out, "%8" PRIu64 " %5u %4ld %7ld %14" PRIx64 " %12" PRIu64 " %16" PRIx64 " ",
                   buffer->number, buffer->queue, pd_aux_signed(buffer->cpu),
                   pd_aux_signed(buffer->tid), buffer->offset, buffer->size, buffer->reference);
    if (buffer->file_offset == UINT64_MAX)
        pd_text_string(out, "           - ");
    else
        pd_text_format(out, "%12" PRIx64 " ", buffer->file_offset);
    put_flags(buffer, flags, out);
    pd_text_char(out, '\n');
}

static void put_heading(const struct pd_aux *aux, struct pd_text *out)
{
    const char *name = pd_aux_kind_name(aux->info.type);
    const struct pd_pt_info *pt = &aux->info.pt;
    pd_text_format(out, "# %s", name ? name : "unknown kind of trace");
    if (aux->info.type == PD_AUXTRACE_INTEL_PT)
        pd_text_format(out, ", %s%s%s",
                       aux->modes.sampling ? "in samples"
                       : pt->snapshot_mode ? "snapshots"
                                           : "full trace",
                       pt->per_cpu_mmaps ? ", per CPU" : ", per thread",
                       aux->modes.timeless ? ", without time" : "");
    pd_text_string(out, "\n#     nr queue  cpu     tid         offset         size        reference"
                        "  file offset flags\n");
}

perfdata_status perfdata_aux_print_list(perfdata_aux *view, perfdata_write_fn write, void *data)
{
    const struct pd_aux *aux = view->aux;
    struct pd_aux_out out = { .context = &view->recording->context, .write = write, .data = data };
    bool json = view->flags & PERFDATA_AUX_PRINT_JSON;
    uint64_t bytes = 0;
    if (!json)
        put_heading(aux, &out.text);
    for (size_t i = 0; i < aux->buffers.count && pd_aux_out_flush(&out, false); i++) {
        const struct pd_aux_buffer *buffer = &aux->buffers.data[i];
        uint64_t flags = pd_aux_flags_of(aux, buffer);
        (json ? put_json : put_line)(buffer, flags, &out.text);
        bytes += buffer->size;
    }
    if (!json)
        pd_text_format(&out.text, "# %zu buffers, %" PRIu64 " bytes\n", aux->buffers.count, bytes);
    return pd_aux_out_end(&out, PERFDATA_OK);
}
