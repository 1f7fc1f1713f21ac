/* SPDX-License-Identifier: MIT */
/* An entry of .debug_info that is kept -> what it refers to in other sections. */
#include "object/cut/debug.h"
#include "object/frames/bytes.h"
#include <dwarf.h>

/* How often each byte of a section may be asked for: entries of damaged files may all lead to one
 * long list or text, which is read for each. */
enum { ASKED_MAX = 64 };

struct entry {
    struct pd_cut_debug *debug;
    unsigned version, address_size;
    bool ok;
};

bool pd_cut_debug_keep(struct pd_cut_debug *debug, enum pd_cut_debug_section section,
                       uint64_t offset, uint64_t size)
{
    struct pd_cut_part *part = &debug->parts[section];
    if (!part->bytes || !size)
        return true;
    part->kept += size;
    if (!pd_range_ok(offset, size, part->size) || part->kept / ASKED_MAX > part->size) {
        debug->is_possible = false;
        return true;
    }
    const struct pd_elf_piece piece = { offset, part->bytes + offset, (size_t)size };
    return pd_vec_push(&part->pieces, piece);
}

static bool keep_string(struct pd_cut_debug *debug, const char *text)
{
    static const enum pd_cut_debug_section where[] = { PD_CUT_STR, PD_CUT_LINE_STR };
    for (size_t i = 0; text && i < PD_LENGTH(where); i++) {
        const struct pd_cut_part *part = &debug->parts[where[i]];
        uint64_t offset = (uint64_t)((uintptr_t)text - (uintptr_t)part->bytes);
        if (part->bytes && offset < part->size)
            return pd_cut_debug_keep(debug, where[i], offset, strlen(text) + 1);
    }
    return true;
}

static struct pd_frame_bytes bytes_from(const struct pd_cut_debug *debug,
                                        enum pd_cut_debug_section section, uint64_t offset)
{
    const struct pd_cut_part *part = &debug->parts[section];
    uint64_t at = part->bytes ? PD_MIN(offset, part->size) : 0;
    return (struct pd_frame_bytes){ part->bytes + at, part->bytes + part->size,
                                    debug->like->swapped, !part->bytes };
}

/* Pairs of addresses up to one of zeros. */
static bool keep_pairs(struct pd_cut_debug *debug, uint64_t offset, unsigned address_size)
{
    struct pd_frame_bytes bytes = bytes_from(debug, PD_CUT_RANGES, offset);
    const uint8_t *start = bytes.at;
    uint64_t low, high;
    do {
        low = pd_frame_number(&bytes, address_size);
        high = pd_frame_number(&bytes, address_size);
    } while (!bytes.missing && (low || high));
    return pd_cut_debug_keep(debug, PD_CUT_RANGES, offset, (uint64_t)(bytes.at - start));
}

static bool keep_list(struct pd_cut_debug *debug, uint64_t offset, unsigned address_size)
{
    struct pd_frame_bytes bytes = bytes_from(debug, PD_CUT_RNGLISTS, offset);
    const uint8_t *start = bytes.at;
    for (bool more = true; more && !bytes.missing;) {
        switch (pd_frame_number(&bytes, 1)) {
        case DW_RLE_end_of_list: more = false; break;
        case DW_RLE_base_addressx: (void)pd_frame_uleb(&bytes); break;
        case DW_RLE_startx_endx:
        case DW_RLE_startx_length:
        case DW_RLE_offset_pair:
            (void)pd_frame_uleb(&bytes);
            (void)pd_frame_uleb(&bytes);
            break;
        case DW_RLE_base_address: (void)pd_frame_take(&bytes, address_size); break;
        case DW_RLE_start_end: (void)pd_frame_take(&bytes, 2 * (uint64_t)address_size); break;
        case DW_RLE_start_length:
            (void)pd_frame_take(&bytes, address_size);
            (void)pd_frame_uleb(&bytes);
            break;
        default: bytes.missing = true; break;
        }
    }
    return pd_cut_debug_keep(debug, PD_CUT_RNGLISTS, offset, (uint64_t)(bytes.at - start));
}

/* A unit's line program. */
static bool keep_lines(struct pd_cut_debug *debug, uint64_t offset)
{
    struct pd_frame_bytes bytes = bytes_from(debug, PD_CUT_LINE, offset);
    uint64_t length = pd_frame_number(&bytes, 4), head = 4;
    if (length == UINT32_MAX) {
        length = pd_frame_number(&bytes, 8);
        head = 12;
    }
    if (bytes.missing || length > debug->parts[PD_CUT_LINE].size) {
        debug->is_possible = false;
        return true;
    }
    return pd_cut_debug_keep(debug, PD_CUT_LINE, offset, head + length);
}

static void keep_whole(struct pd_cut_debug *debug, enum pd_cut_debug_section section)
{
    debug->parts[section].is_whole = true;
}

static void keep_tables(struct pd_cut_debug *debug, unsigned form)
{
    switch (form) {
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4: keep_whole(debug, PD_CUT_STR_OFFSETS); break;
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4: keep_whole(debug, PD_CUT_ADDR); break;
    case DW_FORM_rnglistx:
        keep_whole(debug, PD_CUT_ADDR);
        keep_whole(debug, PD_CUT_RNGLISTS);
        break;
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_strp_sup: debug->is_possible = false; break;
    default: break;
    }
}

static int keep_attribute(Dwarf_Attribute *attribute, void *data)
{
    struct entry *entry = data;
    struct pd_cut_debug *debug = entry->debug;
    const unsigned kind = dwarf_whatattr(attribute), form = dwarf_whatform(attribute);
    Dwarf_Word offset;
    keep_tables(debug, form);
    switch (kind) {
    case DW_AT_ranges:
        if (form == DW_FORM_rnglistx || dwarf_formudata(attribute, &offset))
            break;
        entry->ok = entry->version < 5 ? keep_pairs(debug, offset, entry->address_size)
                                       : keep_list(debug, offset, entry->address_size);
        break;
    case DW_AT_stmt_list:
        if (!dwarf_formudata(attribute, &offset))
            entry->ok = keep_lines(debug, offset);
        break;
    case DW_AT_rnglists_base: keep_whole(debug, PD_CUT_RNGLISTS); break;
    case DW_AT_GNU_ranges_base: debug->is_possible = false; break;
    default:
        switch (form) {
        case DW_FORM_strp:
        case DW_FORM_line_strp:
        case DW_FORM_strx:
        case DW_FORM_strx1:
        case DW_FORM_strx2:
        case DW_FORM_strx3:
        case DW_FORM_strx4: entry->ok = keep_string(debug, dwarf_formstring(attribute)); break;
        default: break;
        }
        break;
    }
    return entry->ok ? DWARF_CB_OK : DWARF_CB_ABORT;
}

bool pd_cut_debug_refer(struct pd_cut_debug *debug, Dwarf_Die *die, unsigned version,
                        unsigned address_size)
{
    struct entry entry = { debug, version, address_size, true };
    (void)dwarf_getattrs(die, keep_attribute, &entry, 0);
    return entry.ok;
}
