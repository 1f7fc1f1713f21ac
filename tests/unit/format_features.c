/* SPDX-License-Identifier: MIT */
/* Header features in both byte orders, whole and cut at every byte. */
#include "format/features.h"
#include "test.h"

struct payload {
    uint8_t bytes[2048];
    size_t size;
    bool swap;
};

static void put32(struct payload *p, uint32_t value)
{
    pd_store32(p->bytes + p->size, value, p->swap);
    p->size += 4;
}

static void put64(struct payload *p, uint64_t value)
{
    pd_store64(p->bytes + p->size, value, p->swap);
    p->size += 8;
}

static void put_string(struct payload *p, const char *text, uint32_t room)
{
    put32(p, room);
    memset(p->bytes + p->size, 0, room);
    memcpy(p->bytes + p->size, text, PD_MIN(strlen(text), room));
    p->size += room;
}

static struct pd_features features;
static struct pd_arena arena;
static struct pd_context context;

static void decode(unsigned feature, const struct payload *p)
{
    CHECK(pd_feature_decode(&features, feature, p->bytes, p->size, p->swap, &arena, &context, 0) ==
          PERFDATA_OK);
}

static void test_strings(bool swap)
{
    struct payload host = { .swap = swap }, odd = { .swap = swap }, command = { .swap = swap };
    put_string(&host, "machine", 64);
    decode(PD_FEATURE_HOSTNAME, &host);
    CHECK(features.hostname.present && !features.hostname.partial);
    CHECK_STR(features.hostname.text.text, "machine");
    put_string(&odd, "x86_64", 6); /* no NUL */
    decode(PD_FEATURE_ARCH, &odd);
    CHECK_STR(features.arch.text.text, "x86_64");
    put32(&command, 2);
    put_string(&command, "/usr/bin/perf", 64);
    put_string(&command, "record", 64);
    decode(PD_FEATURE_CMDLINE, &command);
    CHECK_U64(features.cmdline.words_count, 2);
    CHECK_STR(features.cmdline.words[1].text.text, "record");
}

/* A list's item that a cut section does not reach has an empty text: nobody asks whether there is
 * one. */
static void test_cut_strings(bool swap)
{
    struct payload command = { .swap = swap };
    unsigned unreached = 0;
    put32(&command, 2);
    put_string(&command, "/usr/bin/perf", 64);
    put_string(&command, "record", 64);
    for (size_t size = 1; size < command.size; size++) {
        (void)pd_feature_decode(&features, PD_FEATURE_CMDLINE, command.bytes, size, swap, &arena,
                                &context, 0);
        CHECK(features.cmdline.present && features.cmdline.partial);
        for (uint32_t i = 0; i < features.cmdline.words_count; i++) {
            CHECK(features.cmdline.words[i].text.text);
            unreached += !features.cmdline.words[i].text.length;
        }
    }
    CHECK(unreached);
}

static void put_topology(struct payload *p, bool cpus, bool dies)
{
    put32(p, 1);
    put_string(p, "0-1", 64);
    put32(p, 2);
    put_string(p, "0", 64);
    put_string(p, "1", 64);
    for (uint32_t i = 0; cpus && i < 2; i++) {
        put32(p, i + 10);
        put32(p, i + 20);
    }
    if (dies) {
        put32(p, 1);
        put_string(p, "0-1", 64);
        put32(p, 7);
        put32(p, 8);
    }
}

static void test_topology(bool swap)
{
    struct payload cpus = { .swap = swap };
    put32(&cpus, 2);
    put32(&cpus, 1);
    decode(PD_FEATURE_NRCPUS, &cpus);
    CHECK_U64(features.nrcpus.available, 2);
    for (int revision = 0; revision < 3; revision++) {
        struct payload p = { .swap = swap };
        put_topology(&p, revision > 0, revision > 1);
        decode(PD_FEATURE_CPU_TOPOLOGY, &p);
        CHECK(!features.cpu_topology.partial);
        CHECK_STR(features.cpu_topology.threads[1].text.text, "1");
        CHECK_U64(features.cpu_topology.cpus_count, revision > 0 ? 2 : 0);
        CHECK_U64(features.cpu_topology.dies_count, revision > 1);
        if (revision > 0)
            CHECK_U64(features.cpu_topology.cpus[1].socket_id, 21);
        if (revision > 1)
            CHECK_U64(pd_array_at(&features.cpu_topology.die_ids, 1), 8);
    }
}

