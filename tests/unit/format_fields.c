/* SPDX-License-Identifier: MIT */
/* Records of every type through fields and back, in both byte orders. */
#include "test.h"
#include "format/features.h"
#include "format/fields.h"
#include "format/names.h"
#include "format/structs.h"

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static struct pd_event make_event(uint64_t type, bool swap)
{
    struct pd_event event = { 0 };
    event.attr.sample_type = type;
    event.attr.read_format = next_random() & 31;
    event.attr.branch_sample_type = next_random() & 0xfffff;
    event.attr.sample_regs_user = next_random() & 0x1ff;
    event.attr.sample_regs_intr = next_random() & 0x3;
    event.attr.flags = UINT64_C(1) << PD_ATTR_SAMPLE_ID_ALL;
    pd_plan_make(&event.attr, swap, &event.plan);
    return event;
}

/* Mostly zero, small numbers in places: counts that fit are likely. */
static void fill(uint8_t *record, uint32_t type, uint16_t size)
{
    memset(record, 0, size);
    for (unsigned i = 8; i < size; i++)
        if (next_random() % 5 == 0)
            record[i] = (uint8_t)(next_random() % 3 ? next_random() % 3 : next_random());
    pd_store32(record, type, false);
    pd_store16(record + 4, (uint16_t)next_random(), false);
    pd_store16(record + 6, size, false);
    if (type >= PD_RECORD_WIDE)
        pd_store32(record + 4, (uint32_t)size << 16, false);
    if (type == PD_RECORD_HEADER_FEATURE)
        pd_store64(record + 8, next_random() % 36, false);
    if (type == PD_RECORD_HEADER_ATTR)
        pd_store32(record + 12, 64 + 8 * (uint32_t)(next_random() % 9), false);
}

static bool try_round_trip(uint32_t type, uint16_t size, uint64_t sample_type)
{
    _Alignas(8) uint8_t record[1024], same[1024], other[1024], back[1024];
    struct pd_event event = make_event(sample_type, false), foreign = event;
    bool big = pd_is_big_endian(false);
    pd_plan_make(&event.attr, true, &foreign.plan);
    fill(record, type, size);
    struct pd_fields_input input = { &event, record, size, false, 2 };
    perfdata_status status = pd_record_encode(&input, big, same);
    uint64_t sum = pd_record_checksum(&input);
    CHECK(!memcmp(record, same, size));
    CHECK_U64(sum, pd_record_checksum_walk(&input));
    if (status != PERFDATA_OK)
        return false;
    status = pd_record_encode(&input, !big, other);
    CHECK(status == PERFDATA_OK);
    input = (struct pd_fields_input){ &foreign, other, size, true, 2 };
    status = pd_record_encode(&input, big, back);
    CHECK(status == PERFDATA_OK);
    CHECK(!memcmp(record, back, size));
    CHECK_U64(pd_record_checksum(&input), sum);
    CHECK_U64(pd_record_checksum_walk(&input), sum);
    return true;
}

static void test_round_trips(void)
{
    for (const struct pd_name *type = pd_names_record.items; type->text; type++) {
        unsigned whole = 0;
        for (unsigned i = 0; i < 2000; i++) {
            uint64_t bits = next_random() & next_random() & (PD_SAMPLE_END - 1);
            uint16_t size = (uint16_t)(8 + 8 * (next_random() % 40));
            whole += try_round_trip((uint32_t)type->value, size,
                                    i % 4 ? bits : PD_SAMPLE_IDENTIFIER);
        }
        if (!whole)
            fprintf(stderr, "no whole %s\n", type->text);
        CHECK(whole > 0);
    }
}

static void put(uint8_t **at, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        *(*at)++ = (uint8_t)(value >> 8 * i);
}

