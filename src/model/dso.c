/* SPDX-License-Identifier: MIT */
/* Names, devices and inodes -> objects, in perf's order of creation. */
#include "model/dso.h"
#include <stdatomic.h>

#define KERNEL_NAME "[kernel.kallsyms]"

static bool starts(const char *text, size_t length, const char *prefix)
{
    size_t n = strlen(prefix);
    return length >= n && memcmp(text, prefix, n) == 0;
}

/* ---- names ---- */

/* "[JIT] tid N" when the name begins as perf's scanf("/tmp/perf-%d.map") accepts. */
static bool jit_short_name(const char *name, size_t length, struct pd_text *out)
{
    static const char prefix[] = "/tmp/perf-";
    if (!starts(name, length, prefix))
        return false;
    size_t at = sizeof prefix - 1;
    bool negative = false;
    if (at < length && (name[at] == '-' || name[at] == '+'))
        negative = name[at++] == '-';
    uint64_t value = 0;
    size_t digits = at;
    for (; at < length && name[at] >= '0' && name[at] <= '9'; at++)
        if (value < UINT64_C(1) << 40)
            value = value * 10 + (uint64_t)(name[at] - '0');
    if (at == digits)
        return false;
    pd_text_string(out, "[JIT] tid ");
    pd_text_i64(out, negative ? -(int64_t)value : (int64_t)value, 0);
    return true;
}

/* POSIX basename(): trailing slashes do not count. */
static void base_name(const char *name, size_t length, struct pd_text *out)
{
    while (length > 1 && name[length - 1] == '/')
        length--;
    size_t start = length;
    while (start && name[start - 1] != '/')
        start--;
    if (!length)
        pd_text_char(out, '.');
    else if (start == length)
        pd_text_char(out, '/');
    else
        pd_text_bytes(out, name + start, length - start);
}

bool pd_module_name(const char *path, size_t length, struct pd_text *out)
{
    static const char *const not_modules[] = { KERNEL_NAME, "[guest.kernel.kallsyms",
                                               "[vdso]",    "[vdso32]",
                                               "[vdsox32]", "[vsyscall]" };
    size_t name = length, dot = length;
    while (name && path[name - 1] != '/')
        name--;
    while (dot && path[dot - 1] != '.')
        dot--;
    if (name < length && path[name] == '[') {
        pd_text_bytes(out, path + name, length - name);
        for (size_t i = 0; i < PD_LENGTH(not_modules); i++)
            if (starts(path + name, length - name, not_modules[i]))
                return false;
        return true;
    }
    size_t from = out->length;
    bool module = false;
    if (dot-- > name) { /* dot now is the place of the '.' */
        size_t rest = length - dot;
        if (rest == 3 && dot >= 3 &&
            (memcmp(path + dot, ".gz", 3) == 0 || memcmp(path + dot, ".xz", 3) == 0))
            dot -= 3;
        module = dot > name && starts(path + dot, length - dot, ".ko");
    }
    if (module) {
        pd_text_char(out, '[');
        pd_text_bytes(out, path + name, dot - name);
        pd_text_char(out, ']');
    } else {
        pd_text_bytes(out, path + name, length - name);
    }
    if (dot < length && !out->failed) /* perf leaves names without extension as they are */
        for (size_t i = from; i < out->length; i++)
            if (out->data[i] == '-')
                out->data[i] = '_';
    return module;
}

/* ---- the table ---- */

static uint32_t intern(struct pd_dso_table *table, const char *text, size_t length)
{
    uint32_t id = pd_intern(table->names, text, length);
    if (id == PD_INTERN_NONE)
        return id;
    size_t need = (size_t)id + 1;
    if (need <= table->first_long.count)
        return id;
    if (!pd_vec_reserve(&table->first_long, need) || !pd_vec_reserve(&table->last_long, need) ||
        !pd_vec_reserve(&table->first_short, need))
        return PD_INTERN_NONE;
    for (size_t i = table->first_long.count; i < need; i++)
        table->first_long.data[i] = table->last_long.data[i] = table->first_short.data[i] = 0;
    table->first_long.count = table->last_long.count = table->first_short.count = need;
    return id;
}

/* Never adds a name. */
static uint32_t known(const struct pd_dso_table *table, const char *text, size_t length)
{
    return pd_intern_find(table->names, text, length);
}

