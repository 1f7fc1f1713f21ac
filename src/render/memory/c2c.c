/* SPDX-License-Identifier: MIT */
/* c2c report: accesses into lines of the data cache and the places that accessed them. */
#include "render/memory/c2c.h"
#include "container/handle.h"
#include "render/memory/c2c_chains.h"
#include "render/report/collect.h"
#include <stdlib.h>

/* Linux has at most 8192 CPUs and 1024 nodes. */
enum { MOST_CPUS = 1 << 16, MOST_NODES = 1024 };

/* ---- the machine ---- */

static bool read_number(const char **at, uint32_t *out)
{
    char *end;
    unsigned long value = strtoul(*at, &end, 10);
    bool read = end != *at && value <= UINT32_MAX;
    *at = end;
    *out = (uint32_t)value;
    return read;
}

/* "0-3,8". False: CPUs that the machine has not, or in two nodes. */
static bool place_cpus(struct pd_c2c *c2c, const char *list, uint32_t node)
{
    uint32_t first, last;
    while (list && *list && read_number(&list, &first)) {
        last = first;
        if (*list == '-') {
            list++;
            if (!read_number(&list, &last))
                return false;
        }
        for (; first <= last; first++) {
            if (first >= c2c->cpu_count || c2c->node_of[first] >= 0)
                return false;
            c2c->node_of[first] = (int32_t)node;
        }
        list += *list == ',';
    }
    return true;
}

static perfdata_status learn_nodes(struct pd_c2c *c2c)
{
    const struct pd_features *features = &c2c->recording->features;
    const struct pd_feature_numa_topology *topology = &features->numa_topology;
    struct pd_context *context = &c2c->recording->context;
    static const char failed[] = "Failed setup nodes";
    if (!topology->present || !topology->nodes_count || !features->nrcpus.present)
        return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1, "%s", failed);
    if (!features->mem_topology.present || !features->mem_topology.nodes_count)
        pd_warning(context, PERFDATA_ISSUE_LOST, -1,
                   "No memory nodes, is CONFIG_MEMORY_HOTPLUG enabled?\n");
    if (features->nrcpus.available > MOST_CPUS || topology->nodes_count > MOST_NODES ||
        features->mem_topology.nodes_count > MOST_NODES)
        return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "a machine of more than %d CPUs or %d nodes", MOST_CPUS, MOST_NODES);
    c2c->cpu_count = features->nrcpus.available;
    c2c->node_of = malloc((c2c->cpu_count + 1) * sizeof *c2c->node_of);
    if (!c2c->node_of)
        return pd_no_memory(&c2c->recording->context, "lines of the data cache");
    for (uint32_t i = 0; i < c2c->cpu_count; i++)
        c2c->node_of[i] = -1;
    for (uint32_t i = 0; i < topology->nodes_count; i++)
        if (!place_cpus(c2c, topology->nodes[i].cpus.text, i))
            return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1, "%s", failed);
    return PERFDATA_OK;
}

/* The node that has the memory at a physical address; UINT32_MAX: none. */
static uint32_t node_of_memory(const struct pd_c2c *c2c, uint64_t address)
{
    const struct pd_feature_mem_topology *memory = &c2c->recording->features.mem_topology;
    if (!memory->present || !memory->block_size)
        return UINT32_MAX;
    uint64_t block = address / memory->block_size;
    for (uint32_t i = 0; i < memory->nodes_count; i++) {
        const struct pd_part_mem_node *node = &memory->nodes[i];
        if (block < node->bits && block / 64 < node->words.count &&
            pd_array_at(&node->words, (size_t)(block / 64)) >> block % 64 & 1)
            return (uint32_t)node->node;
    }
    return UINT32_MAX;
}

/* ---- a line, a row ---- */

static void warn_once(struct pd_c2c *c2c, bool *told, const char *text)
{
    if (!*told)
        pd_warning(&c2c->recording->context, PERFDATA_ISSUE_LOST, -1, "%s", text);
    *told = true;
}

