/* SPDX-License-Identifier: MIT */
/* Files of debuginfod servers, by their build-ids. */
#ifndef PD_OBJECT_FETCH_H
#define PD_OBJECT_FETCH_H
#include "base/context.h"
#include "object/elf/build_id.h"
#include <perfdata/symbol_search.h>

/* Shared by threads, under its own lock: one file comes at a time. */
struct pd_fetch;

enum pd_fetch_what { PD_FETCH_DEBUG_FILE, PD_FETCH_PROGRAM };

/* `how` is copied. Failures are told in `context`, which must live as long: no library, no server
 * known. */
perfdata_status pd_fetch_new(struct pd_context *context, const struct perfdata_debuginfod *how,
                             struct pd_fetch **out);
void pd_fetch_free(struct pd_fetch *fetch);

/* The path of the file in libdebuginfod's cache; it has this build-id. NULL: it cannot be had; said
 * once. Each is asked for once. `fetch` may be NULL: nothing can be had. Lives as long as
 * `fetch`. */
const char *pd_fetch_file(struct pd_fetch *fetch, enum pd_fetch_what what,
                          const struct pd_build_id *id);

#endif
