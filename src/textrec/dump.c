/* SPDX-License-Identifier: MIT */
/* A recording as text: its sections in the order of the file, what is between them as gaps. Each
 * item is assembled again before it is written; one that does not give its bytes is written with
 * all its fields, at last as bytes. */
#include "container/handle.h"
#include "textrec/pdt.h"
#include <perfdata/text_recording.h>
#include <stdlib.h>

enum { GAP_LINE = 1024, FLUSH_AT = 65536 };

enum section_kind {
    SECTION_TYPES,
    SECTION_IDS,
    SECTION_ATTRS,
    SECTION_DATA,
    SECTION_TABLE,
    SECTION_FEATURE
};

struct section {
    uint64_t offset, size;
    enum section_kind kind;
    unsigned index; /* of the event or feature */
};

struct dumper {
    struct pd_recording *recording;
    struct pd_context *context;
    struct pd_source *source;
    uint32_t part;
    uint64_t total, cursor;
    perfdata_write_fn write;
    void *data;
    uint64_t plain;
    struct pdt pdt;      /* reads what we print */
    struct pd_text text; /* not yet written; the item under way begins at `begin` */
    size_t begin;
    struct pdt_printer printer;
    PD_VEC(struct section) sections;
    PD_VEC(char *) names; /* of events, by index */
    size_t header_attrs;  /* records that brought an event so far */
    uint8_t header[104];
    bool in_data;
};

static perfdata_status flush(struct dumper *d, size_t above)
{
    if (d->text.failed || d->pdt.out.failed)
        return pd_no_memory(d->context, NULL);
    if (d->text.length <= above)
        return PERFDATA_OK;
    bool stop = d->write(d->data, d->text.data, d->text.length) != 0;
    d->text.length = 0;
    return stop ? pd_fail(d->context, PERFDATA_ERROR_OUTPUT, -1, "the output takes no more")
                : PERFDATA_OK;
}

/* ---- items ---- */

static struct pd_text *begin_item(struct dumper *d)
{
    d->begin = d->text.length;
    return &d->text;
}

/* Whether what was printed since begin_item() gives these bytes; it is taken back if not. */
static bool gives(struct dumper *d, const uint8_t *bytes, size_t size)
{
    pd_text_char(&d->text, '\n');
    size_t events = d->pdt.events.count;
    bool same = !d->text.failed &&
                pdt_take(&d->pdt, d->text.data + d->begin, d->text.length - d->begin) &&
                d->pdt.out.length == size && (!size || !memcmp(d->pdt.out.data, bytes, size));
    if (!same) {
        d->text.length = d->text.failed ? d->text.length : d->begin;
        while (d->pdt.events.count > events) { /* the next try brings it again */
            struct pdt_event *event = d->pdt.events.data[--d->pdt.events.count];
            free(event->name);
            pd_vec_free(&event->ids);
            pd_vec_free(&event->attr);
            free(event);
        }
    }
    return same;
}

/* Accepts the item as it was printed; it stands for so many bytes. */
static perfdata_status accept(struct dumper *d, uint64_t size)
{
    d->cursor += size;
    d->pdt.position = d->cursor;
    return flush(d, FLUSH_AT);
}

/* An item that has no other form and must be right. */
static perfdata_status settle(struct dumper *d, uint64_t size)
{
    pd_text_char(&d->text, '\n');
    if (d->text.failed)
        return pd_no_memory(d->context, NULL);
    if (!pdt_take(&d->pdt, d->text.data + d->begin, d->text.length - d->begin))
        return pd_fail(d->context, PERFDATA_ERROR_UNSUPPORTED, (int64_t)d->cursor,
                       "no text for what is here: %s", d->pdt.item.error);
    return accept(d, size);
}

static perfdata_status print_gap(struct dumper *d, uint64_t end)
{
    uint8_t bytes[GAP_LINE];
    while (d->cursor < end) {
        size_t got, want = (size_t)PD_MIN(end - d->cursor, (uint64_t)GAP_LINE);
        perfdata_status status = pd_source_read(d->source, d->cursor, bytes, want, &got);
        if (status < 0)
            return status;
        if (!got)
            break;
        pd_text_string(&d->text, "gap ");
        pdt_print_bytes(&d->text, bytes, got);
        pd_text_char(&d->text, '\n');
        status = accept(d, got);
        if (status < 0)
            return status;
    }
    return PERFDATA_OK;
}

