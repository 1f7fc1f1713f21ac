/* SPDX-License-Identifier: MIT */
/* A profile -> OpenTelemetry's profiles (opentelemetry.proto.profiles.v1development.ProfilesData):
 * one profile for each event, all of which refer to the tables of one dictionary.
 *
 * In each table entry 0 is empty, and no entry is there twice or without being referred to: entries
 * are made when they are first needed, and equal bytes share one. */
#include "container/container.h"
#include "convert/convert.h"
#include "convert/protobuf.h"
#include "convert/strings.h"
#include <stdlib.h>

enum { PAGE = 4096 };

/* Field numbers. */
enum {
    DATA_RESOURCE = 1,
    DATA_DICTIONARY = 2,
    RESOURCE_RESOURCE = 1,
    RESOURCE_SCOPE = 2,
    SCOPE_SCOPE = 1,
    SCOPE_PROFILE = 2,
    PROFILE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_TIME = 3,
    PROFILE_DURATION = 4,
    TYPE_NAME = 1,
    TYPE_UNIT = 2,
    SAMPLE_STACK = 1,
    SAMPLE_ATTRIBUTES = 2,
    SAMPLE_VALUES = 4,
    MAPPING_START = 1,
    MAPPING_LIMIT = 2,
    MAPPING_OFFSET = 3,
    MAPPING_FILE = 4,
    MAPPING_ATTRIBUTES = 5,
    STACK_LOCATIONS = 1,
    LOCATION_MAPPING = 1,
    LOCATION_ADDRESS = 2,
    LOCATION_LINE = 3,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_NAME = 1,
    FUNCTION_FILE = 3,
    ATTRIBUTE_KEY = 1,
    ATTRIBUTE_VALUE = 2,
    VALUE_STRING = 1,
    VALUE_INT = 3,
    PAIR_KEY = 1,
    PAIR_VALUE = 2
};

/* Tables of the dictionary by their field number; links are never made. */
enum { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS, TABLES };

struct range {
    uint64_t least, most;
};

struct otlp {
    struct pd_strings tables[TABLES];
    struct pd_convert_groups groups;
    struct pd_convert_sums sums;
    uint32_t *order;       /* sums by event */
    size_t *begin;         /* by event: where its sums begin there */
    struct range *ranges;  /* by object: addresses that occur */
    uint32_t *stack_of;    /* by stack: entry, 0: none yet */
    uint32_t *location_of; /* by stack: the entry of its first frame, 0: none yet */
    struct pd_text list, message, part, name;
};

static uint32_t intern(struct otlp *o, unsigned table, struct pd_text *text)
{
    uint32_t id = pd_strings_id(&o->tables[table], text->data, text->length);
    o->tables[table].failed |= text->failed;
    text->length = 0;
    return id;
}

static uint32_t string_of(struct otlp *o, const char *text)
{
    pd_convert_name(&o->name, text, strlen(text));
    return intern(o, STRINGS, &o->name);
}

/* `text` NULL: the attribute's value is the number. */
static uint32_t attribute_of(struct otlp *o, const char *key, const char *text, int64_t number)
{
    if (text) {
        pd_convert_name(&o->name, text, strlen(text));
        pd_pb_message(&o->part, VALUE_STRING, &o->name);
    } else {
        pd_pb_tag(&o->part, VALUE_INT, PD_PB_VARINT); /* written even if 0: there has to be a
                                                       * value */
        pd_pb_varint(&o->part, (uint64_t)number);
    }
    uint32_t name = string_of(o, key);
    pd_pb_uint(&o->list, ATTRIBUTE_KEY, name);
    pd_pb_message(&o->list, ATTRIBUTE_VALUE, &o->part);
    return intern(o, ATTRIBUTES, &o->list);
}

/* ---- stacks ---- */

