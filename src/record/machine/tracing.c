/* SPDX-License-Identifier: MIT */
/* The feature TRACING_DATA: the formats of the tracepoints that are recorded, as tracefs gives
 * them. */
#include "record/machine/payload.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool put_sized(const perfdata_recorder *recorder, const char *tracefs, const char *file,
                      bool wide, struct pd_text *out)
{
    size_t size = 0;
    char *text = pd_roots_read_all(&recorder->roots, &size, "%s/%s", tracefs, file);
    if (wide)
        pd_payload_u64(out, size);
    else
        pd_payload_u32(out, (uint32_t)size);
    if (text)
        pd_text_bytes(out, text, size);
    free(text);
    return text != NULL;
}

/* Whether an earlier event is the same tracepoint, or of the same system. */
static bool seen(const perfdata_recorder *recorder, size_t index, bool system_only)
{
    const struct pd_selected *event = pd_record_event(recorder, index);
    for (size_t i = 0; i < index; i++) {
        const struct pd_selected *other = pd_record_event(recorder, i);
        if (other->system && !strcmp(other->system, event->system) &&
            (system_only || !strcmp(other->tracepoint, event->tracepoint)))
            return true;
    }
    return false;
}

static void put_system(const perfdata_recorder *recorder, const char *tracefs, size_t first,
                       struct pd_text *out)
{
    const char *system = pd_record_event(recorder, first)->system;
    uint32_t count = 0;
    pd_text_bytes(out, system, strlen(system) + 1);
    size_t at = out->length;
    pd_payload_u32(out, 0);
    for (size_t i = first; i < pd_record_event_count(recorder); i++) {
        const struct pd_selected *event = pd_record_event(recorder, i);
        char file[PD_PATH_SIZE];
        if (!event->system || strcmp(event->system, system) != 0 || seen(recorder, i, false))
            continue;
        snprintf(file, sizeof file, "events/%s/%s/format", system, event->tracepoint);
        count += put_sized(recorder, tracefs, file, true, out);
    }
    if (!out->failed)
        pd_store32(out->data + at, count, false);
}

perfdata_status pd_record_tracing_data(perfdata_recorder *recorder)
{
    static const char magic[] = "\027\010\104tracing0.6"; /* and its NUL */
    const char *tracefs = NULL;
    struct pd_text out = { 0 };
    uint32_t systems = 0;
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        if (pd_record_event(recorder, i)->system && !seen(recorder, i, true))
            systems++;
    if (!systems || !(tracefs = pd_tracefs(&recorder->roots)))
        return PERFDATA_OK;
    pd_text_bytes(&out, magic, sizeof magic);
    pd_text_char(&out, pd_is_big_endian(false));
    pd_text_char(&out, sizeof(long));
    pd_payload_u32(&out, (uint32_t)sysconf(_SC_PAGESIZE));
    pd_text_bytes(&out, "header_page", 12);
    put_sized(recorder, tracefs, "events/header_page", true, &out);
    pd_text_bytes(&out, "header_event", 13);
    put_sized(recorder, tracefs, "events/header_event", true, &out);
    pd_payload_u32(&out, 0); /* formats of ftrace */
    pd_payload_u32(&out, systems);
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        if (pd_record_event(recorder, i)->system && !seen(recorder, i, true))
            put_system(recorder, tracefs, i, &out);
    pd_payload_u32(&out, 0); /* kallsyms */
    put_sized(recorder, tracefs, "printk_formats", false, &out);
    put_sized(recorder, tracefs, "saved_cmdlines", true, &out);
    return pd_payload_set(recorder, PD_FEATURE_TRACING_DATA, &out);
}
