/* SPDX-License-Identifier: MIT */
/* Tracing data of any bytes, and each of its formats over the rest of the input. */
#include "tracepoint/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_context context;
    pd_context_init(&context);
    struct pd_tracing *tracing = NULL;
    size_t used = 0;
    if (pd_tracing_open(&context, data, size, &used, &tracing) == PERFDATA_OK) {
        struct pd_text out = { 0 };
        for (uint64_t id = 0; id < 512; id++) {
            const struct pd_trace_format *format = pd_tracing_format(tracing, id);
            if (format && out.length < 1 << 20)
                pd_trace_print(format, NULL, data + used, size - used, &out);
        }
        pd_text_free(&out);
        pd_tracing_free(tracing);
    }
    pd_context_fini(&context);
    return 0;
}
