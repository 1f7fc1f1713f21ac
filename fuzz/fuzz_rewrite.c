/* SPDX-License-Identifier: MIT */
/* Recordings of any bytes, repaired, converted, cut, joined with themselves, without names. */
#include <fcntl.h>
#include <perfdata/rewrite.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int drop(void *data, const char *text, size_t length)
{
    (void)data, (void)text, (void)length;
    return 0;
}

/* Each rewriting needs the recording anew. */
static perfdata_recording *open_again(const uint8_t *data, size_t size)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording;
    options.max_records = 20000;
    options.max_decompressed = 16 << 20;
    if (perfdata_recording_open_memory(data, size, &options, &recording) == PERFDATA_OK)
        return recording;
    perfdata_recording_close(recording);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int nowhere = -1;
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct perfdata_output output = { .struct_size = sizeof output, .fd = nowhere };
    struct perfdata_inject_options inject = {
        .struct_size = sizeof inject,
        .flags = PERFDATA_INJECT_ALL_BUILD_IDS | PERFDATA_INJECT_SCHED_STAT,
    };
    struct perfdata_slice_options slice = { .struct_size = sizeof slice, .every = 2, .last = 100 };
    for (unsigned what = 0; what < 6; what++) {
        perfdata_recording *recording = open_again(data, size);
        if (!recording)
            return 0;
        output.byte_order = what == 1 ? PERFDATA_BYTE_ORDER_BIG : PERFDATA_BYTE_ORDER_RECORDED;
        output.compression = what == 2;
        perfdata_recording *both[] = { recording, recording };
        switch (what) {
        case 0: perfdata_repair(recording, &output, NULL); break;
        case 1: perfdata_inject(recording, &output, NULL); break;
        case 2: perfdata_inject(recording, &output, &inject); break;
        case 3: perfdata_slice(recording, &output, &slice); break;
        case 4: perfdata_anonymize(recording, &output, NULL); break;
        default:
            perfdata_merge(both, 2, &output, NULL);
            perfdata_check(recording, drop, NULL, NULL);
        }
        perfdata_recording_close(recording);
    }
    return 0;
}
