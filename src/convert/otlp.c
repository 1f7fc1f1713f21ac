/* SPDX-License-Identifier: MIT */
/* A profile -> OpenTelemetry's profiles (opentelemetry.proto.profiles.v1development.ProfilesData):
 * one profile for each event, all of which refer to the tables of one dictionary.
 *
 * In each table entry 0 is empty, and no entry is there twice or without being referred to: entries
 * are made when they are first needed, and equal bytes share one. Where the profile comes in parts,
 * this holds for stacks, and for locations with inlined functions, within each part only.
 *
 * A message's length stands before it, and tables come last: samples, and the tables of locations
 * and stacks, which are the large ones, wait in a spool until all is known. */
#include "container/container.h"
#include "convert/convert.h"
#include "convert/protobuf.h"
#include "convert/spool.h"
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

/* The profile of an event. */
struct samples {
    bool begun;
    uint32_t name, unit;
    struct pd_spool_stream stream;
};

struct otlp {
    struct pd_strings tables[TABLES]; /* of locations and stacks: those of the part */
    uint32_t before[TABLES];          /* entries but the empty one that the parts before made */
    struct pd_spool spool;
    struct pd_spool_stream kept[TABLES]; /* entries of these parts */
    struct samples *samples;             /* by event */
    uint32_t events;                     /* how many there are */
    bool parts;                          /* the profile comes in parts */
    struct pd_convert_groups groups;
    struct pd_convert_sums sums;
    uint32_t *order;              /* sums by event */
    size_t *begin;                /* by event: where its sums begin there */
    PD_VEC(struct range) ranges;  /* by object: addresses that occur */
    PD_VEC(uint32_t) stack_of;    /* by stack: entry, 0: none yet */
    PD_VEC(uint32_t) location_of; /* by stack: the entry of its first frame, 0: none yet */
    PD_VEC(uint32_t) plain;       /* the same by frame, unless that is inlined */
    struct pd_text list, message, part, name, locations, entry;
};