/* ---- events ---- */

/* Names the event with a word that no other event has. */
static perfdata_status name_event(struct dumper *d, size_t index)
{
    struct pd_text text = { 0 };
    const struct pd_event *event = index < d->recording->event_count ? d->recording->events[index]
                                                                     : NULL;
    const char *name = event && event->name && *event->name ? event->name : "event";
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", *name))
        pd_text_char(&text, '_');
    for (; *name && text.length < 80; name++)
        pd_text_char(&text, strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_-.:/@+",
                                   *name)
                                ? *name
                                : '_');
    for (size_t i = 0; i < d->names.count; i++) {
        if (strlen(d->names.data[i]) == text.length &&
            !memcmp(d->names.data[i], text.data, text.length)) {
            pd_text_format(&text, "~%zu", index + 1);
            break;
        }
    }
    pd_text_char(&text, '\0');
    if (text.failed || !pd_vec_push(&d->names, text.data)) {
        pd_text_free(&text);
        return pd_no_memory(d->context, NULL);
    }
    return PERFDATA_OK;
}

static const struct pdt_event *event_of(struct dumper *d, const struct pd_event *event)
{
    return event && event->index < d->pdt.events.count ? d->pdt.events.data[event->index] : NULL;
}

static const struct section *find_section(const struct dumper *d, enum section_kind kind,
                                          unsigned index)
{
    for (size_t i = 0; i < d->sections.count; i++)
        if (d->sections.data[i].kind == kind && d->sections.data[i].index == index)
            return &d->sections.data[i];
    return NULL;
}

static void print_ids(struct dumper *d, unsigned index, const uint8_t *entry, size_t room)
{
    const struct pd_event *event = d->recording->events[index];
    const struct section *section = find_section(d, SECTION_IDS, index);
    uint64_t offset = pd_load64(entry + room, d->recording->swap),
             size = pd_load64(entry + room + 8, d->recording->swap);
    if (event->id_count) {
        pd_text_string(&d->text, " ids=[");
        for (size_t i = 0; i < event->id_count; i++)
            pd_text_format(&d->text, "%s%llu", i ? " " : "", (unsigned long long)event->ids[i]);
        pd_text_char(&d->text, ']');
    }
    if (offset != (section ? section->offset : 0))
        pd_text_format(&d->text, " ids_offset=%llu!", (unsigned long long)offset);
    if (size != (section ? section->size : 0))
        pd_text_format(&d->text, " ids_size=%llu!", (unsigned long long)size);
}

static void print_attr(struct dumper *d, const char *name, const uint8_t *bytes, size_t size)
{
    const struct pd_row wanted[2] = {
        { .name = name, .kind = PD_KIND_attr, .count = PD_COUNT_REGISTER, .count_register = 7 },
        { .name = NULL }
    };
    struct pdt_printer *p = &d->printer;
    p->exact = false;
    p->event = NULL;
    pdt_print_begin(p, &d->text, bytes);
    p->depth = 0;
    (void)pd_rows_walk(wanted, bytes, size, d->recording->swap, (uint32_t)size, &p->sink);
}

/* Events of a file and of a directory's parts: all that a sample's layout needs. */
static perfdata_status print_events(struct dumper *d)
{
    struct pd_recording *recording = d->recording;
    size_t entry = (size_t)recording->attr_size, room = entry - 16, got;
    uint8_t *bytes = malloc(entry ? entry : 1);
    perfdata_status status = PERFDATA_OK;
    if (!bytes)
        return pd_no_memory(d->context, NULL);
    for (unsigned i = 0; i < recording->event_count && status == PERFDATA_OK; i++) {
        status = name_event(d, i);
        if (status == PERFDATA_OK)
            status = pd_source_read(recording->source, recording->attrs.offset + i * entry, bytes,
                                    entry, &got);
        if (status < 0)
            break;
        for (unsigned form = 0; form < 2; form++) {
            pd_text_string(begin_item(d), "attr");
            if (form) {
                pd_text_format(&d->text, " %s=", d->names.data[i]);
                pdt_print_bytes(&d->text, bytes, room);
                d->plain++;
            } else {
                print_attr(d, d->names.data[i], bytes, room);
            }
            print_ids(d, i, bytes, room);
            bool same = gives(d, NULL, 0) && d->pdt.events.count == i + 1u &&
                        d->pdt.events.data[i]->attr.data &&
                        !memcmp(d->pdt.events.data[i]->attr.data, bytes, room);
            if (same)
                break;
            status = form ? pd_fail(d->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                                    "no text for event %u: %s", i, d->pdt.item.error)
                          : status;
        }
        if (status == PERFDATA_OK)
            status = flush(d, FLUSH_AT);
    }
    free(bytes);
    return status;
}

