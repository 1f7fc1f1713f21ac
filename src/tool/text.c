/* SPDX-License-Identifier: MIT */
/* Pieces of text -> one text in memory. */
#include "tool/text.h"
#include <stdlib.h>
#include <string.h>

int tool_text_take(void *data, const char *text, size_t length)
{
    struct tool_text *to = data;
    if (to->capacity - to->length <= length) {
        size_t capacity = 2 * (to->capacity + length + 1);
        char *grown = realloc(to->text, capacity);
        if (!grown)
            return 1;
        to->text = grown;
        to->capacity = capacity;
    }
    memcpy(to->text + to->length, text, length);
    to->length += length;
    to->text[to->length] = '\0';
    return 0;
}
