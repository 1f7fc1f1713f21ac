/* SPDX-License-Identifier: MIT */
/* The loading of a kernel, for the files of object/kernel/ only. */
#ifndef PD_KERNEL_LOADER_H
#define PD_KERNEL_LOADER_H
#include "object/internal.h"
#include "object/kernel/running.h"

enum { PD_NEW_MAPS_LIMIT = 4096 };

struct pd_kernel_loader {
    const struct pd_object_search *search;
    const struct pd_kernel_request *request;
    struct pd_kernel *kernel;
    PD_VEC(struct pd_kernel_result_map) maps;
    PD_VEC(struct pd_symtab_builder *) builders; /* by map; NULL: none */
    bool of_running;                             /* its lines are read */
    struct pd_running *running;                  /* what an index of it belongs to; NULL: none */
};

/* A copy that lives as long as the kernel; NULL: no memory. */
PD_INLINE char *pd_kernel_keep(struct pd_kernel_loader *loader, const char *text)
{
    return pd_arena_strdup(&loader->kernel->arena, text);
}

/* False: no memory. The builder becomes the loader's. */
PD_INLINE bool pd_kernel_add_map(struct pd_kernel_loader *loader, struct pd_kernel_result_map map,
                                 struct pd_symtab_builder *builder)
{
    return pd_vec_push(&loader->maps, map) && pd_vec_push(&loader->builders, builder);
}

/* ERROR_NOT_FOUND: there is none of that name, or it is another kernel's. */
perfdata_status pd_kernel_try_vmlinux(struct pd_kernel_loader *loader, const char *name);

#endif
