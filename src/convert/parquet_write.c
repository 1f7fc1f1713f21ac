/* SPDX-License-Identifier: MIT */
/* Columns -> pages, chunks and the footer of a Parquet file. A chunk is one page, behind its
 * dictionary if it has one. */
#include "convert/parquet_write.h"
#include "base/hash.h"
#include <stdlib.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 3 };

/* Numbers of the format. */
enum { TYPE_INT64 = 2, TYPE_BYTES = 6, CODEC_ZSTD = 6, REQUIRED = 0, REPEATED = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3 };
enum { PLAIN = 0, RLE = 3, DELTA = 5, DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

/* ---- Thrift's compact protocol ---- */

enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };

static void put_varint(struct pd_text *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        pd_text_char(out, (char)(value | 0x80));
    pd_text_char(out, (char)value);
}

static void put_zigzag(struct pd_text *out, int64_t value)
{
    put_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* `last` is the previous field of the structure: Thrift writes the difference, here at most 15. */
static void put_field(struct pd_text *out, unsigned *last, unsigned field, unsigned type)
{
    pd_text_char(out, (char)((field - *last) << 4 | type));
    *last = field;
}

static void put_int(struct pd_text *out, unsigned *last, unsigned field, unsigned type,
                    uint64_t value)
{
    put_field(out, last, field, type);
    put_zigzag(out, (int64_t)value);
}

static void put_list(struct pd_text *out, unsigned type, size_t count)
{
    if (count < 15) {
        pd_text_char(out, (char)(count << 4 | type));
        return;
    }
    pd_text_char(out, (char)(0xf0 | type));
    put_varint(out, count);
}

static void put_bytes(struct pd_text *out, const char *text)
{
    put_varint(out, strlen(text));
    pd_text_string(out, text);
}

static void put_end(struct pd_text *out)
{
    pd_text_char(out, 0);
}

/* ---- encodings ---- */

static void put_word(struct pd_text *out, uint64_t value, unsigned bytes)
{
    char *to = pd_text_room(out, bytes);
    if (!to)
        return;
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (char)(value >> 8 * i);
    out->length += bytes;
}

/* Values below 2^width one behind the other, the first in the lowest bits. */
static void put_bits(struct pd_text *out, const uint64_t *values, size_t count, unsigned width)
{
    uint64_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; width && i < count; i++) {
        held |= values[i] << bits;
        bits += width;
        if (bits >= 64) {
            put_word(out, held, 8);
            bits -= 64;
            held = bits ? values[i] >> (width - bits) : 0;
        }
    }
    put_word(out, held, (bits + 7) / 8);
}

