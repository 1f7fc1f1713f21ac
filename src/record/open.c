/* SPDX-License-Identifier: MIT */
/* Events -> descriptors. What the kernel refuses is tried again with less, in perf's order, and
 * else explained in perf's words. */
#include "record/record.h"
#include "format/attr_text.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ATTR_SIZE = 128 };

/* ---- what an older kernel does not know ---- */

struct fallback {
    unsigned missing;
    uint64_t sample_type, read_format, branch; /* bits it needs */
    uint64_t flags;                            /* attr flags, as bits */
};

#define FLAG(name) (UINT64_C(1) << PD_ATTR_##name)

static const struct fallback fallbacks[] = {
    { PD_MISSING_LOST, 0, PD_READ_LOST, 0, 0 },
    { PD_MISSING_WEIGHT_STRUCT, PD_SAMPLE_WEIGHT_STRUCT, 0, 0, 0 },
    { PD_MISSING_CODE_PAGE_SIZE, PD_SAMPLE_CODE_PAGE_SIZE, 0, 0, 0 },
    { PD_MISSING_DATA_PAGE_SIZE, PD_SAMPLE_DATA_PAGE_SIZE, 0, 0, 0 },
    { PD_MISSING_CGROUP, 0, 0, 0, FLAG(CGROUP) },
    { PD_MISSING_HW_INDEX, 0, 0, PD_BRANCH_SAMPLE_HW_INDEX, 0 },
    { PD_MISSING_AUX_OUTPUT, 0, 0, 0, FLAG(AUX_OUTPUT) },
    { PD_MISSING_BPF, 0, 0, 0, FLAG(BPF_EVENT) },
    { PD_MISSING_KSYMBOL, 0, 0, 0, FLAG(KSYMBOL) },
    { PD_MISSING_BACKWARD, 0, 0, 0, FLAG(WRITE_BACKWARD) },
    { PD_MISSING_CLOCK, 0, 0, 0, FLAG(USE_CLOCKID) },
    { PD_MISSING_CLOEXEC, 0, 0, 0, 0 },
    { PD_MISSING_MMAP2, 0, 0, 0, FLAG(MMAP2) },
    { PD_MISSING_GUEST, 0, 0, 0, FLAG(EXCLUDE_GUEST) | FLAG(EXCLUDE_HOST) },
    { PD_MISSING_ID_ALL, 0, 0, 0, FLAG(SAMPLE_ID_ALL) },
    { PD_MISSING_LBR_FLAGS, 0, 0, PD_BRANCH_SAMPLE_NO_CYCLES | PD_BRANCH_SAMPLE_NO_FLAGS, 0 },
    { PD_MISSING_GROUP_READ, 0, PD_READ_GROUP, 0, 0 },
};

static bool concerns(const struct fallback *row, const struct pd_attr *attr)
{
    return (attr->sample_type & row->sample_type) || (attr->read_format & row->read_format) ||
           (attr->branch_sample_type & row->branch) || (attr->flags & row->flags) ||
           row->missing == PD_MISSING_CLOEXEC;
}

/* These three change what a recording means: perf gives up. */
static const unsigned fatal = PD_MISSING_CODE_PAGE_SIZE | PD_MISSING_DATA_PAGE_SIZE |
                              PD_MISSING_CGROUP | PD_MISSING_AUX_OUTPUT | PD_MISSING_BACKWARD |
                              PD_MISSING_CLOCK;

static void take_away(struct pd_attr *attr, unsigned missing)
{
    for (size_t i = 0; i < PD_LENGTH(fallbacks); i++) {
        const struct fallback *row = &fallbacks[i];
        if (!(missing & row->missing))
            continue;
        if (attr->sample_type & row->sample_type & PD_SAMPLE_WEIGHT_STRUCT)
            attr->sample_type |= PD_SAMPLE_WEIGHT;
        attr->sample_type &= ~row->sample_type;
        attr->read_format &= ~row->read_format;
        attr->branch_sample_type &= ~row->branch;
        attr->flags &= ~row->flags;
    }
}

/* What cannot be asked for with this event: guests depend on its PMU, all else on the kernel. */
static unsigned missing_of(const perfdata_recorder *recorder, const struct pd_selected *event)
{
    return recorder->live.missing | (event->no_guest ? (unsigned)PD_MISSING_GUEST : 0);
}

