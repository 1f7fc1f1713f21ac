/* SPDX-License-Identifier: MIT */
/* A record -> what perf prints behind PERF_RECORD_NAME. */
#include "render/raw_dump/record_text.h"

#define NS_PER_SECOND UINT64_C(1000000000)

size_t pd_any_record_size(uint32_t type)
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
    case PD_RECORD_LOST_SAMPLES: return sizeof(struct pd_record_lost_samples);
    case PD_RECORD_AUX: return sizeof(struct pd_record_aux);
    case PD_RECORD_ITRACE_START: return sizeof(struct pd_record_itrace_start);
    case PD_RECORD_AUX_OUTPUT_HW_ID: return sizeof(struct pd_record_aux_output_hw_id);
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

static void put_mmap2(const struct pd_record_mmap2 *map, struct pd_text *text)
{
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
    pd_text_format(text, "]: %c%c%c%c ", map->prot & PD_PROT_READ ? 'r' : '-',
                   map->prot & PD_PROT_WRITE ? 'w' : '-', map->prot & PD_PROT_EXEC ? 'x' : '-',
                   map->flags & PD_MAP_SHARED ? 's' : 'p');
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
            pd_text_format(text, "%s%22s", i ? "\n" : "", what);
        pd_text_char(text, ' ');
        pd_text_hex(text, bytes->data[i], 2, '0');
    }
    if (bytes->size)
        pd_text_char(text, '\n');
}

static void put_text_poke(const struct pd_record_text_poke *poke,
                          const struct pd_record_namer *namer, struct pd_text *text)
{
    pd_text_char(text, ' ');
    pd_text_hex(text, poke->addr, 0, ' ');
    if (!namer || !namer->name(namer->data, poke->addr, text))
        pd_text_char(text, ' ');
    pd_text_format(text, " old len %u new len %u\n", poke->old_len, poke->new_len);
    put_poke_bytes("Old bytes:", &poke->old_bytes, text);
    put_poke_bytes("New bytes:", &poke->new_bytes, text);
}

void pd_auxtrace_error_text(const struct pd_record_auxtrace_error *error, struct pd_text *text)
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

void pd_record_text(const union pd_any_record *body, uint32_t type, uint16_t misc,
                    const struct pd_record_namer *namer, struct pd_text *text)
{
    switch (type) {
    case PD_RECORD_MMAP: put_mmap(&body->mmap, text); break;
    case PD_RECORD_MMAP2: put_mmap2(&body->mmap2, text); break;
    case PD_RECORD_LOST:
        pd_text_format(text, " lost %llu", (unsigned long long)body->lost.lost);
        break;
    case PD_RECORD_COMM: put_comm(&body->comm, text); break;
    case PD_RECORD_FORK:
    case PD_RECORD_EXIT: put_task(&body->fork, text); break;
    case PD_RECORD_SWITCH: put_direction(misc, text); break;
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
        put_text_poke(&body->poke, namer, text);
        return;
    default: break;
    }
    pd_text_char(text, '\n');
}
