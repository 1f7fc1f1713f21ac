/* SPDX-License-Identifier: MIT */
/* Features and attrs -> the text of --header. */
#include "render/about/header.h"
#include "container/handle.h"
#include "format/attr_text.h"
#include <perfdata/text.h>
#include <time.h>

/* perf prints file version 2 as 1, version 1 as 0. */
static void put_file(const struct pd_recording *recording, struct pd_text *out)
{
    time_t seconds = (time_t)pd_source_mtime(recording->source);
    struct tm local = { 0 };
    char when[64];
    localtime_r(&seconds, &local);
    pd_text_format(out, "# captured on    : %s", asctime_r(&local, when) ? when : "unknown\n");
    pd_text_format(out, "# header version : %u\n", recording->version - 1);
    const struct pd_section *data = &recording->recorded_data;
    pd_text_format(out, "# data offset    : %llu\n", (unsigned long long)data->offset);
    pd_text_format(out, "# data size      : %llu\n", (unsigned long long)data->size);
    pd_text_format(out, "# feat offset    : %llu\n",
                   (unsigned long long)(data->offset + data->size));
}

static void put_line(struct pd_text *out, const char *title, const struct pd_str *value)
{
    pd_text_format(out, "# %s : %s\n", title, value->text);
}

static void put_command(const struct pd_feature_cmdline *cmdline, struct pd_text *out)
{
    pd_text_string(out, "# cmdline : ");
    for (uint32_t i = 0; i < cmdline->words_count; i++) {
        for (const char *c = cmdline->words[i].text.text; c && *c; c++) {
            pd_text_string(out, *c == '\'' ? "\\" : "");
            pd_text_char(out, *c);
        }
        pd_text_char(out, ' ');
    }
    pd_text_char(out, '\n');
}

static void put_events(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_event_desc *desc = &recording->features.event_desc;
    for (uint32_t i = 0; i < desc->events_count; i++) {
        const struct pd_part_event_desc_entry *event = &desc->events[i];
        pd_text_format(out, "# event : name = %s, ", event->name.text ? event->name.text : "");
        for (uint32_t k = 0; k < event->ids.count; k++)
            pd_text_format(out, "%s %llu", k ? "," : ", id = {",
                           (unsigned long long)pd_array_at(&event->ids, k));
        pd_text_string(out, event->ids.count ? " }" : "");
        pd_attr_text(&event->attr, ", ", ", ", " = ", recording->like_perf, out);
        pd_text_char(out, '\n');
    }
}

static void put_pmus(const struct pd_feature_pmu_mappings *mappings, struct pd_text *out)
{
    if (!mappings->pmus_count) {
        pd_text_string(out, "# pmu mappings: not available\n");
        return;
    }
    for (uint32_t i = 0; i < mappings->pmus_count; i++)
        pd_text_format(out, "%s%s = %u", i ? ", " : "# pmu mappings: ", mappings->pmus[i].name.text,
                       mappings->pmus[i].type);
    pd_text_char(out, '\n');
}

static void put_groups(const struct pd_recording *recording, struct pd_text *out)
{
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *leader = recording->events[i];
        if (leader->leader != i || leader->member_count < 2)
            continue;
        pd_text_format(out, "# group: %s{%s", leader->group_name ? leader->group_name : "",
                       leader->name);
        for (size_t k = 1; k < leader->member_count; k++)
            pd_text_format(out, ",%s", recording->events[i + k]->name);
        pd_text_string(out, "}\n");
    }
}

static void put_times(const struct pd_feature_sample_time *times, struct pd_text *out)
{
    pd_text_format(out, "# time of first sample : %llu.%06llu\n",
                   (unsigned long long)(times->first / 1000000000),
                   (unsigned long long)(times->first % 1000000000 / 1000));
    pd_text_format(out, "# time of last sample : %llu.%06llu\n",
                   (unsigned long long)(times->last / 1000000000),
                   (unsigned long long)(times->last % 1000000000 / 1000));
    pd_text_format(out, "# sample duration : %10.3f ms\n",
                   (double)(times->last - times->first) / 1e6);
}

