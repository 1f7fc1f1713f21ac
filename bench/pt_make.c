/* SPDX-License-Identifier: MIT */
/* pt_make OUT MEGABYTES cyc|tsc PROGRAM LIBRARY: a recording of Intel PT of two processors and six
 * processes that walk the code of these two files by chance. The trace never repeats itself; the
 * same arguments make the same recording. Says how many instructions and branches were traced. */
#include "pt_walk.h"
#include "base/vec.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

enum {
    CPUS = 2,
    THREADS = 6,
    FIRST_PID = 4000,
    EVENTS = 3,
    ATTR = 128,
    HEADER = 104,
    TRAILER = 32, /* what sample_id_all adds */
    TYPE_PT = 8,
    FEATURE_AUXTRACE = 18,
    SWITCH_TICKS = 1 << 20, /* a process runs about so long at once */
    ROUND_TICKS = 1 << 23,
    GAP_TICKS = 9000 /* a switch takes so long */
};

static const uint64_t first_id = 100, first_tsc = 0x2265000000, time_shift = 31,
                      time_mult = 933688542, time_zero = 17935769332543;

struct make {
    FILE *file;
    const char *path;
    uint64_t offset;
    struct pt_code code[PT_IMAGES];
    struct pt_cpu cpus[CPUS];
    struct pt_thread threads[THREADS];
    PD_VEC(uint64_t) traces; /* where AUXTRACE records stand */
};

static void out(struct make *make, const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, make->file) != size)
        pt_stop("cannot be written", make->path);
    make->offset += size;
}

static uint64_t time_of(uint64_t tsc)
{
    uint64_t low = tsc & ((1ull << time_shift) - 1);
    return time_zero + (tsc >> time_shift) * time_mult + (low * time_mult >> time_shift);
}

/* A record of words; `trailer`: the event and processor whose sample_id ends it. */
struct record {
    uint8_t bytes[4096];
    size_t size;
};

static void word(struct record *record, uint64_t value)
{
    pd_store64(record->bytes + record->size, value, false);
    record->size += 8;
}

static void two(struct record *record, uint32_t low, uint32_t high)
{
    word(record, low | (uint64_t)high << 32);
}

static void begin(struct record *record, uint32_t type, uint16_t misc)
{
    record->size = 0;
    word(record, type | (uint64_t)misc << 32);
}

static void text(struct record *record, const char *string)
{
    size_t length = strlen(string) + 1, room = (length + 7) / 8 * 8;
    if (room > sizeof record->bytes - record->size - TRAILER)
        pt_stop("too long a name", string);
    memset(record->bytes + record->size, 0, room);
    memcpy(record->bytes + record->size, string, length);
    record->size += room;
}

static void trailer(struct record *record, const struct pt_thread *thread, uint64_t tsc,
                    uint32_t cpu, uint32_t event)
{
    uint32_t pid = thread ? thread->pid : 0;
    two(record, pid, pid);
    word(record, time_of(tsc));
    word(record, cpu);
    word(record, first_id + (uint64_t)event * CPUS + cpu);
}

static void end(struct make *make, struct record *record)
{
    pd_store16(record->bytes + 6, (uint16_t)record->size, false);
    out(make, record->bytes, record->size);
}

/* What perf record writes for intel_pt//u, its event of processes and its event of switches. */
static void put_attrs(struct make *make, enum pt_clock clock)
{
    enum {
        DISABLED = 1,
        INHERIT = 2,
        NO_KERNEL = 1 << 5,
        NO_HV = 1 << 6,
        MMAP = 1 << 8,
        COMM = 1 << 9,
        TASK = 1 << 13,
        ID_ALL = 1 << 18,
        NO_GUEST = 1 << 20,
        MMAP2 = 1 << 23,
        COMM_EXEC = 1 << 24,
        SWITCHES = 1 << 26
    };
    static const uint64_t flags[EVENTS] = {
        DISABLED | INHERIT | NO_KERNEL | NO_HV | ID_ALL | NO_GUEST,
        INHERIT | NO_KERNEL | NO_HV | MMAP | COMM | TASK | ID_ALL | MMAP2 | COMM_EXEC,
        NO_KERNEL | NO_HV | ID_ALL | SWITCHES
    };
    uint64_t config = 0x2401 | 3 << 24; /* branches, TSC, a PSB each 16 KB */
    if (clock == PT_CYC_MTC)
        config |= 0x202 | PT_MTC_PERIOD << 14;
    struct record ids = { .size = 0 }, attrs = { .size = 0 };
    for (uint32_t i = 0; i < EVENTS * CPUS; i++)
        word(&ids, first_id + i);
    out(make, ids.bytes, ids.size);
    for (uint32_t i = 0; i < EVENTS; i++) {
        size_t start = attrs.size;
        two(&attrs, i ? 1 : TYPE_PT, ATTR);
        word(&attrs, i ? 9 : config);
        word(&attrs, 1);       /* sample_period */
        word(&attrs, 0x10087); /* IP, TID, TIME, CPU, IDENTIFIER */
        word(&attrs, 4);       /* read_format: ID */
        word(&attrs, flags[i]);
        memset(attrs.bytes + attrs.size, 0, start + ATTR - attrs.size);
        attrs.size = start + ATTR;
        word(&attrs, HEADER + 8ull * CPUS * i);
        word(&attrs, 8ull * CPUS);
    }
    out(make, attrs.bytes, attrs.size);
}

