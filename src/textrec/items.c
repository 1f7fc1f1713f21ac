/* SPDX-License-Identifier: MIT */
/* The items of a text recording into the bytes of a recording. */
#include "textrec/pdt.h"
#include <stdlib.h>

/* Without the bitmap of features and with it. */
enum { HEADER_OLD = 72, HEADER_NEW = 104 };

const struct pdt_header_field pdt_header_fields[PDT_HEADER_FIELDS] = {
    { "attrs_offset", 24 }, { "attrs_size", 32 },   { "data_offset", 40 },
    { "data_size", 48 },    { "types_offset", 56 }, { "types_size", 64 },
};

static struct pdt_node *node_of(struct pdt *p, uint32_t node)
{
    return &p->item.nodes.data[node];
}

/* The nth value without a name. */
static uint32_t positional(struct pdt *p, unsigned n)
{
    const struct pdt_node *nodes = p->item.nodes.data;
    for (uint32_t i = 1; i < nodes[0].end; i = nodes[i].end)
        if (!nodes[i].name && !n--)
            return i;
    return PDT_NONE;
}

static bool no_memory(struct pdt *p)
{
    return pdt_error(&p->item, 0, "out of memory");
}

/* A named number of the item, or what is in *value. */
static bool option(struct pdt *p, const char *name, uint64_t *value, bool *given)
{
    uint32_t node = pdt_find(&p->item, 0, name);
    if (given)
        *given = node != PDT_NONE;
    if (node == PDT_NONE)
        return true;
    if (node_of(p, node)->kind != PDT_NUMBER || node_of(p, node)->form == PDT_REAL)
        return pdt_error(&p->item, node_of(p, node)->at, "%s: expected a number", name);
    *value = node_of(p, node)->number;
    return true;
}

static bool expect_bytes(struct pdt *p, uint32_t node, const uint8_t **bytes, size_t *size)
{
    if (node == PDT_NONE)
        return pdt_error(&p->item, p->item.length, "expected bytes like x\"00ff\"");
    if (node_of(p, node)->kind != PDT_BYTES && node_of(p, node)->kind != PDT_TEXT)
        return pdt_error(&p->item, node_of(p, node)->at, "expected bytes like x\"00ff\"");
    *size = node_of(p, node)->size;
    *bytes = *size ? (const uint8_t *)p->item.bytes.data + node_of(p, node)->data
                   : (const uint8_t *)"";
    return true;
}

static bool put_given(struct pdt *p, uint32_t node)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (!expect_bytes(p, node, &bytes, &size))
        return false;
    pd_text_bytes(&p->out, bytes, size);
    return true;
}

/* ---- events ---- */

static struct pdt_event *find_event(struct pdt *p, const char *name, size_t length)
{
    for (size_t i = 0; i < p->events.count; i++)
        if (strlen(p->events.data[i]->name) == length &&
            !memcmp(p->events.data[i]->name, name, length))
            return p->events.data[i];
    return NULL;
}

static void free_event(struct pdt_event *event)
{
    free(event->name);
    pd_vec_free(&event->ids);
    pd_vec_free(&event->attr);
    free(event);
}

static struct pdt_event *new_event(struct pdt *p, const char *name, size_t length)
{
    struct pdt_event *event = calloc(1, sizeof *event);
    if (!event)
        return NULL;
    event->name = strndup(name, length);
    event->event.index = (uint32_t)p->events.count;
    if (event->name && pd_vec_push(&p->events, event))
        return event;
    free_event(event);
    return NULL;
}

/* A record that brings an event: what a reader takes of it. */
static bool take_header_attr(struct pdt *p, uint32_t as, size_t begin)
{
    const uint8_t *bytes = (const uint8_t *)p->out.data + begin + 8;
    size_t room = p->out.length - begin - 8;
    struct pd_attr attr;
    if (pd_attr_decode(bytes, room, p->layout.swap, &attr) < 0 || p->events.count >= PDT_EVENTS_MAX)
        return true;
    const char *name = as == PDT_NONE ? "" : p->item.text + node_of(p, as)->data;
    struct pdt_event *event = new_event(p, name, as == PDT_NONE ? 0 : node_of(p, as)->size);
    if (!event)
        return no_memory(p);
    event->event.attr = attr;
    pdt_event_rows(event, p->layout.swap);
    for (size_t at = PD_MIN((size_t)attr.size, room); at + 8 <= room; at += 8)
        if (!pd_vec_push(&event->ids, pd_load64(bytes + at, p->layout.swap)))
            return no_memory(p);
    return true;
}

