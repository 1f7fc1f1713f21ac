/* SPDX-License-Identifier: MIT */
/* buildid-cache: programs and libraries into the build-id cache and out of it. */
#include "tool/input.h"
#include "tool/make/object_lines.h"
#include "tool/verbs.h"
#include <perfdata/build_id_cache.h>
#include <perfdata/text.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cache_options {
    const char *add, *remove, *purge, *update, *missing, *kcore;
    int purge_all, list;
};
#define FIELD(name) offsetof(struct cache_options, name)

static const struct tool_option cache_rows[] = {
    { TOOL_GROUP, .help = "What is done, in this order; lists are FILE[,...]" },
    { TOOL_FLAG, 'l', "list", NULL, "print build-id and path of all that is kept", FIELD(list) },
    { TOOL_STRING, 'a', "add", "LIST", "keep these files", FIELD(add) },
    { TOOL_STRING, 'r', "remove", "LIST", "remove these files, as they are now", FIELD(remove) },
    { TOOL_STRING, 'p', "purge", "LIST", "remove these files and all their older versions",
      FIELD(purge) },
    { TOOL_FLAG, 'P', "purge-all", NULL, "remove everything", FIELD(purge_all) },
    { TOOL_STRING, 'M', "missing", "RECORDING",
      "print build-ids of a recording that the cache has not", FIELD(missing) },
    { TOOL_STRING, 'u', "update", "LIST", "keep these files, in place of what has their build-id",
      FIELD(update) },
    { TOOL_STRING, 'k', "kcore", "FILE",
      "keep the code of the kernel that this kcore is of: /proc/kcore, a guest's", FIELD(kcore) },
    TOOL_ROW_DEBUGINFOD(0),
    TOOL_ROW_FORCE,
    TOOL_ROW_VERBOSE,
    { 0 },
};

struct run {
    struct tool *tool;
    perfdata_build_id_cache *cache;
    bool failed;
};

