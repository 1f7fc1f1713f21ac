/* SPDX-License-Identifier: MIT */
/* Records -> perf's raw dump: hexadecimal, then decoded. */
#include "render/raw_dump/internal.h"
#include "format/names.h"
#include "format/offsets.h"
#include "pipeline/made.h"
#include "render/counters.h"

#define ULL(value) ((unsigned long long)(value))

void pd_raw_dump_init(struct pd_raw_dump *dump, struct pd_recording *recording,
                      enum pd_raw_dump_verb verb)
{
    memset(dump, 0, sizeof *dump);
    dump->recording = recording;
    dump->verb = verb;
    pd_ibs_init(&dump->ibs, recording);
    atomic_init(&dump->first_attr, UINT64_MAX);
    for (size_t i = 0; i < recording->event_count; i++) {
        dump->has_cpu |= (recording->events[i]->attr.sample_type & PD_SAMPLE_CPU) != 0;
        dump->has_time |= (recording->events[i]->attr.sample_type & PD_SAMPLE_TIME) != 0;
    }
    dump->has_trailer = recording->event_count &&
                        pd_attr_flag(&recording->events[0]->attr, PD_ATTR_SAMPLE_ID_ALL);
}

void pd_raw_dump_warning(const struct pd_recording *recording, struct pd_text *text)
{
    if (recording->kind != PD_CONTAINER_PIPE && recording->event_count &&
        !pd_attr_flag(&recording->events[0]->attr, PD_ATTR_SAMPLE_ID_ALL))
        pd_text_string(text,
                       "WARNING: No sample_id_all support, falling back to unordered processing\n");
}

static void see_auxtrace_info(struct pd_raw_dump *dump, const struct pd_delivered *record)
{
    bool swap = dump->recording->swap;
    uint32_t type = pd_load32(record->data + PD_AT(auxtrace_info, auxtrace_type), swap);
    enum { WORDS = sizeof(struct pd_at_auxtrace_info) };
    struct pd_array words = { record->data + WORDS, (record->size - WORDS) / 8, 8, swap };
    if (type == PD_AUXTRACE_CS_ETM)
        pd_coresight_read(&words, &dump->coresight);
    dump->auxtrace_type = type;
}

void pd_raw_dump_front(struct pd_raw_dump *dump, const struct pd_delivered *record)
{
    if (record->type == PD_RECORD_AUXTRACE_INFO && record->size >= 16 && !dump->auxtrace_type)
        see_auxtrace_info(dump, record);
    if (record->type == PD_RECORD_HEADER_ATTR && record->offset < atomic_load(&dump->first_attr))
        atomic_store(&dump->first_attr, record->offset);
}

void pd_raw_dump_want(struct pd_consumer *consumer)
{
    consumer->types[0] = consumer->types[1] = UINT64_MAX;
    consumer->unknown_types = true;
}

void pd_size_text(uint64_t size, struct pd_text *text)
{
    unsigned unit = 0;
    if (!size) {
        pd_text_string(text, "N/A");
        return;
    }
    for (; unit < 3 && size / 1024 > 1; unit++)
        size /= 1024;
    pd_text_u64(text, size, 0, ' ');
    pd_text_char(text, "BKMG"[unit]);
}

/* ---- the bytes ---- */

static void put_line(const uint8_t *bytes, size_t size, size_t at, struct pd_text *text)
{
    static const char digits[] = "0123456789abcdef";
    pd_text_bytes(text, ".  ", 3);
    pd_text_hex(text, at, 4, '0');
    char *to = pd_text_room(text, 2 + 3 * 16 + 2 + 16 + 1), *start = to;
    if (!to)
        return;
    *to++ = ':';
    *to++ = ' ';
    for (size_t i = 0; i < 16; i++) {
        bool there = at + i < size;
        *to++ = ' ';
        *to++ = there ? digits[bytes[at + i] >> 4] : ' ';
        *to++ = there ? digits[bytes[at + i] & 15] : ' ';
    }
    *to++ = ' ';
    *to++ = ' ';
    for (size_t i = 0; i < 16; i++) {
        uint8_t c = at + i < size ? bytes[at + i] : ' ';
        *to++ = c >= 0x20 && c < 0x7f ? (char)c : '.';
    }
    *to++ = '\n';
    text->length += (size_t)(to - start);
}

