/* SPDX-License-Identifier: MIT */
/* A perf map, lines "START SIZE name" that a runtime writes about code it made -> symbols. */
#include "object/internal.h"
#include "base/memory.h"
#include "object/process.h"

#include <elf.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_LEAST 3 /* shorter ones perf drops */
#define READ_SIZE ((size_t)1 << 20)
#define SYMBOLS_LIMIT ((size_t)512 << 20) /* bytes of the table */

/* Like strtoull in base 16: blanks, a sign and 0x may lead. Returns what was read, 0 when there is
 * no number. */
static size_t read_hex(const char *text, size_t size, uint64_t *value)
{
    size_t at = 0;
    bool negative = false, over = false;

    *value = 0;
    while (at < size && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r')))
        at++;
    if (at < size && (text[at] == '-' || text[at] == '+'))
        negative = text[at++] == '-';
    size_t first = at;
    if (size - at > 2 && text[at] == '0' && (text[at + 1] | 32) == 'x' &&
        strchr("0123456789abcdefABCDEF", text[at + 2]) && text[at + 2])
        first = at += 2;
    for (; at < size; at++) {
        char c = text[at];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (unsigned)((c | 32) - 'a' + 10);
        else
            break;
        over |= *value >> 60 != 0;
        *value = *value << 4 | digit;
    }
    if (at == first)
        return 0;
    if (over)
        *value = UINT64_MAX;
    else if (negative)
        *value = -*value;
    return at;
}

static bool parse_line(struct pd_symtab_builder *builder, const char *line, size_t size)
{
    uint64_t start, length;
    size_t at = read_hex(line, size, &start) + 1;

    if (at + NAME_LEAST - 1 >= size)
        return true;
    at += read_hex(line + at, size - at, &length) + 1;
    if (at + NAME_LEAST - 1 >= size)
        return true;
    return pd_symtab_add_range(builder, start, start + length, PD_SYMBOL_GLOBAL, STT_FUNC,
                               line + at, strnlen(line + at, size - at), PD_NAME_READY);
}

/* All whole lines, at the end the last one too. Returns how much was taken; `*ok` false: no
 * memory. */
static size_t parse(struct pd_symtab_builder *builder, const char *text, size_t size, bool at_end,
                    bool *ok)
{
    size_t done = 0;

    while (*ok && done < size) {
        const char *end = memchr(text + done, '\n', size - done);
        if (!end && !at_end)
            break;
        /* perf cuts each line's last character, also where a last line has no newline */
        size_t taken = end ? (size_t)(end - text) + 1 - done : size - done;
        *ok = parse_line(builder, text + done, taken - 1);
        done += taken;
    }
    return done;
}

/* ---- files ---- */

/* A file as it is read: never more of it than a buffer. */
struct reading {
    int fd;
    char *buffer;
    size_t size;       /* of what is in it */
    bool skips;        /* the rest of a line that is longer than the buffer */
    uint64_t too_long; /* such lines */
    bool full;         /* the table is as large as it may be */
    bool failed;       /* no memory */
};

static void drop(struct reading *r, size_t count)
{
    r->size -= count;
    memmove(r->buffer, r->buffer + count, r->size);
}

/* Leaves out what has come of a line longer than the buffer, and what still comes up to its end. */
static void skip_line(struct reading *r)
{
    const char *end = r->skips ? memchr(r->buffer, '\n', r->size) : NULL;

    if (r->skips) {
        drop(r, end ? (size_t)(end - r->buffer) + 1 : r->size);
        r->skips = !end;
    }
}

static bool read_on(struct reading *r, struct pd_symtab_builder *builder)
{
    ssize_t got = read(r->fd, r->buffer + r->size, READ_SIZE - r->size);
    bool ok = true;

    r->size += got > 0 ? (size_t)got : 0;
    skip_line(r);
    drop(r, parse(builder, r->buffer, r->size, got <= 0, &ok));
    if (r->size == READ_SIZE) {
        r->too_long++;
        r->skips = true;
        skip_line(r);
    }
    r->failed = !ok;
    r->full = pd_symtab_builder_memory(builder) > SYMBOLS_LIMIT;
    return got > 0 && ok && !r->full;
}

static void tell(const struct pd_object_search *search, const char *path, const struct reading *r)
{
    if (!search->context)
        return;
    if (r->full)
        (void)pd_issue(search->context, PERFDATA_ISSUE_OBJECT, -1,
                       "%s has more symbols than %zu MiB hold: the rest was not read", path,
                       SYMBOLS_LIMIT >> 20);
    if (r->too_long)
        (void)pd_issue(search->context, PERFDATA_ISSUE_OBJECT, -1,
                       "%s: %llu lines longer than %zu MiB were left out", path,
                       (unsigned long long)r->too_long, READ_SIZE >> 20);
}

/* `*was_read` false: there is no such file. */
static perfdata_status read_map(const struct pd_object_search *search, const char *path,
                                struct pd_symtab_builder *builder, bool *was_read)
{
    struct reading r = { .fd = pd_file_open(path) };

    *was_read = r.fd >= 0;
    if (r.fd < 0)
        return PERFDATA_OK;
    r.buffer = pd_memory_noted(malloc(READ_SIZE));
    r.failed = !r.buffer;
    while (!r.failed && read_on(&r, builder))
        ;
    free(r.buffer);
    close(r.fd);
    tell(search, path, &r);
    return r.failed ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
}

/* ---- whose it is ---- */

/* Anyone can put a file into /tmp: while the process lives, its map is one of its users', root's or
 * ours. */
static bool is_strangers(const char *path, uint32_t pid)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_uid && st.st_uid != geteuid() && pid &&
           pd_process_has_user(pid, st.st_uid) == 0;
}

