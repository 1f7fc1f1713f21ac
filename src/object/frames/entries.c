/* SPDX-License-Identifier: MIT */
/* Call frame information -> the entry of the function that holds an address: by the table that the
 * linker sorted, or by one that is made of all entries. */
#include "object/frames/table.h"
#include <dwarf.h>

enum { TABLE_ENCODING = DW_EH_PE_datarel | DW_EH_PE_sdata4, AUGMENTATION_MAX = 16 };

/* ---- addresses ---- */

static uint64_t mask_of(const struct pd_frame_section *section)
{
    return section->word == 4 ? UINT32_MAX : UINT64_MAX;
}

/* A number in the form of an address, not yet relative to anything. */
static uint64_t number(struct pd_frame_bytes *bytes, uint8_t encoding, unsigned word)
{
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr: return pd_frame_number(bytes, word);
    case DW_EH_PE_uleb128: return pd_frame_uleb(bytes);
    case DW_EH_PE_udata2: return pd_frame_number(bytes, 2);
    case DW_EH_PE_udata4: return pd_frame_number(bytes, 4);
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8: return pd_frame_number(bytes, 8);
    case DW_EH_PE_sleb128: return (uint64_t)pd_frame_sleb(bytes);
    case DW_EH_PE_sdata2: return (uint64_t)pd_frame_signed(bytes, 2);
    case DW_EH_PE_sdata4: return (uint64_t)pd_frame_signed(bytes, 4);
    default: bytes->missing = true; return 0;
    }
}

/* Other bases than the place itself are not known here. */
static uint64_t code_address(const struct pd_frame_section *section, struct pd_frame_bytes *bytes,
                             uint8_t encoding, unsigned word)
{
    uint64_t place = section->address + (uint64_t)(bytes->at - section->bytes);
    uint64_t value = number(bytes, encoding, word);
    if ((encoding & 0xf0) == DW_EH_PE_pcrel)
        value += place;
    else if (encoding & 0xf0)
        bytes->missing = true;
    return value & mask_of(section);
}

/* ---- entries ---- */

/* False at the end of the section, and where it is damaged. */
static bool read_chunk(const struct pd_frame_section *section, uint64_t at,
                       struct pd_frame_chunk *out)
{
    if (at >= section->size)
        return false;
    struct pd_frame_bytes bytes = { section->bytes + at, section->bytes + section->size,
                                    section->swap, false };
    uint64_t length = pd_frame_number(&bytes, 4);
    bool is_wide = length == UINT32_MAX;
    if (is_wide)
        length = pd_frame_number(&bytes, 8);
    if (bytes.missing || !length || length > (size_t)(bytes.end - bytes.at))
        return false;
    bytes.end = bytes.at + length;
    *out = (struct pd_frame_chunk){ .bytes = bytes,
                                    .next = (uint64_t)(bytes.end - section->bytes),
                                    .id_place = (uint64_t)(bytes.at - section->bytes),
                                    .is_wide = is_wide };
    out->id = pd_frame_number(&out->bytes, section->is_debug && is_wide ? 8 : 4);
    return true;
}

static bool is_common(const struct pd_frame_section *section, const struct pd_frame_chunk *chunk)
{
    if (!section->is_debug)
        return !chunk->id;
    return chunk->id == (chunk->is_wide ? UINT64_MAX : UINT32_MAX);
}

/* What the letters of the augmentation say; behind "z" their data can be skipped as a whole. */
static bool read_augmentation(struct pd_frame_bytes *bytes, const char *letters,
                              struct pd_frame_common *out)
{
    if (*letters != 'z')
        return !*letters;
    uint64_t size = pd_frame_uleb(bytes);
    struct pd_frame_bytes data = *bytes;
    if (!pd_frame_take(bytes, size))
        return false;
    data.end = bytes->at;
    out->is_sized = true;
    while (*++letters) {
        switch (*letters) {
        case 'L': (void)pd_frame_number(&data, 1); break;
        case 'R': out->encoding = (uint8_t)pd_frame_number(&data, 1); break;
        case 'P': {
            uint8_t encoding = (uint8_t)pd_frame_number(&data, 1);
            (void)number(&data, encoding, out->address_size);
            break;
        }
        case 'S': out->is_signal = true; break;
        case 'B': /* arm64: the other key signs */
        case 'G': /* arm64: tagged stack */ break;
        default: return !data.missing; /* what is unknown is skipped with what follows it */
        }
    }
    return !data.missing;
}

