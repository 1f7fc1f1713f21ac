/* SPDX-License-Identifier: MIT */
/* Runs objdump, without a shell. */
#include "render/annotate/objdump.h"
#include "object/file.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    ARGUMENTS = 16,
    NOT_STARTED = 127, /* as a shell tells it */
    TEXT_MAX = 1 << 30 /* of one function */
};

struct arguments {
    const char *list[ARGUMENTS];
    size_t count;
    char start[48], end[48];
    struct pd_text strip, path;
};

static void add(struct arguments *arguments, const char *word)
{
    arguments->list[arguments->count++] = word;
}

/* False: no memory. */
static bool make_arguments(const struct pd_objdump *how, const char *path, uint64_t start,
                           uint64_t end, struct arguments *out)
{
    snprintf(out->start, sizeof out->start, "--start-address=0x%016llx", (unsigned long long)start);
    snprintf(out->end, sizeof out->end, "--stop-address=0x%016llx", (unsigned long long)end);
    pd_text_format(&out->path, "%s%s", *path == '-' ? "./" : "", path);
    pd_text_char(&out->path, 0);
    pd_text_format(&out->strip, "--prefix-strip=%s", how->prefix_strip ? how->prefix_strip : "");
    pd_text_char(&out->strip, 0);
    if (out->path.failed || out->strip.failed)
        return false;
    add(out, how->program);
    if (how->style) {
        add(out, "-M");
        add(out, how->style);
    }
    add(out, out->start);
    add(out, out->end);
    add(out, "-l");
    add(out, "-d");
    if (!how->raw)
        add(out, "--no-show-raw-insn");
    if (how->source)
        add(out, "-S");
    if (how->prefix) {
        add(out, "--prefix");
        add(out, how->prefix);
    }
    if (how->prefix_strip)
        add(out, out->strip.data);
    add(out, "-C");
    add(out, out->path.data);
    add(out, NULL);
    return true;
}

/* False: objdump could not be started. `output` is the end of the pipe that it writes to. */
static bool start(const struct arguments *arguments, int output, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    char *const *list = (char *const *)(uintptr_t)arguments->list; /* spawn does not write there */
    if (posix_spawn_file_actions_init(&actions))
        return false;
    bool ok = !posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) &&
              !posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) &&
              !posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
                                                0) &&
              !posix_spawnp(child, list[0], &actions, NULL, list, environ);
    posix_spawn_file_actions_destroy(&actions);
    return ok;
}

static void read_all(int from, struct pd_text *out)
{
    enum { STEP = 1 << 16 };
    for (;;) {
        char *to = out->length < TEXT_MAX ? pd_text_room(out, STEP) : NULL;
        if (!to) {
            out->failed = true;
            return;
        }
        ssize_t got = read(from, to, STEP);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        out->length += (size_t)got;
    }
}

static int exit_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return NOT_STARTED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : NOT_STARTED;
}

/* Runs objdump and returns its exit code. */
static int run(const struct arguments *arguments, struct pd_text *out)
{
    int ends[2];
    pid_t child;
    if (pipe2(ends, O_CLOEXEC))
        return NOT_STARTED;
    bool started = start(arguments, ends[1], &child);
    close(ends[1]);
    if (started)
        read_all(ends[0], out);
    close(ends[0]);
    return started ? exit_of(child) : NOT_STARTED;
}

void pd_objdump_run(const struct pd_objdump *how, const char *path, uint64_t start, uint64_t end,
                    struct pd_objdump_output *out)
{
    struct arguments arguments = { .count = 0 };
    int code = 1;
    *out = (struct pd_objdump_output){ .error = 0 };
    if (!make_arguments(how, path, start, end, &arguments))
        out->text.failed = true;
    else if (pd_file_is_regular(path))
        code = run(&arguments, &out->text);
    out->failed = code != 0;
    out->error = out->text.failed    ? PD_OBJDUMP_MEMORY
                 : !out->text.length ? PD_OBJDUMP_NO_OUTPUT
                                     : -code;
    pd_text_free(&arguments.path);
    pd_text_free(&arguments.strip);
}

void pd_objdump_command(const struct pd_objdump *how, uint64_t start, uint64_t end,
                        struct pd_text *out)
{
    pd_text_format(out, "%s %s%s --start-address=0x%016llx --stop-address=0x%016llx -l -d %s %s",
                   how->program, how->style ? "-M " : "", how->style ? how->style : "",
                   (unsigned long long)start, (unsigned long long)end,
                   how->raw ? "" : "--no-show-raw-insn", how->source ? "-S" : "");
    char quote = how->prefix ? '"' : ' ';
    pd_text_format(out, " %s %c%s%c %s%s -C \"$1\"", how->prefix ? "--prefix" : "", quote,
                   how->prefix ? how->prefix : "", quote,
                   how->prefix_strip ? "--prefix-strip=" : "",
                   how->prefix_strip ? how->prefix_strip : "");
}

/* ---- other architectures ---- */

/* Other architectures' names, and the triplets by which binutils' packages name theirs. */
static const struct {
    const char *arch, *prefix;
} prefixes[] = {
    { "arm64", "aarch64-linux-gnu-" },      { "arm", "arm-linux-gnueabihf-" },
    { "arm", "arm-linux-gnueabi-" },        { "powerpc", "powerpc64le-linux-gnu-" },
    { "powerpc", "powerpc64-linux-gnu-" },  { "powerpc", "powerpc-linux-gnu-" },
    { "s390", "s390x-linux-gnu-" },         { "sparc", "sparc64-linux-gnu-" },
    { "x86", "x86_64-linux-gnu-" },         { "x86", "i686-linux-gnu-" },
    { "mips", "mips64el-linux-gnuabi64-" }, { "mips", "mipsel-linux-gnu-" },
    { "riscv64", "riscv64-linux-gnu-" },    { "loongarch", "loongarch64-linux-gnu-" },
};

static bool is_program(const char *name)
{
    char path[4096];
    if (strchr(name, '/'))
        return !access(name, X_OK);
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t length = strcspn(at, ":");
        int size = snprintf(path, sizeof path, "%.*s/%s", (int)PD_MIN(length, sizeof path), at,
                            name);
        if (size > 0 && (size_t)size < sizeof path && !access(path, X_OK))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

bool pd_objdump_find(const char *arch, char *name, size_t size)
{
    const char *cross = getenv("CROSS_COMPILE");
    if (cross && (size_t)snprintf(name, size, "%sobjdump", cross) < size && is_program(name))
        return true;
    for (size_t i = 0; i < PD_LENGTH(prefixes); i++) {
        if (strcmp(prefixes[i].arch, arch) != 0)
            continue;
        if ((size_t)snprintf(name, size, "%sobjdump", prefixes[i].prefix) < size &&
            is_program(name))
            return true;
    }
    return false;
}
