/* SPDX-License-Identifier: MIT */
/* Attributes in both byte orders, and the names made from them. */
#include "format/format.h"
#include "format/names.h"
#include "test.h"

static const uint64_t guest = UINT64_C(1) << PD_ATTR_EXCLUDE_GUEST;

static void check_name(struct pd_attr attr, const char *expected)
{
    struct pd_text text = { 0 };
    pd_attr_name(&attr, &text);
    pd_text_char(&text, '\0');
    CHECK_STR(text.data, expected);
    pd_text_free(&text);
}

static void test_names(void)
{
    const uint64_t kernel = UINT64_C(1) << PD_ATTR_EXCLUDE_KERNEL, user = UINT64_C(1)
                                                                          << PD_ATTR_EXCLUDE_USER;
    const uint64_t hv = UINT64_C(1) << PD_ATTR_EXCLUDE_HV, host = UINT64_C(1)
                                                                  << PD_ATTR_EXCLUDE_HOST;
    check_name((struct pd_attr){ .type = PD_TYPE_HARDWARE, .flags = guest }, "cycles");
    check_name((struct pd_attr){ .type = PD_TYPE_HARDWARE }, "cycles:HG");
    check_name(
        (struct pd_attr){ .type = PD_TYPE_HARDWARE, .config = 1, .flags = guest | kernel | hv },
        "instructions:uH");
    check_name((struct pd_attr){ .type = PD_TYPE_HARDWARE, .config = 99, .flags = guest | user },
               "unknown-hardware:khH");
    check_name((struct pd_attr){ .type = PD_TYPE_HARDWARE,
                                 .config = UINT64_C(4) << 32 | 1,
                                 .flags = guest },
               "cpu/instructions/");
    check_name((struct pd_attr){ .type = PD_TYPE_SOFTWARE,
                                 .flags = guest | UINT64_C(3) << PD_ATTR_PRECISE_IP },
               "cpu-clock:pppH");
    check_name((struct pd_attr){ .type = PD_TYPE_SOFTWARE,
                                 .config = PD_SW_BPF_OUTPUT,
                                 .flags = guest | host },
               "unknown-software");
    check_name((struct pd_attr){ .type = PD_TYPE_HW_CACHE, .config = 0x10003, .flags = guest },
               "dTLB-load-misses");
    check_name((struct pd_attr){ .type = PD_TYPE_HW_CACHE, .config = 0x100, .flags = guest },
               "L1-dcache-stores");
    check_name((struct pd_attr){ .type = PD_TYPE_HW_CACHE, .config = 0x104, .flags = guest },
               "invalid-cache");
    check_name((struct pd_attr){ .type = PD_TYPE_HW_CACHE, .config = 7, .flags = guest },
               "unknown-ext-hardware-cache-type");
    check_name((struct pd_attr){ .type = PD_TYPE_RAW, .config = 0x1c2, .flags = guest },
               "raw 0x1c2");
    check_name(
        (struct pd_attr){
            .type = PD_TYPE_BREAKPOINT, .bp_addr = 0x1000, .bp_type = 3, .flags = guest },
        "mem:0x1000:rw");
    check_name((struct pd_attr){ .type = PD_TYPE_TRACEPOINT }, "unknown tracepoint");
    check_name((struct pd_attr){ .type = 77 }, "unknown attr type: 77");
}

/* As a big-endian machine lays them out: flag n is bit 63-n, and precise_ip keeps its own order. */
static void test_big_endian(void)
{
    uint8_t bytes[144] = { 0 };
    struct pd_attr attr;
    bool swap = !pd_is_big_endian(false);
    uint64_t word = UINT64_C(1) << (63 - PD_ATTR_MMAP) |
                    UINT64_C(1) << (63 - PD_ATTR_SAMPLE_ID_ALL) |
                    UINT64_C(2) << (63 - PD_ATTR_PRECISE_IP_HIGH) /* precise_ip 2 */;
    pd_store32(bytes, PD_TYPE_RAW, swap);
    pd_store32(bytes + 4, 144, swap);
    pd_store64(bytes + 8, 0x1122334455667788, swap);
    pd_store64(bytes + 40, word, swap);
    pd_store32(bytes + 92, (uint32_t)-1, swap);
    pd_store32(bytes + 116, UINT32_C(1) << 30, swap);
    pd_store64(bytes + 136, 42, swap);
    CHECK(pd_attr_decode(bytes, sizeof bytes, swap, &attr) == PERFDATA_OK);
    CHECK_U64(attr.config, 0x1122334455667788);
    CHECK(pd_attr_flag(&attr, PD_ATTR_MMAP));
    CHECK(pd_attr_flag(&attr, PD_ATTR_SAMPLE_ID_ALL));
    CHECK(!pd_attr_flag(&attr, PD_ATTR_COMM));
    CHECK_U64(pd_attr_precise_ip(&attr), 2);
    CHECK(attr.clockid == -1);
    CHECK_U64(attr.aux_action, PD_AUX_ACTION_PAUSE);
    CHECK_U64(attr.config4, 42);
    CHECK_U64(pd_attr_flags_to_big(attr.flags), word);
}

