/* SPDX-License-Identifier: MIT */
/* The walk's fields into structures, and header features, which are kept so. */
#include "format/structs.h"
#include "format/features.h"
#include "format/fields.h"
#include "format/row_read.h"

#define DEEPEST 8

/* Structures under construction: the innermost last. */
struct store_level {
    uint8_t *base;  /* NULL: fields go nowhere */
    uint8_t *count; /* of a list's items, in the structure around it */
    uint32_t item_size, items, room;
    const struct pd_row *part; /* a list: what its items are made of */
};

struct store {
    struct pd_sink sink;
    struct pd_arena *arena;
    bool terminate; /* texts get a NUL */
    bool no_memory;
    unsigned depth;
    struct store_level levels[2 * DEEPEST];
};

static void store_text(struct store *store, uint8_t *to, const struct pd_field *field)
{
    struct pd_str text = { (const char *)field->data, field->length };
    if (store->terminate && field->length == field->size) {
        text.text = pd_arena_copy(store->arena, field->data, field->length);
        if (!text.text) {
            store->no_memory = true;
            text = (struct pd_str){ "", 0 };
        }
    }
    memcpy(to, &text, sizeof text);
}

static void store_number(uint8_t *to, const struct pd_field *field)
{
    switch (pd_kinds[field->kind].least) {
    case 1: *to = (uint8_t)field->value; break;
    case 2: memcpy(to, &(uint16_t){ (uint16_t)field->value }, 2); break;
    case 4: memcpy(to, &(uint32_t){ (uint32_t)field->value }, 4); break;
    default: memcpy(to, &field->value, 8); break;
    }
}

static void store_bytes(uint8_t *to, const struct pd_field *field)
{
    struct pd_span span = { field->data, field->size };
    if (field->kind == PD_KIND_bytes8 || field->kind == PD_KIND_bytes20)
        memcpy(to, field->data, field->size);
    else
        memcpy(to, &span, sizeof span);
}

static void store_field(struct pd_sink *sink, const struct pd_field *field)
{
    struct store *store = (struct store *)sink;
    uint8_t *base = store->levels[store->depth].base;
    if (!base || !field->row)
        return;
    uint8_t *to = base + field->row->member;
    struct pd_array array = { field->data, field->length, 8, field->swap };
    switch (pd_kinds[field->kind].shape) {
    case PD_SHAPE_NUMBER: store_number(to, field); break;
    case PD_SHAPE_TEXT: store_text(store, to, field); break;
    case PD_SHAPE_ARRAY:
        array.width = (uint8_t)(field->length ? field->size / field->length : 8);
        memcpy(to, &array, sizeof array);
        break;
    case PD_SHAPE_NESTED:
        if (field->kind == PD_KIND_attr) {
            struct pd_attr attr;
            (void)pd_attr_decode(field->data, field->size, field->swap, &attr);
            memcpy(to, &attr, sizeof attr);
            break;
        } /* fall through */
    default: store_bytes(to, field); break;
    }
}

/* A list: room for as many items as it can have; LIST()'s members are the pointer and, behind it,
 * the count. */
static void open_list(struct store *store, const struct pd_field *field, uint8_t *to)
{
    struct store_level *level = &store->levels[store->depth];
    size_t bytes;
    void *items = NULL;
    if (!to || !store->arena || !field->value)
        return;
    if (field->value <= UINT32_MAX &&
        !pd_mul_overflows((size_t)field->value, field->row->part_size, &bytes))
        items = pd_arena_zalloc(store->arena, bytes);
    if (!items) {
        store->no_memory = true;
        return;
    }
    memcpy(to, &items, sizeof items);
    *level = (struct store_level){ .base = items,
                                   .count = to + sizeof items,
                                   .item_size = field->row->part_size,
                                   .room = (uint32_t)field->value,
                                   .part = field->row->part() };
}

/* Texts that a damaged section does not reach are empty rather than NULL, those of a list's last
 * item too. */
static void fill_texts(const struct pd_row *rows, uint8_t *base)
{
    for (; rows->name; rows++) {
        struct pd_str text;
        if (pd_kinds[rows->kind].shape != PD_SHAPE_TEXT)
            continue;
        memcpy(&text, base + rows->member, sizeof text);
        if (!text.text)
            memcpy(base + rows->member, &(struct pd_str){ "", 0 }, sizeof text);
    }
}

static void store_open(struct pd_sink *sink, const struct pd_field *field)
{
    struct store *store = (struct store *)sink;
    struct store_level *outer = &store->levels[store->depth], *level = outer + 1;
    store->depth++;
    *level = (struct store_level){ 0 };
    if (field->kind == PD_KIND_list) {
        open_list(store, field, outer->base ? outer->base + field->row->member : NULL);
    } else if (!field->name) { /* an item */
        if (outer->base && outer->items < outer->room) {
            level->base = outer->base + (size_t)outer->items * outer->item_size;
            outer->items++;
            memcpy(outer->count, &outer->items, sizeof outer->items);
            if (store->terminate)
                fill_texts(outer->part, level->base);
        }
    } else if (outer->base && field->row) {
        level->base = outer->base + field->row->member;
    }
}

