/* SPDX-License-Identifier: MIT */
/* bundle: files of objects -> a folder in the form of a build-id cache. No name from the recording
 * becomes a file name there. */
#include "base/memory.h"
#include "io/at.h"
#include "io/output_folder.h"
#include "object/cut/cut.h"
#include "object/file.h"
#include "rewrite/bundle.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = PATH_MAX, KALLSYMS_MAX = 1 << 30, OPEN_FOLDERS = 8 };

struct folder {
    struct pd_bundle *bundle;
    char *path, *beside; /* its name in the end, and until then */
    pd_cut_list kernel;  /* addresses as in the table of its symbols */
    const struct pd_kernel *table;
    struct pd_build_id kernel_id;
};

static perfdata_status fail(struct folder *folder, const char *path)
{
    return pd_fail(folder->bundle->context, PERFDATA_ERROR_OUTPUT, -1, "%s: %s", path,
                   strerror(errno));
}

/* Below the folder, with the folders above it. -1 and errno. */
static int make_file(const struct folder *folder, const char *name)
{
    char path[ROOM];
    int length = snprintf(path, sizeof path, "%s/%s", folder->beside, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (char *at = path + strlen(folder->beside) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return -1;
        *at = '/';
    }
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* ---- one object ---- */

static perfdata_status left_out(struct folder *folder, const struct pd_bundle_object *object,
                                const char *why)
{
    folder->bundle->result.left_out++;
    return pd_issue(folder->bundle->context, PERFDATA_ISSUE_OBJECT, -1,
                    "%s is not in the bundle: %s", object->hits->map->dso->long_name, why);
}

static perfdata_status copy_file(struct folder *folder, const char *from, int fd)
{
    struct pd_bytes bytes;
    errno = ENOENT;
    if (!pd_file_map(from, &bytes)) /* it was there a moment ago */
        return fail(folder, from);
    bool ok = !ftruncate(fd, 0) && pd_write_at(fd, 0, bytes.data, bytes.size);
    folder->bundle->result.bytes += bytes.size;
    pd_bytes_free(&bytes);
    return ok ? PERFDATA_OK : fail(folder, folder->path);
}

/* The name of a file of the object: "elf", "debug" or "vdso". */
static void file_name(const struct pd_bundle_object *object, const char *leaf, char name[ROOM])
{
    char hex[2 * PD_BUILD_ID_MAX + 1];
    pd_build_id_text(&object->id, hex);
    snprintf(name, ROOM, ".build-id/%.2s/%s/%s", hex, hex + 2, leaf);
}

/* Copies all of a file of which no part would tell readers the same. */
static perfdata_status copy_whole(struct folder *folder, const struct pd_bundle_object *object,
                                  const struct pd_cut_source *source, int fd)
{
    char name[ROOM];
    folder->bundle->result.whole++;
    perfdata_status status = copy_file(folder, source->program, fd);
    if (status < 0 || !strcmp(source->program, source->symbols))
        return status;
    file_name(object, "debug", name);
    int debug = make_file(folder, name);
    if (debug < 0)
        return fail(folder, name);
    status = copy_file(folder, source->symbols, debug);
    if (close(debug) && status >= 0)
        status = fail(folder, name);
    return status;
}

static perfdata_status put_source(struct folder *folder, const struct pd_bundle_object *object,
                                  const struct pd_cut_source *source)
{
    struct pd_cut_result cut;
    char name[ROOM];
    bool is_vdso = object->hits->map->dso->long_name[0] == '[';
    file_name(object, is_vdso ? "vdso" : "elf", name);
    int fd = make_file(folder, name);
    if (fd < 0)
        return fail(folder, name);
    perfdata_status status = pd_cut_write(folder->bundle->context, source, fd, &cut);
    if (status >= 0 && !cut.is_whole)
        status = copy_whole(folder, object, source, fd);
    else
        folder->bundle->result.bytes += cut.bytes;
    if (close(fd) && status >= 0)
        status = fail(folder, name);
    folder->bundle->result.objects++;
    folder->bundle->result.addresses += source->count;
    return status;
}

/* `count` objects of one build-id, which several paths may have. */
static perfdata_status put_objects(struct folder *folder, const struct pd_bundle_object *objects,
                                   size_t count, const struct pd_symbols_files *files)
{
    const struct pd_object *object = files->object;
    pd_cut_list addresses = { 0 };
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < objects[i].count; k++)
            if (!pd_vec_push(&addresses, objects[i].hits[k].address))
                status = pd_no_memory(folder->bundle->context, "a bundle");
    pd_cut_sort(&addresses);
    struct pd_cut_source source = {
        .program = object->runtime_path ? object->runtime_path : object->symbol_path,
        .symbols = object->symbol_path ? object->symbol_path : object->runtime_path,
        .lines = files->lines,
        .machine = object->machine,
        .is_module = objects->hits->map->dso->kind == PD_DSO_MODULE,
        .addresses = addresses.data,
        .count = addresses.count
    };
    if (status >= 0)
        status = put_source(folder, objects, &source);
    pd_vec_free(&addresses);
    return status;
}

/* ---- the kernel ---- */

static perfdata_status take_kernel(struct folder *folder, const struct pd_bundle_object *object,
                                   const struct pd_kernel *kernel)
{
    bool is_main = object->hits->map->dso->kind == PD_DSO_KERNEL;
    if (kernel->type != PD_OBJECT_KALLSYMS || !kernel->path)
        return is_main && kernel->type == PD_OBJECT_VMLINUX
                   ? left_out(folder, object,
                              "images of the kernel are not cut; name it there by "
                              "--vmlinux")
                   : PERFDATA_OK;
    if (is_main && !object->id.size)
        return left_out(folder, object, "the recording does not have its build-id");
    if (is_main)
        folder->kernel_id = object->id;
    folder->table = kernel;
    for (size_t i = 0; i < object->count; i++)
        if (!pd_vec_push(&folder->kernel, object->hits[i].ip - kernel->delta))
            return pd_no_memory(folder->bundle->context, "a bundle");
    return PERFDATA_OK;
}

static perfdata_status put_kernel(struct folder *folder)
{
    char hex[2 * PD_BUILD_ID_MAX + 1], name[ROOM];
    struct pd_bytes bytes;
    struct pd_text text = { 0 };
    if (!folder->table || !folder->kernel_id.size)
        return PERFDATA_OK;
    pd_cut_sort(&folder->kernel);
    if (!pd_file_read(folder->table->path, &bytes, KALLSYMS_MAX))
        return pd_fail(folder->bundle->context, PERFDATA_ERROR_NOT_FOUND, -1, "%s: %s",
                       folder->table->path, strerror(errno));
    bool ok = pd_cut_kallsyms((const char *)bytes.data, bytes.size, folder->kernel.data,
                              folder->kernel.count, &text);
    pd_bytes_free(&bytes);
    pd_build_id_text(&folder->kernel_id, hex);
    snprintf(name, sizeof name, "[kernel.kallsyms]/%s/kallsyms", hex);
    int fd = ok ? make_file(folder, name) : -1;
    perfdata_status status = !ok      ? pd_no_memory(folder->bundle->context, "a bundle")
                             : fd < 0 ? fail(folder, name)
                                      : PERFDATA_OK;
    if (fd >= 0 && (!pd_write_at(fd, 0, text.data, text.length) | (close(fd) != 0)))
        status = fail(folder, name);
    folder->bundle->result.objects++;
    folder->bundle->result.addresses += folder->kernel.count;
    folder->bundle->result.bytes += text.length;
    pd_text_free(&text);
    return status;
}

/* ---- all ---- */

/* Files that are not here, or only with another build-id, are counted; each file here that cannot
 * be carried is told. */
static void count_absent(struct folder *folder, const struct pd_bundle_object *objects,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const enum pd_dso_kind kind = objects[i].hits->map->dso->kind;
        folder->bundle->result.absent += kind == PD_DSO_USER || kind == PD_DSO_MODULE;
    }
}

