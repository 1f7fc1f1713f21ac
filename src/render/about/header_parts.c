/* SPDX-License-Identifier: MIT */
/* The long features of the header. */
#include "render/about/header.h"
#include <time.h>

static void put_strings(struct pd_text *out, const char *title,
                        const struct pd_part_string_item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        pd_text_format(out, "# %s : %s\n", title, items[i].text.text);
}

void pd_header_topology(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_cpu_topology *topology = &recording->features.cpu_topology;
    bool dies = topology->dies_count > 0;
    put_strings(out, "sibling sockets", topology->cores, topology->cores_count);
    put_strings(out, "sibling dies   ", topology->dies, topology->dies_count);
    put_strings(out, "sibling threads", topology->threads, topology->threads_count);
    if (!topology->cpus_count)
        pd_text_format(out, "# Core ID%s and Socket ID information is not available\n",
                       dies ? ", Die ID" : "");
    for (uint32_t i = 0; i < topology->cpus_count; i++) {
        const struct pd_part_cpu_topology_cpu *cpu = &topology->cpus[i];
        pd_text_format(out, "# CPU %u: Core ID %d, ", i, (int)cpu->core_id);
        if (dies && i < topology->die_ids.count)
            pd_text_format(out, "Die ID %d, ", (int)pd_array_at(&topology->die_ids, i));
        pd_text_format(out, "Socket ID %d\n", (int)cpu->socket_id);
    }
}

void pd_header_numa(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_numa_topology *topology = &recording->features.numa_topology;
    for (uint32_t i = 0; i < topology->nodes_count; i++) {
        const struct pd_part_numa_node *node = &topology->nodes[i];
        pd_text_format(out, "# node%u meminfo  : total = %llu kB, free = %llu kB\n", node->node,
                       (unsigned long long)node->mem_total, (unsigned long long)node->mem_free);
        pd_text_format(out, "# node%u cpu list : %s\n", node->node, node->cpus.text);
    }
}

void pd_header_cache(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_cache *caches = &recording->features.cache;
    pd_text_string(out, "# CPU cache info:\n");
    for (uint32_t i = 0; i < caches->caches_count; i++) {
        const struct pd_part_cache_entry *cache = &caches->caches[i];
        pd_text_format(out, "#  L%d %-15s %8s [%s]\n", (int)cache->level, cache->type.text,
                       cache->size.text, cache->cpus.text);
    }
}

/* ---- memory ---- */

/* In big-endian files, longs of 32 bits lie as pairs of u32, and only the recorder knew whether
 * they do. Bit n of the list, as we read it. */
static bool bit_at(const struct pd_array *words, uint64_t bit)
{
    return pd_array_at(words, (size_t)(bit / 64)) >> bit % 64 & 1;
}

static uint64_t count_blocks(const struct pd_array *words)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < words->count; i++)
        count += (unsigned)__builtin_popcountll(pd_array_at(words, i));
    return count;
}

static void put_ranges(struct pd_text *out, const struct pd_array *words, uint64_t bits)
{
    uint64_t limit = PD_MIN(bits, (uint64_t)words->count * 64);
    const char *between = "";
    for (uint64_t bit = 0; bit < limit; bit++) {
        if (!bit_at(words, bit))
            continue;
        uint64_t last = bit;
        while (last + 1 < limit && bit_at(words, last + 1))
            last++;
        pd_text_format(out, "%s%llu", between, (unsigned long long)bit);
        if (last > bit)
            pd_text_format(out, "-%llu", (unsigned long long)last);
        between = ",";
        bit = last;
    }
}

static void put_size(struct pd_text *out, uint64_t size)
{
    static const char suffixes[] = "BKMG";
    unsigned i = 0;
    while (size / 1024 > 1 && i + 2 < sizeof suffixes) {
        size /= 1024;
        i++;
    }
    pd_text_format(out, "%llu%c", (unsigned long long)size, suffixes[i]);
}