/* ---- records ---- */

static void print_record(struct dumper *d, const struct pd_raw *raw, unsigned form)
{
    struct pd_text *text = begin_item(d);
    const char *name = pd_record_type_name(raw->type);
    uint32_t said = pd_record_header(raw->data, d->recording->swap).size;
    if (name)
        pd_text_format(text, "record %s", name);
    else
        pd_text_format(text, "record %u", raw->type);
    if (raw->misc)
        pd_text_format(text, " misc=0x%x", raw->misc);
    if (said != raw->size)
        pd_text_format(text, " size=%u!", said);
    if (raw->type == PD_RECORD_HEADER_ATTR && d->recording->kind == PD_CONTAINER_PIPE &&
        d->pdt.events.count < d->names.count)
        pd_text_format(text, " as=%s", d->names.data[d->pdt.events.count]);
    if (form == 2) {
        pd_text_char(text, ' ');
        pdt_print_bytes(text, raw->data + 8, raw->size - 8);
        return;
    }
    const struct pdt_event *event = event_of(d, raw->event);
    if (raw->type < PD_RECORD_KERNEL_END && d->pdt.events.count && event != d->pdt.events.data[0])
        pd_text_format(text, " event=%s", event ? event->name : "-");
    if (form)
        pd_text_string(text, " exact");
    d->printer.exact = form;
    d->printer.event = event;
    d->printer.in_sample = raw->type == PD_RECORD_SAMPLE;
    struct pd_fields_input input = { raw->event, raw->data, raw->size, d->recording->swap,
                                     d->recording->features.nrcpus.available };
    pdt_print_begin(&d->printer, text, raw->data);
    (void)pd_fields_walk(&input, &d->printer.sink);
    pdt_print_end(&d->printer);
}

static perfdata_status put_record(struct dumper *d, const struct pd_raw *raw)
{
    unsigned form = 0;
    if (raw->type == PD_RECORD_HEADER_ATTR && d->recording->kind == PD_CONTAINER_PIPE &&
        d->names.count <= d->pdt.events.count) {
        perfdata_status status = name_event(d, d->names.count);
        if (status < 0)
            return status;
    }
    for (; form < 3; form++) {
        print_record(d, raw, form);
        if (gives(d, raw->data, raw->size))
            break;
    }
    d->plain += form == 2;
    if (form == 3) {
        return print_gap(d, d->cursor + raw->size);
    }
    return accept(d, raw->size);
}

/* A record, or what stands where one should. */
static perfdata_status put_records(struct dumper *d, uint64_t end)
{
    struct pd_walk *walk;
    struct pd_raw raw;
    perfdata_status status = pd_walk_open(d->recording, &walk);
    if (status < 0)
        return status;
    pd_walk_set(walk, PD_WALK_CLOSED);
    int more;
    while (status == PERFDATA_OK && (more = pd_walk_next(walk, &raw)) != 0) {
        if (more < 0) {
            status = more;
        } else if (raw.part == d->part && raw.offset >= d->cursor && raw.size >= 8 &&
                   raw.offset + raw.size <= end) {
            status = print_gap(d, raw.offset);
            if (status == PERFDATA_OK)
                status = put_record(d, &raw);
        } else if (raw.part > d->part) {
            break;
        }
    }
    pd_walk_close(walk);
    return status == PERFDATA_OK ? print_gap(d, end) : status;
}

/* ---- sections ---- */

static int compare_sections(const void *a, const void *b)
{
    const struct section *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (!x->size != !y->size)
        return x->size ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* A section that lies outside the file or over another one has its bytes in gaps, or in that other
 * section. */
static perfdata_status add_section(struct dumper *d, enum section_kind kind, unsigned index,
                                   uint64_t offset, uint64_t size)
{
    if (!pd_range_ok(offset, size, d->total) || offset < d->recording->header_size)
        return PERFDATA_OK;
    for (size_t i = 0; i < d->sections.count; i++) {
        const struct section *other = &d->sections.data[i];
        uint64_t other_end = other->offset + other->size, end = offset + size;
        if (size && other->size ? offset < other_end && other->offset < end
            : size              ? other->offset > offset && other->offset < end
                                : offset > other->offset && offset < other_end)
            return PERFDATA_OK;
    }
    struct section section = { offset, size, kind, index };
    return pd_vec_push(&d->sections, section) ? PERFDATA_OK : pd_no_memory(d->context, NULL);
}

static unsigned count_features(const struct pd_recording *recording)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 4; i++)
        count += (unsigned)__builtin_popcountll(recording->feature_table.bits[i]);
    return count;
}

