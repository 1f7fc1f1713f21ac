/* SPDX-License-Identifier: MIT */
/* A sample's call chain -> frames: each address with its map, object and symbol. */
#include "resolve/resolver.h"
#include "format/names.h"

#define FIRST_CONTEXT PD_CHAIN_FIRST_CONTEXT
#define CONTEXT_HYPERVISOR ((uint64_t)-32)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)

struct walk {
    const struct pd_sample *sample;
    struct pd_chain_path path;
    size_t first, count; /* of entries: those of the chain, then the processor's call stack */
    size_t recorded;     /* of the chain that count */
    size_t leaf;         /* the entry behind which a caller belongs that is not recorded; 0: none */
    uint64_t leaf_caller;
};

/* The processor's call stack (LBR) follows as one target and all sources. */
PD_INLINE uint64_t entry(const struct walk *walk, size_t at)
{
    const struct pd_sample *sample = walk->sample;
    if (PD_LIKELY(at < walk->recorded))
        return pd_load64(sample->callchain + at * 8, sample->swap);
    at -= walk->recorded;
    return at ? pd_branch_at(sample, at - 1).from : pd_branch_at(sample, 0).to;
}

/* Where the processor recorded calls, they stand for the part in user space: all of them, however
 * many frames of a chain are wanted. False: it did not, or that part begins behind those. */
static bool use_call_stack(struct walk *walk, unsigned max_stack)
{
    const struct pd_sample *sample = walk->sample;
    walk->count = walk->recorded = sample->callchain_count;
    if (PD_LIKELY(!sample->branch_count) ||
        !(sample->event->attr.branch_sample_type & PD_BRANCH_SAMPLE_CALL_STACK))
        return false;
    for (size_t i = 0; i < walk->recorded && i < max_stack; i++) {
        if (entry(walk, i) != CONTEXT_USER)
            continue;
        walk->recorded = i + 1;
        walk->count = walk->recorded + 1 + sample->branch_count;
        return true;
    }
    return false;
}

/* ---- arm64's leaf functions ----
 *
 * They set up no frame, so that the kernel's walk along the frame pointers misses their caller.
 * perf on arm64 records the link register beside the chain, which holds the caller's address unless
 * the function has put that on the stack. */

#define ARM64_LINK_REGISTER 30

static bool has_link_register(const struct pd_sample *sample)
{
    if (!sample->user_regs)
        return false;
    const struct pd_attr *attr = &sample->event->attr;
    return attr->sample_regs_user == UINT64_C(1) << ARM64_LINK_REGISTER &&
           !(attr->sample_type & PD_SAMPLE_STACK_USER);
}

/* The index of the innermost entry in user space, 0 where there is none. */
static size_t find_user_leaf(const struct walk *walk)
{
    for (size_t i = 0; i + 1 < walk->count; i++)
        if (entry(walk, i) == CONTEXT_USER)
            return i + 1;
    return 0;
}

struct first_of {
    const struct pd_dso *dso; /* NULL: any */
    const struct pd_map *map;
};

static int is_first_of(void *data, const struct pd_map *map)
{
    struct first_of *first = data;
    if (!first->dso || map->dso == first->dso)
        first->map = map;
    return first->map != NULL;
}

/* The lowest of the thread's maps. */
static const struct pd_map *first_map(const struct walk *walk, const struct pd_dso *dso)
{
    struct first_of first = { dso, NULL };
    pd_maps_view_each(walk->path.resolver->user, is_first_of, &first);
    return first.map;
}

/* perf looks the rules up as if the file lay where the process has it first, which after fork and
 * exec may be where its parent had it. It then finds none, and takes the link register. */
static enum pd_return_place return_place(const struct walk *walk, struct pd_location *leaf)
{
    const struct pd_map *map = leaf->map, *first = map ? first_map(walk, map->dso) : NULL;
    if (!first || first->start - first->pgoff != map->start - map->pgoff)
        return PD_RETURN_UNKNOWN;
    if (leaf->return_place == PD_RETURN_NOT_ASKED)
        leaf->return_place = (uint8_t)pd_symbols_return_place(walk->path.resolver->symbols, map,
                                                              leaf->addr);
    return leaf->return_place;
}

static PD_NOINLINE void find_leaf_caller(struct walk *walk)
{
    uint64_t link = pd_load64(walk->sample->user_regs, walk->sample->swap);
    size_t at = find_user_leaf(walk);
    if (!at || !link || !pd_symbols_of_arm64(walk->path.resolver->symbols) ||
        !first_map(walk, NULL))
        return;
    struct pd_location *leaf = pd_resolve(walk->path.resolver, walk->path.thread, walk->path.number,
                                          PD_CPUMODE_USER, entry(walk, at));
    if (!leaf || return_place(walk, leaf) == PD_RETURN_ELSEWHERE)
        return;
    walk->leaf = at;
    walk->leaf_caller = link - 1; /* within the call */
}