static unsigned width_of(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

static size_t run_at(const uint32_t *values, size_t i, size_t count)
{
    size_t run = 1;
    while (i + run < count && values[i + run] == values[i]) /* NOLINT: `values` holds `count` */
        run++;
    return run;
}

/* The hybrid of runs and of groups of eight bit-packed values. */
static void put_hybrid(struct pd_text *out, const uint32_t *values, size_t count, unsigned width)
{
    enum { GROUP = 8, MOST = 63 * GROUP };
    for (size_t i = 0; i < count;) {
        size_t run = run_at(values, i, count);
        if (run >= GROUP) {
            put_varint(out, run << 1);
            put_word(out, values[i], (width + 7) / 8);
            i += run;
            continue;
        }
        uint64_t group[MOST];
        size_t held = 0;
        do {
            for (size_t j = 0; j < GROUP; j++, i++)
                group[held++] = i < count ? values[i] : 0; /* NOLINT: as above */
        } while (i < count && held < MOST && run_at(values, i, PD_MIN(count, i + GROUP)) < GROUP);
        put_varint(out, held / GROUP << 1 | 1);
        put_bits(out, group, held, width);
    }
}

static void put_delta(struct pd_text *out, const uint64_t *values, size_t count)
{
    enum { BLOCK = 128, MINI = 32, MINIS = BLOCK / MINI };
    put_varint(out, BLOCK);
    put_varint(out, MINIS);
    put_varint(out, count);
    put_zigzag(out, count ? (int64_t)values[0] : 0);
    for (size_t from = 1; from < count; from += BLOCK) {
        uint64_t deltas[BLOCK] = { 0 };
        size_t held = PD_MIN((size_t)BLOCK, count - from);
        int64_t least = INT64_MAX;
        for (size_t i = 0; i < held; i++) {
            deltas[i] = values[from + i] - values[from + i - 1];
            least = PD_MIN(least, (int64_t)deltas[i]);
        }
        put_zigzag(out, least);
        unsigned widths[MINIS] = { 0 };
        for (size_t i = 0; i < BLOCK; i++) {
            deltas[i] = i < held ? deltas[i] - (uint64_t)least : 0;
            widths[i / MINI] = PD_MAX(widths[i / MINI], width_of(deltas[i]));
        }
        for (size_t i = 0; i < MINIS; i++)
            pd_text_char(out, (char)widths[i]);
        for (size_t i = 0; i < MINIS && i * MINI < held; i++)
            put_bits(out, deltas + i * MINI, MINI, widths[i]);
    }
}

/* ---- pages ---- */

/* file->page becomes a page behind its header. */
static perfdata_status put_page(struct pd_convert *x, struct pd_parquet *file,
                                struct pd_parquet_chunk *chunk, unsigned kind, size_t values,
                                unsigned encoding)
{
    struct pd_text *out = &x->out, *page = &file->page;
    size_t before = out->length, bound = ZSTD_compressBound(page->length);
    unsigned last = 0, inner = 0;
    file->packed.length = 0;
    char *room = pd_text_room(&file->packed, bound);
    if (!room || page->failed || page->length > INT32_MAX)
        return pd_convert_no_memory(x);
    size_t packed = ZSTD_compress(room, bound, page->data, page->length, ZSTD_LEVEL);
    if (ZSTD_isError(packed))
        return pd_fail(x->context, PERFDATA_ERROR_INTERNAL, -1, "zstd: %s",
                       ZSTD_getErrorName(packed));
    put_int(out, &last, 1, T_I32, kind);
    put_int(out, &last, 2, T_I32, page->length);
    put_int(out, &last, 3, T_I32, packed);
    put_field(out, &last, kind == PAGE_DICTIONARY ? 7 : 5, T_STRUCT);
    put_int(out, &inner, 1, T_I32, values);
    put_int(out, &inner, 2, T_I32, encoding);
    if (kind == PAGE_DATA) {
        put_int(out, &inner, 3, T_I32, RLE);
        put_int(out, &inner, 4, T_I32, RLE);
    }
    put_end(out);
    put_end(out);
    chunk->plain += out->length - before + page->length;
    pd_text_bytes(out, room, packed);
    uint64_t size = out->length - before;
    if (kind == PAGE_DICTIONARY)
        chunk->dictionary = file->offset;
    else
        chunk->data = file->offset;
    chunk->compressed += size;
    chunk->encoding = kind == PAGE_DATA ? encoding : chunk->encoding;
    file->offset += size;
    page->length = 0;
    return pd_convert_flush(x, false);
}

static struct pd_parquet_chunk *chunk_of(struct pd_parquet *file, size_t group, size_t column)
{
    return &file->chunks.data[group * file->column_count + column];
}

/* ---- dictionaries ---- */

struct entry {
    uint64_t value;
    uint32_t count; /* how often it occurs */
};

struct dictionary {
    uint32_t *indices; /* of each value */
    PD_VEC(struct entry) entries;
};

/* The most frequent values come first: their indices are small numbers, which zstd compresses
 * better. Values of the same frequency, and all from a frequency of MOST on, stay in the order of
 * their first occurrence: to put them in order of their values would save 7 % of the bytes for 6 %
 * of the time. */
static bool order_dictionary(struct dictionary *dictionary, size_t count)
{
    enum { MOST = 1024 };
    size_t entries = dictionary->entries.count;
    struct entry *entry = dictionary->entries.data;
    uint32_t *place = entries ? malloc(entries * sizeof *place) : NULL;
    struct entry *sorted = entries ? malloc(entries * sizeof *sorted) : NULL;
    size_t from[MOST + 1] = { 0 };
    bool ok = !entries || (place && sorted);
    for (size_t i = 0; ok && i < count; i++)
        entry[dictionary->indices[i]].count++;
    for (size_t i = 0; ok && i < entries; i++)
        from[MOST - PD_MIN(entry[i].count, (uint32_t)MOST)]++;
    for (size_t i = 0, at = 0; i <= MOST; i++) {
        size_t held = from[i];
        from[i] = at;
        at += held;
    }
    for (size_t i = 0; ok && i < entries; i++) {
        size_t at = from[MOST - PD_MIN(entry[i].count, (uint32_t)MOST)]++;
        sorted[at] = entry[i];
        place[i] = (uint32_t)at;
    }
    for (size_t i = 0; ok && i < count; i++)
        dictionary->indices[i] = place[dictionary->indices[i]];
    if (ok && entries)
        memcpy(entry, sorted, entries * sizeof *entry);
    free(place);
    free(sorted);
    return ok;
}

/* More entries than this are hardly fewer than there are values. */
static size_t most_entries(size_t count)
{
    return count - count / 4 + 16;
}

/* Whether values that never fall, as times do, are too many for a dictionary: that is seen without
 * a table. */
static bool rises(const uint64_t *values, size_t count)
{
    size_t steps = 0;
    for (size_t i = 1; i < count; i++) {
        if (values[i] < values[i - 1])
            return false;
        steps += values[i] != values[i - 1];
    }
    return count && steps + 1 > most_entries(count);
}

static bool new_entry(struct dictionary *dictionary, uint64_t value)
{
    return pd_vec_push(&dictionary->entries, (struct entry){ .value = value });
}

/* Makes the dictionary of the values, in order of their first occurrence; false in *ok: no memory.
 * Returns false also where it would have hardly fewer entries than there are values. */
static bool make_dictionary(const uint64_t *values, size_t count, struct dictionary *out, bool *ok)
{
    struct pd_map64 map = { 0 };
    size_t most = most_entries(count);
    *ok = true;
    if (rises(values, count))
        return false;
    out->indices = malloc((count + 1) * sizeof *out->indices);
    *ok = out->indices != NULL;
    for (size_t i = 0; *ok && i < count && out->entries.count <= most; i++) {
        if (i && values[i] == values[i - 1]) {
            out->indices[i] = out->indices[i - 1];
            continue;
        }
        uint32_t id = pd_map64_get(&map, values[i]);
        if (id == PD_MAP64_NONE) {
            id = (uint32_t)out->entries.count;
            *ok = new_entry(out, values[i]) && pd_map64_set(&map, values[i], id);
        }
        out->indices[i] = id;
    }
    pd_map64_free(&map);
    return *ok && out->entries.count <= most;
}

/* The same of numbers of things, which are small. The values of the entries are those numbers. */
static bool number_dictionary(const uint32_t *ids, size_t count, struct dictionary *out)
{
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++)
        last = PD_MAX(last, ids[i]);
    uint32_t *known = calloc((size_t)last + 1, sizeof *known); /* each entry's place + 1 */
    out->indices = malloc((count + 1) * sizeof *out->indices);
    bool ok = known && out->indices;
    for (size_t i = 0; ok && i < count; i++) {
        uint32_t *at = &known[ids[i]];
        if (!*at) {
            ok = new_entry(out, ids[i]);
            *at = (uint32_t)out->entries.count;
        }
        out->indices[i] = *at - 1;
    }
    free(known);
    return ok;
}

