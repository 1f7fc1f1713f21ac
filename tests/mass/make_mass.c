/* SPDX-License-Identifier: MIT */
/* A kind and a count → a recording with that many things of that kind and at least one sample for
 * each:
 *
 *     make_mass KIND COUNT FILE
 *
 * What costs more a thing when there are more things is found by running a verb on two counts of
 * one kind. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMM = 3,
    FORK = 7,
    SAMPLE = 9,
    MMAP2 = 10,
    NAMESPACES = 16,
    KSYMBOL = 17,
    CGROUP = 19,
    AUXTRACE_INFO = 70,
    AUXTRACE = 71,
    BUILD_ID = 67,

    USER = 2,
    KERNEL = 1,
    PID = 1000,

    ATTR_SIZE = 128,
    FEATURE_TRACING_DATA = 1,
    FEATURE_BUILD_ID = 2,
    FEATURE_AUXTRACE = 18,
    SAMPLE_IP = 1 << 0,
    SAMPLE_TID = 1 << 1,
    SAMPLE_TIME = 1 << 2,
    SAMPLE_CALLCHAIN = 1 << 5,
    SAMPLE_PERIOD = 1 << 8,
    SAMPLE_RAW = 1 << 10,
    SAMPLE_IDENTIFIER = 1 << 16,
    SAMPLE_CGROUP = 1 << 21,

    ATTR_TRACEPOINT = 2,
    ATTR_RAW = 4,
    FIRST_POINT = 1000, /* number of the first tracepoint */
};

/* ---- bytes ---- */

struct bytes {
    uint8_t *data;
    size_t size, room;
};

static void add(struct bytes *to, const void *from, size_t size)
{
    while (to->size + size > to->room) {
        to->room = to->room ? to->room * 2 : 4096;
        to->data = realloc(to->data, to->room);
        if (!to->data)
            abort();
    }
    memcpy(to->data + to->size, from, size);
    to->size += size;
}

static void add16(struct bytes *to, uint16_t value)
{
    add(to, &value, sizeof value);
}

static void add32(struct bytes *to, uint32_t value)
{
    add(to, &value, sizeof value);
}

static void add64(struct bytes *to, uint64_t value)
{
    add(to, &value, sizeof value);
}

/* With its zero and zeros up to a multiple of 8 bytes. */
static void add_text(struct bytes *to, const char *text)
{
    static const char zeros[8];
    size_t size = strlen(text) + 1;
    add(to, text, size);
    add(to, zeros, -size & 7);
}

/* ---- records ---- */

struct mass {
    uint64_t count;
    uint64_t sample_type;
    uint64_t time;
    struct bytes data, ids, features;
    uint64_t events, ids_each;
    uint64_t point; /* of the next sample: which tracepoint it is of */
    int feature;    /* its number; 0: none */
};

/* Where the record begins, for end(). */
static size_t begin(struct mass *mass, uint32_t type, uint16_t misc)
{
    size_t at = mass->data.size;
    add32(&mass->data, type);
    add16(&mass->data, misc);
    add16(&mass->data, 0);
    return at;
}

static void end(struct mass *mass, size_t at)
{
    uint16_t size = (uint16_t)(mass->data.size - at);
    memcpy(mass->data.data + at + 6, &size, sizeof size);
}

/* The end of a record that is no sample: pid, tid, time, identifier. */
static void end_timed(struct mass *mass, size_t at, uint32_t pid)
{
    add32(&mass->data, pid);
    add32(&mass->data, pid);
    add64(&mass->data, mass->time += 1000);
    add64(&mass->data, 1);
    end(mass, at);
}

static void sample(struct mass *mass, uint16_t mode, uint32_t pid, uint64_t ip, uint64_t id,
                   uint64_t cgroup)
{
    size_t at = begin(mass, SAMPLE, mode);
    add64(&mass->data, id);
    add64(&mass->data, ip);
    add32(&mass->data, pid);
    add32(&mass->data, pid);
    add64(&mass->data, mass->time += 1000);
    add64(&mass->data, 1); /* period */
    if (mass->sample_type & SAMPLE_CALLCHAIN) {
        add64(&mass->data, 3);
        add64(&mass->data, mode == USER ? (uint64_t)-512 : (uint64_t)-128);
        add64(&mass->data, ip);
        add64(&mass->data, ip - 16);
    }
    if (mass->sample_type & SAMPLE_RAW) {
        add32(&mass->data, 20);
        add16(&mass->data, (uint16_t)(FIRST_POINT + mass->point));
        add16(&mass->data, 0);
        add32(&mass->data, pid);
        add64(&mass->data, mass->point);
        add32(&mass->data, 0); /* up to a multiple of 8 */
    }
    if (mass->sample_type & SAMPLE_CGROUP)
        add64(&mass->data, cgroup);
    end(mass, at);
}