static void test_nested(bool swap)
{
    struct payload memory = { .swap = swap }, caps = { .swap = swap }, desc = { .swap = swap };
    put64(&memory, 1);
    put64(&memory, 0x8000000);
    put64(&memory, 1);
    put64(&memory, 0);
    put64(&memory, 65);
    put64(&memory, 65);
    put64(&memory, UINT64_MAX);
    put64(&memory, 1);
    decode(PD_FEATURE_MEM_TOPOLOGY, &memory);
    CHECK(!features.mem_topology.partial);
    CHECK_U64(features.mem_topology.nodes[0].words.count, 2);
    CHECK_U64(pd_array_at(&features.mem_topology.nodes[0].words, 1), 1);
    put32(&caps, 1);
    put32(&caps, 1);
    put_string(&caps, "branches", 64);
    put_string(&caps, "32", 64);
    put_string(&caps, "cpu_core", 64);
    decode(PD_FEATURE_PMU_CAPS, &caps);
    CHECK_STR(features.pmu_caps.pmus[0].pmu_name.text, "cpu_core");
    CHECK_STR(features.pmu_caps.pmus[0].caps[0].value.text, "32");
    put32(&desc, 1);
    put32(&desc, 64);
    put32(&desc, PD_TYPE_SOFTWARE);
    put32(&desc, 64);
    for (int i = 0; i < 7; i++)
        put64(&desc, (uint64_t)i);
    put32(&desc, 2);
    put_string(&desc, "cpu-clock", 64);
    put64(&desc, 11);
    put64(&desc, 12);
    decode(PD_FEATURE_EVENT_DESC, &desc);
    CHECK(!features.event_desc.partial);
    CHECK_U64(features.event_desc.events[0].attr.type, PD_TYPE_SOFTWARE);
    CHECK_U64(features.event_desc.events[0].attr.sample_period, 1);
    CHECK_STR(features.event_desc.events[0].name.text, "cpu-clock");
    CHECK_U64(pd_array_at(&features.event_desc.events[0].ids, 1), 12);
    /* Cut anywhere: what was readable is there, the rest absent. */
    for (size_t size = 1; size < desc.size; size++) {
        struct payload cut = desc;
        cut.size = size;
        decode(PD_FEATURE_EVENT_DESC, &cut);
        CHECK(features.event_desc.partial);
        CHECK(features.event_desc.events_count <= 1);
    }
}

static void put_build_id(struct payload *p, uint16_t misc, bool old, const char *name)
{
    size_t start = p->size, name_at = old ? 32 : 36, size = name_at + 24;
    memset(p->bytes + start, 0, size);
    pd_store16(p->bytes + start + 4, misc, p->swap);
    pd_store16(p->bytes + start + 6, (uint16_t)size, p->swap);
    if (!old)
        pd_store32(p->bytes + start + 8, UINT32_MAX, p->swap);
    for (unsigned i = 0; i < 20; i++)
        p->bytes[start + (old ? 8 : 12) + i] = (uint8_t)(i + 1);
    p->bytes[start + 32] = misc & PD_MISC_BUILD_ID_SIZE ? 16 : p->bytes[start + 32];
    memcpy(p->bytes + start + name_at, name, strlen(name));
    p->size += size;
}

static void test_build_ids(bool swap)
{
    struct payload table = { .swap = swap }, old = { .swap = swap };
    put_build_id(&table, PD_CPUMODE_KERNEL | PD_MISC_BUILD_ID_SIZE, false, "[kernel.kallsyms]");
    put_build_id(&table, PD_CPUMODE_USER, false, "/bin/true");
    decode(PD_FEATURE_BUILD_ID, &table);
    CHECK_U64(features.build_id.entries_count, 2);
    CHECK_U64(pd_build_id_length(&features.build_id.entries[0]), 16);
    CHECK_U64(pd_build_id_length(&features.build_id.entries[1]), 20);
    CHECK_U64(features.build_id.entries[1].pid, UINT32_MAX);
    CHECK_U64(features.build_id.entries[1].build_id[19], 20);
    CHECK_STR(features.build_id.entries[1].filename.text, "/bin/true");
    put_build_id(&old, PD_CPUMODE_KERNEL, true, "[kernel.kallsyms]");
    put_build_id(&old, PD_CPUMODE_USER, true, "/bin/true");
    decode(PD_FEATURE_BUILD_ID, &old);
    CHECK_STR(features.build_id.entries[0].filename.text, "[kernel.kallsyms]");
    CHECK_STR(features.build_id.entries[1].filename.text, "/bin/true");
    CHECK_U64(features.build_id.entries[1].build_id[0], 1);
    CHECK_U64(features.build_id.entries[1].pid, UINT32_MAX);
}

int main(void)
{
    pd_context_init(&context);
    for (int swap = 0; swap < 2; swap++) {
        test_strings(swap);
        test_cut_strings(swap);
        test_topology(swap);
        test_nested(swap);
        test_build_ids(swap);
    }
    uint8_t byte = 0;
    CHECK(pd_feature_decode(&features, 99, &byte, 1, false, &arena, &context, 0) == PERFDATA_OK);
    CHECK_U64(context.issue_count[PERFDATA_ISSUE_UNKNOWN_FEATURE], 1);
    pd_arena_free(&arena);
    pd_context_fini(&context);
    return test_done();
}