static bool is_long(unsigned feature)
{
    switch (feature) {
    case PD_FEATURE_CPU_TOPOLOGY:
    case PD_FEATURE_NUMA_TOPOLOGY:
    case PD_FEATURE_CACHE:
    case PD_FEATURE_MEM_TOPOLOGY:
    case PD_FEATURE_HYBRID_TOPOLOGY:
    case PD_FEATURE_CPU_DOMAIN_INFO: return true;
    default: return false;
    }
}

/* What a feature says of how the recording was made. */
static void put_feature_of_run(const struct pd_recording *recording, unsigned feature,
                               struct pd_text *out)
{
    const struct pd_features *f = &recording->features;
    switch (feature) {
    case PD_FEATURE_CMDLINE: put_command(&f->cmdline, out); break;
    case PD_FEATURE_EVENT_DESC: put_events(recording, out); break;
    case PD_FEATURE_BRANCH_STACK:
        pd_text_string(out, "# contains samples with branch stack\n");
        break;
    case PD_FEATURE_GROUP_DESC: put_groups(recording, out); break;
    case PD_FEATURE_AUXTRACE:
        pd_text_string(out, "# contains AUX area data (e.g. instruction trace)\n");
        break;
    case PD_FEATURE_STAT: pd_text_string(out, "# contains stat data\n"); break;
    case PD_FEATURE_SAMPLE_TIME: put_times(&f->sample_time, out); break;
    case PD_FEATURE_CLOCKID: /* the resolution in ns is what perf calls a frequency */
        pd_text_format(out, "# clockid frequency: %llu MHz\n",
                       (unsigned long long)(f->clockid.resolution * 1000));
        break;
    case PD_FEATURE_DIR_FORMAT:
        pd_text_format(out, "# directory data version : %llu\n",
                       (unsigned long long)f->dir_format.version);
        break;
    case PD_FEATURE_BPF_PROG_INFO: pd_header_bpf(recording, out); break;
    case PD_FEATURE_BPF_BTF:
        for (uint32_t i = 0; i < f->bpf_btf.blobs_count; i++)
            pd_text_format(out, "# btf info of id %u\n", f->bpf_btf.blobs[i].id);
        break;
    case PD_FEATURE_COMPRESSED:
        pd_text_format(out, "# compressed : %s, level = %u, ratio = %u\n",
                       f->compressed.type == 1 ? "Zstd" : "Unknown", f->compressed.level,
                       f->compressed.ratio);
        break;
    case PD_FEATURE_CLOCK_DATA: pd_header_clock(recording, out); break;
    default: break; /* perf prints nothing for it */
    }
}

