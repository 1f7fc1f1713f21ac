/* SPDX-License-Identifier: MIT */
/* Writes a recording by hand: one event, the name of a process, its program, and three samples.
 *     cc write.c $(pkg-config --cflags --libs perfdata) -o write
 *     ./write made.data && perfdata script -i made.data */
#include <perfdata/perfdata.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

enum { PID = 42, ID = 7 };

struct comm {
    struct perf_event_header header;
    uint32_t pid, tid;
    char name[16];
};

struct mmap {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t start, length, offset;
    char file[16];
};

struct sample { /* what sample_type names, in the order of its bits */
    struct perf_event_header header;
    uint64_t identifier, ip;
    uint32_t pid, tid;
    uint64_t time, period;
};

static int put_all(perfdata_writer *writer)
{
    struct comm comm = { { PERF_RECORD_COMM, 0, sizeof comm }, PID, PID, "worker" };
    struct mmap map = { { PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, sizeof map },
                        PID,
                        PID,
                        0x400000,
                        0x1000,
                        0,
                        "/bin/worker" };
    struct sample sample = {
        { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof sample }, ID, 0, PID, PID, 0, 1000
    };
    int i, status = perfdata_writer_put(writer, &comm, sizeof comm);
    if (status == 0)
        status = perfdata_writer_put(writer, &map, sizeof map);
    for (i = 1; i <= 3 && status == 0; i++) {
        sample.ip = 0x400100 + 0x10 * (uint64_t)i;
        sample.time = 1000000000u + 1000u * (uint64_t)i;
        status = perfdata_writer_put(writer, &sample, sizeof sample);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct perfdata_output output;
    struct perf_event_attr attr;
    uint64_t id = ID;
    perfdata_writer *writer;
    int status;
    memset(&output, 0, sizeof output);
    output.struct_size = sizeof output;
    output.path = argc > 1 ? argv[1] : "made.data";
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = 1000;
    attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                       PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
    status = perfdata_writer_open(&output, &writer);
    if (status == 0)
        status = perfdata_writer_add_event(writer, &attr, sizeof attr, &id, 1);
    if (status == 0)
        status = perfdata_writer_begin(writer);
    if (status == 0)
        status = put_all(writer);
    if (status == 0)
        status = perfdata_writer_finish(writer);
    if (status < 0)
        fprintf(stderr, "%s\n", perfdata_writer_error(writer));
    perfdata_writer_close(writer);
    return status < 0;
}
