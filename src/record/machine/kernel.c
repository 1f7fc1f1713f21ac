/* SPDX-License-Identifier: MIT */
/* Where the kernel and its modules lie, here and in guests, as records of their maps. */
#include "base/memory.h"
#include "object/kernel/kcore_copy.h"
#include "record/records.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the text ---- */

bool pd_record_kernel_range(perfdata_recorder *recorder)
{
    char path[PD_PATH_SIZE];
    if (recorder->kernel_end)
        return true;
    if (!pd_roots_path(&recorder->roots, path, "/proc/kallsyms") ||
        !pd_kernel_text_range(path, &recorder->kernel_start, &recorder->kernel_end)) {
        recorder->kernel_end = 0;
        return false;
    }
    return true;
}

/* No event counts what the kernel does: perf then writes nothing about it. */
static bool kernel_is_excluded(const perfdata_recorder *recorder)
{
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        if (!pd_attr_flag(&pd_record_event(recorder, i)->attr, PD_ATTR_EXCLUDE_KERNEL))
            return false;
    return true;
}

/* ---- a map ---- */

struct machine {
    bool guest;
    uint32_t pid;        /* the hypervisor's; 0: one without a name, UINT32_MAX: the host */
    const char *root;    /* where its files lie; NULL: nowhere */
    const char *release; /* of its kernel; NULL: this one */
};

struct span {
    uint64_t start, size, offset;
};

/* Writes MMAP2 where a build-id is wanted and known, else MMAP. */
static perfdata_status put_map(perfdata_recorder *recorder, struct machine machine,
                               struct span span, const char *name, const struct pd_build_id *id)
{
    struct pd_made made = { 0 };
    unsigned mode = machine.guest ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_KERNEL;
    pd_made_begin(&made, id->size ? PD_RECORD_MMAP2 : PD_RECORD_MMAP,
                  (uint16_t)(mode | (id->size ? PD_MISC_MMAP_BUILD_ID : 0)));
    pd_made_u32(&made, machine.pid);
    pd_made_u32(&made, 0);
    pd_made_u64(&made, span.start);
    pd_made_u64(&made, span.size);
    pd_made_u64(&made, id->size ? 0 : span.offset);
    if (id->size) {
        pd_made_build_id(&made, id);
        pd_made_u64(&made, 0); /* no rights, no flags */
    }
    pd_made_text(&made, name, 8);
    return pd_made_put(recorder, &made, recorder->trailer);
}

/* ---- modules ---- */

struct module {
    uint64_t start, size;
    char name[128];
};

typedef PD_VEC(struct module) module_vec;

