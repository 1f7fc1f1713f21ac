/* SPDX-License-Identifier: MIT */
/* A report whose tables are walked through: <perfdata/report_rows.h>. */
#include "base/memory.h"
#include "container/handle.h"
#include "render/report/draw.h"
#include "render/report/rows.h"
#include "render/report/run.h"
#include "render/report/settings.h"
#include <perfdata/report_rows.h>
#include <stdlib.h>

struct table {
    struct pd_report_table base;
    struct pd_text name;
    uint64_t samples, whole; /* `whole`: what 100 % stands for, as printed */
    const struct pd_hist_row **rows;
    uint32_t row_count, event_count;
};

struct perfdata_report {
    struct pd_report run;
    struct perfdata_report_options options;
    struct pd_report_settings settings;
    struct table *tables;
    uint32_t table_count;
    struct pd_text text;
    struct pd_report_making making;
    struct pd_chain_tree tree;
};

/* ---- opening ---- */

/* Refuses options that have no place in a table of rows. Lines of text may be cut and coloured,
 * cells may not. */
static perfdata_status check(struct pd_context *context,
                             const struct perfdata_report_options *options, bool cells_only)
{
    uint64_t never = PERFDATA_REPORT_HEADER | PERFDATA_REPORT_HEADER_ONLY |
                     PERFDATA_REPORT_HEADER_FULL | PERFDATA_REPORT_STATS | PERFDATA_REPORT_TASKS |
                     PERFDATA_REPORT_MMAPS | PERFDATA_REPORT_DUMP;
    const char *wrong = options->flags & never                          ? "another view or a header"
                        : options->flags & PERFDATA_REPORT_HIERARCHY    ? "a hierarchy"
                        : options->flags & PERFDATA_REPORT_TOTAL_CYCLES ? "blocks of code"
                        : options->flags & PERFDATA_REPORT_THREAD_COUNTS ? "counts of threads"
                        : !cells_only                                    ? NULL
                        : options->flags & PERFDATA_REPORT_COLOR         ? "colours"
                        : options->separator                             ? "a separator"
                        : options->column_widths                         ? "widths of columns"
                                                                         : NULL;
    return wrong ? pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "rows have no place for %s", wrong)
                 : PERFDATA_OK;
}

static bool list_rows(struct table *table)
{
    const struct pd_hist_event *event = table->base.event;
    table->rows = calloc(event->rows.count + 1, sizeof(struct pd_hist_row *));
    if (!table->rows)
        return false;
    for (size_t i = 0; i < event->rows.count; i++) {
        const struct pd_hist_row *row = event->rows.data[i];
        if (!row->filtered && !pd_report_is_below_limit(&table->base, row))
            table->rows[table->row_count++] = row;
    }
    return true;
}

static perfdata_status make_table(perfdata_report *report, const struct pd_report_group *group)
{
    struct pd_report *run = &report->run;
    struct table *table = &report->tables[report->table_count++];
    table->base = pd_report_table_of(run, group);
    table->event_count = (uint32_t)group->count;
    table->whole = table->base.total;
    for (size_t i = 0; i < group->count; i++) {
        const struct pd_hist_event *event = &run->result.events[group->events[i]];
        table->samples += run->plan.relative ? event->count_unfiltered : event->count;
    }
    pd_report_group_names(&run->groups, group, &table->name);
    pd_text_char(&table->name, '\0');
    perfdata_status status = pd_report_fields_measure(&table->base);
    pd_report_measure(&table->base);
    if (status == 0 && (!list_rows(table) || table->name.failed))
        status = PERFDATA_ERROR_MEMORY;
    return status;
}

static perfdata_status make_tables(perfdata_report *report)
{
    struct pd_report_groups *groups = &report->run.groups;
    perfdata_status status = pd_report_prepare(&report->run);
    if (status < 0)
        return status;
    report->tables = calloc(groups->count + 1, sizeof *report->tables);
    if (!report->tables)
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < groups->count && status == 0; i++)
        if (pd_report_is_drawn(&report->run, groups->list[i].events[0]))
            status = make_table(report, &groups->list[i]);
    return status;
}