static uint32_t intern(struct otlp *o, unsigned table, struct pd_text *text)
{
    uint32_t id = pd_strings_id(&o->tables[table], text->data, text->length);
    o->tables[table].failed |= text->failed;
    text->length = 0;
    return id ? o->before[table] + id : 0;
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

static void put_mapping(struct pd_convert *x, struct otlp *o, uint32_t index)
{
    const struct perfdata_profile_object *object = perfdata_profile_object(x->profile, index);
    const struct range *range = &o->ranges.data[index];
    char build_id[2 * PD_BUILD_ID_MAX + 1];
    uint32_t attribute = 0, size, file;
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
}

/* An entry that cannot be written before the end of the run, which tells names and build-ids: the
 * number of what it is about stands in for it, behind a byte with which no message begins. */
struct later {
    uint8_t sign;
    uint32_t index, file;
};
enum { LATER = 0xff };

static uint32_t intern_later(struct otlp *o, unsigned table, uint32_t index, uint32_t file)
{
    struct later later;
    memset(&later, 0, sizeof later); /* its padding is compared, too */
    later.sign = LATER;
    later.index = index;
    later.file = file;
    pd_text_bytes(&o->entry, &later, sizeof later);
    return intern(o, table, &o->entry);
}

static uint32_t mapping_of(struct pd_convert *x, struct otlp *o, uint32_t index)
{
    if (index == PERFDATA_NONE)
        return 0;
    if (o->parts)
        return intern_later(o, MAPPINGS, index, 0);
    put_mapping(x, o, index);
    return intern(o, MAPPINGS, &o->message);
}

static void put_function(struct pd_convert *x, struct otlp *o, uint32_t index, uint32_t file)
{
    pd_convert_function(x, index, &o->name);
    const uint32_t name = intern(o, STRINGS, &o->name);
    pd_pb_uint(&o->part, FUNCTION_NAME, name);
    pd_pb_uint(&o->part, FUNCTION_FILE, file);
}

/* Unknown functions are called by their object. */
static uint32_t function_of(struct pd_convert *x, struct otlp *o, uint32_t index, uint32_t file)
{
    if (o->parts && pd_profile_function(x->profile, index)->flags & PERFDATA_FUNCTION_UNKNOWN)
        return intern_later(o, FUNCTIONS, index, file);
    put_function(x, o, index, file);
    return intern(o, FUNCTIONS, &o->part);
}

static void put_line(struct pd_convert *x, struct otlp *o,
                     const struct perfdata_profile_frame *frame)
{
    const uint32_t file = frame->file ? string_of(o, frame->file) : 0;
    const uint32_t function = function_of(x, o, frame->function, file);
    pd_pb_uint(&o->part, LINE_FUNCTION, function);
    pd_pb_uint(&o->part, LINE_LINE, frame->line);
    pd_pb_message(&o->list, LOCATION_LINE, &o->part);
}

/* The function that the stack's first frame was inlined into is a further line of the location, and
 * so on; *callers becomes the rest of the stack. */
static uint32_t make_location(struct pd_convert *x, struct otlp *o, uint32_t stack,
                              uint32_t *callers)
{
    const perfdata_profile *profile = x->profile;
    const struct perfdata_profile_frame *frame = pd_profile_frame(
        profile, pd_profile_stack(profile, stack)->frame);
    uint32_t at = stack, flags;
    const uint32_t mapping = mapping_of(x, o,
                                        pd_profile_function(profile, frame->function)->object);
    pd_pb_uint(&o->list, LOCATION_MAPPING, mapping);
    pd_pb_uint(&o->list, LOCATION_ADDRESS, frame->address);
    do {
        const struct perfdata_profile_frame *line = pd_profile_frame(
            profile, pd_profile_stack(profile, at)->frame);
        put_line(x, o, line);
        flags = pd_profile_function(profile, line->function)->flags;
        at = pd_profile_stack(profile, at)->parent;
    } while (flags & PERFDATA_FUNCTION_INLINED && at != PERFDATA_NONE);
    *callers = at;
    return intern(o, LOCATIONS, &o->list);
}

static uint32_t location_of(struct pd_convert *x, struct otlp *o, uint32_t stack, uint32_t *callers)
{
    const perfdata_profile *profile = x->profile;
    const struct perfdata_profile_stack *first = pd_profile_stack(profile, stack), *at = first;
    uint32_t *known = &o->plain.data[first->frame];
    if (*known) {
        *callers = first->parent;
        return *known;
    }
    if (pd_profile_function(profile, pd_profile_frame(profile, first->frame)->function)->flags &
        PERFDATA_FUNCTION_INLINED)
        known = &o->location_of.data[stack];
    if (!*known)
        return *known = make_location(x, o, stack, callers);
    while (pd_profile_function(profile, pd_profile_frame(profile, at->frame)->function)->flags &
               PERFDATA_FUNCTION_INLINED &&
           at->parent != PERFDATA_NONE)
        at = pd_profile_stack(profile, at->parent);
    *callers = at->parent;
    return *known;
}

static uint32_t stack_of(struct pd_convert *x, struct otlp *o, uint32_t stack)
{
    uint32_t *known = &o->stack_of.data[stack];
    if (*known)
        return *known;
    for (uint32_t at = stack; at != PERFDATA_NONE;)
        pd_pb_varint(&o->locations, location_of(x, o, at, &at));
    pd_pb_message(&o->message, STACK_LOCATIONS, &o->locations);
    return *known = intern(o, STACKS, &o->message);
}

/* ---- profiles ---- */

static perfdata_status put_sample(struct pd_convert *x, struct otlp *o,
                                  const struct perfdata_profile_sum *sum)
{
    const struct perfdata_profile_thread *thread = perfdata_profile_thread(
        x->profile, o->groups.first.data[sum->thread]);
    uint32_t group = x->options->group, stack = stack_of(x, o, sum->stack);
    struct pd_text *attributes = &o->locations;
    if (group != PERFDATA_EXPORT_TOGETHER)
        pd_pb_varint(attributes, attribute_of(o, "thread.name", thread->comm, 0));
    if (group == PERFDATA_EXPORT_BY_PROCESS || group == PERFDATA_EXPORT_BY_THREAD)
        pd_pb_varint(attributes, attribute_of(o, "process.pid", NULL, (int32_t)thread->pid));
    if (group == PERFDATA_EXPORT_BY_THREAD)
        pd_pb_varint(attributes, attribute_of(o, "thread.id", NULL, (int32_t)thread->tid));
    pd_pb_uint(&o->message, SAMPLE_STACK, stack);
    if (attributes->length)
        pd_pb_message(&o->message, SAMPLE_ATTRIBUTES, attributes);
    pd_pb_varint(&o->part, pd_convert_weight(x, sum->count, sum->weight));
    pd_pb_message(&o->message, SAMPLE_VALUES, &o->part);
    pd_pb_message(&o->entry, PROFILE_SAMPLE, &o->message);
    return pd_spool_put(&o->spool, &o->samples[sum->event].stream, &o->entry);
}

/* The time of day, where the recording says how its clock relates to that. */
static uint64_t wall_clock(const struct pd_convert *x, uint64_t time)
{
    const struct pd_feature_clock_data *clock = x->recording ? &x->recording->features.clock_data
                                                             : NULL;
    return clock && clock->present ? clock->wall_clock + (time - clock->clock_time) : 0;
}

/* The event's sums are those from `from` to `to`. */
static perfdata_status put_samples(struct pd_convert *x, struct otlp *o, uint32_t index,
                                   size_t from, size_t to)
{
    const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, index);
    struct samples *samples = &o->samples[index];
    perfdata_status status = PERFDATA_OK;
    if (!samples->begun) {
        bool count = x->options->flags & PERFDATA_EXPORT_COUNT;
        samples->begun = true;
        samples->name = string_of(o, event->name);
        samples->unit = string_of(o, count ? "count" : pd_convert_unit(event));
    }
    for (size_t i = from; i < to && status >= 0; i++)
        status = put_sample(x, o, &o->sums.list.data[o->order[i]]);
    return status;
}