/* The header of the file; the features stand after `data` bytes. */
static void put_header(struct make *make, uint64_t data)
{
    struct record header = { .size = 0 };
    uint64_t attrs = HEADER + 8ull * EVENTS * CPUS, attr = ATTR + 16;
    word(&header, 0x32454c4946524550); /* PERFILE2 */
    word(&header, HEADER);
    word(&header, attr);
    word(&header, attrs);
    word(&header, EVENTS * attr);
    word(&header, attrs + EVENTS * attr);
    word(&header, data);
    word(&header, 0);
    word(&header, 0);
    word(&header, 1 << FEATURE_AUXTRACE);
    for (unsigned i = 0; i < 3; i++)
        word(&header, 0);
    out(make, header.bytes, header.size);
}

static void put_start(struct make *make, enum pt_clock clock)
{
    struct record record;
    begin(&record, 69, 0); /* ID_INDEX */
    word(&record, EVENTS * CPUS);
    for (uint32_t i = 0; i < EVENTS * CPUS; i++) {
        word(&record, first_id + i);
        word(&record, i % CPUS);
        word(&record, i % CPUS);
        word(&record, UINT64_MAX);
    }
    end(make, &record);
    const uint64_t words[] = { TYPE_PT,
                               time_shift,
                               time_mult,
                               time_zero,
                               1,
                               0x400,
                               0x800,
                               3,
                               0,
                               1,
                               0x200,
                               0x3c000,
                               2 * PT_CTC_TICKS,
                               2,
                               clock == PT_CYC_MTC ? 2 : 0,
                               23,
                               0,
                               0 };
    begin(&record, 70, 0); /* AUXTRACE_INFO */
    word(&record, 1);      /* Intel PT */
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        word(&record, words[i]);
    end(make, &record);
}

static void put_process(struct make *make, uint32_t number)
{
    struct pt_thread *thread = &make->threads[number];
    uint32_t cpu = number % CPUS;
    struct record record;
    begin(&record, 3, 1 << 13); /* COMM, of an exec */
    two(&record, thread->pid, thread->pid);
    text(&record, "walker");
    trailer(&record, thread, first_tsc, cpu, 1);
    end(make, &record);
    for (unsigned i = 0; i < PT_IMAGES; i++) {
        const struct pt_code *code = &make->code[i];
        uint64_t before = code->offset & 0xfff;
        begin(&record, 10, 2); /* MMAP2, user */
        two(&record, thread->pid, thread->pid);
        word(&record, thread->base[i] + code->address - before);
        word(&record, (code->size + before + 0xfff) & ~(uint64_t)0xfff);
        word(&record, code->offset - before);
        two(&record, major(code->device), minor(code->device));
        word(&record, code->inode);
        word(&record, 0);
        two(&record, 5, 2); /* r-x, private */
        text(&record, code->path);
        trailer(&record, thread, first_tsc, cpu, 1);
        end(make, &record);
    }
    begin(&record, 12, 0); /* ITRACE_START */
    two(&record, thread->pid, thread->pid);
    trailer(&record, thread, first_tsc, cpu, 0);
    end(make, &record);
}

static void put_switch(struct make *make, uint32_t cpu, uint64_t tsc, const struct pt_thread *is,
                       const struct pt_thread *other, bool leaves)
{
    struct record record;
    begin(&record, 15, leaves ? 1 << 13 : 0); /* SWITCH_CPU_WIDE */
    two(&record, other->pid, other->pid);
    trailer(&record, is, tsc, cpu, 2);
    end(make, &record);
}