static bool count_cpu(struct pd_c2c *c2c, struct pd_c2c_cell *cell, uint32_t cpu,
                      const struct pd_c2c_stats *stats)
{
    size_t at = 0, end = cell->cpus.count;
    if (cpu >= c2c->cpu_count) {
        warn_once(c2c, &c2c->told_cpu, "WARNING: no sample cpu value\n");
        return true;
    }
    while (at < end) {
        size_t middle = at + (end - at) / 2;
        if (cell->cpus.data[middle].cpu < cpu)
            at = middle + 1;
        else
            end = middle;
    }
    if (at == cell->cpus.count || cell->cpus.data[at].cpu != cpu) {
        if (!pd_vec_push(&cell->cpus, (struct pd_c2c_cpu){ .cpu = cpu }))
            return false;
        memmove(&cell->cpus.data[at + 1], &cell->cpus.data[at],
                (cell->cpus.count - 1 - at) * sizeof *cell->cpus.data);
        cell->cpus.data[at] = (struct pd_c2c_cpu){ .cpu = cpu };
    }
    cell->cpus.data[at].wanted += pd_c2c_wanted(stats, c2c->display);
    cell->cpus.data[at].stores += stats->n[PD_C2C_STORES];
    return true;
}

/* perf counts how often the physical address differs from the one before, in memory of a node. */
static bool count_physical(struct pd_c2c *c2c, struct pd_c2c_cell *cell, uint64_t address)
{
    uint32_t node = address ? node_of_memory(c2c, address) : UINT32_MAX;
    size_t at = 0;
    if (node == UINT32_MAX) {
        if (address)
            warn_once(c2c, &c2c->told_node, "WARNING: failed to find node\n");
        return true;
    }
    if (cell->physical != address) {
        cell->physical = address;
        cell->physical_changes++;
    }
    while (at < cell->nodes.count && cell->nodes.data[at] < node)
        at++;
    if (at < cell->nodes.count && cell->nodes.data[at] == node)
        return true;
    if (!pd_vec_push(&cell->nodes, node))
        return false;
    memmove(&cell->nodes.data[at + 1], &cell->nodes.data[at],
            (cell->nodes.count - 1 - at) * sizeof *cell->nodes.data);
    cell->nodes.data[at] = node;
    return true;
}

static enum pd_c2c_kind kind_of(const struct pd_c2c_stats *stats)
{
    const uint64_t *n = stats->n;
    return n[PD_C2C_RMT_HITM]   ? PD_C2C_CYCLES_RMT_HITM
           : n[PD_C2C_LCL_HITM] ? PD_C2C_CYCLES_LCL_HITM
           : n[PD_C2C_RMT_PEER] ? PD_C2C_CYCLES_RMT_PEER
           : n[PD_C2C_LCL_PEER] ? PD_C2C_CYCLES_LCL_PEER
           : n[PD_C2C_LOADS]    ? PD_C2C_CYCLES_LOAD
                                : PD_C2C_KINDS;
}

static bool count_cell(struct pd_c2c *c2c, struct pd_c2c_cell *cell,
                       const struct pd_report_facts *facts, const struct pd_c2c_stats *stats)
{
    enum pd_c2c_kind kind = kind_of(stats);
    cell->period += facts->period;
    pd_c2c_add(&cell->stats, stats);
    if (kind != PD_C2C_KINDS) {
        struct pd_c2c_cycles *cycles = &cell->cycles[kind];
        cycles->mean += ((double)pd_report_weight(facts) - cycles->mean) / (double)++cycles->count;
    }
    return count_cpu(c2c, cell, facts->sample->cpu, stats) &&
           count_physical(c2c, cell, facts->sample->phys_addr);
}

static struct pd_c2c_cell new_cell(const struct pd_report_facts *facts, uint32_t line, uint32_t key)
{
    const struct pd_location *location = facts->location;
    return (struct pd_c2c_cell){ .address = facts->sample->addr,
                                 .thread = facts->thread,
                                 .pid = facts->thread ? pd_thread_pid(facts->thread, facts->number)
                                                      : UINT32_MAX,
                                 .line = line,
                                 .map = location->map,
                                 .dso = location->dso,
                                 .symbol = location->sym,
                                 .ip = facts->sample->ip,
                                 .code = location->addr,
                                 .level = location->level,
                                 .key = key };
}

