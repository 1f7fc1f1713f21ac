/* SPDX-License-Identifier: MIT */
/* config: the settings of perf's configuration files, read and written. */
#include "tool/options.h"
#include "tool/part.h"
#include "tool/verbs.h"
#include <perfdata/config.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct config_options {
    int list, user, system;
};
#define FIELD(name) offsetof(struct config_options, name)

static const struct tool_option config_rows[] = {
    { TOOL_GROUP, .help = "What is done" },
    { TOOL_FLAG, 'l', "list", NULL, "print all settings", FIELD(list) },
    { TOOL_GROUP, .help = "Of which file; both where neither is given, and HOME/.perfconfig is the "
                          "one that is written" },
    { TOOL_FLAG, 0, "user", NULL, "HOME/.perfconfig, or the one that PERF_CONFIG names",
      FIELD(user) },
    { TOOL_FLAG, 0, "system", NULL, "/etc/perfconfig", FIELD(system) },
    { 0 },
};

/* Settings in the order in which their sections, and within them their keys, came first. */
struct setting {
    char *key, *value; /* "section.key" */
    size_t section;    /* length of the section's name */
};

struct settings {
    struct setting *list;
    size_t count, capacity;
};

/* The section of "section.key" ends at the last dot in a file, at the first in a word of the
 * command line, as in perf. */
static struct setting *find(struct settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->count; i++)
        if (!strcmp(settings->list[i].key, key))
            return &settings->list[i];
    return NULL;
}

static bool is_section(const struct setting *setting, const char *key, size_t section)
{
    return setting->section == section && !strncmp(setting->key, key, section);
}

/* False: no memory. */
static bool set(struct settings *settings, const char *key, size_t section, const char *value)
{
    struct setting *known = find(settings, key);
    char *copy = strdup(value);
    if (!copy)
        return false;
    if (known) {
        free(known->value);
        known->value = copy;
        return true;
    }
    if (settings->count == settings->capacity) {
        size_t capacity = settings->capacity ? 2 * settings->capacity : 64;
        struct setting *list = realloc(settings->list, capacity * sizeof *list);
        if (!list) {
            free(copy);
            return false;
        }
        settings->list = list;
        settings->capacity = capacity;
    }
    size_t at = settings->count;
    for (size_t i = 0; i < settings->count; i++)
        if (is_section(&settings->list[i], key, section))
            at = i + 1;
    char *name = strdup(key);
    if (!name) {
        free(copy);
        return false;
    }
    memmove(&settings->list[at + 1], &settings->list[at],
            (settings->count - at) * sizeof *settings->list);
    settings->list[at] = (struct setting){ name, copy, section };
    settings->count++;
    return true;
}

/* A key without a value is no setting, as in perf. */
static int take(void *data, const char *key, const char *value)
{
    const char *dot = strrchr(key, '.');
    if (!value || !dot)
        return 0;
    return set(data, key, (size_t)(dot - key), value) ? 0 : PERFDATA_ERROR_MEMORY;
}

static void free_settings(struct settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        free(settings->list[i].key);
        free(settings->list[i].value);
    }
    free(settings->list);
}

static void put(struct tool *tool, const struct setting *setting)
{
    tool_printf(tool, "%s=%s\n", setting->key, setting->value);
}

/* ---- writing ---- */

/* A value that would not be read back unchanged is put in quotes. */
static void write_value(FILE *file, const char *value)
{
    size_t length = strlen(value);
    bool plain = length && !strpbrk(value, "#;\"\\\n\t") && value[0] != ' ' &&
                 value[length - 1] != ' ';
    if (plain) {
        fputs(value, file);
        return;
    }
    putc('"', file);
    for (; *value; value++) {
        if (*value == '\n')
            fputs("\\n", file);
        else if (*value == '\t')
            fputs("\\t", file);
        else
            fprintf(file, "%s%c", strchr("\"\\", *value) ? "\\" : "", *value);
    }
    putc('"', file);
}

static void write_settings(FILE *file, const struct settings *settings)
{
    fputs("# this file is auto-generated.\n", file);
    for (size_t i = 0; i < settings->count; i++) {
        const struct setting *at = &settings->list[i];
        if (!i || !is_section(&settings->list[i - 1], at->key, at->section))
            fprintf(file, "[%.*s]\n", (int)at->section, at->key);
        fprintf(file, "\t%s = ", at->key + at->section + 1);
        write_value(file, at->value);
        putc('\n', file);
    }
}

/* Whether the file has lines that the new one will lack: comments, and keys without a value. */
static bool loses_lines(const char *path)
{
    char line[1024];
    bool loses = false;
    FILE *file = fopen(path, "re");
    while (file && !loses && fgets(line, sizeof line, file)) {
        const char *at = line + strspn(line, " \t");
        bool ours = !strncmp(at, "# this file is auto-generated.", 30);
        loses = !ours && *at != '[' && *at != '\n' && (strchr("#;", *at) || !strchr(at, '='));
    }
    if (file)
        fclose(file);
    return loses;
}

enum { NO_FILE = -1 };

/* Finds the file that a path names, and its mode, which the new file gets, or NO_FILE. A symbolic
 * link stays and its target is written. False and errno: the name is that of something other than a
 * regular file. */
static bool find_file(const char *path, char *file, mode_t *mode)
{
    struct stat status;
    *mode = (mode_t)NO_FILE;
    if (lstat(path, &status) < 0)
        return errno == ENOENT && snprintf(file, PATH_MAX, "%s", path) < PATH_MAX;
    if (!realpath(path, file) || stat(file, &status) < 0)
        return false;
    *mode = status.st_mode & 0777;
    errno = EEXIST;
    return S_ISREG(status.st_mode);
}