/* The next thing that may be what the kernel does not know; false: it must be something else. */
static bool give_up_one(perfdata_recorder *recorder, const struct pd_selected *event,
                        const struct pd_attr *attr)
{
    for (size_t i = 0; i < PD_LENGTH(fallbacks); i++) {
        const struct fallback *row = &fallbacks[i];
        if (missing_of(recorder, event) & row->missing || row->missing & fatal ||
            !concerns(row, attr))
            continue;
        if (row->missing != PD_MISSING_GUEST) {
            recorder->live.missing |= row->missing;
            return true;
        }
        for (size_t k = 0; k < pd_record_event_count(recorder); k++)
            pd_record_event(recorder, k)->no_guest |= pd_record_event(recorder, k)->attr.type ==
                                                      attr->type;
        return true;
    }
    return false;
}

/* ---- why not ---- */

static const char denied[] =
    "Access to performance monitoring and observability operations is limited.\n"
    "Consider adjusting /proc/sys/kernel/perf_event_paranoid setting to open\n"
    "access to performance monitoring and observability operations for processes\n"
    "without CAP_PERFMON, CAP_SYS_PTRACE or CAP_SYS_ADMIN Linux capability.\n"
    "More information can be found at 'Perf events and tool security' document:\n"
    "https://www.kernel.org/doc/html/latest/admin-guide/perf-security.html\n"
    "perf_event_paranoid setting is %" PRId64 ":\n"
    "  -1: Allow use of (almost) all events by all users\n"
    "      Ignore mlock limit after perf_event_mlock_kb without CAP_IPC_LOCK\n"
    ">= 0: Disallow raw and ftrace function tracepoint access\n"
    ">= 1: Disallow CPU event access\n"
    ">= 2: Disallow kernel profiling\n"
    "To make the adjusted perf_event_paranoid setting permanent preserve it\n"
    "in /etc/sysctl.conf (e.g. kernel.perf_event_paranoid = <setting>)";

int64_t pd_record_paranoid(const perfdata_recorder *recorder)
{
    return pd_roots_number(&recorder->roots, 2, "/proc/sys/kernel/perf_event_paranoid");
}

static perfdata_status not_supported(perfdata_recorder *recorder, const struct pd_selected *event)
{
    struct pd_context *context = &recorder->context;
    const struct pd_attr *attr = &event->attr;
    perfdata_status status = PERFDATA_ERROR_UNSUPPORTED;
    if (attr->sample_type & PD_SAMPLE_BRANCH_STACK)
        return pd_fail(context, status, -1,
                       "%s: PMU Hardware or event type doesn't support branch stack sampling.",
                       event->name);
    if (pd_attr_flag(attr, PD_ATTR_AUX_OUTPUT))
        return pd_fail(context, status, -1, "%s: PMU Hardware doesn't support 'aux_output' feature",
                       event->name);
    if (attr->sample_period)
        return pd_fail(
            context, status, -1,
            "%s: PMU Hardware doesn't support sampling/overflow-interrupts. Try 'perf stat'",
            event->name);
    return pd_fail(context, status, -1, "%s: not supported", event->name);
}

perfdata_status pd_record_explain(perfdata_recorder *recorder, const struct pd_selected *event,
                                  int error)
{
    struct pd_context *context = &recorder->context;
    switch (error) {
    case EPERM:
    case EACCES:
        return pd_fail(context, PERFDATA_ERROR_ACCESS, -1, denied, pd_record_paranoid(recorder));
    case ENOENT:
        return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1, "The %s event is not supported.",
                       event->name);
    case EMFILE:
        return pd_fail(context, PERFDATA_ERROR_LIMIT, -1,
                       "Too many events are opened.\n"
                       "Probably the maximum number of open file descriptors has been reached.\n"
                       "Hint: Try again after reducing the number of events.\n"
                       "Hint: Try increasing the limit with 'ulimit -n <limit>'");
    case EOPNOTSUPP: return not_supported(recorder, event);
    case EINVAL:
        if (!recorder->targets.by_cpu)
            return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                           "Invalid event (%s) in per-thread mode, enable system wide with '-a'.",
                           event->name);
        break;
    default: break;
    }
    return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                   "The sys_perf_event_open() syscall returned with %d (%s) for event (%s).\n"
                   "/bin/dmesg | grep -i perf may provide additional information.\n",
                   error, strerrordesc_np(error), event->name);
}