static void put_bytes(const struct pd_delivered *record, struct pd_text *text)
{
    uint32_t size;
    const uint8_t *bytes = pd_made_recorded(record, &size);
    pd_text_string(text, ".\n. ... raw event: size ");
    pd_text_u64(text, size, 0, ' ');
    pd_text_string(text, " bytes\n");
    for (size_t at = 0; at < size; at += 16)
        put_line(bytes, size, at, text);
    pd_text_char(text, '\n');
}

/* ---- where and when ---- */

/* perf counts a stream's bytes from behind its header. */
static uint64_t shown_offset(const struct pd_raw_dump *dump, const struct pd_delivered *record)
{
    bool pipe = dump->recording->kind == PD_CONTAINER_PIPE;
    return record->offset - (pipe ? dump->recording->header_size : 0);
}

static void put_place(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                      struct pd_text *text)
{
    const struct pd_recording *recording = dump->recording;
    pd_text_char(text, '\n');
    pd_text_hex_prefixed(text, shown_offset(dump, record));
    pd_text_char(text, '@');
    pd_text_string(text, recording->kind == PD_CONTAINER_PIPE ? "pipe" : recording->path);
    if (recording->kind == PD_CONTAINER_DIRECTORY) {
        pd_text_char(text, '/');
        pd_text_string(text, record->part ? recording->parts.names[record->part - 1] : "data");
    }
    uint32_t size;
    (void)pd_made_recorded(record, &size);
    pd_text_format(text, " [%#x]: event: %d\n", size, (int)record->type);
}

static void put_time(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                     struct pd_text *text)
{
    struct pd_identity identity = { .cpu = 0, .time = 0 };
    /* At the start of a pipe, perf does not know any event yet. */
    bool before_events = dump->recording->kind == PD_CONTAINER_PIPE &&
                         record->offset <= atomic_load(&dump->first_attr);
    if (record->type != PD_RECORD_SAMPLE && (!dump->has_trailer || before_events)) {
        pd_text_string(text, "-1 -1 ");
        return;
    }
    if (record->type < 64)
        pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    if (dump->has_cpu) {
        pd_text_u64(text, identity.cpu, 0, ' ');
        pd_text_char(text, ' ');
    }
    if (dump->has_time) {
        pd_text_u64(text, identity.time, 0, ' ');
        pd_text_char(text, ' ');
    }
}

/* ---- samples ---- */

static uint64_t chain_at(const struct pd_sample *sample, uint32_t index)
{
    return pd_load64(sample->callchain + 8 * (size_t)index, sample->swap);
}

static void put_frame(uint32_t index, uint64_t ip, struct pd_text *text)
{
    pd_text_bytes(text, "..... ", 6);
    pd_text_u64(text, index, 2, ' ');
    pd_text_bytes(text, ": ", 2);
    pd_text_hex(text, ip, 16, '0');
    pd_text_char(text, '\n');
}

/* Puts the chain of a processor's call stack: the kernel's part of the recorded chain, then user
 * space as the branches tell it. */
static void put_lbr_chain(const struct pd_sample *sample, struct pd_text *text)
{
    uint32_t kernel = 0;
    if (!(sample->event->attr.branch_sample_type & PD_BRANCH_SAMPLE_CALL_STACK) ||
        !sample->branch_count)
        return;
    while (kernel < sample->callchain_count &&
           chain_at(sample, kernel) != (uint64_t)PD_CONTEXT_USER)
        kernel++;
    if (kernel == sample->callchain_count)
        return;
    pd_text_format(text, "... LBR call chain: nr:%u\n", kernel + 2 + sample->branch_count);
    for (uint32_t i = 0; i <= kernel; i++)
        put_frame(i, chain_at(sample, i), text);
    put_frame(kernel + 1, pd_branch_at(sample, 0).to, text);
    for (uint32_t i = 0; i < sample->branch_count; i++)
        put_frame(kernel + 2 + i, pd_branch_at(sample, i).from, text);
}

static void put_chain(const struct pd_sample *sample, struct pd_text *text)
{
    put_lbr_chain(sample, text);
    pd_text_format(text, "... FP chain: nr:%u\n", sample->callchain_count);
    for (uint32_t i = 0; i < sample->callchain_count; i++)
        put_frame(i, chain_at(sample, i), text);
}

