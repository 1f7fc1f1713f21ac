/* SPDX-License-Identifier: MIT */
/* Rows of a report, all at once and walked through: typed cells, texts, chains, what is refused,
 * how it is stopped. */
#include "test.h"
#include <perfdata/report_rows.h>
#include <stdbool.h>

struct sums {
    uint64_t rows, samples, periods, stop_after;
    double share;
    unsigned texts, levels;
};

static int take(void *data, const struct perfdata_report_row *row)
{
    struct sums *sums = data;
    CHECK(row->struct_size == sizeof *row && row->event_name && *row->event_name && row->total);
    for (size_t i = 0; i < row->cell_count; i++) {
        const struct perfdata_report_cell *cell = &row->cells[i];
        if (cell->kind == PERFDATA_CELL_TEXT) {
            CHECK(cell->text && strlen(cell->text) == cell->length && *cell->text != ' ');
            sums->texts++;
            sums->levels += cell->level == 'k' || cell->level == '.';
            continue;
        }
        CHECK(!cell->text && cell->event == row->event);
        if (!strcmp(cell->column, "sample"))
            sums->samples += cell->number;
        if (!strcmp(cell->column, "overhead")) {
            sums->periods += cell->number;
            sums->share += cell->share;
        }
    }
    return ++sums->rows == sums->stop_after;
}

static perfdata_recording *open_demo(void)
{
    char path[4096];
    perfdata_recording *recording = NULL;
    snprintf(path, sizeof path, "%s/tests/data/demo/spin.data", getenv("SOURCE"));
    perfdata_recording_open(path, NULL, &recording);
    return recording;
}

static perfdata_status run(struct perfdata_report_options *options, struct sums *sums)
{
    perfdata_recording *recording = open_demo();
    if (!recording)
        return PERFDATA_ERROR_NOT_FOUND;
    options->struct_size = sizeof *options;
    options->max_stack = 127;
    perfdata_status status = perfdata_report_rows(recording, options, take, sums, NULL);
    perfdata_recording_close(recording);
    return status;
}

/* Frames stand below what stands before them, and weigh no more. */
static void check_chains(perfdata_report *report, uint32_t row)
{
    struct perfdata_report_frame *frames;
    size_t count;
    CHECK(perfdata_report_chains(report, 0, row, &frames, &count) == PERFDATA_OK && count);
    for (size_t i = 0; i < count; i++) {
        bool top = frames[i].parent == UINT32_MAX;
        CHECK(top ? !frames[i].depth : frames[i].parent < i);
        if (!top && frames[i].parent < i) {
            const struct perfdata_report_frame *above = &frames[frames[i].parent];
            CHECK(frames[i].depth == above->depth + 1 && above->has_below);
            CHECK(frames[i].period <= above->period);
        }
        CHECK(*frames[i].name && frames[i].period);
    }
    perfdata_report_chains_free(frames);
}

static void check_row(perfdata_report *report, uint32_t index, struct sums *sums)
{
    struct perfdata_report_row row = { .struct_size = sizeof row };
    CHECK(perfdata_report_row(report, 0, index, &row) == PERFDATA_OK);
    take(sums, &row);
    const char *line = perfdata_report_row_text(report, 0, index, 0);
    CHECK(line && strchr(line, '%'));
    for (size_t i = 0; line && i < row.cell_count; i++)
        CHECK(row.cells[i].kind != PERFDATA_CELL_TEXT || strstr(line, row.cells[i].text));
    line = perfdata_report_row_text(report, 0, index, PERFDATA_REPORT_TEXT_PERIODS);
    CHECK(line && !strchr(line, '%'));
    CHECK(row.comm && row.object && row.period <= row.children_period && row.pid != UINT32_MAX);
    if (row.has_chains)
        check_chains(report, index);
}

/* The same rows as all at once, in any order. */
static void walk(const struct sums *all)
{
    struct perfdata_report_options options = { .struct_size = sizeof options,
                                               .max_stack = 127,
                                               .fields = "overhead,sample,comm,sym" };
    struct perfdata_report_table table = { .struct_size = sizeof table };
    struct perfdata_report_row row = { .struct_size = sizeof row };
    perfdata_recording *recording = open_demo();
    perfdata_report *report = NULL;
    struct sums walked = { 0 };
    CHECK(recording);
    options.flags = PERFDATA_REPORT_DUMP;
    CHECK(perfdata_report_open(recording, &options, NULL, &report) == PERFDATA_ERROR_ARGUMENT);
    CHECK(!report);
    options.flags = 0;
    CHECK(perfdata_report_open(recording, &options, NULL, &report) == PERFDATA_OK);
    if (!report)
        return;
    CHECK(perfdata_report_table_count(report) == 1);
    CHECK(perfdata_report_table(report, 0, &table) == PERFDATA_OK);
    CHECK(table.row_count == all->rows && table.samples == 90 && table.has_chains);
    for (uint32_t i = table.row_count; i-- > 0;)
        check_row(report, i, &walked);
    CHECK(walked.rows == all->rows && walked.samples == all->samples &&
          walked.periods == all->periods && walked.levels == all->levels);
    CHECK(perfdata_report_row(report, 0, table.row_count, &row) == PERFDATA_ERROR_ARGUMENT);
    CHECK(perfdata_report_row(report, 1, 0, &row) == PERFDATA_ERROR_ARGUMENT);
    CHECK(!perfdata_report_row_text(report, 0, table.row_count, 0));
    CHECK(perfdata_report_table(report, 1, &table) == PERFDATA_ERROR_ARGUMENT);
    perfdata_report_close(report);
    perfdata_recording_close(recording);
}

int main(void)
{
    struct perfdata_report_options plain = { .fields = "overhead,sample,comm,sym" };
    struct sums all = { 0 }, some = { .stop_after = 2 }, none = { 0 };
    CHECK(run(&plain, &all) == PERFDATA_OK);
    CHECK(all.rows > 2 && all.samples == 90 && all.periods == 90270810);
    CHECK(all.share > 99.99 && all.share < 100.01);
    CHECK(all.texts == 2 * all.rows && all.levels == all.rows);
    walk(&all);
    CHECK(run(&plain, &some) == PERFDATA_ERROR_CANCELLED && some.rows == 2);
    struct perfdata_report_options wide = { .column_widths = "1" };
    CHECK(run(&wide, &none) == PERFDATA_ERROR_ARGUMENT && !none.rows);
    struct perfdata_report_options levels = { .flags = PERFDATA_REPORT_HIERARCHY };
    CHECK(run(&levels, &none) == PERFDATA_ERROR_ARGUMENT && !none.rows);
    struct perfdata_report_options unknown = { .sort = "nothing" };
    CHECK(run(&unknown, &none) < 0 && !none.rows);
    return test_done();
}