static bool take_line(struct pd_c2c *c2c, const struct pd_report_facts *facts,
                      const struct pd_c2c_stats *stats, uint32_t *line)
{
    struct pd_hist_cache_line identity;
    pd_report_cache_line(facts, &identity);
    *line = pd_intern(&c2c->line_keys, (const char *)&identity, sizeof identity);
    if (*line == PD_INTERN_NONE ||
        (*line == c2c->lines.count && !pd_vec_push(&c2c->lines, new_cell(facts, *line, *line))))
        return false;
    return count_cell(c2c, &c2c->lines.data[*line], facts, stats);
}

/* What tells rows of a line apart; what is not asked for is 0. */
struct row_key {
    uint64_t line, offset, pid, tid, ip, dso;
};

static bool take_row(struct pd_c2c *c2c, struct pd_report_facts *facts,
                     const struct pd_c2c_stats *stats, uint32_t line)
{
    unsigned by = c2c->by_set;
    struct pd_c2c_cell cell = new_cell(facts, line, 0);
    const struct row_key key = { .line = line,
                                 .offset = facts->sample->addr -
                                           PD_CACHE_LINE_OF(facts->sample->addr),
                                 .pid = by & PD_C2C_BY_PID ? cell.pid : 0,
                                 .tid = by & PD_C2C_BY_TID ? facts->sample->tid : 0,
                                 .ip = by & PD_C2C_BY_CODE ? cell.ip : 0,
                                 .dso = by & PD_C2C_BY_DSO ? (uintptr_t)cell.dso : 0 };
    cell.key = pd_intern(&c2c->row_keys, (const char *)&key, sizeof key);
    if (cell.key == PD_INTERN_NONE ||
        (cell.key == c2c->rows.count && !pd_vec_push(&c2c->rows, cell)))
        return false;
    return count_cell(c2c, &c2c->rows.data[cell.key], facts, stats) &&
           (!c2c->chains || pd_c2c_chains_count(c2c->chains, facts, cell.key));
}

static perfdata_status take_sample(struct pd_c2c *c2c, struct pd_resolver *resolver,
                                   const struct pd_delivered *record)
{
    struct pd_sample sample;
    if (record->type != PD_RECORD_SAMPLE || !record->event ||
        pd_delivered_sample(record, &sample) < 0)
        return PERFDATA_OK;
    struct pd_report_facts facts = { .event = record->event,
                                     .sample = &sample,
                                     .thread = record->thread,
                                     .number = record->number,
                                     .period = sample.period,
                                     .cell = PD_HIST_NONE };
    struct pd_c2c_stats stats = { { 0 } };
    struct pd_hist_access access = { .flags = sample.data_src };
    facts.location = pd_resolve(resolver, facts.thread, facts.number, sample.cpumode, sample.ip);
    const struct pd_location *data = pd_resolve(resolver, facts.thread, facts.number,
                                                sample.cpumode, sample.addr);
    if (!facts.location || !data)
        return pd_no_memory(&c2c->recording->context, "lines of the data cache");
    access.to = (struct pd_hist_place){ .dso = data->dso, .map = data->map, .addr = data->addr };
    facts.access = &access;
    pd_c2c_decode(sample.data_src, sample.addr, &stats);
    if (sample.addr && (!data->map || !facts.location->map) &&
        (stats.n[PD_C2C_LOADS] || stats.n[PD_C2C_STORES]))
        stats.n[PD_C2C_NO_MAP]++;
    pd_c2c_add(&c2c->all, &stats);
    uint32_t line;
    return take_line(c2c, &facts, &stats, &line) && take_row(c2c, &facts, &stats, line)
               ? PERFDATA_OK
               : pd_no_memory(&c2c->recording->context, "lines of the data cache");
}

/* ---- the run ---- */

static perfdata_status begin(void *data, unsigned worker, struct pd_resolver *resolver,
                             void **state)
{
    struct pd_c2c *c2c = data;
    (void)worker;
    *state = resolver;
    return !c2c->chains || pd_c2c_chains_begin(c2c->chains, resolver)
               ? PERFDATA_OK
               : pd_no_memory(&c2c->recording->context, "c2c report");
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    perfdata_status status = PERFDATA_OK;
    pd_resolver_trim(state);
    for (size_t i = 0; i < batch->count && status >= 0; i++)
        status = take_sample(data, state, &batch->records[i]);
    return status;
}

