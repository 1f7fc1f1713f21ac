/* SPDX-License-Identifier: MIT */
/* Reading by a row, for the walk and for the checksum's short way. */
#ifndef PD_ROW_READ_H
#define PD_ROW_READ_H
#include "format/rows.h"

#define PD_ROW_REGISTERS 8

PD_INLINE uint64_t pd_row_number(enum pd_kind kind, const uint8_t *at, bool swap)
{
    bool big = pd_is_big_endian(swap);
    uint64_t value;
    switch (kind) {
    case PD_KIND_flags:
        value = pd_load64(at, swap);
        return big ? pd_attr_flags_from_big(value) : value;
    case PD_KIND_action:
        return big ? pd_aux_action_mirror(pd_load32(at, swap)) : pd_load32(at, swap);
    case PD_KIND_wide_size: return (uint32_t)pd_load16(at, swap) << 16 | pd_load16(at + 2, swap);
    case PD_KIND_s32: return (uint64_t)(int64_t)(int32_t)pd_load32(at, swap);
    default: break;
    }
    switch (pd_kinds[kind].least) {
    case 1: return *at;
    case 2: return pd_load16(at, swap);
    case 4: return pd_load32(at, swap);
    default: return pd_load64(at, swap);
    }
}

/* Whether the field is there; `left`: bytes that the body still has. */
PD_INLINE bool pd_row_holds(const struct pd_row *row, const uint64_t *registers, uint16_t misc,
                            size_t left)
{
    uint64_t value = registers[row->when_register];
    switch ((enum pd_when)row->when) {
    case PD_WHEN_ALWAYS: return true;
    case PD_WHEN_EQ: return value == row->value;
    case PD_WHEN_LE: return value <= row->value;
    case PD_WHEN_GE: return value >= row->value;
    case PD_WHEN_EQ2:
        return value == row->value && registers[row->also_register] == row->also_value;
    case PD_WHEN_EQ_ROOM: return value == row->value && left > 0;
    case PD_WHEN_MISC: return misc >> row->value & 1;
    case PD_WHEN_NOT_MISC: return !(misc >> row->value & 1);
    case PD_WHEN_ROOM: return left > 0;
    case PD_WHEN_ODD: return left % 16 == 8;
    }
    return false;
}

#endif
