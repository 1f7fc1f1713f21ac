/* SPDX-License-Identifier: MIT */
/* Scripts made for perf -> a run of python3 with the package perfdata. */
#include "tool/show/perf_scripts.h"
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const struct perf_script {
    const char *name, *instead;
} scripts[] = {
#define PERF_SCRIPT(name, instead) { name, instead },
#include "tool/perf_scripts.def"
#undef PERF_SCRIPT
};

/* The script of that name; a path counts by its last part. */
static const struct perf_script *find(const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    size_t length = dot ? (size_t)(dot - base) : strlen(base);
    for (size_t i = 0; i < TOOL_LENGTH(scripts); i++)
        if (strlen(scripts[i].name) == length && !strncmp(scripts[i].name, base, length))
            return &scripts[i];
    return NULL;
}

/* ---- where they are ---- */

static bool is_there(char path[PATH_MAX], const char *folder, const char *rest, const char *name,
                     const char *suffix)
{
    int length = snprintf(path, PATH_MAX, "%s/%s%s%s", folder, rest, name, suffix);
    return length > 0 && length < PATH_MAX && access(path, R_OK) == 0;
}

/* Among perf's own, of that language. */
static bool find_installed(char path[PATH_MAX], const char *language, const char *name,
                           const char *suffix)
{
    static const char *const folders[] = { "/usr/libexec/perf-core", "/usr/lib/perf-core" };
    const char *chosen = getenv("PERF_EXEC_PATH");
    if (chosen && *chosen)
        return is_there(path, chosen, language, name, suffix);
    for (size_t i = 0; i < TOOL_LENGTH(folders); i++)
        if (is_there(path, folders[i], language, name, suffix))
            return true;
    return false;
}

bool tool_is_script(const char *name)
{
    char path[PATH_MAX];
    return !strchr(name, '/') &&
           (find(name) || find_installed(path, "scripts/python/", name, ".py") ||
            find_installed(path, "scripts/perl/", name, ".pl"));
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

/* The package beside this program: installed, or in the source tree. False: python3 has to know
 * where it is. */
static bool find_package(char package[PATH_MAX], char library[PATH_MAX])
{
    static const char *const places[] = { "../share/perfdata/python", "../python" };
    char self[PATH_MAX], probe[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = length > 0 ? memrchr(self, '/', (size_t)length) : NULL;
    if (!slash)
        return false;
    *slash = '\0';
    if (!is_there(library, self, "libperfdata.so.1", "", ""))
        *library = '\0';
    for (size_t i = 0; i < TOOL_LENGTH(places); i++)
        if (is_there(package, self, places[i], "", "") &&
            is_there(probe, package, "perfdata/scripts/driver.py", "", ""))
            return true;
    return false;
}

static bool set_environment(void)
{
    char package[PATH_MAX], library[PATH_MAX], path[2 * PATH_MAX];
    const char *old = getenv("PYTHONPATH");
    if (!find_package(package, library))
        return true;
    int length = snprintf(path, sizeof path, "%s%s%s", package, old && *old ? ":" : "",
                          old ? old : "");
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    return !setenv("PYTHONPATH", path, 1) && (!*library || !setenv("PERFDATA_LIBRARY", library, 0));
}

/* ---- the run ---- */

void tool_script_word(struct tool_script *script, const char *word)
{
    if (script->count + 1 >= TOOL_SCRIPT_WORDS)
        script->too_many = true;
    else
        script->words[script->count++] = word;
}

void tool_script_option(struct tool_script *script, const char *option, const char *value)
{
    if (!value)
        return;
    tool_script_word(script, option);
    tool_script_word(script, value);
}

/* python3's exit code is ours. */
static enum tool_exit run(struct tool *tool, struct tool_script *script, const char *name,
                          char **arguments)
{
    size_t more = 0, count = 0;
    while (arguments && arguments[more])
        more++;
    char **argv = calloc(TOOL_SCRIPT_WORDS + more + 8, sizeof *argv);
    static char head[][20] = { "python3", "-m", "perfdata.scripts" }, end_of_options[] = "--";
    pid_t child;
    int state = 0;
    if (!argv || !set_environment()) {
        free(argv);
        tool_error(tool, "no memory to run python3");
        return TOOL_NOTHING;
    }
    for (size_t i = 0; i < TOOL_LENGTH(head); i++)
        argv[count++] = head[i];
    for (size_t i = 0; i < script->count; i++)
        argv[count++] = (char *)(uintptr_t)script->words[i];
    if (name) {
        argv[count++] = end_of_options;
        argv[count++] = (char *)(uintptr_t)name;
    }
    memcpy(argv + count, arguments ? arguments : argv, (arguments ? more : 0) * sizeof *argv);
    fflush(stdout);
    int failed = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ);
    free(argv);
    if (failed) {
        tool_error(tool, "python3 runs scripts, and cannot be run: %s", strerror(failed));
        return tool_exit_as(tool, TOOL_NOTHING, 255);
    }
    tool->printed = true;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        continue;
    int code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return code
               ? tool_exit_as(tool, code <= TOOL_OUTPUT ? (enum tool_exit)code : TOOL_NOTHING, code)
               : TOOL_DONE;
}

enum tool_exit tool_list_scripts(struct tool *tool, struct tool_script *script)
{
    char path[PATH_MAX];
    if (find_installed(path, "scripts/python/bin", "", ""))
        return run(tool, script, NULL, NULL);
    tool_puts(tool, "No scripts of perf are installed here. What does their work:\n");
    for (size_t i = 0; i < TOOL_LENGTH(scripts); i++)
        if (*scripts[i].instead)
            tool_printf(tool, "  %-24s%s %s\n", scripts[i].name, tool->name, scripts[i].instead);
    return TOOL_DONE;
}

enum tool_exit tool_generate_script(struct tool *tool, struct tool_script *script)
{
    return run(tool, script, NULL, NULL);
}

/* "python:FILE", "perl:FILE" and "FILE.pl" as perf has them. */
static bool is_perl(const char **name)
{
    static const struct {
        const char *head;
        bool perl;
    } languages[] = { { "python:", false }, { "Python:", false }, { "py:", false },
                      { "perl:", true },    { "Perl:", true },    { "pl:", true } };
    for (size_t i = 0; i < TOOL_LENGTH(languages); i++)
        if (!strncmp(*name, languages[i].head, strlen(languages[i].head))) {
            *name += strlen(languages[i].head);
            return languages[i].perl;
        }
    return ends_with(*name, ".pl");
}

enum tool_exit tool_run_script(struct tool *tool, struct tool_script *script, const char *name,
                               char **arguments)
{
    char path[PATH_MAX];
    bool perl = is_perl(&name), plain = !strchr(name, '/');
    const struct perf_script *known = find(name);
    if (!perl && access(name, F_OK) == 0)
        return run(tool, script, name, arguments);
    if (!perl && plain &&
        (find_installed(path, "scripts/python/", name, ".py") ||
         find_installed(path, "scripts/python/", name, "")))
        return run(tool, script, path, arguments);
    if (perl || (plain && find_installed(path, "scripts/perl/", name, ".pl")))
        tool_error(tool, "%s is a Perl script: those of Python are run", name);
    else if (known && *known->instead)
        tool_error(tool,
                   "script %s is not installed here (Debian: linux-perf); %s %s does its work",
                   name, tool->name, known->instead);
    else if (known)
        tool_error(tool, "script %s is not installed here (Debian: linux-perf)", name);
    else
        tool_error(tool, "Can't open python script \"%s\": No such file or directory", name);
    return tool_exit_as(tool, TOOL_USAGE, 255);
}