static void comm(struct mass *mass, uint32_t pid, const char *name)
{
    size_t at = begin(mass, COMM, 0);
    add32(&mass->data, pid);
    add32(&mass->data, pid);
    add_text(&mass->data, name);
    end_timed(mass, at, pid);
}

static void fork_from(struct mass *mass, uint32_t parent, uint32_t child)
{
    size_t at = begin(mass, FORK, 0);
    add32(&mass->data, child);
    add32(&mass->data, parent);
    add32(&mass->data, child);
    add32(&mass->data, parent);
    add64(&mass->data, mass->time += 1000);
    end_timed(mass, at, parent);
}

static void map(struct mass *mass, uint32_t pid, uint64_t start, uint64_t size, const char *name)
{
    size_t at = begin(mass, MMAP2, USER);
    add32(&mass->data, pid);
    add32(&mass->data, pid);
    add64(&mass->data, start);
    add64(&mass->data, size);
    add64(&mass->data, 0);
    add32(&mass->data, 8);
    add32(&mass->data, 1);
    add64(&mass->data, 77);
    add64(&mass->data, 0);
    add32(&mass->data, 5); /* readable, executable */
    add32(&mass->data, 2); /* private */
    add_text(&mass->data, name);
    end_timed(mass, at, pid);
}

__attribute__((format(printf, 1, 2))) static const char *numbered(const char *format, ...)
{
    static char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return text;
}

/* ---- old hash functions, and what collided in them ---- */

/* The hash that this project had, which anybody could turn round: the number whose hash is
 * `hash`. */
static uint64_t collide(uint64_t hash)
{
    uint64_t factor = UINT64_C(0xd6e8feb86659fd93), inverse = factor;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    hash ^= hash >> 32;
    hash *= inverse;
    hash ^= hash >> 32;
    hash *= inverse;
    return hash ^ hash >> 32;
}

/* A name of 40 bytes for which the hash of bytes, as it was, gave a number whose low 32 bits are
 * zero. */
static const char *colliding_name(uint64_t number)
{
    static char name[64];
    uint64_t factor = UINT64_C(0xd6e8feb86659fd93), hash = 40 * UINT64_C(0x9e3779b97f4a7c15), word;
    memcpy(name, "/flood/", 7);
    for (int tries = 0;; tries++) {
        snprintf(name, sizeof name, "/flood/%08" PRIx64 "/%016x/", number, (unsigned)tries);
        uint64_t at = hash;
        for (size_t i = 0; i < 32; i += 8) {
            memcpy(&word, name + i, 8);
            at = (at ^ word) * factor, at ^= at >> 29;
        }
        uint64_t want = collide((number + 1) << 32);
        /* The last word is free: what leads from `at` to `want`. */
        uint64_t inverse = factor, before = want;
        for (int i = 0; i < 6; i++)
            inverse *= 2 - factor * inverse;
        before ^= before >> 29 ^ before >> 58;
        word = before * inverse ^ at;
        memcpy(name + 32, &word, 8);
        name[40] = 0;
        if (!memchr(name + 32, 0, 8) && !memchr(name + 32, '/', 8) && !memchr(name + 32, '\n', 8))
            return name;
    }
}

/* ---- kinds ---- */

static void one_program(struct mass *mass)
{
    comm(mass, PID, "mass");
    map(mass, PID, 0x400000, 0x100000, "/mass/program");
}

static uint64_t in_program(uint64_t i)
{
    return 0x400000 + i * 64 % 0x100000;
}

/* From high addresses to low ones, as mmap() hands them out. */
static void make_maps(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        uint64_t start = UINT64_C(0x7ff000000000) - i * 0x2000;
        map(mass, PID, start, 0x1000, numbered("/mass/lib%" PRIu64, i % 16));
        sample(mass, USER, PID, start + 0x40, 1, 0);
    }
}

