/* SPDX-License-Identifier: MIT */
/* <perfdata/recording.h>: opening, properties, features. */
#include "container/handle.h"
#include <stdlib.h>

/* Everything that an open needs before the source: NULL without memory. */
static perfdata_recording *new_recording(const struct perfdata_options *given, const char *path,
                                         perfdata_status *status)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording = calloc(1, sizeof *recording);
    *status = PERFDATA_ERROR_MEMORY;
    if (!recording)
        return NULL;
    struct pd_context *context = &recording->recording.context;
    pd_context_init(context);
    *status = pd_take_options(context, &options, sizeof options, given);
    context->on_issue = options.on_issue;
    context->issue_data = options.issue_data;
    context->on_progress = options.on_progress;
    context->progress_data = options.progress_data;
    context->strict = options.flags & PERFDATA_STRICT;
    context->limits = (struct pd_limits){ .memory = options.max_memory,
                                          .records = options.max_records,
                                          .decompressed = options.max_decompressed,
                                          .threads = options.threads };
    context->path = path;
    recording->recording.all_streams = options.flags & PERFDATA_ALL_STREAMS;
    recording->recording.like_perf = options.flags & PERFDATA_LIKE_PERF;
    return recording;
}

static perfdata_status finish_open(perfdata_recording *recording, perfdata_status status,
                                   struct pd_source *source, const char *path)
{
    if (status == PERFDATA_OK)
        status = pd_recording_open(source, path, &recording->recording);
    else /* the caller's path need not outlive this call */
        recording->recording.context.path = NULL;
    recording->open = status == PERFDATA_OK;
    return status;
}

perfdata_status perfdata_recording_open(const char *path, const struct perfdata_options *options,
                                        perfdata_recording **out)
{
    struct pd_source *source = NULL;
    perfdata_status status;
    *out = new_recording(options, path, &status);
    if (status < 0)
        return status;
    if (!path)
        return pd_fail(&(*out)->recording.context, PERFDATA_ERROR_ARGUMENT, -1, "no path");
    status = pd_source_open_path(&(*out)->recording.context, path, &source);
    return finish_open(*out, status, source, path);
}

perfdata_status perfdata_recording_open_fd(int fd, const struct perfdata_options *options,
                                           perfdata_recording **out)
{
    struct pd_source *source = NULL;
    perfdata_status status;
    *out = new_recording(options, "-", &status);
    if (status < 0)
        return status;
    status = pd_source_open_fd(&(*out)->recording.context, fd, &source);
    return finish_open(*out, status, source, "-");
}

perfdata_status perfdata_recording_open_memory(const void *bytes, size_t size,
                                               const struct perfdata_options *options,
                                               perfdata_recording **out)
{
    struct pd_source *source = NULL;
    perfdata_status status;
    *out = new_recording(options, "memory", &status);
    if (status < 0)
        return status;
    status = pd_source_open_memory(&(*out)->recording.context, bytes, size, &source);
    return finish_open(*out, status, source, "memory");
}

void perfdata_recording_close(perfdata_recording *recording)
{
    if (!recording)
        return;
    pd_recording_close(&recording->recording);
    free(recording);
}

const char *perfdata_recording_error(const perfdata_recording *recording, int64_t *offset)
{
    if (offset)
        *offset = recording->recording.context.offset;
    return recording->recording.context.message;
}

uint64_t perfdata_recording_issue_count(const perfdata_recording *recording, int32_t kind)
{
    return kind >= 0 && kind < PERFDATA_ISSUE_COUNT ? recording->recording.context.issue_count[kind]
                                                    : 0;
}

/* ---- the file ---- */

uint32_t perfdata_recording_version(const perfdata_recording *recording)
{
    return recording->recording.version;
}

uint32_t perfdata_recording_form(const perfdata_recording *recording)
{
    switch (recording->recording.kind) {
    case PD_CONTAINER_PIPE: return PERFDATA_FORM_PIPE;
    case PD_CONTAINER_DIRECTORY: return PERFDATA_FORM_DIRECTORY;
    case PD_CONTAINER_FILE: break;
    }
    return PERFDATA_FORM_FILE;
}

int perfdata_recording_is_big_endian(const perfdata_recording *recording)
{
    return recording->recording.big_endian;
}

