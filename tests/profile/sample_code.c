/* SPDX-License-Identifier: MIT */
/* RECORDING: of each sample its address, the instruction there, the file and line, and the line's
 * text, separated by tabs. */
#include <inttypes.h>
#include <perfdata/perfdata.h>
#include <stdio.h>

static int print_insn(const perfdata_sample *sample)
{
    const uint8_t *bytes;
    uint64_t ip;
    size_t size;
    perfdata_status status = perfdata_sample_insn(sample, &ip, &bytes, &size);
    for (size_t i = 0; i < size; i++)
        printf("%s%02x", i ? " " : "", bytes[i]);
    return status == PERFDATA_OK ? !size : status != PERFDATA_ERROR_NO_DATA;
}

static int print_source(const perfdata_record *record, const perfdata_sample *sample, uint64_t ip)
{
    struct perfdata_source source = { .struct_size = sizeof source };
    perfdata_status status = perfdata_record_source(record, perfdata_sample_cpumode(sample), ip,
                                                    &source);
    if (status == PERFDATA_OK)
        printf("\t%s:%" PRIu32 "\t%.*s", source.file, source.line, (int)source.code_size,
               source.code ? source.code : "");
    return status != PERFDATA_OK && status != PERFDATA_ERROR_NO_DATA;
}

static int print_samples(perfdata_recording *recording)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    const perfdata_sample *sample;
    int wrong = 0;
    options.flags = PERFDATA_CURSOR_RESOLVE;
    if (perfdata_cursor_open(recording, &options, &cursor) < 0)
        return 1;
    while (!wrong && perfdata_cursor_next(cursor, &record) == 1) {
        uint64_t ip;
        if (perfdata_record_type(record) != PERFDATA_RECORD_SAMPLE)
            continue;
        wrong = perfdata_record_sample(record, &sample) < 0 ||
                perfdata_sample_value(sample, PERFDATA_SAMPLE_IP, &ip) < 0;
        if (wrong)
            break;
        printf("%" PRIx64 "\t", ip);
        wrong = print_insn(sample) || print_source(record, sample, ip);
        putchar('\n');
    }
    perfdata_cursor_close(cursor);
    return wrong;
}

/* Without PERFDATA_CURSOR_RESOLVE there is neither. */
static int refuses(perfdata_recording *recording)
{
    perfdata_cursor *cursor;
    const perfdata_record *record;
    const perfdata_sample *sample;
    struct perfdata_source source = { .struct_size = sizeof source };
    const uint8_t *bytes;
    uint64_t ip;
    size_t size;
    int ok = 0;
    if (perfdata_cursor_open(recording, NULL, &cursor) < 0)
        return 0;
    while (perfdata_cursor_next(cursor, &record) == 1)
        if (perfdata_record_type(record) == PERFDATA_RECORD_SAMPLE) {
            ok = perfdata_record_sample(record, &sample) >= 0 &&
                 perfdata_sample_insn(sample, &ip, &bytes, &size) == PERFDATA_ERROR_ARGUMENT &&
                 perfdata_record_source(record, 2, 0, &source) == PERFDATA_ERROR_ARGUMENT;
            break;
        }
    perfdata_cursor_close(cursor);
    return ok;
}

int main(int argc, char **argv)
{
    perfdata_recording *recording;
    if (argc < 2 || perfdata_recording_open(argv[1], NULL, &recording) < 0)
        return 1;
    int wrong = !refuses(recording) || print_samples(recording);
    perfdata_recording_close(recording);
    return wrong;
}
