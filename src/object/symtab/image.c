/* SPDX-License-Identifier: MIT */
/* Tables of symbols <-> files that are mapped. */
#include "object/symtab/image.h"
#include "base/hash.h"
#include "object/index/build.h"
#include "object/index/folder.h"

#include <stdio.h>

#define MAGIC "pdsyms\n\2"

/* Behind it: the key, starts, ends, reach (all of 64 bits), names_at (one more than symbols),
 * kinds, left, right, runs, names. */
struct header {
    char magic[8];
    uint64_t sum;   /* of all behind this field */
    uint64_t build; /* pd_index_build(): another one may lay out, fix up or mean something else */
    uint64_t size, names_size, key_size;
    uint32_t count, run_count, root, has_tree;
    uint64_t facts[PD_SYMBOL_IMAGE_FACTS];
};

/* ---- sums ---- */

enum { LANES = 8 };

/* Sums of words, and sums of these sums, which tell where the words stood: they find what a disk or
 * a torn write spoils, at nearly the speed of memory. No sum waits for another one's result. */
static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
    uint64_t sums[2][LANES] = { { 1, 2, 3, 4, 5, 6, 7, 8 }, { 0 } };
    size_t at = 0;

    for (; size - at >= sizeof sums[0]; at += sizeof sums[0])
        for (size_t i = 0; i < LANES; i++) {
            uint64_t word;
            memcpy(&word, bytes + at + i * sizeof word, sizeof word);
            sums[0][i] += word;
            sums[1][i] += sums[0][i];
        }
    return pd_digest(bytes + at, size - at, pd_digest(sums, sizeof sums, size));
}

struct pd_symbol_image_key pd_symbol_image_key(const char *folder, const char *kind,
                                               const void *bytes, size_t size)
{
    struct pd_symbol_image_key key = { .folder = folder, .bytes = bytes, .size = size };
    uint64_t one = pd_digest(bytes, size, 0), two = pd_digest(bytes, size, 1);

    snprintf(key.name, sizeof key.name, "%.8s-%016llx%016llx", kind, (unsigned long long)one,
             (unsigned long long)two);
    return key;
}

/* ---- places in the file ---- */

struct layout {
    uint64_t key, starts, ends, reach, names_at, kinds, left, right, runs, names, size;
};

static uint64_t whole_words(uint64_t size)
{
    return (size + 7) & ~UINT64_C(7);
}

/* Counts are of 32 bits and sizes below the limit of a file: nothing here overflows. */
static struct layout lay_out(const struct header *header)
{
    struct layout at = { .key = sizeof *header };
    const uint64_t count = header->count, tree = header->has_tree ? count : 0;

    at.starts = at.key + whole_words(header->key_size);
    at.ends = at.starts + 8 * count;
    at.reach = at.ends + 8 * count;
    at.names_at = at.reach + 8 * tree;
    at.kinds = at.names_at + 4 * (count + 1);
    at.left = at.kinds + 4 * count;
    at.right = at.left + 4 * tree;
    at.runs = at.right + 4 * tree;
    at.names = at.runs + sizeof(struct pd_symbol_image_run) * header->run_count;
    at.size = at.names + header->names_size;
    return at;
}

/* ---- reading ---- */

static bool is_whole(const struct pd_bytes *bytes, struct header *header)
{
    const size_t summed = offsetof(struct header, build);

    if (bytes->size < sizeof *header)
        return false;
    memcpy(header, bytes->data, sizeof *header);
    return !memcmp(header->magic, MAGIC, sizeof header->magic) &&
           header->build == pd_index_build() && header->size == bytes->size && header->names_size &&
           header->names_size <= header->size && header->key_size <= header->size &&
           lay_out(header).size == header->size &&
           header->sum == sum_of(bytes->data + summed, bytes->size - summed);
}

/* Runs in order that do not overlap, so that what is made of them is no larger than the table. */
static bool runs_fit(const struct pd_symbol_image *image)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < image->run_count; i++) {
        const struct pd_symbol_image_run *run = &image->runs[i];
        if (run->first != end || !run->count)
            return false;
        end += run->count;
    }
    return !image->run_count || end == image->count;
}

static bool take(struct pd_symbol_image *image, const struct pd_symbol_image_key *key)
{
    struct header header;

    if (!is_whole(&image->bytes, &header))
        return false;
    const struct layout at = lay_out(&header);
    const uint8_t *data = image->bytes.data;
    if (header.key_size != key->size || memcmp(data + at.key, key->bytes, key->size) != 0)
        return false;
    image->count = header.count;
    image->run_count = header.run_count;
    image->root = header.has_tree ? header.root : 0;
    image->starts = (const uint64_t *)(const void *)(data + at.starts);
    image->ends = (const uint64_t *)(const void *)(data + at.ends);
    image->reach = header.has_tree ? (const uint64_t *)(const void *)(data + at.reach) : NULL;
    image->names_at = (const uint32_t *)(const void *)(data + at.names_at);
    image->kinds = (const uint32_t *)(const void *)(data + at.kinds);
    image->left = (const uint32_t *)(const void *)(data + at.left);
    image->right = (const uint32_t *)(const void *)(data + at.right);
    image->runs = (const struct pd_symbol_image_run *)(const void *)(data + at.runs);
    image->names = (const char *)data + at.names;
    image->names_size = header.names_size;
    memcpy(image->facts, header.facts, sizeof image->facts);
    return !image->names[image->names_size - 1] && runs_fit(image);
}

