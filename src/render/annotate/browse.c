/* SPDX-License-Identifier: MIT */
/* An annotated function as perf's browser shows it: offsets only where jumps lead to, arrows, and
 * names in place of addresses. */
#include "render/annotate/annotation.h"
#include "render/annotate/instruction.h"

enum {
    PERCENT_WIDTH = 7,
    PERIOD_WIDTH = PD_ANNOTATION_PERIOD_WIDTH + 1,
    MANY_JUMPS = 100,
    MANY_JUMPS_WIDTH = 5
};

struct browsing {
    const struct pd_annotation *annotation;
    struct pd_instruction_frame frame;
    uint32_t *jumps;  /* by line: how many lead to it */
    size_t values;    /* width of all events' values */
    unsigned address; /* width of what stands before an instruction, without the colon */
    unsigned offset;  /* of an offset or address */
    unsigned sources; /* of a number of jumps */
    struct pd_text *out;
};

static unsigned digits(uint64_t value, unsigned base)
{
    unsigned count = 1;
    while (value /= base)
        count++;
    return count;
}

static const char *symbol_at(const void *data, uint64_t address)
{
    const struct pd_annotation *annotation = data;
    const struct pd_symtab *table = pd_symbols_table(annotation->symbols, annotation->map);
    const struct pd_symbol *symbol = table ? pd_symtab_find(table, address - annotation->start +
                                                                       annotation->symbol->start)
                                           : NULL;
    return symbol ? symbol->name : NULL;
}

static bool is_instruction(const struct pd_annotation *annotation, size_t line)
{
    return annotation->listing->lines.data[line].offset != PD_LISTING_NO_OFFSET;
}

static struct pd_instruction instruction_at(const struct pd_annotation *annotation, size_t line)
{
    return pd_instruction_parse(pd_listing_text(annotation->listing, line));
}

/* The line that has this offset, or the count of lines if none has. Offsets rise in objdump's
 * text. */