static uint32_t mapping_of(struct pd_convert *x, struct otlp *o, uint32_t index)
{
    const struct perfdata_profile_object *object = perfdata_profile_object(x->profile, index);
    const struct range *range;
    char build_id[2 * PD_BUILD_ID_MAX + 1];
    uint32_t attribute = 0, size, file;
    if (!object)
        return 0;
    range = &o->ranges[index];
    size = PD_MIN(object->build_id_size, (uint32_t)PD_BUILD_ID_MAX);
    for (uint32_t i = 0; i < size; i++) {
        build_id[2 * i] = "0123456789abcdef"[object->build_id[i] >> 4];
        build_id[2 * i + 1] = "0123456789abcdef"[object->build_id[i] & 15];
    }
    build_id[2 * size] = '\0';
    if (size)
        attribute = attribute_of(o, "process.executable.build_id.gnu", build_id, 0);
    file = string_of(o, object->path);
    if (range->most) { /* addresses count in the file; a kernel's, in memory */
        uint64_t from = range->least / PAGE * PAGE, last = range->most / PAGE * PAGE;
        pd_pb_uint(&o->message, MAPPING_START, from);
        pd_pb_uint(&o->message, MAPPING_LIMIT, last > UINT64_MAX - PAGE ? UINT64_MAX : last + PAGE);
        pd_pb_uint(&o->message, MAPPING_OFFSET, object->is_kernel ? 0 : from);
    }
    pd_pb_uint(&o->message, MAPPING_FILE, file);
    if (attribute) {
        pd_pb_varint(&o->part, attribute);
        pd_pb_message(&o->message, MAPPING_ATTRIBUTES, &o->part);
    }
    return intern(o, MAPPINGS, &o->message);
}

static void put_line(struct pd_convert *x, struct otlp *o,
                     const struct perfdata_profile_frame *frame)
{
    uint32_t file = frame->file ? string_of(o, frame->file) : 0, name, function;
    pd_convert_function(x, frame->function, &o->name);
    name = intern(o, STRINGS, &o->name);
    pd_pb_uint(&o->part, FUNCTION_NAME, name);
    pd_pb_uint(&o->part, FUNCTION_FILE, file);
    function = intern(o, FUNCTIONS, &o->part);
    pd_pb_uint(&o->part, LINE_FUNCTION, function);
    pd_pb_uint(&o->part, LINE_LINE, frame->line);
    pd_pb_message(&o->list, LOCATION_LINE, &o->part);
}

/* The function that the stack's first frame was inlined into is a further line of the location, and
 * so on; *callers becomes the rest of the stack. */
static uint32_t location_of(struct pd_convert *x, struct otlp *o, uint32_t stack, uint32_t *callers)
{
    const perfdata_profile *profile = x->profile;
    const struct perfdata_profile_frame *frame = NULL;
    uint32_t at = stack, first = pd_profile_stack(profile, stack)->frame, object, mapping, flags;
    first = pd_profile_frame(profile, first)->function;
    object = pd_profile_function(profile, first)->object;
    if (!o->location_of[stack]) {
        mapping = mapping_of(x, o, object);
        frame = pd_profile_frame(profile, pd_profile_stack(profile, stack)->frame);
        pd_pb_uint(&o->list, LOCATION_MAPPING, mapping);
        pd_pb_uint(&o->list, LOCATION_ADDRESS, frame->address);
    }
    do {
        const struct perfdata_profile_frame *line = pd_profile_frame(
            profile, pd_profile_stack(profile, at)->frame);
        if (frame)
            put_line(x, o, line);
        flags = pd_profile_function(profile, line->function)->flags;
        at = pd_profile_stack(profile, at)->parent;
    } while (flags & PERFDATA_FUNCTION_INLINED && at != PERFDATA_NONE);
    if (frame)
        o->location_of[stack] = intern(o, LOCATIONS, &o->list);
    *callers = at;
    return o->location_of[stack];
}

static uint32_t stack_of(struct pd_convert *x, struct otlp *o, uint32_t stack)
{
    struct pd_text locations = { 0 }, message = { 0 };
    if (o->stack_of[stack])
        return o->stack_of[stack];
    for (uint32_t at = stack; at != PERFDATA_NONE;)
        pd_pb_varint(&locations, location_of(x, o, at, &at));
    pd_pb_message(&message, STACK_LOCATIONS, &locations);
    o->stack_of[stack] = intern(o, STACKS, &message);
    pd_text_free(&locations);
    pd_text_free(&message);
    return o->stack_of[stack];
}

/* ---- profiles ---- */

