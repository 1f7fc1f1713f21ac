/* SPDX-License-Identifier: MIT */
/* Processes, their threads, names and maps, as /proc shows them: FORK, COMM, NAMESPACES, MMAP2,
 * CGROUP. */
#include "base/memory.h"
#include "record/records.h"
#include "record/machine/tasks.h"
#include "object/process.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COMM_SIZE = 16 };

struct task {
    int32_t tid, tgid, parent;
    char comm[COMM_SIZE];
};

static bool read_task(const perfdata_recorder *recorder, int32_t tid, struct task *out)
{
    *out = (struct task){ .tid = tid, .tgid = -1 };
    char *text = pd_roots_read(&recorder->roots, NULL, "/proc/%d/status", tid);
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (!strncmp(line, "Name:\t", 6))
            snprintf(out->comm, sizeof out->comm, "%s", line + 6);
        else if (!strncmp(line, "Tgid:", 5))
            out->tgid = (int32_t)strtol(line + 5, NULL, 10);
        else if (!strncmp(line, "PPid:", 5))
            out->parent = (int32_t)strtol(line + 5, NULL, 10);
    }
    free(text);
    return out->tgid >= 0;
}

static bool wants(const perfdata_recorder *recorder, uint32_t what)
{
    uint32_t asked = recorder->options.synthesize;
    return !asked || asked & what;
}

/* ---- one task ---- */

static perfdata_status put(struct pd_maker *maker, struct pd_made *made)
{
    if (!pd_made_end(made, maker->recorder->trailer))
        return PERFDATA_OK;
    if (!maker->out)
        return pd_writer_put_record(maker->writer, made->bytes, made->size);
    pd_text_bytes(maker->out, made->bytes, made->size);
    return maker->out->failed ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
}

static perfdata_status put_fork(struct pd_maker *maker, const struct task *task)
{
    struct pd_made made = { 0 };
    /* a thread's parent is its process */
    int32_t parent = task->tid == task->tgid ? task->parent : task->tgid;
    pd_made_begin(&made, PD_RECORD_FORK, PD_MISC_FORK_EXEC);
    pd_made_u32(&made, (uint32_t)task->tgid);
    pd_made_u32(&made, (uint32_t)parent);
    pd_made_u32(&made, (uint32_t)task->tid);
    pd_made_u32(&made, (uint32_t)parent);
    pd_made_u64(&made, 0);
    return put(maker, &made);
}

static perfdata_status put_comm(struct pd_maker *maker, const struct task *task)
{
    struct pd_made made = { 0 };
    pd_made_begin(&made, PD_RECORD_COMM, 0);
    pd_made_u32(&made, (uint32_t)task->tgid);
    pd_made_u32(&made, (uint32_t)task->tid);
    pd_made_text(&made, task->comm, 8);
    return put(maker, &made);
}

static perfdata_status put_namespaces(struct pd_maker *maker, const struct task *task)
{
    static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
    struct pd_made made = { 0 };
    if (!pd_record_flag(maker->recorder, PERFDATA_RECORDER_NAMESPACES))
        return PERFDATA_OK;
    pd_made_begin(&made, PD_RECORD_NAMESPACES, 0);
    pd_made_u32(&made, (uint32_t)task->tgid);
    pd_made_u32(&made, (uint32_t)task->tid);
    pd_made_u64(&made, PD_LENGTH(names));
    for (size_t i = 0; i < PD_LENGTH(names); i++) {
        char path[PD_PATH_SIZE];
        struct stat info = { 0 };
        if (pd_roots_path(&maker->recorder->roots, path, "/proc/%d/ns/%s", task->tid, names[i]))
            (void)!stat(path, &info);
        pd_made_u64(&made, info.st_dev);
        pd_made_u64(&made, info.st_ino);
    }
    return put(maker, &made);
}

/* ---- maps ---- */

struct map_line {
    unsigned long long start, end, offset, inode;
    unsigned major, minor;
    char rights[5];
    int name; /* where it begins */
};

static bool parse_map(const char *line, struct map_line *out)
{
    return sscanf(line, "%llx-%llx %4s %llx %x:%x %llu%n", &out->start, &out->end, out->rights,
                  &out->offset, &out->major, &out->minor, &out->inode, &out->name) == 7 &&
           strlen(out->rights) == 4;
}