static void free_dictionary(struct dictionary *dictionary)
{
    free(dictionary->indices);
    pd_vec_free(&dictionary->entries);
}

static unsigned index_width(const struct dictionary *dictionary)
{
    return dictionary->entries.count > 1 ? width_of(dictionary->entries.count - 1) : 1;
}

/* Whether a dictionary of many values takes less than the differences from value to value, which
 * zstd hardly compresses, while it halves the dictionary's values or so. */
static bool dictionary_pays(struct pd_parquet *file, const struct dictionary *dictionary,
                            const uint64_t *values, size_t count)
{
    size_t entries = dictionary->entries.count;
    if (entries <= count / 4 + 16)
        return true;
    put_delta(&file->page, values, count);
    size_t delta = file->page.length;
    file->page.length = 0;
    return count * index_width(dictionary) / 8 + entries * 4 < delta;
}

/* The indices, behind the levels that the page holds already. */
static perfdata_status put_indices(struct pd_convert *x, struct pd_parquet *file,
                                   struct pd_parquet_chunk *chunk,
                                   const struct dictionary *dictionary, size_t count)
{
    unsigned width = index_width(dictionary);
    pd_text_char(&file->page, (char)width);
    put_hybrid(&file->page, dictionary->indices, count, width);
    return put_page(x, file, chunk, PAGE_DATA, count, DICTIONARY);
}

