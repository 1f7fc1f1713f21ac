/* SPDX-License-Identifier: MIT */
/* The walk over rows. Its stack is as deep as the tables nest (records.def, features.def), whatever
 * the input says. */
#include "format/fields.h"
#include "format/row_read.h"
#include "format/sample_visit.h"

#define DEEPEST 8

struct frame {
    const struct pd_row *row, *rows;
    const uint8_t *end; /* of what is around a window */
    uint64_t left;      /* items that follow this one; UINT64_MAX: to the end */
    bool list, self_sized;
};

struct walk {
    struct pd_sink *sink;
    const struct pd_event *event;
    const uint8_t *start, *at, *end;
    bool swap, damaged;
    uint16_t misc;
    unsigned depth;
    uint64_t registers[PD_ROW_REGISTERS];
    struct frame frames[DEEPEST];
};

static size_t left_of(const struct walk *w)
{
    return (size_t)(w->end - w->at);
}

static void emit_to_sink(void *data, const struct pd_field *field)
{
    struct walk *w = data;
    w->sink->field(w->sink, field);
}

static void emit_bytes(struct walk *w, const struct pd_row *row, const char *name,
                       enum pd_kind kind, size_t size)
{
    struct pd_field field = { .name = name,
                              .row = row,
                              .kind = (uint8_t)kind,
                              .swap = w->swap,
                              .data = w->at,
                              .size = size,
                              .length = (uint32_t)size };
    w->at += size;
    w->sink->field(w->sink, &field);
}

/* What the tables do not explain, up to the end of the present window. */
static void emit_unread(struct walk *w)
{
    if (left_of(w))
        emit_bytes(w, NULL, "unread", PD_KIND_rest, left_of(w));
}

static void open_field(struct walk *w, const struct pd_row *row, const char *name,
                       enum pd_kind kind, uint64_t value)
{
    struct pd_field field = { .name = name, .row = row, .kind = (uint8_t)kind, .value = value };
    w->sink->open(w->sink, &field);
}

/* ---- numbers, text, bytes, arrays ------------------------------------------------------------ */

static bool visit_number(struct walk *w, const struct pd_row *row)
{
    size_t size = pd_kinds[row->kind].least;
    if (left_of(w) < size)
        return false;
    struct pd_field field = { .name = row->name,
                              .row = row,
                              .names = row->names,
                              .kind = row->kind,
                              .swap = w->swap,
                              .data = w->at,
                              .size = size };
    field.value = pd_row_number((enum pd_kind)row->kind, w->at, w->swap);
    w->at += size;
    w->registers[row->save] = field.value; /* register 0 is nobody's */
    w->sink->field(w->sink, &field);
    return true;
}

static bool visit_text(struct walk *w, const struct pd_row *row)
{
    size_t size = left_of(w);
    if (row->kind == PD_KIND_lstr) {
        if (size < 4)
            return false;
        size = pd_load32(w->at, w->swap);
        if (size > left_of(w) - 4)
            return false;
        w->at += 4;
    } else if (row->kind == PD_KIND_zstr) {
        const uint8_t *nul = size ? memchr(w->at, 0, size) : NULL;
        if (!nul)
            return false;
        size = (size_t)(nul - w->at) + 1;
    } else if (row->kind != PD_KIND_text) {
        size = PD_MIN(size, pd_kinds[row->kind].least);
    }
    struct pd_field field = {
        .name = row->name, .row = row, .kind = row->kind, .data = w->at, .size = size
    };
    field.length = (uint32_t)strnlen((const char *)w->at, size);
    w->at += size;
    w->sink->field(w->sink, &field);
    return true;
}

/* How many items of `each` bytes a row has; what the bytes left cannot hold is damage. */
static uint64_t count_of(struct walk *w, const struct pd_row *row, size_t each)
{
    uint64_t fits = left_of(w) / each, count = fits;
    if (row->count == PD_COUNT_REGISTER)
        count = w->registers[row->count_register];
    else if (row->count == PD_COUNT_BITS)
        count = w->registers[row->count_register] / 64 +
                (w->registers[row->count_register] % 64 != 0);
    if (count > fits) {
        w->damaged = true;
        count = fits;
    }
    return count;
}

