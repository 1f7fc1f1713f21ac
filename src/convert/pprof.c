/* SPDX-License-Identifier: MIT */
/* A profile -> profile.proto of pprof, compressed.
 *
 * A location is an address with all functions that inlining has put there. Where frames differ by
 * function only, it is the address at which the function begins: stacks by address are many more,
 * and take three times as long. An object that is mapped at a single place keeps its addresses;
 * others get a place of their own above all mapped addresses, so that theirs stay apart. The first
 * mapping names the profile, so it is that of the program with the greatest weight. */
#include "convert/convert.h"
#include "convert/gzip.h"
#include "convert/protobuf.h"
#include "convert/strings.h"
#include "base/hash.h"
#include <stdlib.h>

enum { PAGE = 4096 };

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

struct place {
    uint64_t start, limit, offset;
    uint32_t id; /* of the mapping */
    bool lines;
};

struct location {
    uint32_t frame,
        outer; /* the location of the function that it was inlined into; PERFDATA_NONE: none */
};

struct pprof {
    struct pd_gzip *gzip;
    struct pd_strings strings;
    struct pd_convert_groups groups;
    struct pd_convert_sums sums;
    struct place *places;  /* by object */
    uint32_t *location_of; /* by stack */
    PD_VEC(struct location) locations;
    struct pd_map64 location_map;
    uint32_t *column_of; /* by event: its first value; PERFDATA_NONE: none */
    uint32_t columns;
    const char **files; /* by function */
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

/* Each event has two values: how many samples, and their weight. */
static void put_types(struct pd_convert *x, struct pprof *pprof)
{
    uint32_t only, count = pd_convert_event_count(x, &only);
    struct pd_text name = { 0 };
    for (uint32_t i = 0; i < perfdata_profile_event_count(x->profile); i++) {
        const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, i);
        pprof->column_of[i] = PERFDATA_NONE;
        if (!x->events[i] || !event->samples)
            continue;
        pprof->column_of[i] = pprof->columns;
        name.length = 0;
        pd_text_string(&name, "samples");
        if (count > 1) {
            pd_text_string(&name, " of ");
            pd_convert_name(&name, event->name, strlen(event->name));
        }
        pd_text_char(&name, 0);
        put_type(x, pprof, PROFILE_SAMPLE_TYPE, name.failed ? "" : name.data, "count");
        name.length = 0;
        pd_convert_name(&name, event->name, strlen(event->name));
        pd_text_char(&name, 0);
        const char *text = name.failed ? "" : name.data, *unit = pd_convert_unit(event);
        put_type(x, pprof, PROFILE_SAMPLE_TYPE, text, unit);
        if (!pprof->columns) {
            const char *first = x->options->flags & PERFDATA_EXPORT_COUNT
                                    ? (count > 1 ? NULL : "samples")
                                    : text;
            put_type(x, pprof, PROFILE_PERIOD_TYPE, text, unit);
            if (first)
                pd_pb_uint(&x->out, PROFILE_DEFAULT_TYPE,
                           pd_strings_id(&pprof->strings, first, strlen(first)));
        }
        pprof->columns += 2;
    }
    x->out.failed |= name.failed;
    pd_text_free(&name);
}

/* ---- mappings ---- */

static bool is_library(const struct perfdata_profile_object *object)
{
    const char *so = strstr(object->name, ".so");
    return object->is_kernel || *object->name == '[' || (so && (!so[3] || so[3] == '.'));
}

/* The object that names the profile; PERFDATA_NONE: there is none. */
static perfdata_status main_object(struct pd_convert *x, uint32_t *main)
{
    struct perfdata_query query = PERFDATA_QUERY_INIT;
    struct perfdata_row *rows;
    size_t count;
    query.key = PERFDATA_BY_OBJECT;
    *main = PERFDATA_NONE;
    perfdata_status status = perfdata_profile_rows(x->profile, &query, &rows, &count);
    if (status < 0)
        return pd_convert_no_memory(x);
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const struct perfdata_profile_object *object = perfdata_profile_object(x->profile,
                                                                               rows[i].key);
        if (object && !is_library(object) && rows[i].total_count > most) {
            most = rows[i].total_count;
            *main = rows[i].key;
        }
    }
    for (size_t i = 0; *main == PERFDATA_NONE && i < count; i++)
        *main = rows[i].key;
    perfdata_rows_free(rows);
    return PERFDATA_OK;
}

/* Which addresses of each object occur. */
/* With frames by function, where the function begins; for an inlined one, where the function around
 * it does. */
static uint64_t address_of(const perfdata_profile *profile,
                           const struct perfdata_profile_frame *frame)
{
    return frame->address ? frame->address : pd_profile_function(profile, frame->function)->address;
}

