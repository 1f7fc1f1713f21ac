/* SPDX-License-Identifier: MIT */
/* One file of any bytes, read by the whole command as somebody who got the file would run it:
 * script, report, header and check, or the verbs of one subject, or the forms of export, each with
 * one of several rows of options; the file's last byte says which (`run` appends it to recordings
 * that a verb is for). A verb may complain; it must end. */
#include "run_verb.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 8, WORDS = 16 };

/* Nothing of this machine may change what happens: no file is below the root, and no table of the
 * kernel's is read. */
#define NOWHERE "--symfs", "/dev/shm/perfdata-none", "--kallsyms", "/dev/null", "--memory", "64M"

static const char *const scripts[ROWS][WORDS] = {
    { "script", NOWHERE, "-j", "1" },
    { "script", NOWHERE, "-j", "2", "-F", "comm,tid,time,event,ip,sym,symoff,dso,srcline" },
    { "script", NOWHERE, "-j", "1", "--itrace=bei1usxwpol" },
    { "script", NOWHERE, "-j", "1", "-D" },
    { "script", NOWHERE, "-j", "1", "--show-task-events", "--show-mmap-events",
      "--show-switch-events", "--show-lost-events", "--show-bpf-events", "-I" },
    { "script", NOWHERE, "-j", "1", "--insn-trace" },
    { "script", NOWHERE, "-j", "1", "-F", "+brstacksym,+brstackoff,+insn,+flags" },
    { "script", NOWHERE, "-j", "1", "--time", "10%/2", "--call-trace" },
};

static const char *const reports[ROWS][WORDS] = {
    { "report", NOWHERE, "-j", "1", "--stdio" },
    { "report", NOWHERE, "-j", "2", "--stdio", "--no-children", "-g", "caller" },
    { "report", NOWHERE, "-j", "1", "--stdio", "--hierarchy", "-s", "pid,comm,dso,sym" },
    { "report", NOWHERE, "-j", "1", "-D" },
    { "report", NOWHERE, "--mmaps" },
    { "report", NOWHERE, "-j", "1", "--stdio", "-F",
      "overhead,sample,period,comm,sym,srcline,cpu" },
    { "report", NOWHERE, "-j", "1", "--stdio", "--itrace=ig16l", "-n", "-v" },
    { "report", NOWHERE, "-j", "1", "--stdio", "--branch-history" },
};

static const char *const headers[ROWS][WORDS] = {
    { "header" },
    { "report", "--header-only", "-I" },
    { "header", "--json" },
    { "report", "--stats" },
    { "report", "--tasks" },
    { "evlist", "-v" },
    { "buildid-list" },
    { "dump", "--header" },
};

static const char *const subjects[ROWS][WORDS] = {
    { "annotate", NOWHERE, "-j", "1", "--stdio" },
    { "sched", "latency" },
    { "sched", "map" },
    { "sched", "timehist", "--symfs", "/dev/shm/perfdata-none", "--kallsyms", "/dev/null" },
    { "kmem", "stat", "--caller", "--alloc" },
    { "lock", "report" },
    { "lock", "contention" },
    { "stat", "report" },
};

static const char *const accesses[ROWS][WORDS] = {
    { "c2c", "report", NOWHERE, "-j", "1", "--stdio", "-g", "none" },
    { "c2c", "report", NOWHERE, "-j", "2", "--stdio", "-g", "none", "-d", "peer", "-NN" },
    { "c2c", "report", NOWHERE, "--stdio", "-g", "none", "-c", "pid,iaddr", "--full-symbols" },
    { "mem", "report", NOWHERE, "--stdio" },
    { "mem", "-D", "report" },
    { "trace", "-s" },
    { "kwork", "latency" },
    { "kvm", "stat", "report", "--event", "mmio" },
};

static const char *const forms[ROWS][WORDS] = {
    { "export", "pprof", NOWHERE, "-o", "-" },
    { "export", "json", NOWHERE, "-o", "-" },
    { "export", "firefox", NOWHERE, "-o", "-" },
    { "export", "perfetto", NOWHERE, "-o", "-" },
    { "export", "otlp", NOWHERE, "-o", "-" },
    { "export", "callgrind", NOWHERE, "-o", "-" },
    { "export", "speedscope", NOWHERE, "--itrace=i1us", "-o", "-" },
    { "flame", NOWHERE, "-o", "-" },
};

/* FOLDER becomes the name of a folder, which is emptied again; SYMFS what FUZZ_SYMFS names: the
 * root below which the programs of the tests' traces are, without which none is decoded. */
#define FOLDER "FOLDER"
#define SYMFS "SYMFS"
#define TRACED "--symfs", SYMFS, "--kallsyms", "/dev/null", "--memory", "64M"

static const char *const folders[ROWS][WORDS] = {
    { "export", "ctf", NOWHERE, "-j", "2", "-o", FOLDER },
    { "data", "convert", "--all", "--to-ctf", FOLDER },
    { "data", "convert", "--tod", "--to-ctf", FOLDER },
    { "export", "parquet", NOWHERE, "-o", FOLDER },
    { "export", "csv", NOWHERE, "-o", FOLDER },
    { "export", "chrome", NOWHERE, "-j", "2", "-o", "-" },
    { "export", "folded", NOWHERE, "--group", "thread", "-o", "-" },
    { "export", "postgresql", NOWHERE, "--stacks", "--callchains", "-o", "-" },
};

