/* SPDX-License-Identifier: MIT */
/* Samples -> a trace of Perfetto: a StackSample packet each, whose stacks, frames, names, tasks and
 * events are interned where they are first needed. What the packets have in common comes first, the
 * threads' names last. */
#include "convert/convert.h"
#include "convert/protobuf.h"
#include "base/hash.h"
#include <stdlib.h>

/* Field numbers. */
enum {
    TRACE_PACKET = 1,
    PACKET_PROCESS_TREE = 2,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_FIRST = 87,
    PACKET_STACK_SAMPLE = 135,
    INTERNED_FUNCTION = 5,
    INTERNED_FRAME = 6,
    INTERNED_STACK = 7,
    INTERNED_PATH = 17,
    INTERNED_SOURCE = 18,
    INTERNED_MAPPING = 19,
    INTERNED_TASK = 48,
    INTERNED_PLACE = 49,
    INTERNED_COUNTER = 50,
    IID = 1,
    STRING_BYTES = 2,
    MAPPING_PATH = 7,
    FRAME_FUNCTION = 2,
    FRAME_MAPPING = 3,
    FRAME_ADDRESS = 4,
    FRAME_SOURCE = 5,
    FRAME_LINE = 6,
    STACK_FRAMES = 2,
    TASK_PID = 2,
    TASK_TID = 3,
    PLACE_CPU = 2,
    PLACE_MODE = 3,
    COUNTER_NAME = 2,
    COUNTER_UNIT_TEXT = 4,
    SAMPLE_TASK = 2,
    SAMPLE_PLACE = 4,
    SAMPLE_STACK = 6,
    SAMPLE_COUNTER = 10,
    SAMPLE_WEIGHT = 11,
    TREE_PROCESS = 1,
    TREE_THREAD = 2,
    PROCESS_PID = 1,
    PROCESS_COMMAND = 3,
    PROCESS_IS_COMM = 9,
    THREAD_TID = 1,
    THREAD_NAME = 2,
    THREAD_PROCESS = 3
};

enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2, SEQUENCE = 1 };

/* Kinds of things that are interned, by their number in the profile; the number in the trace is one
 * more. */
enum { FUNCTION, FRAME, STACK, OBJECT, THREAD, EVENT, KINDS };

struct known {
    PD_VEC(bool) is;
};

struct perfetto {
    struct known known[KINDS];
    struct pd_map64 places, sources; /* (CPU, mode), a file's text by its address -> number */
    uint32_t place_count, source_count;
    bool begun;
    struct pd_text interned, message, packet, name, list;
};

/* True the first time it is asked of a thing. */
static bool is_new(struct pd_convert *x, unsigned kind, uint32_t number)
{
    struct perfetto *p = x->state;
    struct known *known = &p->known[kind];
    while (known->is.count <= number)
        if (!pd_vec_push(&known->is, false)) {
            x->out.failed = true;
            return false;
        }
    bool was = known->is.data[number];
    known->is.data[number] = true;
    return !was;
}

static void put_text(struct perfetto *p, unsigned field, uint64_t iid)
{
    pd_pb_uint(&p->message, IID, iid);
    pd_pb_bytes(&p->message, STRING_BYTES, p->name.data, p->name.length);
    p->message.failed |= p->name.failed;
    p->name.length = 0;
    pd_pb_message(&p->interned, field, &p->message);
}

/* The number of a file's name, which lives as long as the profile. */
static uint32_t source_of(struct pd_convert *x, const char *file)
{
    struct perfetto *p = x->state;
    uint32_t number = pd_map64_get(&p->sources, (uintptr_t)file);
    if (number != PD_MAP64_NONE)
        return number;
    x->out.failed |= !pd_map64_set(&p->sources, (uintptr_t)file, ++p->source_count);
    pd_convert_name(&p->name, file, strlen(file));
    put_text(p, INTERNED_SOURCE, p->source_count);
    return p->source_count;
}

static void intern_frame(struct pd_convert *x, uint32_t number)
{
    struct perfetto *p = x->state;
    const struct perfdata_profile_frame *frame = pd_profile_frame(x->profile, number);
    uint32_t object = pd_profile_function(x->profile, frame->function)->object, source = 0;
    if (!is_new(x, FRAME, number))
        return;
    if (is_new(x, FUNCTION, frame->function)) {
        pd_convert_function(x, frame->function, &p->name);
        put_text(p, INTERNED_FUNCTION, (uint64_t)frame->function + 1);
    }
    if (object != PERFDATA_NONE && is_new(x, OBJECT, object)) {
        const char *path = perfdata_profile_object(x->profile, object)->path;
        pd_convert_name(&p->name, path, strlen(path));
        put_text(p, INTERNED_PATH, (uint64_t)object + 1);
        pd_pb_uint(&p->message, IID, (uint64_t)object + 1);
        pd_pb_uint(&p->message, MAPPING_PATH, (uint64_t)object + 1);
        pd_pb_message(&p->interned, INTERNED_MAPPING, &p->message);
    }
    if (frame->file)
        source = source_of(x, frame->file);
    pd_pb_uint(&p->message, IID, (uint64_t)number + 1);
    pd_pb_uint(&p->message, FRAME_FUNCTION, (uint64_t)frame->function + 1);
    pd_pb_uint(&p->message, FRAME_MAPPING, object == PERFDATA_NONE ? 0 : (uint64_t)object + 1);
    pd_pb_uint(&p->message, FRAME_ADDRESS, frame->address);
    pd_pb_uint(&p->message, FRAME_SOURCE, source);
    pd_pb_uint(&p->message, FRAME_LINE, frame->line);
    pd_pb_message(&p->interned, INTERNED_FRAME, &p->message);
}

