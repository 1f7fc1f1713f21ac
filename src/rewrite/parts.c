/* SPDX-License-Identifier: MIT */
/* The directory form: `data`, a recording of its own, and data.0, data.1 ... of records alone. */
#include "rewrite/rewrite.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { PARTS_MAX = 512 }; /* open at once; what is beyond goes to `data` */

static perfdata_status open_part(struct pd_parts *parts, struct pd_context *context, uint64_t key,
                                 uint32_t *number)
{
    struct pd_part part = { .fd = -1 };
    char name[32];
    *number = (uint32_t)parts->list.count;
    if (!pd_vec_reserve(&parts->list, parts->list.count + 1) ||
        !pd_map64_set(&parts->by_key, key, *number))
        return pd_no_memory(context, NULL);
    snprintf(name, sizeof name, "data.%u", *number);
    part.fd = openat(parts->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (part.fd < 0)
        return pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "cannot write %s: %s", name,
                       strerrordesc_np(errno));
    struct pd_writer_options options = parts->options;
    options.kind = PD_WRITE_PART;
    perfdata_status status = pd_writer_open_fd(context, part.fd, &options, &part.writer);
    parts->list.data[parts->list.count++] = part;
    return status < 0 ? status : pd_writer_begin(part.writer);
}

perfdata_status pd_parts_writer(struct pd_parts *parts, struct pd_context *context, uint64_t key,
                                struct pd_writer **out)
{
    uint32_t number = pd_map64_get(&parts->by_key, key);
    perfdata_status status = PERFDATA_OK;
    if (number == PD_MAP64_NONE && parts->list.count >= PARTS_MAX)
        return PERFDATA_OK; /* *out stays */
    if (number == PD_MAP64_NONE)
        status = open_part(parts, context, key, &number);
    if (status == PERFDATA_OK)
        *out = parts->list.data[number].writer;
    return status;
}

perfdata_status pd_parts_finish(struct pd_parts *parts, struct pd_context *context,
                                perfdata_status status)
{
    for (size_t i = 0; i < parts->list.count; i++) {
        struct pd_part *part = &parts->list.data[i];
        if (status == PERFDATA_OK)
            status = pd_writer_finish(part->writer);
        pd_writer_close(part->writer);
        if (close(part->fd) < 0 && status == PERFDATA_OK)
            status = pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "cannot write data.%zu: %s", i,
                             strerrordesc_np(errno));
    }
    pd_vec_free(&parts->list);
    pd_map64_free(&parts->by_key);
    return status;
}