static void put_branch_counters(const struct pd_raw_dump *dump, const struct pd_sample *sample,
                                struct pd_text *text)
{
    struct pd_branch_counters counters;
    pd_branch_counters_of(dump->recording, sample->event, &counters);
    pd_text_format(text, "... branch stack counters: nr:%u (counter width: %u max counter nr:%u)\n",
                   sample->branch_count, counters.width, counters.slots);
    for (uint32_t i = 0; i < sample->branch_count; i++)
        pd_text_format(text, "..... %2u: %016llx\n", i,
                       ULL(pd_load64(sample->branch_counters + 8 * (size_t)i, sample->swap)));
}

static void put_branches(const struct pd_raw_dump *dump, const struct pd_sample *sample,
                         struct pd_text *text)
{
    bool stack = sample->event->attr.branch_sample_type & PD_BRANCH_SAMPLE_CALL_STACK;
    pd_text_format(text, stack ? "... branch callstack: nr:%u\n" : "... branch stack: nr:%u\n",
                   sample->branch_count + stack);
    for (uint32_t i = 0; i < sample->branch_count; i++) {
        struct pd_branch branch = pd_branch_at(sample, i);
        if (stack) {
            if (!i)
                pd_text_format(text, "..... %2d: %016llx\n", 0, ULL(branch.to));
            pd_text_format(text, "..... %2u: %016llx\n", i + 1, ULL(branch.from));
            continue;
        }
        pd_text_format(
            text, "..... %2u: %016llx -> %016llx %hu cycles %s%s%s%s %x %s\n", i, ULL(branch.from),
            ULL(branch.to), (unsigned short)PD_BRANCH_PART(branch.flags, CYCLES),
            PD_BRANCH_PART(branch.flags, MISPRED) ? "M" : " ",
            PD_BRANCH_PART(branch.flags, PREDICTED) ? "P" : " ",
            PD_BRANCH_PART(branch.flags, ABORT) ? "A" : " ",
            PD_BRANCH_PART(branch.flags, IN_TX) ? "T" : " ",
            (unsigned)PD_BRANCH_PART(branch.flags, RESERVED), pd_branch_type_text(branch.flags));
    }
    if (sample->branch_counters)
        put_branch_counters(dump, sample, text);
}

static void put_registers(const struct pd_raw_dump *dump, const char *what, uint64_t abi,
                          uint64_t mask, const uint8_t *registers, bool swap, struct pd_text *text)
{
    const char *arch = pd_features_arch(&dump->recording->features);
    if (!registers)
        return;
    if (dump->recording->like_perf && !pd_perf_names_registers(arch))
        arch = "";
    const char *name = pd_name_of(&pd_names_regs_abi, abi & ~(uint64_t)PD_REGS_ABI_SIMD);
    pd_text_format(text, "... %s regs: mask 0x%llx ABI %s%s\n", what, ULL(mask),
                   name ? name : "unknown", abi & PD_REGS_ABI_SIMD ? " SIMD" : "");
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(mask >> bit & 1))
            continue;
        pd_text_format(text, ".... %-5s 0x%016llx\n", pd_register_name(arch, bit, abi),
                       ULL(pd_load64(registers, swap)));
        registers += 8;
    }
}

/* Puts SIMD registers, which perf 6.1 does not know. The predicates follow the vectors. */
static void put_simd(const char *what, const uint8_t *at, bool swap, struct pd_text *text)
{
    if (!at)
        return;
    struct pd_simd simd = pd_simd(at, swap);
    pd_text_format(text, "... %s simd: %u vectors of %u words, %u predicates of %u words\n", what,
                   simd.vectors, simd.vector_words, simd.predicates, simd.predicate_words);
    for (uint64_t i = 0; i < simd.count;) {
        uint64_t vectors = (uint64_t)simd.vectors * simd.vector_words;
        bool is_vector = i < vectors;
        unsigned words = is_vector ? simd.vector_words : simd.predicate_words;
        uint64_t number = is_vector ? i / words : (i - vectors) / words;
        pd_text_format(text, ".... %s%-3llu", is_vector ? "v" : "p", ULL(number));
        for (unsigned k = 0; k < words; k++, i++)
            pd_text_format(text, " 0x%016llx", ULL(pd_load64(simd.values + 8 * i, swap)));
        pd_text_char(text, '\n');
    }
}

static void put_weight(const struct pd_sample *sample, uint64_t type, struct pd_text *text)
{
    if (type & PD_SAMPLE_WEIGHT_STRUCT)
        pd_text_format(text, "... weight: %llu,0x%llx,0x%llx\n", ULL(sample->weight & UINT32_MAX),
                       ULL(sample->weight >> 32 & 0xffff), ULL(sample->weight >> 48));
    else
        pd_text_format(text, "... weight: %llu\n", ULL(sample->weight));
}