static size_t line_at(const struct browsing *browsing, const uint32_t *lines, size_t count,
                      uint64_t offset)
{
    const struct pd_listing *listing = browsing->annotation->listing;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (listing->lines.data[lines[middle]].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && listing->lines.data[lines[low]].offset == offset ? lines[low]
                                                                           : listing->lines.count;
}

/* Finds the width of names and where jumps within the function lead to. False: no memory. */
static bool survey(struct browsing *browsing, struct pd_arena *arena)
{
    const struct pd_annotation *annotation = browsing->annotation;
    size_t count = annotation->listing->lines.count, found = 0;
    uint64_t size = browsing->frame.end - browsing->frame.start;
    uint32_t *lines = pd_arena_alloc(arena, (count + 1) * sizeof *lines), most = 0;
    browsing->jumps = pd_arena_zalloc(arena, (count + 1) * sizeof *browsing->jumps);
    if (!lines || !browsing->jumps)
        return false;
    for (size_t i = 0; i < count; i++)
        if (is_instruction(annotation, i))
            lines[found++] = (uint32_t)i;
    for (size_t i = 0; i < found; i++) {
        struct pd_instruction instruction = instruction_at(annotation, lines[i]);
        uint64_t offset = instruction.target - browsing->frame.start;
        browsing->frame.name_width = PD_MAX(browsing->frame.name_width, instruction.name_length);
        if (instruction.kind != PD_INSTRUCTION_JUMP || offset >= size)
            continue;
        uint32_t jumps = ++browsing->jumps[line_at(browsing, lines, found, offset)];
        most = PD_MAX(most, jumps);
    }
    browsing->sources = most >= MANY_JUMPS ? MANY_JUMPS_WIDTH : digits(most, 10);
    return true;
}

static void put_values(const struct browsing *browsing, size_t line, bool is_title)
{
    const struct pd_annotation *annotation = browsing->annotation;
    const struct pd_annotate_plan *plan = annotation->plan;
    struct pd_text *out = browsing->out;
    const char *title = plan->total_period ? "Period" : plan->samples ? "Samples" : "Percent";
    if (!is_instruction(annotation, line) || pd_annotation_percent_max(annotation, line) == 0) {
        pd_text_left(out, is_title ? title : "", is_title ? strlen(title) : 0, browsing->values);
    } else {
        for (size_t event = 0; event < annotation->event_count; event++) {
            pd_annotation_put_value(annotation, line, event, PERCENT_WIDTH - 1, out);
            pd_text_char(out, ' ');
        }
    }
    pd_text_char(out, ' ');
}

/* Returns the length of what was put, without the number of jumps, which perf does not count. */
static size_t put_place(const struct browsing *browsing, size_t line)
{
    const struct pd_annotate_plan *plan = browsing->annotation->plan;
    uint64_t offset = browsing->annotation->listing->lines.data[line].offset;
    uint32_t jumps = browsing->jumps[line];
    struct pd_text *out = browsing->out;
    size_t begin = out->length;
    if (plan->addresses) {
        pd_text_hex(out, browsing->annotation->start + offset, 0, ' ');
        pd_text_string(out, ": ");
    } else if (jumps) {
        if (plan->jump_counts) {
            pd_text_u64(out, jumps, browsing->sources, ' ');
            pd_text_char(out, ' ');
            begin = out->length;
        }
        pd_text_hex(out, offset, browsing->offset, ' ');
        pd_text_string(out, ": ");
    } else {
        pd_text_fill(out, ' ', browsing->address + 2);
    }
    return out->length - begin;
}

static const char *arrow_of(const struct browsing *browsing, size_t line,
                            const struct pd_instruction *instruction)
{
    uint64_t offset = browsing->annotation->listing->lines.data[line].offset;
    if (instruction->kind == PD_INSTRUCTION_RETURN)
        return "\xe2\x86\x90 "; /* left */
    if (instruction->kind == PD_INSTRUCTION_CALL ||
        (instruction->kind == PD_INSTRUCTION_JUMP &&
         pd_instruction_is_outside(instruction, &browsing->frame)))
        return "\xe2\x86\x92 "; /* right */
    if (instruction->kind != PD_INSTRUCTION_JUMP)
        return "  ";
    bool is_forward = instruction->target - browsing->frame.start > offset;
    return is_forward ? "\xe2\x86\x93 " : "\xe2\x86\x91 ";
}

static void put_instruction(const struct browsing *browsing, size_t line)
{
    struct pd_instruction instruction = instruction_at(browsing->annotation, line);
    struct pd_text *out = browsing->out;
    size_t width = browsing->values + 3 + put_place(browsing, line);
    pd_text_string(out, arrow_of(browsing, line, &instruction));
    size_t begin = out->length;
    if (browsing->annotation->plan->addresses)
        pd_instruction_put_raw(&instruction, browsing->frame.name_width, out);
    else
        pd_instruction_put(&instruction, &browsing->frame, out);
    if (!*instruction.operands && !out->failed) /* no blank behind the name but of padding */
        while (out->length > begin && out->data[out->length - 1] == ' ')
            out->length--;
    pd_text_pad(out, begin, width);
}

static void put_source(const struct browsing *browsing, size_t line)
{
    struct pd_text *out = browsing->out;
    const char *text = pd_listing_text(browsing->annotation->listing, line);
    size_t printed = browsing->address + 2, begin = out->length;
    if (!*text) {
        pd_text_fill(out, ' ', browsing->values);
        return;
    }
    if (browsing->annotation->plan->line_numbers) {
        pd_text_format(out, "%u", browsing->annotation->listing->lines.data[line].number);
        pd_text_pad(out, begin, browsing->address + 1);
        pd_text_char(out, ' ');
        printed = out->length - begin;
    } else {
        pd_text_fill(out, ' ', printed);
    }
    pd_text_left(out, text, strlen(text), printed + browsing->values - 1);
}

static void put_head(const struct browsing *browsing)
{
    static const char units[] = " KMG";
    const struct pd_annotation *annotation = browsing->annotation;
    struct pd_text *out = browsing->out;
    uint64_t samples = annotation->samples;
    unsigned unit = 0;
    while (samples > 1000 && unit < 3) {
        samples /= 1000;
        unit++;
    }
    pd_text_format(out, "Samples: %llu%c of event%s '", (unsigned long long)samples, units[unit],
                   annotation->group->is_plural ? "s" : "");
    pd_report_group_names(annotation->groups, annotation->group, out);
    pd_text_format(out, "', %llu Hz, Event count (approx.): %llu, [percent: %s]\n%s() %s\n",
                   (unsigned long long)annotation->frequency,
                   (unsigned long long)annotation->period,
                   pd_percent_type_name(annotation->plan->percent), annotation->symbol->name,
                   annotation->object);
}

bool pd_annotation_browse(const struct pd_annotation *annotation, struct pd_arena *arena,
                          struct pd_text *out)
{
    const struct pd_annotate_plan *plan = annotation->plan;
    uint64_t size = annotation->symbol->end - annotation->symbol->start;
    struct browsing browsing = {
        .annotation = annotation,
        .frame = { .start = annotation->start,
                   .end = annotation->start + size,
                   .symbol = symbol_at,
                   .data = annotation },
        .values = annotation->event_count * (plan->total_period ? PERIOD_WIDTH : PERCENT_WIDTH),
        .out = out,
    };
    bool is_title = true;
    if (!survey(&browsing, arena))
        return false;
    browsing.offset = digits(plan->addresses ? annotation->start + size : size, 16);
    browsing.address = browsing.offset + (plan->jump_counts ? browsing.sources + 1 : 0);
    put_head(&browsing);
    for (size_t i = 0; i < annotation->listing->lines.count; i++) {
        if (plan->hides_source && !is_instruction(annotation, i))
            continue;
        put_values(&browsing, i, is_title);
        is_title = false;
        if (is_instruction(annotation, i))
            put_instruction(&browsing, i);
        else
            put_source(&browsing, i);
        pd_text_char(out, '\n');
    }
    return true;
}
