/* SPDX-License-Identifier: MIT */
/* What tells whether the running kernel's symbols are those that were indexed. */
#include "object/kernel/running.h"
#include "base/intern.h"
#include "base/memory.h"
#include "object/internal.h"
#include "object/kernel/kallsyms.h"
#include "object/kernel/kcore.h"
#include "object/symtab/mapped.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MODULES "/sys/module"

enum { BLOCK = 4096, SMALL_FILE = 1 << 16, KEY_MAX = 1 << 22 };

static bool place(const char *root, const char *path, char out[PD_PATH_ROOM])
{
    int length = snprintf(out, PD_PATH_ROOM, "%s%s", root ? root : "", path);
    return length > 0 && length < PD_PATH_ROOM;
}

static bool read_number(const char *root, const char *path, long *value)
{
    char name[PD_PATH_ROOM];
    bool placed = place(root, path, name);
    FILE *file = placed ? fopen(name, "re") : NULL;
    bool ok = file && fscanf(file, "%ld", value) == 1;

    if (file)
        fclose(file);
    else if (placed)
        pd_memory_note_errno();
    return ok;
}

bool pd_running_is_restricted(const char *root)
{
    bool privileged = geteuid() == 0;
    long restrict_level = 0, paranoid = 0;

    read_number(root, "/proc/sys/kernel/kptr_restrict", &restrict_level);
    read_number(root, "/proc/sys/kernel/perf_event_paranoid", &paranoid);
    return privileged ? restrict_level >= 2 : restrict_level != 0 || paranoid > 1;
}

/* ---- the key ---- */

static bool append(struct pd_running *running, const void *bytes, size_t size)
{
    size_t count = running->key.count;

    if (size > KEY_MAX || count + size > KEY_MAX || !pd_vec_reserve(&running->key, count + size))
        return false;
    memcpy(running->key.data + count, bytes, size);
    running->key.count += size;
    return true;
}

/* A part of the key with its length in front, so that no two keys are the same bytes. */
static bool append_part(struct pd_running *running, const void *bytes, size_t size)
{
    uint64_t length = size;

    return append(running, &length, sizeof length) && append(running, bytes, size);
}

static bool append_file(struct pd_running *running, const char *path)
{
    char name[PD_PATH_ROOM];
    struct pd_bytes bytes;

    if (!place(running->root, path, name) || !pd_file_read(name, &bytes, SMALL_FILE))
        return false;
    bool ok = bytes.size && append_part(running, bytes.data, bytes.size);
    pd_bytes_free(&bytes);
    return ok;
}

/* The kernel gives a block to each read; it stops where the reader does. */
static bool append_first_block(struct pd_running *running)
{
    char block[BLOCK], name[PD_PATH_ROOM];
    int fd = place(running->root, PD_PROC_KALLSYMS, name) ? pd_file_open(name) : -1;

    if (fd < 0)
        return false;
    ssize_t got = read(fd, block, sizeof block);
    close(fd);
    return got > 0 && append_part(running, block, (size_t)got);
}

/* Those that are part of the kernel have no such file. */
static bool has_started(const char *folder, const char *module)
{
    char path[PD_PATH_ROOM + NAME_MAX + sizeof "/initstate"];
    struct pd_bytes state;

    snprintf(path, sizeof path, "%s/%s/initstate", folder, module);
    if (!pd_file_read(path, &state, BLOCK))
        return !pd_file_is_regular(path);
    bool live = state.size >= 4 && !memcmp(state.data, "live", 4);
    pd_bytes_free(&state);
    return live;
}

static bool append_modules(struct pd_running *running)
{
    char name[PD_PATH_ROOM];
    DIR *folder = place(running->root, MODULES, name) ? opendir(name) : NULL;
    bool ok = folder != NULL;

    for (const struct dirent *entry; ok && (entry = readdir(folder));) {
        uint64_t number = entry->d_ino;
        if (entry->d_name[0] != '.')
            ok = append_part(running, entry->d_name, strlen(entry->d_name)) &&
                 append(running, &number, sizeof number);
    }
    if (folder)
        closedir(folder);
    return ok;
}

static bool all_have_started(const char *root)
{
    char name[PD_PATH_ROOM];
    DIR *folder = place(root, MODULES, name) ? opendir(name) : NULL;
    bool ok = folder != NULL;

    for (const struct dirent *entry; ok && (entry = readdir(folder));)
        ok = entry->d_name[0] == '.' || has_started(name, entry->d_name);
    if (folder)
        closedir(folder);
    return ok;
}

