/* SPDX-License-Identifier: MIT */
/* script --dlfilter: each sample is shown to a filter of the user's, made for perf, which may drop
 * the sample and print text before its line. The filter runs in this process and sees one sample
 * after the other. */
#include "render/script/dlfilter.h"
#include "render/script/plan.h"
#include "object/file.h"
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

enum { ATTR_SIZE = 128 /* perf 6.1's */, PATH_ROOM = 4096 };

struct pd_dlfilter {
    struct pd_script *script;
    struct pd_dl_filter filter;
    void *handle, *data;
    bool started;
    FILE *capture; /* what the filter prints */
    struct pd_text *into;
    /* The sample that the filter is asked about; NULL: it is not asked now. */
    struct pd_script_worker *worker;
    const struct pd_script_event *plan;
    const struct pd_sample *sample;
    const struct pd_delivered *record;
    struct pd_dl_location ip, addr;
    struct pd_build_id ids[3]; /* of ip, of addr, of any other address */
    uint8_t insn[PD_INSN_BUFFER];
    uint8_t attr[ATTR_SIZE];
    PD_VEC(uint64_t) swapped; /* chain, then branches, of the other byte order */
};

/* ---- locations ---- */

static void fill_location(struct pd_dlfilter *filter, const struct pd_location *location,
                          uint64_t ip, struct pd_build_id *id, struct pd_dl_location *out)
{
    struct pd_symbols *symbols = filter->script->session.symbols;
    const struct pd_symbol *symbol = location->sym;
    const struct pd_map *map = location->map;

    *out = (struct pd_dl_location){ .size = sizeof *out, .addr = location->addr };
    if (map) {
        const struct pd_image *image = pd_symbols_image(symbols, map);
        out->dso = filter->script->form.kernel_path ? pd_symbols_long_name(symbols, location->dso)
                                                    : location->dso->name;
        out->is_64_bit = !image || image->is_64_bit;
        *id = pd_symbols_build_id(symbols, location->dso);
        out->buildid = id->bytes;
        out->buildid_size = id->size;
    }
    if (symbol) {
        uint64_t offset = location->addr - symbol->start;
        if (map && location->addr >= symbol->end)
            offset = location->addr - map->start - symbol->start;
        out->sym = symbol->name;
        out->symoff = (uint32_t)offset;
        out->sym_start = symbol->start;
        out->sym_end = symbol->end;
        out->sym_binding = symbol->binding;
    }
    out->is_kernel_ip = ip >= pd_symbols_kernel_start(symbols, filter->record->number);
}

static const struct pd_location *resolve_any(struct pd_dlfilter *filter, uint64_t ip)
{
    return pd_resolve_any(filter->worker->resolver, filter->record->thread, filter->record->number,
                          filter->sample->cpumode, ip);
}

static const struct pd_dl_location *resolve_ip(void *ctx)
{
    struct pd_dlfilter *filter = ctx;

    if (!filter->sample)
        return NULL;
    if (filter->ip.size)
        return &filter->ip;
    const struct pd_location *location = pd_resolve(filter->worker->resolver,
                                                    filter->record->thread, filter->record->number,
                                                    filter->sample->cpumode, filter->sample->ip);
    if (!location)
        return NULL;
    fill_location(filter, location, filter->sample->ip, &filter->ids[0], &filter->ip);
    filter->ip.comm = pd_script_comm(filter->worker, filter->sample, filter->record);
    filter->ip.filtered = !pd_script_keeps(filter->worker, filter->sample, filter->record);
    return &filter->ip;
}

/* Whether the sample's addr can have a symbol. */
static bool has_place(const struct pd_dlfilter *filter)
{
    return filter->plan->address_symbol && filter->plan->event->attr.sample_type & PD_SAMPLE_ADDR;
}

static const struct pd_dl_location *resolve_addr(void *ctx)
{
    struct pd_dlfilter *filter = ctx;

    if (!filter->sample || !has_place(filter))
        return NULL;
    if (filter->addr.size)
        return &filter->addr;
    const struct pd_location *location = resolve_any(filter, filter->sample->addr);
    if (!location)
        return NULL;
    fill_location(filter, location, filter->sample->addr, &filter->ids[1], &filter->addr);
    return &filter->addr;
}

