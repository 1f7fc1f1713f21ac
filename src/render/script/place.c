/* SPDX-License-Identifier: MIT */
/* The text of addresses and chains. An address occurs a hundred times in a recording, a chain ten times: what was
 * printed once is copied. */
#include "base/digits.h"
#include "base/hash.h"
#include "render/script/plan.h"

static const char unknown[] = "[unknown]";

uint64_t pd_script_offset(const struct pd_location *location)
{
    const struct pd_symbol *symbol = location->sym;
    uint64_t from = location->addr - symbol->start;
    return location->addr >= symbol->end && location->map ? from - location->map->start : from;
}

void pd_script_name(const struct pd_location *location, bool offset, struct pd_text *text)
{
    const struct pd_symbol *symbol = location ? location->sym : NULL;
    if (!symbol) {
        pd_text_bytes(text, unknown, sizeof unknown - 1);
        return;
    }
    pd_text_bytes(text, symbol->name, symbol->name_length);
    if (!offset)
        return;
    pd_text_bytes(text, "+0x", 3);
    pd_text_hex(text, pd_script_offset(location), 0, ' ');
}

void pd_script_dso(struct pd_script *script, const struct pd_location *location,
                   struct pd_text *text)
{
    const struct pd_dso *dso = location && location->map ? location->dso : NULL;
    pd_text_char(text, '(');
    size_t before = text->length;
    if (!dso)
        pd_text_bytes(text, unknown, sizeof unknown - 1);
    else if (script->kernel_path)
        pd_text_string(text, pd_symbols_long_name(script->session.symbols, dso));
    else
        pd_text_bytes(text, dso->name, dso->name_length);
    if (PD_UNLIKELY(script->options->dso_width))
        pd_text_pad(text, before, script->options->dso_width);
    pd_text_char(text, ')');
}

void pd_script_symbol(struct pd_script *script, uint64_t fields, const struct pd_location *location,
                      struct pd_text *text)
{
    if (fields & PD_FIELD(SYM)) {
        pd_text_char(text, ' ');
        pd_script_name(location, fields & PD_FIELD(SYMOFF), text);
    }
    bool inlined = location && location->sym && location->sym->inlined;
    if (fields & PD_FIELD(DSO) && !inlined) {
        pd_text_char(text, ' ');
        pd_script_dso(script, location, text);
    }
}

void pd_script_srcline(struct pd_script *script, const struct pd_location *location,
                       uint64_t address, struct pd_text *text)
{
    pd_script_line_of(script, location, address, "\n  ", text);
}

/* Of inlined functions DWARF tells it. */
bool pd_script_find_line(struct pd_script *script, const struct pd_location *location,
                         uint64_t address, struct pd_source_line *line)
{
    const struct pd_nested *nested = pd_nested_of(location);
    if (!nested)
        return pd_symbols_line(script->session.symbols, location->map, address, line);
    *line = (struct pd_source_line){ .answer = nested->file ? PD_LINES_FOUND : PD_LINES_NAMELESS,
                                     .file = nested->file,
                                     .line = nested->line,
                                     .address = address };
    return true;
}

void pd_script_line_of(struct pd_script *script, const struct pd_location *location,
                       uint64_t address, const char *before, struct pd_text *text)
{
    struct pd_source_line line;
    if (!location->map)
        return;
    if (!pd_script_find_line(script, location, address, &line))
        text->failed = true;
    if (line.answer == PD_LINES_NAMELESS && !location->is_nested)
        return;
    pd_text_string(text, before);
    if (line.answer == PD_LINES_NAMELESS) {
        pd_text_string(text, "??:0");
        return;
    }
    if (line.answer == PD_LINES_FOUND) {
        const char *slash = script->full_source_path ? NULL : strrchr(line.file, '/');
        pd_text_string(text, slash ? slash + 1 : line.file);
        pd_text_char(text, ':');
        pd_text_u64(text, line.line, 0, ' ');
    } else {
        pd_text_string(text, pd_symbols_short_name(script->session.symbols, location->dso));
        pd_text_char(text, '[');
        pd_text_hex(text, line.address, 0, ' ');
        pd_text_char(text, ']');
    }
}

/* perf shows user addresses of a chain as offsets in the file. */
static uint64_t frame_address(const struct pd_location *location)
{
    bool user = location->map && location->dso && !location->dso->kernel_space;
    return user ? pd_map_address(location->map, location->ip) : location->ip;
}