static bool visit_bytes(struct walk *w, const struct pd_row *row)
{
    size_t size = pd_kinds[row->kind].least;
    if (row->kind == PD_KIND_sized)
        size = (size_t)count_of(w, row, 1);
    else if (row->kind == PD_KIND_rest)
        size = left_of(w);
    if (left_of(w) < size)
        return false;
    emit_bytes(w, row, row->name, (enum pd_kind)row->kind, size);
    return true;
}

static unsigned element_size(enum pd_kind kind)
{
    return kind == PD_KIND_u16s ? 2 : kind == PD_KIND_u32s ? 4 : kind == PD_KIND_branches ? 24 : 8;
}

static void visit_array(struct walk *w, const struct pd_row *row)
{
    unsigned each = element_size((enum pd_kind)row->kind);
    uint64_t count = count_of(w, row, each);
    struct pd_field field = { .name = row->name,
                              .row = row,
                              .kind = row->kind,
                              .swap = w->swap,
                              .data = w->at,
                              .size = count * each,
                              .length = (uint32_t)count };
    w->at += field.size;
    w->sink->field(w->sink, &field);
}

static void visit_padding(struct walk *w, const struct pd_row *row)
{
    size_t size = (size_t)(0 - (uintptr_t)(w->at - w->start)) & 7;
    emit_bytes(w, row, row->name, PD_KIND_align, PD_MIN(size, left_of(w)));
}

/* ---- what has a form of its own -------------------------------------------------------------- */

