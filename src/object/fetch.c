/* SPDX-License-Identifier: MIT */
/* A build-id -> a file of a debuginfod server, through libdebuginfod. */
#include "object/fetch.h"

#ifdef PD_HAVE_DEBUGINFOD
#include "base/intern.h"
#include "base/library.h"
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NAMES(ROW)                                                                                 \
    ROW(debuginfod_begin)                                                                          \
    ROW(debuginfod_end)                                                                            \
    ROW(debuginfod_set_user_data)                                                                  \
    ROW(debuginfod_get_user_data)                                                                  \
    ROW(debuginfod_set_progressfn)                                                                 \
    ROW(debuginfod_find_debuginfo)                                                                 \
    ROW(debuginfod_find_executable)
static struct {
    NAMES(PD_LIBRARY_MEMBER)
} lib = { NAMES(PD_LIBRARY_LINKED) };
static const struct pd_library_row rows[] = { NAMES(PD_LIBRARY_ROW) };
static struct pd_library library = PD_LIBRARY(DEBUGINFOD_SONAME, rows);
PD_LIBRARY_NOTE("libdebuginfod.so.1", "debuginfod", "--debuginfod", "suggested")

enum { DEFAULT_PATIENCE = 20 /* seconds */ };

enum ending { GOES_ON, IMPATIENT, INTERRUPTED };

struct pd_fetch {
    struct pd_context *context;
    struct perfdata_debuginfod how;
    pthread_mutex_t lock;
    debuginfod_client *client;
    struct pd_intern keys; /* what and build-id */
    PD_VEC(char *) paths;  /* by the id of the key; NULL: it cannot be had */
    uint64_t asked, not_there;
    bool over; /* nothing more is asked for */
    struct {
        const char *what;
        char id[2 * PD_BUILD_ID_MAX + 1];
        long calls, bytes;
        int64_t moved; /* when the last byte came */
        enum ending ending;
    } now; /* the file that comes */
};

static int64_t seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* Until a server answers, the library gives the number of its calls in place of bytes. */
static int on_progress(debuginfod_client *client, long bytes, long total)
{
    struct pd_fetch *fetch = lib.debuginfod_get_user_data(client);
    bool comes = total > 0 || bytes != ++fetch->now.calls;
    if (comes && bytes > fetch->now.bytes) {
        fetch->now.bytes = bytes;
        fetch->now.moved = seconds();
    }
    if (fetch->how.on_progress &&
        fetch->how.on_progress(fetch->how.data, fetch->now.what, fetch->now.id,
                               (uint64_t)fetch->now.bytes, total > 0 ? (uint64_t)total : 0))
        fetch->now.ending = INTERRUPTED;
    else if (seconds() - fetch->now.moved >= (int64_t)fetch->how.patience)
        fetch->now.ending = IMPATIENT;
    return fetch->now.ending != GOES_ON;
}

perfdata_status pd_fetch_new(struct pd_context *context, const struct perfdata_debuginfod *how,
                             struct pd_fetch **out)
{
    struct perfdata_debuginfod known = { 0 };
    const char *servers = getenv(DEBUGINFOD_URLS_ENV_VAR);

    *out = NULL;
    perfdata_status status = pd_take_options(context, &known, sizeof known, how);
    if (status < 0)
        return status;
    const char *missing = pd_library_load(&library);
    if (missing)
        return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1, "--debuginfod: %s", missing);
    if (!servers || !servers[strspn(servers, " ")])
        return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "--debuginfod: no server is named, neither there nor by DEBUGINFOD_URLS");
    struct pd_fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch)
        return pd_no_memory(context, NULL);
    fetch->context = context;
    fetch->how = known;
    if (!fetch->how.patience)
        fetch->how.patience = DEFAULT_PATIENCE;
    pthread_mutex_init(&fetch->lock, NULL);
    fetch->client = lib.debuginfod_begin();
    if (!fetch->client) {
        pd_fetch_free(fetch);
        return pd_no_memory(context, NULL);
    }
    lib.debuginfod_set_user_data(fetch->client, fetch);
    lib.debuginfod_set_progressfn(fetch->client, on_progress);
    *out = fetch;
    return PERFDATA_OK;
}