/* The features' places as the table has them: pd_recording leaves out what it cannot read. */
static perfdata_status feature_entry(struct dumper *d, unsigned n, struct pd_section *out)
{
    uint8_t entry[16] = { 0 };
    size_t got;
    perfdata_status status = pd_source_read(d->source, d->recording->feature_table.offset + 16 * n,
                                            entry, 16, &got);
    *out = (struct pd_section){ pd_load64(entry, d->recording->swap),
                                pd_load64(entry + 8, d->recording->swap) };
    return status;
}

static perfdata_status plan_features(struct dumper *d)
{
    struct pd_recording *recording = d->recording;
    unsigned count = count_features(recording), n = 0;
    perfdata_status status = PERFDATA_OK;
    if (!recording->feature_table.offset || !count)
        return status;
    status = add_section(d, SECTION_TABLE, 0, recording->feature_table.offset, 16 * count);
    if (!find_section(d, SECTION_TABLE, 0))
        return status;
    for (unsigned i = 0; i < 256 && status == PERFDATA_OK; i++) {
        struct pd_section section;
        if (!pd_recording_has_feature(recording, i))
            continue;
        status = feature_entry(d, n++, &section);
        if (status == PERFDATA_OK && recording->feature_table.bytes[i].data &&
            recording->feature_table.bytes[i].size == section.size)
            status = add_section(d, SECTION_FEATURE, i, section.offset, section.size);
    }
    return status;
}

static perfdata_status plan_sections(struct dumper *d)
{
    struct pd_recording *recording = d->recording;
    uint64_t attr_size = recording->attr_size;
    perfdata_status status = add_section(d, SECTION_DATA, 0, recording->data.offset,
                                         recording->data.size);
    if (status == PERFDATA_OK && recording->attrs.offset)
        status = add_section(d, SECTION_ATTRS, 0, recording->attrs.offset,
                             recording->event_count * attr_size);
    for (unsigned i = 0; i < recording->event_count && status == PERFDATA_OK; i++) {
        uint8_t entry[16];
        size_t got;
        status = pd_source_read(d->source, recording->attrs.offset + (i + 1) * attr_size - 16,
                                entry, 16, &got);
        uint64_t offset = pd_load64(entry, recording->swap),
                 size = pd_load64(entry + 8, recording->swap);
        if (status == PERFDATA_OK && got == 16 && size / 8 == recording->events[i]->id_count &&
            size % 8 == 0 && offset)
            status = add_section(d, SECTION_IDS, i, offset, size);
    }
    if (status == PERFDATA_OK && recording->event_types.size)
        status = add_section(d, SECTION_TYPES, 0, recording->event_types.offset,
                             recording->event_types.size);
    if (status == PERFDATA_OK)
        status = plan_features(d);
    if (d->sections.count)
        qsort(d->sections.data, d->sections.count, sizeof *d->sections.data, compare_sections);
    return status;
}