/* The build-id of the file that the process sees there, which may be another than we see. */
static void read_build_id(const struct pd_maker *maker, const struct task *task,
                          const struct map_line *map, const char *name, struct pd_build_id *id)
{
    struct pd_mapped_file file = {
        .path = name, .pid = (uint32_t)task->tgid, .start = map->start, .inode = map->inode
    };
    char root[PD_ROOT_ROOM] = "", path[PD_ROOT_ROOM + PATH_MAX];
    const char *below = maker->recorder->roots.root;
    bool real = !below || !*below;
    if (real && pd_path_owner(&file, root) == PD_PATH_NOBODY)
        return;
    int length = snprintf(path, sizeof path, "%s%s", root, name);
    if (length >= (int)sizeof path || pd_build_id_read(path, id) < 0)
        id->size = 0;
}

/* Looks up what is mapped, since many tasks map the same file. Size 0: there is no build-id. */
static struct pd_build_id build_id_of(struct pd_maker *maker, const struct task *task,
                                      const struct map_line *map, const char *name)
{
    enum { INODE_BITS = 40, MINOR_BITS = 12 };
    struct pd_build_id id = { .size = 0 };
    uint64_t key = ((uint64_t)map->major << MINOR_BITS | map->minor) << INODE_BITS | map->inode;
    bool unique = !(map->inode >> INODE_BITS) && !(map->minor >> MINOR_BITS);
    if (*name != '/' || !map->inode)
        return id;
    struct pd_mapped_ids *ids = maker->ids;
    uint32_t known = unique ? pd_map64_get(&ids->number_of, key) : PD_MAP64_NONE;
    if (known != PD_MAP64_NONE)
        return ids->list.data[known];
    read_build_id(maker, task, map, name, &id);
    if (unique && pd_vec_push(&ids->list, id))
        (void)pd_map64_set(&ids->number_of, key, (uint32_t)ids->list.count - 1);
    return id;
}

void pd_mapped_ids_free(struct pd_mapped_ids *ids)
{
    pd_vec_free(&ids->list);
    pd_map64_free(&ids->number_of);
}

/* `late`: reading takes too long, so this is the last map of the task. */
static perfdata_status put_map(struct pd_maker *maker, const struct task *task,
                               const struct map_line *map, const char *name, bool late)
{
    struct pd_made made = { 0 };
    bool code = map->rights[2] == 'x', shared = map->rights[3] == 's';
    uint32_t protection = (map->rights[0] == 'r' ? PROT_READ : 0u) |
                          (map->rights[1] == 'w' ? PROT_WRITE : 0u) | (code ? PROT_EXEC : 0u);
    struct pd_build_id id = { .size = 0 };
    if (maker->recorder->options.map_build_ids)
        id = build_id_of(maker, task, map, name);
    pd_made_begin(&made, PD_RECORD_MMAP2,
                  (uint16_t)(PD_CPUMODE_USER | (code ? 0 : PD_MISC_MMAP_DATA) |
                             (id.size ? PD_MISC_MMAP_BUILD_ID : 0) |
                             (late ? PD_MISC_PROC_MAP_PARSE_TIMEOUT : 0)));
    pd_made_u32(&made, (uint32_t)task->tgid);
    pd_made_u32(&made, (uint32_t)task->tid);
    pd_made_u64(&made, map->start);
    pd_made_u64(&made, map->end - map->start);
    pd_made_u64(&made, map->offset);
    if (id.size) {
        pd_made_build_id(&made, &id);
    } else {
        pd_made_u32(&made, map->major);
        pd_made_u32(&made, map->minor);
        pd_made_u64(&made, map->inode);
        pd_made_u64(&made, 0);
    }
    pd_made_u32(&made, protection);
    pd_made_u32(&made, shared ? MAP_SHARED : MAP_PRIVATE);
    pd_made_text(&made, *name ? name : "//anon", 8);
    return put(maker, &made);
}