/* Older kernels give a folder's number to another one once it is gone. */
static bool numbers_are_unique(void)
{
    struct utsname running;
    unsigned major, minor;

    return uname(&running) == 0 && sscanf(running.release, "%u.%u", &major, &minor) == 2 &&
           (major > 4 || (major == 4 && minor >= 14));
}

bool pd_running_open(const char *root, struct pd_running *running)
{
    *running = (struct pd_running){ .root = root };
    if (numbers_are_unique() && append_file(running, "/proc/sys/kernel/random/boot_id") &&
        append_file(running, "/sys/kernel/notes") && append_first_block(running) &&
        append_modules(running))
        return true;
    pd_running_free(running);
    return false;
}

void pd_running_free(struct pd_running *running)
{
    pd_vec_free(&running->key);
}

static struct pd_symbol_image_key image_key(const struct pd_object_search *search,
                                            const struct pd_running *running)
{
    return pd_symbol_image_key(search->index, "kernel", running->key.data, running->key.count);
}

/* ---- what comes and goes ---- */

static const char *const passing[] = { "[bpf]", "[__builtin__ftrace]", "[__builtin__kprobes]" };

/* With the brackets; NULL: the kernel's own. */
static const char *tag_of(const struct pd_symbol *symbol, size_t *length)
{
    size_t tag = pd_symbol_tag(symbol);

    *length = tag ? tag - 1 : 0;
    return tag ? symbol->name + symbol->name_length - *length : NULL;
}

static bool is_passing(const struct pd_symbol *symbol)
{
    size_t length;
    const char *tag = tag_of(symbol, &length);

    for (size_t i = 0; tag && i < PD_LENGTH(passing); i++)
        if (strlen(passing[i]) == length && !memcmp(tag, passing[i], length))
            return true;
    return false;
}

static bool names_passing(const struct pd_kernel_request *request)
{
    for (size_t i = 1; i < request->map_count; i++)
        for (size_t j = 0; j < PD_LENGTH(passing); j++)
            if (!strcmp(request->maps[i].name, passing[j]))
                return true;
    return false;
}

bool pd_running_leave_out(struct pd_symtab_builder *all, const struct pd_kernel_request *request)
{
    size_t kept = 0;

    if (names_passing(request))
        return false;
    for (size_t i = 0; i < all->all.count; i++) {
        if (is_passing(&all->all.data[i]))
            continue;
        all->all.data[kept] = all->all.data[i];
        all->state.data[kept++] = all->state.data[i];
    }
    all->all.count = all->state.count = kept;
    return true;
}

/* ---- writing ---- */

static bool key_has_module(const struct pd_running *running, const char *tag, size_t length)
{
    /* "[name]" -> its length and the name, as append_part() has it */
    char part[sizeof(uint64_t) + NAME_MAX];
    uint64_t name = length - 2;

    if (length < 3 || name > NAME_MAX)
        return false;
    memcpy(part, &name, sizeof name);
    memcpy(part + sizeof name, tag + 1, name);
    return memmem(running->key.data, running->key.count, part, sizeof name + name) != NULL;
}

/* Symbols in the order of the file: each module once, and only those that are loaded. */
static bool modules_are_loaded(const struct pd_running *running,
                               const struct pd_symtab_builder *all)
{
    struct pd_intern seen = { 0 };
    const char *last = NULL;
    size_t last_length = 0;
    uint32_t count = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < all->all.count; i++) {
        size_t length = 0;
        const char *tag = tag_of(&all->all.data[i], &length);
        if (!tag)
            ok = !last && !pd_kernel_is_trampoline(&all->all.data[i]);
        else if (!last || length != last_length || memcmp(tag, last, length) != 0)
            ok = key_has_module(running, tag, length) && pd_intern(&seen, tag, length) == count++;
        last = tag;
        last_length = length;
    }
    pd_intern_free(&seen);
    return ok;
}

static bool overlap(const struct pd_symtab_builder *all)
{
    uint64_t end = 0;

    for (size_t i = 0; i < all->order.count; i++) {
        const struct pd_symbol *symbol = &all->all.data[all->order.data[i]];
        if (symbol->start < end || symbol->end < symbol->start)
            return true;
        end = symbol->end;
    }
    return false;
}

