/* SPDX-License-Identifier: MIT */
/* Ring buffers -> files, by several threads: perf's --threads. */
#include "record/ring/workers.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A file of a buffer, data.N. */
struct part {
    size_t ring;
    int fd;
    struct pd_writer *writer;
};

struct pd_worker {
    perfdata_recorder *recorder;
    struct pd_context context; /* several may fail at once */
    struct pd_numbers cpus, affinity;
    PD_VEC(struct part) parts;
    PD_VEC(struct pollfd) polls; /* of the parts' buffers, then `wake` */
    pthread_t thread;
    int wake; /* an eventfd */
    bool running;
    bool unbound;   /* written by the thread: it runs anywhere */
    int quit;       /* read by the thread */
    int failed;     /* written by it */
    uint64_t bytes; /* written by it: of its files */
    uint64_t wakeups;
};

/* ---- which thread reads which CPUs ---- */

static perfdata_status bad_masks(perfdata_recorder *recorder, const char *what, const char *which)
{
    return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                   "%s%.200s\nFailed to initialize parallel data streaming masks", what, which);
}

static bool share(const struct pd_numbers *a, const struct pd_numbers *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (pd_numbers_have(b, a->data[i]))
            return true;
    return false;
}

static void keep_only(struct pd_numbers *numbers, const struct pd_numbers *of)
{
    size_t kept = 0;
    for (size_t i = 0; i < numbers->count; i++)
        if (pd_numbers_have(of, numbers->data[i]))
            numbers->data[kept++] = numbers->data[i];
    numbers->count = kept;
}

static void free_worker(struct pd_worker *worker)
{
    for (size_t i = 0; i < worker->parts.count; i++) {
        pd_writer_close(worker->parts.data[i].writer);
        if (worker->parts.data[i].fd >= 0)
            close(worker->parts.data[i].fd);
    }
    if (worker->wake >= 0)
        close(worker->wake);
    pd_vec_free(&worker->parts);
    pd_vec_free(&worker->polls);
    pd_vec_free(&worker->cpus);
    pd_vec_free(&worker->affinity);
    pd_context_fini(&worker->context);
    free(worker);
}

/* Takes the numbers, also on failure. */
static perfdata_status add_worker(perfdata_recorder *recorder, struct pd_numbers cpus,
                                  struct pd_numbers affinity)
{
    struct pd_worker *worker = calloc(1, sizeof *worker);
    if (!worker) {
        pd_vec_free(&cpus);
        pd_vec_free(&affinity);
        return pd_record_no_memory(recorder);
    }
    pd_context_init(&worker->context);
    worker->recorder = recorder;
    worker->cpus = cpus;
    worker->affinity = affinity;
    worker->wake = -1;
    if (pd_vec_push(&recorder->readers.workers, worker))
        return PERFDATA_OK;
    free_worker(worker);
    return pd_record_no_memory(recorder);
}

static bool is_assigned(const perfdata_recorder *recorder, int32_t cpu)
{
    for (size_t i = 0; i < recorder->readers.workers.count; i++)
        if (pd_numbers_have(&recorder->readers.workers.data[i]->cpus, cpu))
            return true;
    return false;
}

/* The CPUs that share something with one of them, as sysfs lists them; only itself where sysfs says
 * nothing. */
static perfdata_status neighbours(perfdata_recorder *recorder, const char *const files[2],
                                  int32_t cpu, struct pd_numbers *out)
{
    char *text = NULL;
    for (size_t i = 0; i < 2 && !text && files[i]; i++)
        text = pd_roots_read(&recorder->roots, NULL, "/sys/devices/system/cpu/cpu%d/topology/%s",
                             cpu, files[i]);
    perfdata_status status = PERFDATA_OK;
    if (text)
        status = pd_record_numbers(recorder, text, "CPUs", out);
    else if (!pd_vec_push(out, cpu))
        status = pd_record_no_memory(recorder);
    free(text);
    return status;
}

enum layout { BY_CPU, BY_CORE, BY_PACKAGE, BY_NODE, LAYOUTS };