static void put_read(const struct pd_sample *sample, struct pd_text *text)
{
    uint64_t format = sample->event->attr.read_format;
    struct pd_read_values values;
    pd_text_string(text, "... sample_read:\n");
    if (!sample->read ||
        !pd_read_decode(format, sample->read, sample->read_size, sample->swap, &values))
        return;
    if (format & PD_READ_TOTAL_TIME_ENABLED)
        pd_text_format(text, "...... time enabled %016llx\n", ULL(values.enabled));
    if (format & PD_READ_TOTAL_TIME_RUNNING)
        pd_text_format(text, "...... time running %016llx\n", ULL(values.running));
    if (format & PD_READ_GROUP)
        pd_text_format(text, ".... group nr %llu\n", ULL(values.count));
    for (uint64_t i = 0; i < values.count; i++) {
        struct pd_read_value read = pd_read_value(&values, i);
        pd_text_format(text, "..... id %016llx, value %016llx", ULL(read.id), ULL(read.value));
        if (values.lost_at)
            pd_text_format(text, ", lost %llu", ULL(read.lost));
        pd_text_char(text, '\n');
    }
}

static void put_fields(const struct pd_raw_dump *dump, const struct pd_sample *sample,
                       struct pd_text *text)
{
    uint64_t type = sample->event->attr.sample_type;
    if (type & PD_SAMPLE_CALLCHAIN)
        put_chain(sample, text);
    if (type & PD_SAMPLE_BRANCH_STACK)
        put_branches(dump, sample, text);
    if (type & PD_SAMPLE_REGS_USER)
        put_registers(dump, "user", sample->user_abi, sample->event->attr.sample_regs_user,
                      sample->user_regs, sample->swap, text);
    put_simd("user", sample->user_simd, sample->swap, text);
    if (type & PD_SAMPLE_REGS_INTR)
        put_registers(dump, "intr", sample->intr_abi, sample->event->attr.sample_regs_intr,
                      sample->intr_regs, sample->swap, text);
    put_simd("intr", sample->intr_simd, sample->swap, text);
    if (type & PD_SAMPLE_STACK_USER)
        /* perf's offset is where the size stands */
        pd_text_format(text, "... ustack: size %llu, offset 0x%x\n",
                       ULL(sample->stack_dynamic_size),
                       sample->stack ? (unsigned)(sample->stack - sample->record) - 8 : 0);
    if (type & (PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT))
        put_weight(sample, type, text);
    if (type & PD_SAMPLE_DATA_SRC)
        pd_text_format(text, " . data_src: 0x%llx\n", ULL(sample->data_src));
    if (type & PD_SAMPLE_PHYS_ADDR)
        pd_text_format(text, " .. phys_addr: 0x%llx\n", ULL(sample->phys_addr));
    if (type & PD_SAMPLE_DATA_PAGE_SIZE) {
        pd_text_string(text, " .. data page size: ");
        pd_size_text(sample->data_page_size, text);
        pd_text_char(text, '\n');
    }
    if (type & PD_SAMPLE_CODE_PAGE_SIZE) {
        pd_text_string(text, " .. code page size: ");
        pd_size_text(sample->code_page_size, text);
        pd_text_char(text, '\n');
    }
    if (type & PD_SAMPLE_TRANSACTION)
        pd_text_format(text, "... transaction: %llx\n", ULL(sample->transaction));
    if (type & PD_SAMPLE_READ)
        put_read(sample, text);
}

static void put_resolved(struct pd_symbols *symbols, struct pd_resolver *resolver,
                         const struct pd_sample *sample, const struct pd_delivered *record,
                         struct pd_text *text)
{
    const struct pd_comm *comm = record->thread ? pd_thread_comm(record->thread, record->number)
                                                : NULL;
    if (!comm)
        return;
    pd_text_string(text, " ... thread: ");
    pd_text_string(text, pd_comm_text(comm, record->number));
    pd_text_char(text, ':');
    pd_text_i64(text, (int32_t)record->thread->tid, 0);
    pd_text_string(text, "\n ...... dso: ");
    const struct pd_location *location = pd_resolve(resolver, record->thread, record->number,
                                                    sample->cpumode, sample->ip);
    if (location && location->dso)
        pd_text_string(text, pd_symbols_long_name(symbols, location->dso));
    else
        pd_text_string(text, location && location->level == 'H' ? "[hypervisor]" : "<not found>");
    pd_text_char(text, '\n');
}

