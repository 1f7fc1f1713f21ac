/* SPDX-License-Identifier: MIT */
/* A sample, or a branch of it -> the words of a row's key: a function for each kind of word. */
#include "render/report/collect.h"

/* ---- what accesses to memory are about ---- */

uint64_t pd_report_weight(const struct pd_report_facts *facts)
{
    bool parts = facts->event->attr.sample_type & PD_SAMPLE_WEIGHT_STRUCT;
    return parts ? (uint32_t)facts->sample->weight : facts->sample->weight;
}

/* Most data of processes lie in memory without symbols, each at another address, so that a location
 * of its own would be made and not be met again. False: the address is to be resolved. */
static bool plain_data(struct pd_report_state *state, const struct pd_report_facts *facts,
                       char level, struct pd_hist_place *out)
{
    const struct pd_sample *sample = facts->sample;
    struct pd_point point;
    if (sample->cpumode != PD_CPUMODE_USER ||
        !pd_resolver_user_map(state->resolver, facts->thread, facts->number, sample->addr,
                              &point) ||
        (point.map && pd_symbols_table(pd_resolver_symbols(state->resolver), point.map)))
        return false;
    *out = (struct pd_hist_place){ .dso = point.map ? point.map->dso : NULL,
                                   .map = point.map,
                                   .ip = sample->addr,
                                   .addr = point.addr,
                                   .map_bias = point.map ? sample->addr - point.addr : 0,
                                   .level = level };
    return true;
}

/* Finds the code in all modes, and the data in the mode of the processor. */
bool pd_report_access(struct pd_report_state *state, const struct pd_report_facts *facts,
                      struct pd_hist_access *access)
{
    const struct pd_sample *sample = facts->sample;
    const struct pd_location *code = pd_resolve_unmoded(state->resolver, facts->thread,
                                                        facts->number, sample->ip);
    /* Whatever mode the addresses belong to, a row shows the processor's. */
    char level = facts->location->level;
    if (!code)
        return false;
    access->from = pd_report_place(code, level);
    access->flags = sample->data_src;
    if (plain_data(state, facts, level, &access->to))
        return true;
    const struct pd_location *data = pd_resolve(state->resolver, facts->thread, facts->number,
                                                sample->cpumode, sample->addr);
    if (!data)
        return false;
    access->to = pd_report_place(data, level);
    return true;
}

/* Anonymous memory belongs to one process, while a file is the same in all of them. */
static bool is_anonymous(const struct pd_report_facts *facts, const struct pd_map *map)
{
    const struct pd_dso *dso = map->dso;
    return facts->sample->cpumode != PD_CPUMODE_KERNEL && !(map->flags & PD_MAP_SHARED) &&
           !dso->maj && !dso->min && !dso->ino && !dso->ino_generation;
}

void pd_report_cache_line(const struct pd_report_facts *facts, struct pd_hist_cache_line *line)
{
    const struct pd_hist_place *data = &facts->access->to;
    *line = (struct pd_hist_cache_line){ .cpumode = facts->sample->cpumode,
                                         .unmapped = !data->map,
                                         .address = PD_CACHE_LINE_OF(data->addr) };
    if (!data->map)
        return;
    line->maj = data->map->dso->maj;
    line->min = data->map->dso->min;
    line->ino = data->map->dso->ino;
    line->ino_generation = data->map->dso->ino_generation;
    if (is_anonymous(facts, data->map))
        line->pid = facts->thread ? (int32_t)pd_thread_pid(facts->thread, facts->number) : -1;
}

/* ---- of samples ---- */

#define WORD(name)                                                                                 \
    PD_INLINE uint64_t word_##name(struct pd_report_state *state,                                  \
                                   const struct pd_report_facts *facts)

WORD(thread)
{
    (void)state;
    return facts->thread ? facts->thread->tid : UINT32_MAX;
}

WORD(comm)
{
    return facts->thread
               ? pd_hist_comm_id(&state->hist, pd_thread_comm(facts->thread, facts->number),
                                 facts->number)
               : PD_HIST_NONE;
}

