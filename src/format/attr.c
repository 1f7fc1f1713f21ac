/* SPDX-License-Identifier: MIT */
/* perf_event_attr: decoding and the names that follow from it. */
#include "format/names.h"

#define LEAST_ATTR 64 /* the first version's size; 0 in a file means it */

static uint64_t mirror64(uint64_t word)
{
    word = (word >> 1 & UINT64_C(0x5555555555555555)) | (word & UINT64_C(0x5555555555555555)) << 1;
    word = (word >> 2 & UINT64_C(0x3333333333333333)) | (word & UINT64_C(0x3333333333333333)) << 2;
    word = (word >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(word);
}

/* The one field of two bits: mirroring the word must not mirror it. */
static uint64_t exchange_precise(uint64_t flags)
{
    uint64_t low = flags >> PD_ATTR_PRECISE_IP & 1, high = flags >> PD_ATTR_PRECISE_IP_HIGH & 1;
    flags &= ~(UINT64_C(1) << PD_ATTR_PRECISE_IP | UINT64_C(1) << PD_ATTR_PRECISE_IP_HIGH);
    return flags | high << PD_ATTR_PRECISE_IP | low << PD_ATTR_PRECISE_IP_HIGH;
}

uint64_t pd_attr_flags_from_big(uint64_t word)
{
    return exchange_precise(mirror64(word));
}

uint64_t pd_attr_flags_to_big(uint64_t flags)
{
    return mirror64(exchange_precise(flags));
}

uint32_t pd_aux_action_mirror(uint32_t word)
{
    return (uint32_t)(mirror64(word) >> 32);
}

#define LOAD_u16(at) pd_load16(at, swap)
#define LOAD_u32(at) pd_load32(at, swap)
#define LOAD_s32(at) (int32_t) pd_load32(at, swap)
#define LOAD_u64(at) pd_load64(at, swap)
#define LOAD_x64(at) pd_load64(at, swap)
#define LOAD_flags(at) (big ? pd_attr_flags_from_big(pd_load64(at, swap)) : pd_load64(at, swap))
#define LOAD_action(at) (big ? pd_aux_action_mirror(pd_load32(at, swap)) : pd_load32(at, swap))

perfdata_status pd_attr_decode(const uint8_t *bytes, size_t room, bool swap, struct pd_attr *out)
{
    bool big = pd_is_big_endian(swap);
    memset(out, 0, sizeof *out);
    if (room < LEAST_ATTR)
        return PERFDATA_ERROR_BAD_RECORD;
    uint32_t recorded = pd_load32(bytes + 4, swap);
    size_t size = PD_MIN(recorded ? recorded : LEAST_ATTR, room);
#define ATTR_FIELD(offset, kind, name, ...)                                                        \
    if ((offset) + sizeof out->name <= size)                                                       \
        out->name = LOAD_##kind(bytes + (offset));
#define ATTR_FLAG(number, NAME, name)
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
    if (!out->size)
        out->size = LEAST_ATTR;
    return out->size < LEAST_ATTR ? PERFDATA_ERROR_BAD_RECORD : PERFDATA_OK;
}

#define STORE_u16(at, value) pd_store16(at, value, swap)
#define STORE_u32(at, value) pd_store32(at, value, swap)
#define STORE_s32(at, value) pd_store32(at, (uint32_t)(value), swap)
#define STORE_u64(at, value) pd_store64(at, value, swap)
#define STORE_x64(at, value) pd_store64(at, value, swap)
#define STORE_flags(at, value) pd_store64(at, big ? pd_attr_flags_to_big(value) : (value), swap)
#define STORE_action(at, value) pd_store32(at, big ? pd_aux_action_mirror(value) : (value), swap)

void pd_attr_encode(const struct pd_attr *attr, bool swap, uint8_t *to, size_t size)
{
    bool big = pd_is_big_endian(swap);
    memset(to, 0, size);
#define ATTR_FIELD(offset, kind, name, ...)                                                        \
    if ((offset) + sizeof attr->name <= size)                                                      \
        STORE_##kind(to + (offset), attr->name);
#define ATTR_FLAG(number, NAME, name)
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
    pd_store32(to + offsetof(struct pd_attr, size), (uint32_t)size, swap);
}

static void add_modifiers(const struct pd_attr *attr, struct pd_text *out)
{
    static const struct {
        unsigned flag;
        char letter;
    } rings[] = { { PD_ATTR_EXCLUDE_KERNEL, 'k' },
                  { PD_ATTR_EXCLUDE_USER, 'u' },
                  { PD_ATTR_EXCLUDE_HV, 'h' } };
    char letters[16];
    size_t n = 0;
    bool any = false;
    for (size_t i = 0; i < PD_LENGTH(rings); i++)
        any |= pd_attr_flag(attr, rings[i].flag);
    for (size_t i = 0; any && i < PD_LENGTH(rings); i++)
        if (!pd_attr_flag(attr, rings[i].flag))
            letters[n++] = rings[i].letter;
    for (unsigned i = pd_attr_precise_ip(attr); i; i--)
        letters[n++] = 'p';
    bool guest_default = any || n;
    if (pd_attr_flag(attr, PD_ATTR_EXCLUDE_HOST) ||
        pd_attr_flag(attr, PD_ATTR_EXCLUDE_GUEST) == guest_default) {
        if (!pd_attr_flag(attr, PD_ATTR_EXCLUDE_HOST))
            letters[n++] = 'H';
        if (!pd_attr_flag(attr, PD_ATTR_EXCLUDE_GUEST))
            letters[n++] = 'G';
    }
    if (n) {
        pd_text_char(out, ':');
        pd_text_bytes(out, letters, n);
    }
}

static void name_cache(uint64_t config, struct pd_text *out)
{
    uint64_t id = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;
    const char *cache = pd_name_of(&pd_names_cache_id, id),
               *access = pd_name_of(&pd_names_cache_op, op);
    const char *outcome = pd_name_of(&pd_names_cache_result, result);
    bool read_only = id == PD_CACHE_ITLB || id == PD_CACHE_BPU;
    if (!cache || !access || !outcome) {
        pd_text_string(out, !cache    ? "unknown-ext-hardware-cache-type"
                            : !access ? "unknown-ext-hardware-cache-op"
                                      : "unknown-ext-hardware-cache-result");
        return;
    }
    if ((read_only && op != PD_CACHE_OP_READ) || (id == PD_CACHE_L1I && op == PD_CACHE_OP_WRITE)) {
        pd_text_string(out, "invalid-cache");
        return;
    }
    pd_text_string(out, cache);
    pd_text_char(out, '-');
    pd_text_string(out,
                   result == PD_CACHE_RESULT_MISS ? access : pd_name_of(&pd_names_cache_ops, op));
    if (result == PD_CACHE_RESULT_MISS) {
        pd_text_char(out, '-');
        pd_text_string(out, outcome);
    }
}

static void name_breakpoint(const struct pd_attr *attr, struct pd_text *out)
{
    pd_text_string(out, "mem:0x");
    pd_text_hex(out, attr->bp_addr, 0, ' ');
    pd_text_char(out, ':');
    for (const struct pd_name *bit = pd_names_bp_type.items; bit->text; bit++)
        if (attr->bp_type & bit->value)
            pd_text_string(out, bit->text);
}

static void name_hardware(uint64_t config, struct pd_text *out)
{
    const char *name = pd_name_of(&pd_names_hardware, config & UINT32_MAX);
    bool hybrid = config >>
                  32; /* a core PMU's number: perf's fallback when the machine has no such PMU */
    if (!name)
        name = "unknown-hardware";
    if (hybrid)
        pd_text_string(out, "cpu/");
    pd_text_string(out, name);
    if (hybrid)
        pd_text_char(out, '/');
}

void pd_attr_name(const struct pd_attr *attr, struct pd_text *out)
{
    const char *software;
    switch (attr->type) {
    case PD_TYPE_HARDWARE: name_hardware(attr->config, out); break;
    case PD_TYPE_SOFTWARE:
        software = pd_name_of(&pd_names_software, attr->config);
        pd_text_string(out, software ? software : "unknown-software");
        break;
    case PD_TYPE_HW_CACHE: name_cache(attr->config, out); break;
    case PD_TYPE_RAW:
        pd_text_string(out, "raw 0x");
        pd_text_hex(out, attr->config, 0, ' ');
        break;
    case PD_TYPE_BREAKPOINT: name_breakpoint(attr, out); break;
    case PD_TYPE_TRACEPOINT: pd_text_string(out, "unknown tracepoint"); return;
    default:
        pd_text_string(out, "unknown attr type: ");
        pd_text_i64(out, (int32_t)attr->type, 0);
        return;
    }
    add_modifiers(attr, out);
}
