/* SPDX-License-Identifier: MIT */
/* A profile -> profile.proto of pprof, compressed.
 *
 * A location is an address with all functions that inlining has put there. Where frames differ by
 * function only, it is the address at which the function begins: stacks by address are many more,
 * and take five times as long. An object that is mapped at a single place keeps its addresses;
 * others get a place of their own above all mapped addresses, so that theirs stay apart. The first
 * mapping names the profile, so it is that of the program with the greatest weight.
 *
 * A profile may come in parts. The samples of a part are written when it comes, those of a stack
 * more than once if it is in several, since readers add them up; fields may be in any order. All
 * that depends on the whole comes last. Locations keep their numbers until frames are forgotten:
 * then what is known of them waits in a temporary file, since where objects lie is known at the
 * end. */
#include "convert/convert.h"
#include "convert/gzip.h"
#include "convert/places.h"
#include "convert/protobuf.h"
#include "convert/spool.h"
#include "convert/strings.h"
#include "base/hash.h"
#include <stdlib.h>

/* Field numbers of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_DEFAULT_TYPE = 14,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STRING = 2,
    LABEL_NUMBER = 3,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    MAPPING_HAS_INLINES = 10,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_FILE = 4
};

struct location {
    uint32_t frame,
        outer; /* the location of the function that it was inlined into; PERFDATA_NONE: none */
};

/* A location whose frame is forgotten, with its lines behind it. */
struct kept_location {
    uint64_t address;
    uint32_t object, size; /* of the lines */
};

struct pprof {
    struct pd_gzip *gzip;
    struct pd_strings strings;
    struct pd_convert_groups groups;
    struct pd_convert_sums sums;
    struct pd_places places;
    uint32_t *location_of;             /* by stack */
    PD_VEC(uint32_t) plain;            /* by frame: its location, unless inlined, + 1 */
    struct pd_map64 inlined;           /* the other locations */
    PD_VEC(struct location) locations; /* from number `kept` on */
    uint32_t kept;                     /* how many locations are in the spool */
    struct pd_spool spool;
    struct pd_spool_stream kept_locations;
    uint32_t *column_of;        /* by event: its first value; PERFDATA_NONE: none */
    uint32_t count, columns;    /* of events that have values, two each */
    bool parts;                 /* the profile comes in parts */
    uint64_t written;           /* sums of the parts before */
    PD_VEC(const char *) files; /* by function */
    struct pd_text message, part;
};

static perfdata_status flush(struct pd_convert *x, bool all)
{
    struct pprof *pprof = x->state;
    return pd_gzip_flush(pprof->gzip, x, all);
}

/* ---- what a value is ---- */

static void put_type(struct pd_convert *x, struct pprof *pprof, unsigned field, const char *type,
                     const char *unit)
{
    pd_pb_uint(&pprof->message, VALUE_TYPE, pd_strings_id(&pprof->strings, type, strlen(type)));
    pd_pb_uint(&pprof->message, VALUE_UNIT, pd_strings_id(&pprof->strings, unit, strlen(unit)));
    pd_pb_message(&x->out, field, &pprof->message);
}

/* Names the event's column in `name`, with its NUL. */
static void name_column(const struct perfdata_profile_event *event, struct pd_text *name)
{
    name->length = 0;
    pd_convert_name(name, event->name, strlen(event->name));
    pd_text_char(name, 0);
}

/* What the events' weights are, and which value is shown first: of the first event. */
static void put_default(struct pd_convert *x, struct pprof *pprof,
                        const struct perfdata_profile_event *event, struct pd_text *name)
{
    const bool several = pprof->count > 1;
    name_column(event, name);
    const char *text = name->failed ? "" : name->data;
    const char *first = x->options->flags & PERFDATA_EXPORT_COUNT ? (several ? NULL : "samples")
                                                                  : text;
    put_type(x, pprof, PROFILE_PERIOD_TYPE, text, pd_convert_unit(event));
    if (first)
        pd_pb_uint(&x->out, PROFILE_DEFAULT_TYPE,
                   pd_strings_id(&pprof->strings, first, strlen(first)));
}