static bool read_common(const struct pd_frame_section *section, uint64_t at,
                        struct pd_frame_common *out)
{
    struct pd_frame_chunk chunk;
    *out = (struct pd_frame_common){ .address_size = section->word };
    if (!read_chunk(section, at, &chunk) || !is_common(section, &chunk))
        return false;
    struct pd_frame_bytes *bytes = &chunk.bytes;
    unsigned version = (unsigned)pd_frame_number(bytes, 1);
    const char *letters = (const char *)bytes->at;
    size_t room = PD_MIN((size_t)(bytes->end - bytes->at), (size_t)AUGMENTATION_MAX);
    size_t length = strnlen(letters, room);
    if (length == room || !(version == 1 || version == 3 || version == 4))
        return false;
    (void)pd_frame_take(bytes, length + 1);
    if (version == 4) {
        out->address_size = (uint8_t)pd_frame_number(bytes, 1);
        if (pd_frame_number(bytes, 1)) /* segments */
            return false;
    }
    if (!strcmp(letters, "eh")) { /* of gcc 2 */
        (void)pd_frame_take(bytes, section->word);
        letters += 2;
    }
    out->code_unit = pd_frame_uleb(bytes);
    out->data_unit = pd_frame_sleb(bytes);
    uint64_t back = version == 1 ? pd_frame_number(bytes, 1) : pd_frame_uleb(bytes);
    out->back = (uint16_t)PD_MIN(back, (uint64_t)UINT16_MAX);
    if (!read_augmentation(bytes, letters, out) || bytes->missing ||
        (out->address_size != 4 && out->address_size != 8))
        return false;
    out->program = *bytes;
    return true;
}

/* Where what the entry shares with others lies. */
static uint64_t common_place(const struct pd_frame_section *section,
                             const struct pd_frame_chunk *chunk)
{
    return section->is_debug ? chunk->id : chunk->id_place - chunk->id;
}

static bool read_entry(const struct pd_frame_section *section, struct pd_frame_chunk *chunk,
                       struct pd_frame_entry *out)
{
    struct pd_frame_bytes *bytes = &chunk->bytes;
    const struct pd_frame_common *common = &out->common;
    out->start = code_address(section, bytes, common->encoding, common->address_size);
    uint64_t size = number(bytes, common->encoding & 0x0f, common->address_size);
    out->end = out->start + (size & mask_of(section));
    if (out->end < out->start)
        out->end = UINT64_MAX;
    if (common->is_sized)
        (void)pd_frame_take(bytes, pd_frame_uleb(bytes));
    out->program = *bytes;
    return !bytes->missing;
}

static bool entry_at(const struct pd_frame_section *section, uint64_t at,
                     struct pd_frame_entry *out)
{
    struct pd_frame_chunk chunk;
    return read_chunk(section, at, &chunk) && !is_common(section, &chunk) &&
           read_common(section, common_place(section, &chunk), &out->common) &&
           read_entry(section, &chunk, out);
}

/* ---- a table of all entries ---- */

static int compare_places(const void *left, const void *right)
{
    const struct pd_frame_place *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->entry > b->entry) - (a->entry < b->entry);
}

/* Without memory it ends early. */
static void list_entries(struct pd_frame_section *section)
{
    struct pd_frame_entry entry;
    struct pd_frame_chunk chunk;
    uint64_t known = UINT64_MAX; /* whose common part is in `entry` */
    bool usable = false;
    section->is_listed = true;
    for (uint64_t at = 0; read_chunk(section, at, &chunk); at = chunk.next) {
        if (is_common(section, &chunk))
            continue;
        uint64_t place = common_place(section, &chunk);
        if (place != known)
            usable = read_common(section, place, &entry.common);
        known = place;
        if (usable && read_entry(section, &chunk, &entry) && entry.start < entry.end &&
            !pd_vec_push(&section->places, (struct pd_frame_place){ entry.start, entry.end, at }))
            break;
    }
    if (section->places.count)
        qsort(section->places.data, section->places.count, sizeof *section->places.data,
              compare_places);
}

