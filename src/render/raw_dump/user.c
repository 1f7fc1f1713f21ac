/* SPDX-License-Identifier: MIT */
/* The raw dump's texts of the tool's own records. */
#include "render/raw_dump/internal.h"
#include "format/names.h"
#include "itrace/aux/aux.h"
#include "itrace/bts/branch.h"
#include "itrace/intel_pt/packet.h"
#include "itrace/spe/packet.h"
#include <stdlib.h>

#define ULL(value) ((unsigned long long)(value))

static void put_str(struct pd_text *text, const struct pd_str *string)
{
    if (string->text)
        pd_text_bytes(text, string->text, string->length);
}

/* ---- CPU maps ---- */

struct ranges {
    struct pd_text *text;
    int64_t first, last;
    bool any;
};

static void flush(struct ranges *ranges)
{
    if (!ranges->any)
        return;
    pd_text_i64(ranges->text, ranges->first, 0);
    if (ranges->last > ranges->first) {
        pd_text_char(ranges->text, '-');
        pd_text_i64(ranges->text, ranges->last, 0);
    }
}

static void add_cpu(struct ranges *ranges, int64_t cpu)
{
    if (ranges->any && cpu == ranges->last + 1) {
        ranges->last = cpu;
        return;
    }
    flush(ranges);
    if (ranges->any)
        pd_text_char(ranges->text, ',');
    ranges->any = true;
    ranges->first = ranges->last = cpu;
}

static void put_cpu_map(const struct pd_part_cpu_map *map, struct pd_text *text)
{
    enum { CPUS, MASK, RANGE };
    struct ranges ranges = { .text = text };
    if (map->type == CPUS)
        for (uint32_t i = 0; i < map->cpus.count; i++)
            add_cpu(&ranges, (int16_t)pd_array_at(&map->cpus, i));
    const struct pd_array *mask = map->long_size == 4 ? &map->mask32 : &map->mask64;
    uint32_t bits = map->long_size * 8u;
    for (uint32_t i = 0; map->type == MASK && i < mask->count * bits; i++)
        if (pd_array_at(mask, i / bits) >> i % bits & 1)
            add_cpu(&ranges, i);
    if (map->type == RANGE && map->any_cpu)
        add_cpu(&ranges, -1);
    for (uint32_t i = map->start; map->type == RANGE && i <= map->end; i++)
        add_cpu(&ranges, i);
    flush(&ranges);
}

/* ---- lists and numbers ---- */

static void put_id_index(const struct pd_record_id_index *index, struct pd_text *text)
{
    pd_text_format(text, " nr: %llu\n", ULL(index->nr));
    for (uint32_t i = 0; i < index->entries_count; i++) {
        const struct pd_part_id_index_entry *entry = &index->entries[i];
        pd_text_format(text, " ... id: %llu  idx: %llu  cpu: %lld  tid: %lld", ULL(entry->id),
                       ULL(entry->idx), (long long)entry->cpu, (long long)entry->tid);
        if (i < index->guests_count)
            pd_text_format(text, "  machine_pid: %lld  vcpu: %lld",
                           (long long)index->guests[i].machine_pid,
                           (long long)index->guests[i].vcpu);
        pd_text_char(text, '\n');
    }
}

static void put_event_update(const struct pd_record_event_update *update, struct pd_text *text)
{
    enum { UNIT, SCALE, NAME, CPUS };
    pd_text_format(text, "\n... id:    %llu\n", ULL(update->id));
    switch (update->update_type) {
    case UNIT:
        pd_text_string(text, "... unit:  ");
        put_str(text, &update->unit);
        break;
    case SCALE: pd_text_format(text, "... scale: %f", update->scale); break;
    case NAME:
        pd_text_string(text, "... name:  ");
        put_str(text, &update->name);
        break;
    case CPUS:
        pd_text_string(text, "... ");
        put_cpu_map(&update->cpus, text);
        break;
    default: pd_text_string(text, "... unknown type"); break;
    }
    pd_text_char(text, '\n');
}

static void put_thread_map(const struct pd_record_thread_map *map, struct pd_text *text)
{
    pd_text_format(text, " nr: %u thread%s: ", map->entries_count,
                   map->entries_count > 1 ? "s" : "");
    for (uint32_t i = 0; i < map->entries_count; i++)
        pd_text_format(text, "%s%d", i ? ", " : "", (int)map->entries[i].pid);
    pd_text_char(text, '\n');
}