static void test_mmap2(void)
{
    uint8_t record[128], *at = record;
    struct pd_event event = make_event(PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_IDENTIFIER,
                                       false);
    struct pd_record_mmap2 mmap2;
    struct pd_identity identity;
    put(&at, PD_RECORD_MMAP2, 4);
    put(&at, PD_CPUMODE_USER, 2);
    put(&at, 72 + 16 + 24, 2);
    put(&at, 42, 4);
    put(&at, 43, 4);
    put(&at, 0x400000, 8);
    put(&at, 0x1000, 8);
    put(&at, 0x2000, 8);
    put(&at, 8, 4);
    put(&at, 1, 4);
    put(&at, 1234, 8);
    put(&at, 7, 8);
    put(&at, 5, 4);
    put(&at, 2, 4);
    memcpy(at, "/bin/demo\0\0\0\0\0\0", 16);
    at += 16;
    put(&at, 42, 4);
    put(&at, 44, 4);
    put(&at, 1000, 8);
    put(&at, 99, 8);
    uint32_t size = (uint32_t)(at - record);
    CHECK(pd_record_decode(&event, record, size, false, NULL, &mmap2, sizeof mmap2) == PERFDATA_OK);
    CHECK_U64(mmap2.header.size, size);
    CHECK_U64(mmap2.tid, 43);
    CHECK_U64(mmap2.addr, 0x400000);
    CHECK_U64(mmap2.pgoff, 0x2000);
    CHECK_U64(mmap2.min, 1);
    CHECK_U64(mmap2.ino, 1234);
    CHECK_U64(mmap2.prot, 5);
    CHECK_U64(mmap2.filename.length, 9);
    CHECK(!memcmp(mmap2.filename.text, "/bin/demo", 10));
    pd_record_identity(&event, record, size, PD_RECORD_MMAP2, &identity);
    CHECK_U64(identity.tid, 44);
    CHECK_U64(identity.time, 1000);
    CHECK_U64(identity.id, 99);
    CHECK_U64(identity.cpu, UINT32_MAX);
    CHECK_U64(pd_record_time(&event.plan, record, size, PD_RECORD_MMAP2), 1000);
    pd_store16(record + 4, PD_MISC_MMAP_BUILD_ID | PD_CPUMODE_USER, false);
    record[40] = 20;
    CHECK(pd_record_decode(&event, record, size, false, NULL, &mmap2, sizeof mmap2) == PERFDATA_OK);
    CHECK_U64(mmap2.build_id_size, 20);
    CHECK(!memcmp(mmap2.build_id, record + 44, 20));
    CHECK_U64(mmap2.maj, 0);
}

static void test_least_sizes(void)
{
    static const struct {
        uint32_t type, size;
    } expected[] = {
        { PD_RECORD_MMAP, 48 },
        { PD_RECORD_LOST, 24 },
        { PD_RECORD_COMM, 24 },
        { PD_RECORD_EXIT, 32 },
        { PD_RECORD_FORK, 32 },
        { PD_RECORD_THROTTLE, 32 },
        { PD_RECORD_READ, 24 },
        { PD_RECORD_MMAP2, 80 },
        { PD_RECORD_AUX, 32 },
        { PD_RECORD_SWITCH, 8 },
        { PD_RECORD_NAMESPACES, 24 },
        { PD_RECORD_KSYMBOL, 32 },
        { PD_RECORD_BPF_EVENT, 24 },
        { PD_RECORD_CGROUP, 24 },
        { PD_RECORD_TEXT_POKE, 24 },
        { PD_RECORD_STAT, 48 },
        { PD_RECORD_AUXTRACE, 48 },
        { PD_RECORD_HEADER_TRACING_DATA, 12 },
        { 4711, 8 },
    };
    for (size_t i = 0; i < PD_LENGTH(expected); i++)
        CHECK_U64(pd_record_min_size(expected[i].type), expected[i].size);
}

/* The kernel leaves hw_idx out when there is no stack: the reading that uses the record up is
 * right. */
static void test_hw_index(void)
{
    struct pd_event event = { 0 };
    struct pd_sample sample;
    uint8_t record[64], *at = record;
    event.attr.sample_type = PD_SAMPLE_IP | PD_SAMPLE_BRANCH_STACK | PD_SAMPLE_PHYS_ADDR;
    event.attr.branch_sample_type = PD_BRANCH_SAMPLE_ANY | PD_BRANCH_SAMPLE_HW_INDEX;
    pd_plan_make(&event.attr, false, &event.plan);
    put(&at, PD_RECORD_SAMPLE, 4);
    put(&at, PD_CPUMODE_USER, 2);
    put(&at, 32, 2);
    put(&at, 0x1234, 8);
    put(&at, 0, 8);
    put(&at, 0x5678, 8);
    CHECK(pd_sample_decode(&event, record, 32, &sample) == PERFDATA_OK);
    CHECK(!sample.has_hw_index);
    CHECK_U64(sample.phys_addr, 0x5678);
    put(&at, 0x9abc, 8);
    CHECK(pd_sample_decode(&event, record, 40, &sample) == PERFDATA_OK);
    CHECK(sample.has_hw_index);
    CHECK_U64(sample.phys_addr, 0x9abc);
    CHECK(pd_sample_decode(&event, record, 24, &sample) == PERFDATA_ERROR_BAD_RECORD);
    CHECK_U64(sample.ip, 0x1234);
}

static void test_machines_of_32_bits(void)
{
    static const char *const narrow[] = { "armv7l", "arm", "i686", "i386", "ppc", "mips", "s390" };
    static const char *const wide[] = { "aarch64", "arm64",    "x86_64",  "ppc64le", "mips64",
                                        "s390x",   "parisc64", "riscv64", "sparc64", "" };
    for (size_t i = 0; i < PD_LENGTH(narrow); i++)
        CHECK(pd_arch_is_32_bit(narrow[i]));
    for (size_t i = 0; i < PD_LENGTH(wide); i++)
        CHECK(!pd_arch_is_32_bit(wide[i]));
}

int main(void)
{
    test_machines_of_32_bits();
    test_round_trips();
    test_mmap2();
    test_least_sizes();
    test_hw_index();
    return test_done();
}
