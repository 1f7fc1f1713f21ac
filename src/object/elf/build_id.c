/* SPDX-License-Identifier: MIT */
/* Notes -> the build-id among them; build-ids and their text. */
#include "object/elf/build_id.h"
#include <elf.h>

bool pd_build_id_equal(const struct pd_build_id *a, const struct pd_build_id *b)
{
    const struct pd_build_id *longer = a->size >= b->size ? a : b;
    uint8_t common = PD_MIN(a->size, b->size);

    if (memcmp(a->bytes, b->bytes, common) != 0)
        return false;
    for (uint8_t i = common; i < longer->size; i++)
        if (longer->bytes[i])
            return false;
    return true;
}

size_t pd_build_id_text(const struct pd_build_id *id, char text[2 * PD_BUILD_ID_MAX + 1])
{
    static const char digits[] = "0123456789abcdef";
    size_t length = 0;

    for (uint8_t i = 0; i < id->size && i < PD_BUILD_ID_MAX; i++) {
        text[length++] = digits[id->bytes[i] >> 4];
        text[length++] = digits[id->bytes[i] & 15];
    }
    text[length] = '\0';
    return length;
}

struct pd_build_id pd_build_id_make(const void *bytes, size_t size)
{
    struct pd_build_id id = { .size = (uint8_t)PD_MIN(size, (size_t)PD_BUILD_ID_MAX) };

    if (id.size)
        memcpy(id.bytes, bytes, id.size);
    return id;
}

bool pd_build_id_from_notes(const uint8_t *notes, size_t size, struct pd_build_id *id)
{
    for (size_t at = 0; size - at >= 12;) {
        uint32_t name_size = pd_load32(notes + at, false);
        uint64_t name_room = ((uint64_t)name_size + 3) & ~UINT64_C(3);
        uint64_t room = ((uint64_t)pd_load32(notes + at + 4, false) + 3) & ~UINT64_C(3);
        uint32_t type = pd_load32(notes + at + 8, false);
        at += 12;
        if (name_room > size - at || room > size - at - name_room)
            return false;
        if (type == NT_GNU_BUILD_ID && name_size == sizeof "GNU" && !memcmp(notes + at, "GNU", 4)) {
            *id = pd_build_id_make(notes + at + name_room, (size_t)room);
            return id->size > 0;
        }
        at += (size_t)(name_room + room);
    }
    return false;
}