int perfdata_recording_is_unfinished(const perfdata_recording *recording)
{
    return recording->recording.unfinished;
}

int perfdata_recording_is_truncated(const perfdata_recording *recording)
{
    return recording->recording.truncated;
}

void perfdata_recording_data(const perfdata_recording *recording, uint64_t *offset, uint64_t *size)
{
    if (offset)
        *offset = recording->recording.data.offset;
    if (size)
        *size = recording->recording.data.size;
}

/* ---- features ---- */

const char *perfdata_feature_name(uint32_t feature)
{
    return pd_feature_name(feature);
}

int perfdata_recording_has_feature(const perfdata_recording *recording, uint32_t feature)
{
    return pd_recording_has_feature(&recording->recording, feature);
}

perfdata_status perfdata_recording_feature(const perfdata_recording *recording, uint32_t feature,
                                           uint64_t *offset, uint64_t *size)
{
    const struct pd_section *section = &recording->recording.feature_table.section[feature & 255];
    if (feature > 255 || !section->offset)
        return PERFDATA_ERROR_NO_DATA;
    *offset = section->offset;
    *size = section->size;
    return PERFDATA_OK;
}

#define TEXT_FEATURE(function, member)                                                             \
    const char *perfdata_recording_##function(const perfdata_recording *recording)                 \
    {                                                                                              \
        const struct pd_features *features = &recording->recording.features;                       \
        return features->member.present ? features->member.text.text : NULL;                       \
    }
TEXT_FEATURE(hostname, hostname)
TEXT_FEATURE(os_release, osrelease)
TEXT_FEATURE(perf_version, version)
TEXT_FEATURE(arch, arch)
TEXT_FEATURE(cpu_description, cpudesc)
TEXT_FEATURE(cpuid, cpuid)
#undef TEXT_FEATURE

size_t perfdata_recording_command_count(const perfdata_recording *recording)
{
    return recording->recording.features.cmdline.words_count;
}

const char *perfdata_recording_command_word(const perfdata_recording *recording, size_t index)
{
    const struct pd_feature_cmdline *cmdline = &recording->recording.features.cmdline;
    return index < cmdline->words_count ? cmdline->words[index].text.text : NULL;
}

perfdata_status perfdata_recording_cpus(const perfdata_recording *recording, uint32_t *online,
                                        uint32_t *available)
{
    const struct pd_feature_nrcpus *cpus = &recording->recording.features.nrcpus;
    if (!cpus->present)
        return PERFDATA_ERROR_NO_DATA;
    if (online)
        *online = cpus->online;
    if (available)
        *available = cpus->available;
    return PERFDATA_OK;
}

perfdata_status perfdata_recording_total_memory(const perfdata_recording *recording,
                                                uint64_t *kilobytes)
{
    const struct pd_feature_total_mem *memory = &recording->recording.features.total_mem;
    if (!memory->present)
        return PERFDATA_ERROR_NO_DATA;
    *kilobytes = memory->kilobytes;
    return PERFDATA_OK;
}

perfdata_status perfdata_recording_sample_times(const perfdata_recording *recording,
                                                uint64_t *first, uint64_t *last)
{
    const struct pd_feature_sample_time *times = &recording->recording.features.sample_time;
    if (!times->present)
        return PERFDATA_ERROR_NO_DATA;
    if (first)
        *first = times->first;
    if (last)
        *last = times->last;
    return PERFDATA_OK;
}

size_t perfdata_recording_build_id_count(const perfdata_recording *recording)
{
    return recording->recording.features.build_id.entries_count;
}

perfdata_status perfdata_recording_build_id(const perfdata_recording *recording, size_t index,
                                            struct perfdata_build_id *out)
{
    const struct pd_feature_build_id *table = &recording->recording.features.build_id;
    if (index >= table->entries_count)
        return PERFDATA_ERROR_ARGUMENT;
    const struct pd_part_build_id_entry *entry = &table->entries[index];
    struct perfdata_build_id result = { .path = entry->filename.text ? entry->filename.text : "",
                                        .id = entry->build_id,
                                        .id_size = pd_build_id_length(entry),
                                        .misc = entry->misc,
                                        .pid = (int32_t)entry->pid };
    pd_give_result(out, &result, sizeof result);
    return PERFDATA_OK;
}
