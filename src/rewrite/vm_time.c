/* SPDX-License-Identifier: MIT */
/* VM time correlation: TSC packets that a guest's offset has moved get the host's time back, in the
 * file itself. Nothing but packets is looked at: MTC and TMA keep the host's time, so an expected
 * TSC is known; the difference is the VMCS's offset. */
#include "base/vec.h"
#include "container/handle.h"
#include "io/at.h"
#include "itrace/intel_pt/time.h"
#include "itrace/aux/aux.h"
#include "itrace/intel_pt/packet.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <perfdata/rewrite.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TSC_MASK ((UINT64_C(1) << 56) - 1)
#define NO_VMCS UINT64_C(0xffffffffff) /* what the packet says without one */
enum { TSC_BYTES = 7, FUP_WITHIN = 16, TMA_WITHIN = 16, PEBS_BASIC = 4, PEBS_TSC = 2 };

struct vmcs {
    uint64_t number, offset; /* 0: unknown */
    bool reliable, told;
};

struct correlation {
    struct pd_recording *recording;
    const struct pd_aux *aux;
    struct perfdata_vm_time_options options;
    PD_VEC(struct vmcs) vmcs;
    uint64_t offset; /* of all that have none of their own; 0: unknown */
    bool dry_run;
    int fd; /* to write to, -1 in a dry run */
    perfdata_status status;
};

/* What a PSB+ or the packets around a TSC say. */
struct around {
    bool psbend, tsc, tma, pip, vmcs;
    uint64_t tsc_payload, pip_payload, vmcs_payload;
    uint32_t ctc, fast_counter;
};

/* One queue. */
struct queue {
    struct correlation *all;
    struct pd_pt_time time;
    struct pd_aux_piece piece;
    enum pd_pt_context context;
    bool pge, after_cyc, in_psb;
    bool reliable, same_buffer, continuous, told_range, told_no_vmcs;
    uint64_t pip, vmcs, last_reliable;
    struct around psb; /* of the PSB+ it is in */
    uint32_t block;    /* type of the PEBS block */
};

PD_PRINTF(2, 3) static void tell(struct correlation *all, const char *format, ...)
{
    struct pd_text text = { 0 };
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (all->options.write && all->options.write(all->options.data, line, strlen(line)) &&
        all->status == PERFDATA_OK)
        all->status = pd_fail(&all->recording->context, PERFDATA_ERROR_OUTPUT, -1,
                              "the text could not be written");
    pd_text_free(&text);
}

/* ---- VMCSs ---- */

/* NULL: none is known, or no memory. */
static struct vmcs *find_vmcs(struct correlation *all, uint64_t number)
{
    if (number == NO_VMCS)
        return NULL;
    for (size_t i = 0; i < all->vmcs.count; i++)
        if (all->vmcs.data[i].number == number)
            return &all->vmcs.data[i];
    struct vmcs vmcs = { .number = number, .offset = all->offset, .reliable = all->offset != 0 };
    return pd_vec_push(&all->vmcs, vmcs) ? &all->vmcs.data[all->vmcs.count - 1] : NULL;
}

