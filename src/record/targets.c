/* SPDX-License-Identifier: MIT */
/* Whom to watch: CPUs and threads, in perf's order. */
#include "record/record.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NUMBERS = 1 << 16, DEFAULT_FREQUENCY = 4000 };

static bool push(struct pd_numbers *numbers, int32_t number)
{
    return numbers->count < MOST_NUMBERS && pd_vec_push(numbers, number);
}

bool pd_numbers_have(const struct pd_numbers *numbers, int32_t number)
{
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->data[i] == number)
            return true;
    return false;
}

static int by_number(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return left < right ? -1 : left > right;
}

static void sort_unique(struct pd_numbers *numbers)
{
    size_t kept = 0;
    if (numbers->count)
        qsort(numbers->data, numbers->count, sizeof *numbers->data, by_number);
    for (size_t i = 0; i < numbers->count; i++)
        if (!i || numbers->data[i] != numbers->data[kept - 1])
            numbers->data[kept++] = numbers->data[i];
    numbers->count = kept;
}

static bool add_range(const char **text, struct pd_numbers *out)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    unsigned long low = strtoul(*text, &end, 10), high = low;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        high = strtoul(end + 1, &end, 10);
    if (low > high || high > INT32_MAX || high - low >= MOST_NUMBERS)
        return false;
    for (unsigned long number = low; number <= high; number++)
        if (!push(out, (int32_t)number))
            return false;
    *text = end;
    return true;
}

bool pd_numbers_parse(const char *text, struct pd_numbers *out)
{
    const char *at = text;
    bool good = true;
    do {
        good = add_range(&at, out) && (*at == ',' || !*at);
    } while (good && *at++ == ',');
    sort_unique(out);
    return good;
}

perfdata_status pd_record_numbers(perfdata_recorder *recorder, const char *text, const char *what,
                                  struct pd_numbers *out)
{
    pd_memory_forget();
    if (pd_numbers_parse(text, out))
        return PERFDATA_OK;
    return pd_memory_failed() ? pd_record_no_memory(recorder)
                              : pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                                        "'%.100s': no list of %s", text, what);
}

char *pd_record_cpu_list(const perfdata_recorder *recorder, const char *which)
{
    char *text = pd_roots_read(&recorder->roots, NULL, "/sys/devices/system/cpu/%s", which),
         all[32];
    if (text)
        return text;
    snprintf(all, sizeof all, "0-%ld", PD_MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L) - 1);
    return strdup(all);
}

static perfdata_status online_cpus(perfdata_recorder *recorder)
{
    char *text = pd_record_cpu_list(recorder, "online");
    perfdata_status status = text ? pd_record_numbers(recorder, text, "CPUs",
                                                      &recorder->targets.cpus)
                                  : pd_record_no_memory(recorder);
    free(text);
    return status;
}

static bool is_number(const char *text, int32_t *out)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    *out = (int32_t)number;
    return *text && !*end && !errno && number >= 0 && number <= INT32_MAX;
}

/* All threads of a process; false when there is none. */
static bool add_tasks(perfdata_recorder *recorder, int32_t pid)
{
    size_t count, before = recorder->targets.threads.count;
    char **tasks = pd_roots_list(&recorder->roots, &count, "/proc/%d/task", pid);
    for (size_t i = 0; i < count; i++) {
        int32_t tid;
        if (is_number(tasks[i], &tid))
            push(&recorder->targets.threads, tid);
    }
    free(tasks);
    return recorder->targets.threads.count > before;
}

static perfdata_status no_thread(perfdata_recorder *recorder)
{
    return pd_fail(&recorder->context, PERFDATA_ERROR_NOT_FOUND, -1,
                   "Couldn't create thread/CPU maps: %s", strerrordesc_np(ESRCH));
}

/* Threads of the processes in the text's order; each process once. */
static perfdata_status add_processes(perfdata_recorder *recorder, const char *text, bool tasks)
{
    struct pd_numbers pids = { 0 };
    perfdata_status status = pd_record_numbers(recorder, text, tasks ? "processes" : "threads",
                                               &pids);
    for (size_t i = 0; i < pids.count && status == PERFDATA_OK; i++)
        if (tasks ? !add_tasks(recorder, pids.data[i])
                  : !push(&recorder->targets.threads, pids.data[i]))
            status = no_thread(recorder);
    free(pids.data);
    return status;
}

