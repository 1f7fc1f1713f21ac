/* SPDX-License-Identifier: MIT */
/* Reads what rows have, before they are measured or drawn. */
#include "render/report/draw.h"

/* A byte of each cache line. */
PD_INLINE uint64_t read_lines(const void *from, size_t size)
{
    enum { LINE = 64 };
    const uint8_t *bytes = from;
    uint64_t sum = bytes[size - 1];
    for (size_t at = 0; at < size; at += LINE)
        sum += bytes[at];
    return sum;
}

/* To prefetch it has little effect, as it does not wait for the pages' addresses. */
void pd_report_read_rows(const struct pd_report_table *table, size_t begin, size_t end)
{
    const struct pd_hist *keys = table->result->identities;
    volatile uint64_t read; /* so that nothing is left out */
    uint64_t sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += read_lines(table->event->rows.data[i], sizeof **table->event->rows.data);
    for (size_t i = begin; i < end; i++) {
        const struct pd_hist_row *row = table->event->rows.data[i];
        sum += read_lines(&row->entry->first, sizeof row->entry->first);
        sum += read_lines(pd_hist_key_of(keys, row->index), keys->words * sizeof(uint64_t));
        if (table->plan->hist.has_access)
            sum += read_lines(pd_hist_access_of(table->hist, row->entry),
                              sizeof(struct pd_hist_access));
        if (table->chains && row->index < table->result->row_count_with_entry)
            sum += table->chains->begin[row->index];
    }
    read = sum;
    (void)read;
}