static enum tool_exit store(struct tool *tool, const char *name, const struct settings *settings)
{
    char path[PATH_MAX], old[PATH_MAX + 8];
    struct tool_part part;
    mode_t mode;
    if (!find_file(name, path, &mode)) {
        tool_error(tool, "%s: cannot write: %s", name, strerror(errno));
        return tool_exit_as(tool, TOOL_OUTPUT, 255);
    }
    bool keep = loses_lines(path);
    snprintf(old, sizeof old, "%s.old", path);
    FILE *file = tool_part_open(path, &part) ? fdopen(part.fd, "w") : NULL;
    bool ok = file && (mode == (mode_t)NO_FILE || !fchmod(part.fd, mode));
    if (file)
        write_settings(file, settings);
    ok = ok && !ferror(file);
    if (file) {
        part.fd = -1;
        ok = !fclose(file) && ok;
    }
    if (ok && keep)
        ok = !rename(path, old);
    if (!tool_part_close(&part, ok) || !ok) {
        tool_error(tool, "%s: %s", path, strerror(errno));
        return tool_exit_as(tool, TOOL_OUTPUT, 255);
    }
    if (keep)
        tool_error(tool,
                   "lines without a value and comments are not in the new %s; the old one is "
                   "%s",
                   path, old);
    return TOOL_DONE;
}

/* ---- one word of the command line ---- */

/* "section.key" or "section.key=value": *equals is where the value begins, or NULL. */
static enum tool_exit check(struct tool *tool, char *word, char **equals)
{
    char *dot = strchr(word, '.');
    *equals = strchr(word, '=');
    if (!dot || dot == word || (*equals && *equals < dot))
        return tool_usage(tool, "The config variable does not contain a section name: %s", word);
    if (!dot[1] || dot + 1 == *equals)
        return tool_usage(tool, "The config variable does not contain a variable name: %s", word);
    if (*equals && !(*equals)[1])
        return tool_usage(tool, "The config variable does not contain a value: %s", word);
    return TOOL_DONE;
}

static enum tool_exit take_word(struct tool *tool, struct settings *settings, const char *argument,
                                bool *changed)
{
    char *word = strdup(argument), *equals;
    if (!word)
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, argument, "no memory");
    enum tool_exit code = check(tool, word, &equals);
    if (code != TOOL_DONE) {
        code = tool_exit_as(tool, code, 255);
    } else if (equals) {
        *equals = 0;
        if (!set(settings, word, (size_t)(strchr(word, '.') - word), equals + 1))
            code = tool_failure(tool, PERFDATA_ERROR_MEMORY, argument, "no memory");
        *changed = true;
    } else {
        const struct setting *setting = find(settings, word);
        if (setting)
            put(tool, setting);
    }
    free(word);
    return code;
}

/* Reads the files that the options choose into `settings`. `path`: the file that is written. */
static perfdata_status read_files(struct tool *tool, const struct config_options *options,
                                  bool writes, struct settings *settings, char path[PATH_MAX])
{
    const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");
    if (options->system)
        snprintf(path, PATH_MAX, "/etc/perfconfig");
    else if (only)
        snprintf(path, PATH_MAX, "%s", only);
    else if (home && strlen(home) < PATH_MAX - sizeof "/.perfconfig")
        snprintf(path, PATH_MAX, "%s/.perfconfig", home);
    else
        return PERFDATA_ERROR_ARGUMENT;
    bool one = writes || options->user || options->system;
    tool_settings_again(tool, one ? path : only, home);
    return perfdata_settings(one ? path : only, home, take, settings);
}

static enum tool_exit run_words(struct tool *tool, const struct config_options *options, int argc,
                                char **argv, struct settings *settings)
{
    char path[PATH_MAX];
    bool writes = false, changed = false;
    enum tool_exit code = TOOL_DONE;
    for (int i = 0; i < argc; i++)
        writes |= strchr(argv[i], '=') != NULL;
    perfdata_status status = read_files(tool, options, writes, settings, path);
    if (status < 0)
        return tool_failure(tool, status, "config", "neither PERF_CONFIG nor HOME names a file");
    for (size_t i = 0; !argc && i < settings->count; i++)
        put(tool, &settings->list[i]);
    for (int i = 0; i < argc && code == TOOL_DONE; i++)
        code = take_word(tool, settings, argv[i], &changed);
    return code == TOOL_DONE && changed ? store(tool, path, settings) : code;
}

static enum tool_exit run_config(struct tool *tool, void *data, int argc, char **argv)
{
    const struct config_options *options = data;
    struct settings settings = { 0 };
    if (options->user && options->system)
        return tool_exit_as(tool, tool_usage(tool, "only one config file at a time"), 255);
    if (options->list && argc)
        return tool_exit_as(tool, tool_usage(tool, "-l takes no arguments"), 0);
    enum tool_exit code = run_words(tool, options, argc, argv, &settings);
    free_settings(&settings);
    return code;
}

const struct tool_verb tool_verb_config = {
    .name = "config",
    .synopsis = "[OPTIONS] [SECTION.KEY[=VALUE] ...]",
    .description = "Prints settings of perf's configuration files, all without an argument, and "
                   "sets those with a value.\n\n"
                   "A file is written anew, with its settings only; where it had comments, the old "
                   "one stays as FILE.old.",
    .examples = { "config", "all settings", "config report.children=false",
                  "callers do not count their callees' samples" },
    .options = config_rows,
    .options_size = sizeof(struct config_options),
    .run = run_config,
    .flags = TOOL_VERB_PERF,
};