/* The entries of a table that grew in this part are kept, and it begins anew. */
static perfdata_status keep_table(struct pd_convert *x, struct otlp *o, unsigned table)
{
    struct pd_strings *entries = &o->tables[table];
    const uint32_t count = pd_strings_count(entries);
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 1; i < count && status >= 0; i++) {
        size_t length;
        const char *bytes = pd_strings_at(entries, i, &length);
        pd_pb_bytes(&o->entry, table, bytes, length);
        status = pd_spool_put(&o->spool, &o->kept[table], &o->entry);
    }
    if (status < 0)
        return status;
    if (entries->failed)
        return pd_convert_no_memory(x);
    if (count - 1 > UINT32_MAX - 1 - o->before[table])
        return pd_fail(x->context, PERFDATA_ERROR_LIMIT, -1, "too many stacks for otlp");
    o->before[table] += count - 1;
    pd_strings_free(entries);
    *entries = (struct pd_strings){ 0 };
    pd_strings_id(entries, "", 0);
    return status;
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

/* ---- the whole ---- */

static bool measure(struct pd_convert *x, struct otlp *o)
{
    const perfdata_profile *profile = x->profile;
    if (!pd_vec_widen_to(&o->ranges, (size_t)perfdata_profile_object_count(profile) + 1))
        return false;
    for (uint32_t i = 0; i < perfdata_profile_frame_count(profile); i++) {
        const struct perfdata_profile_frame *frame = pd_profile_frame(profile, i);
        uint32_t object = pd_profile_function(profile, frame->function)->object;
        if (object == PERFDATA_NONE || !frame->address)
            continue;
        struct range *range = &o->ranges.data[object];
        range->least = range->most ? PD_MIN(range->least, frame->address) : frame->address;
        range->most = PD_MAX(range->most, frame->address);
    }
    return true;
}

static bool sort_sums(struct pd_convert *x, struct otlp *o)
{
    const struct perfdata_profile_sum *sums = o->sums.list.data;
    size_t count = o->sums.list.count;
    free(o->order);
    free(o->begin);
    o->begin = NULL;
    o->order = malloc((count + 1) * sizeof *o->order);
    if (o->order)
        o->begin = pd_convert_sort(count ? &sums->event : NULL, sizeof *sums, count,
                                   perfdata_profile_event_count(x->profile), NULL, o->order);
    return o->begin;
}

static perfdata_status start(struct pd_convert *x, bool parts)
{
    struct otlp *o = x->state = calloc(1, sizeof *o);
    if (!o)
        return pd_convert_no_memory(x);
    pd_spool_init(&o->spool, x);
    o->parts = parts;
    const uint32_t events = perfdata_profile_event_count(x->profile);
    o->samples = calloc((size_t)events + 1, sizeof *o->samples);
    if (!o->samples)
        return pd_convert_no_memory(x);
    o->events = events;
    perfdata_status status = PERFDATA_OK;
    for (unsigned table = MAPPINGS; table < TABLES && status >= 0; table++) {
        pd_strings_id(&o->tables[table], "", 0);
        pd_pb_bytes(&o->entry, table, "", 0);
        status = pd_spool_put(&o->spool, &o->kept[table], &o->entry);
    }
    return status;
}

