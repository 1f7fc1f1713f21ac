/* SPDX-License-Identifier: MIT */
/* Recorded branches as frames of a chain: the way that led to a sample, jump by jump, with each
 * loop shown once. */
#include "resolve/resolver.h"

/* Where a branch was met first. There are fewer slots than branches may be, and no second choice:
 * which loops are found depends on it. */
#define SLOT_BITS 7
#define SLOTS 127
#define FREE 0xff

static size_t slot_of(uint64_t from)
{
    return (size_t)(from * UINT64_C(0x61c8864680b583eb) >> (64 - SLOT_BITS)) % SLOTS;
}

/* How many branches the loop has that begins at `first` and again at `again`; 0: there is none. */
static size_t loop_length(const struct pd_branch *branches, size_t first, size_t again,
                          size_t count)
{
    size_t length = 0;
    for (; first + length < again && again + length < count; length++)
        if (branches[first + length].from != branches[again + length].from)
            return 0;
    return length;
}

/* Takes out the repetitions of loops. Returns how many branches are left. */
static size_t remove_loops(struct pd_branch *branches, struct pd_history_loops *loops, size_t count)
{
    uint8_t met[SLOTS];
    memset(met, FREE, sizeof met);
    memset(loops, 0, count * sizeof *loops);
    for (size_t i = 0; i < count; i++) {
        uint8_t *first = &met[slot_of(branches[i].from)];
        if (*first == FREE) {
            *first = (uint8_t)i;
            continue;
        }
        if (branches[*first].from != branches[i].from)
            continue;
        size_t length = loop_length(branches, *first, i, count), behind = count - i - length;
        if (behind && length) {
            struct pd_history_loops *next = &loops[i + length];
            next->times++;
            next->cycles = 0;
            for (size_t k = 0; k < length; k++)
                next->cycles += (uint32_t)PD_BRANCH_PART(branches[i + k].flags, CYCLES);
            memmove(loops + i, next, behind * sizeof *loops);
            memmove(branches + i, branches + i + length, behind * sizeof *branches);
        }
        count -= length;
    }
    return count;
}

/* ---- what a branch's ends tell ---- */

uint64_t pd_branch_kinds(const struct pd_branch *branch)
{
    uint64_t type = PD_BRANCH_PART(branch->flags, TYPE),
             new_type = PD_BRANCH_PART(branch->flags, NEW_TYPE);
    if (type == PD_BRANCH_UNKNOWN)
        return 0;
    uint64_t kinds = UINT64_C(1) << (type == PD_BRANCH_EXTEND_ABI ? PD_END_NEW_TYPE_SHIFT + new_type
                                                                  : PD_END_TYPE_SHIFT + type);
    if (type == PD_BRANCH_COND)
        kinds |= branch->to > branch->from ? PD_END_FORWARD : PD_END_BACKWARD;
    if (branch->from >> 21 != branch->to >> 21)
        kinds |= PD_END_CROSS_2M;
    else if (branch->from >> 12 != branch->to >> 12)
        kinds |= PD_END_CROSS_4K;
    return kinds;
}

static uint64_t end_from(const struct pd_branch *branch, const struct pd_history_loops *loops)
{
    return PD_END_FROM | (uint64_t)loops->times << PD_END_LOOPS_SHIFT |
           PD_BRANCH_PART(branch->flags, CYCLES) << PD_END_CYCLES_SHIFT |
           (uint64_t)loops->cycles << PD_END_LOOP_CYCLES_SHIFT;
}

/* perf knows a target by where its branch came from: what came from nowhere it takes for a branch's
 * source. */
uint64_t pd_chain_end_to(const struct pd_branch *branch)
{
    if (!branch->from)
        return end_from(branch, &(struct pd_history_loops){ 0, 0 });
    return PD_END_TO | (PD_BRANCH_PART(branch->flags, PREDICTED) ? PD_END_PREDICTED : 0) |
           (PD_BRANCH_PART(branch->flags, ABORT) ? PD_END_ABORT : 0) | pd_branch_kinds(branch);
}

/* ---- frames ---- */

/* A call's return address lies right behind the call: perf assumes that no instruction is longer
 * than eight bytes. */
static bool is_call_of(const struct pd_branch *branch, uint64_t return_address)
{
    return branch->from < return_address && branch->from >= return_address - 8;
}

void pd_history_take(const struct pd_sample *sample, unsigned max_stack, bool from_caller,
                     struct pd_history *out)
{
    size_t total = sample->branch_count, count = PD_MIN(total, (size_t)max_stack);
    out->from_caller = from_caller;
    out->count = out->overlap = 0;
    if (total > PD_HISTORY_MAX)
        return;
    for (size_t i = 0; i < count; i++) {
        struct pd_branch branch = pd_branch_at(sample, from_caller ? total - 1 - i : i);
        out->branches[i] = branch;
        if (from_caller || out->overlap >= sample->callchain_count)
            continue;
        uint64_t ip = pd_load64(sample->callchain + out->overlap * 8, sample->swap);
        out->overlap += ip >= PD_CHAIN_FIRST_CONTEXT || is_call_of(&branch, ip);
    }
    out->count = remove_loops(out->branches, out->loops, count);
}

static void put_end(struct pd_chain_path *path, uint64_t ip, uint64_t end)
{
    struct pd_location *location = pd_resolve_unmoded(path->resolver, path->thread, path->number,
                                                      ip);
    if (location)
        path->frames[path->count++] = (struct pd_frame){ ip, end, location };
}

/* Each branch as its target and its source. Chains from the caller are turned round later. */
void pd_history_put(const struct pd_history *history, struct pd_chain_path *path)
{
    for (size_t i = 0; i < history->count && path->count + 2 <= path->capacity; i++) {
        size_t at = history->from_caller ? history->count - 1 - i : i;
        const struct pd_branch *branch = &history->branches[at];
        uint64_t to = pd_chain_end_to(branch), from = end_from(branch, &history->loops[at]);
        if (history->from_caller)
            put_end(path, branch->from, from);
        put_end(path, branch->to, to);
        if (!history->from_caller)
            put_end(path, branch->from, from);
    }
}