static bool take_number(const char **text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(*text, &end, 0);
    if (end == *text || errno)
        return false;
    *text = end;
    return true;
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

/* The list of VMCSs that have this offset, which stands behind it and a ":". */
static bool take_list(struct correlation *all, const char **text, uint64_t offset)
{
    uint64_t number;
    do {
        if (!take_number(text, &number))
            return false;
        struct vmcs *vmcs = find_vmcs(all, number);
        if (vmcs) {
            vmcs->offset = offset;
            vmcs->reliable = offset != 0;
        }
    } while (*(*text) == ',' && (*text)++);
    return true;
}

/* The value of --vm-time-correlation: "dry-run", an offset for all, offsets of single VMCSs. */
static bool parse(struct correlation *all, const char *text)
{
    static const char dry_run[] = "dry-run";
    text = skip_blanks(text);
    if (!strncmp(text, dry_run, sizeof dry_run - 1)) {
        all->dry_run = true;
        text += sizeof dry_run - 1;
        if (*text && *text != ' ')
            return false;
    }
    for (text = skip_blanks(text); *text; text = skip_blanks(text)) {
        uint64_t offset;
        if (!take_number(&text, &offset))
            return false;
        if (*text == ':') {
            text++;
            if (!take_list(all, &text, offset))
                return false;
        } else {
            all->offset = offset;
        }
        if (*text && *text != ' ')
            return false;
    }
    return true;
}

/* ---- the file ---- */

static void write_at(struct queue *queue, size_t at, const void *bytes, size_t size)
{
    struct correlation *all = queue->all;
    const struct pd_aux_buffer *buffer = queue->piece.buffer;
    if (all->fd < 0 || all->status < 0)
        return;
    uint64_t place = buffer->file_offset + queue->piece.from + at;
    if (!pd_write_at(all->fd, place, bytes, size))
        all->status = pd_fail(&all->recording->context, PERFDATA_ERROR_OUTPUT, (int64_t)place,
                              "the recording cannot be written: %s", strerrordesc_np(errno));
}

/* Gives the packet at `at` the host's time, in the file and in `packet`. */
static void translate(struct queue *queue, size_t at, uint64_t offset, struct pd_pt_packet *packet)
{
    uint8_t bytes[TSC_BYTES];
    packet->payload = (packet->payload - offset) & TSC_MASK;
    for (unsigned i = 0; i < TSC_BYTES; i++)
        bytes[i] = (uint8_t)(packet->payload >> 8 * i);
    write_at(queue, at + 1, bytes, sizeof bytes);
}

/* ---- looking ahead ---- */

static bool next_packet(const uint8_t *bytes, size_t size, size_t *at, enum pd_pt_context *context,
                        struct pd_pt_packet *out)
{
    if (*at >= size)
        return false;
    pd_pt_packet_decode(bytes + *at, size - *at, context, out);
    *at += out->size;
    return true;
}

/* Looks at the packets from behind a PSB on. */
static void look_at_psb(const uint8_t *bytes, size_t size, size_t at, struct around *out)
{
    enum pd_pt_context context = PD_PT_NO_BLOCK;
    struct pd_pt_packet packet;
    memset(out, 0, sizeof *out);
    while (next_packet(bytes, size, &at, &context, &packet)) {
        switch (packet.kind) {
        case PD_PT_TSC:
            out->tsc = true;
            out->tsc_payload = packet.payload;
            break;
        case PD_PT_TMA:
            out->tma = true;
            out->ctc = (uint32_t)packet.payload;
            out->fast_counter = packet.extra;
            break;
        case PD_PT_PIP:
            out->pip = true;
            out->pip_payload = packet.payload;
            break;
        case PD_PT_VMCS:
            out->vmcs = true;
            out->vmcs_payload = packet.payload;
            break;
        case PD_PT_PSBEND: out->psbend = true; return;
        case PD_PT_CYC:
        case PD_PT_MTC:
        case PD_PT_FUP:
        case PD_PT_MODE_EXEC:
        case PD_PT_MODE_TSX:
        case PD_PT_CBR:
        case PD_PT_MNT:
        case PD_PT_PAD: break;
        default: return;
        }
    }
}

/* Looks behind a TSC for its TMA, which some CYC and MTC may precede. */
static bool look_for_tma(const uint8_t *bytes, size_t size, size_t at, struct around *out)
{
    enum pd_pt_context context = PD_PT_NO_BLOCK;
    struct pd_pt_packet packet;
    for (unsigned n = 0; n <= TMA_WITHIN && next_packet(bytes, size, &at, &context, &packet);) {
        if (packet.kind == PD_PT_TMA) {
            out->ctc = (uint32_t)packet.payload;
            out->fast_counter = packet.extra;
            return out->tma = true;
        }
        if (packet.kind != PD_PT_CYC && packet.kind != PD_PT_MTC && packet.kind != PD_PT_PAD &&
            packet.kind != PD_PT_CBR)
            return false;
        n += packet.kind == PD_PT_CYC || packet.kind == PD_PT_MTC;
    }
    return false;
}

/* Looks behind an OVF: if a FUP comes, tracing was on. */
static bool look_for_fup(const uint8_t *bytes, size_t size, size_t at)
{
    enum pd_pt_context context = PD_PT_NO_BLOCK;
    struct pd_pt_packet packet;
    for (unsigned n = 0; n <= FUP_WITHIN && next_packet(bytes, size, &at, &context, &packet);) {
        if (packet.kind == PD_PT_FUP)
            return true;
        if (packet.kind != PD_PT_CYC && packet.kind != PD_PT_MTC && packet.kind != PD_PT_TSC &&
            packet.kind != PD_PT_PAD)
            return false;
        n += packet.kind != PD_PT_PAD;
    }
    return false;
}

/* ---- a TSC packet ---- */

static bool in_range(struct queue *queue, uint64_t tsc)
{
    if (tsc >= queue->last_reliable && tsc < queue->time.buffer_reference)
        return true;
    if (!queue->told_range)
        tell(queue->all, "Timestamp out of range\n");
    queue->told_range = true;
    return false;
}

static void is_host(struct queue *queue, uint64_t tsc)
{
    queue->last_reliable = tsc;
    queue->reliable = true;
}

/* Nothing is expected yet. */
static void first_tsc(struct queue *queue, const struct around *around, size_t at, uint64_t host,
                      struct pd_pt_packet *packet)
{
    if (!queue->in_psb) {
        tell(queue->all, "ERROR: First TSC is not in PSB+\n");
        return;
    }
    bool guest = around->pip ? around->pip_payload & 1 : !in_range(queue, host);
    if (!guest) {
        is_host(queue, host);
        return;
    }
    struct vmcs *vmcs = find_vmcs(queue->all, queue->vmcs);
    if (vmcs && vmcs->offset)
        translate(queue, at, vmcs->offset, packet);
    else
        tell(queue->all, around->pip ? "ERROR: First TSC, unknown TSC Offset\n"
                                     : "ERROR: First TSC, no PIP, unknown TSC Offset\n");
}

static void assign(struct queue *queue, struct vmcs *vmcs, uint64_t offset, bool reliable)
{
    bool same = vmcs->offset == offset;
    vmcs->offset = offset;
    vmcs->reliable = reliable;
    if (!same)
        tell(queue->all, "VMCS: %#" PRIx64 "  TSC Offset %#" PRIx64 "\n", vmcs->number, offset);
}

static void is_guest(struct queue *queue, const struct around *around, size_t at, uint64_t offset,
                     struct pd_pt_packet *packet)
{
    struct correlation *all = queue->all;
    struct vmcs *vmcs = find_vmcs(all, queue->vmcs);
    if (!vmcs) {
        if (!queue->told_no_vmcs)
            tell(all, around->pip ? "ERROR: Missing VMCS\n" : "ERROR: Unknown VMCS\n");
        queue->told_no_vmcs = true;
        translate(queue, at, offset, packet);
        return;
    }
    if (!vmcs->reliable && queue->in_psb && around->pip && queue->same_buffer)
        assign(queue, vmcs, offset, queue->continuous && queue->reliable);
    if (!vmcs->offset && !vmcs->told) {
        vmcs->told = true;
        tell(all, "ERROR: Unknown TSC Offset for VMCS %#" PRIx64 "\n", vmcs->number);
    }
    translate(queue, at, vmcs->offset ? vmcs->offset : offset, packet);
}

static void take_tsc(struct queue *queue, const uint8_t *bytes, size_t size, size_t at,
                     struct pd_pt_packet *packet)
{
    struct pd_pt_time *time = &queue->time;
    struct around around = { .pip = queue->pge, .pip_payload = queue->pip };
    if (queue->in_psb)
        around = queue->psb;
    else
        look_for_tma(bytes, size, at + packet->size, &around);
    if (!around.tma) {
        tell(queue->all, "ERROR: TSC without TMA\n");
        return;
    }
    uint64_t host = pd_pt_time_wide(packet->payload,
                                    time->timestamp ? time->timestamp : time->buffer_reference);
    if (!time->ctc.timestamp) {
        first_tsc(queue, &around, at, host, packet);
        return;
    }
    int16_t ticks = (int16_t)(around.ctc - (uint16_t)(time->ctc.last_ctc + time->ctc.delta));
    uint64_t ctc = time->ctc.delta + (uint64_t)(int64_t)ticks;
    uint64_t expected = time->ctc.timestamp + pd_pt_time_ctc_ticks(time, ctc) + around.fast_counter;
    uint64_t offset = host - expected;
    const struct vmcs *vmcs = find_vmcs(queue->all, queue->vmcs);
    bool guest;
    if (around.pip)
        guest = around.pip_payload & 1;
    else if (queue->in_psb && !offset)
        guest = false;
    else if (queue->in_psb && vmcs && vmcs->offset && !((offset ^ vmcs->offset) & TSC_MASK))
        guest = true;
    else
        guest = host < expected || !in_range(queue, host);
    if (guest)
        is_guest(queue, &around, at, offset, packet);
    else
        is_host(queue, host);
}

/* ---- a queue ---- */

static void take_psb(struct queue *queue, const uint8_t *bytes, size_t size, size_t behind)
{
    look_at_psb(bytes, size, behind, &queue->psb);
    queue->in_psb = queue->psb.psbend;
    if (!queue->psb.psbend) {
        tell(queue->all, "ERROR: PSB without PSBEND\n");
        return;
    }
    if (queue->psb.pip)
        queue->pip = queue->psb.pip_payload;
    if (queue->psb.vmcs && queue->psb.vmcs_payload != NO_VMCS)
        queue->vmcs = queue->psb.vmcs_payload;
}

/* The time of a PEBS record of a guest. */
static void take_item(struct queue *queue, size_t behind, const struct pd_pt_packet *packet)
{
    struct vmcs *vmcs = find_vmcs(queue->all, queue->vmcs);
    if (queue->block != PEBS_BASIC || packet->count != PEBS_TSC || !(queue->pip & 1) || !vmcs ||
        !vmcs->offset || queue->context != PD_PT_BLOCK_8)
        return;
    uint64_t tsc = packet->payload - vmcs->offset;
    uint8_t raw[8];
    for (unsigned i = 0; i < sizeof raw; i++)
        raw[i] = (uint8_t)(tsc >> 8 * i);
    write_at(queue, behind - sizeof raw, raw, sizeof raw);
}

static void take_flow(struct queue *queue, const uint8_t *bytes, size_t size, size_t behind,
                      const struct pd_pt_packet *packet)
{
    switch (packet->kind) {
    case PD_PT_FUP:
        if (!queue->in_psb)
            break; /* fallthrough */
    case PD_PT_TNT:
    case PD_PT_TIP:
    case PD_PT_TIP_PGE: queue->pge = queue->time.pge = true; break;
    case PD_PT_TIP_PGD:
    case PD_PT_TRACESTOP: queue->pge = queue->time.pge = false; break;
    case PD_PT_OVF:
        queue->pge = queue->time.pge = look_for_fup(bytes, size, behind);
        queue->in_psb = false;
        queue->continuous = false;
        break;
    case PD_PT_PSBEND: queue->in_psb = false; break;
    case PD_PT_PIP: queue->pip = packet->payload; break;
    case PD_PT_VMCS:
        if (packet->payload != NO_VMCS)
            queue->vmcs = packet->payload;
        break;
    case PD_PT_BBP: queue->block = packet->extra; break;
    case PD_PT_BAD: queue->continuous = queue->time.ctc.have_tma = false; break;
    default: break;
    }
}

static void take_packet(struct queue *queue, const uint8_t *bytes, size_t size, size_t at,
                        struct pd_pt_packet *packet)
{
    struct pd_pt_time *time = &queue->time;
    uint64_t before = time->timestamp;
    size_t behind = at + packet->size;
    switch (packet->kind) {
    case PD_PT_PSB: take_psb(queue, bytes, size, behind); break;
    case PD_PT_TSC:
        take_tsc(queue, bytes, size, at, packet);
        pd_pt_time_tsc(time, packet->payload, queue->after_cyc);
        break;
    case PD_PT_TMA:
        pd_pt_time_tma(time, (uint32_t)packet->payload, packet->extra, queue->in_psb);
        queue->same_buffer = queue->continuous = true;
        break;
    case PD_PT_MTC:
        if (pd_pt_time_mtc(time, (uint32_t)packet->payload, queue->after_cyc))
            pd_pt_time_calibrate(time, bytes + behind, size - behind, queue->context, true);
        queue->same_buffer |= time->ctc.have_tma;
        break;
    case PD_PT_CYC: pd_pt_time_cyc(time, packet->payload); break;
    case PD_PT_CBR: pd_pt_time_cbr(time, (uint32_t)packet->payload); break;
    case PD_PT_BIP: take_item(queue, behind, packet); break;
    default: take_flow(queue, bytes, size, behind, packet); break;
    }
    if (time->timestamp != before)
        in_range(queue, time->timestamp);
    if (packet->kind != PD_PT_PAD)
        queue->after_cyc = packet->kind == PD_PT_CYC;
}

/* Zeroes what the buffer before has as well. */
static void clear_overlap(struct queue *queue)
{
    static const uint8_t zeros[4096];
    uint64_t cut = queue->piece.from;
    queue->piece.from = 0;
    for (uint64_t at = 0; at < cut && !queue->piece.inside; at += sizeof zeros)
        write_at(queue, (size_t)at, zeros, (size_t)PD_MIN(cut - at, sizeof zeros));
    queue->piece.from = cut;
}

static perfdata_status run_queue(struct correlation *all, uint32_t number)
{
    const struct pd_pt_info *info = &all->aux->info.pt;
    struct queue queue = { .all = all, .vmcs = NO_VMCS };
    struct pd_aux_reader *reader;
    uint64_t ratio = info->max_non_turbo_ratio;
    pd_pt_time_init(
        &queue.time, info->tsc_ctc_n, info->tsc_ctc_d, all->aux->modes.mtc_shift,
        (unsigned)(ratio ? ratio
                         : (pd_ns_to_ticks(&info->time, 1000000000) + 50000000) / 100000000));
    int got = pd_aux_reader_open(all->aux, number, &reader);
    while (got >= 0 && all->status == PERFDATA_OK &&
           (got = pd_aux_reader_next(reader, &queue.piece)) > 0) {
        struct pd_pt_packet packet;
        clear_overlap(&queue);
        if (!queue.piece.consecutive) {
            pd_pt_time_reposition(&queue.time, queue.piece.reference);
            queue.context = PD_PT_NO_BLOCK;
            queue.continuous = queue.in_psb = false;
        }
        queue.same_buffer &= queue.piece.inside;
        queue.time.buffer_reference = queue.piece.reference;
        for (size_t at = 0; at < queue.piece.size && all->status == PERFDATA_OK;
             at += packet.size) {
            pd_pt_packet_decode(queue.piece.data + at, queue.piece.size - at, &queue.context,
                                &packet);
            take_packet(&queue, queue.piece.data, queue.piece.size, at, &packet);
        }
    }
    pd_aux_reader_close(reader);
    return got < 0 ? got : all->status;
}

static perfdata_status check(struct correlation *all)
{
    struct pd_context *context = &all->recording->context;
    if (all->aux->info.type != PD_AUXTRACE_INTEL_PT)
        return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1,
                       "the recording has no Intel PT: there is nothing to correlate");
    if (all->aux->modes.timeless)
        return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1,
                       "Intel PT has no time information for VM Time Correlation");
    if (!all->aux->modes.event || !(all->aux->modes.config & all->aux->info.pt.mtc_bit))
        return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1,
                       "MTC packets must have been enabled for VM Time Correlation");
    if (!all->dry_run && !all->options.write_to)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "Input file name required for in-place updating");
    return PERFDATA_OK;
}

