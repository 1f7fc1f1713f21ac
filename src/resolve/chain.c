/* SPDX-License-Identifier: MIT */
#include "resolve/resolver.h"
#include "format/names.h"

/* Values from here on are no addresses: they say whose addresses follow. */
#define FIRST_CONTEXT ((uint64_t)-4095)
#define CONTEXT_HYPERVISOR ((uint64_t)-32)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)

struct walk {
    struct pd_resolver *resolver;
    const struct pd_sample *sample;
    const struct pd_thread *thread;
    uint64_t number;
    size_t count;    /* of entries: those of the chain, then the processor's call stack */
    size_t recorded; /* of the chain that count */
    size_t leaf;     /* the entry behind which a caller belongs that is not recorded; 0: none */
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

/* Where the processor recorded calls, they stand for the part in user space. */
static void use_call_stack(struct walk *walk)
{
    const struct pd_sample *sample = walk->sample;
    walk->count = walk->recorded = sample->callchain_count;
    if (PD_LIKELY(!sample->branch_count) ||
        !(sample->event->attr.branch_sample_type & PD_BRANCH_SAMPLE_CALL_STACK))
        return;
    for (size_t i = 0; i < walk->recorded; i++) {
        if (entry(walk, i) != CONTEXT_USER)
            continue;
        walk->recorded = i + 1;
        walk->count = walk->recorded + 1 + sample->branch_count;
        return;
    }
}

/* ---- arm64's leaf functions ----
 *
 * They make no frame: the kernel's walk along the frame pointers misses their caller. perf on arm64 records the link
 * register beside the chain, and there the caller's address is, unless the function has put it on the stack. */

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

/* The lowest map of the thread's. */
static const struct pd_map *first_map(const struct walk *walk, const struct pd_dso *dso)
{
    struct first_of first = { dso, NULL };
    pd_maps_view_each(walk->resolver->user, is_first_of, &first);
    return first.map;
}

/* perf looks the rules up as if the file lay where the process has it first, which after fork and exec may be where its
 * parent had it. It then finds none, and takes the link register. */
static enum pd_return_place return_place(const struct walk *walk, struct pd_location *leaf)
{
    const struct pd_map *map = leaf->map, *first = map ? first_map(walk, map->dso) : NULL;
    if (!first || first->start - first->pgoff != map->start - map->pgoff)
        return PD_RETURN_UNKNOWN;
    if (leaf->return_place == PD_RETURN_NOT_ASKED)
        leaf->return_place = (uint8_t)pd_symbols_return_place(walk->resolver->symbols, map,
                                                              leaf->addr);
    return leaf->return_place;
}

static PD_NOINLINE void find_leaf_caller(struct walk *walk)
{
    uint64_t link = pd_load64(walk->sample->user_regs, walk->sample->swap);
    size_t at = find_user_leaf(walk);
    if (!at || !link || !pd_symbols_of_arm64(walk->resolver->symbols) || !first_map(walk, NULL))
        return;
    struct pd_location *leaf = pd_resolve(walk->resolver, walk->thread, walk->number,
                                          PD_CPUMODE_USER, entry(walk, at));
    if (!leaf || return_place(walk, leaf) == PD_RETURN_ELSEWHERE)
        return;
    walk->leaf = at;
    walk->leaf_caller = link - 1; /* within the call */
}

static bool put(const struct walk *walk, uint8_t mode, uint64_t ip, struct pd_frame *frame)
{
    frame->ip = ip;
    frame->location = pd_resolve(walk->resolver, walk->thread, walk->number, mode, ip);
    return frame->location != NULL;
}

/* ---- the walk ---- */

/* False for contexts that perf does not accept. */
static bool context_mode(uint64_t context, uint8_t *mode)
{
    switch (context) {
    case CONTEXT_HYPERVISOR: *mode = PD_CPUMODE_HYPERVISOR; return true;
    case CONTEXT_KERNEL: *mode = PD_CPUMODE_KERNEL; return true;
    case CONTEXT_USER: *mode = PD_CPUMODE_USER; return true;
    default: return false;
    }
}

static size_t bad_context(const struct walk *walk, uint64_t context, bool *invalid)
{
    *invalid = true;
    pd_issue(walk->resolver->symbols->context, PERFDATA_ISSUE_BAD_CALLCHAIN, -1,
             "call chain with unknown context %lld left out", (long long)context);
    return 0;
}

static size_t from_callee(const struct walk *walk, size_t max, struct pd_frame *frames,
                          bool *invalid)
{
    uint8_t mode = PD_CPUMODE_USER;
    size_t count = 0;
    for (size_t i = 0; i < walk->count && count < max; i++) {
        uint64_t ip = entry(walk, i);
        /* perf adds it when it comes to the next one. */
        if (PD_UNLIKELY(walk->leaf && i == walk->leaf + 1) &&
            put(walk, PD_CPUMODE_USER, walk->leaf_caller, &frames[count]) && ++count == max)
            break;
        if (PD_UNLIKELY(ip >= FIRST_CONTEXT)) {
            if (!context_mode(ip, &mode))
                return bad_context(walk, ip, invalid);
        } else if (put(walk, mode, ip, &frames[count])) {
            count++;
        }
    }
    return count;
}

/* The mode of the entries below `end`: the nearest marker's before them. False when perf refuses it. */
static bool mode_before(const struct walk *walk, size_t end, uint8_t *mode, uint64_t *context)
{
    while (end-- > 0) {
        uint64_t ip = entry(walk, end);
        if (ip < FIRST_CONTEXT)
            continue;
        *context = ip;
        return context_mode(ip, mode);
    }
    return true; /* as it was */
}

/* From the outermost frame, as perf does when callers come first: max counts from there. Entries that no marker
 * precedes then have the mode of the first marker. */
static size_t from_caller(const struct walk *walk, size_t max, struct pd_frame *frames,
                          bool *invalid)
{
    uint8_t mode = PD_CPUMODE_USER;
    size_t count = 0;
    uint64_t context = 0;
    if (!mode_before(walk, walk->count, &mode, &context))
        return bad_context(walk, context, invalid);
    for (size_t i = walk->count; i-- > 0 && count < max;) {
        uint64_t ip = entry(walk, i);
        if (PD_UNLIKELY(walk->leaf && i == walk->leaf) &&
            put(walk, PD_CPUMODE_USER, walk->leaf_caller, &frames[count]) && ++count == max)
            break;
        if (ip >= FIRST_CONTEXT) {
            if (!mode_before(walk, i, &mode, &context))
                return bad_context(walk, context, invalid);
        } else if (put(walk, mode, ip, &frames[count])) {
            count++;
        }
    }
    for (size_t i = 0, j = count; i + 1 < j--; i++) {
        struct pd_frame frame = frames[i];
        frames[i] = frames[j];
        frames[j] = frame;
    }
    return count;
}

bool pd_chain_has_more(const struct pd_sample *sample)
{
    return sample->branch_count || has_link_register(sample) || pd_has_stack(sample);
}

/* The sample's own address came first: what it loaded is there. */
static void enter_chain(struct pd_resolver *resolver, const struct pd_thread *thread,
                        uint64_t number)
{
    pd_resolver_stamp(resolver, thread, number);
    resolver->loads_kernel = false;
}

bool pd_chain_split(const struct pd_sample *sample, struct pd_chain_parts *out)
{
    uint8_t mode = PD_CPUMODE_USER;
    if (pd_chain_has_more(sample))
        return false;
    for (uint32_t i = 0; i < sample->callchain_count; i++) {
        uint64_t ip = pd_load64(sample->callchain + (size_t)i * 8, sample->swap);
        if (ip < FIRST_CONTEXT && !i)
            return false; /* whose it is depends on the order that the chain is walked in */
        if (ip < FIRST_CONTEXT) {
            *out = (struct pd_chain_parts){ ip, sample->callchain + (size_t)(i + 1) * 8,
                                            sample->callchain_count - i - 1, mode };
            return true;
        }
        if (!context_mode(ip, &mode))
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

size_t pd_resolve_chain(struct pd_resolver *resolver, const struct pd_sample *sample,
                        const struct pd_thread *thread, uint64_t number, unsigned max_stack,
                        struct pd_frame *frames, size_t capacity, bool *invalid)
{
    struct walk walk = {
        .resolver = resolver, .sample = sample, .thread = thread, .number = number
    };
    use_call_stack(&walk);
    size_t max = PD_MIN(capacity, (size_t)max_stack);
    *invalid = false;
    enter_chain(resolver, thread, number);
    if (PD_UNLIKELY(has_link_register(sample)))
        find_leaf_caller(&walk);
    /* Where all fit and each follows a marker, both ways give the same, and this one takes less. */
    bool both = walk.count <= max && !walk.leaf && walk.count && entry(&walk, 0) >= FIRST_CONTEXT;
    size_t count = resolver->from_caller && !both ? from_caller(&walk, max, frames, invalid)
                                                  : from_callee(&walk, max, frames, invalid);
    resolver->unwound = 0;
    if (PD_UNLIKELY(pd_has_stack(sample)) && !*invalid)
        resolver->unwound = pd_unwind_frames(resolver, sample, thread, number, frames + count,
                                             PD_MIN(capacity - count, (size_t)max_stack));
    return count + resolver->unwound;
}

size_t pd_chain_unwound(const struct pd_resolver *resolver)
{
    return resolver->unwound;
}