/* Whether the event has values. When the first part comes, others may still have samples, but for
 * those that only exist for their sideband records. */
static bool has_column(const struct pd_convert *x, const struct pprof *pprof, uint32_t index)
{
    const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, index);
    const bool dummy = event->type == PD_TYPE_SOFTWARE && event->config == PD_SW_DUMMY;
    return x->events[index] && (event->samples || (pprof->parts && !dummy));
}

/* Each event has two values: how many samples, and their weight. */
static void put_types(struct pd_convert *x, struct pprof *pprof)
{
    const uint32_t events = perfdata_profile_event_count(x->profile);
    struct pd_text name = { 0 };
    for (uint32_t i = 0; i < events; i++)
        pprof->count += has_column(x, pprof, i);
    for (uint32_t i = 0; i < events; i++) {
        const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, i);
        pprof->column_of[i] = PERFDATA_NONE;
        if (!has_column(x, pprof, i))
            continue;
        pprof->column_of[i] = pprof->columns;
        name.length = 0;
        pd_text_string(&name, "samples");
        if (pprof->count > 1) {
            pd_text_string(&name, " of ");
            pd_convert_name(&name, event->name, strlen(event->name));
        }
        pd_text_char(&name, 0);
        put_type(x, pprof, PROFILE_SAMPLE_TYPE, name.failed ? "" : name.data, "count");
        name_column(event, &name);
        put_type(x, pprof, PROFILE_SAMPLE_TYPE, name.failed ? "" : name.data,
                 pd_convert_unit(event));
        if (!pprof->columns && !pprof->parts)
            put_default(x, pprof, event, &name);
        pprof->columns += 2;
    }
    x->out.failed |= name.failed;
    pd_text_free(&name);
}

/* After parts: the first event that has samples is only known now. */
static void put_late_default(struct pd_convert *x, struct pprof *pprof)
{
    struct pd_text name = { 0 };
    for (uint32_t i = 0; i < perfdata_profile_event_count(x->profile); i++) {
        const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, i);
        if (pprof->column_of[i] == PERFDATA_NONE || !event->samples)
            continue;
        put_default(x, pprof, event, &name);
        break;
    }
    x->out.failed |= name.failed;
    pd_text_free(&name);
}

/* ---- mappings ---- */

static void put_mapping(struct pd_convert *x, struct pprof *pprof, uint32_t index, uint32_t id)
{
    const struct perfdata_profile_object *object = perfdata_profile_object(x->profile, index);
    struct pd_place *place = &pprof->places.list.data[index];
    struct pd_text *message = &pprof->message;
    char build_id[2 * PD_BUILD_ID_MAX];
    place->id = id;
    for (uint32_t i = 0; i < object->build_id_size && i < PD_BUILD_ID_MAX; i++) {
        build_id[2 * i] = "0123456789abcdef"[object->build_id[i] >> 4];
        build_id[2 * i + 1] = "0123456789abcdef"[object->build_id[i] & 15];
    }
    pd_pb_uint(message, MAPPING_ID, id);
    if (place->start <= place->limit) {
        pd_pb_uint(message, MAPPING_START, place->start);
        pd_pb_uint(message, MAPPING_LIMIT, place->limit);
        pd_pb_uint(message, MAPPING_OFFSET, object->is_kernel ? 0 : place->offset);
    }
    pd_pb_uint(message, MAPPING_FILE,
               pd_strings_name(&pprof->strings, object->path, strlen(object->path)));
    if (object->build_id_size)
        pd_pb_uint(message, MAPPING_BUILD_ID,
                   pd_strings_id(&pprof->strings, build_id, 2 * (size_t)object->build_id_size));
    pd_pb_uint(message, MAPPING_HAS_FUNCTIONS, 1);
    pd_pb_uint(message, MAPPING_HAS_FILES, place->lines);
    pd_pb_uint(message, MAPPING_HAS_LINES, place->lines);
    pd_pb_uint(message, MAPPING_HAS_INLINES, 1);
    pd_pb_message(&x->out, PROFILE_MAPPING, message);
}