WORD(dso)
{
    return pd_hist_dso_word(&state->hist.options, facts->location->dso);
}

WORD(symbol)
{
    struct pd_location *location = facts->location;
    if (!(uint32_t)location->memo[0]) {
        uint64_t word = pd_hist_sym_word(&state->hist, location->dso, location->sym,
                                         location->addr);
        if (word >= PD_HIST_NONE)
            return word;
        location->memo[0] |= word + 1;
    }
    return (uint32_t)location->memo[0] - 1;
}

WORD(parent)
{
    return facts->parent ? pd_hist_name_id(&state->hist, facts->parent->name) : PD_HIST_NONE;
}

WORD(cpu)
{
    (void)state;
    return facts->sample->cpu;
}

WORD(socket)
{
    const struct pd_recording *recording = state->shared->session->recording;
    const struct pd_feature_cpu_topology *topology = &recording->features.cpu_topology;
    uint32_t cpu = facts->sample->cpu;
    if (!pd_recording_has_feature(recording, PD_FEATURE_CPU_TOPOLOGY) ||
        cpu >= topology->cpus_count)
        return UINT32_MAX;
    return topology->cpus[cpu].socket_id;
}

WORD(line)
{
    return pd_report_line_word(state, facts->location, facts->location->addr, PD_KEY_SRCLINE);
}

WORD(file)
{
    return pd_report_line_word(state, facts->location, facts->location->addr, PD_KEY_SRCFILE);
}

/* perf takes the cycles of the newest branch for those of all branches. */
WORD(parallelism)
{
    (void)state;
    return facts->parallelism;
}

WORD(weight)
{
    const struct pd_sample *sample = facts->sample;
    if (state->shared->plan->mode == PD_REPORT_BRANCH) {
        uint64_t flags = sample->branch_count ? pd_branch_at(sample, 0).flags : 0;
        return PD_MAX(PD_BRANCH_PART(flags, CYCLES), 1);
    }
    return pd_report_weight(facts);
}

WORD(latency)
{
    bool parts = facts->event->attr.sample_type & PD_SAMPLE_WEIGHT_STRUCT;
    (void)state;
    return parts ? facts->sample->weight >> 32 & 0xffff : 0;
}

/* On x86 the third part of a weight is not the time of a stage, and perf does not read it. */
WORD(stage)
{
    (void)state, (void)facts;
    return 0;
}

WORD(transaction)
{
    (void)state;
    return facts->sample->transaction;
}

/* As recorded. perf takes the target of a branch in memory for one in its file, and adds once more
 * what lies between them. */
WORD(address)
{
    const struct pd_location *location = facts->location;
    if (!location->map)
        return location->addr;
    return state->shared->plan->mode == PD_REPORT_BRANCH ? location->ip + facts->access->to.map_bias
                                                         : location->ip;
}

/* Once all keys have their words, pd_report_trace_words() sets this one. */
WORD(payload)
{
    (void)state, (void)facts;
    return PD_HIST_NONE;
}

WORD(symbol_size)
{
    const struct pd_symbol *symbol = facts->location->sym;
    (void)state;
    return symbol ? symbol->end - symbol->start : 0;
}

WORD(map_size)
{
    const struct pd_map *map = facts->location->map;
    (void)state;
    return map ? map->end - map->start : 0;
}

WORD(namespace)
{
    uint32_t device;
    uint64_t inode;
    if (!facts->thread ||
        !pd_thread_cgroup_namespace(facts->thread, facts->number, &device, &inode))
        return 0;
    return pd_hist_namespace_id(&state->hist, device, inode);
}

WORD(cgroup)
{
    (void)state;
    return facts->sample->cgroup;
}

WORD(code_page)
{
    (void)state;
    return facts->sample->code_page_size;
}

WORD(time)
{
    uint64_t quantum = state->shared->plan->time_quantum;
    return facts->sample->time / quantum * quantum;
}

/* ---- of branches: `facts->access` is there ---- */

/* Symbols of different objects are one if they lie at the same place in their objects. */
static uint64_t symbol_word(struct pd_report_state *state, const struct pd_hist_place *place)
{
    return pd_hist_sym_word(&state->hist, NULL, place->symbol, place->ip);
}