static perfdata_status add_user(perfdata_recorder *recorder)
{
    size_t count;
    char **names = pd_roots_list(&recorder->roots, &count, "/proc");
    for (size_t i = 0; i < count; i++) {
        char path[PD_PATH_SIZE];
        struct stat info;
        int32_t pid;
        if (is_number(names[i], &pid) && pd_roots_path(&recorder->roots, path, "/proc/%d", pid) &&
            !stat(path, &info) && info.st_uid == recorder->options.user)
            (void)add_tasks(recorder, pid); /* gone meanwhile: no matter */
    }
    free(names);
    return recorder->targets.threads.count ? PERFDATA_OK : no_thread(recorder);
}

static perfdata_status choose_frequency(perfdata_recorder *recorder)
{
    uint32_t wanted = recorder->options.frequency;
    int64_t most = pd_roots_number(&recorder->roots, DEFAULT_FREQUENCY,
                                   "/proc/sys/kernel/perf_event_max_sample_rate");
    recorder->frequency = wanted ? wanted : DEFAULT_FREQUENCY;
    if (recorder->options.period)
        return PERFDATA_OK;
    if (wanted == PERFDATA_RECORDER_MAX_FREQUENCY)
        pd_record_log(recorder, 0, "info: Using a maximum frequency rate of %" PRId64 " Hz\n",
                      most);
    else if (wanted > most && pd_record_flag(recorder, PERFDATA_RECORDER_STRICT_FREQUENCY))
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "error: Maximum frequency rate (%" PRId64 " Hz) exceeded.\n"
                       "       Please use -F freq option with a lower value or consider\n"
                       "       tweaking /proc/sys/kernel/perf_event_max_sample_rate.",
                       most);
    else if (wanted > most)
        pd_record_log(
            recorder, 0,
            "warning: Maximum frequency rate (%" PRId64 " Hz) exceeded, throttling from %u "
            "Hz to %" PRId64 " Hz.\n"
            "         The limit can be raised via /proc/sys/kernel/perf_event_max_sample_rate.\n"
            "         The kernel will lower it when perf's interrupts take too long.\n"
            "         Use --strict-freq to disable this throttling, refusing to record.\n",
            most, wanted, most);
    else if (recorder->frequency > most)
        pd_record_log(recorder, 0,
                      "lowering default frequency rate from %u to %" PRId64 ".\n"
                      "Please consider tweaking /proc/sys/kernel/perf_event_max_sample_rate.\n",
                      recorder->frequency, most);
    recorder->frequency = (uint32_t)PD_MIN((int64_t)recorder->frequency, most);
    return PERFDATA_OK;
}

/* Processes take precedence over a user, and a user over CPUs; the verb tells that, as perf
 * does. */
perfdata_status pd_record_targets(perfdata_recorder *recorder)
{
    const struct perfdata_recorder_options *options = &recorder->options;
    perfdata_status status = choose_frequency(recorder);
    bool tasks = options->pids || options->tids || options->has_user;
    recorder->targets.by_cpu = !tasks && (options->cpus ||
                                          pd_record_flag(recorder, PERFDATA_RECORDER_ALL_CPUS));
    recorder->targets.per_thread = !recorder->targets.by_cpu &&
                                   pd_record_flag(recorder, PERFDATA_RECORDER_PER_THREAD);
    if (status < 0)
        return status;
    if (options->pids || options->tids)
        status = add_processes(recorder, options->pids ? options->pids : options->tids,
                               options->pids != NULL);
    else if (options->has_user)
        status = add_user(recorder);
    else if (!push(&recorder->targets.threads,
                   recorder->targets.by_cpu ? -1 : (int32_t)recorder->command.child))
        status = pd_record_no_memory(recorder);
    if (status < 0)
        return status;
    if (recorder->targets.per_thread)
        return push(&recorder->targets.cpus, -1) ? PERFDATA_OK : pd_record_no_memory(recorder);
    if (recorder->targets.by_cpu && options->cpus)
        return pd_record_numbers(recorder, options->cpus, "CPUs", &recorder->targets.cpus);
    return online_cpus(recorder);
}
