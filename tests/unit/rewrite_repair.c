/* SPDX-License-Identifier: MIT */
/* repair: every whole record outside the damage, and of a cut recording nothing else.
 *
 *     test_rewrite_repair FILE [CUTS CORRUPTIONS [PERF]]
 *
 * FILE: also one below PERFDATA_CORPUS. CUTS: how many places the file is cut at, beside each of
 * the last KiB (all of the last 64 KiB: "all"). PERF: every so many outputs are given to perf,
 * where it is installed. */
#include "container/container.h"
#include "test.h"
#include <fcntl.h>
#include <perfdata/rewrite.h>
#include <sys/stat.h>
#include <unistd.h>

struct seen {
    uint64_t start, end, hash;
};

struct list {
    struct seen *items;
    size_t count, capacity;
};

static char out_path[256];
static unsigned perf_every, outputs, perf_runs;
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void add(struct list *list, struct seen item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 1024;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        if (!list->items)
            abort();
    }
    list->items[list->count++] = item;
}

/* What a file keeps in sections, and what only holds other records, is no record here. */
static bool counts(uint32_t type)
{
    return type != PD_RECORD_HEADER_ATTR && type != PD_RECORD_HEADER_FEATURE &&
           type != PD_RECORD_HEADER_TRACING_DATA && type != PD_RECORD_COMPRESSED &&
           type != PD_RECORD_COMPRESSED2;
}

static int read_list(struct pd_source *source, struct pd_recording *r, struct list *list)
{
    struct pd_walk *walk;
    struct pd_raw raw;
    int got = pd_recording_open(source, "x", r);
    if (got == 0 && pd_walk_open(r, &walk) == 0) {
        while ((got = pd_walk_next(walk, &raw)) > 0)
            if (counts(raw.type) && !pd_walk_doubts(walk, &raw))
                add(list, (struct seen){ raw.offset, raw.offset + raw.size + raw.payload_size,
                                         pd_digest(raw.data, raw.size, 0) });
        pd_walk_close(walk);
    }
    return got;
}

/* The records of a whole file. An empty output holds one mark, which is left out. */
static int list_path(const char *path, struct list *list)
{
    struct pd_recording r = { 0 };
    struct pd_source *source;
    list->count = 0;
    pd_context_init(&r.context);
    int got = pd_source_open_path(&r.context, path, &source);
    if (got == 0)
        got = read_list(source, &r, list);
    uint64_t issues = 0;
    for (int kind = 0; kind < PERFDATA_ISSUE_COUNT; kind++)
        issues += r.context.issue_count[kind];
    pd_recording_close(&r);
    return got < 0 ? got : issues != 0;
}

static int repair(const uint8_t *bytes, size_t size)
{
    struct perfdata_output output = { .struct_size = sizeof output, .path = out_path };
    perfdata_recording *recording;
    uint8_t *copy = malloc(size ? size : 1); /* its end is guarded by the sanitizer */
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    unlink(out_path);
    int status = perfdata_recording_open_memory(copy, size, NULL, &recording);
    if (status == 0)
        status = perfdata_repair(recording, &output, NULL);
    perfdata_recording_close(recording);
    free(copy);
    return status;
}

/* perf reads to the end what was repaired. */
static void check_perf(void)
{
    char command[512];
    if (!perf_every || ++outputs % perf_every)
        return;
    snprintf(command, sizeof command,
             "PERF_CONFIG=/dev/null perf script -f -i %s >/dev/null 2>&1 </dev/null", out_path);
    perf_runs++;
    CHECK_U64((uint64_t)system(command), 0);
}

static void check_cut(const uint8_t *bytes, size_t cut, const struct list *whole, uint64_t data)
{
    static struct list got;
    int status = repair(bytes, cut);
    if (cut < data)
        return;
    CHECK_U64((uint64_t)-status, 0);
    CHECK_U64((uint64_t)list_path(out_path, &got), 0);
    check_perf();
    size_t expected = 0;
    while (expected < whole->count && whole->items[expected].end <= cut)
        expected++;
    if (!expected) { /* the mark that stands for nothing */
        CHECK(got.count <= 1);
        return;
    }
    CHECK_U64(got.count, expected);
    if (got.count != expected)
        fprintf(stderr, "cut at %zu\n", cut);
    for (size_t i = 0; i < expected && i < got.count; i++)
        if (got.items[i].hash != whole->items[i].hash) {
            CHECK_U64(i, UINT64_MAX);
            return;
        }
}

