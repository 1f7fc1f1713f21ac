/* SPDX-License-Identifier: MIT */
/* A table of rows -> its text, in slices on threads. */
#include "base/parallel.h"
#include "render/report/draw.h"
#include <stdlib.h>

/* Rows are drawn in slices, each on some thread; a window of slices is drawn, then given away in
 * order. */
enum { SLICE_ROWS = PD_REPORT_ROWS_AT_ONCE, WINDOW_SLICES = 64 };

struct slice {
    struct pd_text text;
    perfdata_status status;
};

struct drawing {
    const struct pd_report_table *table;
    size_t first; /* row of the window */
    struct slice slices[WINDOW_SLICES];
    struct pd_chain_tree trees[PD_PARALLEL_MAX]; /* by worker */
};

static void draw_slice(void *data, unsigned worker, size_t index)
{
    struct drawing *drawing = data;
    const struct pd_report_table *table = drawing->table;
    struct slice *slice = &drawing->slices[index];
    size_t begin = drawing->first + index * SLICE_ROWS,
           end = PD_MIN(begin + SLICE_ROWS, table->event->rows.count);
    slice->text.length = 0;
    slice->status = 0;
    pd_report_read_rows(table, begin, end);
    for (size_t i = begin; i < end && slice->status == 0; i++) {
        const struct pd_hist_row *row = table->event->rows.data[i];
        if (row->filtered || pd_report_is_below_limit(table, row))
            continue;
        pd_report_row_line(table, row, &slice->text);
        if (table->chains && row->index < table->result->row_count_with_entry)
            slice->status = pd_report_row_chains(table, row, &drawing->trees[worker], &slice->text);
    }
    if (slice->text.failed)
        slice->status = PERFDATA_ERROR_MEMORY;
}

static perfdata_status draw_rows(struct drawing *drawing, struct pd_text *out,
                                 perfdata_status (*flush)(void *data, struct pd_text *text),
                                 void *data)
{
    const struct pd_report_table *table = drawing->table;
    size_t count = table->event->rows.count;
    perfdata_status status = 0;
    for (; drawing->first < count && status == 0; drawing->first += WINDOW_SLICES * SLICE_ROWS) {
        size_t slices = PD_MIN((count - drawing->first + SLICE_ROWS - 1) / SLICE_ROWS,
                               (size_t)WINDOW_SLICES);
        pd_parallel(table->threads, slices, draw_slice, drawing);
        for (size_t i = 0; i < slices && status == 0; i++) {
            pd_text_bytes(out, drawing->slices[i].text.data, drawing->slices[i].text.length);
            status = drawing->slices[i].status;
            if (status == 0 && out->length > (1 << 18))
                status = flush(data, out);
        }
    }
    for (size_t i = 0; i < WINDOW_SLICES; i++)
        pd_text_free(&drawing->slices[i].text);
    for (size_t i = 0; i < PD_PARALLEL_MAX; i++)
        pd_chain_tree_free(&drawing->trees[i]);
    return status;
}

perfdata_status pd_report_draw(struct pd_report_table *table, struct pd_text *out,
                               perfdata_status (*flush)(void *data, struct pd_text *text),
                               void *data)
{
    perfdata_status status = pd_report_fields_measure(table);
    if (status < 0)
        return status;
    pd_report_measure(table);
    if (table->plan->hist.levels) {
        free(table->field_widths);
        return pd_report_draw_levels(table, out, flush, data);
    }
    if (!table->plan->quiet)
        pd_report_titles(table, out);
    struct drawing *drawing = calloc(1, sizeof *drawing);
    if (drawing) {
        drawing->table = table;
        status = draw_rows(drawing, out, flush, data);
    } else {
        status = PERFDATA_ERROR_MEMORY;
    }
    free(drawing);
    free(table->field_widths);
    return status;
}
