/* SPDX-License-Identifier: MIT */
/* Fields that few recordings have: registers, branch stacks, memory accesses. */
#include "render/script/plan.h"
#include "format/names.h"

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
    const char *type = pd_name_of(&pd_names_branch_type, PD_BRANCH_PART(flags, TYPE));
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
    if (PD_BRANCH_PART(flags, TYPE))
        pd_text_string(text, type ? type : "");
    pd_text_char(text, ' ');
}

/* Where perf's map of the address begins to count. */
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
        /* perf asks only what it has loaded, as it has all whose code was walked through. */
        if (offset && script->session.synth && location && location->map &&
            pd_symbols_adjusts(location->map->dso))
            offset = false;
        pd_text_bytes(text, "0x", 2);
        pd_text_hex(text, offset ? map_offset(location, ip) : ip, 0, ' ');
    }
    if (!(fields & PD_FIELD(DSO)))
        return;
    pd_script_dso(script, location, text);
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

struct word {
    uint8_t bit;
    const char *text;
};

/* The names of the bits with " or " between, "N/A" for none; how many there were. */
static unsigned put_words(const struct word *words, size_t count, uint64_t bits,
                          struct pd_text *text)
{
    unsigned put = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(bits >> words[i].bit & 1))
            continue;
        if (put++)
            pd_text_string(text, " or ");
        pd_text_string(text, words[i].text);
    }
    return put;
}

static void put_hit(uint64_t bits, struct pd_text *text)
{
    if (bits & 2)
        pd_text_string(text, " hit");
    if (bits & 4)
        pd_text_string(text, " miss");
}

static void put_operation(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    static const struct word words[] = {
        { 0, "N/A" }, { 1, "LOAD" }, { 2, "STORE" }, { 3, "PFETCH" }, { 4, "EXEC" }
    };
    for (size_t i = 0; i < PD_LENGTH(words); i++) {
        if (source >> words[i].bit & 1) {
            pd_text_string(text, words[i].text);
            return;
        }
    }
    pd_text_string(text, "No");
}

/* perf 6.1 takes the numbers of levels that it does not know for caches further away. */
static void put_level_number(uint64_t number, bool as_perf, struct pd_text *text)
{
    enum { FIRST_OTHER = 5, FIRST_KNOWN = 9 };
    if (number < FIRST_OTHER || (as_perf && number < FIRST_KNOWN))
        pd_text_format(text, "L%llu", ULL(number));
    else
        pd_text_string(text, pd_name_of(&pd_names_mem_lvl_num, number));
}

static void put_level(uint64_t source, bool as_perf, struct pd_text *text)
{
    static const struct word words[] = { { 0, "N/A" },
                                         { 3, "L1" },
                                         { 4, "LFB/MAB" },
                                         { 5, "L2" },
                                         { 6, "L3" },
                                         { 7, "Local RAM" },
                                         { 8, "Remote RAM (1 hop)" },
                                         { 9, "Remote RAM (2 hops)" },
                                         { 10, "Remote Cache (1 hop)" },
                                         { 11, "Remote Cache (2 hops)" },
                                         { 12, "I/O" },
                                         { 13, "Uncached" } };
    static const char *const hops[8] = { [1] = "core, same node",
                                         [2] = "node, same socket",
                                         [3] = "socket, same board",
                                         [4] = "board" };
    uint64_t level = PD_DATA_SRC_PART(source, LVL), number = PD_DATA_SRC_PART(source, LVL_NUM),
             hop = PD_DATA_SRC_PART(source, HOPS);
    size_t start = text->length;
    if (PD_DATA_SRC_PART(source, REMOTE))
        pd_text_string(text, "Remote ");
    bool printed = false;
    if (hop) {
        pd_text_string(text, hops[hop] ? hops[hop] : "");
        pd_text_char(text, ' ');
    } else {
        printed = put_words(words, PD_LENGTH(words), level, text);
    }
    if (number) {
        if (printed)
            pd_text_string(text, " or ");
        put_level_number(number, as_perf, text);
    }
    if (text->length == start)
        pd_text_string(text, "N/A");
    put_hit(level, text);
}

static void put_snoop(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    static const struct word words[] = { { 0, "N/A" },  { 1, "None" }, { 2, "Hit" }, { 3, "Miss" },
                                         { 4, "HitM" }, { 5, "Fwd" },  { 6, "Peer" } };
    uint64_t bits = PD_DATA_SRC_PART(source, SNOOP) | PD_DATA_SRC_PART(source, SNOOPX)
                                                          << PD_DATA_SRC_WIDTH_SNOOP;
    if (!put_words(words, PD_LENGTH(words), bits, text))
        pd_text_string(text, "N/A");
}

static void put_tlb(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    static const struct word words[] = {
        { 0, "N/A" }, { 3, "L1" }, { 4, "L2" }, { 5, "Walker" }, { 6, "Fault" }
    };
    uint64_t bits = PD_DATA_SRC_PART(source, DTLB);
    if (!put_words(words, PD_LENGTH(words), bits, text))
        pd_text_string(text, "N/A");
    put_hit(bits, text);
}

static void put_lock(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    uint64_t lock = PD_DATA_SRC_PART(source, LOCK);
    pd_text_string(text, lock & 1 ? "N/A" : lock & 2 ? "Yes" : "No");
}

static void put_blocked(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    uint64_t bits = PD_DATA_SRC_PART(source, BLK);
    if (bits & 1)
        pd_text_string(text, " N/A");
    if (bits & 2)
        pd_text_string(text, " Data");
    if (bits & 4)
        pd_text_string(text, " Addr");
    if (!bits)
        pd_text_string(text, " N/A");
}

static void put_region(uint64_t region, struct pd_text *text)
{
    const char *name = pd_name_of(&pd_names_mem_region, region);
    pd_text_string(text, "|RGN ");
    if (name)
        pd_text_string(text, name);
    else
        pd_text_hex_prefixed(text, region);
}

void pd_data_source_text(uint64_t source, bool as_perf, struct pd_text *text)
{
    static const struct {
        const char *head;
        void (*put)(uint64_t source, bool as_perf, struct pd_text *text);
    } parts[] = { { "|OP ", put_operation }, { "|LVL ", put_level }, { "|SNP ", put_snoop },
                  { "|TLB ", put_tlb },      { "|LCK ", put_lock },  { "|BLK ", put_blocked } };
    for (size_t i = 0; i < PD_LENGTH(parts); i++) {
        pd_text_string(text, parts[i].head);
        parts[i].put(source, as_perf, text);
    }
    uint64_t region = PD_DATA_SRC_PART(source, REGION);
    if (region && !as_perf) /* Linux 6.20; perf 6.1 has no word for it */
        put_region(region, text);
}

/* Padded to the longest so far: the samples must come one after another. */
void pd_script_data_source(struct pd_script_worker *worker, const struct pd_sample *sample,
                           struct pd_text *text)
{
    pd_text_hex(text, sample->data_src, 16, ' ');
    pd_text_char(text, ' ');
    size_t start = text->length;
    pd_data_source_text(sample->data_src, worker->script->recording->like_perf, text);
    size_t length = text->length - start;
    if (length > worker->script->widest_source)
        worker->script->widest_source = length;
    pd_text_fill(text, ' ', worker->script->widest_source - length);
}

/* ---- */

/* Newest branch first, as in branch stacks; lines of instructions have theirs beside each
 * branch. */
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
    if (plan->fields & PD_FIELD(BRCNTR) &&
        !(plan->fields & (PD_FIELD(BRSTACKINSN) | PD_FIELD(BRSTACKINSNLEN))))
        put_counters(worker, plan, sample, text);
}