/* Each map cuts the one before it. */
static void make_cuts(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        uint64_t start = UINT64_C(0x10000000) + i * 0x1000;
        map(mass, PID, start, 0x10000, numbered("/mass/lib%" PRIu64, i % 16));
        sample(mass, USER, PID, start + 0x40, 1, 0);
    }
}

static void make_dsos(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        uint64_t start = UINT64_C(0x10000000) + i * 0x2000;
        map(mass, PID, start, 0x1000, numbered("/mass/lib%" PRIu64 ".so", i));
        sample(mass, USER, PID, start + 0x40, 1, 0);
    }
}

static void make_dso_flood(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        uint64_t start = UINT64_C(0x10000000) + i * 0x2000;
        map(mass, PID, start, 0x1000, colliding_name(i));
        sample(mass, USER, PID, start + 0x40, 1, 0);
    }
}

static void make_threads(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        fork_from(mass, PID, (uint32_t)(PID + 1 + i));
        sample(mass, USER, (uint32_t)(PID + 1 + i), in_program(i), 1, 0);
    }
}

static void make_nested(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        fork_from(mass, (uint32_t)(PID + i), (uint32_t)(PID + 1 + i));
        sample(mass, USER, (uint32_t)(PID + 1 + i), in_program(i), 1, 0);
    }
}

/* 1000 maps, which all processes have. */
static void make_forks(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < 1000; i++)
        map(mass, PID, UINT64_C(0x10000000) + i * 0x2000, 0x1000,
            numbered("/mass/lib%" PRIu64, i % 16));
    for (uint64_t i = 0; i < mass->count; i++) {
        fork_from(mass, PID, (uint32_t)(PID + 1 + i));
        sample(mass, USER, (uint32_t)(PID + 1 + i), in_program(i), 1, 0);
    }
}

static void make_comms(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        comm(mass, PID, numbered("c%" PRIu64, i));
        sample(mass, USER, PID, in_program(i), 1, 0);
    }
}

static void make_cgroups(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        size_t at = begin(mass, CGROUP, 0);
        add64(&mass->data, 1000 + i);
        add_text(&mass->data, numbered("/slice/%" PRIu64, i));
        end_timed(mass, at, PID);
        sample(mass, USER, PID, in_program(i), 1, 1000 + i);
    }
}

static void make_namespaces(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        uint32_t pid = (uint32_t)(PID + 1 + i);
        fork_from(mass, PID, pid);
        size_t at = begin(mass, NAMESPACES, 0);
        add32(&mass->data, pid);
        add32(&mass->data, pid);
        add64(&mass->data, 7);
        for (uint64_t k = 0; k < 7; k++) {
            add64(&mass->data, 4);
            add64(&mass->data, 0xf0000000 + i * 8 + k);
        }
        end_timed(mass, at, pid);
        sample(mass, USER, pid, in_program(i), 1, 0);
    }
}

static void make_ksymbols(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++) {
        uint64_t start = UINT64_C(0xffffffffc0000000) + i * 256;
        size_t at = begin(mass, KSYMBOL, 0);
        add64(&mass->data, start);
        add32(&mass->data, 256);
        add16(&mass->data, 1); /* BPF */
        add16(&mass->data, 0);
        add_text(&mass->data, numbered("bpf_prog_%016" PRIx64, i));
        end_timed(mass, at, PID);
        sample(mass, KERNEL, PID, start + 16, 1, 0);
    }
}

static void make_ids(struct mass *mass)
{
    one_program(mass);
    mass->ids_each = mass->count;
    for (uint64_t i = 0; i < mass->count; i++)
        sample(mass, USER, PID, in_program(i), i + 1, 0);
}

static void make_id_flood(struct mass *mass)
{
    one_program(mass);
    mass->ids_each = mass->count;
    for (uint64_t i = 0; i < mass->count; i++) {
        add64(&mass->ids, i ? collide(i << 32) : 1);
        sample(mass, USER, PID, in_program(i), i ? collide(i << 32) : 1, 0);
    }
}