void pd_header_memory(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_mem_topology *memory = &recording->features.mem_topology;
    pd_text_format(out, "# memory nodes (nr %u, block size 0x%llx):\n", memory->nodes_count,
                   (unsigned long long)memory->block_size);
    for (uint32_t i = 0; i < memory->nodes_count; i++) {
        const struct pd_part_mem_node *node = &memory->nodes[i];
        pd_text_format(out, "#  %3llu [", (unsigned long long)node->node);
        put_size(out, count_blocks(&node->words) * memory->block_size);
        pd_text_string(out, "]: ");
        put_ranges(out, &node->words, node->bits);
        pd_text_char(out, '\n');
    }
}

void pd_header_hybrid(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_hybrid_topology *topology = &recording->features.hybrid_topology;
    pd_text_string(out, "# hybrid cpu system:\n");
    for (uint32_t i = 0; i < topology->pmus_count; i++)
        pd_text_format(out, "# %s cpu list : %s\n", topology->pmus[i].name.text,
                       topology->pmus[i].cpus.text);
}

void pd_header_domains(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_cpu_domain_info *info = &recording->features.cpu_domain_info;
    pd_text_format(out, "# schedstat version\t: %u\n# Maximum sched domains\t: %u\n", info->version,
                   info->max_domains);
    for (uint32_t i = 0; i < info->cpus_count; i++) {
        const struct pd_part_cpu_domains *cpu = &info->cpus[i];
        pd_text_format(out, "# cpu\t\t: %u\n# nr_domains\t: %u\n", cpu->cpu, cpu->domains_count);
        for (uint32_t k = 0; k < cpu->domains_count; k++) {
            const struct pd_part_sched_domain *domain = &cpu->domains[k];
            pd_text_format(out, "# Domain\t: %u\n", domain->domain);
            if (domain->name.text) /* since version 17 */
                pd_text_format(out, "# Domain name\t: %s\n", domain->name.text);
            pd_text_format(out, "# Domain cpu map\t: %s\n# Domain cpu list\t: %s\n",
                           domain->cpu_mask.text, domain->cpu_list.text);
        }
    }
}

/* ---- clocks, capabilities ---- */

static const char *clock_name(uint32_t clockid)
{
    switch (clockid) {
    case CLOCK_REALTIME: return "realtime";
    case CLOCK_MONOTONIC: return "monotonic";
    case CLOCK_MONOTONIC_RAW: return "monotonic_raw";
    case CLOCK_BOOTTIME: return "boottime";
    case CLOCK_TAI: return "tai";
    default: return "(not found)";
    }
}

void pd_header_clock(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_clock_data *clock = &recording->features.clock_data;
    const char *name = clock_name(clock->clockid);
    time_t seconds = (time_t)(clock->wall_clock / 1000000000);
    unsigned long long micro = clock->wall_clock % 1000000000 / 1000;
    struct tm local = { 0 };
    char when[64] = "<error>";
    if (localtime_r(&seconds, &local))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
    pd_text_format(out, "# clockid: %s (%u)\n", name, clock->clockid);
    pd_text_format(out, "# reference time: %s.%06llu = %llu.%06llu (TOD) = %llu.%09llu (%s)\n",
                   when, micro, (unsigned long long)seconds, micro,
                   (unsigned long long)(clock->clock_time / 1000000000),
                   (unsigned long long)(clock->clock_time % 1000000000), name);
}

static void put_caps(struct pd_text *out, const char *pmu, const struct pd_part_pmu_cap *caps,
                     uint32_t count)
{
    if (!count) {
        pd_text_format(out, "# %s pmu capabilities: not available\n", pmu);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!i)
            pd_text_format(out, "# %s pmu capabilities: ", pmu);
        pd_text_format(out, "%s%s=%s", i ? ", " : "", caps[i].name.text, caps[i].value.text);
    }
    pd_text_char(out, '\n');
}

void pd_header_cpu_caps(const struct pd_recording *recording, struct pd_text *out)
{
    put_caps(out, "cpu", recording->features.cpu_pmu_caps.caps,
             recording->features.cpu_pmu_caps.caps_count);
}

void pd_header_pmu_caps(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_pmu_caps *caps = &recording->features.pmu_caps;
    for (uint32_t i = 0; i < caps->pmus_count; i++)
        put_caps(out, caps->pmus[i].pmu_name.text ? caps->pmus[i].pmu_name.text : "",
                 caps->pmus[i].caps, caps->pmus[i].caps_count);
}
