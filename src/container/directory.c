/* SPDX-License-Identifier: MIT */
/* The directory form: `data` is a recording of its own; data.0, data.1 ... are records without a
 * header. */
#include "container/internal.h"
#include <ctype.h>
#include <stdlib.h>

enum { PARTS_MAX = 65536 };

struct names {
    struct pd_arena *arena;
    PD_VEC(const char *) list;
    bool failed;
};

perfdata_status pdc_open_directory(struct pd_recording *recording)
{
    recording->directory = recording->source;
    recording->source = NULL;
    recording->kind = PD_CONTAINER_DIRECTORY;
    return pd_source_open_entry(&recording->context, recording->directory, "data",
                                &recording->source);
}

static int keep_part(void *data, const char *name)
{
    struct names *names = data;
    if (strncmp(name, "data.", 5) != 0 || names->list.count >= PARTS_MAX)
        return 0;
    const char *copy = pd_arena_strdup(names->arena, name);
    names->failed |= !copy || !pd_vec_push(&names->list, copy);
    return names->failed;
}

/* By number where they have one, so that data.10 comes behind data.9. */
static int compare_parts(const void *a, const void *b)
{
    const char *x = *(const char *const *)a + 5, *y = *(const char *const *)b + 5;
    bool both = isdigit((unsigned char)*x) && isdigit((unsigned char)*y);
    unsigned long long m = both ? strtoull(x, NULL, 10) : 0, n = both ? strtoull(y, NULL, 10) : 0;
    return m != n ? (m > n) - (m < n) : strcmp(x, y);
}

static perfdata_status open_part(struct pd_recording *recording, const char *name)
{
    struct pd_source *source;
    perfdata_status status = pd_source_open_entry(&recording->context, recording->directory, name,
                                                  &source);
    if (status == PERFDATA_ERROR_MEMORY)
        return status;
    if (status < 0)
        return pd_issue(&recording->context, PERFDATA_ISSUE_BAD_RECORD, -1,
                        "%s cannot be read: it is left out", name);
    recording->parts.names[recording->parts.count] = name;
    recording->parts.sources[recording->parts.count++] = source;
    return PERFDATA_OK;
}

perfdata_status pdc_open_parts(struct pd_recording *recording)
{
    const struct pd_feature_dir_format *format = &recording->features.dir_format;
    static const uint64_t none[4];
    /* one that is being written has no features yet */
    bool begun = !memcmp(recording->feature_table.bits, none, sizeof none);
    if (!begun && (!format->present || format->version != 1)) {
        if (format->present && format->version) /* 0: it has but one file, beside kcore_dir */
            return pd_issue(&recording->context, PERFDATA_ISSUE_UNSUPPORTED, -1,
                            "directory format %llu: only its main file is read",
                            (unsigned long long)format->version);
        return PERFDATA_OK;
    }
    struct names names = { .arena = &recording->arena };
    perfdata_status status = pd_source_list(&recording->context, recording->directory, keep_part,
                                            &names);
    size_t count = names.list.count;
    struct pd_recording_parts *parts = &recording->parts;
    parts->sources = pd_arena_zalloc(&recording->arena, (count + 1) * sizeof *parts->sources);
    parts->names = pd_arena_zalloc(&recording->arena, (count + 1) * sizeof *parts->names);
    if (names.failed || !parts->sources || !parts->names)
        status = pd_no_memory(&recording->context, NULL);
    if (count)
        qsort(names.list.data, count, sizeof *names.list.data, compare_parts);
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++)
        status = open_part(recording, names.list.data[i]);
    pd_vec_free(&names.list);
    return status;
}
