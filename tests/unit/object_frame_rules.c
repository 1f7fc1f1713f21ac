/* SPDX-License-Identifier: MIT */
/* Where functions keep their return address and how a frame steps to its caller: a small arm64 file
 * with functions that save it, that do not, and that only .debug_frame knows. */
#include "object/frames/bytes.h"
#include "object/frames/rules.h"
#include "make_elf.h"
#include "test.h"
#include <unistd.h>

static const uint8_t eh_frame[] = {
    /* CIE: "zR", code 4, data -8, return register 30, addresses as u32; CFA is sp + 0 */
    0x10, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x03, 0x0c, 31, 0,
    /* 0x1000..0x1040: x30 on the stack between 0x1004 and 0x1020 */
    0x18, 0, 0, 0, 0x18, 0, 0, 0, 0, 0x10, 0, 0, 0x40, 0, 0, 0, 0, 0x41, 0x0e, 16, 0x9e, 1, 0x47,
    0xde, 0x0e, 0, 0, 0,
    /* 0x1040..0x1080: nothing changes */
    0x10, 0, 0, 0, 0x34, 0, 0, 0, 0x40, 0x10, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0,
    /* 0x1080..0x10c0: x30 is undefined: the first function */
    0x10, 0, 0, 0, 0x48, 0, 0, 0, 0x80, 0x10, 0, 0, 0x40, 0, 0, 0, 0, 0x07, 30, 0,
    /* the end */
    0, 0, 0, 0
};

/* Version 4: 0x1100..0x1140, with the return address in x5. */
static const uint8_t debug_frame[] = {
    /* CIE: addresses of 8 bytes, code 4, data -8, return register 30; CFA is sp + 0 */
    0x10, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 4, 0, 8, 0, 4, 0x78, 30, 0x0c, 31, 0, 0, 0,
    /* FDE: x30 is in x5 */
    0x38, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x09, 30, 5,
    /* from 0x1108 on the CFA is x2 + 8, or what lies where x2 leads if that is odd: */
    0x42, 0x0f, 14,
    /* breg2 0, dup, lit1, and, bra to deref, lit8, plus, skip to the end, deref */
    0x72, 0, 0x12, 0x31, 0x1a, 0x28, 5, 0, 0x38, 0x22, 0x2f, 1, 0, 0x06,
    /* from 0x1110 on it is x2 + 24, and x30 is x5 + 8 by an expression */
    0x42, 0x0c, 2, 16, 0x0e, 24, 0x16, 30, 2, 0x75, 8, 0, 0, 0, 0, 0
};

static char path[] = "/tmp/perfdata-frame-rules-XXXXXX";

static bool write_program(void)
{
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_AARCH64);
    elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, NULL, 0x100, 0, 0);
    elf_section(&m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x2000, eh_frame, sizeof eh_frame, 0, 0);
    elf_section(&m, ".debug_frame", SHT_PROGBITS, 0, 0, debug_frame, sizeof debug_frame, 0, 0);
    elf_end_file(&m);
    int file = mkstemp(path);
    bool done = file >= 0 && write(file, m.bytes, m.size) == (ssize_t)m.size;
    if (file >= 0)
        close(file);
    elf_maker_free(&m);
    return done;
}

static enum pd_return_place ask(const char *file, uint16_t machine, uint64_t address)
{
    struct pd_frame_rules *rules = pd_frame_rules_open(file, machine);
    CHECK(rules != NULL);
    if (!rules)
        return PD_RETURN_NOT_ASKED;
    enum pd_return_place place = pd_frame_rules_return(rules, address);
    pd_frame_rules_free(rules);
    return place;
}

static void rules_hold_by_address(void)
{
    CHECK_U64(ask(path, EM_AARCH64, 0x1000), PD_RETURN_REGISTER);
    CHECK_U64(ask(path, EM_AARCH64, 0x1004), PD_RETURN_ELSEWHERE);
    CHECK_U64(ask(path, EM_AARCH64, 0x101c), PD_RETURN_ELSEWHERE);
    CHECK_U64(ask(path, EM_AARCH64, 0x1020), PD_RETURN_REGISTER);
    CHECK_U64(ask(path, EM_AARCH64, 0x1050), PD_RETURN_REGISTER);
    CHECK_U64(ask(path, EM_AARCH64, 0x1084), PD_RETURN_ELSEWHERE);
    CHECK_U64(ask(path, EM_AARCH64, 0x10c0), PD_RETURN_UNKNOWN);
    CHECK_U64(ask(path, EM_AARCH64, 0xfff), PD_RETURN_UNKNOWN);
}

/* ---- steps: the word at 0x5008 is 0x4444, all others cannot be read ---- */

static bool read_one(void *data, uint64_t address, uint64_t *value)
{
    (void)data;
    *value = 0x4444;
    return address == 0x5008;
}

static enum pd_unwind_result step(uint64_t address, struct pd_unwind *frame)
{
    struct pd_frame_rules *rules = pd_frame_rules_open(path, EM_AARCH64);
    CHECK(rules != NULL);
    if (!rules)
        return PD_UNWIND_NO_RULES;
    const struct pd_frame_step *found = pd_frame_rules_find(rules, address);
    enum pd_unwind_result result = pd_frame_step_take(found, frame);
    CHECK(!pd_frame_step_is_signal(found));
    pd_frame_rules_free(rules);
    return result;
}