static perfdata_status lay_out(perfdata_recorder *recorder, enum layout layout)
{
    static const char *const files[LAYOUTS][2] = {
        [BY_CORE] = { "core_cpus_list", "thread_siblings_list" },
        [BY_PACKAGE] = { "package_cpus_list", "core_siblings_list" },
    };
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < recorder->targets.cpus.count && status == PERFDATA_OK; i++) {
        struct pd_numbers cpus = { 0 }, affinity = { 0 };
        int32_t cpu = recorder->targets.cpus.data[i];
        if (is_assigned(recorder, cpu))
            continue;
        status = layout == BY_NODE ? pd_record_node_of(recorder, cpu, &affinity)
                                   : neighbours(recorder, files[layout], cpu, &affinity);
        for (size_t k = 0; k < affinity.count && status == PERFDATA_OK; k++)
            if (!pd_vec_push(&cpus, affinity.data[k]))
                status = pd_record_no_memory(recorder);
        keep_only(&cpus, &recorder->targets.cpus);
        perfdata_status added = add_worker(recorder, cpus, affinity);
        status = status < 0 ? status : added;
    }
    return status;
}

/* A list of CPUs of which all are possible. */
static bool cpu_list(perfdata_recorder *recorder, const char *text, const struct pd_numbers *all,
                     struct pd_numbers *out)
{
    if (pd_record_numbers(recorder, text, "CPUs", out) < 0)
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!pd_numbers_have(all, out->data[i]))
            return false;
    return true;
}

static perfdata_status check_mask(perfdata_recorder *recorder, struct pd_numbers *cpus,
                                  const struct pd_numbers *affinity, const char *maps,
                                  const char *places)
{
    keep_only(cpus, &recorder->targets.cpus);
    if (!cpus->count)
        return bad_masks(recorder, "Empty maps mask: ", maps);
    for (size_t i = 0; i < recorder->readers.workers.count; i++) {
        if (share(&recorder->readers.workers.data[i]->cpus, cpus))
            return bad_masks(recorder, "Intersecting maps mask: ", maps);
        if (share(&recorder->readers.workers.data[i]->affinity, affinity))
            return bad_masks(recorder, "Intersecting affinity mask: ", places);
    }
    return PERFDATA_OK;
}

/* "0,2-4/2-4": the text is written to. */
static perfdata_status add_mask(perfdata_recorder *recorder, char *text,
                                const struct pd_numbers *possible)
{
    struct pd_numbers cpus = { 0 }, affinity = { 0 };
    char *slash = strchr(text, '/');
    if (!slash || slash == text || !slash[1])
        return bad_masks(recorder, "Invalid thread maps or affinity specs", "");
    *slash++ = 0;
    slash[strcspn(slash, "/")] = 0;
    perfdata_status status;
    if (!cpu_list(recorder, text, possible, &cpus))
        status = bad_masks(recorder, "Failed to initialize maps thread mask", "");
    else if (!cpu_list(recorder, slash, possible, &affinity))
        status = bad_masks(recorder, "Failed to initialize affinity thread mask", "");
    else
        status = check_mask(recorder, &cpus, &affinity, text, slash);
    if (status == PERFDATA_OK)
        return add_worker(recorder, cpus, affinity);
    pd_vec_free(&cpus);
    pd_vec_free(&affinity);
    return status;
}

static perfdata_status add_masks(perfdata_recorder *recorder, const char *masks)
{
    struct pd_numbers possible = { 0 };
    char *text = strdup(masks), *list = pd_record_cpu_list(recorder, "possible");
    perfdata_status status = text && list ? PERFDATA_OK : pd_record_no_memory(recorder);
    if (status == PERFDATA_OK)
        status = pd_record_numbers(recorder, list, "CPUs", &possible);
    for (char *at = text, *next; at && status == PERFDATA_OK; at = next) {
        next = strchr(at, ':');
        if (next)
            *next++ = 0;
        if (*at || at == text)
            status = add_mask(recorder, at, &possible);
    }
    pd_vec_free(&possible);
    free(list);
    free(text);
    return status;
}

perfdata_status pd_workers_prepare(perfdata_recorder *recorder)
{
    static const char *const names[LAYOUTS] = { "cpu", "core", "package", "numa" };
    const char *threads = recorder->options.threads;
    if (!threads)
        return PERFDATA_OK;
    if (!recorder->options.path)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "Parallel trace streaming is not available in pipe mode.");
    if (recorder->targets.per_thread)
        return bad_masks(
            recorder, "--per-thread option is mutually exclusive to parallel streaming mode.", "");
    for (unsigned i = 0; i < LAYOUTS; i++)
        if (!strcmp(names[i], threads) || (!*threads && i == BY_CPU))
            return lay_out(recorder, (enum layout)i);
    return add_masks(recorder, threads);
}

