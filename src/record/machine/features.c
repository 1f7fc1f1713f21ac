/* SPDX-License-Identifier: MIT */
/* The header's features that describe this machine and the events. */
#include "base/cpuid.h"
#include "record/machine/payload.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

perfdata_status pd_payload_set(perfdata_recorder *recorder, unsigned feature,
                               struct pd_text *payload)
{
    perfdata_status status = payload->failed
                                 ? pd_record_no_memory(recorder)
                                 : pd_writer_set_feature(recorder->output.writer, feature,
                                                         payload->data, payload->length);
    pd_text_free(payload);
    return status;
}

static perfdata_status set_string(perfdata_recorder *recorder, unsigned feature, const char *text)
{
    struct pd_text payload = { 0 };
    pd_payload_string(&payload, text);
    return pd_payload_set(recorder, feature, &payload);
}

/* ---- names and numbers ---- */

static perfdata_status put_system(perfdata_recorder *recorder)
{
    struct utsname system;
    if (uname(&system) < 0)
        return PERFDATA_OK;
    perfdata_status status = set_string(recorder, PD_FEATURE_HOSTNAME, system.nodename);
    if (status == PERFDATA_OK)
        status = set_string(recorder, PD_FEATURE_OSRELEASE, system.release);
    if (status == PERFDATA_OK)
        status = set_string(recorder, PD_FEATURE_VERSION, "perfdata " PERFDATA_VERSION);
    return status < 0 ? status : set_string(recorder, PD_FEATURE_ARCH, system.machine);
}

static perfdata_status put_cpu(perfdata_recorder *recorder)
{
    char name[256] = "", id[PD_CPUID_SIZE];
    char *text = pd_roots_read(&recorder->roots, NULL, "/proc/cpuinfo");
    perfdata_status status = PERFDATA_OK;
    if (text && (pd_cpuinfo_value(text, "model name", name, sizeof name) ||
                 pd_cpuinfo_value(text, "Processor", name, sizeof name)))
        status = set_string(recorder, PD_FEATURE_CPUDESC, name);
    if (status == PERFDATA_OK && text && pd_cpuid_from(text, id))
        status = set_string(recorder, PD_FEATURE_CPUID, id);
    free(text);
    return status;
}

