/* SPDX-License-Identifier: MIT */
/* perfdata_aux_print_list(): one line a buffer. */
#include "render/aux/view.h"
#include "format/names.h"
#include <inttypes.h>
#include <stdio.h>

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

enum column { NR, QUEUE, CPU, TID, OFFSET, SIZE, REFERENCE, FILE_AT, COLUMNS };
enum { CELL = 24 };

struct table {
    const struct pd_aux *aux;
    int widths[COLUMNS]; /* as wide as what is in them, so that most lists fit into 80 columns */
};

static const char *const titles[COLUMNS] = { "nr",     "queue", "cpu",       "tid",
                                             "offset", "size",  "reference", "file" };

static void fill_cells(const struct pd_aux_buffer *buffer, char cells[COLUMNS][CELL])
{
    snprintf(cells[NR], CELL, "%" PRIu64, buffer->number);
    snprintf(cells[QUEUE], CELL, "%u", buffer->queue);
    snprintf(cells[CPU], CELL, "%ld", pd_aux_signed(buffer->cpu));
    snprintf(cells[TID], CELL, "%ld", pd_aux_signed(buffer->tid));
    snprintf(cells[OFFSET], CELL, "0x%" PRIx64, buffer->offset);
    snprintf(cells[SIZE], CELL, "%" PRIu64, buffer->size);
    snprintf(cells[REFERENCE], CELL, "0x%" PRIx64, buffer->reference);
    if (buffer->file_offset == UINT64_MAX)
        snprintf(cells[FILE_AT], CELL, "-");
    else
        snprintf(cells[FILE_AT], CELL, "0x%" PRIx64, buffer->file_offset);
}

static void measure(struct table *table)
{
    char cells[COLUMNS][CELL];
    for (int column = 0; column < COLUMNS; column++)
        table->widths[column] = (int)strlen(titles[column]) + !column; /* behind the # */
    for (size_t i = 0; i < table->aux->buffers.count; i++) {
        fill_cells(&table->aux->buffers.data[i], cells);
        for (int column = 0; column < COLUMNS; column++)
            table->widths[column] = PD_MAX(table->widths[column], (int)strlen(cells[column]));
    }
}

static void put_line(const struct table *table, const struct pd_aux_buffer *buffer, uint64_t flags,
                     struct pd_text *out)
{
    char cells[COLUMNS][CELL];
    fill_cells(buffer, cells);
    for (int column = 0; column < COLUMNS; column++)
        pd_text_format(out, "%*s ", table->widths[column], cells[column]);
    put_flags(buffer, flags, out);
    pd_text_char(out, '\n');
}

static void put_heading(const struct table *table, struct pd_text *out)
{
    const struct pd_aux *aux = table->aux;
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
    pd_text_string(out, "\n#");
    for (int column = 0; column < COLUMNS; column++)
        pd_text_format(out, "%*s ", table->widths[column] - !column, titles[column]);
    pd_text_string(out, "flags\n");
}

perfdata_status perfdata_aux_print_list(perfdata_aux *view, perfdata_write_fn write, void *data)
{
    const struct pd_aux *aux = view->aux;
    struct pd_aux_out out = { .context = &view->recording->context, .write = write, .data = data };
    bool json = view->flags & PERFDATA_AUX_PRINT_JSON;
    uint64_t bytes = 0;
    struct table table = { .aux = aux };
    if (!json) {
        measure(&table);
        put_heading(&table, &out.text);
    }
    for (size_t i = 0; i < aux->buffers.count && pd_aux_out_flush(&out, false); i++) {
        const struct pd_aux_buffer *buffer = &aux->buffers.data[i];
        uint64_t flags = pd_aux_flags_of(aux, buffer);
        if (json)
            put_json(buffer, flags, &out.text);
        else
            put_line(&table, buffer, flags, &out.text);
        bytes += buffer->size;
    }
    if (!json)
        pd_text_format(&out.text, "# %zu buffers, %" PRIu64 " bytes\n", aux->buffers.count, bytes);
    return pd_aux_out_end(&out, PERFDATA_OK);
}