static void put_sample(const struct pd_raw_dump *dump, const struct pd_sample *sample,
                       const struct pd_delivered *record, struct pd_text *text)
{
    pd_text_format(text, "(IP, 0x%x): %d/%d: ", record->misc, (int32_t)sample->pid,
                   (int32_t)sample->tid);
    pd_text_hex_prefixed(text, sample->ip);
    pd_text_string(text, " period: ");
    pd_text_u64(text, sample->period, 0, ' ');
    pd_text_string(text, " addr: ");
    pd_text_hex_prefixed(text, sample->addr);
    pd_text_char(text, '\n');
    put_fields(dump, sample, text);
}

/* ---- other records of the kernel ---- */

static void put_read_record(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                            struct pd_text *text)
{
    bool swap = dump->recording->swap;
    if (record->size < 24)
        return;
    uint64_t format = record->event ? record->event->attr.read_format : 0;
    const uint8_t *at = record->data + PD_AT(read, values), *end = record->data + record->size;
    pd_text_format(text, ": %d %d %s %llu\n",
                   (int32_t)pd_load32(record->data + PD_AT(read, pid), swap),
                   (int32_t)pd_load32(record->data + PD_AT(read, tid), swap),
                   record->event ? record->event->name : "unknown", ULL(pd_load64(at, swap)));
    static const struct {
        uint64_t bit;
        const char *text;
    } rows[] = { { PD_READ_TOTAL_TIME_ENABLED, "... time enabled : " },
                 { PD_READ_TOTAL_TIME_RUNNING, "... time running : " },
                 { PD_READ_ID, "... id           : " },
                 { PD_READ_LOST, "... lost         : " } };
    for (size_t i = 0; i < PD_LENGTH(rows); i++) {
        if (!(format & rows[i].bit) || end - (at += 8) < 8)
            continue;
        pd_text_string(text, rows[i].text);
        pd_text_u64(text, pd_load64(at, swap), 0, ' ');
        pd_text_char(text, '\n');
    }
    if (dump->verb == PD_RAW_DUMP_SCRIPT)
        pd_text_string(text, ": unhandled!\n");
}

static void put_aux(const struct pd_record_aux *aux, struct pd_text *text)
{
    static const struct {
        uint64_t bit;
        char letter;
    } flags[] = { { PD_AUX_TRUNCATED, 'T' }, { PD_AUX_OVERWRITE, 'O' }, { PD_AUX_PARTIAL, 'P' } };
    pd_text_string(text, " offset: ");
    pd_text_hex_prefixed(text, aux->aux_offset);
    pd_text_string(text, " size: ");
    pd_text_hex_prefixed(text, aux->aux_size);
    pd_text_string(text, " flags: ");
    pd_text_hex_prefixed(text, aux->flags);
    pd_text_string(text, " [");
    for (size_t i = 0; i < PD_LENGTH(flags); i++)
        if (aux->flags & flags[i].bit)
            pd_text_char(text, flags[i].letter);
    pd_text_string(text, "]\n");
}

struct poke_place {
    struct pd_resolver *resolver;
    const struct pd_delivered *record;
};

static bool name_poked(void *data, uint64_t address, struct pd_text *text)
{
    const struct poke_place *place = data;
    const struct pd_delivered *record = place->record;
    const struct pd_location *location = place->resolver
                                             ? pd_resolve(place->resolver, record->thread,
                                                          record->number, PD_CPUMODE_KERNEL,
                                                          address)
                                             : NULL;
    if (!location || !location->sym)
        return false;
    pd_text_char(text, ' ');
    pd_text_bytes(text, location->sym->name, location->sym->name_length);
    pd_text_format(text, "+0x%llx", ULL(location->addr - location->sym->start));
    return true;
}