static void put_sample(struct pd_convert *x, struct otlp *o, const struct perfdata_profile_sum *sum,
                       struct pd_text *out)
{
    const struct perfdata_profile_thread *thread = perfdata_profile_thread(
        x->profile, o->groups.first.data[sum->thread]);
    uint32_t group = x->options->group, stack = stack_of(x, o, sum->stack);
    struct pd_text attributes = { 0 };
    if (group != PERFDATA_EXPORT_TOGETHER)
        pd_pb_varint(&attributes, attribute_of(o, "thread.name", thread->comm, 0));
    if (group == PERFDATA_EXPORT_BY_PROCESS || group == PERFDATA_EXPORT_BY_THREAD)
        pd_pb_varint(&attributes, attribute_of(o, "process.pid", NULL, (int32_t)thread->pid));
    if (group == PERFDATA_EXPORT_BY_THREAD)
        pd_pb_varint(&attributes, attribute_of(o, "thread.id", NULL, (int32_t)thread->tid));
    pd_pb_uint(&o->message, SAMPLE_STACK, stack);
    if (attributes.length)
        pd_pb_message(&o->message, SAMPLE_ATTRIBUTES, &attributes);
    pd_pb_varint(&o->part, pd_convert_weight(x, sum->count, sum->weight));
    pd_pb_message(&o->message, SAMPLE_VALUES, &o->part);
    pd_pb_message(out, PROFILE_SAMPLE, &o->message);
    pd_text_free(&attributes);
}

/* The time of day, where the recording says how its clock relates to that. */
static uint64_t wall_clock(const struct pd_convert *x, uint64_t time)
{
    const struct pd_feature_clock_data *clock = x->recording ? &x->recording->features.clock_data
                                                             : NULL;
    return clock && clock->present ? clock->wall_clock + (time - clock->clock_time) : 0;
}

/* The event's sums are those from `from` to `to`. */
static void put_profile(struct pd_convert *x, struct otlp *o, uint32_t index, size_t from,
                        size_t to, struct pd_text *out)
{
    const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, index);
    bool count = x->options->flags & PERFDATA_EXPORT_COUNT;
    uint64_t first, last;
    uint32_t name = string_of(o, event->name),
             unit = string_of(o, count ? "count" : pd_convert_unit(event));
    pd_pb_uint(&o->message, TYPE_NAME, name);
    pd_pb_uint(&o->message, TYPE_UNIT, unit);
    pd_pb_message(out, PROFILE_TYPE, &o->message);
    for (size_t i = from; i < to; i++)
        put_sample(x, o, &o->sums.list.data[o->order[i]], out);
    if (perfdata_profile_times(x->profile, &first, &last) < 0)
        return;
    if (wall_clock(x, first))
        pd_pb_fixed64(out, PROFILE_TIME, wall_clock(x, first));
    pd_pb_uint(out, PROFILE_DURATION, last - first);
}

static void put_resource(const struct pd_convert *x, struct otlp *o, struct pd_text *out)
{
    const struct pd_features *f = x->recording ? &x->recording->features : NULL;
    const struct {
        const char *key, *value;
    } rows[] = {
        { "host.name", f ? f->hostname.text.text : NULL },
        { "host.arch", f ? f->arch.text.text : NULL },
        { "os.version", f ? f->osrelease.text.text : NULL },
    };
    for (size_t i = 0; i < PD_LENGTH(rows); i++) {
        if (!rows[i].value)
            continue;
        pd_convert_name(&o->name, rows[i].value, strlen(rows[i].value));
        pd_pb_message(&o->part, VALUE_STRING, &o->name);
        pd_pb_bytes(&o->list, PAIR_KEY, rows[i].key, strlen(rows[i].key));
        pd_pb_message(&o->list, PAIR_VALUE, &o->part);
        pd_pb_message(&o->message, 1, &o->list);
    }
    pd_pb_message(out, RESOURCE_RESOURCE, &o->message);
}

static void put_dictionary(struct pd_convert *x, struct otlp *o)
{
    struct pd_text dictionary = { 0 };
    for (unsigned table = MAPPINGS; table < TABLES; table++)
        for (uint32_t i = 0; i < pd_strings_count(&o->tables[table]); i++) {
            size_t length;
            const char *bytes = pd_strings_at(&o->tables[table], i, &length);
            pd_pb_bytes(&dictionary, table, bytes, length);
        }
    pd_pb_message(&x->out, DATA_DICTIONARY, &dictionary);
    pd_text_free(&dictionary);
}