static const char *const branches[ROWS][WORDS] = {
    { "export", "bolt", NOWHERE, "-o", "-" },
    { "export", "fdata", NOWHERE, "-o", "-" },
    { "export", "autofdo", NOWHERE, "-o", "-" },
    { "export", "bolt", TRACED, "--itrace=b", "-o", "-" },
    { "export", "ctf", TRACED, "--itrace=i1usgl", "-o", FOLDER },
    { "export", "postgresql", TRACED, "--itrace=bep", "--calls", "-o", "-" },
    { "export", "folded", TRACED, "--itrace=i1usg", "-o", "-" },
    { "report", TRACED, "-j", "2", "--json", "--children", "--itrace=i1usg" },
};

#define WORKS "--symfs", "/dev/shm/perfdata-none", "--kallsyms", "/dev/null"

static const char *const works[ROWS][WORDS] = {
    { "sched", "timehist", "-wMVn", "--state", "--with-summary", WORKS },
    { "sched", "timehist", "--summary", "--idle-hist", WORKS },
    { "timechart", "-o", "/dev/null" },
    { "kwork", "report", "--with-summary", WORKS },
    { "kwork", "timehist", "--call-graph", WORKS },
    { "lock", "info", "--threads", "--kallsyms", "/dev/null" },
    { "lock", "contention", "--threads", "--kallsyms", "/dev/null" },
    { "kmem", "--caller", "--raw-ip", "--alloc", "stat", WORKS },
};

static const char *const calls[ROWS][WORDS] = {
    { "kvm", "--guest", "stat", "report" },
    { "kvm", "--guest", "stat", "report", "--event", "ioport", "--key", "time" },
    { "kvm", "--host", "--guest", "report", NOWHERE, "--stdio" },
    { "trace", WORKS },
    { "trace", "-S", "--errno-summary", "--sched", "-T", WORKS },
    { "trace", "--print-sample", "--failure", "-C", "0", WORKS },
    { "stat", "report", "--per-core" },
    { "data", "convert", "--force", "--to-json", "/dev/null" },
};

static const char *const traces[ROWS][WORDS] = {
    { "annotate", TRACED, "--stdio", "--itrace=i1us" },
    { "report", TRACED, "--stdio", "--itrace=bl", "-b" },
    { "script", TRACED, "-j", "2", "--itrace=bexwpo", "-F", "+flags,+synth,+insn,+brstack" },
    { "export", "json", TRACED, "--itrace=bexwp", "-o", "-" },
    { "export", "chrome", TRACED, "--itrace=i1usg", "-o", "-" },
    { "flame", TRACED, "--itrace=i1usg", "-o", "-" },
    { "inject", "--itrace=i1usle", "-o", "/dev/null" },
    { "aux", "dump", "--json" },
};

static const char *const checks[ROWS][WORDS] = { { "check" } };

/* What one file goes through. Of a table with one row that one is run. */
enum { KINDS = 8, TABLES = 4 };
typedef const char *const row_words[WORDS];

static row_words *const kinds[KINDS][TABLES] = {
    { scripts, reports, headers, checks },
    { subjects, forms },
    { accesses },
    { folders },
    { branches },
    { works },
    { calls },
    { traces },
};

static char path[64], folder[64];
static const char *symfs = "/dev/shm/perfdata-none";

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    snprintf(path, sizeof path, "/dev/shm/perfdata-fuzz-%d.data", (int)getpid());
    snprintf(folder, sizeof folder, "/dev/shm/perfdata-fuzz-%d.folder", (int)getpid());
    if (getenv("FUZZ_SYMFS"))
        symfs = getenv("FUZZ_SYMFS");
    setenv("PERF_CONFIG", "/dev/null", 1);
    setenv("HOME", "/dev/shm/perfdata-none", 1);
    setenv("XDG_CACHE_HOME", "/dev/shm/perfdata-none", 1);
    setenv("TZ", "UTC", 1);
    return 0;
}

static int remove_one(const char *name, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(name);
}

static void run(const char *const *words)
{
    char copies[WORDS + 2][PATH_MAX], *argv[WORDS + 3];
    int argc = 0;
    for (; argc < WORDS && words[argc]; argc++)
        snprintf(copies[argc], sizeof copies[argc], "%s",
                 !strcmp(words[argc], FOLDER)  ? folder
                 : !strcmp(words[argc], SYMFS) ? symfs
                                               : words[argc]);
    snprintf(copies[argc++], sizeof copies[argc], "-i");
    snprintf(copies[argc++], sizeof copies[argc], "%s", path);
    for (int i = 0; i < argc; i++)
        argv[i] = copies[i];
    argv[argc] = NULL;
    run_verb(argc, argv);
    if (nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    unsigned row = data[size - 1] % ROWS;
    row_words *const *tables = kinds[data[size - 1] / ROWS % KINDS];
    for (unsigned i = 0; i < TABLES && tables[i]; i++)
        run(tables[i][tables[i] == checks ? 0 : row]);
    unlink(path);
    return 0;
}