static perfdata_status put_mappings(struct pd_convert *x, struct pprof *pprof)
{
    uint32_t id = 0;
    perfdata_status status = pd_places_weigh(x, &pprof->places);
    if (status < 0)
        return status;
    const uint32_t main = pd_places_main(x->profile, &pprof->places);
    if (!pd_places_measure(x->profile, &pprof->places))
        return pd_convert_no_memory(x);
    if (!pd_places_find(x->profile, &pprof->places))
        return pd_convert_no_memory(x);
    if (main != PERFDATA_NONE)
        put_mapping(x, pprof, main, ++id);
    for (uint32_t i = 0; i < perfdata_profile_object_count(x->profile); i++)
        if (i != main)
            put_mapping(x, pprof, i, ++id);
    return flush(x, false);
}

/* ---- locations and functions ---- */

/* The number of a location, from `kept` on; PERFDATA_NONE: no memory. */
static uint32_t number_location(struct pprof *pprof, const struct location *location)
{
    const uint64_t key = (uint64_t)location->outer << 32 | location->frame;
    const bool plain = location->outer == PERFDATA_NONE;
    const uint32_t known = plain ? pprof->plain.data[location->frame] - 1
                                 : pd_map64_get(&pprof->inlined, key);
    if (known != PERFDATA_NONE)
        return known;
    const uint32_t id = (uint32_t)pprof->locations.count;
    if (id == PERFDATA_NONE - 1 || !pd_vec_push(&pprof->locations, *location))
        return PERFDATA_NONE;
    if (plain)
        pprof->plain.data[location->frame] = id + 1;
    return plain || pd_map64_set(&pprof->inlined, key, id) ? id : PERFDATA_NONE;
}

/* Numbers the location of each stack's last frame: its address, with the functions that it was
 * inlined into. */
static bool number_locations(struct pd_convert *x, struct pprof *pprof)
{
    const perfdata_profile *profile = x->profile;
    const uint32_t count = perfdata_profile_stack_count(profile);
    free(pprof->location_of);
    pprof->location_of = malloc(((size_t)count + 1) * sizeof *pprof->location_of);
    if (!pprof->location_of ||
        !pd_vec_widen_to(&pprof->plain, (size_t)perfdata_profile_frame_count(profile) + 1))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct perfdata_profile_stack *stack = pd_profile_stack(profile, i);
        uint32_t function = pd_profile_frame(profile, stack->frame)->function;
        bool inlined = pd_profile_function(profile, function)->flags & PERFDATA_FUNCTION_INLINED;
        struct location made = { stack->frame, inlined && stack->parent != PERFDATA_NONE
                                                   ? pprof->location_of[stack->parent]
                                                   : PERFDATA_NONE };
        pprof->location_of[i] = number_location(pprof, &made);
        if (pprof->location_of[i] == PERFDATA_NONE)
            return false;
    }
    return true;
}

/* What a location says beside its place: a line for each function. */
static void put_lines(struct pd_convert *x, struct pprof *pprof, uint32_t index,
                      struct pd_text *out)
{
    struct pd_text *line = &pprof->part;
    for (uint32_t at = index; at != PERFDATA_NONE; at = pprof->locations.data[at].outer) {
        const struct perfdata_profile_frame *frame = pd_profile_frame(
            x->profile, pprof->locations.data[at].frame);
        pd_pb_uint(line, LINE_FUNCTION, (uint64_t)frame->function + 1);
        pd_pb_uint(line, LINE_LINE, frame->line);
        pd_pb_message(out, LOCATION_LINE, line);
        if (frame->file && !pprof->files.data[frame->function])
            pprof->files.data[frame->function] = frame->file;
    }
}

static void put_place(struct pprof *pprof, uint64_t id, uint32_t object, uint64_t address)
{
    struct pd_text *message = &pprof->message;
    pd_pb_uint(message, LOCATION_ID, id);
    if (object != PERFDATA_NONE) {
        const struct pd_place *place = &pprof->places.list.data[object];
        pd_pb_uint(message, LOCATION_MAPPING, place->id);
        pd_pb_uint(message, LOCATION_ADDRESS, place->start + (address - place->offset));
    } else {
        pd_pb_uint(message, LOCATION_ADDRESS, address);
    }
}