/* Writes the samples of the profile as it is to the spool. */
static perfdata_status put_sums(struct pd_convert *x, struct otlp *o)
{
    const perfdata_profile *profile = x->profile;
    const size_t stacks = (size_t)perfdata_profile_stack_count(profile) + 1;
    o->stack_of.count = o->location_of.count = o->sums.list.count = 0;
    pd_convert_groups_free(&o->groups);
    if (!pd_vec_widen_to(&o->stack_of, stacks) || !pd_vec_widen_to(&o->location_of, stacks) ||
        !pd_vec_widen_to(&o->plain, (size_t)perfdata_profile_frame_count(profile) + 1))
        return pd_convert_no_memory(x);
    perfdata_status status = pd_convert_groups_make(x, &o->groups);
    if (status >= 0)
        status = pd_convert_sums_make(x, &o->groups, &o->sums);
    if (status < 0)
        return status;
    if (!sort_sums(x, o))
        return pd_convert_no_memory(x);
    for (uint32_t i = 0; i < perfdata_profile_event_count(profile) && status >= 0; i++)
        if (x->events[i] && perfdata_profile_event(profile, i)->samples)
            status = put_samples(x, o, i, o->begin[i], o->begin[i + 1]);
    if (status >= 0)
        status = keep_table(x, o, LOCATIONS);
    return status < 0 ? status : keep_table(x, o, STACKS);
}

static perfdata_status part(struct pd_convert *x, bool frames)
{
    perfdata_status status = x->state ? PERFDATA_OK : start(x, true);
    struct otlp *o = x->state;
    if (status >= 0)
        status = put_sums(x, o);
    if (status < 0 || !frames)
        return status;
    if (!measure(x, o))
        return pd_convert_no_memory(x);
    o->plain.count = 0;
    return status;
}

/* The entries of a table that had to wait for the end. */
static perfdata_status put_late(struct pd_convert *x, struct otlp *o, unsigned table)
{
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 1; i < pd_strings_count(&o->tables[table]) && status >= 0; i++) {
        struct later later;
        size_t length;
        const char *bytes = pd_strings_at(&o->tables[table], i, &length);
        if (length == sizeof later && (uint8_t)*bytes == LATER) {
            memcpy(&later, bytes, sizeof later);
            if (table == MAPPINGS)
                put_mapping(x, o, later.index);
            else
                put_function(x, o, later.index, later.file);
            pd_pb_message(&o->entry, table, table == MAPPINGS ? &o->message : &o->part);
        } else {
            pd_pb_bytes(&o->entry, table, bytes, length);
        }
        status = pd_spool_put(&o->spool, &o->kept[table], &o->entry);
    }
    return status;
}

static perfdata_status put_dictionary(struct pd_convert *x, struct otlp *o)
{
    uint64_t length = 0;
    perfdata_status status = put_late(x, o, MAPPINGS);
    if (status >= 0)
        status = put_late(x, o, FUNCTIONS);
    if (status >= 0)
        status = keep_table(x, o, STRINGS);
    if (status >= 0)
        status = keep_table(x, o, ATTRIBUTES);
    for (unsigned table = MAPPINGS; table < TABLES; table++)
        length += o->kept[table].length;
    pd_pb_tag(&x->out, DATA_DICTIONARY, PD_PB_BYTES);
    pd_pb_varint(&x->out, length);
    for (unsigned table = MAPPINGS; table < TABLES && status >= 0; table++)
        status = pd_spool_copy(&o->spool, &o->kept[table]);
    return status;
}

/* How long a message is with its tag and its length. */
static uint64_t whole(uint64_t length)
{
    char room[PD_PB_VARINT_MAX];
    return 1 + (uint64_t)(pd_pb_put(room, length) - room) + length;
}