static perfdata_status count_rows(perfdata_report *report)
{
    struct pd_report *run = &report->run;
    struct pd_context *context = &run->recording->context;
    perfdata_status status = pd_report_start(run);
    if (status == 0 && run->plan.itrace.log)
        status = pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                         "rows have no place for the log of a trace");
    if (status == 0)
        status = pd_report_fit(run);
    if (status == 0)
        status = pd_report_count(run);
    if (status == 0)
        status = make_tables(report);
    return status == 0 ? pd_analysis_status(context, status) : status;
}

static int drop_text(void *data, const char *text, size_t length)
{
    (void)data, (void)text, (void)length;
    return 0;
}

/* Reads and counts; report->options must be complete and allowed. */
static perfdata_status read_all(perfdata_report *report, struct pd_recording *recording)
{
    report->run = (struct pd_report){ .recording = recording,
                                      .options = &report->options,
                                      .write = drop_text,
                                      .last_mispredict = "N/A" };
    perfdata_status status = pd_report_settings_take(&recording->context, &report->options,
                                                     &report->settings);
    if (status < 0)
        report->run.perf_exit = 255;
    else
        status = count_rows(report);
    if (status == PERFDATA_ERROR_MEMORY)
        pd_fail(&recording->context, status, -1, "no memory for the report");
    return status;
}

static struct perfdata_report_result result_of(const perfdata_report *report)
{
    return (struct perfdata_report_result){ .perf_exit = report->run.perf_exit,
                                            .trace_errors = report->run.trace_errors };
}

