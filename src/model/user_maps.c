/* SPDX-License-Identifier: MIT */
/* Records of mappings -> the maps of processes, and the objects mapped there. */
#include "model/timeline.h"
#include "format/structs.h"
#include <stdio.h>

static bool name_is(const struct pd_map_fact *fact, const char *name)
{
    size_t n = strlen(name);
    return fact->name_length == n && memcmp(fact->name, name, n) == 0;
}

static bool name_starts(const struct pd_map_fact *fact, const char *prefix)
{
    size_t n = strlen(prefix);
    return fact->name_length >= n && memcmp(fact->name, prefix, n) == 0;
}

/* Memory without a file; executable: a JIT's, whose symbols are in the process's perf map. */
static struct pd_dso *anonymous(struct pd_timeline *timeline, const struct pd_thread *thread,
                                const struct pd_map_fact *fact, const struct pd_dso_id *id)
{
    struct pd_dso *dso;
    if (fact->prot & PD_PROT_EXEC && thread->state->made_pid) {
        char name[40];
        int length = snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)thread->state->made_pid);
        dso = pd_dso_findnew(&timeline->dsos, name, (size_t)length, id);
        if (dso && !dso->mapped)
            dso->pid = thread->state->made_pid;
        return dso;
    }
    dso = pd_dso_findnew(&timeline->dsos, fact->name, fact->name_length, id);
    if (dso && !dso->mapped && !(fact->prot & PD_PROT_EXEC))
        dso->kind = PD_DSO_NO_FILE;
    return dso;
}

/* A map without build-id takes that of the header's DSO of the same name. */
static void header_build_id(struct pd_timeline *timeline, struct pd_dso *dso)
{
    const struct pd_dso *known = pd_dso_find_long(&timeline->dsos, dso->long_name,
                                                  dso->long_name_length, NULL);
    if (!known || !known->from_header || known == dso)
        return;
    pd_dso_set_build_id(dso, known->build_id, known->build_id_size);
    dso->from_header = true;
}

struct pd_map *pd_timeline_new_map(struct pd_timeline *timeline, const struct pd_map_fact *fact,
                                   struct pd_dso *dso)
{
    struct pd_map *map = pd_map_new(&timeline->pool);
    if (!map)
        return NULL;
    map->start = fact->start;
    if (pd_add_overflows(fact->start, fact->length, &map->end))
        map->end = UINT64_MAX;
    map->dso = dso;
    map->prot = fact->prot;
    map->flags = fact->flags;
    map->pid = fact->pid;
    map->tid = fact->tid;
    map->number = fact->number;
    return map;
}

static void first_map(struct pd_dso *dso, const struct pd_thread *thread,
                      const struct pd_map_fact *fact)
{
    const struct pd_namespaces *namespaces = atomic_load_explicit(&thread->state->namespaces,
                                                                  memory_order_relaxed);
    dso->code = fact->code;
    dso->mapped_at = fact->start;
    if (!dso->pid)
        dso->pid = fact->pid;
    if (namespaces)
        dso->mount_namespace = namespaces->mount;
}

static bool log_map(struct pd_map_log *log, const struct pd_map *map)
{
    return pd_vec_push(&log->maps, (struct pd_told_map){ map->dso, map->number, map->start,
                                                         map->end, map->pgoff, map->pid });
}