static perfdata_status put_dictionary(struct pd_convert *x, struct pd_parquet *file,
                                      struct pd_parquet_chunk *chunk,
                                      const struct dictionary *dictionary)
{
    for (size_t i = 0; i < dictionary->entries.count; i++)
        put_word(&file->page, dictionary->entries.data[i].value, 8);
    return put_page(x, file, chunk, PAGE_DICTIONARY, dictionary->entries.count, PLAIN);
}

/* Levels of lists: the repetition level is 1 for values that are not the first of their list, and
 * the definition level says that all values are present. */
static void put_levels(struct pd_text *page, const uint32_t *lengths, size_t lists, size_t values,
                       uint32_t *room)
{
    size_t at = 0;
    for (size_t i = 0; i < lists; i++)
        for (uint32_t j = 0; j < lengths[i]; j++)
            room[at++] = j != 0;
    for (unsigned level = 0; level < 2; level++) {
        size_t from = page->length;
        put_word(page, 0, 4);
        put_hybrid(page, room, values, 1);
        if (!page->failed)
            for (unsigned i = 0; i < 4; i++)
                page->data[from + i] = (char)((page->length - from - 4) >> 8 * i);
        for (size_t i = 0; i < values; i++)
            room[i] = 1;
    }
}

static perfdata_status put_numbers(struct pd_convert *x, struct pd_parquet *file,
                                   struct pd_parquet_chunk *chunk, const uint64_t *values,
                                   size_t count, const uint32_t *lengths, size_t lists)
{
    struct dictionary dictionary = { 0 };
    bool ok, use = make_dictionary(values, count, &dictionary, &ok);
    use = use && dictionary_pays(file, &dictionary, values, count);
    ok = ok && (!use || order_dictionary(&dictionary, count));
    perfdata_status status = ok ? PERFDATA_OK : pd_convert_no_memory(x);
    chunk->values = count;
    if (status >= 0 && use)
        status = put_dictionary(x, file, chunk, &dictionary);
    uint32_t *levels = status >= 0 && lengths ? malloc((count + 1) * sizeof *levels) : NULL;
    if (status >= 0 && lengths && !levels)
        status = pd_convert_no_memory(x);
    if (status >= 0 && lengths)
        put_levels(&file->page, lengths, lists, count, levels);
    if (status >= 0 && use) {
        status = put_indices(x, file, chunk, &dictionary, count);
    } else if (status >= 0) {
        put_delta(&file->page, values, count);
        status = put_page(x, file, chunk, PAGE_DATA, count, DELTA);
    }
    free(levels);
    free_dictionary(&dictionary);
    return status;
}

perfdata_status pd_parquet_numbers(struct pd_convert *x, struct pd_parquet *file, size_t group,
                                   size_t column, const uint64_t *values, size_t count)
{
    return put_numbers(x, file, chunk_of(file, group, column), values, count, NULL, 0);
}

