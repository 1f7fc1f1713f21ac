/* SPDX-License-Identifier: MIT */
/* The walk through a trace: the first part of the input says how, the second is code, which stands
 * again and again at the first 64 KiB of each megabyte, the rest is trace. It must end, and go on
 * after each error. */
#include <perfdata/itrace.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 16, CODE = 256 };

static size_t read_code(void *data, uint64_t ip, uint8_t *bytes, size_t size)
{
    const uint8_t *code = data;
    /* Endless code is decoded for ever: up to max_loops jumps after each TIP. */
    if (ip >> 16 & 15)
        return 0;
    /* In pieces: a look at each byte would take most of the time of the slowest inputs. */
    for (size_t done = 0, at = ip % CODE, piece; done < size; done += piece, at = 0) {
        piece = CODE - at < size - done ? CODE - at : size - done;
        memcpy(bytes + done, code + at, piece);
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t code[CODE] = { 0 };
    uint32_t words[4];
    if (size < HEAD + 1)
        return 0;
    memcpy(words, data, HEAD);
    size_t code_size = size - HEAD < CODE ? size - HEAD : CODE;
    memcpy(code, data + HEAD, code_size);
    struct perfdata_steps_options options = {
        .struct_size = sizeof options,
        .read_code = read_code,
        .data = code,
        .wanted = words[0] & 1 ? words[0] >> 16 : 0,
        .flags = words[0] >> 1 & 15,
        .period = words[0] >> 5 & 7,
        .mtc_period = words[0] >> 8 & 15,
        .tsc_n = words[1],
        .tsc_d = words[2],
        .max_nonturbo = words[3] & 255,
    };
    struct perfdata_step step = { .struct_size = sizeof step };
    perfdata_steps *steps;
    if (perfdata_steps_open(data + HEAD + code_size, size - HEAD - code_size, &options, &steps) < 0)
        return 0;
    uint64_t insns = 0;
    while (perfdata_steps_next(steps, &step)) {
        if (step.insns < insns)
            abort(); /* counts only grow */
        insns = step.insns;
    }
    perfdata_steps_close(steps);
    return 0;
}
