/* SPDX-License-Identifier: MIT */
/* Lines of records that are no samples: --show-task-events and the like. */
#include "render/raw_dump/record_text.h"
#include "render/script/plan.h"

/* ---- a record ---- */

static struct pd_line_start line_start(const struct pd_delivered *record,
                                       const union pd_any_record *body)
{
    struct pd_identity identity;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    struct pd_line_start start = { NULL,         identity.pid, identity.tid, identity.cpu,
                                   record->type, record->misc, identity.time };
    if (PD_UNLIKELY(record->vcpu) && record->thread) {
        start.vcpu = record->vcpu;
        start.machine_pid = pd_timeline_machine(record->thread->timeline);
    }
    if (!record->event || pd_attr_flag(&record->event->attr, PD_ATTR_SAMPLE_ID_ALL))
        return start;
    /* perf makes up a trailer for a record that has none. */
    bool task = record->type == PD_RECORD_FORK || record->type == PD_RECORD_EXIT;
    start.cpu = 0;
    start.time = task ? body->fork.time : 0;
    if (task) {
        start.pid = body->fork.pid;
        start.tid = body->fork.tid;
    } else if (record->type == PD_RECORD_MMAP || record->type == PD_RECORD_MMAP2 ||
               record->type == PD_RECORD_COMM || record->type == PD_RECORD_NAMESPACES) {
        start.pid = body->comm.pid; /* these four types begin alike */
        start.tid = body->comm.tid;
    }
    return start;
}

struct poke_place {
    struct pd_script_worker *worker;
    const struct pd_delivered *record;
};

static bool name_poked(void *data, uint64_t address, struct pd_text *text)
{
    const struct poke_place *place = data;
    const struct pd_delivered *record = place->record;
    const struct pd_location *location = pd_resolve(place->worker->resolver, record->thread,
                                                    record->number, PD_CPUMODE_KERNEL, address);
    if (!location || !location->sym)
        return false;
    pd_script_symbol(place->worker->script, PD_FIELD(SYM) | PD_FIELD(SYMOFF), location, text);
    return true;
}

static void put_line(struct pd_script_worker *worker, const struct pd_delivered *record,
                     const union pd_any_record *body, struct pd_text *text)
{
    struct pd_script *script = worker->script;
    struct pd_line_start start = line_start(record, body);
    if (!pd_filter_cpu(&script->filter, start.cpu))
        return;
    if (record->event) {
        const struct pd_comm *comm = record->thread ? pd_thread_comm(record->thread, record->number)
                                                    : NULL;
        start.comm = comm ? pd_comm_text(comm, record->number) : ":-1";
        char *to = pd_script_start(worker, &script->events[record->event->index], &start, text);
        if (!to)
            return;
        text->length = (size_t)(to - text->data);
    }
    pd_text_string(text, "PERF_RECORD_");
    pd_text_string(text, pd_record_type_name(record->type));
    struct poke_place place = { worker, record };
    struct pd_record_namer namer = { name_poked, &place };
    pd_record_text(body, record->type, record->misc, &namer, text);
}

void pd_script_record(struct pd_script_worker *worker, const struct pd_delivered *record,
                      struct pd_text *text)
{
    if (record->type == PD_RECORD_FINISHED_ROUND) {
        pd_text_string(text, "PERF_RECORD_FINISHED_ROUND\n");
        return;
    }
    union pd_any_record body;
    struct pd_arena arena = { 0 };
    size_t size = pd_any_record_size(record->type);
    bool swap = worker->script->recording->swap;
    memset(&body, 0, sizeof body);
    perfdata_status status = size ? pd_record_decode(record->event, record->data, record->size,
                                                     swap, &arena, &body, size)
                                  : PERFDATA_OK;
    if (status < 0)
        pd_issue(&worker->script->recording->context, PERFDATA_ISSUE_BAD_RECORD,
                 (int64_t)record->offset, "a %s record says more than it holds",
                 pd_record_type_name(record->type));
    else if (record->type == PD_RECORD_AUXTRACE_ERROR)
        pd_auxtrace_error_text(&body.error, text);
    else
        put_line(worker, record, &body, text);
    pd_arena_free(&arena);
}