/* A stack's frames are written callers first. */
static void intern_stack(struct pd_convert *x, uint32_t number)
{
    struct perfetto *p = x->state;
    if (!is_new(x, STACK, number))
        return;
    for (uint32_t at = number; at != PERFDATA_NONE; at = pd_profile_stack(x->profile, at)->parent)
        intern_frame(x, pd_profile_stack(x->profile, at)->frame);
    size_t depth = pd_profile_stack(x->profile, number)->depth, i = depth;
    uint32_t *frames = calloc(depth, sizeof *frames);
    for (uint32_t at = number; frames && at != PERFDATA_NONE;
         at = pd_profile_stack(x->profile, at)->parent)
        frames[--i] = pd_profile_stack(x->profile, at)->frame;
    pd_pb_uint(&p->message, IID, (uint64_t)number + 1);
    for (i = 0; frames && i < depth; i++)
        pd_pb_uint(&p->message, STACK_FRAMES, (uint64_t)frames[i] + 1);
    pd_pb_message(&p->interned, INTERNED_STACK, &p->message);
    x->out.failed |= !frames;
    free(frames);
}

static void intern_task(struct pd_convert *x, uint32_t number)
{
    struct perfetto *p = x->state;
    const struct perfdata_profile_thread *thread = pd_profile_thread(x->profile, number);
    if (!is_new(x, THREAD, number))
        return;
    pd_pb_uint(&p->message, IID, (uint64_t)number + 1);
    if (thread->pid != UINT32_MAX)
        pd_pb_uint(&p->message, TASK_PID, thread->pid);
    if (thread->tid != UINT32_MAX)
        pd_pb_uint(&p->message, TASK_TID, thread->tid);
    pd_pb_message(&p->interned, INTERNED_TASK, &p->message);
}

static void intern_event(struct pd_convert *x, uint32_t number)
{
    struct perfetto *p = x->state;
    const struct perfdata_profile_event *event = perfdata_profile_event(x->profile, number);
    const char *unit = x->options->flags & PERFDATA_EXPORT_COUNT ? "count" : pd_convert_unit(event);
    if (!is_new(x, EVENT, number))
        return;
    pd_pb_uint(&p->message, IID, (uint64_t)number + 1);
    pd_convert_name(&p->name, event->name, strlen(event->name));
    pd_pb_message(&p->message, COUNTER_NAME, &p->name);
    pd_pb_bytes(&p->message, COUNTER_UNIT_TEXT, unit, strlen(unit));
    pd_pb_message(&p->interned, INTERNED_COUNTER, &p->message);
}

/* The number of a CPU with a mode; 0: nothing is known of either. */
static uint32_t place_of(struct pd_convert *x, uint32_t cpu, uint32_t mode)
{
    struct perfetto *p = x->state;
    uint64_t key = (uint64_t)cpu << 32 | mode;
    if (cpu == UINT32_MAX && !mode)
        return 0;
    uint32_t number = pd_map64_get(&p->places, key);
    if (number != PD_MAP64_NONE)
        return number;
    x->out.failed |= !pd_map64_set(&p->places, key, ++p->place_count);
    pd_pb_uint(&p->message, IID, p->place_count);
    if (cpu != UINT32_MAX) {
        pd_pb_tag(&p->message, PLACE_CPU, PD_PB_VARINT); /* 0 is a CPU */
        pd_pb_varint(&p->message, cpu);
    }
    pd_pb_uint(&p->message, PLACE_MODE, mode);
    pd_pb_message(&p->interned, INTERNED_PLACE, &p->message);
    return p->place_count;
}

/* ---- packets ---- */

static perfdata_status begin(struct pd_convert *x)
{
    x->state = calloc(1, sizeof(struct perfetto));
    return x->state ? PERFDATA_OK : pd_convert_no_memory(x);
}

