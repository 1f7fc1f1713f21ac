/* SPDX-License-Identifier: MIT */
/* Objects that samples hit -> entries of the header's table of build-ids. */
#include "rewrite/build_ids.h"
#include "resolve/here.h"
#include "resolve/symbols.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>

enum {
    ENTRY_NAME = 36,
    RECORD_UNIT = 64, /* names in perf's records have room of so many bytes, or a multiple */
    USUAL_SIZE = 20   /* of an id without PD_MISC_BUILD_ID_SIZE */
};

enum { IN_TABLE = 1, IN_RECORDS = 2 }; /* what has been seen to for an object */

/* ---- --known-build-ids ---- */

static bool parse_id(const char *text, size_t length, struct pd_build_id *id)
{
    memset(id, 0, sizeof *id);
    if (!length || length % 2 || length > 2 * sizeof id->bytes)
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0)
            return false;
        id->bytes[i / 2] = (uint8_t)(id->bytes[i / 2] << 4 | digit);
    }
    id->size = (uint8_t)(length / 2);
    return true;
}

/* "ID PATH" */
static perfdata_status add_known(struct pd_build_ids *ids, const char *text, size_t length)
{
    struct pd_build_id known;
    while (length && *text == ' ')
        text++, length--;
    size_t id = 0;
    while (id < length && text[id] != ' ')
        id++;
    size_t path = id;
    while (path < length && text[path] == ' ')
        path++;
    if (path == length || !parse_id(text, id, &known))
        return pd_fail(&ids->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "'%.*s': a build-id and a path are needed", (int)PD_MIN(length, 200u), text);
    uint32_t at = pd_intern(&ids->known_paths, text + path, length - path);
    if (at == PD_INTERN_NONE ||
        (at == ids->known_ids.count && !pd_vec_push(&ids->known_ids, known)))
        return pd_no_memory(&ids->recording->context, NULL);
    ids->known_ids.data[at] = known;
    return PERFDATA_OK;
}

static perfdata_status read_known_file(struct pd_build_ids *ids, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return pd_fail(&ids->recording->context, PERFDATA_ERROR_ARGUMENT, -1, "%s: %s", path,
                       strerrordesc_np(errno));
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    perfdata_status status = PERFDATA_OK;
    while (status == PERFDATA_OK && (length = getline(&line, &room, file)) > 0) {
        if (line[length - 1] == '\n')
            length--;
        if (length)
            status = add_known(ids, line, (size_t)length);
    }
    if (status == PERFDATA_OK && !feof(file)) /* half of a list must not pass for the whole */
        status = pd_fail(&ids->recording->context,
                         errno == ENOMEM ? PERFDATA_ERROR_MEMORY : PERFDATA_ERROR_ARGUMENT, -1,
                         "%s: %s", path, strerrordesc_np(errno));
    free(line);
    fclose(file);
    return status;
}

static perfdata_status read_known(struct pd_build_ids *ids, const char *list)
{
    perfdata_status status = PERFDATA_OK;
    if (*list == '@')
        return read_known_file(ids, list + 1);
    while (*list && status == PERFDATA_OK) {
        size_t length = strcspn(list, ",");
        status = add_known(ids, list, length);
        list += length + (list[length] == ',');
    }
    return status;
}

static const struct pd_build_id *find_known(const struct pd_build_ids *ids, const char *path)
{
    uint32_t at = pd_intern_find(&ids->known_paths, path, strlen(path));
    return at == PD_INTERN_NONE ? NULL : &ids->known_ids.data[at];
}

/* ---- entries ---- */

/* The build-id of the file that the process mapped: in its container, while it lives. A file that
 * was put into its place since does not count. */
static void read_file(const struct pd_build_ids *ids, const struct pd_dso *dso,
                      struct pd_build_id *id)
{
    char root[PD_ROOT_ROOM] = "", path[PD_ROOT_ROOM + PATH_MAX];
    enum pd_path_owner owner = PD_PATH_OURS;
    if (pd_recorded_here(&ids->recording->features))
        owner = pd_dso_owner(dso, root);
    if (owner == PD_PATH_NOBODY || strlen(dso->long_name) >= PATH_MAX)
        return;
    snprintf(path, sizeof path, "%s%s", root, dso->long_name);
    if (ids->just_made && dso->ino && !pd_file_has_inode(path, dso->ino))
        return;
    (void)pd_build_id_read(path, id); /* no file: no id */
}