static int32_t resolve_address(void *ctx, uint64_t address, struct pd_dl_location *out)
{
    struct pd_dlfilter *filter = ctx;
    struct pd_dl_location full;

    if (!filter->sample || !out || out->size < offsetof(struct pd_dl_location, filtered))
        return -1;
    const struct pd_location *location = resolve_any(filter, address);
    if (!location)
        return -1;
    fill_location(filter, location, address, &filter->ids[2], &full);
    uint32_t size = out->size;
    memcpy(out, &full, PD_MIN(size, (uint32_t)sizeof full));
    out->size = size;
    return 0;
}

/* ---- arguments, code, lines ---- */

static char **args(void *ctx, int *count)
{
    struct pd_dlfilter *filter = ctx;
    const struct perfdata_script_options *options = filter->script->options;

    *count = (int)options->dlarg_count;
    return options->dlarg_count ? (char **)(uintptr_t)options->dlargs : NULL;
}

static const uint8_t *insn(void *ctx, uint32_t *length)
{
    struct pd_dlfilter *filter = ctx;

    *length = 0;
    if (filter->sample)
        *length = pd_script_fetch_insn(filter->worker, filter->sample, filter->record,
                                       filter->insn);
    return *length ? filter->insn : NULL;
}

static const char *srcline(void *ctx, uint32_t *line)
{
    struct pd_dlfilter *filter = ctx;
    struct pd_source_line found;

    *line = 0;
    const struct pd_location *location = filter->sample ? resolve_any(filter, filter->sample->ip)
                                                        : NULL;
    if (!location || !location->map ||
        !pd_symbols_line(filter->script->session.symbols, location->map, location->addr, &found) ||
        found.answer == PD_LINES_NOTHING)
        return NULL;
    if (found.answer == PD_LINES_NAMELESS)
        return "??";
    *line = found.line;
    return found.file;
}

static void *attr(void *ctx)
{
    struct pd_dlfilter *filter = ctx;

    if (!filter->sample)
        return NULL;
    pd_attr_encode(&filter->plan->event->attr, false, filter->attr, sizeof filter->attr);
    return filter->attr;
}

static int32_t object_code(void *ctx, uint64_t ip, void *to, uint32_t length)
{
    struct pd_dlfilter *filter = ctx;
    bool is_64_bit;

    if (!filter->sample || !to)
        return -1;
    struct pd_code_view *view = pd_code_view(filter->worker->code, filter->record->thread,
                                             filter->record->number, PD_CODE_HOST);
    const struct pd_map *map = view ? pd_code_map(view, ip) : NULL;
    if (!map)
        return -1;
    size_t size = pd_code_read(view, ip, to, (size_t)PD_MIN((uint64_t)length, map->end - ip),
                               &is_64_bit);
    return size ? (int32_t)size : -1;
}

static const struct pd_dl_functions functions = {
    .resolve_ip = resolve_ip,
    .resolve_addr = resolve_addr,
    .args = args,
    .resolve_address = resolve_address,
    .insn = insn,
    .srcline = srcline,
    .attr = attr,
    .object_code = object_code,
};

/* ---- what the filter prints ---- */

static ssize_t take_printed(void *cookie, const char *bytes, size_t size)
{
    struct pd_dlfilter *filter = cookie;

    if (filter->into)
        pd_text_bytes(filter->into, bytes, size);
    return (ssize_t)size;
}

/* Filters print to stdout, where our own text does not go yet. So what they print is captured and
 * put into its place in that text. */
static FILE *capture_begin(struct pd_dlfilter *filter, struct pd_text *text)
{
    FILE *before = stdout;

    filter->into = text;
    if (filter->capture)
        stdout = filter->capture;
    return before;
}

static void capture_end(struct pd_dlfilter *filter, FILE *before)
{
    if (filter->capture)
        fflush(filter->capture);
    stdout = before;
    filter->into = NULL;
}

void pd_dl_print(void *ctx, const uint64_t *values, unsigned count)
{
    enum { FIELDS = 2, WIDTH = 10 };
    struct pd_dlfilter *filter = ctx;

    for (unsigned i = 0; i < FIELDS; i++) {
        if (i < count)
            pd_text_u64(filter->into, values[i], WIDTH, ' ');
        else
            pd_text_fill(filter->into, ' ', WIDTH);
        pd_text_char(filter->into, ' ');
    }
}

/* ---- a sample ---- */

