/* SPDX-License-Identifier: MIT */
/* Source lines as keys of rows and as parts of chains. */
#include "render/report/collect.h"

/* What is shown for an address whose line nobody knows. */
enum form {
    ROW,        /* its function and how far into it: for rows */
    WITH_PLACE, /* how far into its function: for chains by address */
    LINE_ONLY   /* nothing: for chains by line */
};

static enum form form_of(const struct pd_report_plan *plan)
{
    return plan->hist.frames == PD_FRAMES_BY_ADDRESS ? WITH_PLACE : LINE_ONLY;
}

static void put_file(const struct pd_report_plan *plan, const struct pd_source_line *line,
                     struct pd_text *out)
{
    const char *slash = plan->full_source_path ? NULL : strrchr(line->file, '/');
    pd_text_string(out, slash ? slash + 1 : line->file);
}

static void put_number(const struct pd_report_plan *plan, const struct pd_source_line *line,
                       struct pd_text *out)
{
    put_file(plan, line, out);
    pd_text_char(out, ':');
    pd_text_u64(out, line->line, 0, ' ');
}

/* Puts the line at which a function calls the one inlined into it. */
static void put_call(const struct pd_report_plan *plan, const char *file, unsigned number,
                     struct pd_text *out)
{
    const struct pd_source_line line = { .file = file, .line = number };
    if (file)
        put_number(plan, &line, out);
    else
        pd_text_string(out, "??:0");
}

/* Puts the text of a line. False: there is nothing to say. */
static bool put_line(const struct pd_report_plan *plan, struct pd_symbols *symbols,
                     const struct pd_map *map, const struct pd_symbol *symbol, uint64_t address,
                     enum form form, struct pd_text *out)
{
    struct pd_source_line line = { .answer = PD_LINES_NAMELESS };
    if (map && !pd_symbols_line(symbols, map, address, &line))
        out->failed = true;
    if (line.answer == PD_LINES_FOUND) {
        put_number(plan, &line, out);
    } else if (line.answer == PD_LINES_NAMELESS) {
        pd_text_string(out, "??:0");
    } else if (form == LINE_ONLY) {
        return false;
    } else if (symbol) {
        pd_text_string(out, form == ROW ? symbol->name : "");
        pd_text_char(out, '+');
        pd_text_u64(out, address - symbol->start, 0, ' ');
    } else {
        pd_text_string(out, pd_symbols_short_name(symbols, map->dso));
        pd_text_char(out, '[');
        pd_text_hex(out, line.address, 0, ' ');
        pd_text_char(out, ']');
    }
    return true;
}

bool pd_report_source_line(const struct pd_report_plan *plan, struct pd_symbols *symbols,
                           const struct pd_map *map, uint64_t address, struct pd_text *out)
{
    put_line(plan, symbols, map, NULL, address, ROW, out);
    return !out->failed;
}

/* perf cuts the file's name at its first colon. */
static void put_source_file(const struct pd_report_plan *plan, struct pd_symbols *symbols,
                            const struct pd_map *map, uint64_t address, struct pd_text *out)
{
    struct pd_source_line line = { .answer = PD_LINES_NAMELESS };
    if (map && !pd_symbols_line(symbols, map, address, &line))
        out->failed = true;
    if (line.answer != PD_LINES_FOUND)
        return;
    put_file(plan, &line, out);
    const char *colon = out->length ? memchr(out->data, ':', out->length) : NULL;
    if (colon)
        out->length = (size_t)(colon - out->data);
}

static uint32_t word_of(struct pd_report_state *state, const struct pd_text *text)
{
    if (text->failed) {
        state->hist.failed = true;
        return PD_HIST_NONE;
    }
    return pd_hist_bytes_id(&state->hist, text->length ? text->data : "", text->length);
}

uint32_t pd_report_frame_word(struct pd_report_state *state, const struct pd_frame *frame,
                              uint8_t key)
{
    const struct pd_report_plan *plan = state->shared->plan;
    const struct pd_location *location = frame->location;
    const struct pd_nested *nested = pd_nested_of(location);
    struct pd_text *text = &state->scratch.text;
    text->length = 0;
    if (key == PD_KEY_SRCLINE && nested) {
        put_call(plan, nested->file, nested->line, text);
        return word_of(state, text);
    }
    /* A line that the chain shows is that of the row as well. */
    if (key == PD_KEY_SRCLINE && plan->hist.frames != PD_FRAMES_BY_FUNCTION &&
        put_line(plan, pd_resolver_symbols(state->resolver), location->map, location->sym,
                 location->addr, form_of(plan), text))
        return word_of(state, text);
    /* perf takes this address for one in the file, although it is one in memory. */
    return (uint32_t)pd_report_line_word(state, location, frame->ip, key);
}

uint64_t pd_report_line_word(struct pd_report_state *state, const struct pd_location *location,
                             uint64_t address, uint8_t key)
{
    const struct pd_report_plan *plan = state->shared->plan;
    struct pd_symbols *symbols = pd_resolver_symbols(state->resolver);
    struct pd_text *text = &state->scratch.text;
    text->length = 0;
    if (key == PD_KEY_SRCFILE)
        put_source_file(plan, symbols, location->map, address, text);
    else
        put_line(plan, symbols, location->map, location->sym, address, ROW, text);
    return word_of(state, text);
}

perfdata_status pd_report_frame_lines(const struct pd_report_plan *plan, struct pd_symbols *symbols,
                                      struct pd_hist *hist, struct pd_arena *arena)
{
    struct pd_text text = { 0 };
    bool ok = true;
    if (plan->hist.frames == PD_FRAMES_BY_FUNCTION)
        return 0;
    for (size_t i = 0; ok && i < hist->frames.count; i++) {
        struct pd_hist_frame *frame = &hist->frames.data[i];
        text.length = 0;
        if (frame->nested)
            put_call(plan, frame->call_file, frame->call_line, &text);
        else if (!frame->map || !put_line(plan, symbols, frame->map, frame->symbol, frame->addr,
                                          form_of(plan), &text))
            continue;
        frame->text = text.failed ? NULL : pd_arena_copy(arena, text.data, text.length);
        ok = frame->text != NULL;
    }
    pd_text_free(&text);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}
