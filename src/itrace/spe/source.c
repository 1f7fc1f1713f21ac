/* SPDX-License-Identifier: MIT */
/* Where an operation of Arm SPE found its data -> PERF_SAMPLE_DATA_SRC. */
#include "itrace/spe/packet.h"
#include "itrace/spe/record.h"
#include "format/enums.h"

#define PART(NAME, value) ((uint64_t)(value) << PD_DATA_SRC_SHIFT_##NAME)

/* What Neoverse cores say of loads; docs/arm-spe.md. */
static const struct {
    uint16_t source;
    uint64_t data_source;
} neoverse_loads[] = {
    { 0x0, PART(LVL, PD_MEM_LVL_L1 | PD_MEM_LVL_HIT) | PART(LVL_NUM, PD_MEM_LVLNUM_L1) |
               PART(SNOOP, PD_MEM_SNOOP_NONE) },
    { 0x8, PART(LVL, PD_MEM_LVL_L2 | PD_MEM_LVL_HIT) | PART(LVL_NUM, PD_MEM_LVLNUM_L2) |
               PART(SNOOP, PD_MEM_SNOOP_NONE) },
    /* a core of the same cluster; the cache of the cluster; another cluster */
    { 0x9, PART(LVL, PD_MEM_LVL_L2 | PD_MEM_LVL_HIT) | PART(LVL_NUM, PD_MEM_LVLNUM_L2) |
               PART(SNOOPX, PD_MEM_SNOOPX_PEER) },
    { 0xa, PART(LVL, PD_MEM_LVL_L3 | PD_MEM_LVL_HIT) | PART(LVL_NUM, PD_MEM_LVLNUM_L3) |
               PART(SNOOPX, PD_MEM_SNOOPX_PEER) },
    { 0xb, PART(LVL, PD_MEM_LVL_L3 | PD_MEM_LVL_HIT) | PART(LVL_NUM, PD_MEM_LVLNUM_L3) |
               PART(SNOOP, PD_MEM_SNOOP_HIT) },
    { 0xc, PART(LVL, PD_MEM_LVL_L3 | PD_MEM_LVL_HIT) | PART(LVL_NUM, PD_MEM_LVLNUM_L3) |
               PART(SNOOPX, PD_MEM_SNOOPX_PEER) },
    /* another socket */
    { 0xd, PART(LVL, PD_MEM_LVL_NA) | PART(LVL_NUM, PD_MEM_LVLNUM_NA) | PART(REMOTE, 1) |
               PART(SNOOPX, PD_MEM_SNOOPX_PEER) },
    { 0xe, PART(LVL, PD_MEM_LVL_LOC_RAM | PD_MEM_LVL_HIT) | PART(LVL_NUM, PD_MEM_LVLNUM_RAM) |
               PART(SNOOP, PD_MEM_SNOOP_NONE) },
};

/* Neoverse N1, V1 and N2. */
static bool is_neoverse(uint64_t midr)
{
    enum { ARM = 0x41, N1 = 0xd0c, V1 = 0xd40, N2 = 0xd49 };
    uint64_t part = midr >> 4 & 0xfff;
    return (midr >> 24 & 0xff) == ARM && (part == N1 || part == V1 || part == N2);
}

/* Neoverse cores say it of loads only. */
static uint64_t neoverse_source(const struct pd_spe_record *record)
{
    if (!record->loads)
        return PART(LVL, PD_MEM_LVL_NA) | PART(LVL_NUM, PD_MEM_LVLNUM_NA) |
               PART(SNOOP, PD_MEM_SNOOP_NA);
    for (size_t i = 0; i < PD_LENGTH(neoverse_loads); i++)
        if (neoverse_loads[i].source == record->source)
            return neoverse_loads[i].data_source;
    return 0;
}

/* What the events say, which all cores have. */
static uint64_t usual_source(const struct pd_spe_record *record)
{
    uint64_t events = record->events, source = 0;
    if (events & (PD_SPE_LLC_ACCESS | PD_SPE_LLC_REFILL))
        source = PART(LVL, PD_MEM_LVL_L3 |
                               (events & PD_SPE_LLC_REFILL ? PD_MEM_LVL_MISS : PD_MEM_LVL_HIT));
    else if (events & (PD_SPE_L1D_ACCESS | PD_SPE_L1D_REFILL))
        source = PART(LVL, PD_MEM_LVL_L1 |
                               (events & PD_SPE_L1D_REFILL ? PD_MEM_LVL_MISS : PD_MEM_LVL_HIT));
    return events & PD_SPE_REMOTE ? source | PART(REMOTE, 1) : source;
}

uint64_t pd_spe_data_source(const struct pd_spe_record *record, uint64_t midr)
{
    if (!record->loads && !record->stores)
        return 0;
    uint64_t source = is_neoverse(midr) ? neoverse_source(record) : usual_source(record);
    source |= PART(OP, record->loads ? PD_MEM_OP_LOAD : PD_MEM_OP_STORE);
    if (record->events & (PD_SPE_TLB_ACCESS | PD_SPE_TLB_WALK))
        source |= PART(DTLB, PD_MEM_TLB_WK | (record->events & PD_SPE_TLB_WALK ? PD_MEM_TLB_MISS
                                                                               : PD_MEM_TLB_HIT));
    return source;
}
