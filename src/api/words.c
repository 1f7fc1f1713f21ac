/* SPDX-License-Identifier: MIT */
/* The tables by which options are read -> lists of their words. */
#include <perfdata/words.h>
#include "base/base.h"

#define SWITCH(letter, member, text) { (const char[]){ letter, 0 }, text, 1 },
#define LETTER(letter, reader, text) { (const char[]){ letter, 0 }, text, 1 },
static const struct perfdata_word letters[] = {
#include "itrace/letters.def"
};

#define FIELD(NAME, text, done, needs, wanted, aux, about) { text, about, done },
static const struct perfdata_word fields[] = {
#include "render/script/fields.def"
};
#undef FIELD

#define KEY(identifier, key, title, ...) { key, title, 1 },
#define COLUMN(identifier, key, title, ...) { key, "a number: " title, 1 },
static const struct perfdata_word keys[] = {
#include "analyse/keys.def"
};

static const struct {
    const struct perfdata_word *words;
    size_t count;
} lists[] = {
    [PERFDATA_WORDS_ITRACE] = { letters, PD_LENGTH(letters) },
    [PERFDATA_WORDS_FIELDS] = { fields, PD_LENGTH(fields) },
    [PERFDATA_WORDS_SORT] = { keys, PD_LENGTH(keys) },
};

PERFDATA_API const struct perfdata_word *perfdata_word(int list, size_t index)
{
    if (list < 0 || (size_t)list >= PD_LENGTH(lists) || index >= lists[list].count)
        return NULL;
    return &lists[list].words[index];
}