static void measure(struct pd_convert *x, struct pprof *pprof)
{
    const perfdata_profile *profile = x->profile;
    for (uint32_t i = 0; i < perfdata_profile_object_count(profile); i++)
        pprof->places[i] = (struct place){ .start = UINT64_MAX };
    for (uint32_t i = 0; i < perfdata_profile_frame_count(profile); i++) {
        const struct perfdata_profile_frame *frame = pd_profile_frame(profile, i);
        uint32_t object = pd_profile_function(profile, frame->function)->object;
        if (object == PERFDATA_NONE)
            continue;
        struct place *place = &pprof->places[object];
        uint64_t address = address_of(profile, frame);
        place->start = PD_MIN(place->start, address);
        place->limit = PD_MAX(place->limit, address);
        place->lines |= frame->line != 0;
    }
}

/* Whether all addresses of the object that occur lie in the map. */
static bool holds(const struct perfdata_profile_mapping *map, const struct place *place)
{
    return place->start <= place->limit && place->start >= map->offset &&
           place->limit - map->offset < map->end - map->start;
}

#define NOWHERE UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

/* Finds for each object the first mapping that holds its addresses, if all such mappings lie at one
 * place. */
static void find_mappings(const perfdata_profile *profile, const struct place *places,
                          uint32_t *where)
{
    for (uint32_t i = 0; i < perfdata_profile_object_count(profile); i++)
        where[i] = NOWHERE;
    for (uint32_t i = 0; i < perfdata_profile_mapping_count(profile); i++) {
        const struct perfdata_profile_mapping *map = perfdata_profile_mapping(profile, i);
        uint32_t *at = &where[map->object];
        if (!holds(map, &places[map->object]) || *at == SEVERAL)
            continue;
        if (*at == NOWHERE) {
            *at = i;
            continue;
        }
        const struct perfdata_profile_mapping *first = perfdata_profile_mapping(profile, *at);
        if (first->start != map->start || first->end != map->end || first->offset != map->offset)
            *at = SEVERAL;
    }
}

/* Objects that lie at one place keep it; `limit` is 0 for objects without addresses. */
static void find_places(struct pd_convert *x, struct pprof *pprof)
{
    const perfdata_profile *profile = x->profile;
    uint32_t objects = perfdata_profile_object_count(profile);
    uint64_t next = UINT64_C(1) << 48;
    uint32_t *where = calloc((size_t)objects + 1, sizeof *where);
    if (where)
        find_mappings(profile, pprof->places, where);
    for (uint32_t i = 0; where && i < objects; i++) {
        struct place *place = &pprof->places[i];
        bool is_kernel = perfdata_profile_object(profile, i)->is_kernel;
        if (where[i] < SEVERAL && !is_kernel) {
            const struct perfdata_profile_mapping *map = perfdata_profile_mapping(profile,
                                                                                  where[i]);
            *place = (struct place){ map->start, map->end, map->offset, 0, place->lines };
            continue;
        }
        if (place->start > place->limit)
            continue;
        uint64_t last = place->limit / PAGE * PAGE;
        if (is_kernel) { /* in memory already */
            place->offset = place->start = place->start / PAGE * PAGE;
            place->limit = last > UINT64_MAX - PAGE ? UINT64_MAX : last + PAGE;
            continue;
        }
        uint64_t size = last > next ? next : last + PAGE; /* some lie in no file */
        *place = (struct place){ next, next + size, 0, 0, place->lines };
        next += size;
    }
    x->out.failed |= !where;
    free(where);
}

static void put_mapping(struct pd_convert *x, struct pprof *pprof, uint32_t index, uint32_t id)
{
    const struct perfdata_profile_object *object = perfdata_profile_object(x->profile, index);
    struct place *place = &pprof->places[index];
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
    uint32_t main, id = 0;
    perfdata_status status = main_object(x, &main);
    if (status < 0)
        return status;
    measure(x, pprof);
    find_places(x, pprof);
    if (main != PERFDATA_NONE)
        put_mapping(x, pprof, main, ++id);
    for (uint32_t i = 0; i < perfdata_profile_object_count(x->profile); i++)
        if (i != main)
            put_mapping(x, pprof, i, ++id);
    return flush(x, false);
}

/* ---- locations and functions ---- */

/* Numbers the location of each stack's last frame: its address, with the functions that it was
 * inlined into. */
static bool number_locations(struct pd_convert *x, struct pprof *pprof)
{
    const perfdata_profile *profile = x->profile;
    for (uint32_t i = 0; i < perfdata_profile_stack_count(profile); i++) {
        const struct perfdata_profile_stack *stack = pd_profile_stack(profile, i);
        uint32_t function = pd_profile_frame(profile, stack->frame)->function;
        bool inlined = pd_profile_function(profile, function)->flags & PERFDATA_FUNCTION_INLINED;
        struct location made = { stack->frame, inlined && stack->parent != PERFDATA_NONE
                                                   ? pprof->location_of[stack->parent]
                                                   : PERFDATA_NONE };
        uint64_t key = (uint64_t)made.outer << 32 | made.frame;
        uint32_t id = pd_map64_get(&pprof->location_map, key);
        if (id == PD_MAP64_NONE) {
            id = (uint32_t)pprof->locations.count;
            if (!pd_vec_push(&pprof->locations, made) ||
                !pd_map64_set(&pprof->location_map, key, id))
                return false;
        }
        pprof->location_of[i] = id;
    }
    return true;
}

