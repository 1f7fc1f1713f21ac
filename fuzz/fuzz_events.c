/* SPDX-License-Identifier: MIT */
/* perf's -e and address filters, under the running machine's sysfs. */
#include "record/events.h"
#include "record/filter.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_context context;
    struct pd_events events = { 0 };
    struct pd_roots roots = { NULL };
    struct pd_text filter = { 0 };
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    pd_context_init(&context);
    (void)pd_events_parse(&context, &roots, text, &events);
    pd_events_free(&events);
    /* files are read by targets of their own */
    if (!strpbrk(text, "@"))
        (void)pd_filter_resolve(&context, &roots, text, &filter);
    pd_text_free(&filter);
    pd_context_fini(&context);
    free(text);
    return 0;
}
