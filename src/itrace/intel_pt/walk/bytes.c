/* SPDX-License-Identifier: MIT */
/* Buffers of a queue -> packets, those that are cut by a buffer's end included. */
#include "itrace/intel_pt/walk/walk.h"

enum { SHORTEST = 16 }; /* bytes that must be there for the short way */

int walk_next_buffer(struct pd_pt_decoder *d, bool reposition)
{
    struct pd_pt_buffer buffer = { 0 };
    d->input.at = d->input.end; /* what is looked for is not found in this buffer */
    walk_settle(d);
    d->input.next = d->input.end = d->input.fast_end = NULL;
    d->input.ended = false;
    walk_log(d, "Getting more data\n");
    while (!d->input.ended && !buffer.size) {
        if (d->config.buffer(d->config.data, &buffer) <= 0)
            d->input.ended = true;
        /* An empty buffer in between does not make what follows consecutive. */
        reposition |= !buffer.consecutive;
    }
    if (d->input.ended) {
        walk_log(d, "No more data\n");
        return PD_PT_NO_DATA;
    }
    d->input.start = d->input.at = d->input.next = buffer.data;
    d->input.end = buffer.data + buffer.size;
    d->input.fast_end = buffer.size > SHORTEST && !d->config.log ? d->input.end - SHORTEST + 1
                                                                 : d->input.start;
    d->input.position = buffer.position;
    d->time.buffer_reference = buffer.reference;
    if (!reposition)
        return STEP_DONE;
    pd_pt_time_reposition(&d->time, buffer.reference);
    walk_log_at(d, "Reference timestamp", buffer.reference);
    d->walk = WALK_NO_PSB;
    d->place.ip = 0;
    walk_forget_node(d);
    d->state.trace_nr = buffer.trace_nr;
    return STEP_AGAIN;
}

static int bad_packet(struct pd_pt_decoder *d)
{
    d->modes.tx_flags = 0;
    d->time.ctc.have_tma = false;
    walk_log(d, "ERROR: Bad packet\n");
    return PD_PT_BAD_PACKET;
}

static void skip_padding(struct pd_pt_decoder *d)
{
    struct pd_pt_packet padding;
    while (d->input.next < d->input.end && !*d->input.next) {
        if (PD_LIKELY(!d->config.log)) {
            d->input.next++;
            continue;
        }
        pd_pt_packet_decode(d->input.next, (size_t)(d->input.end - d->input.next),
                            &d->input.context, &padding);
        pd_pt_log_packet(d->config.log,
                         d->input.position + (uint64_t)(d->input.next - d->input.start),
                         d->input.next, &padding);
        d->input.next += padding.size;
    }
}

int walk_next_packet_slow(struct pd_pt_decoder *d)
{
    d->input.last_kind = d->input.packet.kind;
    do {
        skip_padding(d);
        if (d->input.next >= d->input.end) {
            int error = walk_next_buffer(d, false);
            if (error)
                return error;
            continue;
        }
        d->input.at = d->input.next;
        d->input.last_context = d->input.context;
        pd_pt_packet_decode(d->input.next, (size_t)(d->input.end - d->input.next),
                            &d->input.context, &d->input.packet);
        d->input.next += d->input.packet.size;
        if (PD_UNLIKELY(d->config.log != NULL))
            pd_pt_log_packet(d->config.log, walk_position(d), d->input.at, &d->input.packet);
        if (d->input.packet.kind == PD_PT_BAD)
            return bad_packet(d);
        return STEP_DONE;
    } while (true);
}

int walk_next_packet(struct pd_pt_decoder *d)
{
    return walk_next_packet_here(d);
}

