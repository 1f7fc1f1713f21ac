/* SPDX-License-Identifier: MIT */
/* Bytes of a trace -> where its PSBs are, and what a PSB+ says. */
#include "itrace/intel_pt/psb.h"
#include "itrace/intel_pt/packet.h"

enum {
    LONGEST_PACKET = 16, /* with fewer bytes left, a bad packet may be one that is cut */
    LEAST_TAIL = 16 << 10
};

struct reading {
    const uint8_t *at, *end;
    enum pd_pt_context context;
    struct pd_pt_packet packet;
    bool has_tsc;
};

/* 1: a packet, 0: a bad one, < 0: it may be cut. */
static int next_packet(struct reading *r)
{
    while (r->at < r->end && !*r->at)
        r->at++;
    if (r->at >= r->end)
        return -1;
    pd_pt_packet_decode(r->at, (size_t)(r->end - r->at), &r->context, &r->packet);
    if (r->packet.kind == PD_PT_BAD)
        return r->end - r->at < LONGEST_PACKET ? -1 : 0;
    r->at += r->packet.size;
    return 1;
}

static int state_of(unsigned kind)
{
    switch (kind) {
    case PD_PT_CBR: return 0;
    case PD_PT_MODE_EXEC: return 1;
    case PD_PT_MODE_TSX: return 2;
    case PD_PT_PIP: return 3;
    case PD_PT_VMCS: return 4;
    case PD_PT_MNT: return 5;
    default: return -1;
    }
}

/* False: the PSB+ is not plain. */
static bool take(struct reading *r, struct pd_pt_psb *out)
{
    const struct pd_pt_packet *packet = &r->packet;
    const int state = state_of(packet->kind);
    if (state >= 0) {
        if (out->has[state])
            return false;
        out->has[state] = true;
        /* The highest bit of a payload with such a bit beside it is free. */
        out->state[state] = packet->payload | (uint64_t)packet->ip << 63;
        return true;
    }
    switch (packet->kind) {
    case PD_PT_TSC:
        if (r->has_tsc || out->has_tma || out->ip)
            return false;
        r->has_tsc = true;
        out->tsc = packet->payload;
        return true;
    case PD_PT_TMA:
        if (!r->has_tsc || out->has_tma || out->ip)
            return false;
        return out->has_tma = true;
    case PD_PT_FUP: return !out->ip && pd_pt_ip(packet, &out->ip) && out->ip;
    default: return false;
    }
}

int pd_pt_psb_read(const uint8_t *at, const uint8_t *end, struct pd_pt_psb *out)
{
    struct reading r = { .at = at + 16, .end = end, .context = PD_PT_NO_BLOCK };
    *out = (struct pd_pt_psb){ .size = 0 };
    int got;
    while ((got = next_packet(&r)) > 0 && r.packet.kind != PD_PT_PSBEND)
        if (!take(&r, out))
            return 0;
    if (got <= 0 || !r.has_tsc)
        return PD_MIN(got, 0);
    out->size = (size_t)(r.at - at);
    return next_packet(&r);
}

bool pd_pt_psb_alike(const struct pd_pt_psb *before, const struct pd_pt_psb *psb)
{
    bool alike = before->has_tma == psb->has_tma;
    for (unsigned i = 0; i < PD_PT_PSB_STATES; i++)
        alike &= !psb->has[i] || (before->has[i] && before->state[i] == psb->state[i]);
    return alike;
}

/* The same of [from, size). */
static size_t cut_behind(const uint8_t *bytes, size_t size, size_t from)
{
    struct pd_pt_psb psb;
    size_t cut = 0, behind = 0; /* behind: a plain PSB+ */
    for (size_t at = pd_pt_find_psb(bytes, size, from); at < size;
         at = pd_pt_find_psb(bytes, size, at + (behind ? psb.size : 16))) {
        if (behind)
            cut = at;
        behind = pd_pt_psb_read(bytes + at, bytes + size, &psb) > 0 ? at + psb.size : 0;
    }
    return cut;
}

size_t pd_pt_psb_cut(const uint8_t *bytes, size_t size)
{
    size_t from = size > LEAST_TAIL ? size - LEAST_TAIL : 0, cut = cut_behind(bytes, size, from);
    return cut || !from ? cut : cut_behind(bytes, size, 0);
}