/* `resolver` is for what has a name; it may be NULL. */
static void put_kernel(const struct pd_raw_dump *dump, struct pd_resolver *resolver,
                       const struct pd_delivered *record, struct pd_text *text)
{
    struct poke_place place = { resolver, record };
    const struct pd_record_namer namer = { name_poked, &place };
    union pd_any_record body;
    struct pd_identity identity;
    struct pd_arena arena = { 0 };
    size_t size = pd_any_record_size(record->type);
    memset(&body, 0, sizeof body);
    if (size)
        (void)pd_record_decode(record->event, record->data, record->size, dump->recording->swap,
                               &arena, &body, size);
    switch (record->type) {
    case PD_RECORD_READ: put_read_record(dump, record, text); break;
    case PD_RECORD_LOST:
        pd_text_format(text, ": id:%llu: lost:%llu\n", ULL(body.lost.id), ULL(body.lost.lost));
        break;
    case PD_RECORD_LOST_SAMPLES:
        pd_record_identity(record->event, record->data, record->size, record->type, &identity);
        pd_text_format(text, ": id:%llu: lost samples :%llu%s\n", ULL(identity.id),
                       ULL(body.lost_samples.lost),
                       record->misc & PD_MISC_LOST_SAMPLES_BPF ? " (BPF)" : "");
        break;
    case PD_RECORD_THROTTLE:
    case PD_RECORD_UNTHROTTLE:
        /* script has a handler for it, which prints nothing */
        if (dump->verb == PD_RAW_DUMP_REPORT)
            pd_text_string(text, ": unhandled!\n");
        break;
    case PD_RECORD_AUX: put_aux(&body.aux, text); break;
    case PD_RECORD_ITRACE_START:
        pd_text_format(text, " pid: %u tid: %u\n", body.itrace_start.pid, body.itrace_start.tid);
        break;
    case PD_RECORD_AUX_OUTPUT_HW_ID:
        pd_text_string(text, " hw_id: ");
        pd_text_hex_prefixed(text, body.hw_id.hw_id);
        pd_text_char(text, '\n');
        break;
    default: pd_record_text(&body, record->type, record->misc, &namer, text); break;
    }
    pd_arena_free(&arena);
}

static const char *shown_name(uint32_t type)
{
    const char *name = pd_record_type_name(type);
    return !name ? "UNKNOWN" : strncmp(name, "HEADER_", 7) ? name : name + 7;
}

void pd_raw_dump_name(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                      struct pd_text *text)
{
    pd_text_format(text, "PERF_RECORD_%s", shown_name(record->type));
    if (record->type == PD_RECORD_SAMPLE)
        pd_text_char(text, '\n');
    else
        put_kernel(dump, NULL, record, text);
}

/* ---- the events that perf makes for what a CoreSight trace shows ----------------------------- */

/* Their HEADER_ATTR lies nowhere in the file. */

enum { MADE_ATTR = 128 /* perf 6.1's */, MADE_SIZE = 8 + MADE_ATTR + 8 };

static void put_made_event(const struct pd_raw_dump *dump, const struct pd_attr *attr, uint64_t id,
                           struct pd_text *text)
{
    uint8_t bytes[MADE_SIZE] = { PD_RECORD_HEADER_ATTR, [6] = MADE_SIZE };
    struct pd_delivered record = { .data = bytes,
                                   .size = MADE_SIZE,
                                   .type = PD_RECORD_HEADER_ATTR };
    pd_attr_encode(attr, false, bytes + 8, MADE_ATTR);
    pd_store64(bytes + 8 + MADE_ATTR, id, false);
    pd_text_format(text, "\n0@(null) [%#x]: event: %d\n", record.size, (int)record.type);
    put_bytes(&record, text);
    put_time(dump, &record, text);
    pd_text_format(text, "0 [%#x]: PERF_RECORD_ATTR", record.size);
}

static const struct pd_event *coresight_event(const struct pd_raw_dump *dump)
{
    const struct pd_recording *recording = dump->recording;
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->attr.type == dump->coresight.pmu)
            return recording->events[i];
    return NULL;
}

unsigned pd_raw_dump_made(const struct pd_raw_dump *dump)
{
    if (dump->auxtrace_type != PD_AUXTRACE_CS_ETM || dump->no_packets || !coresight_event(dump))
        return 0;
    return dump->verb == PD_RAW_DUMP_REPORT ? 2 : 1;
}

