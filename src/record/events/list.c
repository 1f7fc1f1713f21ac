/* SPDX-License-Identifier: MIT */
/* The events of this machine by name: the kernel's own, those of its PMUs, tracepoints, probes of
 * programs. */
#include "base/arena.h"
#include "base/text.h"
#include "format/names.h"
#include "record/events/events.h"
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <perfdata/machine_events.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listing {
    struct perfdata_machine_events_options options;
    struct pd_roots roots;
    const char *system; /* of the pattern, in front of ':'; NULL: it has none */
    const char *part;   /* the pattern of names */
    char *pattern;      /* the memory that both point into */
    struct pd_arena arena;
    PD_VEC(struct perfdata_machine_event) list;
    bool no_memory;
};

/* ---- which events are wanted ---- */

static bool has_word(const struct listing *listing, const char *name)
{
    return !listing->part || (name && !fnmatch(listing->part, name, 0));
}

static bool has_pair(const struct listing *listing, const char *system, const char *name)
{
    if (listing->system && fnmatch(listing->system, system, 0) != 0)
        return false;
    return has_word(listing, name);
}

static char *join(struct listing *listing, const char *a, const char *b, const char *c,
                  const char *d)
{
    const char *const parts[] = { a, b, c, d };
    size_t size = 1;
    for (size_t i = 0; i < PD_LENGTH(parts); i++)
        size += strlen(parts[i]);
    char *text = pd_arena_alloc(&listing->arena, size);
    if (text)
        snprintf(text, size, "%s%s%s%s", a, b, c, d);
    listing->no_memory |= !text;
    return text;
}

static void add(struct listing *listing, struct perfdata_machine_event event)
{
    event.struct_size = sizeof event;
    event.parameters = event.parameters ? event.parameters : "";
    if (!event.name || !pd_vec_push(&listing->list, event))
        listing->no_memory = true;
}

/* ---- the kernel's own ---- */

struct symbol {
    uint32_t type;
    uint64_t config;
    const char *name, *alias;
};

static const struct symbol symbols[] = {
#define SYMBOL(type, config, name, alias) { PD_TYPE_##type, config, name, alias },
#include "record/events/events.def"
};