/* The greatest present number + 1. */
static uint32_t cpus_available(const perfdata_recorder *recorder)
{
    char *text = pd_roots_read(&recorder->roots, NULL, "/sys/devices/system/cpu/present");
    const char *last = text ? text + strlen(text) : NULL;
    while (last && last > text && isdigit((unsigned char)last[-1]))
        last--;
    uint32_t count = last && *last ? (uint32_t)strtoul(last, NULL, 10) + 1
                                   : (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
    free(text);
    return PD_MIN(count, 1u << 16);
}

static perfdata_status put_counts(perfdata_recorder *recorder)
{
    struct pd_text payload = { 0 };
    pd_payload_u32(&payload, cpus_available(recorder));
    pd_payload_u32(&payload, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    perfdata_status status = pd_payload_set(recorder, PD_FEATURE_NRCPUS, &payload);
    char *text = pd_roots_read(&recorder->roots, NULL, "/proc/meminfo");
    const char *total = text ? strstr(text, "MemTotal:") : NULL;
    if (status == PERFDATA_OK && total) {
        pd_payload_u64(&payload, strtoull(total + 9, NULL, 10));
        status = pd_payload_set(recorder, PD_FEATURE_TOTAL_MEM, &payload);
    }
    free(text);
    return status;
}

static perfdata_status put_cmdline(perfdata_recorder *recorder)
{
    struct pd_text payload = { 0 };
    uint32_t count = 0;
    const char *const *words = recorder->options.arguments;
    if (!words)
        return PERFDATA_OK;
    while (words[count])
        count++;
    pd_payload_u32(&payload, count);
    for (uint32_t i = 0; i < count; i++)
        pd_payload_string(&payload, words[i]);
    return pd_payload_set(recorder, PD_FEATURE_CMDLINE, &payload);
}

/* ---- topology ---- */

/* Lists of CPUs that belong together: each once, in the order of their first CPU. */
static uint32_t put_siblings(const perfdata_recorder *recorder, uint32_t cpus, const char *file,
                             const char *old_file, struct pd_text *payload)
{
    struct pd_text seen = { 0 };
    uint32_t count = 0;
    size_t at = payload->length;
    pd_payload_u32(payload, 0);
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        char *list = pd_roots_read(&recorder->roots, NULL,
                                   "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file);
        if (!list && old_file)
            list = pd_roots_read(&recorder->roots, NULL,
                                 "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, old_file);
        bool known = false;
        for (size_t i = 0; list && i < seen.length && !known; i += strlen(seen.data + i) + 1)
            known = !strcmp(seen.data + i, list);
        if (list && !known) {
            pd_text_bytes(&seen, list, strlen(list) + 1);
            pd_payload_string(payload, list);
            count++;
        }
        free(list);
    }
    if (!payload->failed)
        pd_store32(payload->data + at, count, false);
    pd_text_free(&seen);
    return count;
}

static int32_t topology_number(const perfdata_recorder *recorder, uint32_t cpu, const char *file)
{
    return (int32_t)pd_roots_number(&recorder->roots, -1,
                                    "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file);
}

static perfdata_status put_topology(perfdata_recorder *recorder)
{
    struct pd_text payload = { 0 };
    uint32_t cpus = cpus_available(recorder);
    uint32_t cores = put_siblings(recorder, cpus, "package_cpus_list", "core_siblings_list",
                                  &payload);
    put_siblings(recorder, cpus, "core_cpus_list", "thread_siblings_list", &payload);
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        pd_payload_u32(&payload, (uint32_t)topology_number(recorder, cpu, "core_id"));
        pd_payload_u32(&payload, (uint32_t)topology_number(recorder, cpu, "physical_package_id"));
    }
    size_t before = payload.length;
    if (put_siblings(recorder, cpus, "die_cpus_list", NULL, &payload))
        for (uint32_t cpu = 0; cpu < cpus; cpu++)
            pd_payload_u32(&payload, (uint32_t)topology_number(recorder, cpu, "die_id"));
    else
        payload.length = before;
    if (cores)
        return pd_payload_set(recorder, PD_FEATURE_CPU_TOPOLOGY, &payload);
    pd_text_free(&payload);
    return PERFDATA_OK;
}

static uint64_t node_memory(const char *text, const char *key)
{
    const char *at = text ? strstr(text, key) : NULL;
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static perfdata_status put_numa(perfdata_recorder *recorder)
{
    struct pd_text payload = { 0 };
    struct pd_numbers nodes = { 0 };
    char *online = pd_roots_read(&recorder->roots, NULL, "/sys/devices/system/node/online");
    perfdata_status status = PERFDATA_OK;
    if (online)
        status = pd_record_numbers(recorder, online, "nodes", &nodes);
    free(online);
    pd_payload_u32(&payload, (uint32_t)nodes.count);
    for (size_t i = 0; i < nodes.count; i++) {
        int32_t node = nodes.data[i];
        char *memory = pd_roots_read(&recorder->roots, NULL,
                                     "/sys/devices/system/node/node%d/meminfo", node);
        char *cpus = pd_roots_read(&recorder->roots, NULL,
                                   "/sys/devices/system/node/node%d/cpulist", node);
        pd_payload_u32(&payload, (uint32_t)node);
        pd_payload_u64(&payload, node_memory(memory, " MemTotal:"));
        pd_payload_u64(&payload, node_memory(memory, " MemFree:"));
        pd_payload_string(&payload, cpus ? cpus : "");
        free(memory);
        free(cpus);
    }
    free(nodes.data);
    if (status == PERFDATA_OK && nodes.count)
        return pd_payload_set(recorder, PD_FEATURE_NUMA_TOPOLOGY, &payload);
    pd_text_free(&payload);
    return status;
}

static perfdata_status put_pmus(perfdata_recorder *recorder)
{
    struct pd_text payload = { 0 };
    size_t count;
    uint32_t typed = 0;
    char **pmus = pd_roots_list(&recorder->roots, &count, PD_PMU_FOLDER);
    pd_payload_u32(&payload, 0);
    for (size_t i = 0; i < count; i++) {
        int64_t type = pd_roots_number(&recorder->roots, -1, PD_PMU_FOLDER "/%s/type", pmus[i]);
        if (type < 0)
            continue;
        typed++;
        pd_payload_u32(&payload, (uint32_t)type);
        pd_payload_string(&payload, pmus[i]);
    }
    free(pmus);
    if (!payload.failed)
        pd_store32(payload.data, typed, false);
    return pd_payload_set(recorder, PD_FEATURE_PMU_MAPPINGS, &payload);
}

/* ---- caches and memory ---- */

struct cache {
    uint32_t level, line, sets, ways, order;
    char type[32], size[32], cpus[256];
};

static bool cache_text(const perfdata_recorder *recorder, uint32_t cpu, uint32_t index,
                       const char *file, char *out, size_t size)
{
    char *text = pd_roots_read(&recorder->roots, NULL,
                               "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index, file);
    if (text)
        snprintf(out, size, "%s", text);
    free(text);
    return text != NULL;
}

static bool read_cache(const perfdata_recorder *recorder, uint32_t cpu, uint32_t index,
                       struct cache *out)
{
    char number[4][32] = { "", "", "", "" };
    static const char *const files[] = { "level", "coherency_line_size", "number_of_sets",
                                         "ways_of_associativity" };
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < PD_LENGTH(files); i++)
        if (!cache_text(recorder, cpu, index, files[i], number[i], sizeof number[i]))
            return false;
    out->level = (uint32_t)strtoul(number[0], NULL, 10);
    out->line = (uint32_t)strtoul(number[1], NULL, 10);
    out->sets = (uint32_t)strtoul(number[2], NULL, 10);
    out->ways = (uint32_t)strtoul(number[3], NULL, 10);
    return cache_text(recorder, cpu, index, "type", out->type, sizeof out->type) &&
           cache_text(recorder, cpu, index, "size", out->size, sizeof out->size) &&
           cache_text(recorder, cpu, index, "shared_cpu_list", out->cpus, sizeof out->cpus);
}

static bool same_cache(const struct cache *a, const struct cache *b)
{
    return a->level == b->level && a->line == b->line && a->sets == b->sets && a->ways == b->ways &&
           !strcmp(a->type, b->type) && !strcmp(a->size, b->size) && !strcmp(a->cpus, b->cpus);
}

static int by_level(const void *a, const void *b)
{
    const struct cache *left = a, *right = b;
    if (left->level != right->level)
        return left->level < right->level ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

static perfdata_status put_caches(perfdata_recorder *recorder)
{
    enum { INDEXES = 10, VERSION = 1 };
    PD_VEC(struct cache) caches = { 0 };
    struct pd_text payload = { 0 };
    uint32_t cpus = cpus_available(recorder);
    for (uint32_t cpu = 0; cpu < cpus; cpu++)
        for (uint32_t index = 0; index < INDEXES; index++) {
            struct cache cache;
            if (!read_cache(recorder, cpu, index, &cache))
                break;
            bool known = false;
            for (size_t i = 0; i < caches.count && !known; i++)
                known = same_cache(&caches.data[i], &cache);
            cache.order = (uint32_t)caches.count;
            if (!known && !pd_vec_push(&caches, cache))
                payload.failed = true;
        }
    if (caches.count)
        qsort(caches.data, caches.count, sizeof *caches.data, by_level);
    pd_payload_u32(&payload, VERSION);
    pd_payload_u32(&payload, (uint32_t)caches.count);
    for (size_t i = 0; i < caches.count; i++) {
        const struct cache *cache = &caches.data[i];
        pd_payload_u32(&payload, cache->level);
        pd_payload_u32(&payload, cache->line);
        pd_payload_u32(&payload, cache->sets);
        pd_payload_u32(&payload, cache->ways);
        pd_payload_string(&payload, cache->type);
        pd_payload_string(&payload, cache->size);
        pd_payload_string(&payload, cache->cpus);
    }
    size_t count = caches.count;
    pd_vec_free(&caches);
    if (count)
        return pd_payload_set(recorder, PD_FEATURE_CACHE, &payload);
    pd_text_free(&payload);
    return PERFDATA_OK;
}

/* Which blocks of memory a node has, as bits. */
static void put_node_blocks(const perfdata_recorder *recorder, uint64_t node,
                            struct pd_text *payload)
{
    enum { MOST = 1 << 20 };
    size_t count;
    uint64_t most = 0;
    uint8_t *bits = calloc(1, MOST / 8);
    char **names = pd_roots_list(&recorder->roots, &count, "/sys/devices/system/node/node%" PRIu64,
                                 node);
    for (size_t i = 0; i < count && bits; i++) {
        char *end;
        if (strncmp(names[i], "memory", 6) != 0 || !isdigit((unsigned char)names[i][6]))
            continue;
        unsigned long block = strtoul(names[i] + 6, &end, 10);
        if (*end || block >= MOST)
            continue;
        bits[block / 8] |= (uint8_t)(1 << block % 8);
        most = PD_MAX(most, (uint64_t)block + 1);
    }
    free(names);
    pd_payload_u64(payload, node);
    pd_payload_u64(payload, most);
    pd_payload_u64(payload, most);
    if (bits)
        pd_text_bytes(payload, bits, (size_t)((most + 63) / 64 * 8));
    payload->failed |= !bits;
    free(bits);
}

static perfdata_status put_memory(perfdata_recorder *recorder)
{
    enum { VERSION = 1 };
    struct pd_text payload = { 0 };
    size_t count;
    uint64_t nodes = 0;
    char *block = pd_roots_read(&recorder->roots, NULL,
                                "/sys/devices/system/memory/block_size_bytes");
    if (!block)
        return PERFDATA_OK;
    pd_payload_u64(&payload, VERSION);
    pd_payload_u64(&payload, strtoull(block, NULL, 16));
    pd_payload_u64(&payload, 0);
    free(block);
    char **names = pd_roots_list(&recorder->roots, &count, "/sys/devices/system/node");
    for (size_t i = 0; i < count; i++)
        if (!strncmp(names[i], "node", 4) && isdigit((unsigned char)names[i][4])) {
            put_node_blocks(recorder, strtoul(names[i] + 4, NULL, 10), &payload);
            nodes++;
        }
    free(names);
    if (!payload.failed)
        pd_store64(payload.data + 16, nodes, false);
    return pd_payload_set(recorder, PD_FEATURE_MEM_TOPOLOGY, &payload);
}

/* ---- capabilities ---- */

static uint32_t put_caps(const perfdata_recorder *recorder, const char *pmu,
                         struct pd_text *payload)
{
    size_t count, at = payload->length;
    uint32_t written = 0;
    char **names = pd_roots_list(&recorder->roots, &count, PD_PMU_FOLDER "/%s/caps", pmu);
    pd_payload_u32(payload, 0);
    for (size_t i = 0; i < count; i++) {
        char *value = pd_roots_read(&recorder->roots, NULL, PD_PMU_FOLDER "/%s/caps/%s", pmu,
                                    names[i]);
        if (!value)
            continue;
        pd_payload_string(payload, names[i]);
        pd_payload_string(payload, value);
        written++;
        free(value);
    }
    free(names);
    if (!payload->failed)
        pd_store32(payload->data + at, written, false);
    return written;
}

static perfdata_status put_all_caps(perfdata_recorder *recorder)
{
    struct pd_text payload = { 0 };
    size_t count;
    uint32_t pmus = 0;
    perfdata_status status = PERFDATA_OK;
    if (put_caps(recorder, "cpu", &payload))
        status = pd_payload_set(recorder, PD_FEATURE_CPU_PMU_CAPS, &payload);
    pd_text_free(&payload);
    char **names = pd_roots_list(&recorder->roots, &count, PD_PMU_FOLDER);
    pd_payload_u32(&payload, 0);
    for (size_t i = 0; i < count; i++) {
        size_t before = payload.length;
        if (strcmp(names[i], "cpu") != 0 && put_caps(recorder, names[i], &payload)) {
            pd_payload_string(&payload, names[i]);
            pmus++;
        } else {
            payload.length = before;
        }
    }
    free(names);
    if (!payload.failed)
        pd_store32(payload.data, pmus, false);
    if (status == PERFDATA_OK)
        status = pd_payload_set(recorder, PD_FEATURE_PMU_CAPS, &payload);
    pd_text_free(&payload);
    return status;
}

/* ---- clock ---- */

static uint64_t nanoseconds(struct timespec time)
{
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static perfdata_status put_clock(perfdata_recorder *recorder)
{
    enum { VERSION = 1 };
    struct pd_text payload = { 0 };
    struct timespec resolution, wall, other;
    clockid_t clock = recorder->options.clock;
    if (!recorder->options.has_clock || clock_getres(clock, &resolution) < 0)
        return PERFDATA_OK;
    pd_payload_u64(&payload, nanoseconds(resolution));
    perfdata_status status = pd_payload_set(recorder, PD_FEATURE_CLOCKID, &payload);
    if (status < 0 || clock_gettime(CLOCK_REALTIME, &wall) < 0 || clock_gettime(clock, &other) < 0)
        return status;
    pd_payload_u32(&payload, VERSION);
    pd_payload_u32(&payload, (uint32_t)clock);
    pd_payload_u64(&payload, nanoseconds(wall));
    pd_payload_u64(&payload, nanoseconds(other));
    return pd_payload_set(recorder, PD_FEATURE_CLOCK_DATA, &payload);
}

perfdata_status pd_record_machine(perfdata_recorder *recorder)
{
    perfdata_status (*const parts[])(perfdata_recorder *) = {
        put_system, put_cpu,    put_counts, put_cmdline,  put_topology, put_numa,
        put_pmus,   put_caches, put_memory, put_all_caps, put_clock,
    };
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < PD_LENGTH(parts) && status == PERFDATA_OK; i++)
        status = parts[i](recorder);
    return status;
}

/* ---- events ---- */

static size_t id_count(const pd_opened_vec *opened)
{
    size_t count = 0;
    for (size_t i = 0; i < opened->count; i++)
        count += opened->data[i].fd >= 0;
    return count;
}

static perfdata_status put_groups(perfdata_recorder *recorder)
{
    struct pd_text payload = { 0 };
    uint32_t groups = 0;
    pd_payload_u32(&payload, 0);
    for (size_t e = 0; e < pd_record_event_count(recorder); e++) {
        const struct pd_selected *event = pd_record_event(recorder, e);
        if (event->leader != e || event->members < 2)
            continue;
        pd_payload_string(&payload, event->group_name ? event->group_name : "{anon_group}");
        pd_payload_u32(&payload, (uint32_t)e);
        pd_payload_u32(&payload, event->members);
        groups++;
    }
    if (!payload.failed)
        pd_store32(payload.data, groups, false);
    if (groups)
        return pd_payload_set(recorder, PD_FEATURE_GROUP_DESC, &payload);
    pd_text_free(&payload);
    return PERFDATA_OK;
}

perfdata_status pd_record_event_features(perfdata_recorder *recorder)
{
    struct pd_text payload = { 0 };
    uint8_t attr[128];
    bool branches = false;
    pd_payload_u32(&payload, (uint32_t)pd_record_event_count(recorder));
    pd_payload_u32(&payload, sizeof attr);
    for (size_t e = 0; e < pd_record_event_count(recorder); e++) {
        const struct pd_selected *event = pd_record_event(recorder, e);
        const pd_opened_vec *opened = &recorder->live.opened[e];
        pd_attr_encode(&event->attr, false, attr, sizeof attr);
        pd_text_bytes(&payload, attr, sizeof attr);
        pd_payload_u32(&payload, (uint32_t)id_count(opened));
        pd_payload_string(&payload, event->name);
        for (size_t i = 0; i < opened->count; i++)
            if (opened->data[i].fd >= 0)
                pd_payload_u64(&payload, opened->data[i].id);
        branches |= (event->attr.sample_type & PD_SAMPLE_BRANCH_STACK) != 0;
    }
    perfdata_status status = pd_payload_set(recorder, PD_FEATURE_EVENT_DESC, &payload);
    if (status == PERFDATA_OK)
        status = put_groups(recorder);
    if (status == PERFDATA_OK && branches)
        status = pd_writer_set_feature(recorder->output.writer, PD_FEATURE_BRANCH_STACK, "", 0);
    return status;
}