/* The values of a list, in our byte order. */
static const uint64_t *in_our_order(struct pd_dlfilter *filter, const uint8_t *from, size_t count)
{
    if (!pd_vec_reserve(&filter->swapped, filter->swapped.count + count))
        return NULL;
    uint64_t *to = filter->swapped.data + filter->swapped.count;
    for (size_t i = 0; i < count; i++)
        to[i] = pd_load64(from + 8 * i, filter->sample->swap);
    filter->swapped.count += count;
    return to;
}

/* Both lists lie in one buffer, the second behind the first. Room for both is made first, so that
 * the first one does not move. */
static void fill_lists(struct pd_dlfilter *filter, struct pd_dl_sample *to)
{
    const struct pd_sample *sample = filter->sample;
    size_t chain = sample->callchain ? sample->callchain_count : 0;
    size_t branches = sample->branches ? 3 * (size_t)sample->branch_count : 0;

    filter->swapped.count = 0;
    if (!(chain + branches) || !pd_vec_reserve(&filter->swapped, chain + branches))
        return;
    if (chain) {
        to->raw_callchain = in_our_order(filter, sample->callchain, chain);
        to->raw_callchain_nr = chain;
    }
    if (branches) {
        uint64_t *entries = filter->swapped.data + filter->swapped.count;
        for (uint32_t i = 0; i < sample->branch_count; i++) {
            struct pd_branch branch = pd_branch_at(sample, i);
            memcpy(entries + 3 * (size_t)i, &branch, sizeof branch);
        }
        to->brstack = entries;
        to->brstack_nr = sample->branch_count;
    }
}

static void fill_sample(struct pd_dlfilter *filter, struct pd_dl_sample *to)
{
    const struct pd_sample *sample = filter->sample;
    const struct pd_synth_facts *facts = filter->record->facts;
    bool parts = filter->plan->event->attr.sample_type & PD_SAMPLE_WEIGHT_STRUCT;

    *to = (struct pd_dl_sample){
        .size = sizeof *to,
        .ins_lat = parts ? (uint16_t)(sample->weight >> 32) : 0,
        .p_stage_cyc = parts ? (uint16_t)(sample->weight >> 48) : 0,
        .ip = sample->ip,
        .pid = (int32_t)sample->pid,
        .tid = (int32_t)sample->tid,
        .time = sample->time,
        .addr = sample->addr,
        .id = sample->id,
        .stream_id = sample->stream_id,
        .period = sample->period,
        .weight = parts ? (uint32_t)sample->weight : sample->weight,
        .transaction = sample->transaction,
        .cpu = (int32_t)sample->cpu,
        .data_src = sample->data_src,
        .phys_addr = sample->phys_addr,
        .data_page_size = sample->data_page_size,
        .code_page_size = sample->code_page_size,
        .cgroup = sample->cgroup,
        .cpumode = sample->cpumode,
        .addr_correlates_sym = has_place(filter),
        .misc = sample->misc,
        .raw_size = sample->raw ? sample->raw_size : 0,
        .raw_data = sample->raw,
        .event = filter->plan->event->name,
    };
    if (facts) {
        to->insn_cnt = facts->insn_count;
        to->cyc_cnt = facts->cycle_count;
        to->flags = facts->flags;
        to->machine_pid = (int32_t)facts->machine_pid;
        to->vcpu = (int32_t)facts->vcpu;
        to->misc = 0; /* what is made of a trace has none */
    }
    fill_lists(filter, to);
}

bool pd_dlfilter_drops(struct pd_script_worker *worker, const struct pd_script_event *plan,
                       const struct pd_sample *sample, const struct pd_delivered *record,
                       bool early, struct pd_text *text)
{
    struct pd_dlfilter *filter = worker->script->dlfilter;
    int (*call)(void *, const struct pd_dl_sample *,
                void *) = early ? filter->filter.filter_event_early : filter->filter.filter_event;
    struct pd_dl_sample to;

    if (worker->script->filter_failed)
        return true;
    if (!call)
        return false;
    filter->worker = worker;
    filter->plan = plan;
    filter->sample = sample;
    filter->record = record;
    filter->ip.size = filter->addr.size = 0;
    fill_sample(filter, &to);
    FILE *before = capture_begin(filter, text);
    int verdict = call(filter->data, &to, filter);
    capture_end(filter, before);
    filter->sample = NULL;
    worker->script->filter_failed |= verdict < 0;
    return verdict != 0;
}

/* ---- loading ---- */

/* Looks where perf does and in its order: the name as it is, in the current folder, among perf's
 * own filters, wherever the dynamic linker looks. */
