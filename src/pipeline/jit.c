/* SPDX-License-Identifier: MIT */
/* jitdumps that a recording names -> maps of its processes, in time. */
#include "pipeline/jit.h"
#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"
#include "format/names.h"
#include "format/structs.h"
#include "model/model.h"
#include <stdlib.h>
#include <time.h>

/* ---- what records say ---- */

enum { MMAP_NAME_AT = 40, MMAP2_NAME_AT = 72, PID_AT = 8 };

static bool starts(const char *name, size_t length, const char *prefix)
{
    size_t n = strlen(prefix);
    return length >= n && !memcmp(name, prefix, n);
}

enum pd_jit_verdict pd_jit_watch_record(struct pd_jit_watch *watch, const uint8_t *record,
                                        uint32_t size, uint32_t type, bool swap, const char **path,
                                        size_t *length)
{
    if (type == PD_RECORD_TIME_CONV)
        watch->has_conversion |= pd_tsc_conversion_read(record, size, swap, &watch->conversion);
    uint32_t at = type == PD_RECORD_MMAP    ? MMAP_NAME_AT
                  : type == PD_RECORD_MMAP2 ? MMAP2_NAME_AT
                                            : UINT32_MAX;
    if (at >= size)
        return PD_JIT_PASS;
    uint32_t pid = pd_load32(record + PID_AT, swap);
    *path = (const char *)record + at;
    *length = strnlen(*path, size - at);
    if (*length == size - at)
        return PD_JIT_PASS;
    if (pd_jitdump_is_marker(*path, *length, pid))
        return PD_JIT_DUMP;
    bool anonymous = starts(*path, *length, "//anon") || starts(*path, *length, "/dev/zero") ||
                     starts(*path, *length, "/anon_hugepage");
    return anonymous && pd_map64_get(&watch->pids, pid) != PD_MAP64_NONE ? PD_JIT_ANONYMOUS
                                                                         : PD_JIT_PASS;
}

bool pd_jit_watch_take(struct pd_jit_watch *watch, const uint8_t *record, bool swap)
{
    return pd_map64_set(&watch->pids, pd_load32(record + PID_AT, swap), 1);
}

void pd_jit_watch_settle(const struct pd_recording *recording, const uint8_t *record,
                         struct pd_jitdump *dump)
{
    pd_jitdump_settle(dump, pd_features_machine(&recording->features),
                      pd_load32(record + PID_AT, recording->swap));
}

perfdata_status pd_jit_tell_strangers(struct pd_context *context, const struct pd_jitdump *dump,
                                      const char *path)
{
    if (!dump->strangers)
        return PERFDATA_OK;
    return pd_issue(context, PERFDATA_ISSUE_OBJECT, -1,
                    "%s: %llu records name another process than the one that mapped it, %d, whose "
                    "code they are taken for",
                    path, (unsigned long long)dump->strangers, (int)dump->pid);
}

void pd_jit_watch_free(struct pd_jit_watch *watch)
{
    pd_map64_free(&watch->pids);
}

const char *pd_jit_times_unusable(const struct pd_jit_watch *watch,
                                  const struct pd_recording *recording,
                                  const struct pd_jitdump *dump)
{
    if (!recording->event_count)
        return "no event to map it for";
    if (dump->arch_times)
        return watch->has_conversion ? NULL : "its times are of a clock that nothing converts";
    const struct pd_attr *attr = &recording->events[0]->attr;
    if (pd_attr_flag(attr, PD_ATTR_USE_CLOCKID) && attr->clockid == CLOCK_MONOTONIC)
        return NULL;
    return "code of a runtime must be recorded with the monotonic clock (perf record -k mono)";
}

uint64_t pd_jit_time(const struct pd_jit_watch *watch, const struct pd_jitdump *dump, uint64_t time)
{
    return dump->arch_times ? pd_tsc_to_time(&watch->conversion, time) : time;
}

/* ---- read in place ---- */

struct pending {
    const struct pd_jit_entry *entry;
    const struct pd_jitdump *dump;
    uint64_t time, sequence;
    const char *path; /* of the dump, as recorded */
    size_t length;
};