static void put_stat_config(const struct pd_record_stat_config *config, struct pd_text *text)
{
    static const uint8_t order[] = { PD_STAT_CONFIG_AGGR_MODE, PD_STAT_CONFIG_SCALE,
                                     PD_STAT_CONFIG_INTERVAL };
    pd_text_char(text, '\n');
    for (size_t k = 0; k < PD_LENGTH(order); k++) {
        uint64_t value = 0;
        for (uint32_t i = 0; i < config->data_count; i++)
            if (config->data[i].tag == order[k])
                value = config->data[i].val;
        pd_text_format(text, "... %-9s %llu\n", pd_name_of(&pd_names_stat_config, order[k]),
                       ULL(value));
    }
}

static void put_time_conv(const struct pd_record_time_conv *conv, uint32_t size,
                          struct pd_text *text)
{
    pd_text_format(
        text, "\n... Time Shift      %llu\n... Time Muliplier  %llu\n... Time Zero       %llu\n",
        ULL(conv->time_shift), ULL(conv->time_mult), ULL(conv->time_zero));
    if (size >= 56)
        pd_text_format(text,
                       "... Time Cycles     %llu\n... Time Mask       %#llx\n... Cap Time Zero   "
                       "%d\n... Cap Time Short  %d\n",
                       ULL(conv->time_cycles), ULL(conv->time_mask), conv->cap_user_time_zero,
                       conv->cap_user_time_short);
}

/* ---- AUX area ---- */

enum { FILTER_LENGTH = 16 };

static void put_filter(const struct pd_array *priv, struct pd_text *text)
{
    uint64_t length = priv->count > FILTER_LENGTH ? pd_array_at(priv, FILTER_LENGTH) : 0;
    uint64_t words = pd_align8(length + 1) / 8;
    pd_text_format(text, "  Filter string len.  %llu\n", ULL(length));
    pd_text_string(text, "  Filter string       ");
    if (length && length < 65536 && FILTER_LENGTH + 1 + words <= priv->count)
        pd_text_bytes(text, priv->data + 8 * (FILTER_LENGTH + 1),
                      strnlen((const char *)priv->data + 8 * (FILTER_LENGTH + 1), (size_t)length));
    pd_text_char(text, '\n');
    uint64_t next = FILTER_LENGTH + 1 + (length && length < 65536 ? words : 0);
    if (next < priv->count)
        pd_text_format(text, "  Cap Event Trace     %llu\n", ULL(pd_array_at(priv, (size_t)next)));
}

static void put_pt_info(const struct pd_array *priv, struct pd_text *text)
{
    static const struct {
        const char *name;
        bool hex;
    } rows[FILTER_LENGTH] = {
        { "PMU Type            ", false }, { "Time Shift          ", false },
        { "Time Muliplier      ", false }, { "Time Zero           ", false },
        { "Cap Time Zero       ", false }, { "TSC bit             ", true },
        { "NoRETComp bit       ", true },  { "Have sched_switch   ", false },
        { "Snapshot mode       ", false }, { "Per-cpu maps        ", false },
        { "MTC bit             ", true },  { "MTC freq bits       ", true },
        { "TSC:CTC numerator   ", false }, { "TSC:CTC denominator ", false },
        { "CYC bit             ", true },  { "Max non-turbo ratio ", false },
    };
    for (uint32_t i = 0; i < priv->count && i < FILTER_LENGTH; i++)
        pd_text_format(text, rows[i].hex ? "  %s%#llx\n" : "  %s%llu\n", rows[i].name,
                       ULL(pd_array_at(priv, i)));
    if (priv->count > FILTER_LENGTH)
        put_filter(priv, text);
}

static void put_bts_info(const struct pd_array *priv, struct pd_text *text)
{
    static const char *const names[] = { "PMU Type           ", "Time Shift         ",
                                         "Time Muliplier     ", "Time Zero          ",
                                         "Cap Time Zero      ", "Snapshot mode      " };
    for (size_t i = 0; i < priv->count && i < PD_LENGTH(names); i++)
        pd_text_format(text, "  %s%lld\n", names[i], (long long)pd_array_at(priv, i));
}