static const struct pd_place *make_place(struct pd_script_worker *worker, uint64_t fields,
                                         bool frame, struct pd_location *location)
{
    struct pd_script *script = worker->script;
    struct pd_text text = { 0 };
    if (frame)
        pd_text_char(&text, '\t');
    pd_text_hex(&text, frame ? frame_address(location) : location->ip, 16, ' ');
    pd_script_symbol(script, fields, location, &text);
    if (fields & PD_FIELD(SRCLINE))
        pd_script_srcline(script, location, location->addr, &text);
    if (location->sym && location->sym->inlined)
        pd_text_string(&text, " (inlined)");
    if (frame)
        pd_text_char(&text, '\n');
    struct pd_place *place = NULL;
    if (!text.failed && text.length < UINT32_MAX)
        place = pd_arena_alloc(&worker->places, sizeof *place + pd_block_room(text.length));
    if (place) {
        const struct pd_symbol *symbol = location->sym;
        place->next = (struct pd_place *)(uintptr_t)location->memo[frame];
        place->fields = fields;
        place->length = (uint32_t)text.length;
        place->stop = frame && symbol &&
                      pd_name_set_has(&script->stop, symbol->name, symbol->name_length);
        memcpy(place->text, text.data, text.length);
        location->memo[frame] = (uintptr_t)place;
    }
    pd_text_free(&text);
    return place;
}

PD_INLINE const struct pd_place *find_place(struct pd_script_worker *worker, uint64_t fields,
                                            bool frame, struct pd_location *location)
{
    const struct pd_place *place = (const struct pd_place *)(uintptr_t)location->memo[frame];
    fields &= PD_PLACE_FIELDS;
    while (PD_UNLIKELY(place && place->fields != fields))
        place = place->next;
    return PD_LIKELY(place != NULL) ? place : make_place(worker, fields, frame, location);
}

const struct pd_place *pd_script_flat(struct pd_script_worker *worker, uint64_t fields,
                                      struct pd_location *location)
{
    return find_place(worker, fields, false, location);
}

const struct pd_frame *pd_script_frames(struct pd_script_worker *worker,
                                        const struct pd_sample *sample,
                                        const struct pd_delivered *record, size_t *count,
                                        bool *invalid)
{
    *invalid = false;
    *count = pd_resolve_chain(worker->resolver, sample, record->thread, record->number,
                              worker->script->max_stack, worker->frames, worker->frame_capacity,
                              invalid);
    return worker->script->options->flags & PERFDATA_SCRIPT_NO_INLINE
               ? worker->frames
               : pd_chain_inlined(worker->resolver, worker->frames, count);
}

/* False: the chain is invalid, which is said each time it occurs. */
static bool put_chain(struct pd_script_worker *worker, uint64_t fields,
                      const struct pd_sample *sample, const struct pd_delivered *record,
                      struct pd_text *text)
{
    bool invalid;
    size_t count;
    const struct pd_frame *frames = pd_script_frames(worker, sample, record, &count, &invalid);
    text->failed |= !frames;
    bool callers_first = worker->script->itrace.callers_first;
    for (size_t i = 0; frames && i < count; i++) {
        const struct pd_frame *frame = frames + (callers_first ? count - 1 - i : i);
        const struct pd_place *place = frame->location
                                           ? find_place(worker, fields, true, frame->location)
                                           : NULL;
        if (!place) {
            text->failed = true;
            return false;
        }
        char *to = pd_text_room(text, pd_block_room(place->length));
        if (!to)
            return false;
        pd_put_block(to, place->text, place->length);
        text->length += place->length;
        if (place->stop)
            return true;
    }
    return !invalid;
}

void pd_script_forget(struct pd_script_worker *worker)
{
    worker->insns.count = 0;
    worker->pt_lines.count = 0;
    pd_script_series_forget(worker);
    pd_arena_free(&worker->places);
    pd_chain_memo_forget(&worker->chains);
}

void pd_script_chain(struct pd_script_worker *worker, const struct pd_script_event *plan,
                     const struct pd_sample *sample, const struct pd_delivered *record,
                     struct pd_text *text)
{
    struct pd_chain_key key = { pd_resolver_stamp(worker->resolver, record->thread, record->number),
                                plan->fields & PD_PLACE_FIELDS, sample->callchain,
                                sample->callchain_count };
    uint32_t length;
    if (PD_UNLIKELY(pd_chain_has_more(sample))) {
        (void)put_chain(worker, plan->fields, sample, record, text);
        return;
    }
    if (!key.count)
        return;
    const char *known = pd_chain_memo_find(&worker->chains, &key, &length);
    if (known) {
        pd_text_bytes(text, known, length);
        return;
    }
    size_t before = text->length;
    if (put_chain(worker, plan->fields, sample, record, text) && !text->failed)
        pd_chain_memo_keep(&worker->chains, &key, text->data + before, text->length - before);
}
