/* SPDX-License-Identifier: MIT */
/* One number over the fields of a record: a chain of multiplications, each field a link. Arrays and
 * bytes have a digest of their own in two lanes, since call chains and stacks are most of a
 * recording. */
#include "format/row_read.h"
#include "format/sample_visit.h"

#define SEED UINT64_C(0x243f6a8885a308d3)
#define FIRST UINT64_C(0x9e3779b97f4a7c15)
#define SECOND UINT64_C(0xd6e8feb86659fd93)

PD_INLINE uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

PD_INLINE uint64_t link_of(uint64_t hash, uint64_t value)
{
    return mix(hash ^ value, FIRST) + value;
}

PD_INLINE uint64_t digest_words(const uint8_t *at, size_t count, bool swap)
{
    uint64_t a = SEED ^ count, b = SEED;
    for (; count >= 2; count -= 2, at += 16) {
        a = link_of(a, pd_load64(at, swap));
        b = mix(b ^ pd_load64(at + 8, swap), SECOND) + 1;
    }
    if (count)
        a = link_of(a, pd_load64(at, swap));
    return a ^ mix(b, FIRST);
}

/* Bytes are the same in both orders: read as little-endian words. */
static uint64_t digest_bytes(const uint8_t *at, size_t size)
{
    bool swap = pd_is_big_endian(false);
    uint64_t hash = digest_words(at, size / 8, swap);
    uint8_t tail[8] = { 0 };
    if (size % 8) {
        memcpy(tail, at + size / 8 * 8, size % 8);
        hash = link_of(hash, pd_load64(tail, swap));
    }
    return link_of(hash, size);
}

static uint64_t digest_branches(const struct pd_field *field)
{
    uint64_t hash = SEED;
    bool big = pd_is_big_endian(field->swap);
    for (size_t i = 0; i < field->length; i++) {
        const uint8_t *at = field->data + 24 * i;
        uint64_t flags = pd_load64(at + 16, field->swap);
        hash = link_of(hash,
                       pd_load64(at, field->swap) + mix(pd_load64(at + 8, field->swap), SECOND));
        hash = link_of(hash, big ? pd_branch_flags_from_big(flags) : flags);
    }
    return hash;
}

static uint64_t digest_narrow(const struct pd_field *field)
{
    struct pd_array array = { field->data, field->length,
                              (uint8_t)(field->length ? field->size / field->length : 8),
                              field->swap };
    uint64_t hash = SEED;
    for (size_t i = 0; i < field->length; i++)
        hash = link_of(hash, pd_array_at(&array, i));
    return hash;
}

/* The kind is a constant where this is inlined for samples. */
PD_INLINE void add_field(void *data, const struct pd_field *field)
{
    uint64_t *hash = data, value = field->value;
    switch (field->kind) {
    case PD_KIND_x64s:
    case PD_KIND_u64s:
    case PD_KIND_regs_user:
    case PD_KIND_regs_intr: value = digest_words(field->data, field->length, field->swap); break;
    case PD_KIND_branches: value = digest_branches(field); break;
    case PD_KIND_u16s:
    case PD_KIND_u32s: value = digest_narrow(field); break;
    case PD_KIND_text:
    case PD_KIND_lstr:
    case PD_KIND_zstr:
    case PD_KIND_char16:
    case PD_KIND_char64:
    case PD_KIND_char256: value = digest_bytes(field->data, field->length); break;
    case PD_KIND_bytes8:
    case PD_KIND_bytes20:
    case PD_KIND_sized:
    case PD_KIND_rest:
    case PD_KIND_raw: value = digest_bytes(field->data, field->size); break;
    case PD_KIND_align: return;
    default: break;
    }
    *hash = link_of(*hash, value);
}

struct summer {
    struct pd_sink sink;
    uint64_t hash;
};

static void sum_field(struct pd_sink *sink, const struct pd_field *field)
{
    add_field(&((struct summer *)sink)->hash, field);
}

static void sum_open(struct pd_sink *sink, const struct pd_field *field)
{
    (void)sink;
    (void)field;
}

