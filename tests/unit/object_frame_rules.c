/* SPDX-License-Identifier: MIT */
/* Where functions keep their return address: a small arm64 file with one function that saves it and
 * one that does not. */
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

static char path[] = "/tmp/perfdata-frame-rules-XXXXXX";

static bool write_program(void)
{
    struct elf_maker m = elf_begin(true, false, ET_DYN, EM_AARCH64);
    elf_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, NULL, 0x100, 0, 0);
    elf_section(&m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x2000, eh_frame, sizeof eh_frame, 0, 0);
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
    bool is_signal = true;
    CHECK(rules != NULL);
    if (!rules)
        return PD_UNWIND_NO_RULES;
    enum pd_unwind_result result = pd_frame_rules_step(rules, address, frame, &is_signal);
    CHECK(!is_signal);
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

static void other_files_say_nothing(void)
{
    CHECK_U64(ask(path, EM_X86_64, 0x1004), PD_RETURN_UNKNOWN);
    CHECK_U64(ask("/nowhere/at/all", EM_AARCH64, 0x1004), PD_RETURN_UNKNOWN);
    CHECK_U64(ask("/dev/null", EM_AARCH64, 0x1004), PD_RETURN_UNKNOWN);
    pd_frame_rules_free(NULL);
}

int main(void)
{
    CHECK(write_program());
    rules_hold_by_address();
    steps_follow_the_rules();
    other_files_say_nothing();
    unlink(path);
    return test_done();
}
