/* SPDX-License-Identifier: MIT */
/* Call frame information of any bytes, as .eh_frame and as .debug_frame, with and without the
 * linker's table; and steps by whatever rules it has. */
#include "object/frames/table.h"
#include <elf.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ASKED_MAX = 64, STEPS_MAX = 16 };

static bool read_memory(void *data, uint64_t address, uint64_t *value)
{
    (void)data;
    *value = address * 3;
    return address % 5 != 0;
}

static void walk(struct pd_frame_rules *rules, uint64_t address, const uint8_t *stack, size_t size)
{
    struct pd_unwind frame = { .known = (UINT64_C(1) << PD_UNWIND_REGISTERS) - 1,
                               .ip = address,
                               .stack_pointer = 7,
                               .stack = stack,
                               .stack_start = 0x1000,
                               .stack_end = 0x1000 + size,
                               .read = read_memory };
    for (size_t i = 0; i < PD_UNWIND_REGISTERS; i++)
        frame.registers[i] = 0x1000 + 8 * i;
    for (size_t i = 0; i < STEPS_MAX; i++) {
        const struct pd_frame_step *step = pd_frame_rules_find(rules, frame.ip);
        (void)pd_frame_step_is_signal(step);
        if (pd_frame_step_take(step, &frame) != PD_UNWIND_STEPPED)
            return;
    }
}

static void ask(struct pd_frame_rules *rules, const uint8_t *data, size_t size)
{
    const struct pd_frame_section *sections[] = { &rules->eh, &rules->debug };
    walk(rules, 0x1000, data, size);
    for (size_t s = 0; s < PD_LENGTH(sections); s++) {
        for (size_t i = 0; i < sections[s]->places.count && i < ASKED_MAX; i++) {
            const struct pd_frame_place *place = &sections[s]->places.data[i];
            (void)pd_frame_rules_return(rules, place->start);
            walk(rules, place->end - 1, data, size);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 2 };
    static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_ARM, EM_PPC64 };
    if (size < HEAD)
        return 0;
    uint8_t how = data[0];
    struct pd_frame_rules *rules = calloc(1, sizeof *rules);
    if (!rules)
        return 0;
    struct pd_frame_section section = { .bytes = data + HEAD,
                                        .size = size - HEAD,
                                        .address = 0x2000,
                                        .word = how & 1 ? 4 : 8,
                                        .swap = how & 2,
                                        .is_debug = how & 4 };
    pthread_mutex_init(&rules->lock, NULL);
    rules->machine = machines[how >> 6];
    if (how & 8 && section.size > 16) {
        section.table = section.bytes;
        section.table_count = 2;
        section.table_address = 0x1000;
    }
    *(section.is_debug ? &rules->debug : &rules->eh) = section;
    ask(rules, data, size);
    pd_frame_rules_free(rules);
    return 0;
}
