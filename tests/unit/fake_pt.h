/* SPDX-License-Identifier: MIT */
/* A machine with Intel PT: a sysfs of the test's own, and system calls that note what is asked. */
#ifndef PERFDATA_TEST_FAKE_PT_H
#define PERFDATA_TEST_FAKE_PT_H
#include "record/record.h"
#include "make_root.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 64 };

static char root[] = "/tmp/perfdata-pt-XXXXXX";
static char output[sizeof root + 16];

static const char *const command[] = { "true", NULL };

static void put(const char *path, const char *text)
{
    root_put(root, path, text);
}

#define PT "sys/bus/event_source/devices/intel_pt/"

static void make_root(void)
{
    static const char *const files[][2] = {
        { PT "type", "8" },
        { PT "format/pt", "config:0" },
        { PT "format/cyc", "config:1" },
        { PT "format/pwr_evt", "config:4" },
        { PT "format/fup_on_ptw", "config:5" },
        { PT "format/ptw", "config:12" },
        { PT "format/event", "config:31" },
        { PT "format/notnt", "config:55" },
        { PT "format/mtc", "config:9" },
        { PT "format/tsc", "config:10" },
        { PT "format/noretcomp", "config:11" },
        { PT "format/branch", "config:13" },
        { PT "format/mtc_period", "config:14-17" },
        { PT "format/cyc_thresh", "config:19-22" },
        { PT "format/psb_period", "config:24-27" },
        { PT "caps/mtc", "1" },
        { PT "caps/mtc_periods", "249" },
        { PT "caps/psb_cyc", "1" },
        { PT "caps/psb_periods", "3f" },
        { PT "caps/cycle_thresholds", "1fff" },
        { PT "caps/topa_multiple_entries", "1" },
        { PT "caps/event_trace", "1" },
        { PT "nr_addr_filters", "2" },
        { PT "max_nonturbo_ratio", "23" },
        { PT "tsc_art_ratio", "184:2" },
        { "proc/kallsyms", "ffffffff81000000 T _text\nffffffff82000000 T _etext" },
        { "sys/devices/system/cpu/online", "0-1" },
        { "proc/sys/kernel/perf_event_max_sample_rate", "100000" },
        { "proc/sys/kernel/perf_event_paranoid", "-1" },
    };
    CHECK(mkdtemp(root) != NULL);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(files[i][0], files[i][1]);
    snprintf(output, sizeof output, "%s/out.data", root);
}

static void remove_root(void)
{
    char text[100];
    snprintf(text, sizeof text, "rm -rf '%s'", root);
    CHECK(system(text) == 0);
}

/* ---- the kernel of this test ---- */

static struct {
    size_t calls;
    struct perf_event_attr attrs[MOST];
    int cpus[MOST], fds[MOST], groups[MOST];
    pid_t pids[MOST];
    uint64_t ids[MOST];  /* by call; 0: its number + 1 */
    uint8_t *ring, *aux; /* of the first buffer */
    size_t ring_size, aux_size, maps, switched_off;
    int aux_protection;
    bool no_switches;  /* the kernel does not know records of them */
    unsigned hung;     /* bits by CPU: the events there have an end, as when the CPU goes */
    int offline;       /* a CPU that goes when it is asked for; 0: none */
    char filter[1024]; /* the last one */
    int listens;
    char told[16384]; /* what was said up to this level */
    uint32_t time_mult;
    uint16_t time_shift;
    uint64_t time_zero;
} fake;