static void *load(const char *name)
{
    static const char *const folders[] = { "/usr/lib/perf-core/dlfilters",
                                           "/usr/libexec/perf-core/dlfilters" };
    const char *exec_path = getenv("PERF_EXEC_PATH");
    char path[PATH_ROOM];

    if (strchr(name, '/'))
        return dlopen(name, RTLD_NOW);
    if (access(name, R_OK) == 0) {
        snprintf(path, sizeof path, "./%s", name);
        return dlopen(path, RTLD_NOW);
    }
    for (size_t i = 0; i < PD_LENGTH(folders); i++) {
        if (exec_path && exec_path[0])
            snprintf(path, sizeof path, "%s/dlfilters/%s", exec_path, name);
        else
            snprintf(path, sizeof path, "%s/%s", folders[i], name);
        if (access(path, R_OK) == 0)
            return dlopen(path, RTLD_NOW);
    }
    return dlopen(name, RTLD_NOW);
}

/* Stores the object's function of this name in the member for it. */
static void find_function(void *handle, const char *name, void *member)
{
    void *found = dlsym(handle, name);

    memcpy(member, &found, sizeof found);
}

static bool take_object(struct pd_dlfilter *filter, const char *name)
{
    bool is_built_in = !strcmp(name, "show-cycles");

    filter->handle = is_built_in ? NULL : load(name);
    if (!filter->handle) {
        if (!is_built_in && strcmp(name, "dlfilter-show-cycles.so") != 0)
            return false;
        filter->filter = pd_dl_show_cycles;
        return true;
    }
    find_function(filter->handle, "start", &filter->filter.start);
    find_function(filter->handle, "stop", &filter->filter.stop);
    find_function(filter->handle, "filter_event", &filter->filter.filter_event);
    find_function(filter->handle, "filter_event_early", &filter->filter.filter_event_early);
    void *table = dlsym(filter->handle, "perf_dlfilter_fns");
    if (table)
        memcpy(table, &functions, sizeof functions);
    return true;
}

/* Calls start or stop; what they print comes before or after all lines. */
static int call_outside(struct pd_dlfilter *filter, bool starts)
{
    struct pd_text text = { 0 };
    int result = 0;

    FILE *before = capture_begin(filter, &text);
    if (starts && filter->filter.start)
        result = filter->filter.start(&filter->data, filter);
    else if (!starts && filter->filter.stop)
        result = filter->filter.stop(filter->data, filter);
    capture_end(filter, before);
    if (text.length)
        filter->script->write(filter->script->write_data, text.data, text.length);
    pd_text_free(&text);
    return result;
}

perfdata_status pd_dlfilter_open(struct pd_script *script)
{
    struct pd_context *context = &script->recording->context;
    const char *name = script->options->dlfilter;

    if (!name)
        return PERFDATA_OK;
    struct pd_dlfilter *filter = script->dlfilter = calloc(1, sizeof *filter);
    if (!filter)
        return pd_no_memory(context, "a filter");
    filter->script = script;
    script->perf_exit = 255;
    if (!take_object(filter, name))
        return pd_fail(context, PERFDATA_ERROR_NOT_FOUND, -1, "dlopen failed for: '%s'", name);
    if (filter->handle) {
        cookie_io_functions_t io = { .write = take_printed };
        filter->capture = fopencookie(filter, "w", io);
        if (!filter->capture)
            return pd_no_memory(context, "a filter");
    }
    if (call_outside(filter, true))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "the filter '%s' does not start",
                       name);
    filter->started = true;
    script->perf_exit = -1;
    return PERFDATA_OK;
}

bool pd_dlfilter_is_early(const struct pd_script *script)
{
    return script->dlfilter && script->dlfilter->filter.filter_event_early;
}

perfdata_status pd_dlfilter_close(struct pd_script *script, perfdata_status status)
{
    struct pd_dlfilter *filter = script->dlfilter;

    if (!filter)
        return status;
    bool failed = (filter->started && call_outside(filter, false)) || script->filter_failed;
    if (filter->capture)
        fclose(filter->capture);
    if (filter->handle)
        dlclose(filter->handle);
    pd_vec_free(&filter->swapped);
    free(filter);
    script->dlfilter = NULL;
    if (status || !failed)
        return status;
    script->perf_exit = 255;
    return pd_fail(&script->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                   "the filter '%s' fails", script->options->dlfilter);
}
