/* SPDX-License-Identifier: MIT */
/* The text of addresses and chains. An address occurs about a hundred times in a recording and a
 * chain about ten times, so that what was printed once is kept and copied. */
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

void pd_script_dso(struct pd_script *script, const struct pd_location *location, bool offset,
                   struct pd_text *text)
{
    const struct pd_dso *dso = location && location->map ? location->dso : NULL;
    pd_text_char(text, '(');
    size_t before = text->length;
    if (!dso)
        pd_text_bytes(text, unknown, sizeof unknown - 1);
    else if (script->form.kernel_path)
        pd_text_string(text, pd_symbols_long_name(script->session.symbols, dso));
    else
        pd_text_bytes(text, dso->name, dso->name_length);
    if (PD_UNLIKELY(offset && dso)) {
        pd_text_bytes(text, "+0x", 3);
        pd_text_hex(text, location->addr, 0, ' ');
    }
    const uint32_t width = script->options->dso_width;
    if (PD_UNLIKELY(width)) {
        /* perf keeps one column for a blank behind the name and so cuts a name that fills the
         * column. */
        if (script->recording->like_perf && text->length - before >= width)
            text->length = before + width - 1;
        pd_text_pad(text, before, width);
    }
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
        pd_script_dso(script, location, fields & PD_FIELD(DSOFF), text);
    }
}

void pd_script_srcline(struct pd_script *script, const struct pd_location *location,
                       uint64_t address, struct pd_text *text)
{
    pd_script_line_of(script, location, address, "\n  ", text);
}

/* Inside inlined functions, DWARF tells the line at which the next one was called. */
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
        const char *slash = script->form.full_source_path ? NULL : strrchr(line.file, '/');
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

/* perf shows a chain's addresses in user space as offsets in their files. */
static uint64_t frame_address(const struct pd_location *location)
{
    bool user = location->map && location->dso && !location->dso->kernel_space;
    if (location->of_object)
        return location->addr;
    return user ? pd_map_address(location->map, location->ip) : location->ip;
}

void pd_script_place_text(struct pd_script *script, uint64_t fields,
                          const struct pd_location *location, struct pd_text *text)
{
    pd_script_symbol(script, fields, location, text);
    if (fields & PD_FIELD(SRCLINE))
        pd_script_srcline(script, location, location->addr, text);
    if (location->sym && location->sym->inlined)
        pd_text_string(text, " (inlined)");
}

static const struct pd_place *make_place(struct pd_script_worker *worker, uint64_t fields,
                                         struct pd_location *location)
{
    struct pd_text *text = &worker->line;
    text->length = 0;
    pd_script_place_text(worker->script, fields, location, text);
    if (text->failed || text->length >= UINT32_MAX)
        return NULL;
    struct pd_place *place = pd_arena_alloc(&worker->texts.places,
                                            sizeof *place + pd_block_room(text->length));
    if (!place)
        return NULL;
    const struct pd_symbol *symbol = location->sym;
    place->next = (struct pd_place *)(uintptr_t)location->memo[0];
    place->fields = fields;
    place->length = (uint32_t)text->length;
    place->stop = symbol &&
                  pd_name_set_has(&worker->script->stop, symbol->name, symbol->name_length);
    if (text->length) /* a field without a text has no data */
        memcpy(place->text, text->data, text->length);
    location->memo[0] = (uintptr_t)place;
    return place;
}

const struct pd_place *pd_script_place(struct pd_script_worker *worker, uint64_t fields,
                                       struct pd_location *location)
{
    const struct pd_place *place = (const struct pd_place *)(uintptr_t)location->memo[0];
    fields &= PD_PLACE_FIELDS;
    while (PD_UNLIKELY(place && place->fields != fields))
        place = place->next;
    return PD_LIKELY(place != NULL) ? place : make_place(worker, fields, location);
}

const struct pd_frame *pd_script_frames(struct pd_script_worker *worker,
                                        const struct pd_sample *sample,
                                        const struct pd_delivered *record, size_t *count,
                                        bool *invalid)
{
    *invalid = false;
    *count = pd_resolve_chain(worker->resolver, sample, record->thread, record->number,
                              worker->script->form.max_stack, worker->frames,
                              worker->frame_capacity, invalid);
    return worker->script->options->flags & PERFDATA_SCRIPT_NO_INLINE
               ? worker->frames
               : pd_chain_inlined(worker->resolver, worker->frames, count);
}

/* Puts the frames of a chain. False: the chain is invalid, which is reported each time it
 * occurs. */
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
                                           ? pd_script_place(worker, fields, frame->location)
                                           : NULL;
        if (!place) {
            text->failed = true;
            return false;
        }
        pd_script_put_frame(place, frame_address(frame->location), text);
        if (place->stop)
            return true;
    }
    return !invalid;
}

