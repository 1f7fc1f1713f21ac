/* SPDX-License-Identifier: MIT */
/* Bytes -> Intel PT packets. */
#include "itrace/intel_pt/packet.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct extended {
    uint8_t kind, size, offset, length;
    bool ip;
};

static const struct extended extended[256] = {
#define PT_EXT(byte, kind, size, offset, length, ip)                                               \
    [byte] = { PD_PT_##kind, size, offset, length, ip },
#include "itrace/intel_pt/packets.def"
};

static const bool keeps_block[PD_PT_KINDS] = {
#define PT(kind, text, keeps) [PD_PT_##kind] = keeps,
#include "itrace/intel_pt/packets.def"
};

static const uint8_t psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
                                 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

enum { IP_BYTES_RESERVED = 0xff };
static const uint8_t ip_length[8] = { 0, 2, 4, 6, 6, IP_BYTES_RESERVED, 8, IP_BYTES_RESERVED };

static uint64_t little(const uint8_t *p, unsigned length)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < length; i++)
        value |= (uint64_t)p[i] << 8 * i;
    return value;
}

static bool bad(struct pd_pt_packet *out)
{
    *out = (struct pd_pt_packet){ .kind = PD_PT_BAD, .size = 1 };
    return false;
}

/* `value` with its stop bit at `stop`: outcomes below it, the oldest first. */
static void set_outcomes(struct pd_pt_packet *out, uint64_t value, unsigned stop)
{
    out->count = (uint8_t)stop;
    out->payload = stop ? value << (64 - stop) : 0;
}

static bool decode_short_tnt(uint8_t byte, struct pd_pt_packet *out)
{
    *out = (struct pd_pt_packet){ .kind = PD_PT_TNT, .size = 1 };
    set_outcomes(out, byte >> 1, 30 - (unsigned)__builtin_clz(byte));
    return true;
}

static bool decode_cyc(const uint8_t *p, size_t left, struct pd_pt_packet *out)
{
    uint64_t value = p[0] >> 3;
    unsigned size = 1, shift = 5;
    for (bool more = p[0] & 4; more; size++, shift += 7) {
        if (size >= left || size >= 10)
            return bad(out);
        if (shift < 64)
            value |= (uint64_t)(p[size] >> 1) << shift;
        more = p[size] & 1;
    }
    *out = (struct pd_pt_packet){ .kind = PD_PT_CYC, .size = (uint8_t)size, .payload = value };
    return true;
}

static bool decode_ip(const uint8_t *p, size_t left, enum pd_pt_kind kind, struct pd_pt_packet *out)
{
    unsigned code = p[0] >> 5, length = ip_length[code];
    if (length == IP_BYTES_RESERVED || left < 1 + length)
        return bad(out);
    *out = (struct pd_pt_packet){ .kind = (uint8_t)kind,
                                  .size = (uint8_t)(1 + length),
                                  .count = (uint8_t)code };
    out->payload = little(p + 1, length);
    return true;
}

static bool decode_mode(const uint8_t *p, size_t left, struct pd_pt_packet *out)
{
    if (left < 2)
        return bad(out);
    uint8_t bits = p[1];
    *out = (struct pd_pt_packet){ .kind = PD_PT_MODE_EXEC, .size = 2 };
    switch (bits >> 5) {
    case 0:
        if ((bits & 3) == 3)
            return bad(out);
        out->payload = bits & 1 ? 64 : bits & 2 ? 32 : 16;
        out->ip = bits & 4;
        return true;
    case 1:
        if ((bits & 3) == 3)
            return bad(out);
        out->kind = PD_PT_MODE_TSX;
        out->payload = bits & 1;
        out->ip = bits & 2;
        return true;
    default: return bad(out);
    }
}

static bool decode_extended(const uint8_t *p, size_t left, struct pd_pt_packet *out)
{
    const struct extended *row = left < 2 ? &extended[0] : &extended[p[1]];
    if (!row->size || left < row->size)
        return bad(out);
    *out = (struct pd_pt_packet){ .kind = row->kind, .size = row->size, .ip = row->ip };
    out->payload = little(p + row->offset, row->length);
    switch (row->kind) {
    case PD_PT_PSB: return memcmp(p, psb, sizeof psb) == 0 || bad(out);
    case PD_PT_MNT: return p[2] == 0x88 || bad(out);
    case PD_PT_TNT:
        set_outcomes(out, out->payload,
                     out->payload ? 63 - (unsigned)__builtin_clzll(out->payload) : 0);
        break;
    case PD_PT_TMA: out->extra = p[5] | (p[6] & 1u) << 8; break;
    case PD_PT_BBP:
        out->count = p[2] & 0x80 ? 4 : 8;
        out->extra = p[2] & 0x1f;
        break;
    case PD_PT_CFE:
        out->count = p[2] & 0x1f;
        out->ip = p[2] & 0x80;
        break;
    case PD_PT_EVD: out->count = p[2] & 0x3f; break;
    default: break;
    }
    return true;
}

static bool decode_item(const uint8_t *p, size_t left, enum pd_pt_context context,
                        struct pd_pt_packet *out)
{
    unsigned length = context == PD_PT_BLOCK_4 ? 4 : 8;
    if (left < 1 + length)
        return bad(out);
    *out = (struct pd_pt_packet){ .kind = PD_PT_BIP,
                                  .size = (uint8_t)(1 + length),
                                  .count = p[0] >> 3 };
    out->payload = little(p + 1, length);
    return true;
}