static uint64_t line_word(struct pd_report_state *state, const struct pd_hist_place *place)
{
    struct pd_location location = { .map = place->map, .sym = place->symbol };
    return pd_report_line_word(state, &location, place->addr, PD_KEY_SRCLINE);
}

WORD(dso_from)
{
    return pd_hist_dso_word(&state->hist.options, facts->access->from.dso);
}

WORD(dso_to)
{
    return pd_hist_dso_word(&state->hist.options, facts->access->to.dso);
}

WORD(symbol_from)
{
    return symbol_word(state, &facts->access->from);
}

WORD(symbol_to)
{
    return symbol_word(state, &facts->access->to);
}

WORD(address_from)
{
    (void)state;
    return facts->access->from.ip;
}

WORD(address_to)
{
    (void)state;
    return facts->access->to.ip;
}

WORD(prediction)
{
    (void)state;
    return PD_BRANCH_PART(facts->access->flags, MISPRED) |
           PD_BRANCH_PART(facts->access->flags, PREDICTED) << 1;
}

WORD(in_tx)
{
    (void)state;
    return PD_BRANCH_PART(facts->access->flags, IN_TX);
}

WORD(abort)
{
    (void)state;
    return PD_BRANCH_PART(facts->access->flags, ABORT);
}

WORD(cycles)
{
    (void)state;
    return PD_BRANCH_PART(facts->access->flags, CYCLES);
}

WORD(line_from)
{
    return line_word(state, &facts->access->from);
}

WORD(line_to)
{
    return line_word(state, &facts->access->to);
}

/* ---- of accesses to memory: `facts->access` is there ---- */

WORD(data_address)
{
    (void)state;
    return facts->access->to.ip;
}

WORD(code_address)
{
    (void)state;
    return facts->access->from.ip;
}

WORD(locked)
{
    (void)state;
    return PD_DATA_SRC_PART(facts->access->flags, LOCK);
}

WORD(tlb)
{
    (void)state;
    return PD_DATA_SRC_PART(facts->access->flags, DTLB);
}

WORD(level)
{
    (void)state;
    return PD_DATA_SRC_PART(facts->access->flags, LVL);
}

WORD(snoop)
{
    (void)state;
    return PD_DATA_SRC_PART(facts->access->flags, SNOOP);
}

WORD(blocked)
{
    (void)state;
    return PD_DATA_SRC_PART(facts->access->flags, BLK);
}

WORD(physical)
{
    (void)state;
    return facts->sample->phys_addr;
}

WORD(data_page)
{
    (void)state;
    return facts->sample->data_page_size;
}

WORD(cache_line)
{
    struct pd_hist_cache_line line;
    pd_report_cache_line(facts, &line);
    return pd_hist_bytes_id(&state->hist, (const char *)&line, sizeof line);
}

/* ---- the whole key ---- */

PD_INLINE uint64_t word_of(struct pd_report_state *state, const struct pd_report_facts *facts,
                           uint8_t key)
{
    switch (key) {
/* clang-format off */
#define KEY(identifier, name, title, mode, ids, order, caller, width, word, ...)                   \
    case PD_KEY_##identifier: return word_##word(state, facts);
        /* clang-format on */
#include "analyse/keys.def"
    default: return PD_HIST_NONE; /* fields of tracepoints: pd_report_trace_words() */
    }
}

void pd_report_fill_key(struct pd_report_state *state, const struct pd_report_facts *facts,
                        uint64_t *key)
{
    const struct pd_report_plan *plan = state->shared->plan;
    *key++ = facts->event->index;
    for (unsigned k = 0; k < plan->hist.key_count; k++)
        key[k] = word_of(state, facts, plan->hist.keys[k]);
    if (plan->payloads.formats) {
        struct pd_report_payload payload = { state->resolver, facts->event, facts->sample,
                                             facts->thread, facts->number };
        pd_report_trace_words(plan, &payload, &state->hist, &state->scratch, key);
    }
}