/* What a feature says of the machine; other features are left to put_feature_of_run(). */
static void put_feature(const struct pd_recording *recording, unsigned feature, struct pd_text *out)
{
    const struct pd_features *f = &recording->features;
    switch (feature) {
    case PD_FEATURE_HOSTNAME: put_line(out, "hostname", &f->hostname.text); break;
    case PD_FEATURE_OSRELEASE: put_line(out, "os release", &f->osrelease.text); break;
    case PD_FEATURE_VERSION: put_line(out, "perf version", &f->version.text); break;
    case PD_FEATURE_ARCH: put_line(out, "arch", &f->arch.text); break;
    case PD_FEATURE_NRCPUS:
        pd_text_format(out, "# nrcpus online : %u\n# nrcpus avail : %u\n", f->nrcpus.online,
                       f->nrcpus.available);
        break;
    case PD_FEATURE_CPUDESC: put_line(out, "cpudesc", &f->cpudesc.text); break;
    case PD_FEATURE_CPUID: put_line(out, "cpuid", &f->cpuid.text); break;
    case PD_FEATURE_TOTAL_MEM:
        pd_text_format(out, "# total memory : %llu kB\n",
                       (unsigned long long)f->total_mem.kilobytes);
        break;
    case PD_FEATURE_CPU_TOPOLOGY: pd_header_topology(recording, out); break;
    case PD_FEATURE_NUMA_TOPOLOGY: pd_header_numa(recording, out); break;
    case PD_FEATURE_PMU_MAPPINGS: put_pmus(&f->pmu_mappings, out); break;
    case PD_FEATURE_CACHE: pd_header_cache(recording, out); break;
    case PD_FEATURE_MEM_TOPOLOGY: pd_header_memory(recording, out); break;
    case PD_FEATURE_CPU_PMU_CAPS: pd_header_cpu_caps(recording, out); break;
    case PD_FEATURE_PMU_CAPS: pd_header_pmu_caps(recording, out); break;
    case PD_FEATURE_HYBRID_TOPOLOGY: pd_header_hybrid(recording, out); break;
    case PD_FEATURE_CPU_DOMAIN_INFO: pd_header_domains(recording, out); break;
    case PD_FEATURE_E_MACHINE:
        pd_text_format(out, "# e_machine : %u\n# e_flags : 0x%x\n", f->e_machine.machine,
                       f->e_machine.flags);
        break;
    case PD_FEATURE_CLN_SIZE:
        pd_text_format(out, "# cacheline size : %u\n", f->cln_size.bytes);
        break;
    default: put_feature_of_run(recording, feature, out); break;
    }
}

static bool is_present(const struct pd_features *features, unsigned feature)
{
    switch (feature) {
#define FEATURE(number, NAME, name)                                                                \
    case number:                                                                                   \
        return features->name.present;
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"
    default: return false;
    }
}

static const char frame_end[] = "# ========\n#\n";

static void put_frame(const struct pd_recording *recording, struct pd_text *out)
{
    pd_text_string(out, "# ========\n");
    put_file(recording, out);
    if (recording->kind == PD_CONTAINER_PIPE) /* perf prints features as they arrive, behind it */
        pd_text_string(out, frame_end);
}

void pd_header_features(const struct pd_recording *recording, bool full, struct pd_text *out)
{
    /* perf 6.1 does not know the features from 32 on and prints nothing for them; those of
     * simpleperf have no text. */
    unsigned end = recording->like_perf ? PD_FEATURE_LAST : PD_FEATURE_FILE;
    for (unsigned feature = 1; feature < end; feature++) {
        if (!is_present(&recording->features, feature))
            continue;
        if (is_long(feature) && !full)
            pd_text_format(out, "# %s info available, use -I to display\n",
                           pd_feature_name(feature));
        else
            put_feature(recording, feature, out);
    }
}

void pd_header_text(const struct pd_recording *recording, bool full, struct pd_text *out)
{
    put_frame(recording, out);
    pd_header_features(recording, full, out);
    if (recording->kind == PD_CONTAINER_PIPE)
        return;
    pd_text_string(out, "# missing features: ");
    for (unsigned feature = 1; feature < PD_FEATURE_LAST; feature++)
        if (!pd_recording_has_feature(recording, feature))
            pd_text_format(out, "%s ", pd_feature_name(feature));
    pd_text_char(out, '\n');
    pd_text_string(out, frame_end);
}

void pd_header_before_records(const struct pd_recording *recording, bool full, struct pd_text *out)
{
    if (recording->kind == PD_CONTAINER_PIPE)
        put_frame(recording, out);
    else
        pd_header_text(recording, full, out);
}

perfdata_status perfdata_header_print(perfdata_recording *recording, uint32_t flags,
                                      perfdata_write_fn write, void *data)
{
    struct pd_text text = { 0 };
    if (!recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    if (flags & PERFDATA_HEADER_JSON)
        pd_header_json(&recording->recording, &text);
    else
        pd_header_text(&recording->recording, flags & PERFDATA_HEADER_FULL, &text);
    return pd_api_emit(&recording->recording.context, &text, write, data);
}