static bool take_ids_list(struct pdt *p, struct pdt_event *event)
{
    uint32_t list = pdt_find(&p->item, 0, "ids");
    if (list == PDT_NONE)
        return true;
    if (node_of(p, list)->kind != PDT_LIST)
        return pdt_error(&p->item, node_of(p, list)->at, "ids: expected a list like [1 2]");
    for (uint32_t i = list + 1; i < node_of(p, list)->end; i++) {
        if (node_of(p, i)->kind != PDT_NUMBER)
            return pdt_error(&p->item, node_of(p, i)->at, "ids: expected a number");
        if (!pd_vec_push(&event->ids, node_of(p, i)->number))
            return no_memory(p);
    }
    return true;
}

/* attr NAME = {...} ids=[...]: only what events are; `attrs` says where they stand. */
static bool take_attr(struct pdt *p)
{
    uint32_t value = 2;
    if (p->item.nodes.count < 3 || !node_of(p, value)->name)
        return pdt_error(&p->item, p->item.length, "expected attr NAME = {...}");
    struct pdt_node *node = node_of(p, value);
    node->used = true;
    if (find_event(p, node->name, node->name_length))
        return pdt_error(&p->item, node->at, "expected a name that no attr has yet");
    if (p->events.count >= PDT_EVENTS_MAX)
        return pdt_error(&p->item, node->at, "expected at most %d attrs", PDT_EVENTS_MAX);
    struct pdt_event *event = new_event(p, node->name, node->name_length);
    if (!event)
        return no_memory(p);
    struct pd_text bytes = { 0 };
    struct pdt_coder coder = { .item = &p->item, .out = &bytes, .swap = p->layout.swap };
    size_t room = (size_t)p->layout.attr_size - 16;
    bool ok = true;
    if (node->kind == PDT_BYTES)
        pd_text_bytes(&bytes, p->item.bytes.data + node->data, node->size);
    else
        ok = pdt_encode_attr(&coder, value, room);
    if (ok && bytes.length != room)
        ok = pdt_error(&p->item, node_of(p, value)->at, "expected an attr of %zu bytes", room);
    if (ok && (!bytes.data || bytes.failed || !pd_vec_reserve(&event->attr, room)))
        ok = no_memory(p);
    if (ok && event->attr.data) {
        memcpy(event->attr.data, bytes.data, room);
        event->attr.count = room;
        (void)pd_attr_decode(event->attr.data, room, p->layout.swap, &event->event.attr);
        pdt_event_rows(event, p->layout.swap);
    }
    pd_text_free(&bytes);
    return ok && take_ids_list(p, event) &&
           option(p, "ids_offset", &event->ids_forced.offset, &event->force_offset) &&
           option(p, "ids_size", &event->ids_forced.size, &event->force_size);
}

static struct pdt_event *named_event(struct pdt *p, uint32_t node)
{
    struct pdt_event *event = NULL;
    if (node != PDT_NONE && node_of(p, node)->kind == PDT_WORD)
        event = find_event(p, p->item.text + node_of(p, node)->data, node_of(p, node)->size);
    if (!event)
        pdt_error(&p->item, node == PDT_NONE ? p->item.length : node_of(p, node)->at,
                  "expected the name of an attr above");
    return event;
}

static bool take_ids(struct pdt *p)
{
    struct pdt_event *event = named_event(p, positional(p, 1));
    if (!event)
        return false;
    event->ids_section = (struct pd_section){ p->position, 8 * event->ids.count };
    for (size_t i = 0; i < event->ids.count; i++) {
        uint8_t bytes[8];
        pd_store64(bytes, event->ids.data[i], p->layout.swap);
        pd_text_bytes(&p->out, bytes, 8);
    }
    return true;
}