/* ---- a thread ---- */

static perfdata_status read_all(struct pd_worker *worker, bool last)
{
    perfdata_status status = PERFDATA_OK;
    uint64_t bytes = 0;
    for (size_t i = 0; i < worker->parts.count && status == PERFDATA_OK; i++) {
        const struct part *part = &worker->parts.data[i];
        uint64_t moved = 0;
        status = pd_record_read_ring(worker->recorder, part->ring, part->writer, last, &moved);
        if (status == PERFDATA_OK && moved)
            status = pd_writer_sync(part->writer);
        bytes += pd_writer_position(part->writer);
    }
    __atomic_store_n(&worker->bytes, bytes, __ATOMIC_RELAXED);
    return status;
}

/* False: no buffer can have more. */
static bool wait_for_data(struct pd_worker *worker)
{
    int ready = poll(worker->polls.data, worker->polls.count, -1);
    worker->wakeups += ready > 0;
    return pd_record_drop_gone(worker->polls.data, worker->parts.count, ready);
}

static void *work(void *data)
{
    struct pd_worker *worker = data;
    perfdata_recorder *recorder = worker->recorder;
    perfdata_status status = PERFDATA_OK;
    bool alive = true;
    worker->unbound = !pd_record_bind(0, &worker->affinity);
    while (status == PERFDATA_OK && !__atomic_load_n(&worker->quit, __ATOMIC_ACQUIRE)) {
        status = read_all(worker, false);
        bool any = status < 0 || wait_for_data(worker);
        if (alive && !any && !__atomic_sub_fetch(&recorder->readers.alive, 1, __ATOMIC_RELAXED) &&
            !recorder->command.child)
            /* this was the last thread that still had something to wait for */
            perfdata_recorder_stop(recorder);
        alive &= any;
    }
    if (status == PERFDATA_OK)
        status = read_all(worker, true);
    if (status < 0) {
        __atomic_store_n(&worker->failed, 1, __ATOMIC_RELEASE);
        perfdata_recorder_stop(recorder);
    }
    return NULL;
}

/* ---- the recorder's side ---- */

static perfdata_status has_failed(const struct pd_worker *worker)
{
    const struct pd_context *context = &worker->context;
    return pd_fail(&worker->recorder->context, context->status, context->offset, "%s",
                   context->message);
}

static perfdata_status open_part(struct pd_worker *worker, size_t ring)
{
    perfdata_recorder *recorder = worker->recorder;
    struct pd_writer_options options = { .kind = PD_WRITE_PART,
                                         .level = recorder->options.compression };
    struct part part = { .ring = ring, .fd = -1 };
    struct pollfd poll = { .fd = recorder->live.rings.data[ring].fd,
                           .events = POLLIN | POLLERR | POLLHUP };
    char name[32];
    snprintf(name, sizeof name, "data.%zu", ring);
    part.fd = openat(recorder->output.folder, name, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
    if (part.fd < 0)
        return pd_fail(&recorder->context, PERFDATA_ERROR_OUTPUT, -1, "failed to open %s : %s",
                       name, strerrordesc_np(errno));
    perfdata_status status = pd_writer_open_fd(&worker->context, part.fd, &options, &part.writer);
    if (status == PERFDATA_OK)
        status = pd_writer_begin(part.writer);
    if (!pd_vec_push(&worker->parts, part)) {
        pd_writer_close(part.writer);
        close(part.fd);
        return pd_record_no_memory(recorder);
    }
    if (!pd_vec_push(&worker->polls, poll))
        return pd_record_no_memory(recorder);
    return status < 0 ? has_failed(worker) : PERFDATA_OK;
}

/* Buffers of CPUs that no mask names are not read, as with perf. */
static perfdata_status open_parts(perfdata_recorder *recorder)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < recorder->live.rings.count && status == PERFDATA_OK; i++) {
        struct pd_worker *worker = NULL;
        for (size_t w = 0; w < recorder->readers.workers.count && !worker; w++)
            if (pd_numbers_have(&recorder->readers.workers.data[w]->cpus,
                                recorder->live.rings.data[i].cpu))
                worker = recorder->readers.workers.data[w];
        if (worker)
            status = open_part(worker, i);
    }
    return status;
}

