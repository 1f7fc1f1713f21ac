/* SPDX-License-Identifier: MIT */
/* What runs already, from a made-up /proc: the same records whatever the number of threads; maps
 * that take too long. */
#include "fake_pt.h"
#include <perfdata/records.h>
#include <perfdata/recording.h>

enum { PROCESSES = 150, MAPS = 5 };

static void make_processes(void)
{
    for (unsigned i = 1; i <= PROCESSES; i++) {
        char path[100], text[4096];
        unsigned pid = i * 10, threads = 1 + i % 3;
        size_t used = 0;
        for (unsigned map = 0; map < MAPS; map++)
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%x-%x r-xp %x000 fe:01 %u    /lib/lib%u-%u.so\n",
                0x400000 + map * 0x10000, 0x408000 + map * 0x10000, map, 100 + map, i, map);
        snprintf(path, sizeof path, "proc/%u/maps", pid);
        put(path, text);
        for (unsigned thread = 0; thread < threads; thread++) {
            snprintf(text, sizeof text, "Name:\tp%u-%u\nTgid:\t%u\nPPid:\t%u\n", i, thread, pid,
                     i > 1 ? pid - 10 : 0);
            snprintf(path, sizeof path, "proc/%u/status", pid + thread);
            put(path, text);
            snprintf(path, sizeof path, "proc/%u/task/%u/comm", pid, pid + thread);
            put(path, "");
        }
    }
}

static char *record(struct perfdata_recorder_options options, size_t *size)
{
    options.flags |= PERFDATA_RECORDER_ALL_CPUS | PERFDATA_RECORDER_NO_BUILD_ID;
    perfdata_recorder *recorder = open_recorder("cpu-clock", options);
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK(finish(recorder) == PERFDATA_OK);
    perfdata_recorder_close(recorder);
    FILE *file = fopen(output, "r");
    char *bytes = malloc(1 << 20);
    *size = file && bytes ? fread(bytes, 1, 1 << 20, file) : 0;
    CHECK(*size > 0 && *size < 1 << 20);
    if (file)
        fclose(file);
    return bytes;
}

static void test_threads(void)
{
    static const uint32_t counts[] = { 2, 3, 8, 1000 };
    size_t size, other_size;
    char *bytes = record((struct perfdata_recorder_options){ .synthesis_threads = 1 }, &size);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char *other = record((struct perfdata_recorder_options){ .synthesis_threads = counts[i] },
                             &other_size);
        CHECK_U64(other_size, size);
        CHECK(size == other_size && !memcmp(bytes, other, size));
        free(other);
    }
    free(bytes);
}

static void test_timeout(uint32_t threads)
{
    size_t size;
    uint64_t maps = 0, forks = 0;
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *found;
    free(record(
        (struct perfdata_recorder_options){ .synthesis_threads = threads, .has_map_timeout = 1 },
        &size));
    CHECK(strstr(fake.told, "Reading /proc/10/task/10/maps time out. You may want to increase the "
                            "time limit by --proc-map-timeout\n") != NULL);
    CHECK(perfdata_recording_open(output, NULL, &recording) == PERFDATA_OK);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == PERFDATA_OK);
    while (perfdata_cursor_next(cursor, &found) > 0) {
        const uint8_t *bytes = perfdata_record_bytes(found, &size);
        forks += perfdata_record_type(found) == PD_RECORD_FORK;
        if (perfdata_record_type(found) != PD_RECORD_MMAP2)
            continue;
        maps++; /* the line that was read says that it is the last */
        CHECK_U64(pd_load16(bytes + 4, false), PD_CPUMODE_USER | PD_MISC_PROC_MAP_PARSE_TIMEOUT);
    }
    CHECK_U64(maps, PROCESSES);
    CHECK_U64(forks, 2 * PROCESSES);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
}

int main(void)
{
    make_root();
    make_processes();
    test_threads();
    test_timeout(1);
    test_timeout(4);
    remove_root();
    return test_done();
}
