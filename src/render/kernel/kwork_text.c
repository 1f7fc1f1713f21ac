/* SPDX-License-Identifier: MIT */
/* What kwork prints: the tables of report and latency, the lines of timehist. */
#include "base/compare.h"
#include "base/list.h"
#include "container/handle.h"
#include "render/kernel/kwork.h"
#include <stdlib.h>

enum { NAME_WIDTH = 30, NAME_SIZE = 29, RULE = 128 };

static bool is_latency(const struct pd_kwork *kwork)
{
    return kwork->options->view == PERFDATA_KWORK_LATENCY;
}

/* A name is cut where perf's memory for it ends. */
void pd_kwork_name(const struct pd_kwork *kwork, const struct pd_kwork_work *work,
                   struct pd_text *out)
{
    static const char *const heads[] = { "", "(s)", "(w)" };
    size_t from = out->length;
    pd_text_string(out, heads[work->kind]);
    if (work->name != PD_INTERN_NONE)
        pd_text_string(out, pd_intern_text(&kwork->names, work->name));
    if (work->kind != PD_KWORK_WORKQUEUE)
        pd_text_format(out, ":%llu", (unsigned long long)work->id);
    if (!out->failed && out->length - from > NAME_SIZE)
        out->length = from + NAME_SIZE;
    pd_text_pad(out, from, NAME_WIDTH);
}

/* ---- order ---- */

static int by_total(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
    return pd_compare_u64(a->total, b->total);
}

static int by_longest(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
    return pd_compare_u64(a->longest, b->longest);
}

static int by_count(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
    return pd_compare_u64(a->count, b->count);
}

static int by_average(const struct pd_kwork_work *a, const struct pd_kwork_work *b)
{
    return pd_compare_u64(a->count ? a->total / a->count : 0, b->count ? b->total / b->count : 0);
}

perfdata_status pd_kwork_take_keys(struct pd_kwork *kwork, const char *keys)
{
    static const struct {
        const char *name;
        pd_kwork_order order;
    } known[] = {
        { "avg", by_average }, { "count", by_count }, { "max", by_longest }, { "runtime", by_total }
    };
    /* What a view does not count is 0 for every work, so that sorting by it does nothing. */
    const pd_kwork_order uncounted = is_latency(kwork) ? by_total : by_average;
    for (struct pd_list_word word; pd_list_next(&keys, ", ", &word);) {
        size_t i = pd_list_find(&word, known, sizeof *known, PD_LENGTH(known));
        if (i == PD_LENGTH(known)) {
            kwork->perf_exit = 129;
            return pd_fail(&kwork->tp.recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "Unknown --sort key: `%.*s'", (int)word.length, word.text);
        }
        if (known[i].order != uncounted && kwork->order_count < PD_LENGTH(kwork->orders))
            kwork->orders[kwork->order_count++] = known[i].order;
    }
    return PERFDATA_OK;
}

struct sorted {
    const struct pd_kwork *kwork;
    const struct pd_kwork_work *work;
};

/* Works of equal value: in the order in which kinds were asked for, then the highest CPU and number
 * first. */
static int largest_first(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    for (size_t i = 0; i < x->kwork->order_count; i++) {
        int order = x->kwork->orders[i](y->work, x->work);
        if (order)
            return order;
    }
    const uint8_t *places = x->kwork->kinds;
    int order = pd_compare_u64(places[x->work->kind], places[y->work->kind]);
    order = order ? order : pd_compare_u64(y->work->cpu, x->work->cpu);
    return order ? order : pd_compare_u64(y->work->id, x->work->id);
}

/* ---- tables ---- */

static void put_rule(struct pd_text *out)
{
    pd_text_char(out, ' ');
    pd_text_fill(out, '-', RULE);
    pd_text_char(out, '\n');
}

static void put_row(struct pd_kwork *kwork, const struct pd_kwork_work *work)
{
    struct pd_text *out = &kwork->tp.out;
    uint64_t value = is_latency(kwork) ? work->total / work->count : work->total;
    pd_text_string(out, "  ");
    pd_kwork_name(kwork, work, out);
    pd_text_format(out, " | %04d | %10.3f ms | %9llu | %10.3f ms | ", (int)work->cpu,
                   (double)value / 1e6, (unsigned long long)work->count,
                   (double)work->longest / 1e6);
    pd_tp_time(out, work->longest_from, 17);
    pd_text_string(out, " s | ");
    pd_tp_time(out, work->longest_to, 17);
    pd_text_string(out, " s |\n");
}

static void put_sums(struct pd_kwork *kwork)
{
    struct pd_text *out = &kwork->tp.out;
    uint64_t count = 0, total = 0, span = kwork->last - kwork->first;
    for (size_t i = 0; i < kwork->works.count; i++) {
        count += kwork->works.data[i].count;
        total += kwork->works.data[i].total;
    }
    pd_text_format(out, "  Total count            : %9llu\n", (unsigned long long)count);
    pd_text_format(out, "  Total runtime   (msec) : %9.3f (%.3f%% load average)\n",
                   (double)total / 1e6, span ? (double)total / (double)span : 0);
    pd_text_format(out, "  Total time span (msec) : %9.3f\n", (double)span / 1e6);
    put_rule(out);
}