/* What an entry of the processor's call stack tells as a branch's end. perf takes each entry for a
 * target of the newest branch or, when it walks from the caller, for a source. */
static PD_NOINLINE uint64_t end_of(const struct walk *walk, size_t at)
{
    struct pd_branch newest = pd_branch_at(walk->sample, 0);
    if (at == walk->recorded)
        return pd_chain_end_to(&newest);
    struct pd_branch branch = pd_branch_at(walk->sample, at - walk->recorded - 1);
    branch.to = branch.from;
    branch.from = walk->path.resolver->ways.from_caller ? 0 : newest.from;
    return pd_chain_end_to(&branch);
}

/* Makes a frame of entry `at`, or of the address of what calls it. */
PD_INLINE bool put(struct walk *walk, uint8_t mode, size_t at, uint64_t ip)
{
    struct pd_frame *frame = &walk->path.frames[walk->path.count];
    frame->ip = ip;
    frame->location = pd_resolve(walk->path.resolver, walk->path.thread, walk->path.number, mode,
                                 ip);
    if (!frame->location)
        return false;
    frame->end = PD_LIKELY(at < walk->recorded) ? 0 : end_of(walk, at);
    walk->path.count++;
    return true;
}

/* ---- the walk ---- */

bool pd_chain_context_mode(uint64_t context, uint8_t *mode)
{
    switch (context) {
    case CONTEXT_HYPERVISOR: *mode = PD_CPUMODE_HYPERVISOR; return true;
    case CONTEXT_KERNEL: *mode = PD_CPUMODE_KERNEL; return true;
    case CONTEXT_USER: *mode = PD_CPUMODE_USER; return true;
    default: return false;
    }
}

static void bad_context(const struct walk *walk, uint64_t context, bool *invalid)
{
    *invalid = true;
    pd_issue(walk->path.resolver->symbols->context, PERFDATA_ISSUE_BAD_CALLCHAIN, -1,
             "call chain with unknown context %lld left out", (long long)context);
}

static void from_callee(struct walk *walk, size_t max, bool *invalid)
{
    uint8_t mode = PD_CPUMODE_USER;
    max += walk->path.count;
    for (size_t i = walk->first; i < walk->count && walk->path.count < max; i++) {
        uint64_t ip = entry(walk, i);
        /* perf adds the leaf's caller when it comes to the next entry. */
        if (PD_UNLIKELY(walk->leaf && i == walk->leaf + 1) &&
            put(walk, PD_CPUMODE_USER, walk->leaf, walk->leaf_caller) && walk->path.count == max)
            break;
        if (PD_LIKELY(ip < FIRST_CONTEXT)) {
            put(walk, mode, i, ip);
        } else if (!pd_chain_context_mode(ip, &mode)) {
            bad_context(walk, ip, invalid);
            return;
        }
    }
}

/* The mode of the entries below `end`: the nearest marker's before them. False when perf refuses
 * it. */
static bool mode_before(const struct walk *walk, size_t end, uint8_t *mode, uint64_t *context)
{
    while (end-- > 0) {
        uint64_t ip = entry(walk, end);
        if (ip < FIRST_CONTEXT)
            continue;
        *context = ip;
        return pd_chain_context_mode(ip, mode);
    }
    return true; /* as it was */
}

static void turn_round(struct pd_chain_path *path)
{
    for (size_t i = 0, j = path->count; i + 1 < j--; i++) {
        struct pd_frame frame = path->frames[i];
        path->frames[i] = path->frames[j];
        path->frames[j] = frame;
    }
}

/* From the outermost frame, as perf does when callers come first: max counts from there. Entries
 * that no marker precedes then have the mode of the first marker. */
static void from_caller(struct walk *walk, size_t max, bool *invalid)
{
    uint8_t mode = PD_CPUMODE_USER;
    uint64_t context = 0;
    if (!mode_before(walk, walk->count, &mode, &context)) {
        bad_context(walk, context, invalid);
        return;
    }
    for (size_t i = walk->count; i-- > walk->first && walk->path.count < max;) {
        uint64_t ip = entry(walk, i);
        if (PD_UNLIKELY(walk->leaf && i == walk->leaf) &&
            put(walk, PD_CPUMODE_USER, i, walk->leaf_caller) && walk->path.count == max)
            break;
        if (ip < FIRST_CONTEXT) {
            put(walk, mode, i, ip);
        } else if (!mode_before(walk, i, &mode, &context)) {
            bad_context(walk, context, invalid);
            return;
        }
    }
    turn_round(&walk->path);
}

bool pd_chain_has_more(const struct pd_sample *sample)
{
    return sample->branch_count || has_link_register(sample) || pd_has_stack(sample);
}

