/* SPDX-License-Identifier: MIT */
/* kcore_dir: the code of the kernel and its modules as it is now. */
#include "object/kernel/kcore_copy.h"
#include "record/record.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_at(const struct pd_roots *roots, const char *what, int flags)
{
    char path[PD_PATH_SIZE];
    return pd_roots_path(roots, path, "%s", what) ? open(path, O_RDONLY | O_CLOEXEC | flags) : -1;
}

bool pd_record_has_kcore(const perfdata_recorder *recorder)
{
    int fd = open_at(&recorder->roots, "/proc/kcore", 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

perfdata_status pd_record_copy_kcore(perfdata_recorder *recorder)
{
    if (!pd_record_kernel_range(recorder))
        return pd_fail(&recorder->context, PERFDATA_ERROR_ACCESS, -1,
                       "kcore: the kernel's addresses are hidden (kptr_restrict)");
    perfdata_status status;
    int into = -1, from = open_at(&recorder->roots, "/proc", O_DIRECTORY);
    if (from < 0 || mkdirat(recorder->output.folder, "kcore_dir", 0700) < 0 ||
        (into = openat(recorder->output.folder, "kcore_dir", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) <
            0)
        status = pd_fail(&recorder->context, PERFDATA_ERROR_IO, -1, "kcore: cannot make a copy: %s",
                         strerrordesc_np(errno));
    else
        status = pd_kcore_copy(&recorder->context, from, into, recorder->kernel_start,
                               recorder->kernel_end);
    if (from >= 0)
        close(from);
    if (into >= 0)
        close(into);
    return status;
}