static void store_close(struct pd_sink *sink)
{
    ((struct store *)sink)->depth--;
}

static void store_begin(struct store *store, struct pd_arena *arena, void *out)
{
    memset(store, 0, sizeof *store);
    store->sink = (struct pd_sink){ store_field, store_open, store_close, true, true };
    store->arena = arena;
    store->levels[0].base = out;
}

/* Which file an MMAP2 record is of, at this place: its device and inode, or its build-id. */
enum { FILE_AT = 40, FILE_ID_AT = 4, SHORTEST_ID = 8, LONGEST_ID = 20 };

static bool is_build_id(const uint8_t *file)
{
    size_t size = file[0];
    if (size < SHORTEST_ID || size > LONGEST_ID || file[1] || file[2] || file[3])
        return false;
    for (size_t i = size; i < LONGEST_ID; i++)
        if (file[FILE_ID_AT + i])
            return false;
    return true;
}

bool pd_mmap2_mark_is_wrong(const uint8_t *record, uint32_t size, bool swap)
{
    return pd_load16(record + 4, swap) & PD_MISC_MMAP_BUILD_ID &&
           size >= FILE_AT + FILE_ID_AT + LONGEST_ID && !is_build_id(record + FILE_AT);
}

static void settle_file(struct pd_record_mmap2 *map, const uint8_t *record, uint32_t size,
                        bool swap)
{
    const uint8_t *file = record + FILE_AT;
    if (!pd_mmap2_mark_is_wrong(record, size, swap))
        return;
    map->header.misc &= (uint16_t)~PD_MISC_MMAP_BUILD_ID;
    map->build_id_size = 0;
    memset(map->build_id, 0, sizeof map->build_id);
    map->maj = pd_load32(file, swap);
    map->min = pd_load32(file + 4, swap);
    map->ino = pd_load64(file + 8, swap);
    map->ino_generation = pd_load64(file + 16, swap);
}

/* ---- records ---- */

/* The short way for what most records are: numbers one after another, a text behind them. False
 * where the rows say more, or the record is too short for them: then all of it is for the walk. */
static bool store_flat(const struct pd_fields_input *input, uint16_t misc,
                       const struct pd_row *rows, uint8_t *base)
{
    uint64_t registers[PD_ROW_REGISTERS] = { 0 };
    uint32_t trailer = input->event ? input->event->plan.trailer_size : 0;
    if (input->size < 8 || trailer > input->size - 8)
        return false;
    const uint8_t *at = input->record + 8, *end = input->record + input->size - trailer;
    for (; rows->name; rows++) {
        size_t left = (size_t)(end - at), size = pd_kinds[rows->kind].least;
        struct pd_field field = { .kind = rows->kind, .data = at };
        if (rows->when && !pd_row_holds(rows, registers, misc, left))
            continue;
        if (rows->kind == PD_KIND_text) {
            struct pd_str text = { (const char *)at, (uint32_t)strnlen((const char *)at, left) };
            memcpy(base + rows->member, &text, sizeof text);
            at = end;
            continue;
        }
        if (pd_kinds[rows->kind].shape != PD_SHAPE_NUMBER || left < size)
            return false;
        field.value = pd_row_number((enum pd_kind)rows->kind, at, input->swap);
        registers[rows->save] = field.value; /* register 0 is nobody's */
        store_number(base + rows->member, &field);
        at += size;
    }
    return true;
}

perfdata_status pd_record_decode(const struct pd_event *event, const uint8_t *record, uint32_t size,
                                 bool swap, struct pd_arena *arena, void *out, size_t out_size)
{
    const struct pd_fields_input input = { event, record, size, swap, 0 };
    struct pd_record_header header = pd_record_header(record, swap);
    struct store store;
    size_t expected;
    memset(out, 0, out_size);
    const struct pd_row *rows = pd_record_rows(header.type, &expected);
    if (!rows || expected != out_size)
        return PERFDATA_ERROR_ARGUMENT;
    memcpy(out, &header, sizeof header);
    if (header.type < PD_RECORD_KERNEL_END && header.type != PD_RECORD_SAMPLE &&
        store_flat(&input, header.misc, rows, out)) {
        if (header.type == PD_RECORD_MMAP2)
            settle_file(out, record, size, swap);
        return PERFDATA_OK;
    }
    store_begin(&store, arena, out);
    perfdata_status status = pd_fields_walk(&input, &store.sink);
    if (header.type == PD_RECORD_MMAP2)
        settle_file(out, record, size, swap);
    return store.no_memory ? PERFDATA_ERROR_MEMORY : status;
}

/* ---- features ---- */

/* Before 2.6.35 entries had no pid, so that names begin 4 bytes earlier than we have read
 * (docs/perf-data-format.md, Features). */
#define OLD_SHAPE_MARK "nel.kallsyms]"

