/* SPDX-License-Identifier: MIT */
/* c2c report: accesses into lines of the data cache and the places that accessed them. */
#include "render/memory/c2c.h"
#include "container/handle.h"
#include "render/memory/c2c_chains.h"
#include "render/report/collect.h"
#include <stdlib.h>

/* Linux has at most 8192 CPUs and 1024 nodes. */
enum { MOST_CPUS = 1 << 16, MOST_NODES = 1024 };
/* An access adds at most two to a count of 32 bits. */
#define MOST_ACCESSES (UINT32_MAX / 2)

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

/* Reads CPUs of a node, "0-3,8". False: the machine does not have these CPUs, or one is in two
 * nodes. */
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

/* The node that the memory at a physical address belongs to; UINT32_MAX: none. */
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

/* Tells what a sample lacks before the next one is resolved: symbols that are loaded for that one
 * may have something to tell, too, and perf tells it in this order. */
static void warn(struct pd_c2c *c2c, const struct pd_sample *sample)
{
    if (sample->cpu >= c2c->cpu_count)
        warn_once(c2c, &c2c->told_cpu, "WARNING: no sample cpu value\n");
    if (!c2c->told_node && sample->phys_addr &&
        node_of_memory(c2c, sample->phys_addr) == UINT32_MAX)
        warn_once(c2c, &c2c->told_node, "WARNING: failed to find node\n");
}

static bool count_cpu(struct pd_c2c *c2c, struct pd_c2c_cell *cell, uint32_t cpu,
                      const struct pd_c2c_meaning *meaning)
{
    size_t at = 0, end = cell->cpus.count;
    if (cpu >= c2c->cpu_count)
        return true;
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
    cell->cpus.data[at].wanted += meaning->wanted;
    cell->cpus.data[at].stores += meaning->stores;
    return true;
}

/* Counts, as perf does, how often the physical address differs from the one before. Addresses in no
 * node do not count. */
