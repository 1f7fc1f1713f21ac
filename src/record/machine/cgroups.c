/* SPDX-License-Identifier: MIT */
/* Control groups whose tasks are watched: perf's -G. */
#include "record/record.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { FIELD = 511 };

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, word, length) && (!at[length] || at[length] == ','))
            return true;
    }
    return false;
}

bool pd_cgroup_mount(const struct pd_roots *roots, bool unified, char out[PD_PATH_SIZE])
{
    char path[PD_PATH_SIZE], line[2048], kind[64], options[FIELD + 1];
    FILE *mounts = pd_roots_path(roots, path, "/proc/mounts") ? fopen(path, "re") : NULL;
    bool found = false;
    while (mounts && !found && fgets(line, sizeof line, mounts))
        if (sscanf(line, "%*s %511s %63s %511s", out, kind, options) == 3)
            found = unified ? !strcmp(kind, "cgroup2")
                            : !strcmp(kind, "cgroup") && has_word(options, "perf_event");
    if (mounts)
        fclose(mounts);
    return found;
}

/* A hierarchy of version 1 that counts events is preferred to the unified one. */
static bool find_mount(const struct pd_roots *roots, char out[PD_PATH_SIZE])
{
    return pd_cgroup_mount(roots, false, out) || pd_cgroup_mount(roots, true, out);
}

static perfdata_status open_group(perfdata_recorder *recorder, const char *name, size_t length,
                                  int *fd)
{
    char place[PD_PATH_SIZE], path[2 * PD_PATH_SIZE];
    struct pd_context *context = &recorder->context;
    if (!find_mount(&recorder->roots, place))
        return pd_fail(context, PERFDATA_ERROR_NOT_FOUND, -1, "no access to cgroup %.*s",
                       (int)PD_MIN(length, (size_t)FIELD), name);
    int written = snprintf(path, sizeof path, "%s/%.*s", place, (int)PD_MIN(length, (size_t)FIELD),
                           name);
    *fd = length > FIELD || written >= (int)sizeof path ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? PERFDATA_OK
                    : pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "no access to cgroup %s", path);
}

static perfdata_status add_group(perfdata_recorder *recorder, const char *name, size_t length,
                                 int *fd)
{
    struct pd_cgroup group = { .name = pd_arena_copy(&recorder->arena, name, length), .fd = -1 };
    if (!group.name)
        return pd_record_no_memory(recorder);
    for (size_t i = 0; i < recorder->cgroups.count; i++)
        if (!strcmp(recorder->cgroups.data[i].name, group.name)) {
            *fd = recorder->cgroups.data[i].fd;
            return PERFDATA_OK;
        }
    perfdata_status status = open_group(recorder, name, length, &group.fd);
    if (status < 0)
        return status;
    if (!pd_vec_push(&recorder->cgroups, group)) {
        close(group.fd);
        return pd_record_no_memory(recorder);
    }
    *fd = group.fd;
    return PERFDATA_OK;
}

static void watch_group(struct pd_selected *event, int fd)
{
    event->in_cgroup = true;
    event->cgroup = fd;
}

perfdata_status perfdata_recorder_set_cgroups(perfdata_recorder *recorder, const char *names)
{
    size_t count = pd_record_event_count(recorder), length;
    int fd = -1;
    if (recorder->phase.started || recorder->stop_fd < 0 || !names)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "the recorder has started, or could not be opened");
    if (!count)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "must define events before cgroups");
    for (const char *at = names; at; at = at[length] ? at + length + 1 : NULL) {
        size_t number = recorder->next_cgroup++;
        length = strcspn(at, ",");
        if (!length) /* an empty name: this event counts any task */
            continue;
        if (number >= count)
            return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "-G %s: more cgroups than events", names);
        perfdata_status status = add_group(recorder, at, length, &fd);
        if (status < 0)
            return status;
        watch_group(pd_record_event(recorder, number), fd);
    }
    /* a single group holds for all events */
    for (size_t i = 1; recorder->next_cgroup == 1 && fd >= 0 && i < count; i++)
        watch_group(pd_record_event(recorder, i), fd);
    return PERFDATA_OK;
}

void pd_record_close_cgroups(perfdata_recorder *recorder)
{
    for (size_t i = 0; i < recorder->cgroups.count; i++)
        close(recorder->cgroups.data[i].fd);
    pd_vec_free(&recorder->cgroups);
}
