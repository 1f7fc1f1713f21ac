/* SPDX-License-Identifier: MIT */
/* Records of any bytes under any attr, in both byte orders: byte 0 says which, then an attr, then
 * the record. Fields cover a record's bytes, so writing them gives it again; a whole record
 * survives the way to the other order and back; the two ways to the checksum agree. */
#include "render/dump/dump.h"
#include "format/fields.h"
#include "format/structs.h"
#include <stdlib.h>

#define ATTR_SIZE 144
#define LARGEST 65528

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void decode(const struct pd_event *event, const uint8_t *record, uint32_t size, bool swap)
{
    static const size_t room = 4096;
    struct pd_record_header header = pd_record_header(record, swap);
    struct pd_arena arena = { 0 };
    struct pd_identity identity;
    struct pd_sample sample;
    size_t struct_size;
    void *out = malloc(room);
    pd_record_identity(event, record, size, header.type, &identity);
    pd_record_time(&event->plan, record, size, header.type);
    if (header.type == PD_RECORD_SAMPLE &&
        pd_sample_decode(event, record, size, &sample) == PERFDATA_OK)
        require(sample.parts_end <= size);
    if (pd_record_rows(header.type, &struct_size)) {
        require(struct_size <= room);
        pd_record_decode(event, record, size, swap, &arena, out, struct_size);
    }
    free(out);
    pd_arena_free(&arena);
}

/* Whether the kernel wrote hw_idx does not show in a sample without branches: the reading that uses
 * the record up is taken. Bytes that no field explains are not turned, so that they may change what
 * is read; and where 16-bit fields would lie in the one reading and 64-bit ones in the other, both
 * may fit once they are turned. */
static bool reads_alike(const struct pd_event *event, const uint8_t *record,
                        const struct pd_event *foreign, const uint8_t *other, uint32_t size,
                        bool swap)
{
    struct pd_sample sample, turned;
    if (pd_load32(record, swap) != PD_RECORD_SAMPLE ||
        !(event->attr.branch_sample_type & PD_BRANCH_SAMPLE_HW_INDEX) ||
        pd_sample_decode(event, record, size, &sample) != PERFDATA_OK || sample.branch_count)
        return true;
    return sample.parts_end == size &&
           pd_sample_decode(foreign, other, size, &turned) == PERFDATA_OK &&
           sample.has_hw_index == turned.has_hw_index;
}

static void round_trip(const struct pd_event *event, const uint8_t *record, uint32_t size,
                       bool swap)
{
    struct pd_event foreign = *event;
    bool big = pd_is_big_endian(swap);
    uint8_t *same = malloc(size), *other = malloc(size), *back = malloc(size);
    struct pd_fields_input input = { event, record, size, swap, 3 };
    perfdata_status status = pd_record_encode(&input, big, same);
    uint64_t sum = pd_record_checksum(&input);
    require(!memcmp(same, record, size));
    require(sum == pd_record_checksum_walk(&input));
    if (status == PERFDATA_OK) {
        pd_plan_make(&event->attr, !swap, &foreign.plan);
        require(pd_record_encode(&input, !big, other) == PERFDATA_OK);
        input = (struct pd_fields_input){ &foreign, other, size, !swap, 3 };
        if (reads_alike(event, record, &foreign, other, size, swap)) {
            require(pd_record_encode(&input, big, back) == PERFDATA_OK);
            require(!memcmp(back, record, size));
        }
    }
    free(same);
    free(other);
    free(back);
}

static void print(const struct pd_event *event, const uint8_t *record, uint32_t size, bool swap)
{
    struct pd_record_header header = pd_record_header(record, swap);
    struct pd_raw raw = { .data = record, .size = size, .type = header.type, .misc = header.misc };
    struct pd_fields_input input = { event, record, size, swap, 3 };
    struct pd_text text = { 0 };
    struct pd_dump dump = { .text = &text, .arch = size & 8 ? "x86_64" : NULL };
    pd_dump_text(&dump, &raw, &input);
    require(dump.depth == 0);
    pd_dump_json(&dump, &raw, &input);
    require(dump.depth == 0 && !text.failed && text.data[text.length - 1] == '\n');
    pd_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_event event = { 0 };
    if (size < 1 + ATTR_SIZE + 8 || size > 1 + ATTR_SIZE + LARGEST)
        return 0;
    bool swap = data[0] & 1;
    pd_attr_decode(data + 1, ATTR_SIZE, swap, &event.attr);
    pd_plan_make(&event.attr, swap, &event.plan);
    struct pd_text name = { 0 };
    pd_attr_name(&event.attr, &name);
    pd_text_free(&name);
    /* A block of its own, so that a sanitizer sees its end. */
    uint32_t record_size = (uint32_t)(size - 1 - ATTR_SIZE);
    uint8_t *record = malloc(record_size);
    memcpy(record, data + 1 + ATTR_SIZE, record_size);
    decode(&event, record, record_size, swap);
    round_trip(&event, record, record_size, swap);
    print(&event, record, record_size, swap);
    free(record);
    return 0;
}