static void put_packet(struct pd_convert *x)
{
    struct perfetto *p = x->state;
    pd_pb_uint(&p->packet, PACKET_SEQUENCE, SEQUENCE);
    pd_pb_uint(&p->packet, PACKET_FLAGS,
               p->begun ? FLAG_NEEDS_STATE : FLAG_CLEARED | FLAG_NEEDS_STATE);
    pd_pb_uint(&p->packet, PACKET_FIRST, !p->begun);
    p->begun = true;
    if (p->interned.length)
        pd_pb_message(&p->packet, PACKET_INTERNED, &p->interned);
    pd_pb_message(&x->out, TRACE_PACKET, &p->packet);
}

static void put_sample(struct pd_convert *x, const struct perfdata_samples *samples, size_t i)
{
    struct perfetto *p = x->state;
    const uint64_t *mode = samples->columns[PERFDATA_COLUMN_MODE];
    /* Perfetto's modes by the kernel's: unknown, kernel, user, hypervisor, a guest's kernel and
     * user. */
    static const uint8_t modes[] = { 0, 2, 1, 3, 5, 4 };
    uint64_t own = mode ? mode[i] : 0;
    uint32_t place = place_of(x, samples->cpu[i], own < sizeof modes ? modes[own] : 0);
    intern_stack(x, samples->stack[i]);
    intern_task(x, samples->thread[i]);
    intern_event(x, samples->event[i]);
    if (samples->time[i] != UINT64_MAX)
        pd_pb_uint(&p->packet, PACKET_TIMESTAMP, samples->time[i]);
    pd_pb_uint(&p->list, SAMPLE_TASK, (uint64_t)samples->thread[i] + 1);
    pd_pb_uint(&p->list, SAMPLE_PLACE, place);
    pd_pb_uint(&p->list, SAMPLE_STACK, (uint64_t)samples->stack[i] + 1);
    pd_pb_uint(&p->list, SAMPLE_COUNTER, (uint64_t)samples->event[i] + 1);
    pd_pb_uint(&p->list, SAMPLE_WEIGHT, pd_convert_weight(x, 1, samples->weight[i]));
    pd_pb_message(&p->packet, PACKET_STACK_SAMPLE, &p->list);
    put_packet(x);
}

static perfdata_status take_samples(struct pd_convert *x, const struct perfdata_samples *samples)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < samples->count && status >= 0; i++) {
        if (!x->events[samples->event[i]])
            continue;
        put_sample(x, samples, i);
        status = pd_convert_flush(x, false);
    }
    return status;
}

/* Each thread has the last name that it had. */
static void put_tree(struct pd_convert *x)
{
    struct perfetto *p = x->state;
    for (uint32_t i = 0; i < perfdata_profile_thread_count(x->profile); i++) {
        const struct perfdata_profile_thread *thread = perfdata_profile_thread(x->profile, i);
        if (thread->tid == UINT32_MAX || thread->pid == UINT32_MAX)
            continue;
        pd_convert_name(&p->name, thread->comm, strlen(thread->comm));
        if (thread->pid == thread->tid) {
            pd_pb_uint(&p->message, PROCESS_PID, thread->pid);
            pd_pb_bytes(&p->message, PROCESS_COMMAND, p->name.data, p->name.length);
            pd_pb_uint(&p->message, PROCESS_IS_COMM, 1);
            pd_pb_message(&p->list, TREE_PROCESS, &p->message);
        }
        pd_pb_uint(&p->message, THREAD_TID, thread->tid);
        pd_pb_message(&p->message, THREAD_NAME, &p->name);
        pd_pb_uint(&p->message, THREAD_PROCESS, thread->pid);
        pd_pb_message(&p->list, TREE_THREAD, &p->message);
    }
}

static perfdata_status end(struct pd_convert *x)
{
    struct perfetto *p = x->state;
    uint64_t first, last;
    put_tree(x);
    if (perfdata_profile_times(x->profile, &first, &last) >= 0)
        pd_pb_uint(&p->packet, PACKET_TIMESTAMP, last);
    pd_pb_message(&p->packet, PACKET_PROCESS_TREE, &p->list);
    put_packet(x);
    return pd_convert_flush(x, true);
}

static void free_state(struct pd_convert *x)
{
    struct perfetto *p = x->state;
    if (!p)
        return;
    for (unsigned kind = 0; kind < KINDS; kind++)
        pd_vec_free(&p->known[kind].is);
    pd_map64_free(&p->places);
    pd_map64_free(&p->sources);
    pd_text_free(&p->interned);
    pd_text_free(&p->message);
    pd_text_free(&p->packet);
    pd_text_free(&p->name);
    pd_text_free(&p->list);
    free(p);
}

const struct pd_format pd_format_perfetto = {
    .flags = PERFDATA_FORMAT_BINARY | PERFDATA_FORMAT_SAMPLES,
    .profile_flags = PERFDATA_PROFILE_NO_SUMS,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .columns = 1u << PERFDATA_COLUMN_MODE,
    .begin = begin,
    .samples = take_samples,
    .end = end,
    .free = free_state,
};