static void put_location(struct pd_convert *x, struct pprof *pprof, uint32_t index)
{
    const struct perfdata_profile_frame *frame = pd_profile_frame(
        x->profile, pprof->locations.data[index].frame);
    const uint32_t object = pd_profile_function(x->profile, frame->function)->object;
    put_place(pprof, (uint64_t)pprof->kept + index + 1, object,
              pd_place_address(x->profile, frame));
    put_lines(x, pprof, index, &pprof->message);
    pd_pb_message(&x->out, PROFILE_LOCATION, &pprof->message);
}

/* Puts all locations into the spool: their frames are about to be forgotten. */
static perfdata_status keep_locations(struct pd_convert *x, struct pprof *pprof)
{
    struct pd_text lines = { 0 };
    perfdata_status status = pd_places_measure(x->profile, &pprof->places)
                                 ? PERFDATA_OK
                                 : pd_convert_no_memory(x);
    for (uint32_t i = 0; i < pprof->locations.count && status >= 0; i++) {
        const struct perfdata_profile_frame *frame = pd_profile_frame(
            x->profile, pprof->locations.data[i].frame);
        lines.length = 0;
        put_lines(x, pprof, i, &lines);
        const struct kept_location kept = {
            pd_place_address(x->profile, frame),
            pd_profile_function(x->profile, frame->function)->object, (uint32_t)lines.length
        };
        pd_text_bytes(&pprof->message, &kept, sizeof kept);
        pd_text_bytes(&pprof->message, lines.data, lines.length);
        pprof->message.failed |= lines.failed;
        status = pd_spool_put(&pprof->spool, &pprof->kept_locations, &pprof->message);
    }
    pd_text_free(&lines);
    if (status < 0)
        return status;
    if (pprof->locations.count > PERFDATA_NONE - 1 - pprof->kept)
        return pd_fail(x->context, PERFDATA_ERROR_LIMIT, -1, "too many locations for pprof");
    pprof->kept += (uint32_t)pprof->locations.count;
    pprof->locations.count = pprof->plain.count = 0;
    pd_map64_clear(&pprof->inlined);
    return status;
}

static perfdata_status put_kept_locations(struct pd_convert *x, struct pprof *pprof)
{
    struct pd_spool_reader reader;
    perfdata_status status = PERFDATA_OK;
    pd_spool_reader_init(&reader, &pprof->spool, &pprof->kept_locations);
    for (uint32_t i = 0; i < pprof->kept && status >= 0; i++) {
        struct kept_location kept;
        status = pd_spool_take(&reader, &kept, sizeof kept);
        if (status < 0)
            break;
        put_place(pprof, (uint64_t)i + 1, kept.object, kept.address);
        char *room = pd_text_room(&pprof->message, kept.size);
        status = room ? pd_spool_take(&reader, room, kept.size) : pd_convert_no_memory(x);
        pprof->message.length += kept.size;
        if (status < 0)
            break;
        pd_pb_message(&x->out, PROFILE_LOCATION, &pprof->message);
        status = flush(x, false);
    }
    pd_spool_reader_free(&reader);
    return status;
}

static void put_function(struct pd_convert *x, struct pprof *pprof, uint32_t index)
{
    struct pd_text *message = &pprof->message;
    pprof->part.length = 0;
    pd_convert_function(x, index, &pprof->part);
    uint64_t name = pd_strings_id(&pprof->strings, pprof->part.data, pprof->part.length);
    pprof->part.length = 0;
    pd_pb_uint(message, FUNCTION_ID, (uint64_t)index + 1);
    pd_pb_uint(message, FUNCTION_NAME, name);
    /* No system name: if it is the same as the name, pprof cuts C++ names short. */
    const char *file = pprof->files.data[index];
    if (file)
        pd_pb_uint(message, FUNCTION_FILE, pd_strings_name(&pprof->strings, file, strlen(file)));
    pd_pb_message(&x->out, PROFILE_FUNCTION, message);
}

/* ---- samples ---- */