static bool find_listed(struct pd_frame_section *section, uint64_t address, uint64_t *entry)
{
    if (!section->is_listed)
        list_entries(section);
    const struct pd_frame_place *all = section->places.data;
    size_t count = pd_upto(all, section->places.count, start, address);
    if (!count || address >= all[count - 1].end)
        return false;
    *entry = all[count - 1].entry;
    return true;
}

static int64_t table_number(const struct pd_frame_section *section, size_t row, size_t column)
{
    return (int32_t)pd_load32(section->table + 8 * row + 4 * column, section->swap);
}

static bool find_in_table(const struct pd_frame_section *section, uint64_t address, uint64_t *entry)
{
    uint64_t mask = mask_of(section), base = section->table_address;
    size_t low = 0, high = section->table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (((base + (uint64_t)table_number(section, middle, 0)) & mask) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    *entry = ((base + (uint64_t)table_number(section, low - 1, 1)) & mask) - section->address;
    return true;
}

static bool find_place(struct pd_frame_section *section, uint64_t address, uint64_t *at)
{
    if (!section->bytes)
        return false;
    return section->table ? find_in_table(section, address, at) : find_listed(section, address, at);
}

bool pd_frame_entry_find(struct pd_frame_section *section, uint64_t address,
                         struct pd_frame_entry *out)
{
    uint64_t at;
    return find_place(section, address, &at) && entry_at(section, at, out) &&
           address >= out->start && address < out->end;
}

bool pd_frame_chunk_read(const struct pd_frame_section *section, uint64_t at,
                         struct pd_frame_chunk *out)
{
    return read_chunk(section, at, out);
}

bool pd_frame_entry_chunks(struct pd_frame_section *section, uint64_t address, uint64_t *at,
                           uint64_t *common_at, struct pd_frame_common *common)
{
    struct pd_frame_chunk chunk;
    struct pd_frame_entry entry;
    if (!find_place(section, address, at) || !entry_at(section, *at, &entry) ||
        address < entry.start || address >= entry.end || !read_chunk(section, *at, &chunk))
        return false;
    *common_at = common_place(section, &chunk);
    *common = entry.common;
    return true;
}

/* ---- sections ---- */

static const uint8_t *bytes_of(const struct pd_elf *elf, const char *name, GElf_Shdr *header,
                               size_t *size)
{
    struct pd_elf_table table;
    if (!pd_elf_section(elf, name, &table) || table.header.sh_flags & SHF_COMPRESSED)
        return NULL;
    const Elf_Data *data = pd_elf_data(elf, table.section);
    *header = table.header;
    *size = data ? data->d_size : 0;
    return data ? data->d_buf : NULL;
}

/* Only the form that all linkers write is used: there are the entries themselves. */
static void find_table(const struct pd_elf *elf, struct pd_frame_section *section)
{
    enum { HEAD = 12, VERSION = 1 };
    GElf_Shdr header;
    size_t size = 0;
    const uint8_t *bytes = bytes_of(elf, ".eh_frame_hdr", &header, &size);
    if (!bytes || size < HEAD || bytes[0] != VERSION || bytes[2] != DW_EH_PE_udata4 ||
        bytes[3] != TABLE_ENCODING || (bytes[1] & 0x0f) != DW_EH_PE_sdata4)
        return;
    size_t count = pd_load32(bytes + 8, section->swap);
    if (!count || count > (size - HEAD) / 8)
        return;
    section->table = bytes + HEAD;
    section->table_count = count;
    section->table_address = header.sh_addr;
}

static void find_section(const struct pd_elf *elf, const char *name,
                         struct pd_frame_section *section)
{
    GElf_Shdr header;
    section->word = elf->is_64_bit ? 8 : 4;
    section->swap = elf->swapped;
    section->bytes = bytes_of(elf, name, &header, &section->size);
    if (section->bytes)
        section->address = header.sh_addr;
}

void pd_frame_sections_find(struct pd_frame_rules *rules)
{
    find_section(&rules->elf, ".eh_frame", &rules->eh);
    if (rules->eh.bytes)
        find_table(&rules->elf, &rules->eh);
    find_section(&rules->elf, ".debug_frame", &rules->debug);
    rules->debug.is_debug = true;
}

void pd_frame_section_free(struct pd_frame_section *section)
{
    pd_vec_free(&section->places);
    pd_vec_free(&section->steps);
    pd_map64_free(&section->steps_of);
}
