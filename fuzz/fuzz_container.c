/* SPDX-License-Identifier: MIT */
/* Recordings of any bytes: opening, every feature, the texts about them, and a walk over all
 * records in both orders with every sample decoded. */
#include <perfdata/perfdata.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int drop(void *data, const char *text, size_t length)
{
    (void)data, (void)text, (void)length;
    return 0;
}

static void look_at(const perfdata_record *record)
{
    struct perfdata_identity identity = { .struct_size = sizeof identity };
    const perfdata_sample *sample;
    size_t length;
    uint64_t value, sum = 0;
    perfdata_record_identity(record, &identity);
    const uint8_t *bytes = perfdata_record_bytes(record, &length);
    for (size_t i = 0; i < length; i++) /* all of it can be read */
        sum += bytes[i];
    perfdata_record_sample(record, &sample);
    if (!sample)
        return;
    for (uint32_t field = 0; field <= PERFDATA_SAMPLE_CODE_PAGE_SIZE; field++)
        perfdata_sample_value(sample, field, &value);
    for (size_t i = 0; i < perfdata_sample_callchain_count(sample); i++)
        sum += perfdata_sample_callchain(sample, i);
    for (uint32_t number = 0; number < 64; number++)
        if (perfdata_sample_register(sample, number & 1, number, &value) == PERFDATA_OK)
            sum += value;
    const uint8_t *raw = perfdata_sample_raw(sample, &length);
    for (size_t i = 0; raw && i < length; i++)
        sum += raw[i];
    const uint8_t *stack = perfdata_sample_stack(sample, &length);
    for (size_t i = 0; stack && i < length; i++)
        sum += stack[i];
    volatile uint64_t used = sum;
    (void)used;
}

static void walk(perfdata_recording *recording, uint32_t order)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    const perfdata_record *record;
    perfdata_cursor *cursor;
    uint64_t before = 0, number;
    options.order = order;
    if (perfdata_cursor_open(recording, &options, &cursor) < 0)
        return;
    while (perfdata_cursor_next(cursor, &record) > 0) {
        number = perfdata_record_number(record);
        if (number <= before)
            abort();
        before = number;
        look_at(record);
    }
    perfdata_cursor_close(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording;
    options.max_decompressed = 64 << 20;
    if (perfdata_recording_open_memory(data, size, &options, &recording) == PERFDATA_OK) {
        perfdata_header_print(recording, PERFDATA_HEADER_FULL, drop, NULL);
        perfdata_header_print(recording, PERFDATA_HEADER_JSON, drop, NULL);
        perfdata_evlist_print(recording, PERFDATA_EVLIST_VERBOSE, drop, NULL);
        perfdata_evlist_print(recording, PERFDATA_EVLIST_GROUP, drop, NULL);
        perfdata_evlist_print(recording, PERFDATA_EVLIST_JSON, drop, NULL);
        walk(recording, PERFDATA_FILE_ORDER);
        walk(recording, PERFDATA_DELIVERY_ORDER);
    }
    perfdata_recording_close(recording);
    return 0;
}
