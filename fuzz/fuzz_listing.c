/* SPDX-License-Identifier: MIT */
/* objdump's text of a function: the input's first bytes say where the function lies. */
#include "base/vec.h"
#include "render/annotate/instruction.h"
#include "render/annotate/listing.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *no_symbol(const void *data, uint64_t address)
{
    (void)data;
    return address & 1 ? "odd" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD = 4 };
    struct pd_listing listing;
    struct pd_instruction_frame frame = { .name_width = 8, .symbol = no_symbol };
    struct pd_text text = { 0 };
    size_t bytes = 0;
    if (size < HEAD)
        return 0;
    uint64_t start = (uint64_t)(data[0] | data[1] << 8) << (data[2] & 40), end = start + data[3];
    pd_listing_parse((const char *)data + HEAD, size - HEAD, "/bin/a", start, end, data[2] & 1,
                     &listing);
    for (size_t i = 0; i < listing.lines.count; i++) {
        const struct pd_listing_line *line = &listing.lines.data[i];
        struct pd_instruction instruction = pd_instruction_parse(pd_listing_text(&listing, i));
        frame.start = start;
        frame.end = end;
        text.length = 0;
        pd_instruction_put(&instruction, &frame, &text);
        pd_instruction_put_raw(&instruction, frame.name_width, &text);
        bytes += text.length;
        if ((line->offset != PD_LISTING_NO_OFFSET && line->offset >= end - start) ||
            line->next <= i || line->next > listing.lines.count)
            abort();
    }
    pd_text_free(&text);
    pd_listing_free(&listing);
    return bytes == SIZE_MAX;
}