/* Fields beyond the recorded size are 0, a size of 0 is the first version's. */
static void test_sizes(void)
{
    uint8_t bytes[144];
    struct pd_attr attr;
    memset(bytes, 0xff, sizeof bytes);
    pd_store32(bytes + 4, 72, false);
    CHECK(pd_attr_decode(bytes, sizeof bytes, false, &attr) == PERFDATA_OK);
    CHECK_U64(attr.bp_len, UINT64_MAX);
    CHECK_U64(attr.branch_sample_type, 0);
    pd_store32(bytes + 4, 0, false);
    CHECK(pd_attr_decode(bytes, sizeof bytes, false, &attr) == PERFDATA_OK);
    CHECK_U64(attr.size, 64);
    CHECK_U64(attr.bp_len, 0);
    pd_store32(bytes + 4, 4096, false);
    CHECK(pd_attr_decode(bytes, sizeof bytes, false, &attr) == PERFDATA_OK);
    CHECK_U64(attr.config4, UINT64_MAX);
    CHECK(pd_attr_decode(bytes, 63, false, &attr) == PERFDATA_ERROR_BAD_RECORD);
}

/* An id's place in samples and in other records, for each way to have one. */
static void test_plans(void)
{
    struct pd_attr attr = { .sample_type = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME |
                                           PD_SAMPLE_ID | PD_SAMPLE_CPU,
                            .flags = UINT64_C(1) << PD_ATTR_SAMPLE_ID_ALL };
    struct pd_plan plan;
    pd_plan_make(&attr, false, &plan);
    CHECK_U64(plan.ip, 8);
    CHECK_U64(plan.time, 24);
    CHECK_U64(plan.id, 32);
    CHECK_U64(plan.fixed_size, 48);
    CHECK_U64(plan.id_position, 4);
    CHECK_U64(plan.is_position, 2);
    CHECK_U64(plan.trailer_size, 32);
    CHECK_U64(plan.trailer_tid, 32);
    CHECK_U64(plan.trailer_cpu, 8);
    attr.sample_type |= PD_SAMPLE_IDENTIFIER;
    pd_plan_make(&attr, false, &plan);
    CHECK_U64(plan.ip, 16);
    CHECK_U64(plan.id_position, 1);
    CHECK_U64(plan.is_position, 1);
    CHECK_U64(plan.trailer_identifier, 8);
    attr.flags = 0;
    pd_plan_make(&attr, false, &plan);
    CHECK_U64(plan.trailer_size, 0);
}

static void test_words(void)
{
    uint64_t flags = UINT64_C(1) << PD_BRANCH_SHIFT_PREDICTED |
                     UINT64_C(0x1234) << PD_BRANCH_SHIFT_CYCLES |
                     (uint64_t)PD_BRANCH_SYSRET << PD_BRANCH_SHIFT_TYPE;
    uint64_t big = pd_branch_flags_to_big(flags);
    CHECK_U64(big, UINT64_C(1) << 62 | UINT64_C(0x1234) << 44 | (uint64_t)PD_BRANCH_SYSRET << 40);
    CHECK_U64(pd_branch_flags_from_big(big), flags);
    CHECK_U64(PD_DATA_SRC_PART(PD_DATA_SRC_NONE, OP), PD_MEM_OP_NA);
    CHECK_STR(pd_register_name("x86_64", 8, 0), "IP");
    CHECK_STR(pd_register_name("x86_64", 33, 0), "XMM0");
    CHECK_STR(pd_register_name("aarch64", 31, 0), "sp");
    CHECK_STR(pd_register_name("riscv64", 2, 0), "sp");
    CHECK_STR(pd_register_name("x86", 33, PD_REGS_ABI_64 | PD_REGS_ABI_SIMD), "R25");
    CHECK_STR(pd_register_name("x86", 7, PD_REGS_ABI_64 | PD_REGS_ABI_SIMD), "SP");
    CHECK_STR(pd_register_name("m68k", 2, 0), "unknown");
    CHECK_STR(pd_register_name("s390x", 33, 0), "PC");
}

int main(void)
{
    test_names();
    test_big_endian();
    test_sizes();
    test_plans();
    test_words();
    return test_done();
}