static int by_start(const void *a, const void *b)
{
    const struct module *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* As /proc/modules has them, ascending. */
static perfdata_status read_modules(perfdata_recorder *recorder, const char *path, module_vec *out)
{
    char *line = NULL;
    size_t room = 0;
    perfdata_status status = PERFDATA_OK;
    errno = 0;
    FILE *file = fopen(path, "re");
    while (file && status == PERFDATA_OK && getline(&line, &room, file) > 0) {
        struct module module;
        unsigned long long size, start;
        if (sscanf(line, "%127s %llu %*s %*s %*s %llx", module.name, &size, &start) != 3 || !start)
            continue;
        module.start = start;
        module.size = size;
        if (!pd_vec_push(out, module))
            status = pd_record_no_memory(recorder);
    }
    pd_memory_note_errno();
    free(line);
    if (file)
        fclose(file);
    if (out->count)
        qsort(out->data, out->count, sizeof *out->data, by_start);
    return status;
}

static struct pd_build_id module_id(const perfdata_recorder *recorder, const char *name)
{
    struct pd_build_id id = { .size = 0 };
    char path[PD_PATH_SIZE];
    if (!recorder->options.map_build_ids ||
        !pd_roots_path(&recorder->roots, path, "/sys/module/%s/notes/.note.gnu.build-id", name) ||
        pd_build_id_read_notes(path, &id) < 0)
        id.size = 0;
    return id;
}

/* The module's file, below the guest's root; to be freed. */
static char *module_file(const perfdata_recorder *recorder, struct machine machine,
                         const char *name)
{
    const struct pd_roots root = { machine.root };
    char *file, *below;
    if (!machine.guest)
        return pd_module_path(&recorder->roots, NULL, name);
    if (!machine.root || !machine.release ||
        !(below = pd_module_path(&root, machine.release, name)))
        return NULL;
    if (asprintf(&file, "%s%s", machine.root, below) < 0)
        file = NULL;
    free(below);
    return file;
}

static perfdata_status put_modules(perfdata_recorder *recorder, struct machine machine,
                                   const char *path)
{
    module_vec modules = { 0 };
    perfdata_status status = read_modules(recorder, path, &modules);
    for (size_t i = 0; i < modules.count && status == PERFDATA_OK; i++) {
        const struct module *module = &modules.data[i];
        char bracketed[136];
        struct pd_build_id id = { .size = 0 };
        char *file = module_file(recorder, machine, module->name);
        if (!machine.guest)
            id = module_id(recorder, module->name);
        snprintf(bracketed, sizeof bracketed, "[%s]", module->name);
        status = put_map(recorder, machine, (struct span){ module->start, module->size, 0 },
                         file ? file : bracketed, &id);
        free(file);
    }
    pd_vec_free(&modules);
    return status;
}

/* ---- this machine ---- */

static perfdata_status put_kernel(perfdata_recorder *recorder)
{
    struct pd_build_id id = { .size = 0 };
    char path[PD_PATH_SIZE];
    if (!pd_record_kernel_range(recorder)) {
        pd_record_log(
            recorder, 0,
            "WARNING: Kernel address maps (/proc/{kallsyms,modules}) are restricted,\n"
            "check /proc/sys/kernel/kptr_restrict and /proc/sys/kernel/perf_event_paranoid.\n\n"
            "Samples in kernel functions may not be resolved if a suitable vmlinux\n"
            "file is not found in the buildid cache or in the vmlinux path.\n\n"
            "Samples in kernel modules won't be resolved at all.\n\n"
            "If some relocation was applied (e.g. kexec) symbols may be misresolved\n"
            "even with a suitable vmlinux or kallsyms file.\n\n");
        return PERFDATA_OK;
    }
    if (recorder->options.map_build_ids &&
        (!pd_roots_path(&recorder->roots, path, "/sys/kernel/notes") ||
         pd_build_id_read_notes(path, &id) < 0))
        id.size = 0;
    return put_map(recorder, (struct machine){ .pid = UINT32_MAX },
                   (struct span){ recorder->kernel_start,
                                  recorder->kernel_end - recorder->kernel_start,
                                  recorder->kernel_start },
                   "[kernel.kallsyms]_text", &id);
}

static perfdata_status put_host(perfdata_recorder *recorder)
{
    char path[PD_PATH_SIZE];
    if (kernel_is_excluded(recorder))
        return PERFDATA_OK;
    perfdata_status status = put_kernel(recorder);
    if (status < 0 || !pd_roots_path(&recorder->roots, path, "/proc/modules"))
        return status;
    return put_modules(recorder, (struct machine){ .pid = UINT32_MAX }, path);
}

/* ---- guests ---- */

static perfdata_status put_guest(perfdata_recorder *recorder, struct machine machine,
                                 const char *kallsyms, const char *modules)
{
    const struct pd_build_id none = { .size = 0 };
    char name[64] = "[guest.kernel.kallsyms]_text";
    uint64_t start, end;
    perfdata_status status = modules ? put_modules(recorder, machine, modules) : PERFDATA_OK;
    if (status < 0)
        return status;
    if (!kallsyms || !pd_kernel_text_range(kallsyms, &start, &end)) {
        pd_record_log(recorder, 0,
                      "Couldn't record guest kernel [%u]'s reference relocation symbol.\n",
                      machine.pid);
        return PERFDATA_OK;
    }
    if (machine.pid)
        snprintf(name, sizeof name, "[guest.kernel.kallsyms.%u]_text", machine.pid);
    return put_map(recorder, machine, (struct span){ start, end - start, start }, name, &none);
}

static int by_value(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return left < right ? -1 : left > right;
}

/* Folders are named after the hypervisors' processes. */
static perfdata_status read_mount(perfdata_recorder *recorder, const char *mount,
                                  struct pd_numbers *out)
{
    static const struct pd_roots none = { NULL }; /* the user says where it is */
    size_t count;
    perfdata_status status = PERFDATA_OK;
    char **names = pd_roots_list(&none, &count, "%s", mount);
    if (!names)
        pd_record_log(recorder, 0, "Cannot read kernel map\n");
    for (size_t i = 0; names && i < count && status == PERFDATA_OK; i++) {
        char *end;
        long pid = strtol(names[i], &end, 10);
        if (*names[i] < '0' || *names[i] > '9' || *end || pid <= 0 || pid > INT32_MAX)
            continue;
        if (!pd_vec_push(out, (int32_t)pid))
            status = pd_record_no_memory(recorder);
    }
    free(names);
    if (out->count)
        qsort(out->data, out->count, sizeof *out->data, by_value);
    return status;
}

static perfdata_status put_mounted_guest(perfdata_recorder *recorder, const char *mount,
                                         int32_t pid)
{
    char root[PD_PATH_SIZE], kallsyms[PD_PATH_SIZE], modules[PD_PATH_SIZE], release[65] = "";
    const struct pd_roots none = { NULL }, files = { root };
    if (!pd_roots_path(&none, root, "%s/%d", mount, pid) ||
        !pd_roots_path(&files, kallsyms, "/proc/kallsyms") ||
        !pd_roots_path(&files, modules, "/proc/modules") || access(kallsyms, R_OK) < 0) {
        pd_record_log(recorder, 0, "Cannot read kernel map\n");
        return PERFDATA_OK;
    }
    char *version = pd_roots_read(&files, NULL, "/proc/version");
    if (version && sscanf(version, "Linux version %64s", release) != 1)
        *release = 0;
    free(version);
    return put_guest(
        recorder,
        (struct machine){ .guest = true,
                          .pid = (uint32_t)pid,
                          .root = root,
                          .release = *release && !strchr(release, '/') ? release : NULL },
        kallsyms, modules);
}

static perfdata_status put_mounted(perfdata_recorder *recorder, const char *mount)
{
    struct pd_numbers pids = { 0 };
    perfdata_status status = read_mount(recorder, mount, &pids);
    for (size_t i = 0; i < pids.count && status == PERFDATA_OK; i++)
        status = put_mounted_guest(recorder, mount, pids.data[i]);
    pd_vec_free(&pids);
    return status;
}

static perfdata_status put_guests(perfdata_recorder *recorder)
{
    const struct perfdata_recorder_options *options = &recorder->options;
    perfdata_status status = PERFDATA_OK;
    if (!(options->machines & PERFDATA_MACHINES_GUESTS))
        return PERFDATA_OK;
    if (options->guest_kallsyms || options->guest_modules)
        status = put_guest(recorder, (struct machine){ .guest = true }, options->guest_kallsyms,
                           options->guest_modules);
    return status < 0 || !options->guest_mount ? status
                                               : put_mounted(recorder, options->guest_mount);
}

perfdata_status pd_record_put_kernels(perfdata_recorder *recorder)
{
    perfdata_status status = put_host(recorder);
    return status < 0 ? status : put_guests(recorder);
}
