/* SPDX-License-Identifier: MIT */
/* The kernel that runs: whether its table may be read, and an index of it.
 *
 * The kernel prints /proc/kallsyms anew for each reader, which takes longer than all else of a
 * small recording. The index keeps what was read, sorted, as long as nothing of it can have
 * changed:
 * - The kernel's own symbols are the same from its start to its end. The key has the boot's id and
 *   the kernel's build-id.
 * - Modules come and go. The key has the names and the inode numbers of /sys/module, where a module
 *   has a folder from before it runs until after it has left; since Linux 4.14, older ones have no
 *   index, the kernel gives such a number to no second folder. A module's symbols change once more,
 *   when it has started: an index is written only when all have, before the table is read, and the
 *   folder is the same after that.
 * - What a reader is shown depends on its privileges. The key has the table's first block, which is
 *   read each time.
 * - BPF programs, trampolines and probes come and go without a trace. perf gives samples the
 *   symbols of no module that is not recorded, so these are left out, in the index and without it
 *   (unless a recording names them: then nothing is left out and there is no index). Where one is a
 *   module's next neighbour the module's last symbol thus does not end there but at the next
 *   module.
 * - Tracing keeps symbols of modules that have started or left. A table with such ones, whose
 *   modules are none or appear twice, gets no index. */
#ifndef PD_RUNNING_H
#define PD_RUNNING_H
#include "object/object.h"
#include "object/symtab/image.h"

#define PD_PROC_KALLSYMS "/proc/kallsyms"

/* `root`: the folder that stands for "/", NULL: none does.
 *
 * Unprivileged readers get addresses of zero. */
bool pd_running_is_restricted(const char *root);

/* What an index of the running kernel would belong to. */
struct pd_running {
    const char *root;
    PD_VEC(char) key;
    bool steady; /* all modules have started */
    bool exists; /* there was an index, whether it was of use or not */
};

/* False: its table has no index. */
bool pd_running_open(const char *root, struct pd_running *running);
void pd_running_free(struct pd_running *running);

/* Takes symbols that come and go out of a table that was just parsed, unless a map of the request
 * is named like them. False: one is, and nothing was taken out. */
bool pd_running_leave_out(struct pd_symtab_builder *all, const struct pd_kernel_request *request);
/* Writes an index of a table that has no symbols which come and go, and whose ends and duplicates
 * have been fixed up. `text` and `stext`: addresses of _text and _stext, NULL where there is
 * none. */
void pd_running_save(const struct pd_object_search *search, const struct pd_running *running,
                     const struct pd_symtab_builder *all, const uint64_t *text,
                     const uint64_t *stext);
/* Gives the maps, `maps` as the request has them, their places and tables from the index, and
 * *delta: how far the kernel was moved since it was recorded. ERROR_NOT_FOUND: there is no index,
 * or it does not do for this request; nothing was changed. */
perfdata_status pd_running_load(const struct pd_object_search *search,
                                const struct pd_kernel_request *request, struct pd_running *running,
                                struct pd_kernel_result_map *maps, uint64_t *delta);

#endif
