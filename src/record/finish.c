/* SPDX-License-Identifier: MIT */
/* What the header says of the records: build-ids of what samples hit, times of the first and last.
 * Found by reading the file that was just written, as perf does. */
#include "base/memory.h"
#include "container/handle.h"
#include "object/elf/build_id.h"
#include "record/record.h"
#include "rewrite/build_ids.h"
#include <elf.h>
#include <stdlib.h>
#include <sys/auxv.h>

static void add_known(struct pd_text *known, const struct pd_build_id *id, const char *name)
{
    if (known->length)
        pd_text_char(known, ',');
    for (size_t i = 0; i < id->size; i++)
        pd_text_hex(known, id->bytes[i], 2, '0');
    pd_text_format(known, " %s", name);
}

/* Build-ids of what has no file: the kernel, and its vdso, which this process has as well. */
static void know_kernel(const perfdata_recorder *recorder, struct pd_text *known)
{
    size_t size;
    struct pd_build_id id;
    char *notes = pd_roots_read_all(&recorder->roots, &size, "/sys/kernel/notes");
    if (notes && pd_build_id_from_notes((const uint8_t *)notes, size, &id))
        add_known(known, &id, "[kernel.kallsyms]");
    free(notes);
    enum { NEAR = 4096 }; /* its notes lie in its first page */
    const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    for (size_t at = 0; vdso && at + 36 <= NEAR; at += 4)
        if (pd_load32(vdso + at, false) == 4 &&
            pd_load32(vdso + at + 8, false) == NT_GNU_BUILD_ID &&
            !memcmp(vdso + at + 12, "GNU", 4)) {
            if (pd_build_id_from_notes(vdso + at, NEAR - at, &id))
                add_known(known, &id, "[vdso]");
            break;
        }
    pd_text_char(known, 0);
}

struct seen {
    uint64_t samples, first, last;
};

static void see_times(void *data, const struct pd_delivered *record)
{
    struct seen *seen = data;
    if (record->type != PD_RECORD_SAMPLE)
        return;
    seen->samples++;
    if (record->time && record->time != PD_NO_TIME) {
        seen->first = seen->first ? seen->first : record->time;
        seen->last = record->time;
    }
}

static perfdata_status set_times(perfdata_recorder *recorder, const struct seen *seen)
{
    uint8_t times[16];
    pd_store64(times, seen->first, false);
    pd_store64(times + 8, seen->last, false);
    return pd_writer_set_feature(recorder->output.writer, PD_FEATURE_SAMPLE_TIME, times,
                                 sizeof times);
}

/* What the recording itself says: its build-ids and the times of its samples. */
static perfdata_status read_back(perfdata_recorder *recorder, bool build_ids, struct seen *seen)
{
    perfdata_recording *own = NULL;
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    options.threads = 1;
    perfdata_status status = PERFDATA_OK;
    pd_memory_forget();
    if (perfdata_recording_open(recorder->options.path, &options, &own) == PERFDATA_OK) {
        struct pd_build_ids ids;
        struct pd_text known = { 0 };
        know_kernel(recorder, &known);
        status = pd_build_ids_open(&own->recording,
                                   pd_record_flag(recorder, PERFDATA_RECORDER_ALL_BUILD_IDS), false,
                                   known.failed || known.length < 2 ? NULL : known.data, &ids);
        ids.just_made = true;
        if (status == PERFDATA_OK)
            status = pd_build_ids_read(&ids, see_times, seen);
        if (status == PERFDATA_ERROR_MEMORY)
            pd_record_no_memory(recorder);
        else if (status < 0)
            pd_fail(&recorder->context, status, -1, "%s", own->recording.context.message);
        if (status == PERFDATA_OK && ids.table.count && build_ids)
            status = pd_writer_set_feature(recorder->output.writer, PD_FEATURE_BUILD_ID,
                                           ids.table.data, ids.table.count);
        pd_build_ids_close(&ids);
        pd_text_free(&known);
    }
    perfdata_recording_close(own);
    /* a file that could not be read for lack of memory must not pass for one without a build-id */
    return status >= 0 && pd_memory_failed() ? pd_record_no_memory(recorder) : status;
}

perfdata_status pd_record_look_back(perfdata_recorder *recorder, uint64_t *samples)
{
    struct seen seen = { 0 };
    *samples = 0;
    bool build_ids = !pd_record_flag(recorder, PERFDATA_RECORDER_NO_BUILD_ID);
    if (!recorder->options.path || (!build_ids && !recorder->options.want_times))
        return recorder->options.path ? set_times(recorder, &seen) : PERFDATA_OK;
    perfdata_status status = pd_writer_sync(recorder->output.writer);
    if (status == PERFDATA_OK)
        status = pd_writer_wait(recorder->output.writer);
    if (status == PERFDATA_OK)
        status = read_back(recorder, build_ids, &seen);
    *samples = build_ids ? seen.samples : 0;
    return status < 0 ? status : set_times(recorder, &seen);
}