static bool take_attrs(struct pdt *p)
{
    if (p->table_events)
        return pdt_error(&p->item, 0, "expected attrs only once");
    p->table_events = p->events.count;
    p->layout.attrs = (struct pd_section){ p->position, p->table_events * p->layout.attr_size };
    for (size_t i = 0; i < p->events.count; i++) {
        pd_text_bytes(&p->out, p->events.data[i]->attr.data, p->events.data[i]->attr.count);
        pd_text_fill(&p->out, '\0', 16);
    }
    return true;
}

/* ---- the container ---- */

void pdt_layout_header(const struct pdt_layout *layout, uint8_t header[HEADER_NEW])
{
    bool swap = layout->swap;
    const struct pd_section *sections[] = { &layout->attrs, &layout->data, &layout->types };
    memset(header, 0, HEADER_NEW);
    const char *magic = layout->version == 1 ? "PERFFILE"
                        : layout->big_endian ? "2ELIFREP"
                                             : "PERFILE2";
    for (unsigned i = 0; i < 8; i++)
        header[i] = (uint8_t)magic[i];
    pd_store64(header + 8, layout->header_size, swap);
    pd_store64(header + 16, layout->attr_size, swap);
    for (unsigned i = 0; i < 3; i++) {
        pd_store64(header + 24 + 16 * i, sections[i]->offset, swap);
        pd_store64(header + 32 + 16 * i, sections[i]->size, swap);
    }
    for (unsigned i = 0; i < 4; i++) {
        uint64_t word = layout->feature_bits[i];
        pd_store64(header + HEADER_OLD + 8 * i, layout->narrow ? word << 32 | word >> 32 : word,
                   swap);
    }
}

static bool take_order(struct pdt *p)
{
    uint32_t order = pdt_find(&p->item, 0, "order");
    p->layout.big_endian = pdt_is(&p->item, order, "big");
    if (order != PDT_NONE && !p->layout.big_endian && !pdt_is(&p->item, order, "little"))
        return pdt_error(&p->item, node_of(p, order)->at, "order: expected little or big");
    p->layout.swap = p->layout.big_endian != pd_is_big_endian(false);
    return true;
}

static bool take_file_options(struct pdt *p)
{
    uint64_t version = 2, longs = 64;
    uint32_t bitmap = pdt_find(&p->item, 0, "bitmap");
    p->layout.header_size = HEADER_NEW;
    p->layout.attr_size = PDT_ATTR_SIZE + 16;
    bool ok = option(p, "version", &version, NULL) && option(p, "longs", &longs, NULL) &&
              option(p, "header_size", &p->layout.header_size, NULL) &&
              option(p, "attr_size", &p->layout.attr_size, NULL);
    for (unsigned i = 0; ok && i < PDT_HEADER_FIELDS; i++)
        ok = option(p, pdt_header_fields[i].name, &p->header_value[i], &p->force_header[i]);
    if (!ok)
        return false;
    p->layout.version = (unsigned)version;
    p->layout.narrow = longs == 32;
    if (version < 1 || version > 2 || (longs != 32 && longs != 64) ||
        (p->layout.header_size != HEADER_OLD && p->layout.header_size != HEADER_NEW) ||
        p->layout.attr_size < PD_LEAST_attr + 16 || p->layout.attr_size > PDT_ATTR_SIZE_MAX)
        return pdt_error(&p->item, 0,
                         "expected version 1 or 2, longs 32 or 64, header_size 72 or "
                         "104, attr_size 80 to 4096");
    p->force_bitmap = bitmap != PDT_NONE;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (!p->force_bitmap)
        return true;
    if (!expect_bytes(p, bitmap, &bytes, &size))
        return false;
    if (size != 32)
        return pdt_error(&p->item, node_of(p, bitmap)->at, "bitmap: expected 32 bytes");
    memcpy(p->bitmap, bytes, 32);
    return true;
}