static const uint8_t psb_bytes[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
                                       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

/* How many bytes of a PSB stand at the end of a buffer when the rest of it begins the next one. */
static size_t split_psb(const uint8_t *tail, size_t tail_size, const uint8_t *head,
                        size_t head_size)
{
    for (size_t n = PD_MIN(tail_size, sizeof psb_bytes - 1); n; n--)
        if (head_size >= sizeof psb_bytes - n && !memcmp(tail + tail_size - n, psb_bytes, n) &&
            !memcmp(head, psb_bytes + n, sizeof psb_bytes - n))
            return n;
    return 0;
}

/* Goes to behind the next PSB and calls it the current packet. */
int walk_find_psb(struct pd_pt_decoder *d)
{
    uint8_t tail[15];
    walk_log(d, "Scanning for PSB\n");
    for (;;) {
        size_t size = d->input.next < d->input.end ? (size_t)(d->input.end - d->input.next) : 0;
        size_t at = size ? pd_pt_find_psb(d->input.next, size, 0) : size;
        if (at < size) {
            d->input.at = d->input.next + at;
            d->input.next = d->input.at + 16;
            break;
        }
        size_t keep = PD_MIN(size, sizeof tail);
        if (keep)
            memcpy(tail, d->input.end - keep, keep);
        int error = walk_next_buffer(d, false);
        if (error && error != STEP_AGAIN)
            return error;
        if (error)
            walk_log(d, "Scanning for PSB\n");
        size_t part = error ? 0
                            : split_psb(tail, keep, d->input.next,
                                        (size_t)(d->input.end - d->input.next));
        if (part) {
            d->input.at = d->input.next; /* its position is that of its rest */
            d->input.next += 16 - part;
            break;
        }
    }
    d->input.packet = (struct pd_pt_packet){ .kind = PD_PT_PSB, .size = 16 };
    d->input.context = d->input.last_context = PD_PT_NO_BLOCK;
    if (PD_UNLIKELY(d->config.log != NULL))
        pd_pt_log_packet(d->config.log, walk_position(d), psb_bytes, &d->input.packet);
    return STEP_DONE;
}

/* ---- looking ahead in the buffer ---- */

static bool peek(const struct pd_pt_decoder *d, const uint8_t **at, enum pd_pt_context *context,
                 struct pd_pt_packet *out)
{
    while (*at < d->input.end && !**at)
        ++*at;
    if (*at >= d->input.end)
        return false;
    pd_pt_packet_decode(*at, (size_t)(d->input.end - *at), context, out);
    *at += out->size;
    return out->kind != PD_PT_BAD;
}

/* Packets that say how things stand, in PSB+ and elsewhere. */
static bool is_state(unsigned kind)
{
    switch (kind) {
    case PD_PT_MNT:
    case PD_PT_TSC:
    case PD_PT_TMA:
    case PD_PT_MODE_EXEC:
    case PD_PT_MODE_TSX:
    case PD_PT_MTC:
    case PD_PT_CYC:
    case PD_PT_VMCS:
    case PD_PT_CBR:
    case PD_PT_PIP: return true;
    default: return false;
    }
}

/* Some CPUs say in PSB+ where they were before tracing went on elsewhere (BDM70): a TIP.PGE right
 * behind the PSB+ gives them away. */
static bool stale_fup(const struct pd_pt_decoder *d, const uint8_t *at, enum pd_pt_context context)
{
    struct pd_pt_packet packet;
    for (unsigned left = 6; left; left--) {
        if (!peek(d, &at, &context, &packet))
            return false;
        switch (packet.kind) {
        case PD_PT_TIP_PGE: return true;
        case PD_PT_PTWRITE:
        case PD_PT_EXSTOP:
        case PD_PT_MWAIT:
        case PD_PT_PWRE:
        case PD_PT_PWRX:
        case PD_PT_BBP:
        case PD_PT_BIP:
        case PD_PT_BEP:
        case PD_PT_CFE:
        case PD_PT_EVD: break;
        default:
            if (!is_state(packet.kind))
                return false;
        }
    }
    return false;
}

bool walk_fup_in_psb(const struct pd_pt_decoder *d, struct pd_pt_packet *fup)
{
    const uint8_t *at = d->input.next;
    enum pd_pt_context context = d->input.context;
    struct pd_pt_packet packet;
    fup->kind = PD_PT_BAD;
    while (peek(d, &at, &context, &packet)) {
        switch (packet.kind) {
        case PD_PT_FUP:
            if (fup->kind == PD_PT_FUP || !packet.count)
                return fup->kind == PD_PT_FUP;
            *fup = packet;
            break;
        case PD_PT_PSBEND: return fup->kind == PD_PT_FUP && !stale_fup(d, at, context);
        default:
            if (!is_state(packet.kind))
                return fup->kind == PD_PT_FUP;
        }
    }
    return fup->kind == PD_PT_FUP;
}

/* Takes the rest of a value of 64 outcomes from the TNT packets that follow; false: they do not
 * come. */
bool walk_peek_outcomes(const struct pd_pt_decoder *d, uint64_t *value)
{
    const uint8_t *at = d->input.next;
    enum pd_pt_context context = d->input.context;
    struct pd_pt_packet packet;
    unsigned count = PD_MIN(d->unused.tnt_count, 64u);
    *value = d->unused.tnt;
    while (count < 64) {
        if (!peek(d, &at, &context, &packet))
            return false;
        switch (packet.kind) {
        case PD_PT_TNT:
            if (packet.count)
                *value |= packet.payload >> count;
            count += packet.count;
            break;
        case PD_PT_TIP:
        case PD_PT_TIP_PGE:
        case PD_PT_TIP_PGD:
        case PD_PT_OVF:
        case PD_PT_TRACESTOP: return false;
        default: break;
        }
    }
    return true;
}