/* Asks the kernel; in a test's own files every event counts as there. */
static bool opens(const struct listing *listing, uint32_t type, uint64_t config)
{
    struct perf_event_attr attr = {
        .type = type, .size = sizeof attr, .config = config, .disabled = 1
    };
    int fd = -1;
    if (listing->roots.root)
        return true;
    for (int round = 0; round < 2 && fd < 0; round++) {
        attr.exclude_kernel = round; /* what anybody may open */
        fd = pd_calls_kernel.event_open(NULL, &attr, 0, -1, -1, 0);
    }
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void list_symbols(struct listing *listing, uint32_t kernel_type, uint32_t type)
{
    if (listing->system)
        return;
    for (size_t i = 0; i < PD_LENGTH(symbols); i++) {
        const struct symbol *symbol = &symbols[i];
        bool wanted = symbol->type == kernel_type &&
                      (has_word(listing, symbol->name) || has_word(listing, symbol->alias));
        if (wanted &&
            (kernel_type == PD_TYPE_SOFTWARE || opens(listing, symbol->type, symbol->config)))
            add(listing, (struct perfdata_machine_event){
                             .type = type, .name = symbol->name, .alias = symbol->alias });
    }
}

static void list_hardware(struct listing *listing)
{
    list_symbols(listing, PD_TYPE_HARDWARE, PERFDATA_EVENT_HARDWARE);
}

static void list_software(struct listing *listing)
{
    list_symbols(listing, PD_TYPE_SOFTWARE, PERFDATA_EVENT_SOFTWARE);
}

static void list_tool(struct listing *listing)
{
    static const char *const names[] = { "duration_time", "user_time", "system_time" };
    for (size_t i = 0; i < PD_LENGTH(names) && !listing->system; i++)
        if (has_word(listing, names[i]))
            add(listing,
                (struct perfdata_machine_event){ .type = PERFDATA_EVENT_TOOL, .name = names[i] });
}

/* Caches and what is done to them: not all are stored to or prefetched into. */
static void list_caches(struct listing *listing)
{
    enum { LOAD = 1, STORE = 2, PREFETCH = 4, ALL = 7 };
    static const char *const names[] = {
#define CACHE(id, name, ...) [id] = name,
#include "record/events/events.def"
    };
    static const uint8_t does[PD_LENGTH(names)] = {
        [PD_CACHE_L1D] = ALL,  [PD_CACHE_L1I] = LOAD | PREFETCH, [PD_CACHE_LL] = ALL,
        [PD_CACHE_DTLB] = ALL, [PD_CACHE_ITLB] = LOAD,           [PD_CACHE_BPU] = LOAD,
        [PD_CACHE_NODE] = ALL
    };
    static const char *const what[][2] = { { "-loads", "-load-misses" },
                                           { "-stores", "-store-misses" },
                                           { "-prefetches", "-prefetch-misses" } };
    for (size_t cache = 0; cache < PD_LENGTH(names) && !listing->system; cache++) {
        for (size_t i = 0; i < 2 * PD_LENGTH(what); i++) {
            size_t action = i / 2, result = i % 2;
            if (!(does[cache] >> action & 1))
                continue;
            char *name = join(listing, names[cache], what[action][result], "", "");
            if (name && has_word(listing, name) &&
                opens(listing, PD_TYPE_HW_CACHE, cache | action << 8 | result << 16))
                add(listing,
                    (struct perfdata_machine_event){ .type = PERFDATA_EVENT_CACHE, .name = name });
        }
    }
}

/* ---- PMUs ---- */

static bool is_property(const char *name)
{
    static const char *const ends[] = { ".scale", ".unit", ".per-pkg", ".snapshot" };
    for (size_t i = 0; i < PD_LENGTH(ends); i++) {
        size_t length = strlen(name), end = strlen(ends[i]);
        if (length > end && !strcmp(name + length - end, ends[i]))
            return true;
    }
    return false;
}

/* "event=0x4,umask=?": ",umask=?" */
static const char *open_terms(struct listing *listing, const char *terms)
{
    const char *out = "";
    while (*terms && out) {
        size_t length = strcspn(terms, ",");
        if (length > 2 && terms[length - 1] == '?' && terms[length - 2] == '=') {
            char *term = pd_arena_copy(&listing->arena, terms, length);
            out = term ? join(listing, out, ",", term, "") : NULL;
        }
        terms += length + (terms[length] == ',');
    }
    listing->no_memory |= !out;
    return out;
}

static void add_pmu_event(struct listing *listing, const char *pmu, const char *name)
{
    char *full = join(listing, pmu, "/", name, "/");
    bool of_cpu = !strcmp(pmu, "cpu");
    if (!full || !(has_word(listing, full) || (of_cpu && has_word(listing, name))))
        return;
    char *terms = pd_roots_read(&listing->roots, NULL, PD_PMU_FOLDER "/%s/events/%s", pmu, name);
    if (terms)
        add(listing, (struct perfdata_machine_event){
                         .type = PERFDATA_EVENT_PMU,
                         .name = full,
                         .alias = of_cpu ? pd_arena_strdup(&listing->arena, name) : NULL,
                         .parameters = open_terms(listing, terms) });
    free(terms);
}

static bool is_tracer(const char *pmu)
{
    static const uint32_t types[] = { PD_AUXTRACE_INTEL_PT, PD_AUXTRACE_INTEL_BTS };
    for (size_t i = 0; i < PD_LENGTH(types); i++)
        if (!strcmp(pd_name_of(&pd_names_auxtrace_type, types[i]), pmu))
            return true;
    return false;
}

static void list_pmus(struct listing *listing)
{
    size_t count;
    char **pmus = listing->system ? NULL : pd_roots_list(&listing->roots, &count, PD_PMU_FOLDER);
    for (size_t i = 0; pmus && i < count; i++) {
        size_t events;
        char **names = pd_roots_list(&listing->roots, &events, PD_PMU_FOLDER "/%s/events", pmus[i]);
        for (size_t k = 0; k < events; k++)
            if (!is_property(names[k]))
                add_pmu_event(listing, pmus[i], names[k]);
        free(names);
        /* Traces have no events: the unit itself is one. */
        char *whole = join(listing, pmus[i], "//", "", "");
        if (whole && is_tracer(pmus[i]) && has_word(listing, whole))
            add(listing,
                (struct perfdata_machine_event){ .type = PERFDATA_EVENT_PMU, .name = whole });
    }
    free(pmus);
}

/* ---- tracepoints ---- */

static void list_tracepoints(struct listing *listing)
{
    const char *tracefs = pd_tracefs(&listing->roots);
    size_t count = 0;
    char **systems = tracefs ? pd_roots_list(&listing->roots, &count, "%s/events", tracefs) : NULL;
    for (size_t i = 0; i < count; i++) {
        size_t events;
        char **names = pd_roots_list(&listing->roots, &events, "%s/events/%s", tracefs, systems[i]);
        for (size_t k = 0; k < events; k++)
            if (has_pair(listing, systems[i], names[k]) &&
                pd_roots_number(&listing->roots, -1, "%s/events/%s/%s/id", tracefs, systems[i],
                                names[k]) >= 0)
                add(listing, (struct perfdata_machine_event){
                                 .type = PERFDATA_EVENT_TRACEPOINT,
                                 .name = join(listing, systems[i], ":", names[k], "") });
        free(names);
    }
    free(systems);
}

/* ---- probes in the build-id cache ---- */

/* "%sdt_lib:name=name" in a file of perf buildid-cache. */
static void add_probes(struct listing *listing, char *text, const char *path, const char *build_id)
{
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        char *name = strchr(line, ':'), *end = strchr(line, '=');
        if (*line != '%' || !name || !end || name > end)
            continue;
        *name++ = *end = 0;
        if (has_pair(listing, line + 1, name))
            add(listing,
                (struct perfdata_machine_event){ .type = PERFDATA_EVENT_SDT,
                                                 .name = join(listing, line + 1, ":", name, ""),
                                                 .path = path,
                                                 .build_id = build_id });
    }
}

