/* SPDX-License-Identifier: MIT */
/* Events in order -> packets of a file for each CPU. */
#include "convert/ctf/ctf.h"

/* A packet is written when it is so large, all of them when they hold so much together. */
enum { PACKET_SIZE = 1 << 16, HELD_SIZE = 1 << 24 };
/* No Linux has more CPUs; what says it ran on a later one goes where perf puts it, to CPU 0. */
enum { CPU_LIMIT = 8192 };

#define CTF_MAGIC 0xc1fc1fc1u

static struct pd_ctf_stream *stream_of(struct pd_ctf_streams *streams, uint32_t cpu)
{
    uint32_t index = pd_map64_get(&streams->by_cpu, cpu);
    if (index != PD_MAP64_NONE)
        return &streams->list.data[index];
    index = (uint32_t)streams->list.count;
    if (!pd_vec_push(&streams->list, (struct pd_ctf_stream){ .cpu = cpu }) ||
        !pd_map64_set(&streams->by_cpu, cpu, index))
        return NULL;
    return &streams->list.data[index];
}

/* Random numbers would make each export differ: the trace is known by what is in it. */
static void make_uuid(struct pd_ctf_streams *streams, const struct pd_text *content)
{
    enum { VERSION_AT = 6, VARIANT_AT = 8, CUSTOM = 0x80, RFC = 0x80 };
    if (streams->has_uuid)
        return;
    uint64_t digest = content ? pd_digest(content->data, content->length, 0) : 0;
    pd_store64(streams->uuid, pd_digest64(digest), false);
    pd_store64(streams->uuid + 8, pd_digest64(digest + 1), false);
    streams->uuid[VERSION_AT] = (uint8_t)((streams->uuid[VERSION_AT] & 0x0f) | CUSTOM);
    streams->uuid[VARIANT_AT] = (uint8_t)((streams->uuid[VARIANT_AT] & 0x3f) | RFC);
    streams->has_uuid = true;
}

static perfdata_status write_packet(struct pd_ctf_streams *streams, size_t index)
{
    enum { HEAD_SIZE = 4 + 16 + 4 + 5 * 8 + 4 };
    struct pd_ctf_stream *stream = &streams->list.data[index];
    struct pd_text *out = &streams->x->out;
    char name[32];
    bool wanted;
    if (!stream->content.length)
        return PERFDATA_OK;
    make_uuid(streams, &stream->content);
    snprintf(name, sizeof name, PD_CTF_STREAM "%zu", index);
    perfdata_status status = pd_convert_table(streams->x, name, &wanted);
    if (status < 0)
        return status;
    uint64_t bits = (HEAD_SIZE + (uint64_t)stream->content.length) * 8;
    pd_ctf_put(out, CTF_MAGIC, 4);
    pd_text_bytes(out, streams->uuid, sizeof streams->uuid);
    pd_ctf_put(out, 0, 4); /* the class of the stream: there is one */
    pd_ctf_put(out, stream->first, 8);
    pd_ctf_put(out, stream->last, 8);
    pd_ctf_put(out, bits, 8);
    pd_ctf_put(out, bits, 8);
    pd_ctf_put(out, 0, 8); /* discarded by the tracer: unknown, what was lost is told at the end */
    pd_ctf_put(out, stream->cpu, 4);
    pd_text_bytes(out, stream->content.data, stream->content.length);
    streams->held -= stream->content.length;
    stream->content.length = 0;
    return pd_convert_flush(streams->x, true);
}

static perfdata_status write_all(struct pd_ctf_streams *streams)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < streams->list.count && status >= 0; i++) {
        status = write_packet(streams, i);
        pd_text_free(&streams->list.data[i].content);
    }
    return status;
}

perfdata_status pd_ctf_streams_add(struct pd_ctf_streams *streams, const struct pd_ctf_head *head,
                                   const char *fields)
{
    bool beyond = head->cpu >= CPU_LIMIT;
    struct pd_ctf_stream *stream = stream_of(streams, beyond ? 0 : head->cpu);
    if (!stream)
        return pd_convert_no_memory(streams->x);
    streams->beyond += beyond;
    /* A stream's time never goes back, or readers refuse the whole trace. */
    streams->late += head->time < stream->last;
    uint64_t time = PD_MAX(head->time, stream->last);
    if (!stream->content.length)
        stream->first = time;
    stream->last = time;
    size_t before = stream->content.length;
    pd_ctf_put(&stream->content, head->event, 4);
    pd_ctf_put(&stream->content, time, 8);
    pd_text_bytes(&stream->content, fields, head->size);
    if (stream->content.failed)
        return pd_convert_no_memory(streams->x);
    streams->held += stream->content.length - before;
    if (streams->held >= HELD_SIZE)
        return write_all(streams);
    return stream->content.length < PACKET_SIZE
               ? PERFDATA_OK
               : write_packet(streams, (size_t)(stream - streams->list.data));
}

perfdata_status pd_ctf_streams_end(struct pd_ctf_streams *streams)
{
    struct pd_context *context = streams->x->context;
    perfdata_status status = write_all(streams);
    make_uuid(streams, NULL);
    if (status >= 0 && streams->late)
        status = pd_issue(context, PERFDATA_ISSUE_OUT_OF_ORDER, -1,
                          "%llu events were earlier than the one before on their CPU: they have "
                          "its time in the trace",
                          (unsigned long long)streams->late);
    if (status >= 0 && streams->beyond)
        status = pd_issue(context, PERFDATA_ISSUE_BAD_SAMPLE, -1,
                          "%llu events say that they ran on a CPU above %d: they are with CPU 0",
                          (unsigned long long)streams->beyond, CPU_LIMIT - 1);
    return status;
}

void pd_ctf_streams_free(struct pd_ctf_streams *streams)
{
    for (size_t i = 0; i < streams->list.count; i++)
        pd_text_free(&streams->list.data[i].content);
    pd_vec_free(&streams->list);
    pd_map64_free(&streams->by_cpu);
}
