/* SPDX-License-Identifier: MIT */
/* Call frame information -> the rule that leads from an address to its function's caller. */
#include "object/frames/table.h"
#include "base/memory.h"
#include <stdlib.h>

static struct pd_frame_rules *new_rules(void)
{
    struct pd_frame_rules *rules = pd_memory_noted(calloc(1, sizeof *rules));
    if (rules)
        pthread_mutex_init(&rules->lock, NULL);
    return rules;
}

static void find_table(struct pd_frame_rules *rules, uint16_t machine)
{
    if (rules->is_open && rules->elf.header.e_machine == machine)
        rules->table = dwarf_getcfi_elf(rules->elf.elf);
}

struct pd_frame_rules *pd_frame_rules_open(const char *path, uint16_t machine)
{
    struct pd_frame_rules *rules = new_rules();
    if (!rules)
        return NULL;
    rules->is_open = pd_elf_open(&rules->elf, path);
    find_table(rules, machine);
    return rules;
}

struct pd_frame_rules *pd_frame_rules_open_memory(const void *image, size_t size, uint16_t machine)
{
    struct pd_frame_rules *rules = new_rules();
    if (!rules || !(rules->image = pd_memory_noted(malloc(size + 1)))) {
        pd_frame_rules_free(rules);
        return NULL;
    }
    memcpy(rules->image, image, size);
    rules->is_open = pd_elf_open_memory(&rules->elf, rules->image, size);
    find_table(rules, machine);
    return rules;
}

void pd_frame_rules_free(struct pd_frame_rules *rules)
{
    if (!rules)
        return;
    if (rules->table)
        dwarf_cfi_end(rules->table);
    if (rules->is_open)
        pd_elf_close(&rules->elf);
    free(rules->image);
    pthread_mutex_destroy(&rules->lock);
    free(rules);
}

static enum pd_return_place return_place(Dwarf_Frame *frame)
{
    Dwarf_Op space[3], *rule = space;
    size_t count = 0;
    int number = dwarf_frame_info(frame, NULL, NULL, NULL);

    /* No rule in no space of ours: the register holds what it held at the call. */
    if (number >= 0 && !dwarf_frame_register(frame, number, space, &rule, &count) && !rule)
        return PD_RETURN_REGISTER;
    return PD_RETURN_ELSEWHERE;
}

enum pd_return_place pd_frame_rules_return(struct pd_frame_rules *rules, uint64_t address)
{
    Dwarf_Frame *frame = NULL;
    enum pd_return_place place = PD_RETURN_UNKNOWN;

    if (!rules->table)
        return place;
    pthread_mutex_lock(&rules->lock);
    if (!dwarf_cfi_addrframe(rules->table, address, &frame)) {
        place = return_place(frame);
        free(frame);
    }
    pthread_mutex_unlock(&rules->lock);
    return place;
}