static perfdata_status gather(struct pd_c2c *c2c)
{
    struct pd_consumer consumer = { .kind = PD_CONSUME_SEQUENTIAL,
                                    .warns = PD_WARN_READ,
                                    .data = c2c,
                                    .alone = true,
                                    .order = PD_ORDER_DELIVERY,
                                    .begin = begin,
                                    .work = work };
    return pd_pipeline_run(&c2c->session, &consumer, 0);
}

static perfdata_status parse_keys(struct pd_c2c *c2c)
{
    static const struct {
        const char *name;
        uint8_t by;
    } keys[] = { { "pid", PD_C2C_BY_PID },
                 { "tid", PD_C2C_BY_TID },
                 { "iaddr", PD_C2C_BY_CODE },
                 { "dso", PD_C2C_BY_DSO } };
    const char *at = c2c->options->coalesce ? c2c->options->coalesce : "iaddr";
    while (*(at += strspn(at, ", "))) {
        size_t length = strcspn(at, ", "), i = 0;
        while (i < PD_LENGTH(keys) &&
               (strlen(keys[i].name) != length || strncmp(keys[i].name, at, length) != 0))
            i++;
        if (i == PD_LENGTH(keys))
            return pd_fail(&c2c->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "unrecognized sort token: %.*s", (int)length, at);
        if (!(c2c->by_set & keys[i].by))
            c2c->by[c2c->by_count++] = keys[i].by;
        c2c->by_set |= keys[i].by;
        at += length;
    }
    return PERFDATA_OK;
}

static uint32_t display_of(const struct pd_c2c *c2c)
{
    const struct pd_feature_arch *arch = &c2c->recording->features.arch;
    if (c2c->options->display)
        return c2c->options->display;
    bool is_arm = arch->present && arch->text.text &&
                  (!strcmp(arch->text.text, "aarch64") || !strcmp(arch->text.text, "arm64"));
    return is_arm ? PERFDATA_C2C_PEER : PERFDATA_C2C_TOTAL;
}

static perfdata_status check(struct pd_c2c *c2c)
{
    const struct perfdata_c2c_options *options = c2c->options;
    struct pd_context *context = &c2c->recording->context;
    if (options->display > PERFDATA_C2C_PEER || options->node_info > 3)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "there is no such form");
    c2c->display = display_of(c2c);
    perfdata_status status = parse_keys(c2c);
    return status < 0 ? status : learn_nodes(c2c);
}

static perfdata_status run(struct pd_c2c *c2c)
{
    struct pd_object_search search = pd_search_of(c2c->recording, &c2c->options->search, NULL);
    search.demangle = true;
    perfdata_status status = check(c2c);
    if (status >= 0)
        status = pd_session_open(c2c->recording, &search, &c2c->session);
    if (status < 0)
        return status;
    status = pd_c2c_chains_open(c2c, &c2c->chains);
    if (status >= 0)
        status = gather(c2c);
    if (status >= 0) {
        pd_c2c_put_stats(c2c, &c2c->out);
        if (!(c2c->options->flags & PERFDATA_C2C_STATS))
            status = pd_c2c_put_lines(c2c, &c2c->out);
    }
    pd_c2c_chains_close(c2c->chains);
    pd_session_close(&c2c->session);
    return status;
}

static void free_cells(struct pd_c2c_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pd_vec_free(&cells[i].cpus);
        pd_vec_free(&cells[i].nodes);
    }
}

static void free_all(struct pd_c2c *c2c)
{
    free_cells(c2c->lines.data, c2c->lines.count);
    free_cells(c2c->rows.data, c2c->rows.count);
    pd_vec_free(&c2c->lines);
    pd_vec_free(&c2c->rows);
    pd_intern_free(&c2c->line_keys);
    pd_intern_free(&c2c->row_keys);
    free(c2c->node_of);
    pd_text_free(&c2c->out);
}

perfdata_status perfdata_c2c_run(perfdata_recording *recording,
                                 const struct perfdata_c2c_options *options,
                                 perfdata_write_fn write, void *data)
{
    struct perfdata_c2c_options known = { 0 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    struct pd_c2c c2c = { .options = &known, .recording = &recording->recording };
    status = pd_analysis_status(&recording->recording.context, run(&c2c));
    if (status >= 0)
        status = pd_api_emit(&recording->recording.context, &c2c.out, write, data);
    free_all(&c2c);
    return status;
}