void pd_fetch_free(struct pd_fetch *fetch)
{
    if (!fetch)
        return;
    if (fetch->how.on_end)
        fetch->how.on_end(fetch->how.data, fetch->asked, fetch->not_there);
    if (fetch->client)
        lib.debuginfod_end(fetch->client);
    for (size_t i = 0; i < fetch->paths.count; i++)
        free(fetch->paths.data[i]);
    pd_vec_free(&fetch->paths);
    pd_intern_free(&fetch->keys);
    pthread_mutex_destroy(&fetch->lock);
    free(fetch);
}

/* Why there is no file: `error` is the library's. */
static void tell(struct pd_fetch *fetch, int error)
{
    const char *what = fetch->now.what, *id = fetch->now.id;
    if (fetch->now.ending == INTERRUPTED)
        return; /* who did it knows */
    if (fetch->now.ending == IMPATIENT)
        (void)pd_issue(fetch->context, PERFDATA_ISSUE_OBJECT, -1,
                       "debuginfod: %s %s: nothing, or too little, came for %" PRIu32
                       " seconds; no more files are fetched",
                       what, id, fetch->how.patience);
    else if (error == ENOENT)
        fetch->not_there++;
    else
        (void)pd_issue(fetch->context, PERFDATA_ISSUE_OBJECT, -1, "debuginfod: %s %s: %s", what, id,
                       strerror(error));
}

/* NULL: it cannot be had. */
static char *get(struct pd_fetch *fetch, enum pd_fetch_what what, const struct pd_build_id *id)
{
    char *path = NULL;
    struct pd_build_id found;

    fetch->now.what = what == PD_FETCH_DEBUG_FILE ? "debuginfo" : "executable";
    pd_build_id_text(id, fetch->now.id);
    fetch->now.calls = fetch->now.bytes = 0;
    fetch->now.moved = seconds();
    fetch->now.ending = GOES_ON;
    fetch->asked++;
    int fd = what == PD_FETCH_DEBUG_FILE
                 ? lib.debuginfod_find_debuginfo(fetch->client, id->bytes, id->size, &path)
                 : lib.debuginfod_find_executable(fetch->client, id->bytes, id->size, &path);
    if (fetch->now.ending == GOES_ON && (fd == -ETIME || fd == -ETIMEDOUT))
        fetch->now.ending = IMPATIENT; /* the library's own patience is DEBUGINFOD_TIMEOUT, too */
    fetch->over = fetch->now.ending != GOES_ON;
    if (fd < 0) {
        tell(fetch, -fd);
        return NULL;
    }
    close(fd);
    if (path && !pd_build_id_read(path, &found) && pd_build_id_equal(&found, id))
        return path;
    (void)pd_issue(fetch->context, PERFDATA_ISSUE_OBJECT, -1,
                   "debuginfod: %s %s: what the server sent is no file with this build-id",
                   fetch->now.what, fetch->now.id);
    free(path);
    return NULL;
}

const char *pd_fetch_file(struct pd_fetch *fetch, enum pd_fetch_what what,
                          const struct pd_build_id *id)
{
    uint8_t key[1 + PD_BUILD_ID_MAX] = { (uint8_t)what };

    if (!fetch || !id->size)
        return NULL;
    memcpy(key + 1, id->bytes, id->size);
    pthread_mutex_lock(&fetch->lock);
    uint32_t at = pd_intern(&fetch->keys, (const char *)key, 1 + (size_t)id->size);
    bool known = at < fetch->paths.count;
    if (!known && at != PD_INTERN_NONE && pd_vec_widen_to(&fetch->paths, (size_t)at + 1) &&
        !fetch->over)
        fetch->paths.data[at] = get(fetch, what, id);
    const char *path = at < fetch->paths.count ? fetch->paths.data[at] : NULL;
    pthread_mutex_unlock(&fetch->lock);
    return path;
}

#else

perfdata_status pd_fetch_new(struct pd_context *context, const struct perfdata_debuginfod *how,
                             struct pd_fetch **out)
{
    (void)how;
    *out = NULL;
    return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                   "--debuginfod: built without libdebuginfod");
}

void pd_fetch_free(struct pd_fetch *fetch)
{
    (void)fetch;
}

const char *pd_fetch_file(struct pd_fetch *fetch, enum pd_fetch_what what,
                          const struct pd_build_id *id)
{
    (void)fetch, (void)what, (void)id;
    return NULL;
}

#endif