#define NONE .save = 0
#define NAMES(group) .names = &pd_names_##group
const struct pd_row pd_attr_rows[] = {
#define ATTR_FIELD(offset, kind_, name_, ...)                                                      \
    { .name = #name_, .kind = PD_KIND_##kind_, .least = PD_LEAST_##kind_, __VA_ARGS__ },
#define ATTR_FLAG(number, NAME, name)
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
    { .name = NULL }
};

static bool visit_attr(struct walk *w, const struct pd_row *row)
{
    size_t size;
    if (left_of(w) < PD_LEAST_attr)
        return false;
    size = pd_load32(w->at + 4, w->swap);
    if (!size)
        size = PD_LEAST_attr;
    if (row->count == PD_COUNT_REGISTER)
        size = w->registers[row->count_register];
    if (size < PD_LEAST_attr || size > left_of(w))
        return false;
    if (w->sink->whole) {
        emit_bytes(w, row, row->name, PD_KIND_attr, size);
        return true;
    }
    const uint8_t *outer = w->end;
    w->end = w->at + size;
    open_field(w, row, row->name, PD_KIND_window, 0);
    for (const struct pd_row *field = pd_attr_rows; field->name; field++)
        if (!visit_number(w, field))
            break;
    emit_unread(w);
    w->sink->close(w->sink);
    w->end = outer;
    return true;
}

/* The body of READ: the event's values, or words where that is unknown. */
static void visit_read_body(struct walk *w, const struct pd_row *row)
{
    struct pd_read_values values;
    uint32_t size = w->event ? pd_read_decode(w->event->plan.read_format, w->at, left_of(w),
                                              w->swap, &values)
                             : 0;
    open_field(w, row, row->name, PD_KIND_window, 0);
    if (size) {
        struct pd_sample sample = {
            .event = w->event, .swap = w->swap, .read = w->at, .read_size = size
        };
        w->at += size;
        visit_read(emit_to_sink, w, &sample);
    } else {
        static const struct pd_row words = { .name = "words",
                                             .kind = PD_KIND_u64s,
                                             .count = PD_COUNT_REST };
        visit_array(w, &words);
        emit_unread(w);
    }
    w->sink->close(w->sink);
}

static void visit_sample_body(struct walk *w)
{
    struct pd_sample sample;
    const struct pd_event *event = w->event;
    uint32_t size = (uint32_t)(w->end - w->start);
    if (!event || size < event->plan.fixed_size) {
        w->damaged = true;
        return; /* what follows calls it unread */
    }
    visit_fixed(emit_to_sink, w, event->plan.sample_type, w->at, w->swap);
    w->at = w->start + event->plan.fixed_size;
    if (pd_sample_decode(event, w->start, size, &sample) != PERFDATA_OK) {
        w->damaged = true;
        return;
    }
    visit_parts(emit_to_sink, w, event->plan.sample_type, &sample);
    w->at = w->start + sample.parts_end;
}

/* ---- nesting --------------------------------------------------------------------------------- */

static bool push(struct walk *w, const struct pd_row *rows, const uint8_t *end, bool list,
                 uint64_t left)
{
    if (w->depth == DEEPEST)
        return false;
    w->frames[w->depth++] = (struct frame){ rows, rows, w->end, left, list };
    w->end = end;
    return true;
}

static size_t least_of(const struct pd_row *rows)
{
    size_t least = 0;
    for (; rows->name; rows++)
        least += rows->least;
    return least ? least : 1;
}

/* A self-sized item begins with a record header, whose size bounds it. */
static bool begin_item(struct walk *w, const struct frame *frame)
{
    if (frame->self_sized) {
        size_t size = left_of(w) >= 8 ? pd_load16(w->at + 6, w->swap) : 0;
        if (size < 8 || size > left_of(w))
            return false;
        w->end = w->at + size;
    }
    struct pd_field item = { .kind = PD_KIND_window };
    w->sink->open(w->sink, &item);
    return true;
}

static void end_list(struct walk *w)
{
    w->end = w->frames[--w->depth].end;
    w->sink->close(w->sink);
}

static bool visit_list(struct walk *w, const struct pd_row *row)
{
    const struct pd_row *rows = row->part();
    uint64_t count = count_of(w, row, least_of(rows));
    bool rest = row->count == PD_COUNT_REST;
    open_field(w, row, row->name, PD_KIND_list, count);
    if (!count) {
        w->damaged |= row->self_sized && left_of(w); /* less than one item */
        w->sink->close(w->sink);
        return true;
    }
    if (!push(w, rows, w->end, true, rest ? UINT64_MAX : count - 1))
        return false;
    w->frames[w->depth - 1].self_sized = row->self_sized;
    if (!begin_item(w, &w->frames[w->depth - 1])) {
        w->damaged = true;
        end_list(w);
    }
    return true;
}

static bool visit_window(struct walk *w, const struct pd_row *row)
{
    uint64_t size = count_of(w, row, 1);
    open_field(w, row, row->name, PD_KIND_window, 0);
    return push(w, row->part(), w->at + size, false, 0);
}

static bool visit_feature(struct walk *w, const struct pd_row *row)
{
    uint64_t number = w->registers[6];
    const struct pd_row *rows = number <= UINT32_MAX ? pd_feature_rows((unsigned)number, NULL)
                                                     : NULL;
    static const struct pd_row none = { .name = NULL };
    if (!left_of(w))
        /* a mark, like the one that ends a pipe's features: its number is the writer's last */
        rows = NULL;
    open_field(w, row, row->name, PD_KIND_window, 0);
    return push(w, rows ? rows : &none, w->end, false, 0);
}

static bool visit_nested(struct walk *w, const struct pd_row *row)
{
    switch (row->kind) {
    case PD_KIND_attr: return visit_attr(w, row);
    case PD_KIND_list: return visit_list(w, row);
    case PD_KIND_window: return visit_window(w, row);
    default: break;
    }
    if (w->sink->whole)
        emit_bytes(w, row, row->name, (enum pd_kind)row->kind, left_of(w));
    else if (row->kind == PD_KIND_read)
        visit_read_body(w, row);
    else if (row->kind == PD_KIND_sample)
        visit_sample_body(w);
    else
        return visit_feature(w, row);
    return true;
}

static bool visit_row(struct walk *w, const struct pd_row *row)
{
    switch (pd_kinds[row->kind].shape) {
    case PD_SHAPE_NUMBER: return visit_number(w, row);
    case PD_SHAPE_TEXT: return visit_text(w, row);
    case PD_SHAPE_BYTES: return visit_bytes(w, row);
    case PD_SHAPE_PADDING: visit_padding(w, row); return true;
    case PD_SHAPE_ARRAY: visit_array(w, row); return true;
    default: return visit_nested(w, row);
    }
}

static void finish_item(struct walk *w, struct frame *frame)
{
    if (frame->self_sized) {
        emit_unread(w);
        w->end = frame->end;
    }
    w->sink->close(w->sink);
    bool more = frame->left == UINT64_MAX ? w->at < w->end : frame->left > 0;
    frame->left -= frame->left != UINT64_MAX;
    frame->row = frame->rows;
    if (more && begin_item(w, frame))
        return;
    w->damaged |= more;
    end_list(w);
}

/* The last row of an item, a window or the body is behind us. */
static void finish(struct walk *w)
{
    struct frame *frame = &w->frames[w->depth - 1];
    if (frame->list) {
        finish_item(w, frame);
        return;
    }
    emit_unread(w);
    if (w->depth > 1)
        w->sink->close(w->sink);
    w->end = frame->end;
    w->depth--;
}

/* A field that is not there ends its window: what is left of that is unread, and what is around
 * goes on. */
static void cut(struct walk *w)
{
    static const struct pd_row none = { .name = NULL };
    w->damaged = true;
    while (w->depth && w->frames[w->depth - 1].list && !w->frames[w->depth - 1].self_sized) {
        w->sink->close(w->sink);
        end_list(w);
    }
    if (w->depth)
        w->frames[w->depth - 1].row = &none;
}

static void run(struct walk *w)
{
    while (w->depth) {
        struct frame *frame = &w->frames[w->depth - 1];
        const struct pd_row *row = frame->row;
        if (!row->name) {
            finish(w);
            continue;
        }
        frame->row++;
        if (row->when && !pd_row_holds(row, w->registers, w->misc, left_of(w)))
            continue;
        if (!visit_row(w, row))
            cut(w);
    }
}

perfdata_status pd_rows_walk(const struct pd_row *rows, const uint8_t *bytes, size_t size,
                             bool swap, uint32_t cpus, struct pd_sink *sink)
{
    struct walk w = {
        .sink = sink, .start = bytes, .at = bytes, .end = bytes + size, .swap = swap
    };
    w.registers[7] = cpus;
    push(&w, rows, w.end, false, 0);
    run(&w);
    return w.damaged ? PERFDATA_ERROR_BAD_RECORD : PERFDATA_OK;
}

static void visit_header(struct walk *w, const struct pd_record_header *header)
{
    static const struct pd_row narrow[] = {
        { .name = "type", .kind = PD_KIND_u32, .names = &pd_names_record },
        { .name = "misc", .kind = PD_KIND_u16 },
        { .name = "size", .kind = PD_KIND_u16 },
        { .name = NULL },
    };
    static const struct pd_row wide[] = {
        { .name = "type", .kind = PD_KIND_u32, .names = &pd_names_record },
        { .name = "size", .kind = PD_KIND_wide_size },
        { .name = NULL },
    };
    for (const struct pd_row *row = header->type >= PD_RECORD_WIDE ? wide : narrow; row->name;
         row++)
        visit_number(w, row);
}

perfdata_status pd_fields_walk(const struct pd_fields_input *input, struct pd_sink *sink)
{
    struct pd_record_header header = pd_record_header(input->record, input->swap);
    const struct pd_event *event = header.type < PD_RECORD_KERNEL_END ? input->event : NULL;
    const struct pd_row *rows = pd_record_rows(header.type, NULL);
    const uint8_t *end = input->record + input->size;
    struct walk w = { .sink = sink,
                      .event = event,
                      .start = input->record,
                      .at = input->record,
                      .end = end,
                      .swap = input->swap,
                      .misc = header.misc };
    uint32_t trailer = event && header.type != PD_RECORD_SAMPLE ? event->plan.trailer_size : 0;
    w.registers[7] = input->cpus;
    if (!sink->headless)
        visit_header(&w, &header);
    w.at = input->record + 8;
    if (trailer && trailer <= input->size - 8)
        w.end -= trailer;
    else
        w.damaged |= trailer != 0;
    const uint8_t *body_end = w.end;
    if (rows) {
        push(&w, rows, w.end, false, 0);
        run(&w);
    }
    w.end = body_end;
    emit_unread(&w);
    if (body_end != end) {
        open_field(&w, NULL, "sample_id", PD_KIND_window, 0);
        visit_trailer(emit_to_sink, &w, event->plan.sample_type, body_end, w.swap);
        sink->close(sink);
    }
    return w.damaged ? PERFDATA_ERROR_BAD_RECORD : PERFDATA_OK;
}
