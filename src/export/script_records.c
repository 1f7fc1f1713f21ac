/* SPDX-License-Identifier: MIT */
/* Lines of records that are no samples: --show-task-events and its like. */
#include "export/script_plan.h"
#include "format/structs.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* Any record that has a line, decoded. */
union record {
    struct pd_record_mmap mmap;
    struct pd_record_mmap2 mmap2;
    struct pd_record_lost lost;
    struct pd_record_comm comm;
    struct pd_record_fork fork; /* EXIT has the same shape */
    struct pd_record_switch_cpu_wide wide;
    struct pd_record_namespaces namespaces;
    struct pd_record_ksymbol ksymbol;
    struct pd_record_bpf_event bpf;
    struct pd_record_cgroup cgroup;
    struct pd_record_text_poke poke;
    struct pd_record_auxtrace_error error;
};

static size_t decoded_size(uint32_t type)
{
    switch (type) {
    case PD_RECORD_MMAP: return sizeof(struct pd_record_mmap);
    case PD_RECORD_MMAP2: return sizeof(struct pd_record_mmap2);
    case PD_RECORD_LOST: return sizeof(struct pd_record_lost);
    case PD_RECORD_COMM: return sizeof(struct pd_record_comm);
    case PD_RECORD_FORK: return sizeof(struct pd_record_fork);
    case PD_RECORD_EXIT: return sizeof(struct pd_record_exit);
    case PD_RECORD_SWITCH_CPU_WIDE: return sizeof(struct pd_record_switch_cpu_wide);
    case PD_RECORD_NAMESPACES: return sizeof(struct pd_record_namespaces);
    case PD_RECORD_KSYMBOL: return sizeof(struct pd_record_ksymbol);
    case PD_RECORD_BPF_EVENT: return sizeof(struct pd_record_bpf_event);
    case PD_RECORD_CGROUP: return sizeof(struct pd_record_cgroup);
    case PD_RECORD_TEXT_POKE: return sizeof(struct pd_record_text_poke);
    case PD_RECORD_AUXTRACE_ERROR: return sizeof(struct pd_record_auxtrace_error);
    default: return 0;
    }
}

/* ---- bodies ---- */

static void put_str(struct pd_text *text, const struct pd_str *string)
{
    if (string->text)
        pd_text_bytes(text, string->text, string->length);
}

static void put_mmap(const struct pd_record_mmap *map, struct pd_text *text)
{
    pd_text_format(text, " %d/%d: [%#llx(%#llx) @ %#llx]: %c ", (int32_t)map->pid,
                   (int32_t)map->tid, (unsigned long long)map->addr, (unsigned long long)map->len,
                   (unsigned long long)map->pgoff,
                   map->header.misc & PD_MISC_MMAP_DATA ? 'r' : 'x');
    put_str(text, &map->filename);
}

/* perf leaves these two words of a foreign recording in the recorder's byte order. */
static uint32_t unswapped(uint32_t word, bool swap)
{
    return swap ? __builtin_bswap32(word) : word;
}

static void put_mmap2(const struct pd_record_mmap2 *map, bool swap, struct pd_text *text)
{
    uint32_t prot = unswapped(map->prot, swap), flags = unswapped(map->flags, swap);
    pd_text_format(text, " %d/%d: [%#llx(%#llx) @ %#llx ", (int32_t)map->pid, (int32_t)map->tid,
                   (unsigned long long)map->addr, (unsigned long long)map->len,
                   (unsigned long long)map->pgoff);
    if (map->header.misc & PD_MISC_MMAP_BUILD_ID) {
        pd_text_char(text, '<');
        for (size_t i = 0; i < PD_MIN(map->build_id_size, sizeof map->build_id); i++)
            pd_text_hex(text, map->build_id[i], 2, '0');
        pd_text_char(text, '>');
    } else {
        pd_text_format(text, "%02x:%02x %llu %llu", map->maj, map->min,
                       (unsigned long long)map->ino, (unsigned long long)map->ino_generation);
    }
    pd_text_format(text, "]: %c%c%c%c ", prot & PD_PROT_READ ? 'r' : '-',
                   prot & PD_PROT_WRITE ? 'w' : '-', prot & PD_PROT_EXEC ? 'x' : '-',
                   flags & PD_MAP_SHARED ? 's' : 'p');
    put_str(text, &map->filename);
}

