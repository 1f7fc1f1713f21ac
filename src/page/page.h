/* SPDX-License-Identifier: MIT */
/* The layer page/: a profile -> pictures. */
#ifndef PD_PAGE_H
#define PD_PAGE_H
#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include <perfdata/page.h>

/* Where a picture goes, piece by piece. */
struct pd_page_output {
    perfdata_write_fn write;
    void *data;
};

PD_INLINE perfdata_status pd_page_put(const struct pd_page_output *output, const void *bytes,
                                      size_t size)
{
    return size && output->write(output->data, bytes, size) ? PERFDATA_ERROR_OUTPUT : PERFDATA_OK;
}

/* The page's data, as docs/page-data.md describes them, in two parts; both to be freed. */
perfdata_status pd_page_data(perfdata_recording *recording, const perfdata_profile *profile,
                             const struct perfdata_page_options *options, struct pd_text *head,
                             struct pd_text *columns);

perfdata_status pd_page_svg(const perfdata_profile *profile,
                            const struct perfdata_page_options *options,
                            const struct pd_page_output *output);

/* ---- functions, frames and stacks of one or two profiles under common numbers ---- */

struct pd_page_function {
    const char *name, *object, *file;
    uint32_t kind; /* enum pd_page_kind */
};

/* As src/page/color.js has them. */
enum pd_page_kind {
    PD_PAGE_USER = 0,
    PD_PAGE_KERNEL = 1,
    PD_PAGE_JIT = 2,
    PD_PAGE_UNKNOWN = 3,
    PD_PAGE_INLINED = 4
};

struct pd_page_frame {
    uint32_t function, line;
};

struct pd_page_stack {
    uint32_t parent, frame;
};

struct pd_page_tables {
    PD_VEC(struct pd_page_function) functions;
    PD_VEC(struct pd_page_frame) frames;
    PD_VEC(struct pd_page_stack) stacks; /* 0 is the empty stack */
    struct pd_map64 frame_numbers, stack_numbers;
    struct pd_page_names *names; /* (name, object, file) -> function */
};

/* Adds those of a profile. `*numbers`, for free(): by the profile's stack, the common one.
 * `*functions` gives the same for functions that have frames, unless `functions` is NULL. Functions
 * count as the same when they have the same name in objects of the same name: a new release is
 * another file with other addresses. */
perfdata_status pd_page_tables_add(struct pd_page_tables *tables, const perfdata_profile *profile,
                                   uint32_t **numbers, uint32_t **functions);
void pd_page_tables_free(struct pd_page_tables *tables);

#endif