perfdata_status pd_parquet_numbered(struct pd_convert *x, struct pd_parquet *file, size_t group,
                                    size_t column, const uint32_t *ids, size_t count,
                                    pd_parquet_value *value_of)
{
    struct pd_parquet_chunk *chunk = chunk_of(file, group, column);
    struct dictionary dictionary = { 0 };
    perfdata_status status = PERFDATA_OK;
    chunk->values = count;
    if (!number_dictionary(ids, count, &dictionary)) {
        status = pd_convert_no_memory(x);
    } else if (dictionary.entries.count <= most_entries(count)) {
        for (size_t i = 0; i < dictionary.entries.count; i++) {
            struct entry *entry = &dictionary.entries.data[i];
            entry->value = value_of(x, (uint32_t)entry->value);
        }
        status = put_dictionary(x, file, chunk, &dictionary);
        if (status >= 0)
            status = put_indices(x, file, chunk, &dictionary, count);
    } else {
        uint64_t *values = malloc((count + 1) * sizeof *values);
        for (size_t i = 0; values && i < count; i++)
            values[i] = value_of(x, ids[i]);
        if (values)
            put_delta(&file->page, values, count);
        free(values);
        status = values ? put_page(x, file, chunk, PAGE_DATA, count, DELTA)
                        : pd_convert_no_memory(x);
    }
    free_dictionary(&dictionary);
    return status;
}

perfdata_status pd_parquet_lists(struct pd_convert *x, struct pd_parquet *file, size_t group,
                                 size_t column, const uint64_t *values, const uint32_t *lengths,
                                 size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += lengths[i];
    return put_numbers(x, file, chunk_of(file, group, column), values, all, lengths, count);
}

perfdata_status pd_parquet_texts(struct pd_convert *x, struct pd_parquet *file, size_t group,
                                 size_t column, const uint32_t *ids, size_t count,
                                 const struct pd_strings *strings)
{
    struct pd_parquet_chunk *chunk = chunk_of(file, group, column);
    struct dictionary dictionary = { 0 };
    bool ok = number_dictionary(ids, count, &dictionary);
    for (size_t i = 0; ok && i < dictionary.entries.count; i++) {
        size_t length;
        const char *text = pd_strings_at(strings, (uint32_t)dictionary.entries.data[i].value,
                                         &length);
        put_word(&file->page, length, 4);
        pd_text_bytes(&file->page, text, length);
    }
    chunk->values = count;
    perfdata_status status = ok ? put_page(x, file, chunk, PAGE_DICTIONARY,
                                           dictionary.entries.count, PLAIN)
                                : pd_convert_no_memory(x);
    if (status >= 0)
        status = put_indices(x, file, chunk, &dictionary, count);
    free_dictionary(&dictionary);
    return status;
}

/* ---- the file ---- */

void pd_parquet_begin(struct pd_convert *x, struct pd_parquet *file)
{
    pd_text_string(&x->out, "PAR1");
    file->offset = 4;
}

int64_t pd_parquet_group(struct pd_convert *x, struct pd_parquet *file, uint64_t rows)
{
    if (!pd_vec_push(&file->groups, rows) ||
        !pd_vec_widen_to(&file->chunks, file->groups.count * file->column_count))
        return pd_convert_no_memory(x);
    return (int64_t)file->groups.count - 1;
}

static void put_element(struct pd_text *out, const char *name, int type, int repetition,
                        int children, int converted)
{
    unsigned last = 0;
    if (type >= 0)
        put_int(out, &last, 1, T_I32, (uint64_t)type);
    if (repetition >= 0)
        put_int(out, &last, 3, T_I32, (uint64_t)repetition);
    put_field(out, &last, 4, T_BINARY);
    put_bytes(out, name);
    if (children)
        put_int(out, &last, 5, T_I32, (uint64_t)children);
    if (converted >= 0)
        put_int(out, &last, 6, T_I32, (uint64_t)converted);
    put_end(out);
}