static void put_location(struct pd_convert *x, struct pprof *pprof, uint32_t index)
{
    const perfdata_profile *profile = x->profile;
    struct pd_text *message = &pprof->message, *line = &pprof->part;
    const struct perfdata_profile_frame *frame = pd_profile_frame(
        profile, pprof->locations.data[index].frame);
    uint32_t object = pd_profile_function(profile, frame->function)->object;
    uint64_t address = address_of(profile, frame);
    pd_pb_uint(message, LOCATION_ID, (uint64_t)index + 1);
    if (object != PERFDATA_NONE) {
        const struct place *place = &pprof->places[object];
        pd_pb_uint(message, LOCATION_MAPPING, place->id);
        pd_pb_uint(message, LOCATION_ADDRESS, place->start + (address - place->offset));
    } else {
        pd_pb_uint(message, LOCATION_ADDRESS, address);
    }
    for (uint32_t at = index; at != PERFDATA_NONE; at = pprof->locations.data[at].outer) {
        frame = pd_profile_frame(profile, pprof->locations.data[at].frame);
        pd_pb_uint(line, LINE_FUNCTION, (uint64_t)frame->function + 1);
        pd_pb_uint(line, LINE_LINE, frame->line);
        pd_pb_message(message, LOCATION_LINE, line);
        if (frame->file && !pprof->files[frame->function])
            pprof->files[frame->function] = frame->file;
    }
    pd_pb_message(&x->out, PROFILE_LOCATION, message);
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
    if (pprof->files[index])
        pd_pb_uint(
            message, FUNCTION_FILE,
            pd_strings_name(&pprof->strings, pprof->files[index], strlen(pprof->files[index])));
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
        pd_pb_varint(part, (uint64_t)location + 1);
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
    if (!pprof->columns || pprof->sums.list.count <= VALUES_MAX / pprof->columns)
        return PERFDATA_OK;
    return pd_fail(x->context, PERFDATA_ERROR_LIMIT, -1,
                   "%u events of %zu stacks are too many for pprof, which has a value of each "
                   "event for each stack; choose some with --event",
                   (unsigned)(pprof->columns / 2), pprof->sums.list.count);
}

/* ---- the whole ---- */

static perfdata_status put_tables(struct pd_convert *x, struct pprof *pprof)
{
    perfdata_status status = PERFDATA_OK;
    uint64_t first, last;
    for (size_t i = 0; i < pprof->sums.list.count && status >= 0; i++) {
        put_sample(x, pprof, &pprof->sums.list.data[i]);
        status = flush(x, false);
    }
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

static perfdata_status end(struct pd_convert *x)
{
    struct pprof *pprof = x->state = calloc(1, sizeof *pprof);
    if (!pprof)
        return pd_convert_no_memory(x);
    const perfdata_profile *profile = x->profile;
    pprof->places = calloc((size_t)perfdata_profile_object_count(profile) + 1,
                           sizeof *pprof->places);
    pprof->location_of = calloc((size_t)perfdata_profile_stack_count(profile) + 1,
                                sizeof *pprof->location_of);
    pprof->column_of = calloc((size_t)perfdata_profile_event_count(profile) + 1,
                              sizeof *pprof->column_of);
    pprof->files = calloc((size_t)perfdata_profile_function_count(profile) + 1,
                          sizeof *pprof->files);
    pprof->gzip = pd_gzip_new();
    if (!pprof->places || !pprof->location_of || !pprof->column_of || !pprof->files ||
        !pprof->gzip || !number_locations(x, pprof))
        return pd_convert_no_memory(x);
    pd_strings_id(&pprof->strings, "", 0); /* number 0 is the empty one */
    perfdata_status status = pd_convert_groups_make(x, &pprof->groups);
    if (status >= 0)
        status = pd_convert_sums_make(x, &pprof->groups, &pprof->sums);
    if (status < 0)
        return status;
    put_types(x, pprof);
    status = check_size(x, pprof);
    if (status >= 0)
        status = put_mappings(x, pprof);
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
    pd_map64_free(&pprof->location_map);
    pd_text_free(&pprof->message);
    pd_text_free(&pprof->part);
    free(pprof->places);
    free(pprof->location_of);
    free(pprof->column_of);
    free(pprof->files);
    free(pprof);
}

const struct pd_format pd_format_pprof = {
    .flags = PERFDATA_FORMAT_BINARY,
    .profile_flags = PERFDATA_PROFILE_SUMS_BY_COMM,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .end = end,
    .free = free_state,
};
