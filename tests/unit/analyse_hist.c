/* SPDX-License-Identifier: MIT */
/* Proves: tables of several workers add up to one, whoever saw what; children count once per
 * sample; groups are linked; rows are sorted as perf sorts them. */
#include "test.h"
#include "analyse/hist.h"
#include "model/model.h"

enum { EVENTS = 2 };

static const struct pd_hist_options options = { .keys = { PD_KEY_CPU, PD_KEY_SYMBOL },
                                                .key_count = 2,
                                                .use_chains = true,
                                                .children = true,
                                                .caller_order = true };

static uint32_t frame(struct pd_hist *hist, uint64_t ip)
{
    struct pd_hist_frame made = { .ip = ip, .place = ip };
    return pd_hist_frame_id(hist, &made);
}

/* A sample at `ip`, called from `callers` (callee first, 0 ends). */
static void sample(struct pd_hist *hist, uint64_t number, uint64_t event, uint64_t cpu, uint64_t ip,
                   const uint64_t *callers)
{
    uint64_t key[] = { event, cpu, pd_hist_sym_word(hist, NULL, NULL, ip) };
    uint32_t id = pd_hist_entry_id(hist, key),
             cell = pd_hist_cell_id(hist, frame(hist, ip), PD_HIST_NONE);
    struct pd_hist_entry *entry = &hist->entries.data[id];
    entry->period += 10;
    entry->count++;
    if (pd_hist_is_first(&entry->first, number, 0))
        entry->first = (struct pd_hist_first){ .number = number, .addr = ip, .level = '.' };
    for (; callers && *callers; callers++)
        cell = pd_hist_cell_id(hist, frame(hist, *callers), cell);
    struct pd_hist_pair *pair = pd_hist_pair_at(hist, id, cell);
    pair->period += 10;
    pair->count++;
    if (number < pair->number) {
        pair->number = number;
        pair->level = 'k';
    }
}

#define CALLERS(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

/* Some samples; `worker` of `workers` sees every n-th. */
static void samples(struct pd_hist *hist, unsigned worker, unsigned workers)
{
    const struct {
        uint64_t event, cpu, ip;
        const uint64_t *callers;
    } all[] = {
        { 0, 0, 0x30, CALLERS(0x20, 0x10) },
        { 0, 0, 0x30, CALLERS(0x20, 0x10) },
        { 0, 1, 0x31, CALLERS(0x20, 0x20, 0x10) },
        { 1, 0, 0x32, CALLERS(0x10) },
        { 0, 0, 0x20, CALLERS(0x10) },
        { 1, 0, 0x30, CALLERS(0x20, 0x10) },
    };
    pd_hist_init(hist, &options);
    for (unsigned i = 0; i < PD_LENGTH(all); i++)
        if (i % workers == worker)
            sample(hist, i + 1, all[i].event, all[i].cpu, all[i].ip, all[i].callers);
}

static const char *rows(struct pd_hist *hist, bool group)
{
    static const uint8_t order[] = { PD_COLUMN_CHILDREN, PD_COLUMN_OVERHEAD, PD_KEY_CPU,
                                     PD_KEY_SYMBOL };
    static char text[2048];
    struct pd_hist_result result;
    text[0] = 0;
    CHECK(pd_hist_expand(hist) == 0);
    CHECK(pd_hist_collapse(hist, EVENTS, NULL, NULL, &result) == 0);
    if (group)
        CHECK(pd_hist_link(&result, (const uint32_t[]){ 0, 1 }, 2) == 0);
    for (size_t e = 0; e < (group ? 1 : EVENTS); e++) {
        struct pd_hist_event *event = &result.events[e];
        CHECK(pd_hist_sort(hist, &result, event, order, PD_LENGTH(order), group ? 2 : 1, 0) == 0);
        snprintf(text + strlen(text), sizeof text - strlen(text), "[%" PRIu64 "/%" PRIu64,
                 event->count, event->period);
        for (size_t i = 0; i < event->rows.count; i++) {
            const struct pd_hist_row *row = event->rows.data[i];
            snprintf(text + strlen(text), sizeof text - strlen(text),
                     " %" PRIx64 "@%" PRIu64 ":%" PRIu64 ",%" PRIu64, row->addr,
                     pd_hist_row_word(&result, row, PD_KEY_CPU), row->children_period, row->period);
            if (row->members && row->members[0])
                snprintf(text + strlen(text), sizeof text - strlen(text), "|%" PRIu64,
                         row->members[0]->children_period);
        }
        snprintf(text + strlen(text), sizeof text - strlen(text), "]");
    }
    pd_hist_result_free(&result);
    return text;
}