static perfdata_status put_group(struct folder *folder, const struct pd_bundle_object *objects,
                                 size_t count)
{
    struct pd_symbols *symbols = folder->bundle->session.symbols;
    struct pd_symbols_files files = { .object = NULL };
    perfdata_status status = PERFDATA_OK;
    bool is_known = false;
    for (size_t i = 0; i < count && status >= 0 && !files.object; i++) {
        const struct pd_map *map = objects[i].hits->map;
        (void)pd_symbols_table(symbols, map);
        files = pd_symbols_files(map);
        is_known |= files.object || files.kernel;
        if (files.object && files.object->type == PD_OBJECT_PERF_MAP)
            status = left_out(folder, &objects[i], "a runtime's map of its code has no build-id");
        else if (files.object && !files.object->runtime_path && !files.object->symbol_path)
            status = left_out(folder, &objects[i], "it has no file");
        else if (files.kernel)
            status = take_kernel(folder, &objects[i], files.kernel);
        else if (files.object && !objects[i].id.size)
            status = left_out(folder, &objects[i],
                              "the recording does not have its build-id "
                              "(perfdata inject -b gives it)");
        else
            continue;
        files.object = NULL;
    }
    if (!is_known)
        count_absent(folder, objects, count);
    return files.object && status >= 0 ? put_objects(folder, objects, count, &files) : status;
}

static perfdata_status put_all(struct folder *folder)
{
    const struct pd_bundle_object *all = folder->bundle->objects.data;
    const size_t count = folder->bundle->objects.count;
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0, next; i < count && status >= 0; i = next) {
        for (next = i + 1;
             next < count && all[i].id.size && pd_build_id_equal(&all[i].id, &all[next].id);)
            next++;
        status = put_group(folder, &all[i], next - i);
    }
    return status < 0 ? status : put_kernel(folder);
}

static int make_folder(const char *name, mode_t mode)
{
    return mkdir(name, mode);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

perfdata_status pd_bundle_folder(struct pd_bundle *bundle, const char *path)
{
    struct folder folder = { .bundle = bundle, .path = pd_output_place(path) };
    perfdata_status status = PERFDATA_OK;
    int made = -1;
    folder.beside = folder.path ? pd_make_beside(folder.path, make_folder, 0777, &made) : NULL;
    if (!folder.beside || made < 0)
        status = fail(&folder, path);
    else
        status = pd_analysis_status(bundle->context, put_all(&folder));
    if (made >= 0 && status >= 0 && rename(folder.beside, folder.path))
        status = pd_fail(bundle->context,
                         errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR
                             ? PERFDATA_ERROR_ARGUMENT
                             : PERFDATA_ERROR_OUTPUT,
                         -1, "%s: %s", path, strerror(errno));
    if (folder.beside && made >= 0 && status < 0)
        (void)nftw(folder.beside, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    pd_vec_free(&folder.kernel);
    free(folder.path);
    free(folder.beside);
    return status;
}
