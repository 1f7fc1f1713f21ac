/* SPDX-License-Identifier: MIT */
/* All processes, by several threads: each takes the next block of them, the caller writes the
 * blocks in their order. */
#include "record/machine/tasks.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { BLOCK = 16, AHEAD = 4, MOST_THREADS = 256 };

struct block {
    struct pd_text records;
    struct pd_maker maker;
    perfdata_status status;
    bool done;
};

struct shared {
    const struct pd_numbers *pids;
    struct block *blocks;
    size_t count, taken, written;
    size_t ahead; /* blocks that may be done before they are written */
    bool quit;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

struct thread {
    struct shared *shared;
    const perfdata_recorder *recorder;
    pthread_t id;
};

static void fill(struct shared *shared, size_t index)
{
    struct block *block = &shared->blocks[index];
    size_t end = PD_MIN((index + 1) * BLOCK, shared->pids->count);
    for (size_t i = index * BLOCK; i < end && block->status == PERFDATA_OK; i++)
        block->status = pd_make_process(&block->maker, shared->pids->data[i]);
}

static void *work(void *data)
{
    struct thread *thread = data;
    struct shared *shared = thread->shared;
    struct pd_mapped_ids ids = { 0 };
    pthread_mutex_lock(&shared->lock);
    while (!shared->quit && shared->taken < shared->count) {
        if (shared->taken >= shared->written + shared->ahead) {
            pthread_cond_wait(&shared->changed, &shared->lock);
            continue;
        }
        size_t index = shared->taken++;
        struct block *block = &shared->blocks[index];
        block->maker = (struct pd_maker){ .recorder = thread->recorder,
                                          .out = &block->records,
                                          .ids = &ids };
        pthread_mutex_unlock(&shared->lock);
        fill(shared, index);
        pthread_mutex_lock(&shared->lock);
        block->done = true;
        pthread_cond_broadcast(&shared->changed);
    }
    pthread_mutex_unlock(&shared->lock);
    pd_mapped_ids_free(&ids);
    return NULL;
}

static perfdata_status write_block(perfdata_recorder *recorder, struct block *block)
{
    perfdata_status status = block->status < 0 ? pd_record_no_memory(recorder) : PERFDATA_OK;
    for (size_t at = 0; at < block->records.length && status == PERFDATA_OK;) {
        const char *record = block->records.data + at;
        uint16_t size = pd_load16(record + 6, false);
        status = pd_writer_put_record(recorder->output.writer, record, size);
        at += size;
    }
    pd_maker_tell(&block->maker);
    pd_text_free(&block->records);
    pd_vec_free(&block->maker.late);
    return status;
}

static perfdata_status write_blocks(perfdata_recorder *recorder, struct shared *shared)
{
    perfdata_status status = PERFDATA_OK;
    pthread_mutex_lock(&shared->lock);
    while (shared->written < shared->count && status == PERFDATA_OK) {
        struct block *block = &shared->blocks[shared->written];
        if (!block->done) {
            pthread_cond_wait(&shared->changed, &shared->lock);
            continue;
        }
        pthread_mutex_unlock(&shared->lock);
        status = write_block(recorder, block);
        pthread_mutex_lock(&shared->lock);
        shared->written++;
        pthread_cond_broadcast(&shared->changed);
    }
    shared->quit = true;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    return status;
}

static unsigned start(struct thread *threads, unsigned wanted)
{
    unsigned started = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
    while (started < wanted && !pthread_create(&threads[started].id, NULL, work, &threads[started]))
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static perfdata_status make_alone(perfdata_recorder *recorder, const struct pd_numbers *pids)
{
    struct pd_maker maker = { .recorder = recorder,
                              .writer = recorder->output.writer,
                              .ids = &recorder->mapped_ids };
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < pids->count && status == PERFDATA_OK; i++)
        status = pd_make_process(&maker, pids->data[i]);
    pd_maker_tell(&maker);
    pd_vec_free(&maker.late);
    return status == PERFDATA_ERROR_MEMORY ? pd_record_no_memory(recorder) : status;
}

static perfdata_status make_shared(perfdata_recorder *recorder, struct shared *shared,
                                   struct thread *threads, unsigned wanted)
{
    for (unsigned i = 0; i < wanted; i++)
        threads[i] = (struct thread){ .shared = shared, .recorder = recorder };
    unsigned started = start(threads, wanted);
    perfdata_status status = started ? write_blocks(recorder, shared)
                                     : make_alone(recorder, shared->pids);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i].id, NULL);
    for (size_t i = shared->written; i < shared->taken; i++) { /* behind a failure */
        pd_text_free(&shared->blocks[i].records);
        pd_vec_free(&shared->blocks[i].maker.late);
    }
    return status;
}

perfdata_status pd_make_processes(perfdata_recorder *recorder, const struct pd_numbers *pids)
{
    unsigned wanted = PD_MIN(recorder->options.synthesis_threads, (unsigned)MOST_THREADS);
    struct shared shared = { .pids = pids,
                             .count = (pids->count + BLOCK - 1) / BLOCK,
                             .ahead = (size_t)wanted * AHEAD,
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER };
    if (wanted < 2 || shared.count < 2)
        return make_alone(recorder, pids);
    struct thread *threads = calloc(wanted, sizeof *threads);
    shared.blocks = calloc(shared.count, sizeof *shared.blocks);
    perfdata_status status = threads && shared.blocks
                                 ? make_shared(recorder, &shared, threads, wanted)
                                 : pd_record_no_memory(recorder);
    free(shared.blocks);
    free(threads);
    return status;
}
