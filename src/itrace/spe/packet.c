/* SPDX-License-Identifier: MIT */
/* Bytes -> packets of Arm SPE. */
#include "itrace/spe/packet.h"

#define TOP_BYTE (UINT64_C(0xff) << 56)

enum { EXTENDED = 0x20, EXTENDED_MASK = 0xfc };

/* Headers of one byte: header & mask == value; the payload's length is `size`, 0: in the header's
 * bits 4 and 5. */
static const struct {
    uint8_t mask, value, index_mask, size;
    bool extends; /* two bytes of header name more indices */
    enum pd_spe_kind kind;
} headers[] = {
    { 0xff, 0x71, 0, 8, false, PD_SPE_TIMESTAMP }, { 0xcf, 0x42, 0, 0, false, PD_SPE_EVENTS },
    { 0xcf, 0x43, 0, 0, false, PD_SPE_SOURCE },    { 0xfc, 0x64, 3, 4, false, PD_SPE_CONTEXT },
    { 0xfc, 0x48, 3, 1, false, PD_SPE_OPERATION }, { 0xf8, 0xb0, 7, 8, true, PD_SPE_ADDRESS },
    { 0xf8, 0x98, 7, 2, true, PD_SPE_COUNTER },
};

static uint64_t read_payload(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* Padding of `length` bytes and the zeros behind it. */
static void take_padding(const uint8_t *bytes, size_t size, size_t length,
                         struct pd_spe_packet *out)
{
    while (length < PD_SPE_LONGEST && length < size && !bytes[length])
        length++;
    out->kind = PD_SPE_PADDING;
    out->length = (uint8_t)length;
}

/* Headers 0x20 to 0x23, and 0: the next packet begins at a multiple of 2, 4, 8 or 16. */
static void take_alignment(const uint8_t *bytes, size_t size, uint64_t position,
                           struct pd_spe_packet *out)
{
    size_t alignment = (size_t)2 << (bytes[0] & 3);
    size_t length = alignment - (size_t)(position & (alignment - 1));
    if (length <= size)
        take_padding(bytes, size, length, out);
}

/* Its logarithm is in bits 4 and 5. */
static unsigned size_in(uint8_t header)
{
    static const uint8_t sizes[] = { 1, 2, 4, 8 };
    return sizes[header / 16 % 4];
}

static void take_payload(const uint8_t *bytes, size_t size, struct pd_spe_packet *out)
{
    size_t head = (bytes[0] & EXTENDED_MASK) == EXTENDED ? 2 : 1;
    uint8_t header = bytes[head - 1];
    for (size_t i = 0; i < PD_LENGTH(headers); i++) {
        if ((header & headers[i].mask) != headers[i].value || (head == 2 && !headers[i].extends))
            continue;
        unsigned payload = headers[i].size ? headers[i].size : size_in(header);
        if (size < head + payload)
            return;
        out->kind = headers[i].kind;
        out->index = header & headers[i].index_mask;
        if (head == 2)
            out->index |= (uint8_t)((bytes[0] & 3) << 3);
        out->length = (uint8_t)(head + payload);
        out->payload = read_payload(bytes + head, payload);
        return;
    }
}

void pd_spe_packet(const uint8_t *bytes, size_t size, uint64_t position, struct pd_spe_packet *out)
{
    *out = (struct pd_spe_packet){ .kind = PD_SPE_BAD, .length = 1 };
    bool extended = (bytes[0] & EXTENDED_MASK) == EXTENDED;
    if (!bytes[0])
        take_padding(bytes, size, 1, out);
    else if (bytes[0] == 1)
        out->kind = PD_SPE_END;
    else if (extended && size > 1 && !bytes[1])
        take_alignment(bytes, size, position, out);
    else if (!extended || size > 1)
        take_payload(bytes, size, out);
}

/* ---- what payloads mean ---- */

uint64_t pd_spe_code_address(uint64_t payload)
{
    enum { EL1 = 1, EL2 = 2 };
    bool normal = payload >> 63;
    unsigned level = payload >> 61 & 3;
    uint64_t address = payload & ~TOP_BYTE;
    return normal && (level == EL1 || level == EL2) ? address | TOP_BYTE : address;
}

uint64_t pd_spe_data_address(uint64_t payload)
{
    /* Bits 48 to 55 tell the kernel's half from the program's. perf takes any of 0xf0 to 0xff for
     * the kernel's. */
    uint64_t address = payload & ~TOP_BYTE;
    return (address >> 52) == 0xf ? address | TOP_BYTE : address;
}

uint64_t pd_spe_physical_address(uint64_t payload)
{
    return payload & ~TOP_BYTE;
}

bool pd_spe_is_load(const struct pd_spe_packet *operation)
{
    return (operation->index == PD_SPE_LOAD_STORE && !(operation->payload & 1)) ||
           (operation->index == PD_SPE_OTHER && PD_SPE_IS_SVE_OTHER(operation->payload));
}

bool pd_spe_is_store(const struct pd_spe_packet *operation)
{
    return operation->index == PD_SPE_LOAD_STORE && operation->payload & 1;
}