struct pd_jit {
    struct pd_recording *recording;
    struct pd_timeline *timeline;
    const char *folder, *symfs;
    struct pd_jit_watch watch;
    struct pd_intern paths; /* of dumps that were met */
    PD_VEC(bool) taken;     /* by path; false: of no use */
    struct pd_arena arena;
    PD_VEC(struct pd_jitdump *) dumps;
    PD_VEC(struct pending) pending; /* by time */
    size_t next;                    /* of pending: those before are maps already */
    uint64_t sequence;
    struct pd_map64 codes; /* pid and index -> which code has that name now */
    PD_VEC(const struct pd_jit_code *) loaded;
};

struct pd_jit *pd_jit_new(struct pd_recording *recording, struct pd_timeline *timeline,
                          const char *folder, const char *symfs)
{
    struct pd_jit *jit = calloc(1, sizeof *jit);
    if (!jit)
        return NULL;
    jit->recording = recording;
    jit->timeline = timeline;
    jit->folder = folder;
    jit->symfs = symfs ? symfs : "";
    return jit;
}

void pd_jit_free(struct pd_jit *jit)
{
    if (!jit)
        return;
    for (size_t i = 0; i < jit->dumps.count; i++)
        pd_jitdump_close(jit->dumps.data[i]);
    pd_vec_free(&jit->dumps);
    pd_vec_free(&jit->pending);
    pd_vec_free(&jit->loaded);
    pd_map64_free(&jit->codes);
    pd_intern_free(&jit->paths);
    pd_vec_free(&jit->taken);
    pd_jit_watch_free(&jit->watch);
    pd_arena_free(&jit->arena);
    free(jit);
}

