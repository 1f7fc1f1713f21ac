/* SPDX-License-Identifier: MIT */
/* Words of a list that a user gave, such as "avg, max", and their rows in a table of names. */
#ifndef PD_BASE_LIST_H
#define PD_BASE_LIST_H
#include "base/base.h"

struct pd_list_word {
    const char *text; /* not NUL-terminated */
    size_t length;
};

/* The first word of *list, which then begins behind it; `between`: what may stand between words.
 * False: there is none left. */
PD_INLINE bool pd_list_next(const char **list, const char *between, struct pd_list_word *word)
{
    word->text = *list + strspn(*list, between);
    word->length = strcspn(word->text, between);
    *list = word->text + word->length;
    return word->length != 0;
}

/* The row that has the word as its name, in a table of `count` rows of `stride` bytes that begin
 * with a pointer to their name. `count`: none has. */
PD_INLINE size_t pd_list_find(const struct pd_list_word *word, const void *rows, size_t stride,
                              size_t count)
{
    size_t i = 0;
    for (; i < count; i++) {
        const char *name;
        memcpy(&name, (const char *)rows + i * stride, sizeof name);
        if (strlen(name) == word->length && !memcmp(name, word->text, word->length))
            break;
    }
    return i;
}

#endif