static void put_comm(const struct pd_record_comm *comm, struct pd_text *text)
{
    pd_text_string(text, comm->header.misc & PD_MISC_COMM_EXEC ? " exec: " : ": ");
    put_str(text, &comm->comm);
    pd_text_format(text, ":%d/%d", (int32_t)comm->pid, (int32_t)comm->tid);
}

static void put_task(const struct pd_record_fork *task, struct pd_text *text)
{
    pd_text_format(text, "(%d:%d):(%d:%d)", (int32_t)task->pid, (int32_t)task->tid,
                   (int32_t)task->ppid, (int32_t)task->ptid);
}

static void put_direction(uint16_t misc, struct pd_text *text)
{
    bool out = misc & PD_MISC_SWITCH_OUT;
    pd_text_string(text, !out                                ? " IN         "
                         : misc & PD_MISC_SWITCH_OUT_PREEMPT ? " OUT preempt"
                                                             : " OUT        ");
}

static void put_switch_wide(const struct pd_record_switch_cpu_wide *wide, struct pd_text *text)
{
    put_direction(wide->header.misc, text);
    pd_text_format(text, "  %s pid/tid: %5d/%-5d",
                   wide->header.misc & PD_MISC_SWITCH_OUT ? "next" : "prev",
                   (int32_t)wide->next_prev_pid, (int32_t)wide->next_prev_tid);
}

static void put_namespaces(const struct pd_record_namespaces *record, struct pd_text *text)
{
    static const char *const names[] = {
        [PD_NAMESPACE_NET] = "net",       [PD_NAMESPACE_UTS] = "uts",   [PD_NAMESPACE_IPC] = "ipc",
        [PD_NAMESPACE_PID] = "pid",       [PD_NAMESPACE_USER] = "user", [PD_NAMESPACE_MNT] = "mnt",
        [PD_NAMESPACE_CGROUP] = "cgroup",
    };
    pd_text_format(text, " %d/%d - nr_namespaces: %u\n\t\t[", (int32_t)record->pid,
                   (int32_t)record->tid, (unsigned)record->nr_namespaces);
    for (uint32_t i = 0; i < record->link_info_count; i++) {
        if (i)
            pd_text_string(text, i % 4 ? ", " : ", \n\t\t ");
        pd_text_format(text, "%u/%s: %llu/%#llx", i, i < PD_LENGTH(names) ? names[i] : "unknown",
                       (unsigned long long)record->link_info[i].dev,
                       (unsigned long long)record->link_info[i].ino);
    }
    pd_text_char(text, ']');
}

static void put_ksymbol(const struct pd_record_ksymbol *symbol, struct pd_text *text)
{
    pd_text_format(text, " addr %llx len %u type %u flags 0x%x name ",
                   (unsigned long long)symbol->addr, symbol->len, symbol->ksym_type, symbol->flags);
    put_str(text, &symbol->name);
}

static void put_poke_bytes(const char *what, const struct pd_span *bytes, struct pd_text *text)
{
    for (size_t i = 0; i < bytes->size; i++) {
        if (i % 16 == 0)
            pd_text_format(text, "%s%17s", i ? "\n" : "", what);
        pd_text_char(text, ' ');
        pd_text_hex(text, bytes->data[i], 2, '0');
    }
    if (bytes->size)
        pd_text_char(text, '\n');
}

static void put_text_poke(struct pd_script_worker *worker, const struct pd_record_text_poke *poke,
                          const struct pd_delivered *record, struct pd_text *text)
{
    static const uint64_t name = PD_FIELD(SYM) | PD_FIELD(SYMOFF);
    pd_text_char(text, ' ');
    pd_text_hex(text, poke->addr, 0, ' ');
    const struct pd_location *location = pd_resolve(worker->resolver, record->thread,
                                                    record->number, PD_CPUMODE_KERNEL, poke->addr);
    if (location && location->sym)
        pd_script_symbol(worker->script, name, location, text);
    else
        pd_text_char(text, ' ');
    pd_text_format(text, " old len %u new len %u\n", poke->old_len, poke->new_len);
    put_poke_bytes("Old bytes:", &poke->old_bytes, text);
    put_poke_bytes("New bytes:", &poke->new_bytes, text);
}