static perfdata_status run(struct pd_worker *worker)
{
    struct pd_context *context = &worker->recorder->context;
    sigset_t all, before;
    worker->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct pollfd poll = { .fd = worker->wake, .events = POLLIN };
    if (worker->wake < 0)
        return pd_fail(context, PERFDATA_ERROR_LIMIT, -1, "eventfd: %s", strerrordesc_np(errno));
    if (!pd_vec_push(&worker->polls, poll))
        return pd_record_no_memory(worker->recorder);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
    int error = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return pd_fail(context, PERFDATA_ERROR_LIMIT, -1, "failed to start a thread: %s",
                       strerrordesc_np(error));
    worker->running = true;
    return PERFDATA_OK;
}

perfdata_status pd_workers_start(perfdata_recorder *recorder)
{
    perfdata_status status = recorder->readers.workers.count ? open_parts(recorder) : PERFDATA_OK;
    for (size_t i = 0; i < recorder->readers.workers.count; i++)
        recorder->readers.alive += recorder->readers.workers.data[i]->parts.count != 0;
    for (size_t i = 0; i < recorder->readers.workers.count && status == PERFDATA_OK; i++)
        if (recorder->readers.workers.data[i]->parts.count)
            status = run(recorder->readers.workers.data[i]);
    return status;
}

perfdata_status pd_workers_status(perfdata_recorder *recorder)
{
    for (size_t i = 0; i < recorder->readers.workers.count; i++)
        if (__atomic_load_n(&recorder->readers.workers.data[i]->failed, __ATOMIC_ACQUIRE))
            return has_failed(recorder->readers.workers.data[i]);
    return PERFDATA_OK;
}

static void end(struct pd_worker *worker)
{
    uint64_t one = 1;
    __atomic_store_n(&worker->quit, 1, __ATOMIC_RELEASE);
    if (!worker->running)
        return;
    (void)!write(worker->wake, &one, sizeof one);
    (void)pthread_join(worker->thread, NULL);
    worker->running = false;
    if (worker->unbound)
        pd_record_log(worker->recorder, 0, "failed to set the affinity mask of a thread\n");
    worker->recorder->wakeups += worker->wakeups;
}

perfdata_status pd_workers_finish(perfdata_recorder *recorder)
{
    for (size_t i = 0; i < recorder->readers.workers.count; i++)
        end(recorder->readers.workers.data[i]);
    perfdata_status status = pd_workers_status(recorder);
    for (size_t i = 0; i < recorder->readers.workers.count; i++) {
        struct pd_worker *worker = recorder->readers.workers.data[i];
        for (size_t k = 0; k < worker->parts.count && status == PERFDATA_OK; k++)
            if (pd_writer_finish(worker->parts.data[k].writer) < 0)
                status = has_failed(worker);
    }
    return status;
}

uint64_t pd_workers_size(const perfdata_recorder *recorder)
{
    uint64_t size = 0;
    for (size_t i = 0; i < recorder->readers.workers.count; i++)
        size += __atomic_load_n(&recorder->readers.workers.data[i]->bytes, __ATOMIC_RELAXED);
    return size;
}

void pd_workers_packed(const perfdata_recorder *recorder, uint64_t *in, uint64_t *out)
{
    for (size_t i = 0; i < recorder->readers.workers.count; i++)
        for (size_t k = 0; k < recorder->readers.workers.data[i]->parts.count; k++) {
            uint64_t more_in, more_out;
            pd_writer_packed(recorder->readers.workers.data[i]->parts.data[k].writer, &more_in,
                             &more_out);
            *in += more_in;
            *out += more_out;
        }
}

void pd_workers_close(perfdata_recorder *recorder)
{
    for (size_t i = 0; i < recorder->readers.workers.count; i++) {
        end(recorder->readers.workers.data[i]);
        free_worker(recorder->readers.workers.data[i]);
    }
    pd_vec_free(&recorder->readers.workers);
}
