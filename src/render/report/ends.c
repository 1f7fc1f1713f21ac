/* SPDX-License-Identifier: MIT */
/* What chains tell of branches behind the frames that are their ends: " (COND_FWD predicted:50.0%
 * cycles:3)". */
#include "render/report/plan.h"
#include "format/names.h"

struct list {
    struct pd_text *out;
    bool begun;
};

/* Begins the next item, whose text the caller writes. */
static void begin_item(struct list *list)
{
    pd_text_string(list->out, list->begun ? " " : " (");
    list->begun = true;
}

static void put_name(struct list *list, const char *name)
{
    if (!name)
        return;
    begin_item(list);
    pd_text_string(list->out, name);
}

/* A share below `least` is left out, but the list then still gets its closing bracket, as perf's
 * does. */
static void put_share(struct list *list, const char *name, uint64_t part, uint64_t count,
                      float least)
{
    float share = (float)((double)part * 100.0 / (double)count);
    if (share < least) {
        list->begun = true;
        return;
    }
    begin_item(list);
    pd_text_format(list->out, "%s:%.1f%%", name, (double)share);
}

static void put_number(struct list *list, const char *name, uint64_t number)
{
    begin_item(list);
    pd_text_format(list->out, "%s:%llu", name, (unsigned long long)number);
}

static void put_kinds(struct list *list, uint64_t kinds)
{
    if (kinds & PD_END_FORWARD)
        put_name(list, "COND_FWD");
    if (kinds & PD_END_BACKWARD)
        put_name(list, "COND_BWD");
    for (unsigned i = 0; i < PD_BRANCH_EXTEND_ABI; i++)
        if (i != PD_BRANCH_COND && kinds >> (PD_END_TYPE_SHIFT + i) & 1)
            put_name(list, pd_name_of(&pd_names_branch_type, i));
    for (unsigned i = 0; i < 1u << PD_BRANCH_WIDTH_NEW_TYPE; i++)
        if (kinds >> (PD_END_NEW_TYPE_SHIFT + i) & 1)
            put_name(list, pd_name_of(&pd_names_branch_new_type, i));
    if (kinds & PD_END_CROSS_4K)
        put_name(list, "CROSS_4K");
    if (kinds & PD_END_CROSS_2M)
        put_name(list, "CROSS_2M");
}

static void put_target(struct list *list, const struct pd_chain_ends *ends)
{
    put_kinds(list, ends->kinds);
    if (ends->predicted < ends->count)
        put_share(list, "predicted", ends->predicted, ends->count, 0);
    if (ends->aborted)
        put_share(list, "abort", ends->aborted, ends->count, 0.1F);
}

static void put_source(struct list *list, const struct pd_chain_ends *ends)
{
    uint64_t cycles = ends->cycles / ends->count;
    if (cycles)
        put_number(list, "cycles", cycles);
    if (!ends->loops || !ends->sources || ends->loops < ends->sources)
        return;
    put_number(list, "iter", ends->loops / ends->sources);
    put_number(list, "avg_cycles", ends->loop_cycles / ends->loops);
}

void pd_report_ends(const struct pd_chain_ends *ends, struct pd_text *out)
{
    struct list list = { .out = out };
    if (!ends->count) {
        pd_text_string(out, " (calltrace)");
        return;
    }
    if (ends->is_target)
        put_target(&list, ends);
    else
        put_source(&list, ends);
    if (list.begun)
        pd_text_char(out, ')');
}