static perfdata_status run(struct correlation *all, struct pd_aux *aux)
{
    all->aux = aux;
    perfdata_status status = pd_aux_load(aux);
    if (status == PERFDATA_OK)
        status = check(all);
    if (status == PERFDATA_OK && !all->dry_run) {
        all->fd = open(all->options.write_to, O_RDWR | O_CLOEXEC);
        if (all->fd < 0)
            status = pd_fail(&all->recording->context, PERFDATA_ERROR_OUTPUT, -1,
                             "%s: cannot write: %s", all->options.write_to, strerrordesc_np(errno));
    }
    for (uint32_t i = 0; i < aux->queues.count && status == PERFDATA_OK; i++)
        status = run_queue(all, i);
    if (all->fd >= 0 && close(all->fd) < 0 && status == PERFDATA_OK)
        status = pd_fail(&all->recording->context, PERFDATA_ERROR_OUTPUT, -1,
                         "%s: cannot write: %s", all->options.write_to, strerrordesc_np(errno));
    return status;
}

perfdata_status perfdata_correlate_vm_time(perfdata_recording *recording,
                                           const struct perfdata_vm_time_options *options)
{
    if (!recording->open || !options)
        return PERFDATA_ERROR_ARGUMENT;
    struct correlation all = { .recording = &recording->recording, .fd = -1 };
    perfdata_status taken = pd_take_options(&all.recording->context, &all.options,
                                            sizeof all.options, options);
    if (taken < 0)
        return taken;
    if (all.options.offsets && !parse(&all, all.options.offsets)) {
        pd_vec_free(&all.vmcs);
        return pd_fail(&all.recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "Failed to parse VM Time Correlation options");
    }
    struct pd_aux_options how = { .keep_vm_time = true };
    struct pd_aux *aux = NULL;
    perfdata_status status = pd_aux_open(all.recording, &how, &aux);
    if (status == PERFDATA_OK)
        status = run(&all, aux);
    pd_aux_close(aux);
    pd_vec_free(&all.vmcs);
    return status;
}
