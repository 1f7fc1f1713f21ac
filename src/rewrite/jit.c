/* SPDX-License-Identifier: MIT */
/* Code of runtimes: an ELF file of each piece that a jitdump holds, and a map of it in place of the
 * dump's. */
#include "rewrite/inject.h"
#include "base/text.h"
#include "io/at.h"
#include "io/output_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MMAP2_NAME = 72, FILE_MODE = 0644 };

struct inject_jit {
    struct pd_copy *copy;
    struct pd_build_ids *ids;
    struct pd_jit_watch watch;
    struct pd_text image, path, record;
};

/* ---- files ---- */

/* A new file: what had the name may be linked elsewhere, as in perf's cache, and stays as it is
 * there. */
static perfdata_status write_image(struct inject_jit *jit, const struct pd_jitdump *dump,
                                   const struct pd_jit_entry *entry)
{
    struct pd_build_id id;
    const char *path = jit->path.data;
    if (!pd_jit_image(dump, entry, &jit->image, &id))
        return pd_no_memory(&jit->copy->recording->context, NULL);
    int fd = pd_create_at(AT_FDCWD, path, FILE_MODE);
    bool ok = fd >= 0 && pd_write_all(fd, jit->image.data, jit->image.length);
    int error = errno;
    if (fd >= 0 && close(fd) < 0 && ok) {
        ok = false;
        error = errno;
    }
    if (!ok)
        return pd_fail(&jit->copy->recording->context, PERFDATA_ERROR_OUTPUT, -1, "%s: %s", path,
                       strerrordesc_np(error));
    return pd_build_ids_add(jit->ids, path, &id);
}

/* ---- maps ---- */

/* Writes the trailer that the first event's records have: which task, and when. It holds the
 * event's id, where perf writes 0, an id that no event has. */
static void put_trailer(struct inject_jit *jit, const struct pd_event *event,
                        const struct pd_jit_entry *entry, uint64_t time)
{
    const struct pd_plan *plan = &event->plan;
    bool swap = jit->copy->recording->swap;
    if (!plan->trailer_size)
        return;
    pd_text_fill(&jit->record, '\0', plan->trailer_size);
    if (jit->record.failed)
        return;
    uint8_t *end = (uint8_t *)jit->record.data + jit->record.length;
    uint64_t id = event->id_count ? event->ids[0] : 0;
    if (plan->trailer_tid) {
        pd_store32(end - plan->trailer_tid, entry->pid, swap);
        pd_store32(end - plan->trailer_tid + 4, entry->tid, swap);
    }
    if (plan->trailer_time)
        pd_store64(end - plan->trailer_time, time, swap);
    if (plan->trailer_id)
        pd_store64(end - plan->trailer_id, id, swap);
    if (plan->trailer_identifier)
        pd_store64(end - plan->trailer_identifier, id, swap);
}

static perfdata_status put_map(struct inject_jit *jit, const struct pd_jit_entry *entry,
                               uint64_t time)
{
    struct pd_recording *recording = jit->copy->recording;
    const struct pd_event *event = recording->events[0];
    struct pd_text *record = &jit->record;
    struct stat file = { 0 };
    size_t name = strlen(jit->path.data) + 1;
    if (stat(jit->path.data, &file) < 0) /* moved, but never loaded: as perf */
        memset(&file, 0, sizeof file);
    record->length = 0;
    pd_text_fill(record, '\0', MMAP2_NAME);
    pd_text_bytes(record, jit->path.data, name);
    pd_text_fill(record, '\0', (size_t)pd_align8(name) - name);
    put_trailer(jit, event, entry, time);
    if (record->failed)
        return pd_no_memory(&jit->copy->recording->context, NULL);
    if (record->length > UINT16_MAX)
        return pd_issue(&recording->context, PERFDATA_ISSUE_OBJECT, -1,
                        "the name of a jitdump is too long for a record");
    bool swap = recording->swap;
    uint8_t *at = (uint8_t *)record->data;
    pd_store32(at, PD_RECORD_MMAP2, swap);
    pd_store16(at + 4, PD_CPUMODE_USER, swap);
    pd_store16(at + 6, (uint16_t)record->length, swap);
    pd_store32(at + 8, entry->pid, swap);
    pd_store32(at + 12, entry->tid, swap);
    pd_store64(at + 16, entry->address, swap);
    pd_store64(at + 24, entry->kind == PD_JIT_LOAD ? pd_jit_mapped_size(entry) : entry->size, swap);
    pd_store64(at + 32, PD_JIT_TEXT_AT, swap);
    pd_store32(at + 40, major(file.st_dev), swap);
    pd_store32(at + 44, minor(file.st_dev), swap);
    pd_store64(at + 48, file.st_ino, swap);
    pd_store64(at + 56, 1, swap);            /* the generation, as perf has it */
    pd_store32(at + 64, file.st_mode, swap); /* perf puts the file's mode here */
    pd_store32(at + 68, MAP_SHARED, swap);
    return pd_copy_record(jit->copy, event, at, (uint32_t)record->length);
}