/* Records outside [from, to) come in their order; others may stand between. */
static void check_damage(const uint8_t *bytes, size_t size, size_t from, size_t to,
                         const struct list *whole)
{
    static struct list got;
    CHECK_U64((uint64_t)-repair(bytes, size), 0);
    CHECK_U64((uint64_t)list_path(out_path, &got), 0);
    check_perf();
    size_t at = 0, lost = 0;
    for (size_t i = 0; i < whole->count; i++) {
        const struct seen *item = &whole->items[i];
        if (item->end > from && item->start < to)
            continue;
        size_t look = at;
        while (look < got.count && got.items[look].hash != item->hash)
            look++;
        if (look == got.count)
            lost++;
        else
            at = look + 1;
    }
    if (lost) {
        fprintf(stderr, "damage %zu to %zu\n", from, to);
        if (getenv("KEEP")) {
            FILE *f = fopen(getenv("KEEP"), "w");
            fwrite(bytes, 1, size, f);
            fclose(f);
        }
    }
    CHECK_U64(lost, 0);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    struct stat info;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) < 0)
        return NULL;
    uint8_t *bytes = malloc((size_t)info.st_size + 1);
    *size = bytes ? (size_t)read(fd, bytes, (size_t)info.st_size) : 0;
    close(fd);
    return bytes;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : NULL, *folder = getenv("TMPDIR");
    bool all = argc > 2 && !strcmp(argv[2], "all");
    unsigned cuts = all ? 1000 : argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100;
    unsigned corruptions = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 100;
    if (argc > 4 && system("perf --version >/dev/null 2>&1") == 0)
        perf_every = (unsigned)strtoul(argv[4], NULL, 10);
    char below[512];
    if (path && *path != '/' && getenv("PERFDATA_CORPUS")) {
        snprintf(below, sizeof below, "%s/%s", getenv("PERFDATA_CORPUS"), path);
        path = below;
    }
    size_t size = 0;
    uint8_t *bytes = path ? read_file(path, &size) : NULL;
    struct list whole = { 0 };
    if (!bytes) {
        printf("no recording\n");
        return TEST_SKIP;
    }
    snprintf(out_path, sizeof out_path, "%s/perfdata-repair-%d", folder ? folder : "/tmp",
             (int)getpid());
    CHECK_U64((uint64_t)list_path(path, &whole), 0);
    uint64_t data = pd_load64(bytes + 40, false), end = data + pd_load64(bytes + 48, false);
    size_t dense = all ? 65536 : 1024;
    for (size_t i = 0; i < dense && i < size; i++)
        check_cut(bytes, size - i, &whole, data);
    for (unsigned i = 0; i < cuts; i++)
        check_cut(bytes, next_random() % size, &whole, data);
    uint8_t *damaged = malloc(size);
    for (unsigned i = 0; damaged && i < corruptions; i++) {
        size_t length = 1 + next_random() % 4096, from = data + next_random() % (end - data);
        size_t to = PD_MIN(from + length, (size_t)end);
        memcpy(damaged, bytes, size);
        for (size_t k = from; k < to; k++)
            damaged[k] = (uint8_t)next_random();
        check_damage(damaged, size, from, to, &whole);
    }
    for (size_t page = data / 4096; damaged && page * 4096 < end; page++) {
        size_t from = PD_MAX(page * 4096, (size_t)data),
               to = PD_MIN(page * 4096 + 4096, (size_t)end);
        memcpy(damaged, bytes, size);
        memset(damaged + from, 0, to - from);
        check_damage(damaged, size, from, to, &whole);
    }
    printf("%u of %u outputs were given to perf\n", perf_runs, outputs);
    unlink(out_path);
    free(damaged);
    free(bytes);
    free(whole.items);
    return test_done();
}
