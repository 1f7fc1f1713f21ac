/* SPDX-License-Identifier: MIT */
/* The trace units that AUXTRACE_INFO describes: a magic number, a CPU and registers each. */
#include "itrace/coresight/coresight.h"

enum {
    VERSION,
    PMU_AND_CPUS,
    SNAPSHOT,
    FIRST_UNIT,
    /* of a unit; version 0 has no number of registers */
    MAGIC = 0,
    CPU,
    REGISTER_COUNT,
    REGISTERS,
};

static const uint64_t magics[] = { UINT64_C(0x3030303030303030), UINT64_C(0x4040404040404040),
                                   UINT64_C(0x5050505050505050) };

enum kind { ETM3, ETM4, ETE, KINDS };

static const struct {
    const char *title;
    unsigned registers;
} kinds[KINDS] = { { "ETMV3", 4 }, { "ETMV4I", 7 }, { "ETE", 8 } };

struct unit {
    enum kind kind;
    uint64_t cpu;
    size_t registers, count; /* where they begin, how many are said to be there */
};

/* The unit at `*at`, which moves behind it; false: there is none that is known. */
static bool next_unit(const struct pd_array *words, size_t *at, struct unit *unit)
{
    bool counted = pd_array_at(words, VERSION) > 0;
    size_t head = counted ? REGISTERS : REGISTER_COUNT;
    if (words->count - *at < head)
        return false;
    uint64_t magic = pd_array_at(words, *at + MAGIC), kind = 0;
    while (kind < KINDS && magics[kind] != magic)
        kind++;
    if (kind == KINDS)
        return false;
    unit->kind = (enum kind)kind;
    unit->cpu = pd_array_at(words, *at + CPU);
    uint64_t count = counted ? pd_array_at(words, *at + REGISTER_COUNT) : kinds[kind].registers;
    unit->registers = *at + head;
    unit->count = (size_t)PD_MIN(count, (uint64_t)(words->count - unit->registers));
    *at = unit->registers + unit->count;
    return true;
}

void pd_coresight_read(const struct pd_array *words, struct pd_coresight *out)
{
    enum { TRACE_ID = 1, IDR0, IDR1, IDR2 };
    struct unit unit;
    memset(out, 0, sizeof *out);
    if (words->count < FIRST_UNIT)
        return;
    out->pmu = (uint32_t)(pd_array_at(words, PMU_AND_CPUS) >> 32);
    for (size_t at = FIRST_UNIT; next_unit(words, &at, &unit);) {
        out->name = unit.kind == ETM3 ? NULL : kinds[unit.kind].title;
        if (unit.kind == ETM3 || unit.count <= IDR2)
            continue;
        size_t id = pd_array_at(words, unit.registers + TRACE_ID) & (PD_CORESIGHT_IDS - 1);
        out->known[id] = true;
        out->config[id] = (struct pd_etm4_config){ pd_array_at(words, unit.registers + IDR0),
                                                   pd_array_at(words, unit.registers + IDR1),
                                                   pd_array_at(words, unit.registers + IDR2) };
    }
}

static void put(const char *name, uint64_t value, struct pd_text *text)
{
    pd_text_format(text, "\t%s       %llx\n", name, (unsigned long long)value);
}

static void put_unit(const struct pd_array *words, const struct unit *unit, struct pd_text *text)
{
    static const char *const names[KINDS][8] = {
        { "ETMCR\t\t\t", "ETMTRACEIDR\t\t", "ETMCCER\t\t\t", "ETMIDR\t\t\t" },
        { "TRCCONFIGR\t\t", "TRCTRACEIDR\t\t", "TRCIDR0\t\t\t", "TRCIDR1\t\t\t", "TRCIDR2\t\t\t",
          "TRCIDR8\t\t\t", "TRCAUTHSTATUS\t\t" },
        { "TRCCONFIGR\t\t", "TRCTRACEIDR\t\t", "TRCIDR0\t\t\t", "TRCIDR1\t\t\t", "TRCIDR2\t\t\t",
          "TRCIDR8\t\t\t", "TRCAUTHSTATUS\t\t", "TRCDEVARCH              " },
    };
    put("Magic number\t\t", magics[unit->kind], text);
    pd_text_format(text, "\tCPU\t\t\t       %lld\n", (long long)unit->cpu);
    if (pd_array_at(words, VERSION) > 0)
        put("NR_TRC_PARAMS\t\t", unit->count, text);
    for (size_t i = 0; i < unit->count; i++) {
        uint64_t value = pd_array_at(words, unit->registers + i);
        if (i < kinds[unit->kind].registers)
            put(names[unit->kind][i], value, text);
        else
            pd_text_format(text, "\tUnknown parameter [%zu]\t       %llx\n", REGISTERS + i,
                           (unsigned long long)value);
    }
}

void pd_coresight_info_text(const struct pd_array *words, struct pd_text *text)
{
    struct unit unit;
    size_t at = FIRST_UNIT;
    if (words->count < FIRST_UNIT)
        return;
    put("Header version\t\t", pd_array_at(words, VERSION), text);
    put("PMU type/num cpus\t", pd_array_at(words, PMU_AND_CPUS), text);
    put("Snapshot\t\t", pd_array_at(words, SNAPSHOT), text);
    while (next_unit(words, &at, &unit))
        put_unit(words, &unit, text);
    if (at < words->count)
        pd_text_format(text, "\tMagic number Unknown\t       %llx\n",
                       (unsigned long long)pd_array_at(words, at));
}