static perfdata_status put_dump(struct inject_jit *jit, struct pd_jitdump *dump, const char *path,
                                size_t length)
{
    struct pd_jit_entry entry;
    perfdata_status status = PERFDATA_OK;
    while (status == PERFDATA_OK && pd_jitdump_next(dump, &entry)) {
        jit->path.length = 0;
        pd_jit_path(path, length, &entry, &jit->path);
        pd_text_char(&jit->path, '\0');
        if (jit->path.failed)
            return pd_no_memory(&jit->copy->recording->context, NULL);
        if (entry.kind == PD_JIT_LOAD)
            status = write_image(jit, dump, &entry);
        if (status == PERFDATA_OK)
            status = put_map(jit, &entry, pd_jit_time(&jit->watch, dump, entry.time));
    }
    if (status == PERFDATA_OK)
        status = pd_jit_tell_strangers(&jit->copy->recording->context, dump, path);
    if (status == PERFDATA_OK && dump->damaged)
        status = pd_issue(&jit->copy->recording->context, PERFDATA_ISSUE_OBJECT, -1,
                          "%.*s: damaged, read up to there", (int)length, path);
    return status;
}

/* The map of a dump: what it holds comes in its place. A dump that is not there leaves it. */
static perfdata_status take_dump(struct inject_jit *jit, const struct pd_delivered *record,
                                 const char *path, size_t length)
{
    struct pd_context *context = &jit->copy->recording->context;
    struct pd_jitdump dump;
    if (!pd_jitdump_open(&dump, path)) {
        perfdata_status status = pd_issue(context, PERFDATA_ISSUE_OBJECT, -1,
                                          "%s cannot be read as a jitdump", path);
        return status < 0 ? status : pd_copy_delivered(jit->copy, record, NULL);
    }
    pd_jit_watch_settle(jit->copy->recording, record->data, &dump);
    const char *unusable = pd_jit_times_unusable(&jit->watch, jit->copy->recording, &dump);
    perfdata_status status = unusable ? pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1, "%s: %s",
                                                path, unusable)
                             : pd_jit_watch_take(&jit->watch, record->data,
                                                 jit->copy->recording->swap)
                                 ? put_dump(jit, &dump, path, length)
                                 : pd_no_memory(&jit->copy->recording->context, NULL);
    pd_jitdump_close(&dump);
    return status;
}

static perfdata_status take(struct inject_jit *jit, const struct pd_delivered *record)
{
    const char *path;
    size_t length;
    switch (pd_jit_watch_record(&jit->watch, record->data, record->size, record->type,
                                jit->copy->recording->swap, &path, &length)) {
    case PD_JIT_DUMP: return take_dump(jit, record, path, length);
    case PD_JIT_ANONYMOUS: return PERFDATA_OK;
    default: return pd_copy_delivered(jit->copy, record, NULL);
    }
}

perfdata_status pd_inject_jit(struct pd_copy *copy, struct pd_build_ids *ids,
                              perfdata_status (*after)(void *data), void *data)
{
    struct inject_jit jit = { .copy = copy, .ids = ids };
    struct pd_order *order;
    struct pd_delivered record;
    int got = pd_order_open(copy->recording, PD_ORDER_DELIVERY, &order);
    if (got < 0)
        return got;
    while ((got = pd_order_next(order, &record)) > 0) {
        got = take(&jit, &record);
        if (got == PERFDATA_OK)
            got = after(data);
        if (got < 0)
            break;
    }
    pd_order_close(order);
    pd_text_free(&jit.image);
    pd_text_free(&jit.path);
    pd_text_free(&jit.record);
    pd_jit_watch_free(&jit.watch);
    return got;
}
