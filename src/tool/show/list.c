/* SPDX-License-Identifier: MIT */
/* list: the events that this machine can record. */
#include "tool/input.h"
#include "tool/options.h"
#include "tool/verbs.h"
#include <perfdata/machine_events.h>
#include <perfdata/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct list_options {
    int raw, json;
    const char *root, *cpu_type;
};

#define FIELD(name) offsetof(struct list_options, name)

static const struct tool_option list_rows[] = {
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 0, "raw-dump", NULL, "names only, in one line", FIELD(raw) },
    { TOOL_FLAG, 0, "json", NULL, "an object for each event", FIELD(json), .flags = TOOL_OURS },
    { TOOL_STRING, 0, "cputype", "TYPE",
      "as in perf, tells that there are no types of CPUs, and lists all; refused where there are",
      FIELD(cpu_type) },
    { TOOL_GROUP, .help = "Input" },
    { TOOL_STRING, 0, "root", "DIR", "a folder that has /sys of another machine", FIELD(root),
      .flags = TOOL_OURS },
    { 0 },
};

enum { WIDTH = 50 };

struct listing {
    struct tool *tool;
    const struct list_options *options;
    /* A probe is shown with its program only where several have its name: it is held back until the
     * next one is known. */
    char *probe, *place;
    bool is_one_of_several;
};

static const struct {
    uint32_t type;
    const char *text;
} types[] = {
    { PERFDATA_EVENT_HARDWARE, "Hardware event" },
    { PERFDATA_EVENT_SOFTWARE, "Software event" },
    { PERFDATA_EVENT_TOOL, "Tool event" },
    { PERFDATA_EVENT_CACHE, "Hardware cache event" },
    { PERFDATA_EVENT_PMU, "Kernel PMU event" },
    { PERFDATA_EVENT_TRACEPOINT, "Tracepoint event" },
    { PERFDATA_EVENT_SDT, "SDT event" },
};

static size_t type_of(const struct perfdata_machine_event *event)
{
    size_t i = 0;
    while (i + 1 < TOOL_LENGTH(types) && types[i].type != event->type)
        i++;
    return i;
}

static void put_line(struct tool *tool, const char *name, const char *kind)
{
    tool_printf(tool, "  %-*s [%s]\n", WIDTH, name, kind);
}

/* ---- probes ---- */

static void put_waiting(struct listing *listing, bool same_follows)
{
    if (!listing->probe)
        return;
    char *name = NULL;
    bool placed = listing->is_one_of_several || same_follows;
    if (asprintf(&name, "%s%s", listing->probe, placed ? listing->place : "") >= 0)
        put_line(listing->tool, name, "SDT event");
    free(name);
    free(listing->probe);
    free(listing->place);
    listing->probe = listing->place = NULL;
    listing->is_one_of_several = same_follows;
}

static bool take_probe(struct listing *listing, const struct perfdata_machine_event *event)
{
    put_waiting(listing, listing->probe && !strcmp(listing->probe, event->name));
    listing->probe = strdup(event->name);
    if (!listing->probe ||
        asprintf(&listing->place, "@%s(%.12s)", event->path, event->build_id) < 0)
        listing->place = NULL;
    return listing->place != NULL;
}

/* ---- events ---- */

/* "cpu/param,umask=?/" */
static void put_raw(struct tool *tool, const struct perfdata_machine_event *event)
{
    size_t length = strlen(event->name);
    bool has_terms = *event->parameters && length;
    tool_printf(tool, "%.*s%s%s ", (int)(length - has_terms), event->name, event->parameters,
                has_terms ? "/" : "");
}

static int take_event(void *data, const struct perfdata_machine_event *event)
{
    struct listing *listing = data;
    struct tool *tool = listing->tool;
    const char *kind = types[type_of(event)].text;
    bool is_pmu = event->type == PERFDATA_EVENT_PMU;
    char *both = NULL;
    if (listing->options->json) {
        return perfdata_machine_event_json(event, tool_write_text, tool);
    } else if (listing->options->raw) {
        put_raw(tool, event);
    } else if (event->type == PERFDATA_EVENT_SDT) {
        if (!take_probe(listing, event))
            return PERFDATA_ERROR_MEMORY;
    } else if (event->alias) {
        if (asprintf(&both, "%s OR %s", is_pmu ? event->alias : event->name,
                     is_pmu ? event->name : event->alias) < 0)
            return PERFDATA_ERROR_MEMORY;
        put_line(tool, both, kind);
        free(both);
    } else {
        put_line(tool, event->name, kind);
    }
    return tool_output_ok(tool) ? 0 : PERFDATA_ERROR_OUTPUT;
}

/* ---- what is asked for ---- */

