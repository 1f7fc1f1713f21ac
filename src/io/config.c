/* SPDX-License-Identifier: MIT */
/* perfconfig files -> keys and values. */
#include "io/config.h"
#include "base/text.h"
#include "io/io.h"
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

enum { FILE_MAX = 1 << 20 };

struct reader {
    const char *at, *end;
    unsigned line;
    struct pd_text section, key, value;
};

static int next_char(struct reader *reader)
{
    if (reader->at == reader->end)
        return -1;
    int c = (unsigned char)*reader->at++;
    if (c == '\r' && reader->at < reader->end && *reader->at == '\n')
        c = (unsigned char)*reader->at++;
    reader->line += c == '\n';
    return c;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t';
}

static bool is_key(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

/* Behind "[": name, or name "part". */
static bool take_section(struct reader *reader)
{
    int c;
    reader->section.length = 0;
    while ((c = next_char(reader)) != ']') {
        if (c < 0 || c == '\n')
            return false;
        if (c == '"') {
            while ((c = next_char(reader)) != '"') {
                if (c == '\\')
                    c = next_char(reader);
                if (c < 0 || c == '\n')
                    return false;
                pd_text_char(&reader->section, (char)c);
            }
        } else if (is_blank(c)) {
            pd_text_char(&reader->section, '.');
        } else if (is_key(c) || c == '.') {
            pd_text_char(&reader->section, (char)lower(c));
        } else {
            return false;
        }
    }
    return true;
}

static void skip_line(struct reader *reader)
{
    for (int c = next_char(reader); c >= 0 && c != '\n';)
        c = next_char(reader);
}

static bool take_escape(struct reader *reader)
{
    int c = next_char(reader);
    switch (c) {
    case '\n': return true; /* goes on in the next line */
    case 't': pd_text_char(&reader->value, '\t'); return true;
    case 'b': pd_text_char(&reader->value, '\b'); return true;
    case 'n': pd_text_char(&reader->value, '\n'); return true;
    case '"':
    case '\\': pd_text_char(&reader->value, (char)c); return true;
    default: return false;
    }
}

/* Behind "=", up to the end of the line; blanks inside count, those around it do not. */
static bool take_value(struct reader *reader)
{
    bool quoted = false;
    size_t blanks = 0;
    reader->value.length = 0;
    for (;;) {
        int c = next_char(reader);
        if (c < 0 || c == '\n')
            return !quoted;
        if (!quoted && (c == ';' || c == '#')) {
            skip_line(reader);
            return true;
        }
        if (!quoted && is_blank(c)) {
            blanks += reader->value.length > 0;
            continue;
        }
        pd_text_fill(&reader->value, ' ', blanks);
        blanks = 0;
        if (c == '"')
            quoted = !quoted;
        else if (c != '\\')
            pd_text_char(&reader->value, (char)c);
        else if (!take_escape(reader))
            return false;
    }
}

/* A line that begins with `c`. */
static bool take_entry(struct reader *reader, int c)
{
    reader->key.length = 0;
    pd_text_bytes(&reader->key, reader->section.data, reader->section.length);
    pd_text_char(&reader->key, '.');
    for (; is_key(c); c = next_char(reader))
        pd_text_char(&reader->key, (char)lower(c));
    while (is_blank(c))
        c = next_char(reader);
    return c == '=' && take_value(reader); /* perf takes no key alone */
}

static int tell(struct reader *reader, pd_config_fn each, void *data)
{
    pd_text_char(&reader->key, 0);
    pd_text_char(&reader->value, 0);
    if (reader->key.failed || reader->value.failed || reader->section.failed)
        return PERFDATA_ERROR_MEMORY;
    return each(data, reader->key.data, reader->value.data);
}

bool pd_config_parse(const char *text, size_t size, pd_config_fn each, void *data, int *result,
                     unsigned *line)
{
    struct reader reader = { .at = text, .end = text + size, .line = 1 };
    bool good = true;
    *result = 0;
    while (good && !*result) {
        *line = reader.line;
        int c = next_char(&reader);
        if (c < 0)
            break;
        if (is_blank(c) || c == '\n')
            continue;
        if (c == '#' || c == ';') {
            skip_line(&reader);
        } else if (c == '[') {
            good = take_section(&reader);
            *line = reader.line; /* as perf counts: of an unterminated section the line behind it */
        } else {
            good = is_key(c) && reader.section.length && take_entry(&reader, c);
            if (good)
                *result = tell(&reader, each, data);
        }
    }
    /* What could not be kept is no word of the file's. */
    if (reader.section.failed || reader.key.failed || reader.value.failed) {
        *result = PERFDATA_ERROR_MEMORY;
        good = true;
    }
    pd_text_free(&reader.section);
    pd_text_free(&reader.key);
    pd_text_free(&reader.value);
    return good;
}

static int skip_entry(void *data, const char *key, const char *value)
{
    (void)data, (void)key, (void)value;
    return 0;
}

/* `each` NULL: only what does not parse is told. */
static int read_file(struct pd_context *context, const char *path, pd_config_fn each, void *data)
{
    struct pd_source *source;
    struct stat about;
    unsigned line;
    int result = 0;
    if (stat(path, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size > FILE_MAX)
        return 0;
    perfdata_status opened = pd_source_open_path(context, path, &source);
    if (opened < 0)
        return opened == PERFDATA_ERROR_MEMORY ? (int)opened : 0;
    char *text = malloc(FILE_MAX);
    size_t size = 0;
    perfdata_status status = text ? pd_source_read(source, 0, text, FILE_MAX, &size)
                                  : pd_fail(context, PERFDATA_ERROR_MEMORY, -1, "no memory for %s",
                                            path);
    bool good = status < 0 ||
                pd_config_parse(text, size, each ? each : skip_entry, data, &result, &line);
    if (!good && !each)
        status = pd_warning(context, PERFDATA_ISSUE_CONFIG, -1, "bad config file line %u in %s\n",
                            line, path);
    free(text);
    pd_source_close(source);
    return result ? result : (int)status;
}

static int read_all(struct pd_context *context, const struct pd_config_places *places,
                    pd_config_fn each, void *data)
{
    if (places->only)
        return read_file(context, places->only, each, data);
    int result = places->system ? read_file(context, places->system, each, data) : 0;
    if (result || !places->home)
        return result;
    struct pd_text path = { 0 };
    pd_text_string(&path, places->home);
    pd_text_bytes(&path, "/.perfconfig", sizeof "/.perfconfig");
    result = path.failed ? pd_no_memory(context, NULL) : read_file(context, path.data, each, data);
    pd_text_free(&path);
    return result;
}

/* As perf: what does not parse in any of the files is told before what is wrong with a value. */
int pd_config_read(struct pd_context *context, const struct pd_config_places *places,
                   pd_config_fn each, void *data)
{
    int result = read_all(context, places, NULL, NULL);
    if (!result)
        result = read_all(context, places, each, data);
    if (result == PERFDATA_ERROR_MEMORY)
        pd_fail(context, PERFDATA_ERROR_MEMORY, -1, "no memory for the settings");
    return result;
}

int pd_config_truth(const char *value)
{
    static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no",
                                                                              "off" };
    for (size_t i = 0; i < PD_LENGTH(yes); i++) {
        if (!strcasecmp(value, yes[i]))
            return 1;
        if (!strcasecmp(value, no[i]))
            return 0;
    }
    char *end;
    long number = strtol(value, &end, 0);
    return !*value ? 0 : *end ? -1 : number != 0;
}

bool pd_config_number(const char *value, uint64_t *out)
{
    static const char units[] = "kmg";
    char *end;
    *out = strtoull(value, &end, 0);
    const char *unit = *end ? strchr(units, *end | ('a' - 'A')) : NULL;
    if (unit)
        *out <<= 10 * (unit - units + 1);
    return *value && !end[unit != NULL];
}