static void put_auxtrace_info(const struct pd_record_auxtrace_info *info, struct pd_text *text)
{
    pd_text_format(text, " type: %u\n", info->auxtrace_type);
    if (info->auxtrace_type == PD_AUXTRACE_INTEL_PT)
        put_pt_info(&info->priv, text);
    else if (info->auxtrace_type == PD_AUXTRACE_INTEL_BTS)
        put_bts_info(&info->priv, text);
    else if (info->auxtrace_type == PD_AUXTRACE_CS_ETM)
        pd_coresight_info_text(&info->priv, text);
    else if (info->auxtrace_type == PD_AUXTRACE_ARM_SPE)
        pd_text_format(text, "  PMU Type           %lld\n", (long long)pd_array_at(&info->priv, 0));
}

static bool has_packets(const struct pd_raw_dump *dump)
{
    uint32_t type = dump->auxtrace_type;
    return !dump->no_packets &&
           (type == PD_AUXTRACE_INTEL_PT || type == PD_AUXTRACE_ARM_SPE ||
            type == PD_AUXTRACE_INTEL_BTS || (type == PD_AUXTRACE_CS_ETM && dump->coresight.name));
}

void pd_raw_dump_trace(const uint8_t *bytes, size_t size, struct pd_text *text)
{
    pd_text_format(text, ". ... Intel Processor Trace data: size %zu bytes\n", size);
    pd_pt_dump(bytes, size, text);
}

static void put_trace(const struct pd_raw_dump *dump, const uint8_t *bytes, size_t size,
                      uint64_t offset, struct pd_text *text)
{
    uint32_t type = dump->auxtrace_type;
    pd_text_string(text, type == PD_AUXTRACE_CS_ETM ? "\n" : ".\n");
    if (type == PD_AUXTRACE_INTEL_PT) {
        pd_raw_dump_trace(bytes, size, text);
    } else if (type == PD_AUXTRACE_INTEL_BTS) {
        pd_text_format(text, ". ... Intel BTS data: size %zu bytes\n", size);
        pd_bts_dump(bytes, size, text);
    } else if (type == PD_AUXTRACE_ARM_SPE) {
        pd_text_format(text, ". ... ARM SPE data: size %#zx bytes\n", size);
        pd_spe_dump(bytes, size, text);
    } else {
        pd_coresight_dump(&dump->coresight, bytes, size, offset, text);
    }
}

/* A large area is read from the file again; in a stream its bytes follow the record. */
static void put_auxtrace(const struct pd_raw_dump *dump, const struct pd_record_auxtrace *aux,
                         const struct pd_delivered *record, struct pd_text *text)
{
    pd_text_format(text, " size: %#llx  offset: %#llx  ref: %#llx  idx: %u  tid: %d  cpu: %d\n",
                   ULL(aux->data_size), ULL(aux->offset), ULL(aux->reference), aux->idx,
                   (int32_t)aux->tid, (int32_t)aux->cpu);
    struct pd_source *source = record->part && record->part <= dump->recording->parts.count
                                   ? dump->recording->parts.sources[record->part - 1]
                                   : dump->recording->source;
    uint64_t at = record->offset + record->size, total = pd_source_size(source);
    if (!has_packets(dump))
        return;
    if (pd_source_is_stream(source)) {
        const uint8_t *payload = pd_aux_payload(record->chunk, record->data, record->size,
                                                dump->recording->swap);
        if (payload)
            put_trace(dump, payload, (size_t)aux->data_size, aux->offset, text);
        return;
    }
    if (!pd_range_ok(at, aux->data_size, total))
        return;
    uint8_t *bytes = malloc(aux->data_size ? (size_t)aux->data_size : 1);
    size_t got = 0;
    if (bytes && pd_source_read(source, at, bytes, (size_t)aux->data_size, &got) == PERFDATA_OK)
        put_trace(dump, bytes, got, aux->offset, text);
    text->failed |= !bytes;
    free(bytes);
}

/* ---- */

union user_record {
    struct pd_record_id_index id_index;
    struct pd_record_event_update update;
    struct pd_record_thread_map threads;
    struct pd_record_cpu_map cpus;
    struct pd_record_stat_config config;
    struct pd_record_stat stat;
    struct pd_record_stat_round round;
    struct pd_record_time_conv conv;
    struct pd_record_auxtrace_info info;
    struct pd_record_auxtrace auxtrace;
    struct pd_record_auxtrace_error error;
};

