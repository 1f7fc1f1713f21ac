/* SPDX-License-Identifier: MIT */
/* perfconfig files of any bytes: each key has a section, and what is said of a line is of the
 * text. Settings that were read are written as a file again, which must give the same. */
#include "base/text.h"
#include "io/config.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct settings {
    struct pd_text all;  /* key, NUL, value, NUL */
    struct pd_text file; /* the same as a perfconfig file, of those that can be written */
    struct pd_text kept; /* as `all`, of those */
    bool cut;            /* a NUL in the quotes of a section ends its keys anywhere */
};

static bool is_plain(const char *text, const char *besides)
{
    for (; *text; text++)
        if (!(*text >= 'a' && *text <= 'z') && !(*text >= '0' && *text <= '9') &&
            !strchr(besides, *text))
            return false;
    return true;
}

static void put_value(struct pd_text *file, const char *value)
{
    pd_text_char(file, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            pd_text_char(file, '\\');
        pd_text_char(file, *value);
    }
    pd_text_string(file, "\"\n");
}

static int take(void *data, const char *key, const char *value)
{
    struct settings *settings = data;
    const char *dot = strrchr(key, '.');
    if (!settings->cut && (!dot || dot == key || !dot[1] || !is_plain(dot + 1, "-_")))
        abort();
    pd_text_bytes(&settings->all, key, strlen(key) + 1);
    pd_text_bytes(&settings->all, value, strlen(value) + 1);
    /* the name of a section may hold anything in quotes; a value, what ends a line */
    if (settings->cut || !is_plain(key, "-_.") || strpbrk(value, "\r\n"))
        return 0;
    pd_text_bytes(&settings->kept, key, strlen(key) + 1);
    pd_text_bytes(&settings->kept, value, strlen(value) + 1);
    pd_text_char(&settings->file, '[');
    pd_text_bytes(&settings->file, key, (size_t)(dot - key));
    pd_text_string(&settings->file, "]\n\t");
    pd_text_string(&settings->file, dot + 1);
    pd_text_string(&settings->file, " = ");
    put_value(&settings->file, value);
    return 0;
}

static void free_settings(struct settings *settings)
{
    pd_text_free(&settings->all);
    pd_text_free(&settings->file);
    pd_text_free(&settings->kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings first = { .cut = size && memchr(data, 0, size) }, again = { 0 };
    unsigned line = 0, lines = 2;
    int result;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    pd_text_grow(&first.file, 1); /* an empty file is read from a buffer, too */
    pd_config_parse(size ? (const char *)data : "", size, take, &first, &result, &line);
    if (result || line > lines)
        abort();
    if (!pd_config_parse(first.file.data, first.file.length, take, &again, &result, &line) ||
        again.all.length != first.kept.length ||
        (again.all.length && memcmp(again.all.data, first.kept.data, again.all.length) != 0))
        abort();
    free_settings(&first);
    free_settings(&again);
    return 0;
}