perfdata_status pd_record_map_failed(perfdata_recorder *recorder, const char *what, int error)
{
    if (error == EPERM)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ACCESS, -1,
                       "Permission error mapping pages.\n"
                       "Consider increasing /proc/sys/kernel/perf_event_mlock_kb,\n"
                       "or try again with a smaller value of -m/--mmap_pages.\n"
                       "(current value: %u,%u)",
                       recorder->options.pages, recorder->options.aux_pages);
    return pd_fail(&recorder->context, PERFDATA_ERROR_IO, -1, "%s with %d (%s)", what, error,
                   strerrordesc_np(error));
}

/* ---- another event instead ---- */

static void set_precise(struct pd_attr *attr, unsigned precise)
{
    attr->flags &= ~(UINT64_C(3) << PD_ATTR_PRECISE_IP);
    attr->flags |= (uint64_t)precise << PD_ATTR_PRECISE_IP;
}

static bool rename_event(perfdata_recorder *recorder, struct pd_selected *event)
{
    struct pd_text name = { 0 };
    pd_attr_name(&event->attr, &name);
    const char *copy = name.failed ? NULL
                                   : pd_arena_copy(&recorder->events.arena, name.data, name.length);
    pd_text_free(&name);
    if (copy)
        event->name = copy;
    return copy != NULL;
}

/* Cycles without the hardware are the CPU's clock; without permission the kernel is left out. */
static bool replace(perfdata_recorder *recorder, struct pd_selected *event, int error)
{
    struct pd_attr *attr = &event->attr;
    if ((error == ENOENT || error == ENXIO || error == ENODEV) && attr->type == PD_TYPE_HARDWARE &&
        attr->config == PD_HW_CPU_CYCLES) {
        attr->type = PD_TYPE_SOFTWARE;
        attr->config = PD_SW_CPU_CLOCK;
        pd_record_log(
            recorder, 1,
            "The cycles event is not supported, trying to fall back to cpu-clock-ticks\n");
        return rename_event(recorder, event);
    }
    if (error != EACCES || pd_attr_flag(attr, PD_ATTR_EXCLUDE_KERNEL) ||
        pd_record_paranoid(recorder) <= 1 || pd_attr_flag(attr, PD_ATTR_EXCLUDE_USER))
        return false;
    const char *old = event->name;
    size_t length = strlen(old);
    char *name = pd_arena_alloc(&recorder->events.arena, length + 3);
    if (!name)
        return false;
    const char *end = strchr(old, ':') || strchr(old, '/') ? "u" : ":u";
    snprintf(name, length + 3, "%s%s", old, end);
    event->name = name;
    attr->flags |= FLAG(EXCLUDE_KERNEL) | FLAG(EXCLUDE_HV);
    pd_record_log(recorder, 1,
                  "kernel.perf_event_paranoid=%" PRId64
                  ", trying to fall back to excluding kernel and hypervisor  samples\n",
                  pd_record_paranoid(recorder));
    return true;
}