/* 20 calls itself on CPU 1 and counts once. Equal shares: deeper stacks first, where a sample's own
 * entry has the whole stack and so stands with its root; then its own period. */
static const char apart[] = "[4/40 10@0:30,0 20@0:30,10 30@0:20,20 31@1:10,10 10@1:10,0 20@1:10,0]"
                            "[2/20 10@0:20,0 30@0:10,10 32@0:10,10 20@0:10,0]";

/* Entries of one row, since a default name was replaced: it has the facts of the first sample,
 * whoever came first. */
static void test_renamed(bool turned)
{
    static const struct pd_hist_options by_comm = { .keys = { PD_KEY_COMM }, .key_count = 1 };
    struct pd_comm comms[] = {
        { .final_text = "name", .default_text = ":1", .replaced_at = 6 },
        { .index = 1, .final_text = "name", .replaced_at = UINT64_MAX },
    };
    struct pd_hist hist;
    struct pd_hist_result result;
    pd_hist_init(&hist, &by_comm);
    for (unsigned i = 0; i < 2; i++) {
        unsigned which = turned ? 1 - i : i;
        uint64_t number = which ? 7 : 5;
        uint64_t key[] = { 0, pd_hist_comm_id(&hist, &comms[which], number) };
        uint32_t id = pd_hist_entry_id(&hist, key);
        CHECK_U64(id, i);
        hist.entries.data[id].first = (struct pd_hist_first){ .number = number };
    }
    CHECK(pd_hist_collapse(&hist, 1, NULL, NULL, &result) == 0);
    CHECK_U64(result.all.count, 1);
    CHECK_U64(result.all.data[0]->entry->first.number, 5);
    pd_hist_result_free(&result);
    pd_hist_free(&hist);
}

/* An entry's first stack is found without the map of pairs, the others in it; two steps for many
 * keys find what one finds. */
static void test_pairs(void)
{
    enum { ENTRIES = 40, CELLS = 3 };
    struct pd_hist hist;
    uint64_t hashes[PD_HIST_READ_MAX];
    pd_hist_init(&hist, &options);
    for (unsigned turn = 0; turn < 2; turn++) {
        for (uint32_t i = 0; i < ENTRIES; i++) {
            const uint64_t key[] = { 0, i, i % 7 };
            const uint64_t hash = pd_hist_key_hash(&hist, key);
            hashes[i % PD_HIST_READ_MAX] = hash;
            pd_hist_read_entries(&hist, hashes, i % PD_HIST_READ_MAX + 1);
            CHECK(pd_hist_entry_by_hash(&hist, key, hash) == i);
            CHECK(pd_hist_entry_id(&hist, key) == i);
        }
        for (uint32_t cell = 0; cell < CELLS; cell++)
            for (uint32_t entry = 0; entry < ENTRIES; entry++) {
                struct pd_hist_pair *pair = pd_hist_pair_at(&hist, entry, cell);
                CHECK(pair && pair->entry == entry && pair->cell == cell);
                CHECK(pair == &hist.pairs.data[cell * ENTRIES + entry]);
            }
    }
    CHECK(hist.pairs.count == (size_t)ENTRIES * CELLS && hist.entries.count == ENTRIES);
    pd_hist_free(&hist);
}

int main(void)
{
    struct pd_hist one, two, three;
    test_pairs();
    test_renamed(false);
    test_renamed(true);
    samples(&one, 0, 1);
    CHECK_STR(rows(&one, false), apart);
    pd_hist_free(&one);

    for (unsigned turn = 0; turn < 2; turn++) {
        samples(&one, turn, 3);
        samples(&two, 1 - turn, 3);
        samples(&three, 2, 3);
        CHECK(pd_hist_merge(&one, &two) == 0);
        CHECK(pd_hist_merge(&three, &one) == 0);
        CHECK_STR(rows(&three, false), apart);
        pd_hist_free(&one);
        pd_hist_free(&two);
        pd_hist_free(&three);
    }

    samples(&one, 0, 1);
    CHECK_STR(rows(&one, true),
              "[4/40 10@0:30,0|20 20@0:30,10|10 30@0:20,20|10 31@1:10,10 10@1:10,0 20@1:10,0"
              " 32@0:0,0|10]");
    pd_hist_free(&one);
    return test_done();
}