static void list_folder(struct listing *listing, const struct pd_roots *cache, const char *head)
{
    size_t count;
    char **tails = pd_roots_list(cache, &count, "/.build-id/%s", head);
    for (size_t i = 0; i < count; i++) {
        char link[PD_PATH_SIZE], target[PD_PATH_SIZE];
        char *text = pd_roots_read(cache, NULL, "/.build-id/%s/%s/probes", head, tails[i]);
        ssize_t length = -1;
        if (text && *text && pd_roots_path(cache, link, "/.build-id/%s/%s", head, tails[i]))
            length = readlink(link, target, sizeof target - 1);
        char *end = NULL;
        if (length > 0) {
            target[length] = 0;
            end = strrchr(target, '/');
        }
        if (end) { /* "../..", the program's path, "/", its build-id */
            *end = 0;
            char *from = target;
            while (!strncmp(from, "../", 3))
                from += 3;
            char *path = join(listing, "/", from, "", ""),
                 *build_id = join(listing, head, tails[i], "", "");
            if (path && build_id)
                add_probes(listing, text, path, build_id);
        }
        free(text);
    }
    free(tails);
}

static void list_probes(struct listing *listing)
{
    const struct perfdata_machine_events_options *options = &listing->options;
    const char *folder = options->build_id_dir;
    if (!folder && options->home)
        folder = join(listing, options->home, "/.debug", "", "");
    struct pd_roots cache = { folder };
    size_t count = 0;
    char **heads = folder ? pd_roots_list(&cache, &count, "/.build-id") : NULL;
    for (size_t i = 0; i < count; i++)
        list_folder(listing, &cache, heads[i]);
    free(heads);
}

/* ---- all of them ---- */

