/* SPDX-License-Identifier: MIT */
/* Blocks -> a descriptor, by a thread of their own. */
#include "write/async.h"
#include "io/at.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { PATCH = 128 };

struct job {
    uint8_t *block;
    size_t used, patch_size;
    uint8_t patch[PATCH];
};

struct pd_async {
    int fd, error;
    unsigned count;       /* of jobs, a ring */
    unsigned first, busy; /* the oldest that is under way, how many are */
    bool quit;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job jobs[];
};

static int run(const struct pd_async *async, const struct job *job)
{
    if (!pd_write_all(async->fd, job->block, job->used))
        return errno;
    return pd_write_at(async->fd, 0, job->patch, job->patch_size) ? 0 : errno;
}

static void *work(void *data)
{
    struct pd_async *async = data;
    pthread_mutex_lock(&async->lock);
    while (async->busy || !async->quit) {
        if (!async->busy) {
            pthread_cond_wait(&async->changed, &async->lock);
            continue;
        }
        const struct job *job = &async->jobs[async->first];
        int error = async->error;
        pthread_mutex_unlock(&async->lock);
        if (!error)
            error = run(async, job);
        pthread_mutex_lock(&async->lock);
        async->error = error;
        async->first = (async->first + 1) % async->count;
        async->busy--;
        pthread_cond_broadcast(&async->changed);
    }
    pthread_mutex_unlock(&async->lock);
    return NULL;
}

static bool start(struct pd_async *async)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the caller's */
    int error = pthread_create(&async->thread, NULL, work, async);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !error;
}

static void free_blocks(struct pd_async *async)
{
    for (unsigned i = 0; i < async->count; i++)
        free(async->jobs[i].block);
    free(async);
}

struct pd_async *pd_async_new(int fd, unsigned blocks, size_t size, uint8_t **block)
{
    struct pd_async *async = calloc(1, sizeof *async + blocks * sizeof *async->jobs);
    bool good = async != NULL;
    if (!async)
        return NULL;
    async->fd = fd;
    async->count = blocks;
    for (unsigned i = 0; i < blocks; i++)
        good &= (async->jobs[i].block = malloc(size)) != NULL;
    *block = malloc(size);
    pthread_mutex_init(&async->lock, NULL);
    pthread_cond_init(&async->changed, NULL);
    if (good && *block && start(async))
        return async;
    free(*block);
    *block = NULL;
    free_blocks(async);
    return NULL;
}

int pd_async_write(struct pd_async *async, uint8_t **block, size_t used, const void *patch,
                   size_t patch_size)
{
    pthread_mutex_lock(&async->lock);
    while (async->busy == async->count)
        pthread_cond_wait(&async->changed, &async->lock);
    struct job *job = &async->jobs[(async->first + async->busy) % async->count];
    uint8_t *other = job->block;
    job->block = *block;
    job->used = used;
    job->patch_size = PD_MIN(patch_size, (size_t)PATCH);
    if (job->patch_size)
        memcpy(job->patch, patch, job->patch_size);
    *block = other;
    async->busy++;
    int error = async->error;
    pthread_cond_broadcast(&async->changed);
    pthread_mutex_unlock(&async->lock);
    return error;
}

int pd_async_wait(struct pd_async *async)
{
    pthread_mutex_lock(&async->lock);
    while (async->busy)
        pthread_cond_wait(&async->changed, &async->lock);
    int error = async->error;
    pthread_mutex_unlock(&async->lock);
    return error;
}

void pd_async_free(struct pd_async *async)
{
    if (!async)
        return;
    pthread_mutex_lock(&async->lock);
    async->quit = true;
    pthread_cond_broadcast(&async->changed);
    pthread_mutex_unlock(&async->lock);
    pthread_join(async->thread, NULL);
    pthread_mutex_destroy(&async->lock);
    pthread_cond_destroy(&async->changed);
    free_blocks(async);
}