struct pd_symbol_image *pd_symbol_image_open(const struct pd_symbol_image_key *key)
{
    struct pd_bytes bytes;

    if (!pd_index_read(key->folder, key->name, &bytes))
        return NULL;
    struct pd_symbol_image *image = calloc(1, sizeof *image);
    if (!image) {
        pd_bytes_free(&bytes);
        return NULL;
    }
    image->bytes = bytes;
    atomic_init(&image->users, 1);
    if (take(image, key))
        return image;
    pd_symbol_image_free(image);
    return NULL;
}

void pd_symbol_image_free(struct pd_symbol_image *image)
{
    if (!image || atomic_fetch_sub_explicit(&image->users, 1, memory_order_acq_rel) > 1)
        return;
    pd_bytes_free(&image->bytes);
    free(image);
}

/* ---- symbols ---- */

enum { TYPE_SHIFT = 4, STATE_SHIFT = 8, TAG_SHIFT = 16, KIND_MASK = 15 };

enum pd_name_state pd_symbol_image_symbol(const struct pd_symbol_image *image, size_t index,
                                          struct pd_symbol *out)
{
    const uint32_t kind = image->kinds[index];
    const uint64_t at = PD_MIN((uint64_t)image->names_at[index], image->names_size - 1);
    const uint64_t end = PD_MIN((uint64_t)image->names_at[index + 1], image->names_size);
    const uint64_t room = end > at ? end - at - 1 : 0; /* without the NUL */
    const uint32_t tag = PD_MIN(kind >> TAG_SHIFT, (uint32_t)room);

    *out = (struct pd_symbol){ .start = image->starts[index],
                               .end = image->ends[index],
                               .name = image->names + at,
                               .name_length = (uint32_t)strnlen(image->names + at, room - tag),
                               .binding = (uint8_t)PD_MIN(kind & KIND_MASK,
                                                          (uint32_t)PD_SYMBOL_OTHER),
                               .type = kind >> TYPE_SHIFT & KIND_MASK,
                               .module_length = (uint16_t)tag };
    return PD_MIN(kind >> STATE_SHIFT & KIND_MASK, (uint32_t)PD_NAME_RAW_PLT);
}

const char *pd_symbol_image_tag(const struct pd_symbol_image *image,
                                const struct pd_symbol_image_run *run)
{
    struct pd_symbol first;

    pd_symbol_image_symbol(image, run->first, &first);
    return first.module_length ? first.name + first.name_length + 1 : NULL;
}

size_t pd_symbol_image_upto(const struct pd_symbol_image *image, size_t first, size_t count,
                            uint64_t address)
{
    const uint64_t *base = image->starts + first;

    if (!count || address < base[0])
        return 0;
    while (count > 1) { /* no branch to mispredict */
        size_t half = count / 2;
        base += base[half] <= address ? half : 0;
        count -= half;
    }
    return (size_t)(base - (image->starts + first)) + 1;
}

/* ---- writing ---- */

struct writer {
    const struct pd_symbol_image_source *source;
    struct header header;
    struct layout at;
    uint16_t *tags; /* lengths of the symbols' tags with the tab, 0: none; NULL: none has one */
    PD_VEC(struct pd_symbol_image_run) runs; /* of symbols with one tag */
    uint8_t *bytes;
};

static size_t index_of(const struct pd_symbol_image_source *source, size_t i)
{
    return source->order ? source->order[i] : i;
}

static bool same_tag(const struct pd_symbol *a, size_t a_tag, const struct pd_symbol *b,
                     size_t b_tag)
{
    return a_tag == b_tag && (!a_tag || !memcmp(a->name + a->name_length - a_tag,
                                                b->name + b->name_length - b_tag, a_tag));
}

/* Looks for the tags and their runs. */
static bool find_tags(struct writer *writer)
{
    const struct pd_symbol_image_source *source = writer->source;
    const struct pd_symbol *last = NULL;
    size_t last_tag = 0;

    writer->tags = malloc(source->count * sizeof *writer->tags);
    if (!writer->tags)
        return false;
    for (size_t i = 0; i < source->count; i++) {
        const struct pd_symbol *symbol = &source->symbols[index_of(source, i)];
        const size_t tag = pd_symbol_tag(symbol);
        if (tag > UINT16_MAX)
            return false;
        if ((!last || !same_tag(last, last_tag, symbol, tag)) &&
            !pd_vec_push(&writer->runs, (struct pd_symbol_image_run){ (uint32_t)i, 0 }))
            return false;
        writer->runs.data[writer->runs.count - 1].count++;
        writer->tags[i] = (uint16_t)tag;
        last = symbol;
        last_tag = tag;
    }
    writer->header.run_count = (uint32_t)writer->runs.count;
    return true;
}