static int by_name(const void *left, const void *right)
{
    const struct perfdata_machine_event *a = left, *b = right;
    /* The CPU's own come first. */
    bool a_cpu = a->type == PERFDATA_EVENT_PMU && a->alias,
         b_cpu = b->type == PERFDATA_EVENT_PMU && b->alias;
    if (a_cpu != b_cpu)
        return a_cpu ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order || !a->build_id || !b->build_id ? order : strcmp(a->build_id, b->build_id);
}

static perfdata_status give(struct listing *listing, bool sorted, perfdata_machine_event_fn each,
                            void *data)
{
    perfdata_status status = listing->no_memory ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
    if (sorted && listing->list.count)
        qsort(listing->list.data, listing->list.count, sizeof *listing->list.data, by_name);
    for (size_t i = 0; i < listing->list.count && status == PERFDATA_OK; i++)
        status = (perfdata_status)each(data, &listing->list.data[i]);
    listing->list.count = 0;
    pd_arena_empty(&listing->arena);
    return status;
}

static bool set_pattern(struct listing *listing)
{
    const char *pattern = listing->options.pattern;
    const char *colon = pattern ? strchr(pattern, ':') : NULL;
    if (colon) {
        listing->pattern = strdup(pattern);
        if (listing->pattern) {
            listing->pattern[colon - pattern] = 0;
            listing->system = listing->pattern;
            listing->part = listing->pattern + (colon - pattern) + 1;
        }
    } else if (pattern) {
        if (asprintf(&listing->pattern, "*%s*", pattern) < 0)
            listing->pattern = NULL;
        listing->part = listing->pattern;
    }
    return !pattern || listing->part;
}

perfdata_status perfdata_machine_events(const struct perfdata_machine_events_options *options,
                                        perfdata_machine_event_fn each, void *data)
{
    static void (*const lists[])(
        struct listing *) = { list_hardware, list_software,    list_tool,  list_caches,
                              list_pmus,     list_tracepoints, list_probes };
    struct listing listing = { 0 };
    struct pd_context context = { 0 };
    if (!options || !each)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = pd_take_options(&context, &listing.options, sizeof listing.options,
                                             options);
    if (status < 0)
        return status;
    listing.roots.root = listing.options.root;
    uint32_t types = listing.options.types ? listing.options.types : UINT32_MAX;
    if (!set_pattern(&listing))
        status = PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < PD_LENGTH(lists) && status == PERFDATA_OK; i++) {
        if (!(types >> i & 1))
            continue;
        lists[i](&listing);
        status = give(&listing, 1 << i != PERFDATA_EVENT_TOOL, each, data);
    }
    free(listing.pattern);
    pd_vec_free(&listing.list);
    pd_arena_free(&listing.arena);
    return status;
}

/* ---- JSON ---- */

static void put_field(struct pd_text *out, const char *key, const char *value)
{
    if (!value)
        return;
    pd_text_format(out, ",\"%s\":", key);
    pd_text_json(out, value, strlen(value));
}

perfdata_status perfdata_machine_event_json(const struct perfdata_machine_event *event,
                                            perfdata_write_fn write, void *data)
{
    static const char *const types[] = { "hardware", "software",   "tool", "cache",
                                         "pmu",      "tracepoint", "sdt" };
    struct pd_text text = { 0 };
    if (!event || !write || !event->type)
        return PERFDATA_ERROR_ARGUMENT;
    unsigned type = (unsigned)__builtin_ctz(event->type);
    if (type >= PD_LENGTH(types))
        return PERFDATA_ERROR_ARGUMENT;
    pd_text_format(&text, "{\"type\":\"%s\"", types[type]);
    put_field(&text, "name", event->name);
    put_field(&text, "alias", event->alias);
    put_field(&text, "parameters", *event->parameters ? event->parameters + 1 : NULL);
    put_field(&text, "path", event->path);
    put_field(&text, "build_id", event->build_id);
    pd_text_string(&text, "}\n");
    perfdata_status status = text.failed ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
    if (status == PERFDATA_OK && write(data, text.data, text.length))
        status = PERFDATA_ERROR_OUTPUT;
    pd_text_free(&text);
    return status;
}
