/* SPDX-License-Identifier: MIT */
/* The object that the kernel maps into each process: [vdso], of a 32-bit program on a 64-bit
 * machine [vdso32]. */
#include "model/timeline.h"

#define FOUR_GIB (UINT64_C(1) << 32)

struct look {
    const struct pd_timeline *timeline;
    enum pd_program_kind found;
};

static int look_at(void *data, const struct pd_map *map)
{
    struct look *look = data;
    look->found = look->timeline->program_kind(look->timeline->symbols, map);
    return look->found != PD_PROGRAM_UNKNOWN;
}

/* As perf: by the first file of the process that can be read. The vdso of a 32-bit program lies
 * below 4 GiB, so that others' files need not be opened. */
static const char *name_of(const struct pd_timeline *timeline, const struct pd_map_set *maps,
                           uint64_t start)
{
    struct look look = { timeline, PD_PROGRAM_UNKNOWN };
    if (timeline->program_kind && start < FOUR_GIB)
        pd_map_node_each(maps->root, look_at, &look);
    return look.found == PD_PROGRAM_32    ? "[vdso32]"
           : look.found == PD_PROGRAM_X32 ? "[vdsox32]"
                                          : "[vdso]";
}

struct pd_dso *pd_timeline_vdso(struct pd_timeline *timeline, const struct pd_map_set *maps,
                                uint64_t start)
{
    const char *name = name_of(timeline, maps, start);
    size_t length = strlen(name);
    struct pd_dso *dso = pd_dso_find_short(&timeline->dsos, name, length);
    return dso ? dso : pd_dso_add(&timeline->dsos, name, length, name, length, NULL);
}