/* What a processor traced in a round. */
static void put_trace(struct make *make, uint32_t number)
{
    struct pt_cpu *cpu = &make->cpus[number];
    struct record record;
    begin(&record, 11, 0); /* AUX */
    word(&record, cpu->total);
    word(&record, cpu->size);
    word(&record, 0);
    trailer(&record, cpu->thread, cpu->tsc, number, 0);
    end(make, &record);
    if (!pd_vec_push(&make->traces, make->offset))
        pt_stop("no memory", make->path);
    pt_cpu_pad(cpu);
    begin(&record, 71, 0); /* AUXTRACE */
    word(&record, cpu->size);
    word(&record, cpu->total);
    word(&record, cpu->tsc);
    two(&record, number, UINT32_MAX);
    two(&record, number, 0);
    end(make, &record);
    out(make, cpu->bytes, cpu->size);
    cpu->total += cpu->size;
    cpu->size = 0;
}

static void run_round(struct make *make, uint32_t number, uint64_t until)
{
    struct pt_cpu *cpu = &make->cpus[number];
    for (uint32_t turn = 0; cpu->tsc < until; turn++) {
        struct pt_thread *before = cpu->thread;
        cpu->thread = &make->threads[number + CPUS * (turn % (THREADS / CPUS))];
        put_switch(make, number, cpu->tsc + GAP_TICKS / 3, before, cpu->thread, true);
        put_switch(make, number, cpu->tsc + GAP_TICKS / 2, cpu->thread, before, false);
        cpu->tsc += GAP_TICKS;
        pt_cpu_run(cpu, cpu->tsc + SWITCH_TICKS / 2 + pt_mix(cpu->tsc) % SWITCH_TICKS);
    }
}

static void put_index(struct make *make)
{
    struct record record = { .size = 0 };
    uint64_t count = make->traces.count;
    word(&record, make->offset + 16);
    word(&record, 8 + 16 * count);
    word(&record, count);
    out(make, record.bytes, record.size);
    for (size_t i = 0; i < count; i++) {
        record.size = 0;
        word(&record, make->traces.data[i]);
        word(&record, 48);
        out(make, record.bytes, record.size);
    }
}

static void prepare(struct make *make, enum pt_clock clock)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        make->threads[i].pid = FIRST_PID + i;
        make->threads[i].base[0] = 0x550000000000 + (pt_mix(i) % 0x1000000 << 12);
        make->threads[i].base[1] = 0x7f0000000000 + (pt_mix(i + 100) % 0x1000000 << 12);
    }
    for (uint32_t i = 0; i < CPUS; i++) {
        make->cpus[i] = (struct pt_cpu){ .code = make->code,
                                         .clock = clock,
                                         .thread = &make->threads[i],
                                         .tsc = first_tsc + 1000 * i };
        pt_cpu_start(&make->cpus[i], i);
    }
}

static void make_recording(struct make *make, uint64_t size, enum pt_clock clock)
{
    struct record record;
    prepare(make, clock);
    put_header(make, 0);
    put_attrs(make, clock);
    uint64_t data = make->offset;
    put_start(make, clock);
    for (uint32_t i = 0; i < THREADS; i++)
        put_process(make, i);
    for (uint64_t round = 1; make->offset < size; round++) {
        for (uint32_t i = 0; i < CPUS; i++) {
            run_round(make, i, first_tsc + round * ROUND_TICKS);
            put_trace(make, i);
        }
        begin(&record, 68, 0); /* FINISHED_ROUND */
        end(make, &record);
    }
    data = make->offset - data;
    put_index(make);
    if (fseek(make->file, 0, SEEK_SET) != 0)
        pt_stop("cannot be written", make->path);
    put_header(make, data);
}

int main(int argc, char **argv)
{
    static struct make make;
    uint64_t instructions = 0, branches = 0;
    bool cyc = argc == 6 && strcmp(argv[3], "cyc") == 0;
    if (argc != 6 || (!cyc && strcmp(argv[3], "tsc") != 0)) {
        fprintf(stderr, "usage: pt_make OUT MEGABYTES cyc|tsc PROGRAM LIBRARY\n");
        return 2;
    }
    make.path = argv[1];
    make.file = fopen(argv[1], "wb");
    if (!make.file)
        pt_stop("cannot be written", make.path);
    for (unsigned i = 0; i < PT_IMAGES; i++)
        pt_code_load(&make.code[i], argv[4 + i]);
    make_recording(&make, strtoull(argv[2], NULL, 10) << 20, cyc ? PT_CYC_MTC : PT_TSC_ONLY);
    if (fclose(make.file) != 0)
        pt_stop("cannot be written", make.path);
    for (unsigned i = 0; i < CPUS; i++) {
        instructions += make.cpus[i].instructions;
        branches += make.cpus[i].branches;
        free(make.cpus[i].bytes);
    }
    for (unsigned i = 0; i < PT_IMAGES; i++)
        pt_code_free(&make.code[i]);
    pd_vec_free(&make.traces);
    printf("%" PRIu64 " instructions, %" PRIu64 " branches\n", instructions, branches);
    return 0;
}