static bool find_id(const struct pd_build_ids *ids, const struct pd_dso *dso,
                    struct pd_build_id *id)
{
    const struct pd_build_id *known = find_known(ids, dso->long_name);
    id->size = 0;
    if (known)
        *id = *known;
    else if (dso->build_id_size)
        *id = pd_build_id_make(dso->build_id, dso->build_id_size);
    else if ((dso->kind == PD_DSO_USER || dso->kind == PD_DSO_MODULE) && dso->long_name[0] == '/')
        read_file(ids, dso, id);
    return id->size;
}

static bool in_table(const struct pd_build_ids *ids, const struct pd_dso *dso)
{
    return pd_intern_find(&ids->recorded_paths, dso->long_name, strlen(dso->long_name)) !=
           PD_INTERN_NONE;
}

/* The entry's bytes but for the name's first; they are zero before. */
static void fill_entry(const struct pd_build_ids *ids, uint8_t *entry, uint16_t misc, size_t size,
                       const struct pd_build_id *id, const char *path)
{
    bool swap = ids->big_endian != pd_is_big_endian(false);
    pd_store16(entry + 4, misc, swap);
    pd_store16(entry + 6, (uint16_t)size, swap);
    pd_store32(entry + 8, UINT32_MAX, swap);
    memcpy(entry + 12, id->bytes, id->size);
    if (misc & PD_MISC_BUILD_ID_SIZE)
        entry[32] = id->size;
    memcpy(entry + ENTRY_NAME, path, strlen(path)); /* NOLINT: zeros follow */
}

static perfdata_status put_entry(struct pd_build_ids *ids, const char *path, uint16_t mode,
                                 const struct pd_build_id *id)
{
    size_t size = (size_t)pd_align8(ENTRY_NAME + pd_align8(strlen(path) + 1));
    if (size > UINT16_MAX)
        return PERFDATA_OK;
    if (!pd_vec_reserve(&ids->table, ids->table.count + size))
        return pd_no_memory(&ids->recording->context, NULL);
    uint8_t *entry = ids->table.data + ids->table.count;
    memset(entry, 0, size);
    fill_entry(ids, entry, mode | PD_MISC_BUILD_ID_SIZE, size, id, path);
    ids->table.count += size;
    return PERFDATA_OK;
}

static perfdata_status add_told(struct pd_build_ids *ids, const char *path, size_t length)
{
    return pd_intern(&ids->told_paths, path, length) != PD_INTERN_NONE
               ? PERFDATA_OK
               : pd_no_memory(&ids->recording->context, NULL);
}

/* As perf's record, which has no length of the id, unless that is not the usual one. */
static perfdata_status put_record(struct pd_build_ids *ids, const struct pd_dso *dso, uint16_t mode)
{
    struct pd_build_id id;
    bool swap = ids->big_endian != pd_is_big_endian(false);
    size_t name = strlen(dso->long_name) + 1;
    size_t size = ENTRY_NAME + (name + RECORD_UNIT - 1) / RECORD_UNIT * RECORD_UNIT;
    if (size > UINT16_MAX ||
        pd_intern_find(&ids->told_paths, dso->long_name, name - 1) != PD_INTERN_NONE ||
        !find_id(ids, dso, &id))
        return PERFDATA_OK;
    pd_text_fill(&ids->record, '\0', size);
    if (ids->record.failed)
        return pd_no_memory(&ids->recording->context, NULL);
    uint8_t *record = (uint8_t *)ids->record.data;
    fill_entry(ids, record, id.size == USUAL_SIZE ? mode : mode | PD_MISC_BUILD_ID_SIZE, size, &id,
               dso->long_name);
    pd_store32(record, PD_RECORD_HEADER_BUILD_ID, swap);
    return add_told(ids, dso->long_name, name - 1);
}

/* A pipe's own record of a build-id is copied, and need not be made. */
static perfdata_status note_told(struct pd_build_ids *ids, const uint8_t *record, uint32_t size)
{
    const char *path = (const char *)record + ENTRY_NAME;
    if (size <= ENTRY_NAME)
        return PERFDATA_OK;
    return add_told(ids, path, strnlen(path, size - ENTRY_NAME));
}