static void steps_follow_the_rules(void)
{
    struct pd_unwind begin = { .known = UINT64_C(1) << 31 | UINT64_C(1) << 30 | 1,
                               .registers = { [0] = 7, [30] = 0x3333, [31] = 0x5000 },
                               .stack_pointer = 31,
                               .read = read_one };
    struct pd_unwind frame = begin;
    CHECK_U64(step(0x1010, &frame), PD_UNWIND_STEPPED); /* saved on the stack */
    CHECK_U64(frame.ip, 0x4444);
    CHECK_U64(frame.cfa, 0x5010);
    CHECK_U64(frame.registers[31], 0x5010);
    CHECK_U64(frame.registers[0], 7);
    frame = begin;
    CHECK_U64(step(0x1050, &frame), PD_UNWIND_STEPPED); /* still in its register */
    CHECK_U64(frame.ip, 0x3333);
    CHECK_U64(frame.cfa, 0x5000);
    frame = begin;
    frame.registers[31] = 0x6000;
    CHECK_U64(step(0x1010, &frame), PD_UNWIND_LOST);
    CHECK_U64(frame.cfa, 0x6010);
    frame = begin;
    CHECK_U64(step(0x1084, &frame), PD_UNWIND_END);
    CHECK_U64(step(0x10c0, &frame), PD_UNWIND_NO_RULES);
    frame = begin;
    frame.known = 0; /* no stack pointer, no CFA */
    CHECK_U64(step(0x1010, &frame), PD_UNWIND_NO_RULES);
}

static void expressions_are_evaluated(void)
{
    struct pd_unwind begin = { .known = UINT64_C(1) << 31 | UINT64_C(1) << 5 | 1 << 2,
                               .registers = { [2] = 0x5000, [5] = 0x3333, [31] = 0x6000 },
                               .stack_pointer = 31,
                               .read = read_one };
    struct pd_unwind frame = begin;
    CHECK_U64(step(0x1100, &frame), PD_UNWIND_STEPPED); /* in another register */
    CHECK_U64(frame.ip, 0x3333);
    CHECK_U64(frame.cfa, 0x6000);
    frame = begin;
    CHECK_U64(step(0x1108, &frame), PD_UNWIND_STEPPED);
    CHECK_U64(frame.cfa, 0x5008);
    frame = begin;
    frame.registers[2] = 0x5001; /* which cannot be read */
    CHECK_U64(step(0x110c, &frame), PD_UNWIND_NO_RULES);
    frame = begin;
    CHECK_U64(step(0x1110, &frame), PD_UNWIND_STEPPED);
    CHECK_U64(frame.cfa, 0x5018);
    CHECK_U64(frame.ip, 0x333b);
    CHECK_U64(step(0x1140, &frame), PD_UNWIND_NO_RULES);
}

/* The copied stack is read but for its last word. */
static void stacks_are_read_in_place(void)
{
    static const uint8_t stack[24] = { [8] = 0x55, [16] = 0x66 };
    struct pd_unwind begin = { .known = UINT64_C(1) << 31,
                               .registers = { [31] = 0x7000 },
                               .stack_pointer = 31,
                               .stack = stack,
                               .stack_start = 0x7000,
                               .stack_end = 0x7018,
                               .read = read_one };
    struct pd_unwind frame = begin;
    CHECK_U64(step(0x1010, &frame), PD_UNWIND_STEPPED);
    CHECK_U64(frame.ip, 0x55);
    frame = begin;
    frame.registers[31] = 0x7008;
    CHECK_U64(step(0x1010, &frame), PD_UNWIND_LOST);
}

static void other_files_say_nothing(void)
{
    CHECK_U64(ask(path, EM_X86_64, 0x1004), PD_RETURN_UNKNOWN);
    CHECK_U64(ask("/nowhere/at/all", EM_AARCH64, 0x1004), PD_RETURN_UNKNOWN);
    CHECK_U64(ask("/dev/null", EM_AARCH64, 0x1004), PD_RETURN_UNKNOWN);
    pd_frame_rules_free(NULL);
}

/* A file can say that its addresses have any size. */
static void other_sizes_of_numbers_are_missing(void)
{
    static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    for (unsigned size = 0; size <= 255; size++) {
        struct pd_frame_bytes from = { bytes, bytes + sizeof bytes, false, false };
        bool known = size == 1 || size == 2 || size == 4 || size == 8;
        uint64_t value = pd_frame_number(&from, size);
        CHECK(from.missing == !known);
        CHECK(known ? (value & 0xff) == 1 : !value);
    }
}

int main(void)
{
    CHECK(write_program());
    rules_hold_by_address();
    steps_follow_the_rules();
    expressions_are_evaluated();
    stacks_are_read_in_place();
    other_files_say_nothing();
    other_sizes_of_numbers_are_missing();
    unlink(path);
    return test_done();
}