static void to_old_shape(struct pd_part_build_id_entry *entry)
{
    bool guest = (entry->misc & PD_MISC_CPUMODE_MASK) == PD_CPUMODE_GUEST_KERNEL ||
                 (entry->misc & PD_MISC_CPUMODE_MASK) == PD_CPUMODE_GUEST_USER;
    const uint8_t *name = (const uint8_t *)entry->filename.text;
    memcpy(entry->build_id, name - 28, sizeof entry->build_id);
    entry->build_id_size = 0;
    entry->misc &= (uint16_t)~PD_MISC_BUILD_ID_SIZE;
    entry->pid = guest ? 0 : UINT32_MAX;
    entry->filename.text -= 4;
    entry->filename.length = (uint32_t)strnlen(entry->filename.text, entry->filename.length + 4);
}

/* Texts that were not terminated have been copied, so that the 4 bytes do not stand before them:
 * such a table stays as it is. */
static void fix_old_shape(struct pd_feature_build_id *table, const uint8_t *bytes, size_t size)
{
    bool old = false;
    for (uint32_t i = 0; i < table->entries_count; i++) {
        const struct pd_str *name = &table->entries[i].filename;
        old |= name->text && !strcmp(name->text, OLD_SHAPE_MARK);
    }
    for (uint32_t i = 0; old && i < table->entries_count; i++) {
        const uint8_t *name = (const uint8_t *)table->entries[i].filename.text;
        if (name && name >= bytes + 36 && name < bytes + size)
            to_old_shape(&table->entries[i]);
    }
}

static perfdata_status decode_feature(struct pd_features *features, unsigned feature,
                                      const struct pd_row *rows, const uint8_t *bytes, size_t size,
                                      bool swap, struct pd_arena *arena)
{
    struct store store;
    store_begin(&store, arena, (uint8_t *)features + pd_feature_member(feature));
    store.terminate = true;
    perfdata_status status = pd_rows_walk(rows, bytes, size, swap, features->nrcpus.available,
                                          &store.sink);
    if (feature == PD_FEATURE_BUILD_ID)
        fix_old_shape(&features->build_id, bytes, size);
    return store.no_memory ? PERFDATA_ERROR_MEMORY : status;
}

perfdata_status pd_feature_decode(struct pd_features *features, unsigned feature,
                                  const uint8_t *bytes, size_t size, bool swap,
                                  struct pd_arena *arena, struct pd_context *context,
                                  uint64_t offset)
{
    size_t struct_size;
    const struct pd_row *rows = pd_feature_rows(feature, &struct_size);
    if (!rows)
        return pd_issue(context, PERFDATA_ISSUE_UNKNOWN_FEATURE, (int64_t)offset,
                        "header feature %u is unknown", feature);
    if (!size &&
        rows->name) { /* perf stat sets bits of features that it then has nothing to say for */
        memset((uint8_t *)features + pd_feature_member(feature), 0, struct_size);
        return PERFDATA_OK;
    }
    /* The texts lead into a copy that lives as long as the arena. */
    uint8_t *copy = (uint8_t *)pd_arena_copy(arena, bytes, size);
    uint8_t *member = (uint8_t *)features + pd_feature_member(feature);
    if (!copy)
        return pd_fail(context, PERFDATA_ERROR_MEMORY, (int64_t)offset,
                       "no memory for header feature %s", pd_feature_name(feature));
    memset(member, 0, struct_size);
    perfdata_status status = decode_feature(features, feature, rows, copy, size, swap, arena);
    if (status == PERFDATA_ERROR_MEMORY)
        return pd_fail(context, status, (int64_t)offset, "no memory for header feature %s",
                       pd_feature_name(feature));
    fill_texts(rows, member);
    member[0] = true; /* .present */
    member[1] = status != PERFDATA_OK;
    if (status == PERFDATA_OK)
        return status;
    return pd_issue(context, PERFDATA_ISSUE_BAD_FEATURE, (int64_t)offset,
                    "header feature %s does not parse: its section of %zu bytes ends too early",
                    pd_feature_name(feature), size);
}

uint32_t pd_build_id_next(const uint8_t *bytes, size_t size, bool swap, bool old,
                          struct pd_part_build_id_entry *out)
{
    struct store store;
    uint32_t entry_size = size >= 8 ? pd_load16(bytes + 6, swap) : 0;
    memset(out, 0, sizeof *out);
    if (entry_size < 36 || entry_size > size)
        return 0;
    store_begin(&store, NULL, out);
    (void)pd_rows_walk(pd_build_id_rows(), bytes, entry_size, swap, 0, &store.sink);
    if (old)
        to_old_shape(out);
    return entry_size;
}

unsigned pd_build_id_length(const struct pd_part_build_id_entry *entry)
{
    if (entry->misc & PD_MISC_BUILD_ID_SIZE && entry->build_id_size <= sizeof entry->build_id)
        return entry->build_id_size;
    return sizeof entry->build_id;
}
