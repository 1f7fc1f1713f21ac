/* SPDX-License-Identifier: MIT */
/* The call frame information of a file -> the step that holds at an address of its code. */
#include "object/frames/table.h"

enum { ANSWERS_KEPT = 1 << 16 };

static struct pd_frame_rules *new_rules(uint16_t machine)
{
    struct pd_frame_rules *rules = pd_memory_noted(calloc(1, sizeof *rules));
    if (!rules)
        return NULL;
    pthread_mutex_init(&rules->lock, NULL);
    rules->machine = machine;
    return rules;
}

static void find_sections(struct pd_frame_rules *rules)
{
    if (rules->is_open && rules->elf.header.e_machine == rules->machine)
        pd_frame_sections_find(rules);
}

struct pd_frame_rules *pd_frame_rules_open(const char *path, uint16_t machine)
{
    struct pd_frame_rules *rules = new_rules(machine);
    if (!rules)
        return NULL;
    rules->is_open = pd_elf_open(&rules->elf, path);
    find_sections(rules);
    return rules;
}

struct pd_frame_rules *pd_frame_rules_open_memory(const void *image, size_t size, uint16_t machine)
{
    struct pd_frame_rules *rules = new_rules(machine);
    if (!rules || !(rules->image = pd_memory_noted(malloc(size + 1)))) {
        pd_frame_rules_free(rules);
        return NULL;
    }
    memcpy(rules->image, image, size);
    rules->is_open = pd_elf_open_memory(&rules->elf, rules->image, size);
    find_sections(rules);
    return rules;
}

void pd_frame_rules_free(struct pd_frame_rules *rules)
{
    if (!rules)
        return;
    pd_frame_section_free(&rules->eh);
    pd_frame_section_free(&rules->debug);
    pd_arena_free(&rules->arena);
    pd_map64_free(&rules->known);
    pd_vec_free(&rules->answers);
    if (rules->is_open)
        pd_elf_close(&rules->elf);
    free(rules->image);
    pthread_mutex_destroy(&rules->lock);
    free(rules);
}

static const struct pd_frame_step *step_in(struct pd_frame_rules *rules,
                                           struct pd_frame_section *section, uint64_t address)
{
    struct pd_frame_entry entry;
    return pd_frame_entry_find(section, address, &entry)
               ? pd_frame_program_run(rules, section, &entry, address)
               : NULL;
}

/* With the lock. Without memory, or with very many, it is found again the next time. */
static void keep_answer(struct pd_frame_rules *rules, uint64_t address,
                        const struct pd_frame_step *step)
{
    uint32_t index = (uint32_t)rules->answers.count;
    if (index < ANSWERS_KEPT && pd_vec_push(&rules->answers, step))
        (void)pd_map64_set(&rules->known, address, index);
}

/* With the lock. */
static const struct pd_frame_step *find(struct pd_frame_rules *rules, uint64_t address)
{
    static const struct pd_frame_step no_rules = { .fails = PD_UNWIND_NO_RULES };
    uint32_t known = pd_map64_get(&rules->known, address);
    if (known != PD_MAP64_NONE)
        return rules->answers.data[known];
    const struct pd_frame_step *step = step_in(rules, &rules->eh, address);
    if (!step)
        step = step_in(rules, &rules->debug, address);
    if (!step)
        step = &no_rules;
    keep_answer(rules, address, step);
    return step;
}

const struct pd_frame_step *pd_frame_rules_find(struct pd_frame_rules *rules, uint64_t address)
{
    static const struct pd_frame_step no_table = { .fails = PD_UNWIND_NO_TABLE };
    if (!rules->eh.bytes && !rules->debug.bytes)
        return &no_table;
    pthread_mutex_lock(&rules->lock);
    const struct pd_frame_step *step = find(rules, address);
    pthread_mutex_unlock(&rules->lock);
    return step;
}

enum pd_return_place pd_frame_rules_return(struct pd_frame_rules *rules, uint64_t address)
{
    const struct pd_frame_step *step = pd_frame_rules_find(rules, address);
    if (step->fails)
        return PD_RETURN_UNKNOWN;
    return step->back.kind == PD_RULE_KEPT ? PD_RETURN_REGISTER : PD_RETURN_ELSEWHERE;
}