static perfdata_status apply_user_map(struct pd_timeline *timeline, const struct pd_map_fact *fact,
                                      const struct pd_dso_id *id)
{
    struct pd_thread *thread = pd_thread_findnew(timeline, fact->pid, fact->tid, fact->number);
    if (!thread)
        return PERFDATA_ERROR_MEMORY;
    bool identity = name_is(fact, "//anon") || name_starts(fact, "/dev/zero") ||
                    name_starts(fact, "/anon_hugepage") || fact->flags & PD_MAP_HUGETLB ||
                    name_starts(fact, "[stack") || name_starts(fact, "/SYSV") ||
                    name_is(fact, "[heap]");
    bool is_vdso = name_is(fact, "[vdso]");
    struct pd_map_set *maps = pd_thread_set(thread->state, fact->number);
    struct pd_dso *dso = is_vdso ? pd_timeline_vdso(timeline, maps, fact->start)
                         : identity
                             ? anonymous(timeline, thread, fact, id)
                             : pd_dso_findnew(&timeline->dsos, fact->name, fact->name_length, id);
    if (!dso)
        return PERFDATA_ERROR_MEMORY;
    if (fact->build_id_size)
        pd_dso_set_build_id(dso, fact->build_id, fact->build_id_size);
    else if (!dso->mapped)
        header_build_id(timeline, dso);
    if (!dso->mapped)
        first_map(dso, thread, fact);
    dso->mapped = true;
    uint64_t end;
    if (pd_add_overflows(fact->start, fact->length, &end) || !fact->length)
        return fact->length ? PERFDATA_ERROR_BAD_RECORD : 0;
    struct pd_map *map = pd_timeline_new_map(timeline, fact, dso);
    if (!map)
        return PERFDATA_ERROR_MEMORY;
    map->pgoff = is_vdso ? 0 : fact->pgoff;
    map->identity = identity;
    if (timeline->host->map_log && !log_map(timeline->host->map_log, map))
        return PERFDATA_ERROR_MEMORY;
    return pd_map_set_insert(&timeline->pool, maps, map);
}

perfdata_status pd_timeline_map_code(struct pd_timeline *timeline, const struct pd_code_map *map,
                                     uint64_t number)
{
    struct pd_map_fact fact = {
        .start = map->start,
        .length = map->length,
        .pgoff = map->pgoff,
        .name = map->name,
        .name_length = map->name_length,
        .pid = map->pid,
        .tid = map->tid,
        .number = number,
        .prot = PD_PROT_EXEC,
        .code = map->code,
    };
    struct pd_dso_id id = { 0, 0, map->version, 1 };
    perfdata_status status = apply_user_map(timeline, &fact, &id);
    if (status == PERFDATA_ERROR_BAD_RECORD)
        status = pd_issue(timeline->context, PERFDATA_ISSUE_OBJECT, -1,
                          "code of a jitdump lies at an impossible address");
    return status;
}

static bool of_kernel(uint16_t misc)
{
    unsigned mode = misc & PD_MISC_CPUMODE_MASK;
    return mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_GUEST_KERNEL;
}

/* What MMAP and MMAP2 say alike. */
#define FACTS_OF(mmap)                                                                             \
    .start = (mmap)->addr, .length = (mmap)->len, .pgoff = (mmap)->pgoff,                          \
    .name = (mmap)->filename.text, .name_length = (mmap)->filename.length, .pid = (mmap)->pid,     \
    .tid = (mmap)->tid

perfdata_status pd_timeline_mmap(struct pd_timeline *timeline, const struct pd_record_mmap *mmap,
                                 uint64_t number)
{
    struct pd_map_fact fact = {
        FACTS_OF(mmap),
        .number = number,
        .prot = mmap->header.misc & PD_MISC_MMAP_DATA ? 0 : PD_PROT_EXEC,
    };
    return of_kernel(mmap->header.misc) ? pd_timeline_kernel_mmap(timeline, &fact)
                                        : apply_user_map(timeline, &fact, NULL);
}

perfdata_status pd_timeline_mmap2(struct pd_timeline *timeline, const struct pd_record_mmap2 *mmap,
                                  uint64_t number)
{
    struct pd_map_fact fact = {
        FACTS_OF(mmap),
        .number = number,
        .prot = mmap->prot,
        .flags = mmap->flags,
    };
    struct pd_dso_id id = { mmap->maj, mmap->min, mmap->ino, mmap->ino_generation };
    if (mmap->header.misc & PD_MISC_MMAP_BUILD_ID) {
        fact.build_id = mmap->build_id;
        fact.build_id_size = (uint8_t)PD_MIN(mmap->build_id_size, sizeof mmap->build_id);
        /* The bytes stand where device and inode would, and tell files apart as well. */
        memcpy(&id.min, mmap->build_id, sizeof id.min);
        memcpy(&id.ino, mmap->build_id + 4, sizeof id.ino);
        memcpy(&id.ino_generation, mmap->build_id + 12, sizeof id.ino_generation);
        id.maj = mmap->build_id_size;
    }
    return of_kernel(mmap->header.misc) ? pd_timeline_kernel_mmap(timeline, &fact)
                                        : apply_user_map(timeline, &fact, &id);
}