/* What stands around the samples of an event. */
static void put_frame(struct pd_convert *x, struct otlp *o, const struct samples *samples,
                      struct pd_text *before, struct pd_text *behind)
{
    uint64_t first, last;
    pd_pb_uint(&o->message, TYPE_NAME, samples->name);
    pd_pb_uint(&o->message, TYPE_UNIT, samples->unit);
    before->length = behind->length = 0;
    pd_pb_message(before, PROFILE_TYPE, &o->message);
    if (perfdata_profile_times(x->profile, &first, &last) < 0)
        return;
    if (wall_clock(x, first))
        pd_pb_fixed64(behind, PROFILE_TIME, wall_clock(x, first));
    pd_pb_uint(behind, PROFILE_DURATION, last - first);
}

static perfdata_status put_profiles(struct pd_convert *x, struct otlp *o, struct pd_text *before,
                                    struct pd_text *behind)
{
    static const char scope[] = "\n\bperfdata"; /* InstrumentationScope: its name */
    uint64_t scoped = whole(sizeof scope - 1);
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 0; i < o->events; i++) {
        if (!o->samples[i].begun)
            continue;
        put_frame(x, o, &o->samples[i], before, behind);
        scoped += whole(before->length + o->samples[i].stream.length + behind->length);
    }
    put_resource(x, o, &o->entry);
    pd_pb_tag(&x->out, DATA_RESOURCE, PD_PB_BYTES);
    pd_pb_varint(&x->out, o->entry.length + whole(scoped));
    pd_text_bytes(&x->out, o->entry.data, o->entry.length);
    x->out.failed |= o->entry.failed;
    o->entry.length = 0;
    pd_pb_tag(&x->out, RESOURCE_SCOPE, PD_PB_BYTES);
    pd_pb_varint(&x->out, scoped);
    pd_pb_bytes(&x->out, SCOPE_SCOPE, scope, sizeof scope - 1);
    for (uint32_t i = 0; i < o->events && status >= 0; i++) {
        const struct samples *samples = &o->samples[i];
        if (!samples->begun)
            continue;
        put_frame(x, o, samples, before, behind);
        pd_pb_tag(&x->out, SCOPE_PROFILE, PD_PB_BYTES);
        pd_pb_varint(&x->out, before->length + samples->stream.length + behind->length);
        pd_text_bytes(&x->out, before->data, before->length);
        status = pd_spool_copy(&o->spool, &samples->stream);
        pd_text_bytes(&x->out, behind->data, behind->length);
    }
    x->out.failed |= before->failed | behind->failed;
    return status;
}

static perfdata_status end(struct pd_convert *x)
{
    struct pd_text before = { 0 }, behind = { 0 };
    perfdata_status status = x->state ? PERFDATA_OK : start(x, false);
    struct otlp *o = x->state;
    if (status >= 0 && !measure(x, o))
        status = pd_convert_no_memory(x);
    if (status >= 0)
        status = put_sums(x, o);
    if (status >= 0)
        status = put_profiles(x, o, &before, &behind);
    if (status >= 0)
        status = put_dictionary(x, o);
    pd_text_free(&before);
    pd_text_free(&behind);
    if (status < 0)
        return status;
    for (unsigned table = MAPPINGS; table < TABLES; table++)
        x->out.failed |= o->tables[table].failed;
    return pd_convert_flush(x, true);
}

static void free_state(struct pd_convert *x)
{
    struct otlp *o = x->state;
    if (!o)
        return;
    for (unsigned table = MAPPINGS; table < TABLES; table++)
        pd_strings_free(&o->tables[table]);
    for (unsigned table = MAPPINGS; table < TABLES; table++)
        pd_spool_free(&o->kept[table]);
    for (uint32_t i = 0; i < o->events; i++)
        pd_spool_free(&o->samples[i].stream);
    pd_spool_close(&o->spool);
    pd_convert_groups_free(&o->groups);
    pd_vec_free(&o->sums.list);
    pd_text_free(&o->list);
    pd_text_free(&o->message);
    pd_text_free(&o->part);
    pd_text_free(&o->name);
    pd_text_free(&o->locations);
    pd_text_free(&o->entry);
    free(o->order);
    free(o->begin);
    free(o->samples);
    pd_vec_free(&o->ranges);
    pd_vec_free(&o->stack_of);
    pd_vec_free(&o->location_of);
    pd_vec_free(&o->plain);
    free(o);
}

const struct pd_format pd_format_otlp = {
    .flags = PERFDATA_FORMAT_BINARY,
    .profile_flags = PERFDATA_PROFILE_SUMS_BY_COMM,
    .detail = PERFDATA_FRAMES_BY_ADDRESS,
    .part = part,
    .end = end,
    .free = free_state,
};