static void sum_close(struct pd_sink *sink)
{
    (void)sink;
}

/* Any record; samples that are whole take the short way below, to the same number. */
uint64_t pd_record_checksum_walk(const struct pd_fields_input *input)
{
    struct summer summer = { { sum_field, sum_open, sum_close, false, false }, SEED };
    (void)pd_fields_walk(input, &summer.sink);
    return summer.hash;
}

PD_INLINE bool sum_sample(const struct pd_event *event, const uint8_t *record, uint32_t size,
                          bool swap, uint64_t *hash)
{
    struct pd_sample sample;
    uint64_t type = event->plan.sample_type;
    if (size < event->plan.fixed_size || type >= PD_SAMPLE_END ||
        pd_sample_decode(event, record, size, &sample) != PERFDATA_OK || sample.parts_end != size)
        return false;
    uint64_t sum = SEED;
    sum = link_of(sum, PD_RECORD_SAMPLE);
    sum = link_of(sum, sample.misc);
    sum = link_of(sum, pd_load16(record + 6, swap));
    visit_fixed(add_field, &sum, type, record + 8, swap);
    visit_parts(add_field, &sum, type, &sample);
    *hash = sum;
    return true;
}

/* Sums a body of numbers with a text at its end, as sideband records have, by loads alone. False:
 * the body is another one, or damaged. */
PD_INLINE bool sum_rows(const struct pd_row *row, const uint8_t *at, const uint8_t *end, bool swap,
                        uint16_t misc, uint64_t *hash)
{
    uint64_t registers[PD_ROW_REGISTERS] = { 0 }, sum = *hash;
    for (; row->name; row++) {
        size_t left = (size_t)(end - at), size = pd_kinds[row->kind].least;
        if (row->when && !pd_row_holds(row, registers, misc, left))
            continue;
        switch (pd_kinds[row->kind].shape) {
        case PD_SHAPE_NUMBER:
            if (left < size)
                return false;
            registers[row->save] = pd_row_number((enum pd_kind)row->kind, at, swap);
            sum = link_of(sum, registers[row->save]);
            break;
        case PD_SHAPE_TEXT:
            if (row->kind != PD_KIND_text)
                return false;
            size = left;
            sum = link_of(sum, digest_bytes(at, strnlen((const char *)at, left)));
            break;
        default: return false;
        }
        at += size;
    }
    *hash = sum;
    return at == end;
}

PD_INLINE bool sum_record(const struct pd_fields_input *input,
                          const struct pd_record_header *header, bool swap, uint64_t *hash)
{
    const struct pd_event *event = header->type < PD_RECORD_KERNEL_END ? input->event : NULL;
    const struct pd_row *rows = pd_record_rows(header->type, NULL);
    uint32_t trailer = event ? event->plan.trailer_size : 0;
    const uint8_t *end = input->record + input->size - trailer;
    if (!rows || header->type >= PD_RECORD_WIDE || trailer > input->size - 8)
        return false;
    uint64_t sum = SEED;
    sum = link_of(sum, header->type);
    sum = link_of(sum, header->misc);
    sum = link_of(sum, pd_load16(input->record + 6, swap));
    if (!sum_rows(rows, input->record + 8, end, swap, header->misc, &sum))
        return false;
    if (trailer)
        visit_trailer(add_field, &sum, event->plan.sample_type, end, swap);
    *hash = sum;
    return true;
}

uint64_t pd_record_checksum(const struct pd_fields_input *input)
{
    const struct pd_event *event = input->event;
    const uint8_t *record = input->record;
    bool swap = input->swap;
    struct pd_record_header header = pd_record_header(record, swap);
    uint64_t hash;
    if (header.type != PD_RECORD_SAMPLE) {
        if (swap ? sum_record(input, &header, true, &hash)
                 : sum_record(input, &header, false, &hash))
            return hash;
    } else if (event && event->plan.swap == swap &&
               (swap ? sum_sample(event, record, input->size, true, &hash)
                     : sum_sample(event, record, input->size, false, &hash))) {
        return hash;
    }
    return pd_record_checksum_walk(input);
}
