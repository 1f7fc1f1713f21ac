/* SPDX-License-Identifier: MIT */
/* archive: what the build-id cache keeps of a recording's objects, as one file for another
 * machine. */
#include "tool/input.h"
#include "tool/make/object_lines.h"
#include "tool/part.h"
#include "tool/verbs.h"
#include <perfdata/build_id_cache.h>
#include <perfdata/text.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct tool_option archive_rows[] = {
    { TOOL_GROUP, .help = "Input" }, TOOL_ROW_INPUT, TOOL_ROW_FORCE, TOOL_ROW_VERBOSE, { 0 },
};

struct run {
    struct tool *tool;
    perfdata_build_id_cache *cache;
    FILE *names; /* of files below the cache's directory, one a line */
    uint64_t objects, kept;
};

static int add_object(void *data, const char *id, const char *line, size_t size)
{
    struct run *run = data;
    char path[2 * PATH_MAX];
    size_t length = 0;
    run->objects += *id != 0;
    if (*id && perfdata_build_id_cache_path(run->cache, id, path, sizeof path, &length) >= 0 &&
        length <= sizeof path && !strchr(path, '\n')) {
        run->kept++;
        return fprintf(run->names, ".build-id/%.2s/%s\n%s\n", id, id + 2, path) < 0;
    }
    /* perf silently leaves out what the cache does not keep. */
    if (!run->tool->as_perf)
        fprintf(stderr, "perfdata archive: not in the build-id cache: %.*s", (int)size, line);
    return 0;
}

static int add_objects(void *data, const char *text, size_t size)
{
    return tool_object_lines(text, size, add_object, data);
}

/* Runs tar, which packs with bzip2, into `output`. Its exit code, or -1 with errno. The descriptor
 * is ours, because a tar that fails does not wait for its bzip2: that would create the file again
 * after it has been removed. */
static int pack(const char *directory, const char *names, int output)
{
    /* A name that begins with a dash must not be taken for an option. */
    const char *const words[] = { "tar", "-c",  "-j",      "-f",
                                  "-",   "-C",  directory, "--verbatim-files-from",
                                  "-T",  names, NULL };
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status, error = posix_spawn_file_actions_init(&actions);
    if (error) {
        errno = error;
        return -1;
    }
    error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!error)
        error = posix_spawnp(&child, words[0], &actions, NULL, (char *const *)(uintptr_t)words,
                             environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        errno = error;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* NULL, or what went wrong. */
static const char *make_archive(const char *directory, const char *names, const char *output)
{
    struct tool_part part;
    if (!tool_part_open(output, &part))
        return strerror(errno);
    int code = pack(directory, names, part.fd);
    const char *why = code > 0 ? "tar ended with an error" : code < 0 ? strerror(errno) : NULL;
    if (!tool_part_close(&part, !why) && !why)
        why = strerror(errno);
    return why;
}

static enum tool_exit write_archive(struct run *run, const char *names, const char *recording)
{
    struct tool *tool = run->tool;
    char output[PATH_MAX];
    int length = snprintf(output, sizeof output, "%s.tar.bz2", recording);
    if (length < 0 || (size_t)length >= sizeof output)
        return tool_usage(tool, "the recording's name is too long");
    /* Without a directory the cache is empty, and perf makes an archive of that, too. */
    const char *directory = run->kept ? perfdata_build_id_cache_directory(run->cache) : "/";
    const char *why = make_archive(directory, names, output);
    if (why) {
        tool_error(tool, "%s: %s", output, why);
        return tool_exit_as(tool, TOOL_OUTPUT, 1);
    }
    tool_printf(tool,
                "Now please run:\n\n$ tar xvf %s -C ~/.debug\n\n"
                "wherever you need to run '%s report' on.\n",
                output, tool->as_perf ? "perf" : "perfdata");
    if (run->kept == run->objects)
        return TOOL_DONE;
    if (!tool->as_perf)
        fprintf(stderr,
                "perfdata archive: %llu of %llu objects are in the cache; "
                "'perfdata buildid-cache -a FILE' puts them there\n",
                (unsigned long long)run->kept, (unsigned long long)run->objects);
    return tool_exit_as(tool, TOOL_PARTIAL, 0);
}

static enum tool_exit run_objects(struct run *run, const char *name)
{
    struct tool *tool = run->tool;
    perfdata_recording *recording;
    char names[] = "/tmp/perfdata-archive.XXXXXX";
    enum tool_exit code = tool_open(tool, name, &recording);
    if (code != TOOL_DONE)
        return code;
    int file = mkstemp(names);
    run->names = file < 0 ? NULL : fdopen(file, "w");
    if (!run->names) {
        tool_error(tool, "%s: %s", names, strerror(errno));
        (void)tool_close_run(tool, recording, PERFDATA_OK, 1);
        return TOOL_OUTPUT;
    }
    perfdata_status status = perfdata_build_ids_print(recording, PERFDATA_BUILD_IDS_HITS,
                                                      add_objects, run);
    if (fclose(run->names) && status >= 0) {
        tool_error(tool, "%s: cannot write: %s", names, strerror(errno));
        status = PERFDATA_ERROR_OUTPUT;
    }
    code = tool_close_run(tool, recording, status, 0);
    if (status >= 0 && !run->objects) {
        tool_error(tool, "no build-ids found");
        code = tool_exit_as(tool, TOOL_NOTHING, 1);
    } else if (status >= 0) {
        enum tool_exit written = write_archive(run, names, name);
        code = written == TOOL_DONE ? code : written;
    }
    unlink(names);
    return code;
}

static enum tool_exit run_archive(struct tool *tool, void *data, int argc, char **argv)
{
    struct run run = { .tool = tool };
    (void)data;
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code != TOOL_DONE)
        return code;
    const char *name = tool_input_name(tool, argc, argv);
    if (!strcmp(name, "-"))
        return tool_usage(tool, "needs a recording with a name: the archive lies beside it");
    /* perf's archive is a script that runs perf */
    tool_settings_again(tool, getenv("PERF_CONFIG"), getenv("HOME"));
    perfdata_status status = tool_open_cache(tool, &run.cache);
    if (status < 0)
        return tool_no_cache(tool, status);
    code = run_objects(&run, name);
    perfdata_build_id_cache_close(run.cache);
    return code;
}

const struct tool_verb tool_verb_archive = {
    .name = "archive",
    .synopsis = "[FILE]",
    .description = "Packs what the build-id cache keeps of the programs and libraries that samples "
                   "hit into FILE.tar.bz2, and\n"
                   "says how to unpack it on another machine. Needs tar and bzip2. What the cache "
                   "lacks is named.",
    .examples = { "archive perf.data", "writes perf.data.tar.bz2" },
    .options = archive_rows,
    .run = run_archive,
    .flags = TOOL_VERB_PERF,
};