static bool take_container(struct pdt *p)
{
    uint32_t kind = positional(p, 1);
    struct pdt_layout *layout = &p->layout;
    uint8_t header[104];
    layout->attr_size = PDT_ATTR_SIZE + 16;
    layout->version = 2;
    if (p->begun)
        return pdt_error(&p->item, 0, "expected one container only");
    p->begun = true;
    if (pdt_is(&p->item, kind, "raw"))
        layout->kind = PDT_RAW;
    else if (pdt_is(&p->item, kind, "file"))
        layout->kind = PDT_FILE;
    else if (pdt_is(&p->item, kind, "pipe"))
        layout->kind = PDT_PIPE;
    else if (pdt_is(&p->item, kind, "part"))
        layout->kind = PDT_PART;
    else
        return pdt_error(&p->item, kind == PDT_NONE ? p->item.length : node_of(p, kind)->at,
                         "expected file, pipe, part or raw");
    if (!take_order(p) || !take_file_options(p))
        return false;
    if (layout->kind == PDT_PIPE)
        layout->header_size = 16;
    if (layout->kind == PDT_RAW || layout->kind == PDT_PART)
        layout->header_size = 0;
    pdt_layout_header(layout, header);
    pd_text_bytes(&p->out, header, (size_t)layout->header_size);
    return true;
}

/* ---- records ---- */

static void begin_data(struct pdt *p)
{
    if (!p->in_data && !p->had_data)
        p->layout.data.offset = p->position;
    p->in_data = p->had_data = true;
}

static void end_data(struct pdt *p)
{
    if (p->in_data)
        p->layout.data.size = p->position - p->layout.data.offset;
    p->in_data = false;
}

static bool number_by_name(struct pdt *p, uint32_t node, const struct pd_names *names,
                           const char *what, uint32_t *out)
{
    if (node == PDT_NONE)
        return pdt_error(&p->item, p->item.length, "expected %s", what);
    const struct pdt_node *it = node_of(p, node);
    if (it->kind == PDT_NUMBER && it->number <= UINT32_MAX) {
        *out = (uint32_t)it->number;
        return true;
    }
    for (const struct pd_name *name = names->items; it->kind == PDT_WORD && name->text; name++) {
        if (pdt_is(&p->item, node, name->text)) {
            *out = (uint32_t)name->value;
            return true;
        }
    }
    return pdt_error(&p->item, it->at, "expected %s", what);
}

/* The event of a record: as written, else the first. */
static bool event_for(struct pdt *p, uint32_t type, const struct pdt_event **out)
{
    uint32_t node = pdt_find(&p->item, 0, "event");
    *out = type < PD_RECORD_KERNEL_END && p->events.count ? p->events.data[0] : NULL;
    if (node == PDT_NONE)
        return true;
    *out = pdt_is(&p->item, node, "-") ? NULL : named_event(p, node);
    return *out || pdt_is(&p->item, node, "-");
}

static bool finish_record(struct pdt *p, uint32_t type, uint64_t misc, uint64_t size, bool sized,
                          size_t begin)
{
    bool swap = p->layout.swap, wide = type >= PD_RECORD_WIDE;
    uint64_t real = p->out.length - begin;
    if (p->out.failed)
        return no_memory(p);
    if (!sized)
        size = real;
    if (size > (wide ? UINT32_MAX : UINT16_MAX))
        return pdt_error(&p->item, 0, "expected a record of at most %u bytes, not %llu",
                         wide ? UINT32_MAX : UINT16_MAX, (unsigned long long)size);
    uint8_t *to = (uint8_t *)p->out.data + begin;
    pd_store32(to, type, swap);
    pd_store16(to + 4, (uint16_t)(wide ? size >> 16 : misc), swap);
    pd_store16(to + 6, (uint16_t)size, swap);
    return true;
}

static bool take_record(struct pdt *p)
{
    uint32_t type = 0, body = positional(p, 2), as = pdt_find(&p->item, 0, "as");
    uint64_t misc = 0, size = 0;
    bool sized, exact = pdt_is(&p->item, body, "exact");
    size_t begin = p->out.length;
    const struct pdt_event *event;
    begin_data(p);
    if (exact)
        body = positional(p, 3);
    if (!number_by_name(p, positional(p, 1), &pd_names_record, "a record's type", &type) ||
        !option(p, "misc", &misc, NULL) || !option(p, "size", &size, &sized) ||
        !event_for(p, type, &event))
        return false;
    if (misc > UINT16_MAX)
        return pdt_error(&p->item, 0, "misc: expected a number of 16 bits");
    pd_text_fill(&p->out, '\0', 8);
    struct pdt_coder coder = { .item = &p->item,
                               .out = &p->out,
                               .start = begin,
                               .event = event,
                               .misc = (uint16_t)misc,
                               .swap = p->layout.swap,
                               .exact = exact };
    if (body != PDT_NONE && node_of(p, body)->kind == PDT_BYTES) {
        if (!put_given(p, body))
            return false;
    } else if (body != PDT_NONE && node_of(p, body)->kind != PDT_GROUP) {
        return pdt_error(&p->item, node_of(p, body)->at, "expected {fields} or x\"...\"");
    } else if (!pdt_encode_body(&coder, type, body)) {
        return false;
    }
    if (!finish_record(p, type, misc, size, sized, begin))
        return false;
    return type != PD_RECORD_HEADER_ATTR || p->layout.kind != PDT_PIPE ||
           take_header_attr(p, as, begin);
}