enum { FACT_TEXT, FACT_STEXT, FACT_HAS }; /* of an image; HAS: a bit for each that is there */

void pd_running_save(const struct pd_object_search *search, const struct pd_running *running,
                     const struct pd_symtab_builder *all, const uint64_t *text,
                     const uint64_t *stext)
{
    const struct pd_symbol_image_key key = image_key(search, running);
    struct pd_symbol_image_source source = { .symbols = all->all.data,
                                             .states = all->state.data,
                                             .order = all->order.data,
                                             .count = all->order.count,
                                             .tagged = true };
    struct pd_running now;

    if (running->exists || !running->steady || overlap(all) || !modules_are_loaded(running, all) ||
        !pd_running_open(running->root, &now))
        return;
    source.facts[FACT_TEXT] = text ? *text : 0;
    source.facts[FACT_STEXT] = stext ? *stext : 0;
    source.facts[FACT_HAS] = (uint64_t)(text != NULL) << FACT_TEXT | (uint64_t)(stext != NULL)
                                                                         << FACT_STEXT;
    if (now.key.count == running->key.count &&
        !memcmp(now.key.data, running->key.data, now.key.count))
        pd_symbol_image_write(&key, &source);
    pd_running_free(&now);
}

/* ---- reading ---- */

static bool reference(const struct pd_symbol_image *image, const char *name, uint64_t *address)
{
    const unsigned fact = strcmp(name, "_text") ? FACT_STEXT : FACT_TEXT;

    *address = image->facts[fact];
    return image->facts[FACT_HAS] >> fact & 1;
}

/* How far the kernel has moved; false: only its own lines can tell. */
static bool find_delta(const struct pd_symbol_image *image, const struct pd_kernel_request *request,
                       uint64_t *delta)
{
    const char *name = request->ref_reloc_name;
    uint64_t address;

    *delta = 0;
    if (!name || !request->ref_reloc_address)
        return true;
    if ((strcmp(name, "_text") != 0 && strcmp(name, "_stext") != 0) ||
        !reference(image, name, &address))
        return false;
    *delta = address - request->ref_reloc_address;
    return true;
}

struct deal {
    const char *root;
    struct pd_symbol_image *image;
    const struct pd_kernel_request *request;
    struct pd_kernel_result_map *maps;
    PD_VEC(struct pd_symtab_piece) pieces; /* of one map */
};

/* The table of the map that these tags belong to, by its pieces. */
static perfdata_status make_table(struct deal *deal, size_t map)
{
    bool fits;

    if (!deal->pieces.count)
        return PERFDATA_OK;
    deal->maps[map].symtab = pd_symtab_map_pieces(deal->image, PD_DEMANGLE_NONE, deal->pieces.data,
                                                  deal->pieces.count, &fits);
    deal->pieces.count = 0;
    if (deal->maps[map].symtab)
        return PERFDATA_OK;
    return fits ? PERFDATA_ERROR_MEMORY : PERFDATA_ERROR_NOT_FOUND;
}

/* All that has no tag is the kernel's. perf looks closer at symbols of the kernel among those of
 * modules, and so does who reads the lines: here all are in one run. */
static perfdata_status deal_kernel(struct deal *deal, uint64_t delta)
{
    for (uint32_t i = 0; i < deal->image->run_count; i++) {
        const struct pd_symbol_image_run *run = &deal->image->runs[i];
        if (pd_symbol_image_tag(deal->image, run))
            continue;
        if (deal->pieces.count)
            return PERFDATA_ERROR_NOT_FOUND;
        if (!pd_vec_push(&deal->pieces, (struct pd_symtab_piece){ .first = run->first,
                                                                  .count = run->count,
                                                                  .shift = delta }))
            return PERFDATA_ERROR_MEMORY;
        deal->maps[0].start = deal->image->starts[run->first] - delta;
        deal->maps[0].end = deal->image->ends[run->first + run->count - 1] - delta;
    }
    return deal->pieces.count ? make_table(deal, 0) : PERFDATA_ERROR_NOT_FOUND;
}

struct target {
    uint32_t map, run;
};

