/* SPDX-License-Identifier: MIT */
/* perfdata_report_rows(): typed cells of each row, what it refuses, how it is stopped. */
#include "test.h"
#include <perfdata/report.h>

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

static perfdata_status run(struct perfdata_report_options *options, struct sums *sums)
{
    char path[4096];
    perfdata_recording *recording;
    snprintf(path, sizeof path, "%s/tests/data/demo/spin.data", getenv("SOURCE"));
    if (perfdata_recording_open(path, NULL, &recording) < 0)
        return PERFDATA_ERROR_NOT_FOUND;
    options->struct_size = sizeof *options;
    options->max_stack = 127;
    perfdata_status status = perfdata_report_rows(recording, options, take, sums, NULL);
    perfdata_recording_close(recording);
    return status;
}

int main(void)
{
    struct perfdata_report_options plain = { .fields = "overhead,sample,comm,sym" };
    struct sums all = { 0 }, some = { .stop_after = 2 }, none = { 0 };
    CHECK(run(&plain, &all) == PERFDATA_OK);
    CHECK(all.rows > 2 && all.samples == 90 && all.periods == 90270810);
    CHECK(all.share > 99.99 && all.share < 100.01);
    CHECK(all.texts == 2 * all.rows && all.levels == all.rows);
    CHECK(run(&plain, &some) == PERFDATA_ERROR_CANCELLED && some.rows == 2);
    struct perfdata_report_options wide = { .column_widths = "1" };
    CHECK(run(&wide, &none) == PERFDATA_ERROR_ARGUMENT && !none.rows);
    struct perfdata_report_options levels = { .flags = PERFDATA_REPORT_HIERARCHY };
    CHECK(run(&levels, &none) == PERFDATA_ERROR_ARGUMENT && !none.rows);
    struct perfdata_report_options unknown = { .sort = "nothing" };
    CHECK(run(&unknown, &none) < 0 && !none.rows);
    return test_done();
}
