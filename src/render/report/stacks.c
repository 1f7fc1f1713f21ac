/* SPDX-License-Identifier: MIT */
/* The stacks of recorded chains, put together from parts. A part in the kernel occurs on top of
 * many callers, and the part of these callers occurs below many addresses. The callers in a part
 * are a list of frames that is known by its content, so that processes that have the same
 * objects at other places share it. Which cell a list leads to from a given stack is looked up
 * in one step. */
#include "render/report/collect.h"

enum {
    USER_LISTS = 65536, /* lists that are found by their addresses; a power of two */
    KERNEL_LISTS = 16384,
    USER_MEMORY = 16 << 20,
    KERNEL_MEMORY = 4 << 20,
    LISTS_MEMORY = 32 << 20 /* when all lists need this much, they are forgotten */
};

bool pd_report_stacks_init(struct pd_report_stacks *stacks)
{
    return pd_chain_memo_init(&stacks->user, USER_LISTS, USER_MEMORY) &&
           pd_chain_memo_init(&stacks->kernel, KERNEL_LISTS, KERNEL_MEMORY);
}

void pd_report_stacks_free(struct pd_report_stacks *stacks)
{
    pd_chain_memo_free(&stacks->user);
    pd_chain_memo_free(&stacks->kernel);
    pd_intern_free(&stacks->lists);
    pd_map64_free(&stacks->on_top);
    pd_vec_free(&stacks->frames);
}

static void trim(struct pd_report_stacks *stacks)
{
    if (stacks->lists.arena.total < LISTS_MEMORY)
        return;
    pd_intern_free(&stacks->lists);
    pd_map64_free(&stacks->on_top);
    pd_chain_memo_forget(&stacks->user);
    pd_chain_memo_forget(&stacks->kernel);
}

/* Leaves the frames of a part's callers in stacks->frames. */
static bool make_list(struct pd_report_state *state, const struct pd_report_facts *facts,
                      const struct pd_chain_parts *part)
{
    struct pd_report_stacks *stacks = &state->stacks;
    stacks->frames.count = 0;
    for (uint32_t i = 0; i < part->caller_count; i++) {
        struct pd_frame frame = { .ip = pd_load64(part->callers + 8 * (size_t)i,
                                                  facts->sample->swap) };
        if (frame.ip >= PD_CHAIN_FIRST_CONTEXT)
            return false;
        frame.location = pd_resolve(state->resolver, facts->thread, facts->number, part->cpumode,
                                    frame.ip);
        if (!frame.location)
            return false;
        if (state->hist.options.hide_unresolved && !frame.location->sym)
            continue;
        uint32_t id = pd_report_frame_id(state, &frame);
        if (id == PD_HIST_NONE || !pd_vec_push(&stacks->frames, id))
            return false;
    }
    return true;
}

/* The list of a part's callers. PD_INTERN_NONE: there is a marker among them, or no memory. */
static uint32_t list_of(struct pd_report_state *state, const struct pd_report_facts *facts,
                        const struct pd_chain_parts *part, uint64_t stamp)
{
    struct pd_report_stacks *stacks = &state->stacks;
    bool kernel = part->cpumode == PD_CPUMODE_KERNEL;
    struct pd_chain_memo *memo = kernel ? &stacks->kernel : &stacks->user;
    const struct pd_chain_key key = { stamp, 0, part->callers, part->caller_count };
    uint32_t size;
    const uint32_t *known = pd_chain_memo_find(memo, &key, &size);
    if (known)
        return *known;
    if (!make_list(state, facts, part))
        return PD_INTERN_NONE;
    uint32_t list = pd_intern(&stacks->lists, (const char *)stacks->frames.data,
                              stacks->frames.count * sizeof *stacks->frames.data);
    if (list != PD_INTERN_NONE)
        pd_chain_memo_keep(memo, &key, &list, sizeof list);
    return list;
}