bool pd_build_ids_told(const struct pd_build_ids *ids, const uint8_t *entry, size_t size)
{
    const char *path = (const char *)entry + ENTRY_NAME;
    return size > ENTRY_NAME && pd_intern_find(&ids->told_paths, path,
                                               strnlen(path, size - ENTRY_NAME)) != PD_INTERN_NONE;
}

static perfdata_status add_entry(struct pd_build_ids *ids, const struct pd_dso *dso)
{
    struct pd_build_id id;
    if (in_table(ids, dso) || !find_id(ids, dso, &id))
        return PERFDATA_OK;
    return put_entry(ids, dso->long_name, dso->kernel_space ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER,
                     &id);
}

/* Code may be loaded again under a name: the entry then gets the id of what is there now. */
perfdata_status pd_build_ids_add(struct pd_build_ids *ids, const char *path,
                                 const struct pd_build_id *id)
{
    uint32_t at = pd_intern(&ids->added_paths, path, strlen(path));
    if (at == PD_INTERN_NONE)
        return pd_no_memory(&ids->recording->context, NULL);
    if (at < ids->added_at.count) {
        memcpy(ids->table.data + ids->added_at.data[at] + 12, id->bytes, id->size);
        return PERFDATA_OK;
    }
    return pd_vec_push(&ids->added_at, ids->table.count)
               ? put_entry(ids, path, PD_CPUMODE_USER, id)
               : pd_no_memory(&ids->recording->context, NULL);
}

static bool has_file(const struct pd_dso *dso)
{
    switch (dso->kind) {
    case PD_DSO_USER:
    case PD_DSO_KERNEL:
    case PD_DSO_MODULE:
    case PD_DSO_VDSO: return true;
    default: return false;
    }
}

static perfdata_status mark(struct pd_build_ids *ids, const struct pd_dso *dso, uint8_t what,
                            bool *first)
{
    if (!pd_vec_reserve(&ids->done, dso->index + 1u))
        return pd_no_memory(&ids->recording->context, NULL);
    while (ids->done.count <= dso->index)
        ids->done.data[ids->done.count++] = 0;
    if (first)
        *first = !(ids->done.data[dso->index] & what);
    ids->done.data[dso->index] |= what;
    return PERFDATA_OK;
}

/* Does `what` for an object when it is asked for the first time. */
static perfdata_status see_to(struct pd_build_ids *ids, const struct pd_dso *dso, uint8_t what,
                              uint16_t mode)
{
    bool first = false;
    perfdata_status status = mark(ids, dso, what, &first);
    if (status < 0 || !first || !has_file(dso))
        return status;
    return what == IN_TABLE ? add_entry(ids, dso) : put_record(ids, dso, mode);
}

/* ---- records ---- */

static perfdata_status take_recorded(struct pd_build_ids *ids)
{
    struct pd_recording *recording = ids->recording;
    struct pd_feature_bytes bytes = recording->feature_table.bytes[PD_FEATURE_BUILD_ID];
    const struct pd_feature_build_id *entries = &recording->features.build_id;
    for (uint32_t i = 0; i < entries->entries_count; i++) {
        const char *name = entries->entries[i].filename.text;
        if (name && pd_intern(&ids->recorded_paths, name, strlen(name)) == PD_INTERN_NONE)
            return pd_no_memory(&ids->recording->context, NULL);
    }
    if (!bytes.size)
        return PERFDATA_OK;
    if (!pd_vec_reserve(&ids->table, bytes.size))
        return pd_no_memory(&ids->recording->context, NULL);
    if (ids->big_endian != recording->big_endian)
        pd_feature_convert(&bytes, PD_FEATURE_BUILD_ID, recording->swap, ids->big_endian, 0,
                           &recording->arena, ids->table.data);
    else
        memcpy(ids->table.data, bytes.data, bytes.size);
    ids->table.count = ids->recorded = bytes.size;
    return PERFDATA_OK;
}

perfdata_status pd_build_ids_open(struct pd_recording *recording, bool all, bool big_endian,
                                  const char *known, struct pd_build_ids *out)
{
    memset(out, 0, sizeof *out);
    out->recording = recording;
    out->all = all;
    out->big_endian = big_endian;
    perfdata_status status = take_recorded(out);
    if (status == PERFDATA_OK && known)
        status = read_known(out, known);
    return status < 0 ? status : pd_session_open(recording, NULL, &out->sample_map.session);
}