perfdata_status perfdata_report_open(perfdata_recording *recording,
                                     const struct perfdata_report_options *options,
                                     struct perfdata_report_result *result, perfdata_report **out)
{
    if (!out)
        return PERFDATA_ERROR_ARGUMENT;
    *out = NULL;
    if (!recording || !options || !recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_context *context = &recording->recording.context;
    perfdata_report *report = calloc(1, sizeof *report);
    if (!report)
        return pd_no_memory(context, "the report");
    perfdata_status status = pd_take_options(context, &report->options, sizeof report->options,
                                             options);
    if (status == 0)
        status = check(context, &report->options, false);
    if (status == 0)
        status = read_all(report, &recording->recording);
    struct perfdata_report_result told = result_of(report);
    pd_give_result(result, &told, sizeof told);
    if (status < 0)
        perfdata_report_close(report);
    else
        *out = report;
    return status;
}

void perfdata_report_close(perfdata_report *report)
{
    if (!report)
        return;
    for (uint32_t i = 0; i < report->table_count; i++) {
        pd_text_free(&report->tables[i].name);
        free(report->tables[i].base.field_widths);
        free(report->tables[i].rows);
    }
    free(report->tables);
    pd_text_free(&report->text);
    pd_report_making_free(&report->making);
    pd_chain_tree_free(&report->tree);
    (void)pd_report_end(&report->run, PERFDATA_OK);
    pd_report_plan_free(&report->run.plan);
    free(report);
}

/* ---- tables and rows ---- */

uint32_t perfdata_report_table_count(const perfdata_report *report)
{
    return report->table_count;
}

perfdata_status perfdata_report_table(const perfdata_report *report, uint32_t index,
                                      struct perfdata_report_table *out)
{
    if (index >= report->table_count || !out)
        return PERFDATA_ERROR_ARGUMENT;
    const struct table *table = &report->tables[index];
    struct perfdata_report_table told = {
        .name = table->name.data,
        .samples = table->samples,
        .period = table->whole,
        .row_count = table->row_count,
        .has_chains = table->base.chains != NULL,
        .has_children = report->run.plan.hist.children,
        .event_count = table->event_count,
    };
    pd_give_result(out, &told, sizeof told);
    return PERFDATA_OK;
}

void perfdata_report_set_total(perfdata_report *report, uint32_t index, uint64_t total)
{
    if (index < report->table_count) {
        struct table *table = &report->tables[index];
        table->base.total = total ? total : table->whole;
    }
}

static const struct pd_hist_row *row_at(const perfdata_report *report, uint32_t table, uint32_t row)
{
    return table < report->table_count && row < report->tables[table].row_count
               ? report->tables[table].rows[row]
               : NULL;
}

/* The text, without its line end. */
static const char *finish_text(struct pd_text *text)
{
    if (text->length && text->data[text->length - 1] == '\n')
        text->length--;
    pd_text_char(text, '\0');
    if (!text->failed)
        return text->data;
    pd_text_free(text);
    *text = (struct pd_text){ 0 };
    return NULL;
}

const char *perfdata_report_title_text(perfdata_report *report, uint32_t table, uint32_t flags)
{
    report->text.length = 0;
    if (table >= report->table_count)
        return NULL;
    report->tables[table].base.periods = flags & PERFDATA_REPORT_TEXT_PERIODS;
    if (flags & PERFDATA_REPORT_TEXT_RULES)
        pd_report_rule_line(&report->tables[table].base, &report->text);
    else
        pd_report_title_line(&report->tables[table].base, &report->text);
    return finish_text(&report->text);
}

const char *perfdata_report_row_text(perfdata_report *report, uint32_t table, uint32_t row,
                                     uint32_t flags)
{
    const struct pd_hist_row *at = row_at(report, table, row);
    report->text.length = 0;
    if (!at)
        return NULL;
    report->run.last_mispredict = "N/A"; /* the row before depends on the caller's order */
    report->tables[table].base.periods = flags & PERFDATA_REPORT_TEXT_PERIODS;
    pd_report_row_line(&report->tables[table].base, at, &report->text);
    const char *text = finish_text(&report->text);
    bool led = text &&
               !report->options.separator; /* two blanks, in place of what stands there in print */
    return led ? text + 2 : text;
}

static bool has_chains(const struct table *table, const struct pd_hist_row *row)
{
    const struct pd_chain_index *chains = table->base.chains;
    return chains && row->index < table->base.result->row_count_with_entry &&
           chains->begin[row->index] != chains->begin[row->index + 1];
}

static void about(const perfdata_report *report, const struct table *table,
                  const struct pd_hist_row *row, struct perfdata_report_row *out)
{
    const struct pd_hist_first *first = &row->entry->first;
    const struct pd_comm *comm = first->thread ? pd_thread_comm(first->thread, UINT64_MAX) : NULL;
    const char *name = row->comm ? row->comm : comm ? pd_comm_final_text(comm) : NULL;
    const char *object = row->dso ? row->dso
                         : first->dso
                             ? pd_symbols_short_name(report->run.session.symbols, first->dso)
                             : NULL;
    *out = (struct perfdata_report_row){
        .struct_size = sizeof *out,
        .event = table->base.events[0],
        .event_name = report->run.recording->events[table->base.events[0]]->name,
        .total = table->base.total,
        .period = row->period,
        .samples = row->count,
        .children_period = report->run.plan.hist.children ? row->children_period : row->period,
        .comm = name ? name : "",
        .object = object ? object : "[unknown]",
        .symbol = first->symbol ? first->symbol->name : NULL,
        .address = first->symbol ? first->symbol->start : row->addr,
        .pid = first->thread ? pd_thread_pid(first->thread, UINT64_MAX) : UINT32_MAX,
        .tid = first->thread ? (uint32_t)first->thread->tid : UINT32_MAX,
        .is_kernel = first->dso && (first->dso->kind == PD_DSO_KERNEL || first->level == 'k'),
        .has_chains = has_chains(table, row),
    };
}

static perfdata_status make_row(perfdata_report *report, const struct table *table,
                                const struct pd_hist_row *row, struct perfdata_report_row *out)
{
    report->making.table = &table->base;
    perfdata_status status = pd_report_make_cells(&report->making, row);
    about(report, table, row, out);
    out->cells = report->making.cells.data;
    out->cell_count = report->making.cells.count;
    return status;
}

perfdata_status perfdata_report_row(perfdata_report *report, uint32_t table, uint32_t row,
                                    struct perfdata_report_row *out)
{
    const struct pd_hist_row *at = row_at(report, table, row);
    struct perfdata_report_row told;
    if (!at || !out)
        return PERFDATA_ERROR_ARGUMENT;
    report->run.last_mispredict = "N/A";
    perfdata_status status = make_row(report, &report->tables[table], at, &told);
    if (status == 0)
        pd_give_result(out, &told, sizeof told);
    return status;
}

/* ---- all rows at once ---- */

static perfdata_status give_rows(perfdata_report *report, perfdata_report_row_fn give, void *data)
{
    perfdata_status status = PERFDATA_OK;
    for (uint32_t t = 0; t < report->table_count; t++) {
        const struct table *table = &report->tables[t];
        for (uint32_t i = 0; i < table->row_count && status == 0; i++) {
            struct perfdata_report_row row;
            status = make_row(report, table, table->rows[i], &row);
            if (status == 0 && give(data, &row))
                status = PERFDATA_ERROR_CANCELLED;
        }
    }
    return status;
}

/* Whether rows depend on chains, which are then gathered although they are not given out.
 * Without them a trace has no callers to count its samples for, and rows of equal weight would
 * stand in another order. */
static bool is_made_of_chains(const struct perfdata_report_options *options)
{
    return !(options->flags & PERFDATA_REPORT_NO_CHILDREN) || options->parent ||
           (options->sort && strstr(options->sort, "parent")) ||
           (options->fields && strstr(options->fields, "parent"));
}

perfdata_status pd_report_each_row(perfdata_recording *recording,
                                   const struct perfdata_report_options *options,
                                   perfdata_report_row_fn give, void *data,
                                   struct perfdata_report_result *told)
{
    struct pd_context *context = &recording->recording.context;
    *told = (struct perfdata_report_result){ .perf_exit = 255 };
    perfdata_status status = check(context, options, true);
    if (status < 0)
        return status;
    perfdata_report *report = calloc(1, sizeof *report);
    if (!report)
        return pd_no_memory(context, "the report");
    report->options = *options;
    report->options.flags |= PERFDATA_REPORT_QUIET;
    if (!is_made_of_chains(options))
        report->options.flags |= PERFDATA_REPORT_NO_CALL_GRAPH;
    status = read_all(report, &recording->recording);
    if (status == 0)
        status = give_rows(report, give, data);
    *told = result_of(report);
    perfdata_report_close(report);
    return status;
}

perfdata_status perfdata_report_rows(perfdata_recording *recording,
                                     const struct perfdata_report_options *options,
                                     perfdata_report_row_fn row, void *data,
                                     struct perfdata_report_result *result)
{
    struct perfdata_report_options known = { 0 };
    if (!recording || !options || !row)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = pd_handle_options(recording, &known, sizeof known, options);
    if (status < 0)
        return status;
    struct perfdata_report_result told;
    status = pd_report_each_row(recording, &known, row, data, &told);
    pd_give_result(result, &told, sizeof told);
    return status;
}

/* ---- chains ---- */

/* Where the texts of a frame stand. */
struct place {
    size_t name, value;
};

struct lines {
    const perfdata_report *report;
    const struct pd_report_table *table;
    uint64_t row_hits;
    PD_VEC(struct perfdata_report_frame) frames;
    PD_VEC(struct place) places; /* per frame */
    struct pd_text text;
    bool failed;
};

/* A node whose children are being put. */
struct open_node {
    uint32_t next;   /* child */
    uint32_t parent; /* the frame that they stand below */
    uint64_t total;  /* 100 % of them */
};

/* A node's weight tells nothing new where it is all of what its parent has. */
static bool needs_value(const struct lines *lines, uint32_t id)
{
    const struct pd_chain_node *nodes = lines->report->tree.nodes.data, *node = &nodes[id];
    if (node->parent == PD_HIST_NONE)
        return true;
    const struct pd_chain_node *above = &nodes[node->parent];
    uint64_t hits = node->parent ? pd_chain_hits(above) : lines->row_hits;
    return node->next != PD_HIST_NONE || above->child != id || pd_chain_hits(node) != hits;
}

static void put_frame(struct lines *lines, uint32_t id, uint32_t index, uint32_t parent,
                      uint64_t total)
{
    const struct pd_chain_tree *tree = &lines->report->tree;
    const struct pd_chain_node *node = &tree->nodes.data[id];
    bool last = index + 1 == node->frame_count;
    struct perfdata_report_frame frame = {
        .parent = parent,
        .depth = parent < lines->frames.count ? lines->frames.data[parent].depth + 1 : 0,
        .has_below = (!index && !last) || (last && node->child != PD_HIST_NONE),
        .period = pd_chain_hits(node),
        .samples = pd_chain_count(node),
    };
    struct place place = { .name = lines->text.length };
    pd_report_frame_name(lines->table, tree, node->first_frame + index, &lines->text);
    pd_text_char(&lines->text, '\0');
    place.value = lines->text.length;
    if (!index && needs_value(lines, id))
        pd_report_chain_value(lines->table, node, total, &lines->text);
    pd_text_char(&lines->text, '\0');
    lines->failed |= !pd_vec_push(&lines->frames, frame) || !pd_vec_push(&lines->places, place) ||
                     lines->frames.count == UINT32_MAX;
}

/* The first frame carries the weight and the others stand below it. Returns the frame below which
 * the node's children stand. */
static uint32_t put_node(struct lines *lines, uint32_t id, uint32_t parent, uint64_t total)
{
    uint32_t count = lines->report->tree.nodes.data[id].frame_count,
             first = (uint32_t)lines->frames.count;
    for (uint32_t i = 0; i < count && !lines->failed; i++)
        put_frame(lines, id, i, i ? first : parent, total);
    return count ? first + count - 1 : parent;
}

static void put_tree(struct lines *lines)
{
    const struct pd_chain_tree *tree = &lines->report->tree;
    bool fractal = lines->table->plan->chains.mode == PD_CHAIN_FRACTAL;
    PD_VEC(struct open_node) stack = { 0 };
    struct open_node root = { .next = tree->nodes.count ? tree->nodes.data[0].child : PD_HIST_NONE,
                              .parent = UINT32_MAX,
                              .total = fractal ? lines->row_hits : lines->table->chain_total };
    lines->failed |= !pd_vec_push(&stack, root);
    while (stack.count && !lines->failed) {
        struct open_node *open = &stack.data[stack.count - 1];
        uint32_t id = open->next;
        if (id == PD_HIST_NONE) {
            stack.count--;
            continue;
        }
        const struct pd_chain_node *node = &tree->nodes.data[id];
        open->next = node->next;
        struct open_node below = { .next = node->child,
                                   .parent = put_node(lines, id, open->parent, open->total),
                                   .total = fractal ? node->below_hits : open->total };
        lines->failed |= !pd_vec_push(&stack, below);
    }
    pd_vec_free(&stack);
}

/* Copies the frames and their texts into one piece of memory. */
static struct perfdata_report_frame *joined(const struct lines *lines)
{
    size_t size = lines->frames.count * sizeof *lines->frames.data;
    char *made = lines->failed || lines->text.failed ? NULL : malloc(size + lines->text.length + 1);
    if (!made)
        return NULL;
    if (size)
        memcpy(made, lines->frames.data, size);
    if (lines->text.length)
        memcpy(made + size, lines->text.data, lines->text.length);
    struct perfdata_report_frame *frames = (struct perfdata_report_frame *)(void *)made;
    for (size_t i = 0; i < lines->frames.count; i++) {
        frames[i].name = made + size + lines->places.data[i].name;
        frames[i].value = made + size + lines->places.data[i].value;
    }
    return frames;
}

perfdata_status perfdata_report_chains(perfdata_report *report, uint32_t index, uint32_t row,
                                       struct perfdata_report_frame **frames, size_t *count)
{
    const struct pd_hist_row *at = row_at(report, index, row);
    if (!at || !frames || !count)
        return PERFDATA_ERROR_ARGUMENT;
    const struct table *table = &report->tables[index];
    *frames = NULL;
    *count = 0;
    if (!has_chains(table, at))
        return PERFDATA_OK;
    const struct pd_report_plan *plan = &report->run.plan;
    const struct pd_chain_index *chains = table->base.chains;
    uint64_t begin = chains->begin[at->index], end = chains->begin[at->index + 1];
    bool is_tree = plan->chains.mode == PD_CHAIN_GRAPH || plan->chains.mode == PD_CHAIN_FRACTAL;
    perfdata_status status = pd_chain_build(&report->run.counts.hist, chains->items + begin,
                                            end - begin,
                                            is_tree ? plan->chains.mode : PD_CHAIN_GRAPH,
                                            table->base.least, plan->chains.percent, &report->tree);
    struct lines lines = { .report = report,
                           .table = &table->base,
                           .row_hits = plan->hist.children ? at->children_period : at->period };
    if (status == 0) {
        put_tree(&lines);
        *frames = lines.frames.count ? joined(&lines) : NULL;
        *count = *frames ? lines.frames.count : 0;
        if (lines.failed || (lines.frames.count && !*frames))
            status = PERFDATA_ERROR_MEMORY;
    }
    pd_vec_free(&lines.frames);
    pd_vec_free(&lines.places);
    pd_text_free(&lines.text);
    return status;
}

void perfdata_report_chains_free(struct perfdata_report_frame *frames)
{
    free(frames);
}