static bool count_physical(struct pd_c2c *c2c, struct pd_c2c_cell *cell, uint64_t address)
{
    uint32_t node = address ? node_of_memory(c2c, address) : UINT32_MAX;
    size_t at = 0;
    if (node == UINT32_MAX)
        return true;
    bool known = cell->physical_changes;
    if (cell->physical != address) {
        cell->physical = address;
        cell->physical_changes++;
    }
    if (known && cell->node == node)
        return true;
    cell->node = node;
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

/* ---- accesses ---- */

/* What tells the rows of a line apart. Members that --coalesce does not ask for are 0. */
struct row_key {
    uint64_t ip, dso;
    uint32_t line, offset, pid, tid;
};

/* One of a few accesses that are looked up together, since each look-up waits for memory. */
struct access {
    struct pd_sample sample;
    struct pd_report_facts facts;
    struct pd_hist_access to;
    struct pd_hist_cache_line line_key;
    struct row_key row_key;
    uint32_t line_hash, row_hash, line, row;
    bool unmapped;
};

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

/* Finds where the data lie; false: no memory. */
static bool resolve_data(struct pd_resolver *resolver, struct access *access)
{
    const struct pd_report_facts *facts = &access->facts;
    const struct pd_sample *sample = &access->sample;
    struct pd_hist_place *to = &access->to.to;
    struct pd_point point;
    access->to = (struct pd_hist_access){ .flags = sample->data_src };
    if (sample->cpumode == PD_CPUMODE_USER &&
        pd_resolver_user_map(resolver, facts->thread, facts->number, sample->addr, &point)) {
        *to = (struct pd_hist_place){ .dso = point.map ? point.map->dso : NULL,
                                      .map = point.map,
                                      .addr = point.addr };
        return true;
    }
    const struct pd_location *data = pd_resolve(resolver, facts->thread, facts->number,
                                                sample->cpumode, sample->addr);
    if (!data)
        return false;
    *to = (struct pd_hist_place){ .dso = data->dso, .map = data->map, .addr = data->addr };
    return true;
}

/* False: no memory. */
static bool resolve(struct pd_c2c *c2c, struct pd_resolver *resolver, struct access *access)
{
    struct pd_report_facts *facts = &access->facts;
    const struct pd_sample *sample = &access->sample;
    facts->location = pd_resolve(resolver, facts->thread, facts->number, sample->cpumode,
                                 sample->ip);
    if (!facts->location || !resolve_data(resolver, access))
        return false;
    warn(c2c, sample);
    access->unmapped = !access->to.to.map || !facts->location->map;
    facts->access = &access->to;
    pd_report_cache_line(facts, &access->line_key);
    access->line_hash = pd_keys_hash(&c2c->line_keys, &access->line_key);
    pd_keys_fetch(&c2c->line_keys, access->line_hash);
    return true;
}

static void fetch_cell(const struct pd_c2c_cell *cell)
{
    enum { LINES = 4, SIZE = 64 }; /* the part of a cell that counting touches */
    for (size_t i = 0; i < LINES; i++)
        __builtin_prefetch((const char *)cell + i * SIZE);
}

static bool find_line(struct pd_c2c *c2c, struct access *access)
{
    const struct pd_report_facts *facts = &access->facts;
    const struct pd_location *location = facts->location;
    const struct pd_sample *sample = &access->sample;
    unsigned by = c2c->by_set;
    uint32_t line = pd_keys_add(&c2c->line_keys, &access->line_key, access->line_hash);
    if (line == PD_KEYS_NONE ||
        (line == c2c->lines.count && !pd_vec_push(&c2c->lines, new_cell(facts, line, line))))
        return false;
    uint32_t pid = facts->thread ? pd_thread_pid(facts->thread, facts->number) : UINT32_MAX;
    fetch_cell(&c2c->lines.data[line]);
    access->line = line;
    access->row_key = (struct row_key){
        .line = line,
        .offset = (uint32_t)(sample->addr - PD_CACHE_LINE_OF(sample->addr)),
        .pid = by & PD_C2C_BY_PID ? pid : 0,
        .tid = by & PD_C2C_BY_TID ? sample->tid : 0,
        .ip = by & PD_C2C_BY_CODE ? sample->ip : 0,
        .dso = by & PD_C2C_BY_DSO ? (uintptr_t)location->dso : 0,
    };
    access->row_hash = pd_keys_hash(&c2c->row_keys, &access->row_key);
    pd_keys_fetch(&c2c->row_keys, access->row_hash);
    return true;
}

static bool find_row(struct pd_c2c *c2c, struct access *access)
{
    uint32_t row = pd_keys_add(&c2c->row_keys, &access->row_key, access->row_hash);
    access->row = row;
    if (row == PD_KEYS_NONE ||
        (row == c2c->rows.count &&
         !pd_vec_push(&c2c->rows, new_cell(&access->facts, access->line, row))))
        return false;
    fetch_cell(&c2c->rows.data[row]);
    return true;
}

static bool count_cell(struct pd_c2c *c2c, struct pd_c2c_cell *cell, const struct access *access,
                       const struct pd_c2c_meaning *meaning)
{
    cell->period += access->facts.period;
    for (unsigned i = 0; i < meaning->count; i++)
        cell->n[meaning->hits[i]]++;
    return count_physical(c2c, cell, access->sample.phys_addr);
}

static bool count(struct pd_c2c *c2c, struct access *access)
{
    struct pd_report_facts *facts = &access->facts;
    struct pd_c2c_cell *row = &c2c->rows.data[access->row];
    const struct pd_c2c_meaning *meaning = pd_c2c_meaning_of(c2c->meanings, access->sample.data_src,
                                                             access->sample.addr != 0,
                                                             access->unmapped, c2c->display);
    for (unsigned i = 0; i < meaning->count; i++)
        c2c->all.n[meaning->hits[i]]++;
    if (meaning->kind != PD_C2C_KINDS) {
        struct pd_c2c_cycles *cycles = &row->cycles[meaning->kind];
        cycles->mean += ((double)pd_report_weight(facts) - cycles->mean) / (double)++cycles->count;
    }
    return count_cell(c2c, &c2c->lines.data[access->line], access, meaning) &&
           count_cell(c2c, row, access, meaning) &&
           count_cpu(c2c, row, access->sample.cpu, meaning) &&
           (!c2c->chains || pd_c2c_chains_count(c2c->chains, facts, access->row));
}

/* Each step is taken for all accesses of the group, so that the processor fetches at once what
 * several of them need. */
static bool take_group(struct pd_c2c *c2c, struct pd_resolver *resolver, struct access *accesses,
                       size_t size)
{
    bool ok = true;
    for (size_t i = 0; ok && i < size; i++)
        ok = resolve(c2c, resolver, &accesses[i]);
    for (size_t i = 0; ok && i < size; i++)
        pd_keys_fetch_key(&c2c->line_keys, accesses[i].line_hash);
    for (size_t i = 0; ok && i < size; i++)
        ok = find_line(c2c, &accesses[i]);
    for (size_t i = 0; ok && i < size; i++)
        pd_keys_fetch_key(&c2c->row_keys, accesses[i].row_hash);
    for (size_t i = 0; ok && i < size; i++)
        ok = find_row(c2c, &accesses[i]);
    for (size_t i = 0; ok && i < size; i++)
        ok = count(c2c, &accesses[i]);
    return ok;
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

static bool is_access(const struct pd_delivered *record, struct access *access)
{
    if (record->type != PD_RECORD_SAMPLE || !record->event ||
        pd_delivered_sample(record, &access->sample) < 0)
        return false;
    access->facts = (struct pd_report_facts){ .event = record->event,
                                              .sample = &access->sample,
                                              .thread = record->thread,
                                              .number = record->number,
                                              .period = access->sample.period,
                                              .cell = PD_HIST_NONE };
    return true;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    enum { GROUP = 32 };
    struct access accesses[GROUP];
    struct pd_c2c *c2c = data;
    bool ok = true;
    pd_resolver_trim(state);
    if (batch->count > MOST_ACCESSES - c2c->all.n[PD_C2C_RECORDS])
        return pd_fail(&c2c->recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "more than %u accesses", (unsigned)MOST_ACCESSES);
    for (size_t i = 0; ok && i < batch->count;) {
        size_t size = 0;
        for (; i < batch->count && size < GROUP; i++)
            size += is_access(&batch->records[i], &accesses[size]);
        ok = take_group(c2c, state, accesses, size);
    }
    return ok ? PERFDATA_OK : pd_no_memory(&c2c->recording->context, "lines of the data cache");
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
    pd_keys_free(&c2c->line_keys);
    pd_keys_free(&c2c->row_keys);
    free(c2c->meanings);
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
    struct pd_c2c c2c = { .options = &known,
                          .recording = &recording->recording,
                          .line_keys.size = sizeof(struct pd_hist_cache_line),
                          .row_keys.size = sizeof(struct row_key),
                          .meanings = calloc(PD_C2C_MEANINGS, sizeof *c2c.meanings) };
    if (!c2c.meanings)
        return pd_no_memory(&recording->recording.context, "lines of the data cache");
    status = pd_analysis_status(&recording->recording.context, run(&c2c));
    if (status >= 0)
        status = pd_api_emit(&recording->recording.context, &c2c.out, write, data);
    free_all(&c2c);
    return status;
}