static void put_made_events(const struct pd_raw_dump *dump, struct pd_text *text)
{
    enum { PERIOD = 100000, IDS_FROM = 1000000000 };
    const uint64_t kept = PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_ADDR | PD_SAMPLE_ID |
                          PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD |
                          PD_SAMPLE_IDENTIFIER;
    const uint64_t flags = UINT64_C(1) << PD_ATTR_EXCLUDE_USER |
                           UINT64_C(1) << PD_ATTR_EXCLUDE_KERNEL |
                           UINT64_C(1) << PD_ATTR_EXCLUDE_HV | UINT64_C(1) << PD_ATTR_EXCLUDE_HOST |
                           UINT64_C(1) << PD_ATTR_EXCLUDE_GUEST |
                           UINT64_C(1) << PD_ATTR_SAMPLE_ID_ALL;
    const struct pd_event *event = coresight_event(dump);
    unsigned count = pd_raw_dump_made(dump);
    if (!count)
        return;
    uint64_t id = (event->id_count ? event->ids[0] : 0) + IDS_FROM;
    struct pd_attr attr = {
        .config = PD_HW_BRANCH_INSTRUCTIONS,
        .sample_period = 1,
        .sample_type = (event->attr.sample_type & kept) | PD_SAMPLE_IP | PD_SAMPLE_TID |
                       PD_SAMPLE_ADDR | PD_SAMPLE_PERIOD,
        .read_format = event->attr.read_format,
        .flags = event->attr.flags & flags,
    };
    put_made_event(dump, &attr, id, text);
    if (count < 2)
        return;
    attr.config = PD_HW_INSTRUCTIONS;
    attr.sample_period = PERIOD;
    attr.sample_type &= ~PD_SAMPLE_ADDR;
    put_made_event(dump, &attr, id + 1, text);
}

/* Whether perf drops the sample before it looks for its thread. */
static bool is_dropped(const struct pd_raw_dump *dump, const struct pd_sample *sample)
{
    return dump->filter && (!pd_filter_time(dump->filter, sample->time) ||
                            (dump->drops_cpus && !pd_filter_cpu(dump->filter, sample->cpu)));
}

static bool is_told_by_line(const struct pd_raw_dump *dump, uint32_t type)
{
    return (type == PD_RECORD_LOST || type == PD_RECORD_EXIT) && pd_raw_dump_has_line(dump, type);
}

void pd_raw_dump_record(const struct pd_raw_dump *dump, struct pd_resolver *resolver,
                        const struct pd_delivered *record, bool again, struct pd_text *text)
{
    struct pd_sample sample;
    bool is_sample = record->type == PD_RECORD_SAMPLE && record->event;
    if (record->type == PD_RECORD_COMPRESSED || record->type == PD_RECORD_COMPRESSED2)
        return;
    if (is_sample && pd_sample_decode(record->event, record->data, record->size, &sample) < 0)
        return;
    size_t begin = text->length;
    if (!again) {
        put_place(dump, record, text);
        put_bytes(record, text);
        pd_ibs_text(&dump->ibs, dump->recording, record, text);
        put_time(dump, record, text);
        pd_text_hex_prefixed(text, shown_offset(dump, record));
        uint32_t size;
        (void)pd_made_recorded(record, &size);
        pd_text_format(text, " [%#x]: PERF_RECORD_%s", size, shown_name(record->type));
        if (is_sample)
            put_sample(dump, &sample, record, text);
        else if (record->type >= 64)
            pd_raw_dump_user(dump, record, text);
        else if (!is_told_by_line(dump, record->type))
            put_kernel(dump, resolver, record, text);
        if (record->type == PD_RECORD_AUXTRACE_INFO)
            put_made_events(dump, text);
    }
    if (is_sample && !is_dropped(dump, &sample))
        put_resolved(dump->symbols, resolver, &sample, record, text);
    if (dump->colored && !text->failed)
        pd_raw_dump_color(text, begin);
}

void pd_raw_dump_behind(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                        struct pd_text *text)
{
    struct pd_sample sample;
    if (record->type == PD_RECORD_EXIT && pd_raw_dump_has_line(dump, record->type))
        put_kernel(dump, NULL, record, text);
    if (PD_LIKELY(record->type != PD_RECORD_SAMPLE || !record->event ||
                  !(record->event->plan.sample_type & PD_SAMPLE_AUX)) ||
        dump->no_packets || dump->auxtrace_type != PD_AUXTRACE_INTEL_PT ||
        pd_sample_decode(record->event, record->data, record->size, &sample) < 0 ||
        !sample.aux_size)
        return;
    size_t begin = text->length;
    pd_text_char(text, '\n');
    pd_raw_dump_trace(sample.aux, (size_t)sample.aux_size, text);
    if (dump->colored && !text->failed)
        pd_raw_dump_color(text, begin);
}