/* The container line: only what does not follow from the sections is written. */
static void print_container(struct dumper *d)
{
    struct pd_recording *recording = d->recording;
    struct pdt_layout layout = { .version = recording->version,
                                 .swap = recording->swap,
                                 .big_endian = recording->big_endian,
                                 .header_size = recording->header_size,
                                 .attr_size = recording->attr_size };
    struct pd_text *text = begin_item(d);
    uint8_t header[104];
    for (size_t i = 0; i < d->sections.count; i++) {
        const struct section *it = &d->sections.data[i];
        struct pd_section place = { it->offset, it->size };
        if (it->kind == SECTION_DATA)
            layout.data = place;
        else if (it->kind == SECTION_ATTRS)
            layout.attrs = place;
        else if (it->kind == SECTION_TYPES)
            layout.types = place;
        else if (it->kind == SECTION_TABLE)
            memcpy(layout.feature_bits, recording->feature_table.bits, sizeof layout.feature_bits);
    }
    pd_text_format(text, "container file order=%s header_size=%llu",
                   recording->big_endian ? "big" : "little",
                   (unsigned long long)recording->header_size);
    if (recording->version != 2)
        pd_text_format(text, " version=%u", recording->version);
    if (recording->attr_size != PDT_ATTR_SIZE + 16)
        pd_text_format(text, " attr_size=%llu", (unsigned long long)recording->attr_size);
    pdt_layout_header(&layout, header);
    for (unsigned i = 0; i < PDT_HEADER_FIELDS; i++) {
        unsigned at = pdt_header_fields[i].offset;
        if (memcmp(header + at, d->header + at, 8) != 0)
            pd_text_format(text, " %s=%llu!", pdt_header_fields[i].name,
                           (unsigned long long)pd_load64(d->header + at, recording->swap));
    }
    if (recording->header_size < 104 || !memcmp(header + 72, d->header + 72, 32))
        return;
    layout.narrow = true;
    pdt_layout_header(&layout, header);
    if (!memcmp(header + 72, d->header + 72, 32)) {
        pd_text_string(text, " longs=32");
        return;
    }
    pd_text_string(text, " bitmap=");
    pdt_print_bytes(text, d->header + 72, 32);
    pd_text_char(text, '!');
}

static perfdata_status print_table(struct dumper *d)
{
    struct pd_text *text = begin_item(d);
    unsigned n = 0;
    pd_text_string(text, "features");
    for (unsigned i = 0; i < 256; i++) {
        struct pd_section place;
        if (!pd_recording_has_feature(d->recording, i))
            continue;
        perfdata_status status = feature_entry(d, n++, &place);
        if (status < 0)
            return status;
        if (pd_feature_name(i))
            pd_text_format(text, " %s", pd_feature_name(i));
        else
            pd_text_format(text, " %u", i);
        if (!find_section(d, SECTION_FEATURE, i)) {
            pd_text_format(text, "=[%llu %llu]", (unsigned long long)place.offset,
                           (unsigned long long)place.size);
        }
    }
    return settle(d, 16 * n);
}

static perfdata_status print_feature(struct dumper *d, unsigned feature)
{
    const struct pd_feature_bytes *bytes = &d->recording->feature_table.bytes[feature];
    const struct pd_row *rows = pd_feature_rows(feature, NULL);
    unsigned form = rows && (bytes->size || !rows->name) ? 0 : 2;
    d->printer.event = NULL;
    for (;; form++) {
        struct pd_text *text = begin_item(d);
        if (pd_feature_name(feature))
            pd_text_format(text, "feature %s", pd_feature_name(feature));
        else
            pd_text_format(text, "feature %u", feature);
        if (form == 2) {
            pd_text_char(text, ' ');
            pdt_print_bytes(text, bytes->data, bytes->size);
            d->plain += rows && bytes->size;
            return settle(d, bytes->size);
        }
        if (form)
            pd_text_string(text, " exact");
        d->printer.exact = form;
        pdt_print_begin(&d->printer, text, bytes->data);
        (void)pd_rows_walk(rows, bytes->data, bytes->size, d->recording->swap,
                           d->recording->features.nrcpus.available, &d->printer.sink);
        pdt_print_end(&d->printer);
        if (gives(d, bytes->data, bytes->size))
            return accept(d, bytes->size);
    }
}

static perfdata_status print_types(struct dumper *d, const struct section *section)
{
    uint8_t *bytes = malloc((size_t)section->size);
    size_t got;
    if (!bytes)
        return pd_no_memory(d->context, NULL);
    perfdata_status status = pd_source_read(d->source, section->offset, bytes,
                                            (size_t)section->size, &got);
    pd_text_string(begin_item(d), "types ");
    pdt_print_bytes(&d->text, bytes, (size_t)section->size);
    free(bytes);
    return status < 0 ? status : settle(d, section->size);
}

static perfdata_status print_section(struct dumper *d, const struct section *section)
{
    switch (section->kind) {
    case SECTION_IDS:
        pd_text_format(begin_item(d), "ids %s", d->names.data[section->index]);
        return settle(d, section->size);
    case SECTION_ATTRS: pd_text_string(begin_item(d), "attrs"); return settle(d, section->size);
    case SECTION_TYPES: return print_types(d, section);
    case SECTION_TABLE: return print_table(d);
    case SECTION_FEATURE: return print_feature(d, section->index);
    case SECTION_DATA: break;
    }
    pd_text_string(begin_item(d), "data");
    perfdata_status status = settle(d, 0);
    if (status == PERFDATA_OK)
        status = put_records(d, section->offset + section->size);
    pd_text_string(begin_item(d), "end");
    return status < 0 ? status : settle(d, 0);
}