static uint32_t types_of_word(const char *word)
{
    static const struct {
        const char *name, *other;
        uint32_t types;
    } words[] = {
        { "hw", "hardware", PERFDATA_EVENT_HARDWARE },
        { "sw", "software", PERFDATA_EVENT_SOFTWARE | PERFDATA_EVENT_TOOL },
        { "cache", "hwcache", PERFDATA_EVENT_CACHE },
        { "pmu", "pmu", PERFDATA_EVENT_PMU },
        { "tracepoint", "tracepoint", PERFDATA_EVENT_TRACEPOINT },
        { "sdt", "sdt", PERFDATA_EVENT_SDT },
    };
    for (size_t i = 0; i < TOOL_LENGTH(words); i++)
        if (!strcmp(word, words[i].name) || !strcmp(word, words[i].other))
            return words[i].types;
    return 0;
}

static enum tool_exit list_some(struct listing *listing, const char *pattern, uint32_t which)
{
    struct tool *tool = listing->tool;
    struct perfdata_machine_events_options options = {
        .struct_size = sizeof options,
        .types = which,
        .pattern = pattern,
        .build_id_dir = tool->build_id_dir,
        .home = getenv("HOME"),
        .root = listing->options->root,
    };
    perfdata_status status = perfdata_machine_events(&options, take_event, listing);
    put_waiting(listing, false);
    return status == PERFDATA_OK ? TOOL_DONE : tool_failure(tool, status, "list", NULL);
}

static enum tool_exit list_all(struct listing *listing)
{
    const uint32_t first = PERFDATA_EVENT_HARDWARE | PERFDATA_EVENT_SOFTWARE | PERFDATA_EVENT_TOOL |
                           PERFDATA_EVENT_CACHE | PERFDATA_EVENT_PMU;
    enum tool_exit code = list_some(listing, NULL, first);
    if (!listing->options->raw && !listing->options->json) {
        put_line(listing->tool, "rNNN", "Raw hardware event descriptor");
        put_line(listing->tool, "cpu/t1=v1[,t2=v2,t3 ...]/modifier",
                 "Raw hardware event descriptor");
        put_line(listing->tool, "mem:<addr>[/len][:access]", "Hardware breakpoint");
    }
    if (code == TOOL_DONE)
        code = list_some(listing, NULL, PERFDATA_EVENT_TRACEPOINT | PERFDATA_EVENT_SDT);
    return code;
}

static bool is_metric(const char *word)
{
    static const char *const words[] = { "metric", "metrics", "metricgroup", "metricgroups" };
    for (size_t i = 0; i < TOOL_LENGTH(words); i++)
        if (!strcmp(word, words[i]))
            return true;
    return false;
}

/* Machines with CPUs of several types have a unit of events for each. */
static enum tool_exit check_cpu_type(struct tool *tool, const char *root)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/sys/bus/event_source/devices/cpu_core", root ? root : "");
    if (!access(path, F_OK))
        return tool_usage(tool, "option --cputype: the events of one type of CPUs are not told "
                                "apart yet");
    fputs("WARNING: hybrid cputype is not supported!\n", stderr);
    return TOOL_DONE;
}

static enum tool_exit run_list(struct tool *tool, void *data, int argc, char **argv)
{
    struct listing listing = { .tool = tool, .options = data };
    enum tool_exit code = TOOL_DONE;
    if (listing.options->cpu_type)
        code = check_cpu_type(tool, listing.options->root);
    if (code != TOOL_DONE)
        return code;
    if (listing.options->raw && listing.options->json)
        return tool_usage(tool, "--raw-dump and --json: one of them");
    for (int i = 0; i < argc; i++)
        if (is_metric(argv[i]))
            return tool_usage(
                tool, "%s: metrics are tables of perf's, not of this machine: perf has them",
                argv[i]);
    if (!argc)
        return list_all(&listing);
    for (int i = 0; i < argc && code == TOOL_DONE; i++) {
        uint32_t which = types_of_word(argv[i]);
        code = list_some(&listing, which ? NULL : argv[i], which);
    }
    return code;
}

const struct tool_verb tool_verb_list = {
    .name = "list",
    .synopsis = "[OPTIONS] [hw|sw|cache|tracepoint|pmu|sdt|PATTERN ...]",
    .description =
        "Prints the events that can be recorded here, as -e of record takes them: all, those of a "
        "kind, or those that\na pattern of the shell finds anywhere in their names (with ':': "
        "system and name of tracepoints).\n\nThe kernel is asked which hardware events it opens. "
        "Tables of events and metrics that CPU makers\npublish are perf's own data: they are not "
        "in it.",
    .examples = { "list sw", "what the kernel counts by itself", "list 'sched:*switch*'",
                  "tracepoints of the scheduler" },
    .options = list_rows,
    .options_size = sizeof(struct list_options),
    .run = run_list,
    .flags = TOOL_VERB_PERF,
};
