/* SPDX-License-Identifier: MIT */
/* Any text as a text recording; any bytes as a recording, whose text recording must give the same
 * bytes again. */
#include "textrec/pdt.h"
#include <perfdata/text_recording.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    PD_VEC(uint8_t) out;
};

static bool put(void *data, uint64_t offset, const void *bytes, size_t size)
{
    struct bytes *to = data;
    if (!pd_range_ok(offset, size, to->out.count))
        abort(); /* only what has been written before is written again */
    memcpy(to->out.data + offset, bytes, size);
    return true;
}

static bool assemble(const char *text, size_t length, struct bytes *to)
{
    struct pdt pdt = { 0 };
    bool ok = true;
    while (ok && length) {
        struct pdt_scan scan = { 0 };
        size_t size = PD_MIN(pdt_scan(&scan, text, length), length);
        ok = pdt_take(&pdt, text, size);
        if (ok && pd_vec_reserve(&to->out, to->out.count + pdt.out.length + 1)) {
            if (pdt.out.length)
                memcpy(to->out.data + to->out.count, pdt.out.data, pdt.out.length);
            to->out.count += pdt.out.length;
        }
        pdt.position += pdt.out.length;
        text += size;
        length -= size;
    }
    ok = ok && pdt_finish(&pdt, put, to);
    if (!ok && pdt.item.error_at > pdt.item.length)
        abort();
    pdt_free(&pdt);
    return ok;
}

static int keep(void *data, const char *text, size_t length)
{
    pd_text_bytes(data, text, length);
    return 0;
}

static void round_trip(const uint8_t *data, size_t size)
{
    struct pd_text text = { 0 };
    struct bytes again = { 0 };
    perfdata_recording *recording = NULL;
    (void)perfdata_recording_open_memory(data, size, NULL, &recording);
    if (recording && perfdata_textrec_print(recording, 0, keep, &text, NULL) == PERFDATA_OK)
        if (!assemble(text.data, text.length, &again) || again.out.count != size ||
            (size && memcmp(again.out.data, data, size) != 0))
            abort();
    perfdata_recording_close(recording);
    pd_vec_free(&again.out);
    pd_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes out = { 0 };
    if (size > 8 && (!memcmp(data, "PERF", 4) || !memcmp(data, "2ELI", 4)))
        round_trip(data, size);
    else
        (void)assemble((const char *)data, size, &out);
    pd_vec_free(&out.out);
    return 0;
}