/* ---- files ---- */

static perfdata_status dump_file(struct dumper *d)
{
    size_t got;
    perfdata_status status = pd_source_read(d->source, 0, d->header, sizeof d->header, &got);
    if (status == PERFDATA_OK)
        status = plan_sections(d);
    if (status < 0)
        return status;
    print_container(d);
    status = settle(d, d->recording->header_size);
    if (status == PERFDATA_OK)
        status = print_events(d);
    for (size_t i = 0; i < d->sections.count && status == PERFDATA_OK; i++) {
        status = print_gap(d, d->sections.data[i].offset);
        if (status == PERFDATA_OK)
            status = print_section(d, &d->sections.data[i]);
    }
    return status;
}

static perfdata_status dump_pipe(struct dumper *d)
{
    pd_text_format(begin_item(d), "container pipe order=%s",
                   d->recording->big_endian ? "big" : "little");
    if (d->recording->version != 2)
        pd_text_format(&d->text, " version=%u", d->recording->version);
    perfdata_status status = settle(d, 16);
    return status < 0 ? status : put_records(d, d->total);
}

static perfdata_status dump_part(struct dumper *d)
{
    pd_text_format(begin_item(d), "container part order=%s attr_size=%llu",
                   d->recording->big_endian ? "big" : "little",
                   (unsigned long long)d->recording->attr_size);
    perfdata_status status = settle(d, 0);
    if (status == PERFDATA_OK)
        status = print_events(d);
    return status < 0 ? status : put_records(d, d->total);
}

static perfdata_status dump_raw(struct dumper *d)
{
    pd_text_string(begin_item(d), "container raw");
    perfdata_status status = settle(d, 0);
    return status < 0 ? status : print_gap(d, d->total);
}

static perfdata_status dump_any(struct dumper *d, bool open)
{
    const struct pd_recording *recording = d->recording;
    if (recording->kind != PD_CONTAINER_PIPE) /* as the reader of the text has it */
        open &= recording->attr_size >= PD_LEAST_attr + 16 &&
                recording->attr_size <= PDT_ATTR_SIZE_MAX &&
                recording->event_count <= PDT_EVENTS_MAX;
    pd_text_string(begin_item(d), "perfdata-text 1");
    perfdata_status status = settle(d, 0);
    if (status == PERFDATA_OK)
        status = !open                                  ? dump_raw(d)
                 : d->part                              ? dump_part(d)
                 : recording->kind == PD_CONTAINER_PIPE ? dump_pipe(d)
                                                        : dump_file(d);
    if (status == PERFDATA_OK)
        status = print_gap(d, d->total);
    perfdata_status last = flush(d, 0);
    return status < 0 ? status : last;
}

const char *perfdata_textrec_file(const perfdata_recording *recording, size_t index)
{
    const struct pd_recording *inner = &recording->recording;
    if (!index)
        return "data";
    return index <= inner->parts.count ? inner->parts.names[index - 1] : NULL;
}

perfdata_status perfdata_textrec_print(perfdata_recording *recording, size_t index,
                                       perfdata_write_fn write, void *data, uint64_t *plain)
{
    struct pd_recording *inner = &recording->recording;
    struct dumper d = { .recording = inner,
                        .context = &inner->context,
                        .part = (uint32_t)index,
                        .source = index && index <= inner->parts.count
                                      ? inner->parts.sources[index - 1]
                                      : inner->source,
                        .write = write,
                        .data = data };
    if (!d.source || pd_source_is_directory(d.source) || index > inner->parts.count)
        return PERFDATA_ERROR_ARGUMENT;
    d.total = pd_source_size(d.source);
    if (d.total == UINT64_MAX)
        return pd_fail(d.context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "a text recording is made of a file: this comes through a pipe");
    perfdata_status status = dump_any(&d, recording->open);
    if (plain)
        *plain = d.plain;
    for (size_t i = 0; i < d.names.count; i++)
        free(d.names.data[i]);
    pd_vec_free(&d.names);
    pd_vec_free(&d.sections);
    pd_text_free(&d.text);
    pdt_free(&d.pdt);
    return status;
}
