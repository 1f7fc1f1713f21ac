/* SPDX-License-Identifier: MIT */
/* Values -> a record, in this machine's byte order. */
#include "record/records.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

void pd_made_begin(struct pd_made *made, uint32_t type, uint16_t misc)
{
    made->size = 0;
    pd_made_u32(made, type);
    pd_made_u16(made, misc);
    pd_made_u16(made, 0);
}

static void zeros(struct pd_made *made, size_t count)
{
    static const uint8_t zero[64];
    for (; count; count -= PD_MIN(count, sizeof zero))
        pd_made_bytes(made, zero, PD_MIN(count, sizeof zero));
}

void pd_made_text(struct pd_made *made, const char *text, size_t unit)
{
    size_t size = strlen(text) + 1;
    pd_made_bytes(made, text, size);
    zeros(made, (unit - size % unit) % unit);
}

bool pd_made_end(struct pd_made *made, size_t trailer)
{
    zeros(made, (8 - made->size % 8) % 8);
    zeros(made, trailer);
    if (made->size > UINT16_MAX)
        return false;
    pd_store16(made->bytes + 6, (uint16_t)made->size, false);
    return true;
}

perfdata_status pd_made_put(perfdata_recorder *recorder, struct pd_made *made, size_t trailer)
{
    return pd_made_end(made, trailer)
               ? pd_writer_put_record(recorder->output.writer, made->bytes, made->size)
               : PERFDATA_OK;
}

perfdata_status pd_record_put_simple(perfdata_recorder *recorder, uint32_t type)
{
    struct pd_made made = { 0 };
    pd_made_begin(&made, type, 0);
    return pd_made_put(recorder, &made, 0);
}

/* "kernel/net/foo-bar.ko.xz: ..." is foo_bar's. */
static bool names_module(const char *line, const char *name, size_t *length)
{
    const char *colon = strchr(line, ':'), *base;
    if (!colon)
        return false;
    for (base = colon; base > line && base[-1] != '/';)
        base--;
    size_t i = 0;
    while (name[i] && (base[i] == name[i] || (base[i] == '-' && name[i] == '_')))
        i++;
    *length = (size_t)(colon - line);
    return !name[i] && !strncmp(base + i, ".ko", 3);
}

char *pd_module_path(const struct pd_roots *roots, const char *release, const char *name)
{
    struct utsname system;
    char path[PD_PATH_SIZE], *line = NULL, *found = NULL;
    size_t room = 0, length;
    if (!release && uname(&system) < 0)
        return NULL;
    if (!release)
        release = system.release;
    if (!pd_roots_path(roots, path, "/lib/modules/%s/modules.dep", release))
        return NULL;
    FILE *file = fopen(path, "re");
    while (file && !found && getline(&line, &room, file) > 0)
        if (names_module(line, name, &length) &&
            asprintf(&found, "/lib/modules/%s/%.*s", release, (int)length, line) < 0)
            found = NULL;
    free(line);
    if (file)
        fclose(file);
    return found;
}