static bool wants_data(const perfdata_recorder *recorder)
{
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        if (pd_attr_flag(&pd_record_event(recorder, i)->attr, PD_ATTR_MMAP_DATA))
            return true;
    return false;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* False: the time for reading this task's maps is up. With a limit of 0 it is up from the start, as
 * with perf. */
static bool in_time(const perfdata_recorder *recorder, uint64_t start)
{
    const struct perfdata_recorder_options *options = &recorder->options;
    return !options->has_map_timeout ||
           (options->map_timeout && now_ms() - start <= options->map_timeout);
}

/* Code; data, too, where addresses are wanted. */
static perfdata_status put_maps(struct pd_maker *maker, const struct task *task)
{
    const perfdata_recorder *recorder = maker->recorder;
    char path[PD_PATH_SIZE], *line = NULL;
    size_t room = 0;
    ssize_t length;
    perfdata_status status = PERFDATA_OK;
    bool data = wants_data(recorder), late = false;
    uint64_t start = now_ms();
    if (!wants(recorder, PERFDATA_SYNTHESIZE_MAPS) ||
        !pd_roots_path(&recorder->roots, path, "/proc/%d/maps", task->tid))
        return PERFDATA_OK;
    errno = 0;
    FILE *file = fopen(path, "re");
    while (file && !late && status == PERFDATA_OK && (length = getline(&line, &room, file)) > 0) {
        struct map_line map;
        if (line[length - 1] == '\n')
            line[length - 1] = 0;
        late = !in_time(recorder, start);
        if (!parse_map(line, &map) ||
            (map.rights[2] != 'x' && (!data || (map.rights[0] != 'r' && map.rights[1] != 'w'))))
            continue;
        const char *name = line + map.name;
        status = put_map(maker, task, &map, name + strspn(name, " "), late);
    }
    pd_memory_note_errno();
    free(line);
    if (file)
        fclose(file);
    if (late && status == PERFDATA_OK && !pd_vec_push(&maker->late, task->tid))
        status = PERFDATA_ERROR_MEMORY;
    return status;
}

void pd_maker_tell(struct pd_maker *maker)
{
    for (size_t i = 0; i < maker->late.count; i++)
        pd_record_log(maker->recorder, 0,
                      "Reading /proc/%d/task/%d/maps time out. You may want to increase the time "
                      "limit by --proc-map-timeout\n",
                      maker->late.data[i], maker->late.data[i]);
    maker->late.count = 0;
}

/* ---- all of them ---- */

static bool is_number(const char *text, int32_t *out)
{
    char *end;
    long number = strtol(text, &end, 10);
    *out = (int32_t)number;
    return *text >= '0' && *text <= '9' && !*end && number <= INT32_MAX;
}

perfdata_status pd_make_process(struct pd_maker *maker, int32_t pid)
{
    size_t count;
    char **names = pd_roots_list(&maker->recorder->roots, &count, "/proc/%d/task", pid);
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++) {
        struct task task;
        int32_t tid;
        if (!is_number(names[i], &tid) || !read_task(maker->recorder, tid, &task))
            continue;
        status = put_fork(maker, &task);
        if (status == PERFDATA_OK)
            status = put_namespaces(maker, &task);
        if (status == PERFDATA_OK)
            status = put_comm(maker, &task);
        if (status == PERFDATA_OK && tid == pid)
            status = put_maps(maker, &task);
    }
    free(names);
    /* a task that could not be read for lack of memory must not count as ended */
    return status == PERFDATA_OK && pd_memory_failed() ? PERFDATA_ERROR_MEMORY : status;
}

static perfdata_status put_everything(perfdata_recorder *recorder)
{
    size_t count;
    struct pd_numbers pids = { 0 };
    char **names = pd_roots_list(&recorder->roots, &count, "/proc");
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++) {
        int32_t pid;
        if (is_number(names[i], &pid) && !pd_vec_push(&pids, pid))
            status = pd_record_no_memory(recorder);
    }
    free(names);
    if (status == PERFDATA_OK)
        status = pd_make_processes(recorder, &pids);
    pd_vec_free(&pids);
    return status;
}

static bool is_watched(const perfdata_recorder *recorder, int32_t tid)
{
    for (size_t i = 0; i < recorder->targets.threads.count; i++)
        if (recorder->targets.threads.data[i] == tid)
            return true;
    return false;
}

