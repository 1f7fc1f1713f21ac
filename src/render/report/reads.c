/* SPDX-License-Identifier: MIT */
/* -T: READ records summed by thread and counter, and printed as perf prints them. */
#include "render/report/reads.h"
#include "format/offsets.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The places of pid, tid and value behind the header, and the least size of a record. */
enum { LEAST_SIZE = PD_AT(read, values) + sizeof(uint64_t) };

#define NUMBER_ROOM 24

/* The number of `key` in `map`; a new key gets the next one, `count`. PD_MAP64_NONE: no memory. */
static uint32_t number_of(struct pd_map64 *map, uint64_t key, size_t count)
{
    uint32_t number = pd_map64_get(map, key);
    if (number != PD_MAP64_NONE || count >= PD_MAP64_NONE)
        return number;
    return pd_map64_set(map, key, (uint32_t)count) ? (uint32_t)count : PD_MAP64_NONE;
}

static bool add(struct pd_report_reads *reads, const struct pd_event *event, uint32_t pid,
                uint32_t tid, uint64_t value)
{
    uint32_t thread = number_of(&reads->thread_by_task, (uint64_t)pid << 32 | tid,
                                reads->threads.count),
             counter = number_of(&reads->counter_by_event, event->index, reads->counters.count);
    if (thread == PD_MAP64_NONE || counter == PD_MAP64_NONE)
        return false;
    if (thread == reads->threads.count &&
        !pd_vec_push(&reads->threads, ((struct pd_report_task){ pid, tid })))
        return false;
    if (counter == reads->counters.count && !pd_vec_push(&reads->counters, event))
        return false;
    uint32_t both = number_of(&reads->value_by_both, (uint64_t)thread << 32 | counter,
                              reads->values.count);
    if (both == PD_MAP64_NONE ||
        (both == reads->values.count &&
         !pd_vec_push(&reads->values, ((struct pd_report_read){ thread, counter, 0 }))))
        return false;
    reads->values.data[both].value += value;
    return true;
}

void pd_report_reads_add(struct pd_report_reads *reads, struct pd_context *context,
                         const struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    if (record->type != PD_RECORD_READ || !event || record->size < LEAST_SIZE)
        return;
    if (event->attr.read_format & PD_READ_GROUP) {
        pd_issue(context, PERFDATA_ISSUE_EXTRA_RECORD, (int64_t)record->offset,
                 "counters of a group at a thread's end are not shown");
        return;
    }
    bool swap = event->plan.swap;
    if (!add(reads, event, pd_load32(record->data + PD_AT(read, pid), swap),
             pd_load32(record->data + PD_AT(read, tid), swap),
             pd_load64(record->data + PD_AT(read, values), swap)))
        reads->failed = true;
}

static int digits(uint64_t value)
{
    int count = 1;
    for (; value >= 10; value /= 10)
        count++;
    return count;
}

static int wider(int width, int other)
{
    return width > other ? width : other;
}

struct widths {
    int pid, tid;
};

static struct widths widths_of(const struct pd_report_reads *reads)
{
    struct widths out = { (int)strlen("PID"), (int)strlen("TID") };
    for (size_t i = 0; i < reads->threads.count; i++) {
        char text[NUMBER_ROOM]; /* ids are signed */
        const struct pd_report_task *task = &reads->threads.data[i];
        out.pid = wider(out.pid, snprintf(text, sizeof text, "%d", (int)task->pid));
        out.tid = wider(out.tid, snprintf(text, sizeof text, "%d", (int)task->tid));
    }
    return out;
}

static unsigned long long value_of(const struct pd_report_reads *reads, size_t thread,
                                   size_t counter)
{
    uint32_t at = pd_map64_get(&reads->value_by_both, (uint64_t)thread << 32 | counter);
    return at == PD_MAP64_NONE ? 0 : reads->values.data[at].value;
}

/* perf does not end lines between the entries. */
static perfdata_status put_raw(const struct pd_report_reads *reads, pd_report_reads_flush flush,
                               void *data, struct pd_text *out)
{
    struct widths widths = widths_of(reads);
    int name = (int)strlen("Name"), raw = (int)strlen("Raw"), count = (int)strlen("Count");
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < reads->counters.count; i++)
        name = wider(name, (int)strlen(reads->counters.data[i]->name));
    for (size_t i = 0; i < reads->values.count; i++)
        count = wider(count, digits(reads->values.data[i].value));
    pd_text_format(out, "# %*s  %*s  %*s  %*s  %*s\n", widths.pid, "PID", widths.tid, "TID", name,
                   "Name", raw, "Raw", count, "Count");
    for (size_t i = 0; i < reads->threads.count && status == PERFDATA_OK; i++) {
        const struct pd_report_task *task = &reads->threads.data[i];
        for (size_t k = 0; k < reads->counters.count; k++)
            pd_text_format(out, "  %*d  %*d  %*s  %*x  %*llu", widths.pid, (int)task->pid,
                           widths.tid, (int)task->tid, name, reads->counters.data[k]->name, raw,
                           reads->counters.data[k]->index, count, value_of(reads, i, k));
        status = flush(data, out);
    }
    if (reads->threads.count)
        pd_text_char(out, '\n');
    return status;
}

static void put_names(const struct pd_report_reads *reads, struct widths widths,
                      int *counter_widths, struct pd_text *out)
{
    for (size_t k = 0; k < reads->counters.count; k++)
        counter_widths[k] = (int)strlen(reads->counters.data[k]->name);
    for (size_t i = 0; i < reads->values.count; i++) {
        int *width = &counter_widths[reads->values.data[i].counter];
        *width = wider(*width, digits(reads->values.data[i].value));
    }
    pd_text_format(out, "# %*s  %*s", widths.pid, "PID", widths.tid, "TID");
    for (size_t k = 0; k < reads->counters.count; k++)
        pd_text_format(out, "  %*s", counter_widths[k], reads->counters.data[k]->name);
    pd_text_char(out, '\n');
}

static perfdata_status put_rows(const struct pd_report_reads *reads, pd_report_reads_flush flush,
                                void *data, struct pd_text *out)
{
    struct widths widths = widths_of(reads);
    int *counter_widths = malloc((reads->counters.count + 1) * sizeof *counter_widths);
    perfdata_status status = counter_widths ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
    if (counter_widths)
        put_names(reads, widths, counter_widths, out);
    for (size_t i = 0; i < reads->threads.count && status == PERFDATA_OK; i++) {
        pd_text_format(out, "  %*d  %*d", widths.pid, (int)reads->threads.data[i].pid, widths.tid,
                       (int)reads->threads.data[i].tid);
        for (size_t k = 0; k < reads->counters.count; k++)
            pd_text_format(out, "  %*llu", counter_widths[k], value_of(reads, i, k));
        pd_text_char(out, '\n');
        status = flush(data, out);
    }
    free(counter_widths);
    return status;
}

perfdata_status pd_report_reads_text(const struct pd_report_reads *reads, bool raw,
                                     pd_report_reads_flush flush, void *data, struct pd_text *out)
{
    return raw ? put_raw(reads, flush, data, out) : put_rows(reads, flush, data, out);
}

void pd_report_reads_free(struct pd_report_reads *reads)
{
    pd_vec_free(&reads->threads);
    pd_vec_free(&reads->counters);
    pd_vec_free(&reads->values);
    pd_map64_free(&reads->thread_by_task);
    pd_map64_free(&reads->counter_by_event);
    pd_map64_free(&reads->value_by_both);
}