static bool is_of(const char *path, uint32_t pid)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && pd_process_has_user(pid, st.st_uid) > 0;
}

/* A process of a container names its map by the pid that it has there. False: it has none, or does
 * not live. */
static bool map_of_container(uint32_t pid, char *path, size_t room)
{
    char root[PD_ROOT_ROOM];
    uint32_t own = pid ? pd_process_own_pid(pid) : 0;

    if (!own)
        return false;
    bool elsewhere = pd_process_is_elsewhere(pid, root);
    int length = snprintf(path, room, "%s/tmp/perf-%u.map", root, own);
    if (length < 0 || (size_t)length >= room || (!elsewhere && own == pid))
        return false;
    /* Where it shares our /tmp, that may be the name of another process's map. */
    return elsewhere ? pd_file_is_regular(path) : is_of(path, pid);
}

/* ---- objects ---- */

/* The builder's table, if there was no failure, in a new object. */
static perfdata_status give_map(struct pd_symtab_builder *builder, perfdata_status status,
                                const char *path, struct pd_object **out)
{
    struct pd_object *object = pd_object_new();

    if (!object)
        status = PERFDATA_ERROR_MEMORY;
    if (!status) {
        object->type = builder->all.count ? PD_OBJECT_PERF_MAP : PD_OBJECT_NOT_FOUND;
        object->symtab = pd_symtab_finish(builder);
        builder = NULL;
        object->symbol_path = path ? pd_memory_noted(strdup(path)) : NULL;
        if (!object->symtab || (path && !object->symbol_path))
            status = PERFDATA_ERROR_MEMORY;
    }
    pd_symtab_builder_free(builder);
    return pd_object_give(object, status, out);
}

perfdata_status pd_object_load_perf_map_memory(const struct pd_object_search *search,
                                               const void *text, size_t size,
                                               struct pd_object **out)
{
    struct pd_symtab_builder *builder = pd_symtab_builder_new(PD_DEMANGLE_NONE);
    bool ok = builder != NULL;

    (void)search;
    if (ok)
        (void)parse(builder, text, size, true, &ok);
    return give_map(builder, ok ? PERFDATA_OK : PERFDATA_ERROR_MEMORY, NULL, out);
}

perfdata_status pd_object_load_perf_map(const struct pd_object_search *search, const char *path,
                                        uint32_t pid, struct pd_object **out)
{
    char inside[PD_PATH_ROOM];
    struct pd_symtab_builder *builder = pd_symtab_builder_new(PD_DEMANGLE_NONE);
    perfdata_status status = builder ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
    bool was_read = false;

    if (map_of_container(pid, inside, sizeof inside))
        path = inside;
    if (builder && !search->force && is_strangers(path, pid)) {
        if (search->context)
            status = pd_issue(search->context, PERFDATA_ISSUE_OBJECT, -1,
                              "%s belongs to another user than its process: not used (-f: used)",
                              path);
    } else if (builder) {
        status = read_map(search, path, builder, &was_read);
    }
    return give_map(builder, status, was_read ? path : NULL, out);
}