/* Sizes. False: a table that no image is made of. */
static bool measure(struct writer *writer)
{
    const struct pd_symbol_image_source *source = writer->source;
    uint64_t size = 0;

    if (!source->count || source->count >= PD_INDEX_MAX / 24)
        return false;
    for (size_t i = 0; i < source->count; i++) {
        const struct pd_symbol *symbol = &source->symbols[index_of(source, i)];
        size += (uint64_t)symbol->name_length + 1;
        if (symbol->type > KIND_MASK)
            return false;
    }
    writer->header.names_size = size;
    return size < PD_INDEX_MAX && (!source->tagged || find_tags(writer));
}

/* The bytes behind it, up to a whole word, are the only ones that nobody else writes. */
static void put_key(struct writer *writer, const struct pd_symbol_image_key *key)
{
    uint8_t *to = writer->bytes + writer->at.key;

    memcpy(to, key->bytes, key->size);
    memset(to + key->size, 0, whole_words(key->size) - key->size);
}

static void put_symbols(struct writer *writer)
{
    const struct pd_symbol_image_source *source = writer->source;
    uint8_t *const bytes = writer->bytes;
    uint64_t *starts = (uint64_t *)(void *)(bytes + writer->at.starts);
    uint64_t *ends = (uint64_t *)(void *)(bytes + writer->at.ends);
    uint32_t *names_at = (uint32_t *)(void *)(bytes + writer->at.names_at);
    uint32_t *kinds = (uint32_t *)(void *)(bytes + writer->at.kinds);
    char *const names = (char *)bytes + writer->at.names;
    size_t name_at = 0;

    for (size_t i = 0; i < source->count; i++) {
        const size_t index = index_of(source, i);
        const struct pd_symbol *symbol = &source->symbols[index];
        const size_t length = symbol->name_length, tag = writer->tags ? writer->tags[i] : 0;
        char *name = names + name_at;
        memcpy(name, symbol->name, length);
        name[length] = '\0';
        if (tag)
            name[length - tag] = '\0';
        starts[i] = symbol->start;
        ends[i] = symbol->end;
        names_at[i] = (uint32_t)name_at;
        kinds[i] = symbol->binding | (uint32_t)symbol->type << TYPE_SHIFT |
                   (uint32_t)source->states[index] << STATE_SHIFT | (uint32_t)tag << TAG_SHIFT;
        name_at += length + 1;
    }
    names_at[source->count] = (uint32_t)name_at;
}

static void put_tree(struct writer *writer)
{
    const struct pd_symbol_image_source *source = writer->source;

    if (!writer->header.has_tree)
        return;
    memcpy(writer->bytes + writer->at.reach, source->reach, source->count * sizeof *source->reach);
    memcpy(writer->bytes + writer->at.left, source->left, source->count * sizeof *source->left);
    memcpy(writer->bytes + writer->at.right, source->right, source->count * sizeof *source->right);
}

void pd_symbol_image_seal(uint8_t *bytes, size_t size)
{
    const size_t summed = offsetof(struct header, build);
    struct header header;

    if (size < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    header.build = pd_index_build();
    header.size = size;
    memcpy(bytes, &header, sizeof header);
    header.sum = sum_of(bytes + summed, size - summed);
    memcpy(bytes, &header, sizeof header);
}

void pd_symbol_image_write(const struct pd_symbol_image_key *key,
                           const struct pd_symbol_image_source *source)
{
    struct writer writer = { .source = source,
                             .header = { .magic = MAGIC,
                                         .key_size = key->size,
                                         .count = (uint32_t)source->count,
                                         .root = source->root,
                                         .has_tree = source->reach != NULL } };
    struct header *header = &writer.header;

    if (!pd_index_build() || key->size > PD_INDEX_MAX || !pd_index_can_write(key->folder))
        return;
    if (measure(&writer)) {
        memcpy(header->facts, source->facts, sizeof header->facts);
        writer.at = lay_out(header);
        header->size = writer.at.size;
        writer.bytes = header->size <= PD_INDEX_MAX ? malloc(header->size) : NULL;
    }
    if (writer.bytes) {
        put_key(&writer, key);
        put_symbols(&writer);
        if (writer.runs.count)
            memcpy(writer.bytes + writer.at.runs, writer.runs.data,
                   writer.runs.count * sizeof *writer.runs.data);
        put_tree(&writer);
        memcpy(writer.bytes, header, sizeof *header);
        pd_symbol_image_seal(writer.bytes, header->size);
        pd_index_write(key->folder, key->name, writer.bytes, header->size);
    }
    free(writer.bytes);
    free(writer.tags);
    pd_vec_free(&writer.runs);
}