static bool id_empty(const struct pd_dso_id *id)
{
    return !id || (!id->maj && !id->min && !id->ino && !id->ino_generation);
}

static struct pd_dso_id id_of(const struct pd_dso *dso)
{
    return (struct pd_dso_id){ dso->maj, dso->min, dso->ino, dso->ino_generation };
}

/* Synthesized maps have no inode generation: it counts only when both have one. */
static bool id_matches(const struct pd_dso_id *a, const struct pd_dso *dso)
{
    struct pd_dso_id b = id_of(dso);
    if (id_empty(a) || id_empty(&b))
        return true;
    return a->maj == b.maj && a->min == b.min && a->ino == b.ino &&
           (!a->ino_generation || !b.ino_generation || a->ino_generation == b.ino_generation);
}

static void set_id(struct pd_dso *dso, const struct pd_dso_id *id)
{
    dso->maj = id->maj;
    dso->min = id->min;
    dso->ino = id->ino;
    dso->ino_generation = id->ino_generation;
}

static struct pd_dso *find_long_id(const struct pd_dso_table *table, uint32_t name,
                                   const struct pd_dso_id *id)
{
    if (name == PD_INTERN_NONE || name >= table->first_long.count)
        return NULL;
    for (uint32_t at = table->first_long.data[name]; at; at = table->next_long.data[at - 1])
        if (id_matches(id, table->dsos.data[at - 1]))
            return table->dsos.data[at - 1];
    return NULL;
}

struct pd_dso *pd_dso_find_long(const struct pd_dso_table *table, const char *name, size_t length,
                                const struct pd_dso_id *id)
{
    return find_long_id(table, known(table, name, length), id);
}

struct pd_dso *pd_dso_find_short(const struct pd_dso_table *table, const char *name, size_t length)
{
    uint32_t id = known(table, name, length);
    if (id == PD_INTERN_NONE || id >= table->first_short.count || !table->first_short.data[id])
        return NULL;
    return table->dsos.data[table->first_short.data[id] - 1];
}

static void name_texts(const struct pd_dso_table *table, struct pd_dso *dso, uint32_t name,
                       uint32_t long_name, uint32_t short_name)
{
    const struct pd_string *strings = table->names->strings.data;
    dso->name = strings[name].text;
    dso->name_length = strings[name].length;
    dso->long_name = strings[long_name].text;
    dso->long_name_length = strings[long_name].length;
    dso->long_name_id = long_name;
    dso->short_name = strings[short_name].text;
    dso->short_name_length = strings[short_name].length;
    dso->short_name_id = short_name;
}

/* The first in the list that has a short name is the one that is found by it. */
static void index_short(struct pd_dso_table *table, const struct pd_dso *dso)
{
    uint32_t *first = &table->first_short.data[dso->short_name_id];
    if (!*first || *first > dso->place + 1)
        *first = dso->place + 1;
}

static void index_long(struct pd_dso_table *table, const struct pd_dso *dso)
{
    uint32_t *last = &table->last_long.data[dso->long_name_id];
    if (*last)
        table->next_long.data[*last - 1] = dso->place + 1;
    else
        table->first_long.data[dso->long_name_id] = dso->place + 1;
    *last = dso->place + 1;
}

static enum pd_dso_kind kind_by_name(const struct pd_dso *dso)
{
    if (starts(dso->name, dso->name_length, "/tmp/perf-") && dso->name_length >= 14 &&
        memcmp(dso->name + dso->name_length - 4, ".map", 4) == 0)
        return PD_DSO_PERF_MAP;
    if (dso->name_length == 6 && memcmp(dso->name, "[vdso]", 6) == 0)
        return PD_DSO_VDSO;
    return dso->name[0] == '/' ? PD_DSO_USER : PD_DSO_OTHER;
}

static struct pd_dso *new_dso(struct pd_dso_table *table)
{
    struct pd_dso *dso = pd_arena_zalloc(&table->arena, sizeof *dso);
    if (!dso || table->dsos.count >= UINT32_MAX - 1 || !pd_vec_push(&table->next_long, 0) ||
        !pd_vec_push(&table->dsos, dso))
        return NULL;
    dso->place = (uint32_t)table->dsos.count - 1;
    dso->index = (*table->total)++;
    return dso;
}