/* Perf tells these on stderr, bare. */
static void TOOL_PRINTF(2, 3) tell(const struct run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s", run->tool->as_perf ? "" : "perfdata buildid-cache: ");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

/* "Adding ID FILE: Ok", with -v. */
static void tell_step(const struct run *run, const char *what, const char *id, const char *path,
                      perfdata_status status)
{
    if (run->tool->verbose && *id)
        tell(run, "%s %s %s: %s\n", what, id, path, status < 0 ? "FAIL" : "Ok");
}

static void tell_failure(struct run *run, const char *what, const char *path, const char *id,
                         perfdata_status status)
{
    int error = errno;
    bool is_missing = status == PERFDATA_ERROR_NO_DATA || (*what != 'a' && error == ENOENT && !*id);
    run->failed = true;
    if (is_missing && run->tool->as_perf && !run->tool->verbose) /* perf says it with -v alone */
        return;
    if (is_missing)
        tell(run, "%s wasn't in the cache\n", path);
    else
        tell(run, "Couldn't %s %s: %s\n", what, path,
             error == ENODATA ? "it has no build-id" : strerror(error));
}

/* One file went into the cache or out of it, with errno as that left it: tells how it went. */
static void tell_end(struct run *run, const char *doing, const char *what, const char *path,
                     const char *id, perfdata_status status)
{
    int error = errno;
    tell_step(run, doing, id, path, status);
    errno = error;
    if (status < 0)
        tell_failure(run, what, path, id, status);
}

static void add(struct run *run, const char *path)
{
    char id[PERFDATA_BUILD_ID_TEXT];
    perfdata_status status = perfdata_build_id_cache_add(run->cache, path, id);
    tell_end(run, "Adding", "add", path, id, status);
}

static void add_kcore(struct run *run, const char *path)
{
    char folder[PATH_MAX];
    int is_new = 0;
    perfdata_status status = perfdata_build_id_cache_add_kcore(run->cache, path, folder,
                                                               sizeof folder, &is_new);
    if (status < 0 && run->tool->as_perf)
        tell(run, "Couldn't add %s\n", path); /* perf does not say why */
    else if (status < 0)
        tell_failure(run, "add", path, "", status);
    else if (run->tool->verbose && is_new)
        tell(run, "kcore added to build-id cache directory %s\n", folder);
    else if (run->tool->verbose)
        tell(run, "same kcore found in %s\n", folder);
}

static void take_out(struct run *run, const char *path)
{
    char id[PERFDATA_BUILD_ID_TEXT];
    perfdata_status status = perfdata_build_id_cache_remove(run->cache, path, id);
    tell_end(run, "Removing", "remove", path, id, status);
}

static void update(struct run *run, const char *path)
{
    char id[PERFDATA_BUILD_ID_TEXT];
    perfdata_status status = perfdata_build_id_cache_remove(run->cache, path, id);
    if (status >= 0 || status == PERFDATA_ERROR_NO_DATA)
        status = perfdata_build_id_cache_add(run->cache, path, id);
    tell_end(run, "Updating", "update", path, id, status);
}

static int purge_one(void *data, const char *id, const char *path)
{
    struct run *run = data;
    perfdata_status status = perfdata_build_id_cache_remove_id(run->cache, id);
    tell_step(run, "Removing", id, path, status);
    run->failed |= status < 0;
    return 0;
}

static void purge(struct run *run, const char *path)
{
    perfdata_status status = perfdata_build_id_cache_list_path(run->cache, path, purge_one, run);
    if (run->tool->verbose)
        tell(run, "Purging %s: %s\n", path, status < 0 ? "FAIL" : "Ok");
    if (status < 0)
        tell_failure(run, "purge", path, "", PERFDATA_ERROR_NO_DATA);
}

static int purge_any(void *data, const char *id, const char *path)
{
    struct run *run = data;
    perfdata_status status = perfdata_build_id_cache_remove_id(run->cache, id);
    if (run->tool->verbose)
        tell(run, "Removing %s (%s): %s\n", path, id, status < 0 ? "FAIL" : "Ok");
    run->failed |= status < 0;
    return 0;
}

static void purge_all(struct run *run)
{
    perfdata_status status = perfdata_build_id_cache_list(run->cache, PERFDATA_BUILD_ID_CACHE_STALE,
                                                          purge_any, run);
    run->failed |= status < 0;
    if (run->tool->verbose)
        tell(run, "Purged all: %s\n", run->failed ? "FAIL" : "Ok");
}

static int print_entry(void *data, const char *id, const char *path)
{
    const struct run *run = data;
    tool_printf(run->tool, "%s %s\n", id, path);
    return !tool_output_ok(run->tool);
}

/* ---- -M ---- */

static int print_missing_one(void *data, const char *id, const char *line, size_t size)
{
    const struct run *run = data;
    if (*id && !perfdata_build_id_cache_has(run->cache, id))
        tool_write(run->tool, line, size);
    return !tool_output_ok(run->tool);
}

static int print_missing(void *data, const char *text, size_t size)
{
    return tool_object_lines(text, size, print_missing_one, data);
}

static enum tool_exit missing(struct run *run, const char *path)
{
    perfdata_recording *recording;
    enum tool_exit code = tool_open(run->tool, path, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_build_ids_print(recording, 0, print_missing, run);
    return tool_close_run(run->tool, recording, status, 0);
}

/* ---- lists ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each name once, in alphabetical order, as perf takes them. False: no memory. */
static bool for_each(struct run *run, const char *list, void (*step)(struct run *, const char *))
{
    size_t count = 0;
    if (!list)
        return true;
    char *copy = strdup(list), *state = NULL;
    char **names = copy ? malloc((strlen(copy) + 1) * sizeof *names) : NULL;
    for (char *name = names ? strtok_r(copy, ",", &state) : NULL; name;
         name = strtok_r(NULL, ",", &state))
        names[count++] = name;
    if (count)
        qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(names[i], names[i - 1]) != 0)
            step(run, names[i]);
    bool ok = names != NULL;
    free(names);
    free(copy);
    return ok;
}

static enum tool_exit act(struct run *run, const struct cache_options *options)
{
    enum tool_exit code = TOOL_DONE;
    if (options->list) {
        perfdata_status status = perfdata_build_id_cache_list(run->cache, 0, print_entry, run);
        return status < 0
                   ? tool_failure(run->tool, status, perfdata_build_id_cache_directory(run->cache),
                                  strerror(errno))
                   : TOOL_DONE;
    }
    bool ok = for_each(run, options->add, add) && for_each(run, options->remove, take_out) &&
              for_each(run, options->purge, purge);
    if (ok && options->purge_all)
        purge_all(run);
    if (ok && options->missing)
        code = missing(run, options->missing);
    ok = ok && for_each(run, options->update, update);
    if (ok && options->kcore)
        add_kcore(run, options->kcore);
    if (!ok)
        return tool_failure(run->tool, PERFDATA_ERROR_MEMORY, "buildid-cache", "no memory");
    /* perf has told what it could not do, and ends with 0. */
    return code == TOOL_DONE && run->failed ? tool_exit_as(run->tool, TOOL_PARTIAL, 0) : code;
}

static enum tool_exit run_cache(struct tool *tool, void *data, int argc, char **argv)
{
    const struct cache_options *options = data;
    struct run run = { .tool = tool };
    bool others = options->add || options->remove || options->purge || options->purge_all ||
                  options->missing || options->update || options->kcore;
    if (argc)
        return tool_exit_as(tool, tool_usage(tool, "takes no argument; what is '%s'?", argv[0]),
                            129);
    if (options->list && others)
        return tool_exit_as(tool, tool_usage(tool, "-l is exclusive."), 129);
    if (!options->list && !others)
        return tool_exit_as(
            tool, tool_usage(tool, "needs one of its options; see perfdata help buildid-cache"),
            129);
    perfdata_status status = tool_open_cache(tool, &run.cache);
    if (status < 0)
        return tool_no_cache(tool, status);
    enum tool_exit code = act(&run, options);
    perfdata_build_id_cache_close(run.cache);
    return code;
}

const struct tool_verb tool_verb_buildid_cache = {
    .name = "buildid-cache",
    .synopsis = "[OPTIONS]",
    .description =
        "Keeps programs and libraries by their build-ids, so that recordings can be "
        "read after they were replaced.\n\n"
        "The cache is the folder of --buildid-dir (before the verb), of the setting "
        "buildid.dir, or HOME/.debug. A\n"
        "kept file is a hard link where the file system allows it. With --debuginfod its "
        "debug file is fetched and kept\nwith it, where /usr/lib/debug has none.",
    .examples = { "buildid-cache -a /usr/bin/app", "keep this version",
                  "buildid-cache -M perf.data", "what of a recording is not kept" },
    .options = cache_rows,
    .options_size = sizeof(struct cache_options),
    .run = run_cache,
    .flags = TOOL_VERB_PERF,
};