static void put_schema(struct pd_text *out, const struct pd_parquet *file)
{
    size_t elements = 1;
    for (size_t i = 0; i < file->column_count; i++)
        elements += file->columns[i].kind == PD_PARQUET_LIST ? 3 : 1;
    put_list(out, T_STRUCT, elements);
    put_element(out, "schema", -1, -1, (int)file->column_count, -1);
    for (size_t i = 0; i < file->column_count; i++) {
        const struct pd_parquet_column *column = &file->columns[i];
        if (column->kind == PD_PARQUET_LIST) {
            put_element(out, column->name, -1, REQUIRED, 1, CONVERTED_LIST);
            put_element(out, "list", -1, REPEATED, 1, -1);
            put_element(out, "element", TYPE_INT64, REQUIRED, 0, -1);
        } else if (column->kind == PD_PARQUET_TEXT) {
            put_element(out, column->name, TYPE_BYTES, REQUIRED, 0, CONVERTED_UTF8);
        } else {
            put_element(out, column->name, TYPE_INT64, REQUIRED, 0, -1);
        }
    }
}

static void put_chunk(struct pd_text *out, const struct pd_parquet_column *column,
                      const struct pd_parquet_chunk *chunk)
{
    unsigned last = 0, inner = 0;
    bool list = column->kind == PD_PARQUET_LIST;
    uint64_t begin = chunk->dictionary ? chunk->dictionary : chunk->data;
    put_int(out, &last, 2, T_I64, begin);
    put_field(out, &last, 3, T_STRUCT);
    put_int(out, &inner, 1, T_I32, column->kind == PD_PARQUET_TEXT ? TYPE_BYTES : TYPE_INT64);
    put_field(out, &inner, 2, T_LIST);
    put_list(out, T_I32, 3);
    put_zigzag(out, PLAIN);
    put_zigzag(out, RLE);
    put_zigzag(out, chunk->encoding);
    put_field(out, &inner, 3, T_LIST);
    put_list(out, T_BINARY, list ? 3 : 1);
    put_bytes(out, column->name);
    if (list) {
        put_bytes(out, "list");
        put_bytes(out, "element");
    }
    put_int(out, &inner, 4, T_I32, CODEC_ZSTD);
    put_int(out, &inner, 5, T_I64, chunk->values);
    put_int(out, &inner, 6, T_I64, chunk->plain);
    put_int(out, &inner, 7, T_I64, chunk->compressed);
    put_int(out, &inner, 9, T_I64, chunk->data);
    if (chunk->dictionary)
        put_int(out, &inner, 11, T_I64, chunk->dictionary);
    put_end(out);
    put_end(out);
}

perfdata_status pd_parquet_end(struct pd_convert *x, struct pd_parquet *file)
{
    struct pd_text *out = &x->out;
    perfdata_status status = pd_convert_flush(x, true);
    size_t before = out->length;
    unsigned last = 0;
    uint64_t rows = 0;
    if (status < 0)
        return status;
    for (size_t i = 0; i < file->groups.count; i++)
        rows += file->groups.data[i];
    put_int(out, &last, 1, T_I32, 1);
    put_field(out, &last, 2, T_LIST);
    put_schema(out, file);
    put_int(out, &last, 3, T_I64, rows);
    put_field(out, &last, 4, T_LIST);
    put_list(out, T_STRUCT, file->groups.count);
    for (size_t g = 0; g < file->groups.count; g++) {
        unsigned inner = 0;
        uint64_t bytes = 0;
        put_field(out, &inner, 1, T_LIST);
        put_list(out, T_STRUCT, file->column_count);
        for (size_t c = 0; c < file->column_count; c++) {
            put_chunk(out, &file->columns[c], chunk_of(file, g, c));
            bytes += chunk_of(file, g, c)->plain;
        }
        put_int(out, &inner, 2, T_I64, bytes);
        put_int(out, &inner, 3, T_I64, file->groups.data[g]);
        put_end(out);
    }
    put_field(out, &last, 6, T_BINARY);
    put_bytes(out, "perfdata");
    put_end(out);
    put_word(out, out->length - before, 4);
    pd_text_string(out, "PAR1");
    return pd_convert_flush(x, true);
}

void pd_parquet_free(struct pd_parquet *file)
{
    pd_vec_free(&file->chunks);
    pd_vec_free(&file->groups);
    pd_text_free(&file->page);
    pd_text_free(&file->packed);
}
