/* SPDX-License-Identifier: MIT */
/* Call frame information -> the part that speaks of some addresses: whole entries, moved
 * together. */
#include "object/frames/table.h"
#include <dwarf.h>

struct cutting {
    struct pd_frame_section *section;
    struct pd_text *out;
    struct pd_map64 placed; /* a chunk's place -> its new one */
    size_t functions;
};

/* A chunk as it is; its new place. Only those of damaged files overlap, and would fill more than
 * the section. False: damaged, or no memory. */
static bool put_chunk(struct cutting *cutting, uint64_t at, struct pd_frame_chunk *chunk,
                      uint64_t *place)
{
    *place = cutting->out->length;
    if (!pd_frame_chunk_read(cutting->section, at, chunk) ||
        *place + (chunk->next - at) > PD_MIN(cutting->section->size, (size_t)UINT32_MAX / 2))
        return false;
    pd_text_bytes(cutting->out, cutting->section->bytes + at, (size_t)(chunk->next - at));
    return !cutting->out->failed && pd_map64_set(&cutting->placed, at, (uint32_t)*place);
}

/* Adds to a number of the new chunk. */
static bool shift_number(struct cutting *cutting, uint64_t place, unsigned size, uint64_t by)
{
    uint8_t *at = (uint8_t *)cutting->out->data + place;
    bool swap = cutting->section->swap;
    if (!pd_range_ok(place, size, cutting->out->length))
        return false;
    switch (size) {
    case 2: pd_store16(at, (uint16_t)(pd_load16(at, swap) + by), swap); return true;
    case 4: pd_store32(at, (uint32_t)(pd_load32(at, swap) + by), swap); return true;
    case 8: pd_store64(at, pd_load64(at, swap) + by, swap); return true;
    default: return false;
    }
}

/* 0: of no fixed size. */
static unsigned size_of(const struct pd_frame_common *common)
{
    switch (common->encoding & 0x0f) {
    case DW_EH_PE_absptr: return common->address_size;
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2: return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4: return 4;
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8: return 8;
    default: return 0;
    }
}

static bool put_entry(struct cutting *cutting, uint64_t at, uint64_t common_at,
                      const struct pd_frame_common *common)
{
    const bool is_debug = cutting->section->is_debug;
    struct pd_frame_chunk chunk;
    uint64_t place, common_place;
    uint32_t known = pd_map64_get(&cutting->placed, common_at);
    if (known != PD_MAP64_NONE)
        common_place = known;
    else if (!put_chunk(cutting, common_at, &chunk, &common_place))
        return false;
    if (!put_chunk(cutting, at, &chunk, &place))
        return false;
    const unsigned id_size = is_debug && chunk.is_wide ? 8 : 4;
    const uint64_t id_place = chunk.id_place - at + place;
    const uint64_t id = is_debug ? common_place : id_place - common_place;
    cutting->functions++;
    if (!shift_number(cutting, id_place, id_size, id - chunk.id))
        return false;
    return (common->encoding & 0xf0) != DW_EH_PE_pcrel ||
           shift_number(cutting, id_place + id_size, size_of(common), at - place);
}

static bool cut_section(struct pd_frame_section *section, const uint64_t *addresses, size_t count,
                        struct pd_text *out, size_t *functions)
{
    struct cutting cutting = { .section = section, .out = out };
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        struct pd_frame_common common;
        uint64_t at, common_at;
        if (pd_frame_entry_chunks(section, addresses[i], &at, &common_at, &common) &&
            pd_map64_get(&cutting.placed, at) == PD_MAP64_NONE)
            ok = put_entry(&cutting, at, common_at, &common);
    }
    if (out->length && !section->is_debug)
        pd_text_fill(out, '\0', 4); /* the end of the list */
    *functions += cutting.functions;
    pd_map64_free(&cutting.placed);
    return ok && !out->failed;
}

bool pd_frame_rules_cut(struct pd_frame_rules *rules, const uint64_t *addresses, size_t count,
                        struct pd_frame_cut *out)
{
    *out = (struct pd_frame_cut){ .functions = 0 };
    pthread_mutex_lock(&rules->lock);
    bool ok = cut_section(&rules->eh, addresses, count, &out->eh, &out->functions) &&
              cut_section(&rules->debug, addresses, count, &out->debug, &out->functions);
    pthread_mutex_unlock(&rules->lock);
    return ok;
}
