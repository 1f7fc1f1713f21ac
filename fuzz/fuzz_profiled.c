/* SPDX-License-Identifier: MIT */
/* A program of any bytes as the object that branches of a recording ran in, for the forms that name
 * its functions and lines: what comes out keeps the form's grammar whatever the names are. The
 * recording is made here: one sample, whose branches are the input's last 64 bytes, pairs of
 * offsets from 0x400000 that are little-endian numbers of 16 bits. */
#include "run_verb.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BRANCHES = 16, TRAIL = 4 * BRANCHES, WORDS = 12 };

static char root[64], program[80], text[80], recording[80], output[80];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    snprintf(root, sizeof root, "/dev/shm/perfdata-fuzz-%d.root", (int)getpid());
    if (mkdir(root, 0700))
        abort();
    snprintf(program, sizeof program, "%s/program", root);
    snprintf(text, sizeof text, "%s/text", root);
    snprintf(recording, sizeof recording, "%s/recording", root);
    snprintf(output, sizeof output, "%s/output", root);
    setenv("PERF_CONFIG", "/dev/null", 1);
    setenv("HOME", "/dev/shm/perfdata-none", 1);
    setenv("XDG_CACHE_HOME", "/dev/shm/perfdata-none", 1);
    return 0;
}

static void put_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd))
        abort();
}

static enum tool_exit run(const char *const *words)
{
    char copies[WORDS][80], *argv[WORDS + 1];
    int argc = 0;
    for (; argc < WORDS && words[argc]; argc++) {
        snprintf(copies[argc], sizeof copies[argc], "%s", words[argc]);
        argv[argc] = copies[argc];
    }
    argv[argc] = NULL;
    return run_verb(argc, argv);
}

static void make_recording(const uint8_t *trail)
{
    static const char head[] =
        "perfdata-text 1\ncontainer file order=little header_size=104\n"
        "attr cycles={type=hardware size=128 sample_period=1000"
        " sample_type=IP|TID|TIME|PERIOD|BRANCH_STACK flags=sample_id_all branch_sample_type=0x9}\n"
        "ids cycles\nattrs\ndata\nrecord COMM {pid=7 tid=7 comm=\"step\"}\n"
        "record MMAP2 misc=0x2 {pid=7 tid=7 addr=0x400000 len=0x10000 pgoff=0 maj=8 min=1 ino=7"
        " ino_generation=1 prot=5 flags=2 filename=\"/program\"}\n"
        "record SAMPLE misc=0x2 {ip=0x400000 pid=7 tid=7 time=1.0s period=1000 branches=[";
    char all[sizeof head + 32 * BRANCHES];
    size_t used = (size_t)snprintf(all, sizeof all, "%s", head);
    for (const uint8_t *at = trail; at < trail + TRAIL; at += 4)
        used += (size_t)snprintf(all + used, sizeof all - used, "0x40%02x%02x 0x40%02x%02x 2 ",
                                 at[1], at[0], at[3], at[2]);
    used += (size_t)snprintf(all + used, sizeof all - used, "]}\nend\n");
    put_file(text, all, used);
    if (run((const char *const[WORDS]){ "assemble", text, "-o", recording }) != TOOL_DONE)
        abort();
}

/* ---- grammars ---- */

/* Numbers of digits that COUNT colons come before, at the line's end; returns what stands before
 * them, 0 when they are none. */
static size_t before_counts(const char *line, size_t length, unsigned count)
{
    for (; count; count--) {
        size_t digits = 0;
        while (digits < length && strchr("0123456789", line[length - 1 - digits]))
            digits++;
        if (!digits || digits == length || line[length - 1 - digits] != ':')
            return 0;
        length -= digits + 1;
    }
    return length;
}

/* Targets as LLVM reads them: a name ends at the first : that a number and a blank, or the line's
 * end, are behind. */
static bool are_targets(const char *rest, const char *end)
{
    while (rest < end) {
        const char *colon = *rest == ':' ? NULL : memchr(rest, ':', (size_t)(end - rest));
        while (colon) {
            const char *behind = colon + 1 + strspn(colon + 1, "0123456789");
            if (behind > colon + 1 && (behind == end || *behind == ' ')) {
                rest = behind + (behind < end);
                break;
            }
            colon = memchr(colon + 1, ':', (size_t)(end - colon - 1));
        }
        if (!colon)
            return false;
    }
    return true;
}

/* "name:total:head", or " line: ..." below it. */
static bool is_llvm(const char *line, size_t length)
{
    size_t depth = strspn(line, " ");
    if (!depth)
        return !strchr("#![:0123456789", *line) && before_counts(line, length, 2);
    size_t place = depth + strspn(line + depth, "0123456789.");
    if (place == depth || place + 2 >= length || line[place] != ':' || line[place + 1] != ' ')
        return false;
    const char *rest = line + place + 2;
    size_t digits = strspn(rest, "0123456789");
    /* A line that ran, alone or with what it called; else a function that was put there. */
    return place + 2 + digits == length ||
           (digits && rest[digits] == ' ' && are_targets(rest + digits + 1, line + length)) ||
           (!digits && before_counts(line, length, 1) > place + 2);
}

/* Eight words; a space of a name stands behind a backslash. */
static bool is_fdata(const char *line, size_t length)
{
    unsigned words = 1;
    for (size_t i = 0; i < length; i++)
        if (line[i] == '\\')
            i++;
        else
            words += line[i] == ' ';
    return words == 8;
}

static void check(bool (*is_line)(const char *line, size_t length))
{
    FILE *in = fopen(output, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while (in && (length = getline(&line, &room, in)) > 0) {
        for (ssize_t i = 0; i + 1 < length; i++)
            if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
                abort();
        if (line[length - 1] != '\n')
            abort();
        line[length - 1] = '\0';
        if (is_line && !is_line(line, (size_t)length - 1))
            abort();
    }
    free(line);
    if (in)
        fclose(in);
    unlink(output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *name;
        bool (*is_line)(const char *line, size_t length);
    } forms[] = {
        { "llvm", is_llvm }, { "fdata", is_fdata }, { "autofdo", NULL }, { "bolt", NULL }
    };
    if (size < TRAIL)
        return 0;
    put_file(program, data, size - TRAIL);
    make_recording(data + size - TRAIL);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        run((const char *const[WORDS]){ "export", forms[i].name, "--symfs", root, "--kallsyms",
                                        "/dev/null", "-o", output, "-i", recording });
        check(forms[i].is_line);
    }
    return 0;
}