void pd_build_ids_close(struct pd_build_ids *ids)
{
    pd_vec_free(&ids->known_ids);
    pd_vec_free(&ids->added_at);
    pd_intern_free(&ids->recorded_paths);
    pd_intern_free(&ids->known_paths);
    pd_intern_free(&ids->added_paths);
    pd_vec_free(&ids->done);
    pd_vec_free(&ids->table);
    pd_text_free(&ids->record);
    pd_intern_free(&ids->told_paths);
    pd_session_close(&ids->sample_map.session);
}

/* What a MMAP or MMAP2 record has just mapped. */
static const struct pd_map *mapped(struct pd_build_ids *ids, const struct pd_event *event,
                                   const uint8_t *record, uint32_t size, uint16_t misc)
{
    enum { PID = 8, TID = 12, ADDRESS = 16, END = 24 };
    struct pd_sample_map *sample_map = &ids->sample_map;
    struct pd_timeline *timeline = sample_map->session.timeline;
    if (!event || size < END)
        return NULL;
    bool swap = event->plan.swap;
    uint64_t address = pd_load64(record + ADDRESS, swap);
    if ((misc & PD_MISC_CPUMODE_MASK) == PD_CPUMODE_KERNEL)
        return pd_timeline_kernel_map(timeline, sample_map->number, address);
    const struct pd_thread *thread = pd_timeline_touch(
        timeline, pd_load32(record + PID, swap), pd_load32(record + TID, swap), sample_map->number);
    return thread ? pd_thread_map(thread, sample_map->number, address) : NULL;
}

/* perf makes a record of what a sample hits first, or with `all` of what is mapped, but of nothing
 * whose map has an id. */
static perfdata_status make_record(struct pd_build_ids *ids, const struct pd_map *hit,
                                   const struct pd_map *map, uint32_t type, uint16_t misc)
{
    uint16_t mode = misc & PD_MISC_CPUMODE_MASK;
    if (map && map->dso && type == PD_RECORD_MMAP2 && misc & PD_MISC_MMAP_BUILD_ID)
        return mark(ids, map->dso, IN_RECORDS, NULL);
    const struct pd_map *shown = ids->all ? map : hit;
    if (!shown || !shown->dso || (ids->all && shown->dso->kind == PD_DSO_KERNEL))
        return PERFDATA_OK;
    return see_to(ids, shown->dso, IN_RECORDS, mode);
}

perfdata_status pd_build_ids_record(struct pd_build_ids *ids, const struct pd_event *event,
                                    const uint8_t *record, uint32_t size, uint32_t type,
                                    uint16_t misc)
{
    struct pd_timeline *timeline = ids->sample_map.session.timeline;
    const struct pd_map *hit, *map = NULL;
    perfdata_status status = pd_sample_map_take(&ids->sample_map, event, record, size, type, misc,
                                                &hit);
    if (status == PERFDATA_OK && hit && hit->dso && !ids->all)
        status = see_to(ids, hit->dso, IN_TABLE, 0);
    size_t count = ids->all ? pd_timeline_dso_count(timeline) : 0;
    for (; ids->seen < count && status == PERFDATA_OK; ids->seen++)
        status = see_to(ids, pd_timeline_dso(timeline, ids->seen), IN_TABLE, 0);
    ids->record.length = 0;
    if (status < 0 || !ids->want_records)
        return status;
    if (type == PD_RECORD_HEADER_BUILD_ID)
        return note_told(ids, record, size);
    if (type == PD_RECORD_MMAP || type == PD_RECORD_MMAP2)
        map = mapped(ids, event, record, size, misc);
    return make_record(ids, hit, map, type, misc);
}

perfdata_status pd_build_ids_read(struct pd_build_ids *ids,
                                  void (*see)(void *data, const struct pd_delivered *record),
                                  void *data)
{
    struct pd_order *order;
    struct pd_delivered record;
    int got = pd_order_open(ids->recording, PD_ORDER_DELIVERY, &order);
    if (got < 0)
        return got;
    while ((got = pd_order_next(order, &record)) > 0) {
        if (see)
            see(data, &record);
        got = pd_build_ids_record(ids, record.event, record.data, record.size, record.type,
                                  record.misc);
        if (got < 0)
            break;
    }
    pd_order_close(order);
    return got;
}