static bool put_list(struct pd_report_state *state, uint32_t list, uint32_t *cell)
{
    struct pd_report_stacks *stacks = &state->stacks;
    const struct pd_string *string = &stacks->lists.strings.data[list];
    const size_t count = string->length / sizeof(uint32_t);
    const uint64_t key = (uint64_t)list << 32 | *cell;
    if (!count)
        return true;
    uint32_t known = pd_map64_get(&stacks->on_top, key);
    if (known != PD_MAP64_NONE) {
        *cell = known;
        return true;
    }
    bool caller = state->shared->plan->hist.caller_order;
    for (size_t i = 0; i < count; i++) {
        size_t at = caller ? i : count - 1 - i;
        *cell = pd_hist_cell_id(&state->hist, pd_load32(string->text + 4 * at, false), *cell);
    }
    return *cell != PD_HIST_NONE && pd_map64_set(&stacks->on_top, key, *cell);
}

/* Whether all parts of the chain are whole, because as many frames are wanted as it has. */
static bool fits(const struct pd_report_plan *plan, const struct pd_sample *sample)
{
    uint32_t addresses = 0;
    if (sample->callchain_count <= plan->chains.max_stack)
        return true;
    for (uint32_t i = 0; i < sample->callchain_count; i++)
        addresses += pd_load64(sample->callchain + 8 * (size_t)i, sample->swap) <
                     PD_CHAIN_FIRST_CONTEXT;
    return addresses <= plan->chains.max_stack;
}

/* Splits the chain into parts, the kernel's first. Returns how many; 0: the chain has another
 * form. */
static size_t split(const struct pd_sample *sample, struct pd_chain_parts parts[2])
{
    struct pd_chain_entries kernel = pd_chain_entries_of(sample), user = kernel;
    size_t count = 0;
    kernel.count = pd_chain_kernel_part(sample);
    user.ips += 8 * (size_t)kernel.count;
    user.count -= kernel.count;
    if (kernel.count && pd_chain_split(&kernel, &parts[count]))
        count++;
    if (user.count > (kernel.count != 0)) { /* more than the marker */
        if (!pd_chain_split(&user, &parts[count]) || parts[count].cpumode != PD_CPUMODE_USER)
            return 0;
        count++;
    }
    return count;
}

static bool put_leaf(struct pd_report_state *state, const struct pd_frame *leaf, uint32_t *cell)
{
    if (state->hist.options.hide_unresolved && !leaf->location->sym)
        return true;
    uint32_t id = pd_report_frame_id(state, leaf);
    if (id != PD_HIST_NONE)
        *cell = pd_hist_cell_id(&state->hist, id, *cell);
    return id != PD_HIST_NONE && *cell != PD_HIST_NONE;
}

bool pd_report_stack_of(struct pd_report_state *state, const struct pd_report_facts *facts,
                        uint32_t *cell)
{
    const struct pd_report_plan *plan = state->shared->plan;
    struct pd_chain_parts parts[2];
    struct pd_frame leaves[2];
    uint32_t lists[2], made = PD_HIST_NONE;
    const size_t count = fits(plan, facts->sample) ? split(facts->sample, parts) : 0;
    trim(&state->stacks);
    for (size_t i = 0; i < count; i++) {
        leaves[i] = (struct pd_frame){ .ip = parts[i].ip,
                                       .location = pd_resolve_leaf(state->resolver, facts->thread,
                                                                   facts->number, &parts[i]) };
        bool kernel = parts[i].cpumode == PD_CPUMODE_KERNEL;
        uint64_t stamp = kernel ? pd_resolver_kernel_stamp(state->resolver, facts->thread,
                                                           facts->number)
                                : pd_resolver_stamp(state->resolver, facts->thread, facts->number);
        lists[i] = leaves[i].location && stamp ? list_of(state, facts, &parts[i], stamp)
                                               : PD_INTERN_NONE;
        if (lists[i] == PD_INTERN_NONE)
            return false;
    }
    bool caller = plan->hist.caller_order, ok = count != 0;
    for (size_t i = 0; ok && i < count; i++) {
        size_t at = caller ? i : count - 1 - i;
        ok = caller ? put_leaf(state, &leaves[at], &made) && put_list(state, lists[at], &made)
                    : put_list(state, lists[at], &made) && put_leaf(state, &leaves[at], &made);
    }
    if (ok)
        *cell = made;
    return ok;
}
