/* SPDX-License-Identifier: MIT */
/* Fields that few recordings have: registers, branch stacks, memory accesses. */
#include "render/script/plan.h"
#include "format/names.h"
#include "render/data_source.h"

#define ULL(value) ((unsigned long long)(value))

/* ---- registers ---- */

void pd_registers_text(const struct pd_recording *recording, uint64_t abi, uint64_t mask,
                       const uint8_t *registers, bool swap, struct pd_text *text)
{
    const char *arch = pd_features_arch(&recording->features);
    if (recording->like_perf && !pd_perf_names_registers(arch))
        arch = "";
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(mask >> bit & 1))
            continue;
        const char *name = pd_register_name(arch, bit, abi);
        pd_text_right(text, name, strlen(name), 5);
        pd_text_bytes(text, ":0x", 3);
        pd_text_hex(text, pd_load64(registers, swap), 0, ' ');
        pd_text_char(text, ' ');
        registers += 8;
    }
}

static void put_registers(const struct pd_script *script, uint64_t abi, uint64_t mask,
                          const uint8_t *registers, bool swap, struct pd_text *text)
{
    if (!registers)
        return;
    pd_text_format(text, " ABI:%llu ", ULL(abi));
    pd_registers_text(script->recording, abi, mask, registers, swap, text);
}

/* ---- branch stacks ---- */

static void put_branch_flags(uint64_t flags, struct pd_text *text)
{
    pd_text_char(text, '/');
    pd_text_char(text, PD_BRANCH_PART(flags, PREDICTED) ? 'P'
                       : PD_BRANCH_PART(flags, MISPRED) ? 'M'
                                                        : '-');
    pd_text_char(text, '/');
    pd_text_char(text, PD_BRANCH_PART(flags, IN_TX) ? 'X' : '-');
    pd_text_char(text, '/');
    pd_text_char(text, PD_BRANCH_PART(flags, ABORT) ? 'A' : '-');
    pd_text_char(text, '/');
    pd_text_u64(text, PD_BRANCH_PART(flags, CYCLES), 0, ' ');
    pd_text_char(text, '/');
    pd_text_string(text, pd_branch_type_text(flags));
    pd_text_char(text, ' ');
}

/* The address as an offset in perf's map of it. */
static uint64_t map_offset(const struct pd_location *location, uint64_t ip)
{
    const struct pd_map *map = location ? location->map : NULL;
    if (!map)
        return ip;
    return map->kernel ? ip - map->start : pd_map_address(map, ip);
}

static void put_branch_end(struct pd_script_worker *worker, uint64_t fields,
                           const struct pd_location *location, uint64_t ip, struct pd_text *text)
{
    struct pd_script *script = worker->script;
    if (fields & PD_FIELD(BRSTACKSYM) && !(fields & PD_FIELD(BRSTACK))) {
        pd_script_name(location, true, text);
    } else {
        bool offset = !(fields & PD_FIELD(BRSTACK));
        /* perf adjusts addresses only of objects that it has loaded, as it has loaded all whose
         * code a trace led through. */
        if (offset && script->session.synth && location && location->map &&
            pd_symbols_adjusts(location->map->dso))
            offset = false;
        pd_text_bytes(text, "0x", 2);
        pd_text_hex(text, offset ? map_offset(location, ip) : ip, 0, ' ');
    }
    if (!(fields & PD_FIELD(DSO)))
        return;
    pd_script_dso(script, location, false, text);
}

static void put_branches(struct pd_script_worker *worker, uint64_t fields,
                         const struct pd_sample *sample, const struct pd_delivered *record,
                         struct pd_text *text)
{
    bool names = fields & PD_FIELD(BRSTACKSYM) && !(fields & PD_FIELD(BRSTACK));
    for (uint32_t i = 0; i < sample->branch_count; i++) {
        struct pd_branch branch = pd_branch_at(sample, i);
        struct pd_location *from = NULL, *to = NULL;
        if (fields & (PD_FIELD(DSO) | PD_FIELD(BRSTACKSYM) | PD_FIELD(BRSTACKOFF))) {
            from = pd_resolve_any(worker->resolver, record->thread, record->number, sample->cpumode,
                                  branch.from);
            to = pd_resolve_any(worker->resolver, record->thread, record->number, sample->cpumode,
                                branch.to);
        }
        if (!names)
            pd_text_char(text, ' ');
        put_branch_end(worker, fields, from, branch.from, text);
        pd_text_char(text, '/');
        put_branch_end(worker, fields, to, branch.to, text);
        put_branch_flags(branch.flags, text);
    }
}

/* ---- data_src ---- */

/* Pads the text to the longest so far, so samples must come one after another. */
void pd_script_data_source(struct pd_script_worker *worker, const struct pd_sample *sample,
                           struct pd_text *text)
{
    pd_text_hex(text, sample->data_src, 16, ' ');
    pd_text_char(text, ' ');
    size_t start = text->length;
    pd_data_source_text(sample->data_src, worker->script->recording->like_perf, text);
    size_t length = text->length - start;
    if (length > worker->script->form.widest_source)
        worker->script->form.widest_source = length;
    pd_text_fill(text, ' ', worker->script->form.widest_source - length);
}

/* ---- */

/* The newest branch comes first, as in branch stacks. Where instructions are shown, each branch's
 * counters stand beside the branch instead. */
static void put_counters(const struct pd_script_worker *worker, const struct pd_script_event *plan,
                         const struct pd_sample *sample, struct pd_text *text)
{
    bool names = worker->script->options->flags & PERFDATA_SCRIPT_VERBOSE_NAMES;
    if (!sample->branch_counters || !plan->counters)
        return;
    pd_text_string(text, " br_cntr: ");
    for (uint32_t i = 0; i < sample->branch_count; i++) {
        uint64_t word = pd_load64(sample->branch_counters + 8 * (size_t)i, sample->swap);
        pd_text_string(text, i ? "," : "");
        pd_branch_counters_text(plan->counters, word, names, text);
    }
}

void pd_script_after_ip(struct pd_script_worker *worker, const struct pd_script_event *plan,
                        const struct pd_sample *sample, const struct pd_delivered *record,
                        struct pd_text *text)
{
    const struct pd_attr *attr = &plan->event->attr;
    if (plan->fields & PD_FIELD(IREGS))
        put_registers(worker->script, sample->intr_abi, attr->sample_regs_intr, sample->intr_regs,
                      sample->swap, text);
    if (plan->fields & PD_FIELD(UREGS))
        put_registers(worker->script, sample->user_abi, attr->sample_regs_user, sample->user_regs,
                      sample->swap, text);
    if (plan->fields & (PD_FIELD(BRSTACK) | PD_FIELD(BRSTACKSYM) | PD_FIELD(BRSTACKOFF)))
        put_branches(worker, plan->fields, sample, record, text);
    if (plan->fields & PD_FIELD(BRCNTR) && !(plan->fields & PD_INSN_OF_BRANCHES))
        put_counters(worker, plan, sample, text);
}