static void make_events(struct mass *mass)
{
    one_program(mass);
    mass->events = mass->count;
    for (uint64_t i = 0; i < mass->count; i++)
        sample(mass, USER, PID, in_program(i), i + 1, 0);
}

/* A length before it, as all parts of tracing data have. */
static void add_part(struct bytes *to, const char *text)
{
    add64(to, strlen(text));
    add(to, text, strlen(text));
}

/* Tracepoints of one system, each with a format of its own. */
static void make_tracepoints(struct mass *mass)
{
    struct bytes *out = &mass->features;
    one_program(mass);
    mass->feature = FEATURE_TRACING_DATA;
    mass->events = mass->count;
    add(out, "\x17\x08\x44tracing0.6\0\0\x08", 16); /* little-endian, longs of 8 bytes */
    add32(out, 4096);
    add(out, "header_page", 12);
    add_part(out, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n");
    add(out, "header_event", 13);
    add_part(out, "");
    add32(out, 0); /* of ftrace itself */
    add32(out, 1);
    add(out, "mass", 5);
    add32(out, (uint32_t)mass->count);
    for (uint64_t i = 0; i < mass->count; i++) {
        add_part(out, numbered("name: p%" PRIu64 "\nID: %" PRIu64 "\nformat:\n"
                               "\tfield:u16 common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                               "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                               "\tfield:u64 value;\toffset:8;\tsize:8;\tsigned:0;\n\n"
                               "print fmt: \"value=%%llu\", REC->value\n",
                               i, FIRST_POINT + i));
        mass->point = i;
        sample(mass, USER, PID, in_program(i), i + 1, 0);
    }
    add32(out, 0); /* addresses of the kernel */
    add32(out, 0); /* formats of printk() */
    add64(out, 0); /* names of tasks */
}

static void make_addresses(struct mass *mass)
{
    one_program(mass);
    for (uint64_t i = 0; i < mass->count; i++)
        sample(mass, USER, PID, 0x400000 + i * 16, 1, 0);
}

static void make_build_ids(struct mass *mass)
{
    make_dsos(mass);
    mass->feature = FEATURE_BUILD_ID;
    for (uint64_t i = 0; i < mass->count; i++) {
        struct bytes entry = { 0 };
        uint8_t id[24] = { 0 };
        memcpy(id, &i, sizeof i);
        id[20] = 20;
        add32(&entry, UINT32_MAX);
        add(&entry, id, sizeof id);
        add_text(&entry, numbered("/mass/lib%" PRIu64 ".so", i));
        add32(&mass->features, BUILD_ID);
        add16(&mass->features, USER);
        add16(&mass->features, (uint16_t)(8 + entry.size));
        add(&mass->features, entry.data, entry.size);
        free(entry.data);
    }
}

/* AUX areas of 64 bytes, and the sections that list them, 256 entries each. */
static void make_sections(struct mass *mass)
{
    enum { EACH = 256 };
    one_program(mass);
    size_t at = begin(mass, AUXTRACE_INFO, 0);
    add32(&mass->data, 1); /* Intel PT */
    add32(&mass->data, 0);
    for (int i = 0; i < 17; i++)
        add64(&mass->data, i == 0 ? 8 : 0);
    end(mass, at);
    for (uint64_t i = 0; i < mass->count; i++) {
        static const uint8_t zeros[64];
        if (i % EACH == 0)
            add64(&mass->features, mass->count - i < EACH ? mass->count - i : EACH);
        add64(&mass->features, 104 + mass->data.size);
        add64(&mass->features, 48);
        at = begin(mass, AUXTRACE, 0);
        add64(&mass->data, sizeof zeros);
        add64(&mass->data, i * sizeof zeros);
        add64(&mass->data, 0);
        add32(&mass->data, (uint32_t)(i % 8));
        add32(&mass->data, UINT32_MAX);
        add32(&mass->data, (uint32_t)(i % 8));
        add32(&mass->data, 0);
        end(mass, at);
        add(&mass->data, zeros, sizeof zeros);
    }
    mass->feature = FEATURE_AUXTRACE;
}

static const struct {
    const char *name;
    void (*make)(struct mass *mass);
    uint64_t sample_type;
} kinds[] = {
    { "maps", make_maps, 0 },
    { "cuts", make_cuts, 0 },
    { "threads", make_threads, 0 },
    { "nested", make_nested, 0 },
    { "forks", make_forks, 0 },
    { "comms", make_comms, 0 },
    { "cgroups", make_cgroups, SAMPLE_CGROUP },
    { "namespaces", make_namespaces, 0 },
    { "ids", make_ids, 0 },
    { "id-flood", make_id_flood, 0 },
    { "dsos", make_dsos, 0 },
    { "dso-flood", make_dso_flood, 0 },
    { "ksymbols", make_ksymbols, 0 },
    { "events", make_events, 0 },
    { "tracepoints", make_tracepoints, SAMPLE_RAW },
    { "build-ids", make_build_ids, 0 },
    { "sections", make_sections, 0 },
    { "addresses", make_addresses, 0 },
    { "chains", make_maps, SAMPLE_CALLCHAIN },
};

/* ---- the file ---- */

static void add_attr(struct bytes *to, const struct mass *mass, uint64_t number, uint64_t ids_at)
{
    uint64_t bits = UINT64_C(1) << 8 | UINT64_C(1) << 9 | UINT64_C(1) << 13 | UINT64_C(1) << 18 |
                    UINT64_C(1) << 23;
    size_t at = to->size;
    const bool is_point = mass->sample_type & SAMPLE_RAW;
    add32(to, is_point ? ATTR_TRACEPOINT : ATTR_RAW);
    add32(to, ATTR_SIZE);
    add64(to, number + (is_point ? FIRST_POINT : 0x100)); /* config */
    add64(to, 1000);                                      /* period */
    add64(to, mass->sample_type);
    add64(to, 0);    /* read format */
    add64(to, bits); /* mmap, comm, task, sample_id_all, mmap2 */
    while (to->size < at + ATTR_SIZE)
        add64(to, 0);
    add64(to, ids_at + number * mass->ids_each * 8);
    add64(to, mass->ids_each * 8);
}

static int write_file(const struct mass *mass, const char *path)
{
    struct bytes head = { 0 }, tail = { 0 };
    uint64_t data_at = 104, tail_at = data_at + mass->data.size;
    uint64_t flags[4] = { 0 };
    if (mass->feature) {
        flags[0] = UINT64_C(1) << mass->feature;
        add64(&tail, tail_at + 16);
        add64(&tail, mass->features.size);
        add(&tail, mass->features.data, mass->features.size);
    }
    uint64_t attrs_at = tail_at + tail.size;
    uint64_t attrs_size = mass->events * (ATTR_SIZE + 16);
    for (uint64_t i = 0; i < mass->events; i++)
        add_attr(&tail, mass, i, attrs_at + attrs_size);
    add(&tail, mass->ids.data, mass->ids.size);
    add(&head, "PERFILE2", 8);
    add64(&head, 104);
    add64(&head, ATTR_SIZE + 16);
    add64(&head, attrs_at);
    add64(&head, attrs_size);
    add64(&head, data_at);
    add64(&head, mass->data.size);
    add64(&head, 0);
    add64(&head, 0);
    add(&head, flags, sizeof flags);
    FILE *file = fopen(path, "wb");
    if (!file)
        return 1;
    bool wrong = fwrite(head.data, 1, head.size, file) != head.size ||
                 fwrite(mass->data.data, 1, mass->data.size, file) != mass->data.size ||
                 fwrite(tail.data, 1, tail.size, file) != tail.size;
    return fclose(file) || wrong;
}

int main(int argc, char **argv)
{
    struct mass mass = { .events = 1, .ids_each = 1 };
    for (size_t i = 0; argc == 4 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        mass.count = strtoull(argv[2], NULL, 10);
        mass.sample_type = kinds[i].sample_type | SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID |
                           SAMPLE_TIME | SAMPLE_PERIOD;
        kinds[i].make(&mass);
        for (uint64_t k = mass.ids.size / 8; k < mass.events * mass.ids_each; k++)
            add64(&mass.ids, k + 1);
        if (write_file(&mass, argv[3])) {
            perror(argv[3]);
            return 1;
        }
        return 0;
    }
    fputs("usage: make_mass KIND COUNT FILE\nkinds:", stderr);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        fprintf(stderr, " %s", kinds[i].name);
    fputs("\n", stderr);
    return 2;
}