static bool decode_other(const uint8_t *p, size_t left, struct pd_pt_packet *out)
{
    switch (p[0] & 0x1f) {
    case 0x0d: return decode_ip(p, left, PD_PT_TIP, out);
    case 0x11: return decode_ip(p, left, PD_PT_TIP_PGE, out);
    case 0x01: return decode_ip(p, left, PD_PT_TIP_PGD, out);
    case 0x1d: return decode_ip(p, left, PD_PT_FUP, out);
    case 0x19: break;
    default: return bad(out);
    }
    switch (p[0]) {
    case 0x99: return decode_mode(p, left, out);
    case 0x19:
        if (left < 8)
            return bad(out);
        *out = (struct pd_pt_packet){ .kind = PD_PT_TSC, .size = 8, .payload = little(p + 1, 7) };
        return true;
    case 0x59:
        if (left < 2)
            return bad(out);
        *out = (struct pd_pt_packet){ .kind = PD_PT_MTC, .size = 2, .payload = p[1] };
        return true;
    default: return bad(out);
    }
}

static bool decode_one(const uint8_t *p, size_t left, enum pd_pt_context context,
                       struct pd_pt_packet *out)
{
    if (context != PD_PT_NO_BLOCK && (p[0] & 7) == 4)
        return decode_item(p, left, context, out);
    if (!(p[0] & 1)) {
        if (p[0] == 2)
            return decode_extended(p, left, out);
        if (p[0])
            return decode_short_tnt(p[0], out);
        *out = (struct pd_pt_packet){ .kind = PD_PT_PAD, .size = 1 };
        return true;
    }
    if ((p[0] & 3) == 3)
        return decode_cyc(p, left, out);
    return decode_other(p, left, out);
}

unsigned pd_pt_packet_decode(const uint8_t *bytes, size_t left, enum pd_pt_context *context,
                             struct pd_pt_packet *out)
{
    bool good = decode_one(bytes, left, *context, out);
    const unsigned own_size = out->size;
    if (out->kind == PD_PT_BBP)
        *context = out->count == 4 ? PD_PT_BLOCK_4 : PD_PT_BLOCK_8;
    else if (!keeps_block[out->kind])
        *context = PD_PT_NO_BLOCK;
    while (good && out->size < 8 && out->size < left && !bytes[out->size])
        out->size++;
    return own_size;
}

/* The same for few bytes. */
static size_t find_psb_slowly(const uint8_t *bytes, size_t size, size_t from)
{
    const uint8_t *found = from < size ? memmem(bytes + from, size - from, psb, sizeof psb) : NULL;
    return found ? (size_t)(found - bytes) : size;
}

#ifdef __SSE2__
/* Any four bytes of a PSB have one of these two values. */
#define EVEN UINT32_C(0x82028202)
#define ODD UINT32_C(0x02820282)

PD_INLINE __m128i in_psb(const uint8_t *p)
{
    const __m128i words = _mm_loadu_si128((const __m128i *)p);
    return _mm_or_si128(_mm_cmpeq_epi32(words, _mm_set1_epi32((int)EVEN)),
                        _mm_cmpeq_epi32(words, _mm_set1_epi32((int)ODD)));
}

/* Whether four bytes among these 64 have one of the two values. */
PD_INLINE bool may_have_psb(const uint8_t *p)
{
    const __m128i low = _mm_or_si128(in_psb(p), in_psb(p + 16));
    const __m128i high = _mm_or_si128(in_psb(p + 32), in_psb(p + 48));
    return _mm_movemask_epi8(_mm_or_si128(low, high)) != 0;
}

/* The PSB that holds the byte at `at`, from where on the bytes alternate as in one; `size`: there
 * is none. */
static size_t psb_around(const uint8_t *bytes, size_t size, size_t from, size_t at)
{
    while (at > from && bytes[at - 1] == (bytes[at] ^ 0x80))
        at--;
    at += bytes[at] != psb[0];
    return size - at >= sizeof psb && !memcmp(bytes + at, psb, sizeof psb) ? at : size;
}

size_t pd_pt_find_psb(const uint8_t *bytes, size_t size, size_t from)
{
    enum { BLOCK = 64 };
    size_t at = from, found;
    for (; at < size && size - at >= BLOCK; at += BLOCK) {
        if (PD_LIKELY(!may_have_psb(bytes + at)))
            continue;
        for (size_t word = at; word < at + BLOCK; word += 4) {
            const uint32_t value = pd_load32(bytes + word, false);
            if ((value == EVEN || value == ODD) &&
                (found = psb_around(bytes, size, from, word)) < size)
                return found;
        }
    }
    return find_psb_slowly(bytes, size, at - from >= sizeof psb ? at - sizeof psb : from);
}
#else
size_t pd_pt_find_psb(const uint8_t *bytes, size_t size, size_t from)
{
    return find_psb_slowly(bytes, size, from);
}
#endif

bool pd_pt_ip(const struct pd_pt_packet *packet, uint64_t *last_ip)
{
    switch (packet->count) {
    case 1: *last_ip = (*last_ip & ~UINT64_C(0xffff)) | packet->payload; return true;
    case 2: *last_ip = (*last_ip & ~UINT64_C(0xffffffff)) | packet->payload; return true;
    case 4: *last_ip = (*last_ip & UINT64_C(0xffff000000000000)) | packet->payload; return true;
    case 3: *last_ip = (uint64_t)((int64_t)(packet->payload << 16) >> 16); return true;
    case 6: *last_ip = packet->payload; return true;
    default: return false;
    }
}