void pd_script_forget(struct pd_script_worker *worker)
{
    worker->texts.insns.count = 0;
    worker->traced.lines.count = 0;
    pd_script_series_forget(worker);
    pd_script_points_forget(worker);
    pd_arena_free(&worker->texts.places);
    pd_chain_memo_forget(&worker->texts.chains);
    pd_chain_memo_forget(&worker->texts.kernel_chains);
}

/* A chain, or a part of it: entries in a row that begin with a marker. */
struct part {
    struct pd_chain_key key;
    struct pd_chain_memo *memo;
    bool has_leaf; /* the first frame may be put alone: it differs where its callers do not */
};

/* Puts the first frame and makes the key that of its callers. */
static bool put_leaf(struct pd_script_worker *worker, const struct pd_chain_parts *parts,
                     const struct pd_delivered *record, struct pd_chain_key *key,
                     struct pd_text *text)
{
    struct pd_location *location = pd_resolve_leaf(worker->resolver, record->thread, record->number,
                                                   parts);
    const struct pd_place *place = location ? pd_script_place(worker, key->kind, location) : NULL;
    if (!place) {
        text->failed = true;
        return false;
    }
    pd_script_put_frame(place, frame_address(location), text);
    key->kind |= (uint64_t)(parts->cpumode + 1) << 56; /* no field's bits */
    key->ips = parts->callers;
    key->count = parts->caller_count;
    return true;
}

/* Like put_chain(), for this part alone. */
static bool put_resolved(struct pd_script_worker *worker, const struct part *part,
                         const struct pd_sample *sample, const struct pd_delivered *record,
                         struct pd_text *text)
{
    struct pd_sample own = *sample;
    own.callchain = part->key.ips;
    own.callchain_count = part->key.count;
    return put_chain(worker, part->key.kind, &own, record, text);
}

/* Puts the part, from memory if it is known. False: as in put_chain(). */
static bool put_part(struct pd_script_worker *worker, const struct part *part,
                     const struct pd_sample *sample, const struct pd_delivered *record,
                     struct pd_text *text)
{
    struct pd_chain_key key = part->key;
    struct pd_chain_parts parts = { .cpumode = PD_CPUMODE_UNKNOWN };
    const struct pd_chain_entries chain = { key.ips, key.count, sample->swap };
    size_t before = text->length;
    if (part->has_leaf && pd_chain_split(&chain, &parts)) {
        const struct pd_chain_entries frames = { parts.callers - 8, parts.caller_count + 1,
                                                 sample->swap };
        /* Frames that can be looked up in one step cost less than to be remembered. */
        if (pd_script_put_points(worker, key.kind, record, parts.cpumode, &frames, text))
            return true;
        if (!put_leaf(worker, &parts, record, &key, text))
            return false;
        if (!key.count)
            return true;
    }
    size_t known_end = text->length;
    uint32_t length;
    const char *known = pd_chain_memo_find(part->memo, &key, &length);
    if (known) {
        pd_text_bytes(text, known, length);
        return true;
    }
    text->length = before;
    if (!put_resolved(worker, part, sample, record, text))
        return false;
    if (!text->failed)
        pd_chain_memo_keep(part->memo, &key, text->data + known_end, text->length - known_end);
    return true;
}

/* Whether a part of a chain can be put without the other frames. */
static bool is_divisible(const struct pd_script_worker *worker, const struct pd_sample *sample)
{
    const struct pd_script *script = worker->script;
    return sample->callchain_count <= PD_MIN(script->form.max_stack, worker->frame_capacity) &&
           !script->itrace.callers_first && !script->stop.count;
}

/* A chain's frames in the kernel read the same whatever process they belong to. So they are
 * remembered apart from those in user space. */
void pd_script_chain(struct pd_script_worker *worker, const struct pd_script_event *plan,
                     const struct pd_sample *sample, const struct pd_delivered *record,
                     struct pd_text *text)
{
    const uint64_t kind = plan->fields & PD_PLACE_FIELDS;
    struct pd_resolver *resolver = worker->resolver;
    if (PD_UNLIKELY(pd_chain_has_more(sample))) {
        (void)put_chain(worker, plan->fields, sample, record, text);
        return;
    }
    size_t before = text->length;
    bool divisible = is_divisible(worker, sample);
    uint32_t count = divisible ? pd_chain_kernel_part(sample) : 0;
    uint64_t stamp = count ? pd_resolver_kernel_stamp(resolver, record->thread, record->number) : 0;
    if (stamp) {
        struct part part = { { stamp, kind, sample->callchain, count },
                             &worker->texts.kernel_chains,
                             1 };
        if (!put_part(worker, &part, sample, record, text))
            return;
    } else {
        count = 0;
    }
    if (count == sample->callchain_count)
        return;
    struct part part = { { pd_resolver_stamp(resolver, record->thread, record->number), kind,
                           sample->callchain + 8 * (size_t)count, sample->callchain_count - count },
                         &worker->texts.chains,
                         divisible };
    if (!put_part(worker, &part, sample, record, text))
        text->length = before; /* all of an invalid chain is left out */
}