/* A watched thread, and its process where that is not watched itself. */
static perfdata_status put_watched(struct pd_maker *maker, int32_t tid, bool leader_too)
{
    struct task task;
    if (!read_task(maker->recorder, tid, &task))
        return PERFDATA_OK;
    perfdata_status status = put_comm(maker, &task);
    if (status == PERFDATA_OK)
        status = put_namespaces(maker, &task);
    if (status == PERFDATA_OK && task.tgid == tid)
        status = put_maps(maker, &task);
    if (status < 0 || task.tgid == tid || !leader_too || is_watched(maker->recorder, task.tgid))
        return status;
    return put_watched(maker, task.tgid, false);
}

static struct pd_maker maker_of(perfdata_recorder *recorder)
{
    return (struct pd_maker){ .recorder = recorder,
                              .writer = recorder->output.writer,
                              .ids = &recorder->mapped_ids };
}

/* The command has perf's name until its exec: readers that know perf expect that one. */
perfdata_status pd_record_synthesize_command(perfdata_recorder *recorder)
{
    struct task task = { .tid = (int32_t)recorder->command.child,
                         .tgid = (int32_t)recorder->command.child };
    struct pd_maker maker = maker_of(recorder);
    if (!recorder->command.child || recorder->command.child_go < 0)
        return PERFDATA_OK;
    snprintf(task.comm, sizeof task.comm, "perf-exec");
    perfdata_status status = put_comm(&maker, &task);
    return status < 0 ? status : put_namespaces(&maker, &task);
}

static perfdata_status put_all_watched(perfdata_recorder *recorder)
{
    struct pd_maker maker = maker_of(recorder);
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < recorder->targets.threads.count && status == PERFDATA_OK; i++)
        if (recorder->targets.threads.data[i] != recorder->command.child ||
            recorder->command.child_go < 0)
            status = put_watched(&maker, recorder->targets.threads.data[i], true);
    pd_maker_tell(&maker);
    pd_vec_free(&maker.late);
    return status == PERFDATA_ERROR_MEMORY ? pd_record_no_memory(recorder) : status;
}

/* ---- cgroups ---- */

static _Thread_local struct {
    perfdata_recorder *recorder;
    size_t root; /* length of the mount's path */
    perfdata_status status;
} cgroup_walk; /* nftw() has no argument for it */

static int put_cgroup(const char *path, const struct stat *info, int type, struct FTW *where)
{
    union {
        struct file_handle handle;
        uint8_t room[sizeof(struct file_handle) + sizeof(uint64_t)];
    } handle = { .handle = { .handle_bytes = sizeof(uint64_t) } };
    uint64_t id;
    struct pd_made made = { 0 };
    int mount;
    (void)info;
    (void)where;
    if (type != FTW_D || name_to_handle_at(AT_FDCWD, path, &handle.handle, &mount, 0) < 0)
        return 0;
    memcpy(&id, handle.room + sizeof(struct file_handle), sizeof id);
    const char *name = path + cgroup_walk.root;
    pd_made_begin(&made, PD_RECORD_CGROUP, 0);
    pd_made_u64(&made, id);
    pd_made_text(&made, *name ? name : "/", 8);
    cgroup_walk.status = pd_made_put(cgroup_walk.recorder, &made, cgroup_walk.recorder->trailer);
    return cgroup_walk.status < 0;
}

static perfdata_status put_cgroups(perfdata_recorder *recorder)
{
    enum { DESCRIPTORS = 16 };
    char path[PD_PATH_SIZE];
    if (!pd_record_flag(recorder, PERFDATA_RECORDER_CGROUPS) ||
        !wants(recorder, PERFDATA_SYNTHESIZE_CGROUPS) ||
        !pd_cgroup_mount(&recorder->roots, true, path))
        return PERFDATA_OK;
    cgroup_walk.recorder = recorder;
    cgroup_walk.root = strlen(path);
    cgroup_walk.status = PERFDATA_OK;
    (void)nftw(path, put_cgroup, DESCRIPTORS, FTW_PHYS | FTW_MOUNT);
    return cgroup_walk.status;
}

perfdata_status pd_record_synthesize_tasks(perfdata_recorder *recorder)
{
    perfdata_status status = put_cgroups(recorder);
    if (status < 0 || !wants(recorder, PERFDATA_SYNTHESIZE_TASKS | PERFDATA_SYNTHESIZE_MAPS))
        return status;
    return recorder->targets.by_cpu ? put_everything(recorder) : put_all_watched(recorder);
}
