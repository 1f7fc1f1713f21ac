/* SPDX-License-Identifier: MIT */
/* Address filters: "filter 0x1ae/0x39@/bin/x,tracestop 0x40/8@/bin/x". */
#include "itrace/synth/internal.h"

static const char separators[] = " ,\t\n";

static const char *skip(const char *text)
{
    return text + strspn(text, separators);
}

/* A filter from where `text` is; NULL: it is none. */
static const char *parse_one(struct pd_synth *synth, const char *text,
                             struct pd_address_filter *out)
{
    static const struct {
        const char *word;
        bool traces;
    } actions[] = {
        { "filter", true }, { "start", true }, { "stop", false }, { "tracestop", false }
    };
    size_t length = strcspn(text, separators), i = 0;
    while (i < PD_LENGTH(actions) &&
           (strlen(actions[i].word) != length || memcmp(actions[i].word, text, length) != 0))
        i++;
    if (i == PD_LENGTH(actions))
        return NULL;
    char *end;
    *out = (struct pd_address_filter){ .traces = actions[i].traces };
    text = skip(text + length);
    out->start = strtoull(text, &end, 0);
    if (end == text)
        return NULL;
    if (*end == '/') {
        text = end + 1;
        out->size = strtoull(text, &end, 0);
    }
    if (*end == '@') {
        length = strcspn(end + 1, separators);
        out->file = pd_arena_copy(&synth->arena, end + 1, length);
        end += 1 + length;
    }
    return end;
}

perfdata_status pd_synth_parse_filters(struct pd_synth *synth, const char *text)
{
    while (text && *(text = skip(text))) {
        struct pd_address_filter filter;
        text = parse_one(synth, text, &filter);
        if (!text)
            return pd_issue(&synth->recording->context, PERFDATA_ISSUE_BAD_RECORD, -1,
                            "the address filters of the trace do not parse");
        if (!pd_vec_push(&synth->filters, filter))
            return PERFDATA_ERROR_MEMORY;
    }
    return PERFDATA_OK;
}

static bool in_file(const struct pd_address_filter *filter, const char *file)
{
    if (!file || !filter->file)
        return file == filter->file;
    return !strcmp(file, filter->file);
}

static void log_hit(struct pd_synth *synth, uint64_t ip, uint64_t offset, const char *file,
                    const struct pd_address_filter *hit)
{
    if (!synth->logger || !file)
        return;
    pd_synth_log_text(synth, "TIP.PGD ip 0x%llx offset 0x%llx in %s ", (unsigned long long)ip,
                      (unsigned long long)offset, file);
    if (!hit)
        pd_synth_log_text(synth, "is not in a filter region\n");
    else
        pd_synth_log_text(synth, "hit filter: %s offset 0x%llx size 0x%llx\n",
                          hit->traces ? "filter" : "stop", (unsigned long long)hit->start,
                          (unsigned long long)hit->size);
}

bool pd_synth_filtered_out(void *data, uint64_t ip)
{
    struct pd_synth_queue *queue = data;
    struct pd_synth *synth = queue->synth;
    const char *file = NULL;
    uint64_t offset = ip;
    bool has_filter = false, hit = false;
    if (ip < PD_PT_KERNEL_START) {
        const struct pd_map *map = queue->code.view ? pd_code_map(queue->code.view, ip) : NULL;
        if (!map)
            return false;
        file = map->dso->long_name;
        offset = pd_map_address(map, ip);
    }
    for (size_t i = 0; i < synth->filters.count; i++) {
        const struct pd_address_filter *filter = &synth->filters.data[i];
        has_filter |= filter->traces;
        if (!in_file(filter, file) || offset < filter->start ||
            offset - filter->start >= filter->size)
            continue;
        if (!hit)
            log_hit(synth, ip, offset, file, filter);
        if (!filter->traces)
            return true;
        hit = true;
    }
    if (!hit && has_filter)
        log_hit(synth, ip, offset, file, NULL);
    return !hit && has_filter;
}