static int by_time(const void *left, const void *right)
{
    const struct pending *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static bool add_entries(struct pd_jit *jit, struct pd_jitdump *dump, const char *path,
                        size_t length)
{
    struct pd_jit_entry entry;
    while (pd_jitdump_next(dump, &entry)) {
        struct pd_jit_entry *kept = pd_arena_alloc(&jit->arena, sizeof *kept);
        if (!kept)
            return false;
        *kept = entry;
        struct pending pending = {
            kept, dump, pd_jit_time(&jit->watch, dump, entry.time), jit->sequence++, path, length
        };
        if (!pd_vec_push(&jit->pending, pending))
            return false;
    }
    if (jit->pending.count > jit->next)
        qsort(jit->pending.data + jit->next, jit->pending.count - jit->next,
              sizeof *jit->pending.data, by_time);
    return true;
}

/* Where the dump lies now. */
static bool open_dump(const struct pd_jit *jit, const char *path, size_t length,
                      struct pd_jitdump *dump)
{
    struct pd_text file = { 0 };
    size_t name = length;
    while (name && path[name - 1] != '/')
        name--;
    pd_text_string(&file, *jit->folder ? jit->folder : jit->symfs);
    if (*jit->folder)
        pd_text_char(&file, '/');
    pd_text_bytes(&file, *jit->folder ? path + name : path, *jit->folder ? length - name : length);
    pd_text_char(&file, '\0');
    bool ok = !file.failed && pd_jitdump_open(dump, file.data);
    pd_text_free(&file);
    return ok;
}

/* 1: its code holds from now on; 0: the dump cannot be used. */
static int read_dump(struct pd_jit *jit, const uint8_t *record, const char *path, size_t length)
{
    struct pd_context *context = &jit->recording->context;
    struct pd_jitdump *dump = pd_arena_zalloc(&jit->arena, sizeof *dump);
    char *kept = pd_arena_copy(&jit->arena, path, length);
    if (!dump || !kept)
        return pd_no_memory(&jit->recording->context, "a jitdump");
    if (!open_dump(jit, path, length, dump))
        return pd_issue(context, PERFDATA_ISSUE_OBJECT, -1, "%s cannot be read as a jitdump", kept);
    if (!pd_vec_push(&jit->dumps, dump)) {
        pd_jitdump_close(dump);
        return pd_no_memory(&jit->recording->context, "a jitdump");
    }
    pd_jit_watch_settle(jit->recording, record, dump);
    const char *unusable = pd_jit_times_unusable(&jit->watch, jit->recording, dump);
    if (unusable)
        return pd_issue(context, PERFDATA_ISSUE_OBJECT, -1, "%s: %s", kept, unusable);
    if (!pd_jit_watch_take(&jit->watch, record, jit->recording->swap) ||
        !add_entries(jit, dump, kept, length))
        return pd_no_memory(&jit->recording->context, "a jitdump");
    perfdata_status status = pd_jit_tell_strangers(context, dump, kept);
    if (status == PERFDATA_OK && dump->damaged)
        status = pd_issue(context, PERFDATA_ISSUE_OBJECT, -1, "%s: damaged, read up to there",
                          kept);
    return status < 0 ? status : 1;
}

/* A runtime may map its dump more than once. */
static int meet_dump(struct pd_jit *jit, const uint8_t *record, const char *path, size_t length)
{
    uint32_t at = pd_intern(&jit->paths, path, length);
    if (at == PD_INTERN_NONE)
        return pd_no_memory(&jit->recording->context, "a jitdump");
    if (at < jit->taken.count)
        return jit->taken.data[at];
    int taken = read_dump(jit, record, path, length);
    return pd_vec_push(&jit->taken, taken > 0)
               ? taken
               : pd_no_memory(&jit->recording->context, "a jitdump");
}

/* The code that a name stands for: what a LOAD brings, or what an earlier one brought. */
static const struct pd_jit_code *code_of(struct pd_jit *jit, const struct pending *pending)
{
    const struct pd_jit_entry *entry = pending->entry;
    uint64_t key = pd_hash_pair(entry->index, entry->pid);
    if (entry->kind == PD_JIT_MOVE) {
        uint32_t at = pd_map64_get(&jit->codes, key);
        return at == PD_MAP64_NONE ? NULL : jit->loaded.data[at];
    }
    struct pd_jit_code *code = pd_arena_alloc(&jit->arena, sizeof *code);
    if (!code)
        return NULL;
    *code = (struct pd_jit_code){ pending->dump, entry, jit->loaded.count };
    return pd_vec_push(&jit->loaded, code) &&
                   pd_map64_set(&jit->codes, key, (uint32_t)jit->loaded.count - 1)
               ? code
               : NULL;
}

static perfdata_status appear(struct pd_jit *jit, const struct pending *pending, uint64_t number)
{
    const struct pd_jit_entry *entry = pending->entry;
    const struct pd_jit_code *code = code_of(jit, pending);
    if (!code)
        return entry->kind == PD_JIT_MOVE ? PERFDATA_OK
                                          : pd_no_memory(&jit->recording->context, "a jitdump");
    struct pd_text name = { 0 };
    pd_jit_path(pending->path, pending->length, entry, &name);
    struct pd_code_map map = { .pid = entry->pid,
                               .tid = entry->tid,
                               .start = entry->address,
                               .length = entry->kind == PD_JIT_LOAD ? pd_jit_mapped_size(entry)
                                                                    : entry->size,
                               .pgoff = PD_JIT_TEXT_AT,
                               .name = name.data,
                               .name_length = name.length,
                               .version = code->version,
                               .code = code };
    perfdata_status status = name.failed ? pd_no_memory(&jit->recording->context, "a jitdump")
                                         : pd_timeline_map_code(jit->timeline, &map, number);
    pd_text_free(&name);
    return status;
}

int pd_jit_deliver(struct pd_jit *jit, const uint8_t *record, uint32_t size, uint32_t type,
                   uint64_t time, uint64_t number)
{
    const char *path;
    size_t length;
    if (time != PD_NO_TIME)
        while (jit->next < jit->pending.count && jit->pending.data[jit->next].time <= time) {
            perfdata_status status = appear(jit, &jit->pending.data[jit->next++], number);
            if (status < 0)
                return status;
        }
    if (type == PD_RECORD_SAMPLE)
        return 0;
    switch (pd_jit_watch_record(&jit->watch, record, size, type, jit->recording->swap, &path,
                                &length)) {
    case PD_JIT_DUMP: return meet_dump(jit, record, path, length);
    case PD_JIT_ANONYMOUS: return 1;
    case PD_JIT_PASS: break;
    }
    return 0;
}