/* ---- features ---- */

static bool feature_number(struct pdt *p, uint32_t node, uint32_t *feature)
{
    if (!number_by_name(p, node, &pd_names_feature, "a feature's name", feature))
        return false;
    return *feature < 256 ||
           pdt_error(&p->item, node_of(p, node)->at, "expected a feature's number below 256");
}

/* features NAME NAME=[OFFSET SIZE] ...: the table; sections that are not where a feature stands are
 * written. */
static bool take_features(struct pdt *p)
{
    unsigned count = 0;
    p->layout.table = p->position;
    for (uint32_t i = 2; i < p->item.nodes.data[0].end; i = node_of(p, i)->end) {
        struct pdt_node *node = node_of(p, i);
        uint32_t feature = 0;
        if (node->name) {
            node->used = true;
            if (node->kind != PDT_LIST || node->end != i + 3 ||
                node_of(p, i + 1)->kind != PDT_NUMBER || node_of(p, i + 2)->kind != PDT_NUMBER)
                return pdt_error(&p->item, node->at, "expected [OFFSET SIZE]");
            char name[64] = { 0 };
            memcpy(name, node->name, PD_MIN((size_t)node->name_length, sizeof name - 1));
            const struct pd_name *it = pd_names_feature.items;
            while (it->text && strcmp(it->text, name) != 0)
                it++;
            char *end = name;
            feature = it->text ? (uint32_t)it->value : (uint32_t)strtoul(name, &end, 10);
            if (feature > 255 || (!it->text && *end))
                return pdt_error(&p->item, node->at, "expected a feature's name");
            p->force_feature[feature] = true;
            p->layout.features[feature] = (struct pd_section){ node_of(p, i + 1)->number,
                                                               node_of(p, i + 2)->number };
        } else if (!feature_number(p, i, &feature)) {
            return false;
        }
        if (p->layout.feature_bits[feature / 64] >> feature % 64 & 1)
            return pdt_error(&p->item, node->at, "expected each feature once");
        p->layout.feature_bits[feature / 64] |= UINT64_C(1) << feature % 64;
        count++;
    }
    pd_text_fill(&p->out, '\0', 16 * (size_t)count);
    return true;
}

static bool take_feature(struct pdt *p)
{
    uint32_t feature = 0, body = positional(p, 2);
    bool exact = pdt_is(&p->item, body, "exact");
    if (!feature_number(p, positional(p, 1), &feature))
        return false;
    if (!(p->layout.feature_bits[feature / 64] >> feature % 64 & 1) || p->force_feature[feature])
        return pdt_error(&p->item, 0,
                         "expected a feature that `features` above names without place");
    if (exact)
        body = positional(p, 3);
    struct pdt_coder coder = {
        .item = &p->item, .out = &p->out, .swap = p->layout.swap, .exact = exact
    };
    bool bytes = body != PDT_NONE && node_of(p, body)->kind == PDT_BYTES;
    const struct pd_row *rows = pd_feature_rows(feature, NULL);
    if (!bytes && body != PDT_NONE && node_of(p, body)->kind != PDT_GROUP)
        return pdt_error(&p->item, node_of(p, body)->at, "expected {fields} or x\"...\"");
    if (bytes ? !put_given(p, body) : !pdt_encode_rows(&coder, rows, body))
        return false;
    p->layout.features[feature] = (struct pd_section){ p->position, p->out.length };
    return true;
}

/* ---- all items ---- */

static bool take_types(struct pdt *p)
{
    bool ok = put_given(p, positional(p, 1));
    p->layout.types = (struct pd_section){ p->position, p->out.length };
    return ok;
}

static bool take_gap(struct pdt *p)
{
    return put_given(p, positional(p, 1));
}