static void put_error(const struct pd_record_auxtrace_error *error, struct pd_text *text)
{
    pd_text_format(text, " %s error type %u",
                   error->error_type == 1 ? "instruction trace" : "unknown", error->error_type);
    if (error->fmt && error->time)
        pd_text_format(text, " time %llu.%09llu", (unsigned long long)(error->time / NS_PER_SECOND),
                       (unsigned long long)(error->time % NS_PER_SECOND));
    else
        pd_text_string(text, " time 0");
    if (error->fmt >= 2 && error->machine_pid)
        pd_text_format(text, " machine_pid %d vcpu %d", (int32_t)error->machine_pid,
                       (int32_t)error->vcpu);
    pd_text_format(text, " cpu %d pid %d tid %d ip %#llx code %u: ", (int32_t)error->cpu,
                   (int32_t)error->pid, (int32_t)error->tid, (unsigned long long)error->ip,
                   error->code);
    put_str(text, &error->msg);
    pd_text_char(text, '\n');
}

static void put_body(struct pd_script_worker *worker, const union record *body,
                     const struct pd_delivered *record, struct pd_text *text)
{
    switch (record->type) {
    case PD_RECORD_MMAP: put_mmap(&body->mmap, text); break;
    case PD_RECORD_MMAP2: put_mmap2(&body->mmap2, worker->script->recording->swap, text); break;
    case PD_RECORD_LOST:
        pd_text_format(text, " lost %llu", (unsigned long long)body->lost.lost);
        break;
    case PD_RECORD_COMM: put_comm(&body->comm, text); break;
    case PD_RECORD_FORK:
    case PD_RECORD_EXIT: put_task(&body->fork, text); break;
    case PD_RECORD_SWITCH: put_direction(record->misc, text); break;
    case PD_RECORD_SWITCH_CPU_WIDE: put_switch_wide(&body->wide, text); break;
    case PD_RECORD_NAMESPACES: put_namespaces(&body->namespaces, text); break;
    case PD_RECORD_KSYMBOL: put_ksymbol(&body->ksymbol, text); break;
    case PD_RECORD_BPF_EVENT:
        pd_text_format(text, " type %u, flags %u, id %u", body->bpf.bpf_type, body->bpf.flags,
                       body->bpf.id);
        break;
    case PD_RECORD_CGROUP:
        pd_text_format(text, " cgroup: %llu ", (unsigned long long)body->cgroup.id);
        put_str(text, &body->cgroup.path);
        break;
    case PD_RECORD_TEXT_POKE: /* ends its lines itself */
        put_text_poke(worker, &body->poke, record, text);
        return;
    default: break;
    }
    pd_text_char(text, '\n');
}

/* ---- a record ---- */

static struct pd_line_start line_start(const struct pd_delivered *record, const union record *body)
{
    struct pd_identity identity;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    struct pd_line_start start = { NULL,         identity.pid, identity.tid, identity.cpu,
                                   record->type, record->misc, identity.time };
    if (!record->event || pd_attr_flag(&record->event->attr, PD_ATTR_SAMPLE_ID_ALL))
        return start;
    /* Without a trailer perf makes one up. */
    bool task = record->type == PD_RECORD_FORK || record->type == PD_RECORD_EXIT;
    start.cpu = 0;
    start.time = task ? body->fork.time : 0;
    if (task) {
        start.pid = body->fork.pid;
        start.tid = body->fork.tid;
    } else if (record->type == PD_RECORD_MMAP || record->type == PD_RECORD_MMAP2 ||
               record->type == PD_RECORD_COMM || record->type == PD_RECORD_NAMESPACES) {
        start.pid = body->comm.pid; /* the four begin alike */
        start.tid = body->comm.tid;
    }
    return start;
}

static void put_line(struct pd_script_worker *worker, const struct pd_delivered *record,
                     const union record *body, struct pd_text *text)
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
    put_body(worker, body, record, text);
}

void pd_script_record(struct pd_script_worker *worker, const struct pd_delivered *record,
                      struct pd_text *text)
{
    if (record->type == PD_RECORD_FINISHED_ROUND) {
        pd_text_string(text, "PERF_RECORD_FINISHED_ROUND\n");
        return;
    }
    union record body;
    struct pd_arena arena = { 0 };
    size_t size = decoded_size(record->type);
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
        put_error(&body.error, text);
    else
        put_line(worker, record, &body, text);
    pd_arena_free(&arena);
}