static void put_label(struct pprof *pprof, const char *key, const char *text, uint64_t number)
{
    pd_pb_uint(&pprof->part, LABEL_KEY, pd_strings_id(&pprof->strings, key, strlen(key)));
    if (text)
        pd_pb_uint(&pprof->part, LABEL_STRING,
                   pd_strings_name(&pprof->strings, text, strlen(text)));
    else
        pd_pb_uint(&pprof->part, LABEL_NUMBER, number);
    pd_pb_message(&pprof->message, SAMPLE_LABEL, &pprof->part);
}

static void put_sample(struct pd_convert *x, struct pprof *pprof,
                       const struct perfdata_profile_sum *sum)
{
    const perfdata_profile *profile = x->profile;
    const struct perfdata_profile_thread *thread = perfdata_profile_thread(
        profile, pprof->groups.first.data[sum->thread]);
    struct pd_text *part = &pprof->part;
    for (uint32_t at = sum->stack; at != PERFDATA_NONE;) {
        uint32_t location = pprof->location_of[at];
        pd_pb_varint(part, (uint64_t)pprof->kept + location + 1);
        do { /* skips the functions that the location covers */
            at = pd_profile_stack(profile, at)->parent;
            location = pprof->locations.data[location].outer;
        } while (location != PERFDATA_NONE);
    }
    pd_pb_message(&pprof->message, SAMPLE_LOCATION, part);
    uint32_t column = pprof->column_of[sum->event];
    for (uint32_t i = 0; i < pprof->columns; i++)
        pd_pb_varint(part, i == column ? sum->count : i == column + 1 ? sum->weight : 0);
    pd_pb_message(&pprof->message, SAMPLE_VALUE, part);
    if (x->options->group != PERFDATA_EXPORT_TOGETHER)
        put_label(pprof, "comm", thread->comm, 0);
    if (x->options->group == PERFDATA_EXPORT_BY_PROCESS ||
        x->options->group == PERFDATA_EXPORT_BY_THREAD)
        put_label(pprof, "pid", NULL, (uint64_t)(int32_t)thread->pid);
    if (x->options->group == PERFDATA_EXPORT_BY_THREAD)
        put_label(pprof, "tid", NULL, (uint64_t)(int32_t)thread->tid);
    pd_pb_message(&x->out, PROFILE_SAMPLE, &pprof->message);
}

/* Each stack has a value of each event, nearly all of them 0: with thousands of events that is more
 * than anybody can read. */
static perfdata_status check_size(struct pd_convert *x, const struct pprof *pprof)
{
    enum { VALUES_MAX = 1 << 27 };
    const uint64_t count = pprof->written + pprof->sums.list.count;
    if (!pprof->columns || count <= VALUES_MAX / pprof->columns)
        return PERFDATA_OK;
    return pd_fail(x->context, PERFDATA_ERROR_LIMIT, -1,
                   "%u events of %llu stacks are too many for pprof, which has a value of each "
                   "event for each stack; choose some with --event",
                   (unsigned)(pprof->columns / 2), (unsigned long long)count);
}

static perfdata_status put_samples(struct pd_convert *x, struct pprof *pprof)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < pprof->sums.list.count && status >= 0; i++) {
        const struct perfdata_profile_sum *sum = &pprof->sums.list.data[i];
        if (PD_UNLIKELY(pprof->column_of[sum->event] == PERFDATA_NONE))
            return pd_fail(x->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                           "event '%s' has samples late in a large recording, which pprof cannot "
                           "show: leave it out with --event",
                           perfdata_profile_event(x->profile, sum->event)->name);
        put_sample(x, pprof, sum);
        status = flush(x, false);
    }
    return status;
}

/* ---- the whole ---- */

