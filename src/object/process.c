/* SPDX-License-Identifier: MIT */
/* A process and a path that it mapped -> whose file that is, and where it can be read. */
#include "object/process.h"
#include "base/memory.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool stat_of(uint32_t pid, const char *what, struct stat *out)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/%s", pid, what);
    return stat(path, out) == 0;
}

/* Whose mount namespace it is: 1 another's, 0 ours, -1 not known, because the process is gone or
 * may not be looked at. */
static int has_other_namespace(uint32_t pid)
{
    struct stat own, other;
    if (!stat_of(pid, "ns/mnt", &other) || stat("/proc/self/ns/mnt", &own))
        return -1;
    return !same_file(&own, &other);
}

static bool has_other_root(uint32_t pid)
{
    struct stat own, other;
    return stat_of(pid, "root", &other) && !stat("/", &own) && !same_file(&own, &other);
}

bool pd_process_is_elsewhere(uint32_t pid, char root[PD_ROOT_ROOM])
{
    int other = has_other_namespace(pid);
    root[0] = '\0';
    if (other <= 0 && !(other == 0 && has_other_root(pid)))
        return false;
    snprintf(root, PD_ROOT_ROOM, "/proc/%u/root", pid);
    return true;
}

/* Union file systems put a number of the layer above the inode's. */
bool pd_file_has_inode(const char *path, uint64_t inode)
{
    struct stat st;
    return stat(path, &st) == 0 && (uint32_t)st.st_ino == (uint32_t)inode;
}

enum map_name { NOT_MAPPED, MAPPED, MAPPED_BELOW };

/* What /proc/PID/maps has at the start: the path, or, seen from our root, a longer one that ends in
 * it. */
static enum map_name name_of_map(const struct pd_mapped_file *file)
{
    char name[64], *line = NULL;
    size_t room = 0, path_length = strlen(file->path);
    enum map_name found = NOT_MAPPED;
    snprintf(name, sizeof name, "/proc/%u/maps", file->pid);
    FILE *maps = fopen(name, "re");
    errno = maps ? 0 : errno;
    while (maps && getline(&line, &room, maps) > 0) {
        unsigned long long start;
        const char *text = strchr(line, '/');
        if (sscanf(line, "%llx-", &start) != 1 || start < file->start)
            continue;
        size_t rest = text ? strcspn(text, "\n") : 0;
        if (start == file->start && text && rest >= path_length &&
            !memcmp(text + rest - path_length, file->path, path_length))
            found = rest == path_length ? MAPPED : MAPPED_BELOW;
        break;
    }
    pd_memory_note_errno();
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

static bool has_inode_below(const char *root, const struct pd_mapped_file *file)
{
    char path[PATH_ROOM];
    int length = snprintf(path, sizeof path, "%s%s", root, file->path);
    return length > 0 && length < PATH_ROOM && pd_file_has_inode(path, file->inode);
}

/* The process is gone: what it recorded of its namespace may still tell that the path is not
 * ours. */
static enum pd_path_owner owner_by_record(const struct pd_mapped_file *file)
{
    struct stat own;
    if (!file->mount_namespace || stat("/proc/self/ns/mnt", &own) ||
        own.st_ino == file->mount_namespace)
        return PD_PATH_OURS;
    return file->inode && pd_file_has_inode(file->path, file->inode) ? PD_PATH_OURS
                                                                     : PD_PATH_NOBODY;
}

enum pd_path_owner pd_path_owner(const struct pd_mapped_file *file, char root[PD_ROOT_ROOM])
{
    root[0] = '\0';
    if (!file->pid || file->pid == UINT32_MAX || file->path[0] != '/')
        return PD_PATH_OURS;
    int other = has_other_namespace(file->pid);
    if (other < 0)
        return owner_by_record(file);
    if (!other && !has_other_root(file->pid))
        return owner_by_record(file);
    enum map_name name = name_of_map(file);
    snprintf(root, PD_ROOT_ROOM, "/proc/%u/root", file->pid);
    if (name == MAPPED_BELOW || (name == MAPPED && other) ||
        (file->inode && has_inode_below(root, file)))
        return PD_PATH_PROCESS;
    root[0] = '\0';
    /* It mapped something else since, or another process has its number now. */
    bool ours = name == MAPPED || (file->inode && pd_file_has_inode(file->path, file->inode));
    return ours ? PD_PATH_OURS : PD_PATH_NOBODY;
}

/* The line of /proc/PID/status behind `key`, a colon at its end. */
static bool status_line(uint32_t pid, const char *key, char *line, int room)
{
    char name[64];
    bool found = false;
    snprintf(name, sizeof name, "/proc/%u/status", pid);
    FILE *file = fopen(name, "re");
    while (file && !found && fgets(line, room, file))
        found = !strncmp(line, key, strlen(key));
    if (file)
        fclose(file);
    else
        pd_memory_note_errno();
    return found;
}

uint32_t pd_process_own_pid(uint32_t pid)
{
    char line[256];
    const char *last = status_line(pid, "NStgid:", line, sizeof line) ? strrchr(line, '\t') : NULL;
    return last ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
}

int pd_process_has_user(uint32_t pid, uint32_t user)
{
    unsigned real, effective, saved, files;
    char line[256];
    if (!status_line(pid, "Uid:", line, sizeof line) ||
        sscanf(line, "Uid: %u %u %u %u", &real, &effective, &saved, &files) != 4)
        return -1;
    return user == real || user == effective || user == saved || user == files;
}