/* The steps without a partner: those still waiting had no end. */
static void put_skipped(struct pd_kwork *kwork)
{
    uint64_t *skipped = kwork->skipped, all = kwork->tp.session.order_stats_copy.records;
    uint64_t sum = skipped[PD_KWORK_RAISE] + skipped[PD_KWORK_ENTRY] + skipped[PD_KWORK_EXIT];
    if (sum && all)
        pd_text_format(&kwork->tp.out,
                       "  INFO: %.3f%% skipped events (%llu including %llu raise, %llu entry, %llu "
                       "exit)\n",
                       100.0 * (double)sum / (double)all, (unsigned long long)sum,
                       (unsigned long long)skipped[PD_KWORK_RAISE],
                       (unsigned long long)skipped[PD_KWORK_ENTRY],
                       (unsigned long long)skipped[PD_KWORK_EXIT]);
}

perfdata_status pd_kwork_put_table(struct pd_kwork *kwork)
{
    struct pd_text *out = &kwork->tp.out;
    size_t count = 0;
    struct sorted *rows = calloc(kwork->works.count + 1, sizeof *rows);
    if (!rows)
        return pd_tp_no_memory(&kwork->tp);
    for (size_t i = 0; i < kwork->works.count; i++) {
        const struct pd_kwork_work *work = &kwork->works.data[i];
        if (work->count)
            rows[count++] = (struct sorted){ kwork, work };
        kwork->skipped[PD_KWORK_RAISE] += work->raised.count;
        kwork->skipped[PD_KWORK_ENTRY] += work->entered.count;
    }
    qsort(rows, count, sizeof *rows, largest_first);
    pd_text_string(out, is_latency(kwork)
                            ? "\n  Kwork Name                     | Cpu  | Avg delay     | "
                              "Count     | Max delay     | Max delay start     | Max delay end     "
                              "  |\n"
                            : "\n  Kwork Name                     | Cpu  | Total Runtime | "
                              "Count     | Max runtime   | Max runtime start   | Max runtime end   "
                              "  |\n");
    put_rule(out);
    for (size_t i = 0; i < count; i++)
        put_row(kwork, rows[i].work);
    free(rows);
    put_rule(out);
    if (kwork->options->flags & PERFDATA_KWORK_SUMMARY)
        put_sums(kwork);
    pd_tp_put_losses(&kwork->tp, &kwork->losses);
    put_skipped(kwork);
    pd_text_char(out, '\n');
    return PERFDATA_OK;
}

/* ---- timehist ---- */

void pd_kwork_timehist_head(struct pd_kwork *kwork)
{
    struct pd_text *out = &kwork->tp.out;
    pd_text_format(out, " %-17s  %-17s  %-6s  %-30s  %-10s  %-10s\n", "Runtime start",
                   "Runtime end", "Cpu", "Kwork name", "Runtime", "Delaytime");
    pd_text_format(out, " %-17s  %-17s  %-6s  %-30s  %-10s  %-10s\n", "", "", "", "(TYPE)NAME:NUM",
                   "(msec)", "(msec)");
    static const uint8_t widths[] = { 17, 17, 6, 30, 10, 10 };
    for (size_t i = 0; i < PD_LENGTH(widths); i++) {
        pd_text_string(out, i ? "  " : " ");
        pd_text_fill(out, '-', widths[i]);
    }
    pd_text_char(out, '\n');
}

static perfdata_status put_chain(struct pd_kwork *kwork, const struct pd_tp_sample *sample)
{
    enum { OWN_FRAMES = 2 };
    size_t room = (size_t)kwork->options->max_stack + OWN_FRAMES;
    bool invalid = false;
    if (!(kwork->options->flags & PERFDATA_KWORK_CHAINS) || !sample->sample.callchain ||
        !kwork->tp.resolver)
        return PERFDATA_OK;
    struct pd_thread *thread = pd_tp_thread(sample, sample->sample.pid, sample->sample.tid);
    if (!thread || !pd_vec_reserve(&kwork->frames, room))
        return pd_tp_no_memory(&kwork->tp);
    size_t count = pd_resolve_chain(kwork->tp.resolver, &sample->sample, thread,
                                    sample->record->number, (unsigned)room, kwork->frames.data,
                                    room, &invalid);
    struct pd_text *out = &kwork->tp.out;
    for (size_t i = 0; i < count; i++) {
        const struct pd_location *location = kwork->frames.data[i].location;
        const struct pd_symbol *symbol = location ? location->sym : NULL;
        pd_text_string(out, i ? " <- " : "  ");
        pd_text_string(out, symbol ? symbol->name : "[unknown]");
    }
    return PERFDATA_OK;
}

perfdata_status pd_kwork_put_run(struct pd_kwork *kwork, const struct pd_kwork_work *work,
                                 const struct pd_kwork_wait *entry,
                                 const struct pd_tp_sample *sample)
{
    struct pd_text *out = &kwork->tp.out;
    pd_tp_time(out, entry->time, 18);
    pd_text_char(out, ' ');
    pd_tp_time(out, sample->sample.time, 18);
    pd_text_format(out, "  [%04d]  ", (int)work->cpu);
    pd_kwork_name(kwork, work, out);
    pd_text_format(out, "  %10.3f  ", (double)(sample->sample.time - entry->time) / 1e6);
    if (entry->raised)
        pd_text_format(out, "%10.3f ", (double)(entry->time - entry->raised) / 1e6);
    else
        pd_text_fill(out, ' ', 11);
    perfdata_status status = put_chain(kwork, sample);
    pd_text_char(out, '\n');
    return status;
}