static size_t size_of(uint32_t type)
{
    switch (type) {
    case PD_RECORD_ID_INDEX: return sizeof(struct pd_record_id_index);
    case PD_RECORD_EVENT_UPDATE: return sizeof(struct pd_record_event_update);
    case PD_RECORD_THREAD_MAP: return sizeof(struct pd_record_thread_map);
    case PD_RECORD_CPU_MAP: return sizeof(struct pd_record_cpu_map);
    case PD_RECORD_STAT_CONFIG: return sizeof(struct pd_record_stat_config);
    case PD_RECORD_STAT: return sizeof(struct pd_record_stat);
    case PD_RECORD_STAT_ROUND: return sizeof(struct pd_record_stat_round);
    case PD_RECORD_TIME_CONV: return sizeof(struct pd_record_time_conv);
    case PD_RECORD_AUXTRACE_INFO: return sizeof(struct pd_record_auxtrace_info);
    case PD_RECORD_AUXTRACE: return sizeof(struct pd_record_auxtrace);
    case PD_RECORD_AUXTRACE_ERROR: return sizeof(struct pd_record_auxtrace_error);
    default: return 0;
    }
}

static void put_stat(const struct pd_raw_dump *dump, const union user_record *body, uint32_t type,
                     struct pd_text *text)
{
    if (dump->verb == PD_RAW_DUMP_SCRIPT) /* perf's script prints nothing of these records here */
        return;
    if (type == PD_RECORD_STAT_CONFIG)
        put_stat_config(&body->config, text);
    else if (type == PD_RECORD_STAT)
        pd_text_format(
            text, "\n... id %llu, cpu %d, thread %d\n... value %llu, enabled %llu, running %llu\n",
            ULL(body->stat.id), (int32_t)body->stat.cpu, (int32_t)body->stat.thread,
            ULL(body->stat.val), ULL(body->stat.ena), ULL(body->stat.run));
    else
        pd_text_format(text, "\n... time %llu, type %s\n", ULL(body->round.time),
                       body->round.round_type ? "FINAL" : "INTERVAL");
    pd_text_string(text, ": unhandled!\n");
}

static void put_decoded(const struct pd_raw_dump *dump, const union user_record *body,
                        const struct pd_delivered *record, struct pd_text *text)
{
    bool report = dump->verb == PD_RAW_DUMP_REPORT;
    switch (record->type) {
    case PD_RECORD_ID_INDEX: put_id_index(&body->id_index, text); break;
    case PD_RECORD_EVENT_UPDATE: put_event_update(&body->update, text); break;
    case PD_RECORD_THREAD_MAP:
    case PD_RECORD_CPU_MAP:
        if (record->type == PD_RECORD_THREAD_MAP) {
            put_thread_map(&body->threads, text);
        } else {
            pd_text_string(text, ": ");
            put_cpu_map(&body->cpus.data, text);
            pd_text_char(text, '\n');
        }
        if (report)
            pd_text_string(text, ": unhandled!\n");
        break;
    case PD_RECORD_STAT_CONFIG:
    case PD_RECORD_STAT:
    case PD_RECORD_STAT_ROUND: put_stat(dump, body, record->type, text); break;
    case PD_RECORD_TIME_CONV:
        put_time_conv(&body->conv, record->size, text);
        pd_text_string(text, ": unhandled!\n");
        break;
    case PD_RECORD_AUXTRACE_INFO: put_auxtrace_info(&body->info, text); break;
    case PD_RECORD_AUXTRACE: put_auxtrace(dump, &body->auxtrace, record, text); break;
    case PD_RECORD_AUXTRACE_ERROR: pd_auxtrace_error_text(&body->error, text); break;
    default: break;
    }
}

void pd_raw_dump_user(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                      struct pd_text *text)
{
    union user_record body;
    struct pd_arena arena = { 0 };
    size_t size = size_of(record->type);
    memset(&body, 0, sizeof body);
    if (size) {
        /* a record that is cut off is shown as far as it goes */
        (void)pd_record_decode(record->event, record->data, record->size, dump->recording->swap,
                               &arena, &body, size);
        put_decoded(dump, &body, record, text);
    } else if (record->type == PD_RECORD_FINISHED_ROUND) {
        if (!pd_raw_dump_has_line(dump, record->type))
            pd_text_string(text, dump->unsorted ? ": unhandled!\n" : "\n");
    } else if (record->type == PD_RECORD_FINISHED_INIT) {
        pd_text_string(text, ": unhandled!\n");
    }
    pd_arena_free(&arena);
}