static bool take_data(struct pdt *p)
{
    begin_data(p);
    return true;
}

static bool take_end(struct pdt *p)
{
    (void)p;
    return true;
}

static const struct {
    const char *name;
    bool (*take)(struct pdt *p);
    bool ends_data;
} kinds[] = { { "record", take_record, false },
              { "gap", take_gap, false },
              { "container", take_container, false },
              { "attr", take_attr, false },
              { "ids", take_ids, true },
              { "attrs", take_attrs, true },
              { "types", take_types, true },
              { "features", take_features, true },
              { "feature", take_feature, true },
              { "data", take_data, false },
              { "end", take_end, true } };

static bool take_kind(struct pdt *p)
{
    for (size_t i = 0; i < PD_LENGTH(kinds); i++) {
        if (!pdt_is(&p->item, 1, kinds[i].name))
            continue;
        if (!p->begun && kinds[i].take != take_container)
            break;
        if (kinds[i].ends_data)
            end_data(p);
        return kinds[i].take(p);
    }
    return pdt_error(&p->item, node_of(p, 1)->at,
                     p->begun ? "expected record, gap, attr, ids, attrs, types, features, feature, "
                                "data or end"
                              : "expected container");
}

bool pdt_take(struct pdt *p, const char *text, size_t length)
{
    struct pdt_item *item = &p->item;
    p->out.length = 0;
    if (!pdt_parse(item, text, length))
        return false;
    if (item->nodes.count == 1)
        return true;
    if (!p->greeted) {
        p->greeted = pdt_is(item, 1, "perfdata-text") && item->nodes.count == 3 &&
                     node_of(p, 2)->kind == PDT_NUMBER && node_of(p, 2)->number == 1;
        return p->greeted || pdt_error(item, 0, "expected perfdata-text 1");
    }
    if (!take_kind(p))
        return false;
    for (size_t i = 1; i < item->nodes.count; i++)
        if (item->nodes.data[i].name && !item->nodes.data[i].used)
            return pdt_error(item, (size_t)(item->nodes.data[i].name - text),
                             "expected no field %.*s here", (int)item->nodes.data[i].name_length,
                             item->nodes.data[i].name);
    return !p->out.failed || no_memory(p);
}

bool pdt_finish(struct pdt *p, bool (*put)(void *, uint64_t, const void *, size_t), void *data)
{
    uint8_t header[104], entry[16];
    const struct pdt_layout *layout = &p->layout;
    if (!p->begun)
        return pdt_error(&p->item, 0,
                         p->greeted ? "expected container" : "expected perfdata-text 1");
    end_data(p);
    if (layout->kind != PDT_FILE)
        return true;
    pdt_layout_header(layout, header);
    for (unsigned i = 0; i < PDT_HEADER_FIELDS; i++)
        if (p->force_header[i])
            pd_store64(header + pdt_header_fields[i].offset, p->header_value[i], layout->swap);
    if (p->force_bitmap)
        memcpy(header + 72, p->bitmap, 32);
    if (!put(data, 0, header, (size_t)layout->header_size))
        return false;
    for (size_t i = 0; i < p->table_events; i++) {
        const struct pdt_event *event = p->events.data[i];
        pd_store64(entry,
                   event->force_offset ? event->ids_forced.offset : event->ids_section.offset,
                   layout->swap);
        pd_store64(entry + 8, event->force_size ? event->ids_forced.size : event->ids_section.size,
                   layout->swap);
        if (!put(data, layout->attrs.offset + (i + 1) * layout->attr_size - 16, entry, 16))
            return false;
    }
    uint64_t at = layout->table;
    for (unsigned i = 0; i < 256; i++) {
        if (!(layout->feature_bits[i / 64] >> i % 64 & 1))
            continue;
        pd_store64(entry, layout->features[i].offset, layout->swap);
        pd_store64(entry + 8, layout->features[i].size, layout->swap);
        if (!put(data, at, entry, 16))
            return false;
        at += 16;
    }
    return true;
}

void pdt_free(struct pdt *p)
{
    for (size_t i = 0; i < p->events.count; i++)
        free_event(p->events.data[i]);
    pd_vec_free(&p->events);
    pdt_item_free(&p->item);
    pd_text_free(&p->out);
}