static bool raise_limit(bool *raised)
{
    struct rlimit limit;
    if (*raised || getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
        return false;
    *raised = true;
    limit.rlim_cur = limit.rlim_max;
    return !setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- opening ---- */

static const char rule[] = "------------------------------------------------------------\n";

/* As perf shows it with -vv: a line a field. */
static void show_attr(const perfdata_recorder *recorder, const struct pd_attr *attr)
{
    struct pd_text text = { 0 }, lines = { 0 };
    if (!recorder->options.log)
        return;
    pd_attr_text(attr, "", "\n", "\t", false, &text);
    pd_text_format(&lines, "%sperf_event_attr:\n", rule);
    for (size_t at = 0; at < text.length && !text.failed;) {
        const char *from = text.data + at;
        size_t left = text.length - at,
               length = (size_t)((const char *)memchr(from, '\t', left) - from);
        const char *end = memchr(from, '\n', left);
        size_t line = end ? (size_t)(end - from) : left;
        pd_text_string(&lines, "  ");
        pd_text_left(&lines, from, length, 32);
        pd_text_char(&lines, ' ');
        pd_text_bytes(&lines, from + length + 1, line - length - 1);
        pd_text_char(&lines, '\n');
        at += line + 1;
    }
    pd_text_string(&lines, rule);
    pd_text_char(&lines, 0);
    if (!lines.failed && !text.failed)
        pd_record_log(recorder, 2, "%s", lines.data);
    pd_text_free(&text);
    pd_text_free(&lines);
}

struct opening {
    perfdata_recorder *recorder;
    size_t index;
    bool raised, shown;
    bool broken;      /* a weak group was broken up: its events are opened anew */
    unsigned precise; /* that was asked for */
};

static int group_fd(const struct opening *o, size_t number)
{
    const struct pd_selected *event = pd_record_event(o->recorder, o->index);
    const pd_opened_vec *leader = &o->recorder->live.opened[event->leader];
    bool alone = event->leader == o->index || !leader->data || number >= leader->count;
    return alone ? -1 : leader->data[number].fd;
}

static int open_one(struct opening *o, const struct pd_attr *attr, int32_t tid, int32_t cpu,
                    size_t number)
{
    perfdata_recorder *recorder = o->recorder;
    uint8_t bytes[ATTR_SIZE] = { 0 };
    const struct pd_selected *event = pd_record_event(recorder, o->index);
    unsigned flags = recorder->live.missing & PD_MISSING_CLOEXEC ? 0 : PERF_FLAG_FD_CLOEXEC;
    if (event->in_cgroup) {
        flags |= PERF_FLAG_PID_CGROUP;
        tid = event->cgroup;
    }
    int group = group_fd(o, number);
    pd_attr_encode(attr, false, bytes, sizeof bytes);
    if (!o->shown)
        show_attr(recorder, attr);
    o->shown = true;
    int fd = recorder->calls.event_open(recorder->calls.data, bytes, tid, cpu, group, flags);
    int error = errno;
    if (fd < 0)
        pd_record_log(recorder, 2,
                      "sys_perf_event_open: pid %d  cpu %d  group_fd %d  flags %#x\n"
                      "sys_perf_event_open failed, error -%d\n",
                      tid, cpu, group, flags, error);
    else
        pd_record_log(recorder, 2,
                      "sys_perf_event_open: pid %d  cpu %d  group_fd %d  flags %#x = %d\n", tid,
                      cpu, group, flags, fd);
    errno = error;
    return fd;
}

/* True: once more. The event or what the kernel is thought to know has changed. */
static bool try_less(struct opening *o, const struct pd_attr *attr, int error)
{
    perfdata_recorder *recorder = o->recorder;
    struct pd_selected *event = pd_record_event(recorder, o->index);
    o->shown = false;
    if (error == EMFILE && raise_limit(&o->raised))
        return true;
    if (event->most_precise && pd_attr_precise_ip(&event->attr)) {
        set_precise(&event->attr, pd_attr_precise_ip(&event->attr) - 1);
        return true;
    }
    if (error == EINVAL && give_up_one(recorder, event, attr))
        return true;
    set_precise(&event->attr, o->precise);
    return replace(recorder, event, error);
}

/* The members of a weak group that cannot be opened together are events of their own. */
static bool break_group(struct opening *o, int error)
{
    perfdata_recorder *recorder = o->recorder;
    const struct pd_selected *event = pd_record_event(recorder, o->index);
    uint32_t leader = event->leader;
    if (!event->weak || leader == o->index || (error != EINVAL && error != EBADF))
        return false;
    pd_record_log(recorder, 1, "Weak group for %s/%u failed\n",
                  pd_record_event(recorder, leader)->name,
                  pd_record_event(recorder, leader)->members);
    for (size_t i = 0; i < pd_record_event_count(recorder); i++) {
        struct pd_selected *member = pd_record_event(recorder, i);
        if (member->leader != leader)
            continue;
        for (size_t k = 0; k < recorder->live.opened[i].count; k++)
            if (recorder->live.opened[i].data[k].fd >= 0)
                close(recorder->live.opened[i].data[k].fd);
        recorder->live.opened[i].count = 0;
        member->leader = (uint32_t)i;
        member->members = 1;
    }
    return o->broken = true;
}

/* Only tasks that were there a moment ago may be gone. */
static bool task_is_gone(const perfdata_recorder *recorder, int error)
{
    const struct perfdata_recorder_options *options = &recorder->options;
    return error == ESRCH && (options->pids || options->tids || options->has_user) &&
           recorder->targets.threads.count > 1;
}

static bool is_online(const perfdata_recorder *recorder, int32_t cpu)
{
    struct pd_numbers online = { 0 };
    char *text = pd_record_cpu_list(recorder, "online");
    bool known = text && pd_numbers_parse(text, &online);
    bool found = !known || pd_numbers_have(&online, cpu);
    pd_vec_free(&online);
    free(text);
    return found;
}

/* A CPU that is offline: one that was there a moment ago is left out, one that was asked for is an
 * error. */
static perfdata_status cpu_is_gone(perfdata_recorder *recorder, int32_t cpu)
{
    if (recorder->options.cpus)
        return pd_fail(
            &recorder->context, PERFDATA_ERROR_UNSUPPORTED, -1,
            "CPU %d is not online.\n"
            "Hint: /sys/devices/system/cpu/online lists those that are; choose among them "
            "with -C",
            cpu);
    if (!recorder->phase.told_offline)
        pd_record_log(recorder, 0, "WARNING: CPU %d has gone offline, it is left out\n", cpu);
    recorder->phase.told_offline = true;
    return PERFDATA_OK;
}

static perfdata_status open_instance(struct opening *o, int32_t cpu, int32_t tid, size_t number)
{
    perfdata_recorder *recorder = o->recorder;
    struct pd_selected *event = pd_record_event(recorder, o->index);
    struct pd_opened *out = &recorder->live.opened[o->index].data[number];
    int error;
    do {
        struct pd_attr attr = event->attr;
        take_away(&attr, missing_of(recorder, event));
        out->fd = open_one(o, &attr, tid, cpu, number);
        error = errno;
        if (out->fd >= 0 || task_is_gone(recorder, error))
            return PERFDATA_OK;
        if (cpu >= 0 && (error == EINVAL || error == ENODEV) && !is_online(recorder, cpu))
            return cpu_is_gone(recorder, cpu);
        if (try_less(o, &attr, error))
            continue;
        return break_group(o, error) ? PERFDATA_OK : pd_record_explain(recorder, event, error);
    } while (true);
}

/* *next: the event to open after this one. */
static perfdata_status open_event(perfdata_recorder *recorder, size_t index, size_t *next)
{
    size_t leader = pd_record_event(recorder, index)->leader;
    const struct pd_selected *event = pd_record_event(recorder, index);
    struct opening o = { .recorder = recorder,
                         .index = index,
                         .precise = pd_attr_precise_ip(&event->attr) };
    size_t threads = event->everywhere ? 1 : recorder->targets.threads.count;
    perfdata_status status = PERFDATA_OK;
    for (size_t c = 0; c < recorder->targets.cpus.count; c++)
        for (size_t t = 0; t < threads && status == PERFDATA_OK && !o.broken; t++) {
            struct pd_opened opened = { .fd = -1,
                                        .cpu = recorder->targets.cpus.data[c],
                                        .tid = event->everywhere
                                                   ? -1
                                                   : recorder->targets.threads.data[t] };
            size_t number = recorder->live.opened[index].count;
            if (!pd_vec_push(&recorder->live.opened[index], opened))
                return pd_record_no_memory(recorder);
            status = open_instance(&o, opened.cpu, opened.tid, number);
        }
    take_away(&pd_record_event(recorder, index)->attr, missing_of(recorder, event));
    *next = o.broken ? leader : index + 1;
    return status;
}

static perfdata_status apply_filter(perfdata_recorder *recorder, size_t index)
{
    const struct pd_selected *event = pd_record_event(recorder, index);
    const pd_opened_vec *opened = &recorder->live.opened[index];
    for (size_t i = 0; event->filter && i < opened->count; i++)
        if (opened->data[i].fd >= 0 &&
            recorder->calls.control(recorder->calls.data, opened->data[i].fd,
                                    PERF_EVENT_IOC_SET_FILTER,
                                    (void *)(uintptr_t)event->filter) < 0)
            return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "failed to set filter \"%s\" on event %s with %d (%s)", event->filter,
                           event->name, errno, strerrordesc_np(errno));
    return PERFDATA_OK;
}

perfdata_status pd_record_open_events(perfdata_recorder *recorder)
{
    size_t count = pd_record_event_count(recorder);
    perfdata_status status = PERFDATA_OK;
    recorder->live.opened = calloc(count, sizeof *recorder->live.opened);
    if (!recorder->live.opened)
        return pd_record_no_memory(recorder);
    for (size_t i = 0; i < count && status == PERFDATA_OK;)
        if (recorder->live.opened[i].count) /* behind a group that was broken up */
            i++;
        else
            status = open_event(recorder, i, &i);
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++)
        status = apply_filter(recorder, i);
    return status;
}