struct pd_dso *pd_dso_add(struct pd_dso_table *table, const char *name, size_t length,
                          const char *long_name, size_t long_length, const struct pd_dso_id *id)
{
    struct pd_text text = { 0 };
    if (!jit_short_name(long_name, long_length, &text))
        base_name(name, length, &text);
    uint32_t short_id = text.failed ? PD_INTERN_NONE : intern(table, text.data, text.length);
    uint32_t name_id = intern(table, name, length);
    uint32_t long_id = intern(table, long_name, long_length);
    pd_text_free(&text);
    if (short_id == PD_INTERN_NONE || name_id == PD_INTERN_NONE || long_id == PD_INTERN_NONE)
        return NULL;
    struct pd_dso *dso = new_dso(table);
    if (!dso)
        return NULL;
    name_texts(table, dso, name_id, long_id, short_id);
    dso->listed = true;
    dso->kind = kind_by_name(dso);
    if (!id_empty(id))
        set_id(dso, id);
    index_long(table, dso);
    index_short(table, dso);
    return dso;
}

struct pd_dso *pd_dso_findnew(struct pd_dso_table *table, const char *name, size_t length,
                              const struct pd_dso_id *id)
{
    struct pd_dso *dso = pd_dso_find_long(table, name, length, id);
    if (!dso)
        return pd_dso_add(table, name, length, name, length, id);
    struct pd_dso_id old = id_of(dso);
    if (id_empty(&old) && !id_empty(id))
        set_id(dso, id);
    return dso;
}

struct pd_dso *pd_dso_add_unlisted(struct pd_dso_table *table, const char *name, size_t length)
{
    uint32_t id = intern(table, name, length);
    struct pd_dso *dso = id == PD_INTERN_NONE ? NULL : new_dso(table);
    if (dso)
        name_texts(table, dso, id, id, id);
    return dso;
}

bool pd_dso_set_short_name(struct pd_dso_table *table, struct pd_dso *dso, const char *name,
                           size_t length)
{
    uint32_t id = intern(table, name, length);
    if (id == PD_INTERN_NONE)
        return false;
    if (id == dso->short_name_id)
        return true;
    uint32_t *first = &table->first_short.data[dso->short_name_id];
    if (*first == dso->place + 1) { /* the next in the list takes the old name over */
        *first = 0;
        for (size_t i = dso->place + 1; i < table->dsos.count && !*first; i++)
            if (table->dsos.data[i]->listed &&
                table->dsos.data[i]->short_name_id == dso->short_name_id)
                *first = (uint32_t)i + 1;
    }
    const struct pd_string *string = &table->names->strings.data[id];
    dso->short_name = string->text;
    dso->short_name_length = string->length;
    dso->short_name_id = id;
    index_short(table, dso);
    return true;
}

void pd_dso_set_build_id(struct pd_dso *dso, const uint8_t *id, size_t size)
{
    if (!size || (dso->mapped && atomic_load(&dso->build_id_size)))
        return;
    size = PD_MIN(size, sizeof dso->build_id);
    memset(dso->build_id, 0, sizeof dso->build_id);
    memcpy(dso->build_id, id, size);
    atomic_store(&dso->build_id_size, (uint8_t)size);
}

const struct pd_dso *pd_dso_check_id(struct pd_dso_table *table, struct pd_dso *dso)
{
    uint8_t size = atomic_load(&dso->build_id_size);
    if (!size || dso->mapped)
        return NULL;
    uint64_t key = pd_hash_bytes(dso->build_id, size);
    uint32_t at = pd_map64_get(&table->first_id, key);
    const struct pd_dso *other = at < table->dsos.count ? table->dsos.data[at] : NULL;
    if (!other) { /* without memory it is believed */
        (void)pd_map64_set(&table->first_id, key, dso->place);
        return NULL;
    }
    if (other == dso || other->short_name_id == dso->short_name_id ||
        memcmp(other->build_id, dso->build_id, sizeof dso->build_id) != 0)
        return NULL;
    dso->id_distrusted = true;
    return other;
}

void pd_dso_table_free(struct pd_dso_table *table)
{
    pd_map64_free(&table->first_id);
    pd_vec_free(&table->dsos);
    pd_vec_free(&table->next_long);
    pd_vec_free(&table->first_long);
    pd_vec_free(&table->last_long);
    pd_vec_free(&table->first_short);
    pd_intern_free(&table->own_names);
    pd_arena_free(&table->arena);
}
