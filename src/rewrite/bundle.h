/* SPDX-License-Identifier: MIT */
/* What bundle.c finds and bundle_folder.c writes. */
#ifndef PD_REWRITE_BUNDLE_H
#define PD_REWRITE_BUNDLE_H
#include "pipeline/pipeline.h"
#include <perfdata/bundle.h>

/* An address that occurs. */
struct pd_bundle_hit {
    const struct pd_map *map;
    uint64_t address; /* what is looked up in the symbol table */
    uint64_t ip;
};

struct pd_bundle_object {
    struct pd_build_id id; /* recorded; size 0: none */
    const struct pd_bundle_hit *hits;
    size_t count;
};

struct pd_bundle {
    struct pd_context *context;
    struct pd_session session;
    PD_VEC(struct pd_bundle_hit) hits;       /* by object and address */
    PD_VEC(struct pd_bundle_object) objects; /* by build-id */
    bool no_memory, has_trace;
    struct perfdata_bundle_result result;
};

perfdata_status pd_bundle_folder(struct pd_bundle *bundle, const char *path);

#endif