static perfdata_status put_tables(struct pd_convert *x, struct pprof *pprof)
{
    perfdata_status status = put_kept_locations(x, pprof);
    uint64_t first, last;
    for (uint32_t i = 0; i < pprof->locations.count && status >= 0; i++) {
        put_location(x, pprof, i);
        status = flush(x, false);
    }
    for (uint32_t i = 0; i < perfdata_profile_function_count(x->profile) && status >= 0; i++) {
        put_function(x, pprof, i);
        status = flush(x, false);
    }
    if (perfdata_profile_times(x->profile, &first, &last) >= 0)
        pd_pb_uint(&x->out, PROFILE_DURATION, last - first);
    for (uint32_t i = 0; i < pd_strings_count(&pprof->strings) && status >= 0; i++) {
        size_t length;
        const char *text = pd_strings_at(&pprof->strings, i, &length);
        pd_pb_bytes(&x->out, PROFILE_STRING, text, length);
        status = flush(x, false);
    }
    if (status >= 0 && pprof->strings.failed)
        status = pd_convert_no_memory(x);
    return status < 0 ? status : flush(x, true);
}

static perfdata_status start(struct pd_convert *x, bool parts)
{
    struct pprof *pprof = x->state = calloc(1, sizeof *pprof);
    if (!pprof)
        return pd_convert_no_memory(x);
    pd_spool_init(&pprof->spool, x);
    pprof->parts = parts;
    pprof->column_of = calloc((size_t)perfdata_profile_event_count(x->profile) + 1,
                              sizeof *pprof->column_of);
    pprof->gzip = pd_gzip_new();
    if (!pprof->column_of || !pprof->gzip)
        return pd_convert_no_memory(x);
    pd_strings_id(&pprof->strings, "", 0); /* number 0 is the empty one */
    put_types(x, pprof);
    return PERFDATA_OK;
}

/* What the samples of the profile as it is refer to. */
static perfdata_status make_sums(struct pd_convert *x, struct pprof *pprof)
{
    pd_convert_groups_free(&pprof->groups);
    pprof->sums.list.count = 0;
    if (!number_locations(x, pprof) ||
        !pd_vec_widen_to(&pprof->files, (size_t)perfdata_profile_function_count(x->profile) + 1))
        return pd_convert_no_memory(x);
    perfdata_status status = pd_convert_groups_make(x, &pprof->groups);
    if (status >= 0)
        status = pd_convert_sums_make(x, &pprof->groups, &pprof->sums);
    return status < 0 ? status : check_size(x, pprof);
}

static perfdata_status part(struct pd_convert *x, bool frames)
{
    perfdata_status status = x->state ? PERFDATA_OK : start(x, true);
    struct pprof *pprof = x->state;
    if (status >= 0)
        status = pd_places_weigh(x, &pprof->places);
    if (status >= 0)
        status = make_sums(x, pprof);
    if (status >= 0)
        status = put_samples(x, pprof);
    if (status < 0)
        return status;
    pprof->written += pprof->sums.list.count;
    return frames ? keep_locations(x, pprof) : status;
}

static perfdata_status end(struct pd_convert *x)
{
    perfdata_status status = x->state ? PERFDATA_OK : start(x, false);
    struct pprof *pprof = x->state;
    if (status >= 0)
        status = make_sums(x, pprof);
    if (status >= 0 && pprof->parts)
        put_late_default(x, pprof);
    if (status >= 0)
        status = put_mappings(x, pprof);
    if (status >= 0)
        status = put_samples(x, pprof);
    return status < 0 ? status : put_tables(x, pprof);
}

static void free_state(struct pd_convert *x)
{
    struct pprof *pprof = x->state;
    if (!pprof)
        return;
    pd_gzip_free(pprof->gzip);
    pd_strings_free(&pprof->strings);
    pd_convert_groups_free(&pprof->groups);
    pd_vec_free(&pprof->sums.list);
    pd_vec_free(&pprof->locations);
    pd_vec_free(&pprof->plain);
    pd_map64_free(&pprof->inlined);
    pd_spool_free(&pprof->kept_locations);
    pd_spool_close(&pprof->spool);
    pd_text_free(&pprof->message);
    pd_text_free(&pprof->part);
    pd_places_free(&pprof->places);
    pd_vec_free(&pprof->files);
    free(pprof->location_of);
    free(pprof->column_of);
    free(pprof);
}

const struct pd_format pd_format_pprof = {
    .flags = PERFDATA_FORMAT_BINARY,
    .profile_flags = PERFDATA_PROFILE_SUMS_BY_COMM,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .part = part,
    .end = end,
    .free = free_state,
};