/* The sample's own address was looked up first, so what that had to load is there. */
static void enter_chain(struct pd_resolver *resolver, const struct pd_thread *thread,
                        uint64_t number)
{
    pd_resolver_stamp(resolver, thread, number);
    resolver->loads_kernel = false;
}

uint32_t pd_chain_kernel_part(const struct pd_sample *sample)
{
    uint32_t at = 0;
    uint64_t ip = CONTEXT_KERNEL;
    for (; at < sample->callchain_count; at++) {
        ip = pd_load64(sample->callchain + (size_t)at * 8, sample->swap);
        if (ip >= FIRST_CONTEXT && (at || ip != CONTEXT_KERNEL))
            break;
        if (!at && ip != CONTEXT_KERNEL)
            return 0;
    }
    return at == sample->callchain_count || ip == CONTEXT_USER ? at : 0;
}

bool pd_chain_split(const struct pd_chain_entries *chain, struct pd_chain_parts *out)
{
    uint8_t mode = PD_CPUMODE_USER;
    for (uint32_t i = 0; i < chain->count; i++) {
        uint64_t ip = pd_load64(chain->ips + (size_t)i * 8, chain->swap);
        if (ip < FIRST_CONTEXT && !i)
            return false; /* whose it is depends on the order that the chain is walked in */
        if (ip < FIRST_CONTEXT) {
            *out = (struct pd_chain_parts){ ip, chain->ips + (size_t)(i + 1) * 8,
                                            chain->count - i - 1, mode };
            return true;
        }
        if (!pd_chain_context_mode(ip, &mode))
            return false;
    }
    return false;
}

struct pd_location *pd_resolve_leaf(struct pd_resolver *resolver, const struct pd_thread *thread,
                                    uint64_t number, const struct pd_chain_parts *parts)
{
    enter_chain(resolver, thread, number);
    return pd_resolve(resolver, thread, number, parts->cpumode, parts->ip);
}

/* Branches stand between the sample and its callers. perf then leaves out as many entries of the
 * chain as there are branches, besides those that the branches show already. */
static PD_NOINLINE void join_branches(struct walk *walk, unsigned max_stack, bool *invalid)
{
    struct pd_chain_path *path = &walk->path;
    struct pd_history history;
    size_t max = PD_MIN(path->capacity, (size_t)max_stack);
    bool from_callers = walk->path.resolver->ways.from_caller;
    pd_history_take(walk->sample, max_stack, from_callers, &history);
    if (from_callers) {
        walk->first = history.count;
        from_caller(walk, max, invalid);
        pd_history_put(&history, path);
        return;
    }
    pd_history_put(&history, path);
    walk->first = history.overlap;
    walk->count -= PD_MIN(walk->count, history.count);
    from_callee(walk, PD_MIN(path->capacity - path->count, max), invalid);
}

size_t pd_resolve_chain(struct pd_resolver *resolver, const struct pd_sample *sample,
                        const struct pd_thread *thread, uint64_t number, unsigned max_stack,
                        struct pd_frame *frames, size_t capacity, bool *invalid)
{
    struct walk walk = {
        .sample = sample,
        .path = { resolver, thread, number, frames, 0, capacity },
    };
    bool calls = use_call_stack(&walk, max_stack);
    size_t max = calls ? capacity : PD_MIN(capacity, (size_t)max_stack);
    *invalid = false;
    enter_chain(resolver, thread, number);
    if (PD_UNLIKELY(has_link_register(sample)))
        find_leaf_caller(&walk);
    /* Where all fit and each follows a marker, both ways give the same, and this one takes less. */
    bool both = walk.count <= max && !walk.leaf && walk.count && entry(&walk, 0) >= FIRST_CONTEXT;
    if (PD_UNLIKELY(sample->branch_count) && resolver->ways.joins_branches && !calls)
        join_branches(&walk, max_stack, invalid);
    else if (resolver->ways.from_caller && !both)
        from_caller(&walk, max, invalid);
    else
        from_callee(&walk, max, invalid);
    size_t count = *invalid ? 0 : walk.path.count;
    resolver->unwound = 0;
    if (PD_UNLIKELY(pd_has_stack(sample)) && !*invalid)
        resolver->unwound = pd_unwind_frames(resolver, sample, thread, number, frames + count,
                                             PD_MIN(capacity - count, (size_t)max_stack));
    return count + resolver->unwound;
}

bool pd_chain_of_none_fails(struct pd_resolver *resolver, const struct pd_sample *sample,
                            const struct pd_thread *thread, uint64_t number)
{
    uint64_t ip;
    if (!pd_has_stack(sample))
        return false;
    enter_chain(resolver, thread, number);
    return pd_unwind_begins(resolver, sample, &ip);
}

size_t pd_chain_unwound(const struct pd_resolver *resolver)
{
    return resolver->unwound;
}