static void measure(struct pd_convert *x, struct otlp *o)
{
    const perfdata_profile *profile = x->profile;
    for (uint32_t i = 0; i < perfdata_profile_frame_count(profile); i++) {
        const struct perfdata_profile_frame *frame = pd_profile_frame(profile, i);
        uint32_t object = pd_profile_function(profile, frame->function)->object;
        if (object == PERFDATA_NONE || !frame->address)
            continue;
        struct range *range = &o->ranges[object];
        range->least = range->most ? PD_MIN(range->least, frame->address) : frame->address;
        range->most = PD_MAX(range->most, frame->address);
    }
}

static perfdata_status put_all(struct pd_convert *x, struct otlp *o)
{
    static const char scope[] = "\n\bperfdata"; /* InstrumentationScope: its name */
    struct pd_text profile = { 0 }, scoped = { 0 }, resource = { 0 };
    put_resource(x, o, &resource);
    pd_pb_bytes(&scoped, SCOPE_SCOPE, scope, sizeof scope - 1);
    for (uint32_t i = 0; i < perfdata_profile_event_count(x->profile); i++) {
        if (!x->events[i] || !perfdata_profile_event(x->profile, i)->samples)
            continue;
        put_profile(x, o, i, o->begin[i], o->begin[i + 1], &profile);
        pd_pb_message(&scoped, SCOPE_PROFILE, &profile);
    }
    pd_pb_message(&resource, RESOURCE_SCOPE, &scoped);
    pd_pb_message(&x->out, DATA_RESOURCE, &resource);
    put_dictionary(x, o);
    pd_text_free(&profile);
    pd_text_free(&scoped);
    pd_text_free(&resource);
    for (unsigned table = MAPPINGS; table < TABLES; table++)
        x->out.failed |= o->tables[table].failed;
    return pd_convert_flush(x, true);
}

static bool sort_sums(struct pd_convert *x, struct otlp *o)
{
    const struct perfdata_profile_sum *sums = o->sums.list.data;
    size_t count = o->sums.list.count;
    o->order = malloc((count + 1) * sizeof *o->order);
    if (o->order)
        o->begin = pd_convert_sort(count ? &sums->event : NULL, sizeof *sums, count,
                                   perfdata_profile_event_count(x->profile), NULL, o->order);
    return o->begin;
}

static perfdata_status end(struct pd_convert *x)
{
    struct otlp *o = x->state = calloc(1, sizeof *o);
    if (!o)
        return pd_convert_no_memory(x);
    size_t stacks = (size_t)perfdata_profile_stack_count(x->profile) + 1;
    o->ranges = calloc((size_t)perfdata_profile_object_count(x->profile) + 1, sizeof *o->ranges);
    o->stack_of = calloc(stacks, sizeof *o->stack_of);
    o->location_of = calloc(stacks, sizeof *o->location_of);
    if (!o->ranges || !o->stack_of || !o->location_of)
        return pd_convert_no_memory(x);
    for (unsigned table = MAPPINGS; table < TABLES; table++)
        pd_strings_id(&o->tables[table], "", 0);
    measure(x, o);
    perfdata_status status = pd_convert_groups_make(x, &o->groups);
    if (status >= 0)
        status = pd_convert_sums_make(x, &o->groups, &o->sums);
    if (status >= 0 && !sort_sums(x, o))
        status = pd_convert_no_memory(x);
    return status < 0 ? status : put_all(x, o);
}

static void free_state(struct pd_convert *x)
{
    struct otlp *o = x->state;
    if (!o)
        return;
    for (unsigned table = MAPPINGS; table < TABLES; table++)
        pd_strings_free(&o->tables[table]);
    pd_convert_groups_free(&o->groups);
    pd_vec_free(&o->sums.list);
    pd_text_free(&o->list);
    pd_text_free(&o->message);
    pd_text_free(&o->part);
    pd_text_free(&o->name);
    free(o->order);
    free(o->begin);
    free(o->ranges);
    free(o->stack_of);
    free(o->location_of);
    free(o);
}

const struct pd_format pd_format_otlp = {
    .flags = PERFDATA_FORMAT_BINARY,
    .profile_flags = PERFDATA_PROFILE_SUMS_BY_COMM,
    .detail = PERFDATA_FRAMES_BY_ADDRESS,
    .end = end,
    .free = free_state,
};