static int fake_open(void *data, const void *attr, pid_t pid, int cpu, int group, unsigned flags)
{
    (void)data;
    (void)flags;
    if (fake.offline && cpu == fake.offline) {
        put("sys/devices/system/cpu/online", "0");
        errno = ENODEV;
        return -1;
    }
    struct perf_event_attr probe;
    memcpy(&probe, attr, sizeof probe < 128 ? sizeof probe : 128);
    if (!probe.read_format) { /* whether the kernel can */
        errno = EINVAL;
        return fake.no_switches ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
    }
    if (fake.calls == MOST) {
        errno = EMFILE;
        return -1;
    }
    size_t i = fake.calls++;
    memcpy(&fake.attrs[i], attr, sizeof fake.attrs[i] < 128 ? sizeof fake.attrs[i] : 128);
    fake.cpus[i] = cpu;
    fake.pids[i] = pid;
    fake.groups[i] = group;
    int ends[2];
    if (cpu < 0 || !(fake.hung >> cpu & 1) || pipe2(ends, O_CLOEXEC) < 0)
        return fake.fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
    close(ends[1]);
    return fake.fds[i] = ends[0];
}

static int fake_control(void *data, int fd, unsigned long request, void *argument)
{
    (void)data;
    fake.switched_off += request == PERF_EVENT_IOC_DISABLE;
    if (request == PERF_EVENT_IOC_SET_FILTER)
        snprintf(fake.filter, sizeof fake.filter, "%s", (const char *)argument);
    for (size_t i = 0; i < fake.calls; i++)
        if (fake.fds[i] == fd && request == PERF_EVENT_IOC_ID) {
            uint64_t id = fake.ids[i] ? fake.ids[i] : i + 1;
            memcpy(argument, &id, sizeof id);
        }
    return 0;
}

static void *fake_map(void *data, size_t size, int protection, int fd, uint64_t offset)
{
    (void)data;
    (void)fd;
    uint8_t *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return at;
    fake.maps++;
    if (offset && !fake.aux) {
        fake.aux = at;
        fake.aux_size = size;
        fake.aux_protection = protection;
    } else if (!offset && !fake.ring) {
        fake.ring = at;
        fake.ring_size = size - PAGE;
    }
    if (!offset) {
        struct perf_event_mmap_page *page = (void *)at;
        page->cap_user_time_zero = 1;
        page->time_mult = fake.time_mult;
        page->time_shift = fake.time_shift;
        page->time_zero = fake.time_zero;
    }
    return at;
}

static int fake_unmap(void *data, void *at, size_t size)
{
    (void)data;
    return munmap(at, size);
}

static void fake_log(void *data, int32_t level, const char *text)
{
    size_t used = strlen(fake.told);
    (void)data;
    if (level <= fake.listens)
        snprintf(fake.told + used, sizeof fake.told - used, "%s", text);
}

/* No event is added. */
static perfdata_recorder *open_empty(struct perfdata_recorder_options options)
{
    perfdata_recorder *recorder;
    memset(&fake, 0, sizeof fake);
    options.log = fake_log;
    options.struct_size = sizeof options;
    options.root = root;
    options.path = output;
    CHECK(perfdata_recorder_open(&options, &recorder) == PERFDATA_OK);
    recorder->calls = (struct pd_calls){ NULL, fake_open, fake_control, fake_map, fake_unmap };
    return recorder;
}

static perfdata_recorder *open_recorder(const char *events,
                                        struct perfdata_recorder_options options)
{
    perfdata_recorder *recorder = open_empty(options);
    CHECK(perfdata_recorder_add_events(recorder, events) == PERFDATA_OK);
    return recorder;
}

/* The command is recorded with these options: it does not start. */
static inline void check_refused(const char *events, struct perfdata_recorder_options options,
                                 const char *message)
{
    options.command = command;
    perfdata_recorder *recorder = open_recorder(events, options);
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_ERROR_ARGUMENT);
    CHECK_STR(perfdata_recorder_error(recorder), message);
    perfdata_recorder_close(recorder);
}

/* What is in the buffers goes to the recording. */
static inline perfdata_status finish(perfdata_recorder *recorder)
{
    perfdata_recorder_stop(recorder);
    while (perfdata_recorder_read(recorder, 0) > 0)
        continue;
    return perfdata_recorder_finish(recorder, NULL);
}

#endif