static int by_map(const void *a, const void *b)
{
    const struct target *x = a, *y = b;

    if (x->map != y->map)
        return x->map < y->map ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

typedef PD_VEC(struct target) targets;

/* Which map each run of a module goes to: the first of its name. False: no memory. */
static bool find_targets(const struct deal *deal, targets *out)
{
    const struct pd_kernel_request *request = deal->request;
    struct pd_intern names = { 0 };
    PD_VEC(uint32_t) by_name = { 0 };
    bool ok = true;

    for (size_t i = 1; ok && i < request->map_count; i++) {
        const char *name = request->maps[i].name;
        uint32_t id = pd_intern(&names, name, strlen(name));
        ok = id != PD_INTERN_NONE && (id < by_name.count || pd_vec_push(&by_name, (uint32_t)i));
    }
    for (uint32_t i = 0; ok && by_name.count && i < deal->image->run_count; i++) {
        const char *tag = pd_symbol_image_tag(deal->image, &deal->image->runs[i]);
        uint32_t id = tag ? pd_intern(&names, tag, strlen(tag)) : UINT32_MAX;
        if (!tag || id >= by_name.count) {
            ok = !tag || id != PD_INTERN_NONE;
            continue;
        }
        ok = pd_vec_push(out, (struct target){ by_name.data[id], i });
    }
    pd_intern_free(&names);
    pd_vec_free(&by_name);
    return ok;
}

static perfdata_status deal_modules(struct deal *deal)
{
    targets list = { 0 };
    perfdata_status status = find_targets(deal, &list) ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;

    if (list.count)
        qsort(list.data, list.count, sizeof *list.data, by_map);
    for (size_t i = 0; !status && i < list.count; i++) {
        const uint32_t index = list.data[i].map;
        const struct pd_symbol_image_run *run = &deal->image->runs[list.data[i].run];
        const struct pd_kernel_result_map *map = &deal->maps[index];
        /* perf drops the first symbol of a module that it looked up before the kernel. */
        const uint32_t dropped = deal->request->maps[index].loaded_before ? 1 : 0;
        struct pd_symtab_piece piece = { .first = run->first + dropped,
                                         .count = run->count - dropped,
                                         .shift = map->identity ? 0 : map->start - map->pgoff };
        if (piece.count && !pd_vec_push(&deal->pieces, piece))
            status = PERFDATA_ERROR_MEMORY;
        else if (i + 1 == list.count || list.data[i + 1].map != index)
            status = make_table(deal, index);
    }
    pd_vec_free(&list);
    return status;
}

/* A copy of the kernel's memory beside the table: perf takes symbols of its own place then. */
static bool has_kcore(const struct deal *deal, uint64_t delta)
{
    char path[PD_PATH_ROOM];
    struct pd_kcore kcore;
    uint64_t stext;
    bool has = reference(deal->image, "_stext", &stext);

    if (!place(deal->root, PD_PROC_KALLSYMS, path) ||
        pd_kcore_open(path, delta == 0, has ? &stext : NULL, deal->request, &kcore))
        return false;
    pd_kcore_free(&kcore);
    return true;
}

static perfdata_status deal_out(struct deal *deal, uint64_t *delta)
{
    if (!find_delta(deal->image, deal->request, delta) || has_kcore(deal, *delta))
        return PERFDATA_ERROR_NOT_FOUND;
    const struct pd_kernel_result_map before = deal->maps[0];
    perfdata_status status = deal_kernel(deal, *delta);
    if (!status)
        status = deal_modules(deal);
    for (size_t i = 0; status && i < deal->request->map_count; i++) {
        pd_symtab_free(deal->maps[i].symtab);
        deal->maps[i].symtab = NULL;
    }
    if (status)
        deal->maps[0] = before;
    return status;
}

perfdata_status pd_running_load(const struct pd_object_search *search,
                                const struct pd_kernel_request *request, struct pd_running *running,
                                struct pd_kernel_result_map *maps, uint64_t *delta)
{
    const struct pd_symbol_image_key key = image_key(search, running);
    struct deal deal = {
        .root = running->root, .image = pd_symbol_image_open(&key), .request = request, .maps = maps
    };
    perfdata_status status = PERFDATA_ERROR_NOT_FOUND;

    running->exists = deal.image != NULL;
    if (deal.image && pd_search_demangle(search, true) == PD_DEMANGLE_NONE &&
        !names_passing(request))
        status = deal_out(&deal, delta);
    running->steady = status && !running->exists && all_have_started(running->root);
    pd_vec_free(&deal.pieces);
    pd_symbol_image_free(deal.image);
    return status;
}
