/* SPDX-License-Identifier: MIT */
/* What the walk writes into the debug log. */
#include "itrace/intel_pt/walk/walk.h"

/* ---- time ---- */

static void log_time(struct pd_pt_decoder *d)
{
    walk_log(d, "Setting timestamp to 0x%llx\n", (unsigned long long)d->time.timestamp);
}

/* Logs a time that would be before the last one. */
static void log_suppressed(struct pd_pt_decoder *d, const char *kind, uint64_t time, uint64_t last)
{
    if (time < last)
        walk_log(d, "Suppressing %s timestamp 0x%llx less than current timestamp 0x%llx\n", kind,
                 (unsigned long long)time, (unsigned long long)last);
}

static void log_calibration(struct pd_pt_decoder *d, const struct pd_pt_calibration *told)
{
    if (!told->at)
        return;
    walk_log(d, "Timestamp: calculated %g TSC ticks per cycle ", told->factor);
    if (!told->has_cbr)
        walk_log(d, "c.f. unknown CBR-based value, pos ");
    else if (told->too_big)
        walk_log(d, "too big (c.f. CBR-based value %g), pos ", told->cbr_factor);
    else
        walk_log(d, "c.f. CBR-based value %g, pos ", told->cbr_factor);
    walk_log(d, "0x%llx\n",
             (unsigned long long)(d->input.position + (uint64_t)(told->at - d->input.start)));
}

static void log_tsc(struct pd_pt_decoder *d, const struct pd_pt_time *before)
{
    const struct pd_pt_time *time = &d->time;
    if (!before->reference && before->timestamp) {
        uint64_t tsc = pd_pt_time_joined(before, d->input.packet.payload);
        if (tsc < before->timestamp && time->timestamp == before->timestamp)
            walk_log(d, "Suppressing %s timestamp to 0x%llx\n",
                     pd_pt_time_slips(before, tsc) ? "backwards" : "bad", (unsigned long long)tsc);
    }
    log_time(d);
}

bool walk_status_logged(struct pd_pt_decoder *d)
{
    struct pd_pt_calibration told = { 0 };
    struct pd_pt_time before = d->time;
    struct pd_pt_time *time = &d->time;
    unsigned kind = d->input.packet.kind;
    time->told = &told;
    bool is_status = walk_status_now(d);
    time->told = NULL;
    switch (kind) {
    case PD_PT_CYC:
        if (!time->cyc_reference || !(time->have_cyc_to_tsc || time->cbr))
            break;
        log_suppressed(d, "CYC", pd_pt_time_by_cycles(time, time->cycles), before.timestamp);
        log_time(d);
        break;
    case PD_PT_MTC:
        if (!time->ctc.have_tma)
            break;
        log_suppressed(d, "MTC", time->ctc.timestamp + pd_pt_time_ctc_ticks(time, time->ctc.delta),
                       before.timestamp);
        log_calibration(d, &told);
        log_time(d);
        break;
    case PD_PT_TSC: log_tsc(d, &before); break;
    case PD_PT_TMA:
        if (time->rate.tsc_ctc_d)
            walk_log(d, "CTC timestamp 0x%llx last MTC %#x  CTC rem %#x\n",
                     (unsigned long long)time->ctc.timestamp, time->ctc.last_mtc,
                     (unsigned)(d->input.packet.payload & time->rate.ctc_mask));
        break;
    default: break;
    }
    return is_status;
}

/* ---- instructions ---- */

/* The place in the code, so that the walk can come back to it. */
struct place {
    uint64_t ip;
    struct pd_code_node *node, *from;
    uint32_t index;
    bool from_taken;
};

static struct place place_of(const struct pd_pt_decoder *d)
{
    return (struct place){ d->place.ip, d->place.node, d->place.from, d->place.index,
                           d->place.from_taken };
}

static void go_to(struct pd_pt_decoder *d, const struct place *place)
{
    d->place.ip = place->ip;
    d->place.node = place->node;
    d->place.from = place->from;
    d->place.index = place->index;
    d->place.from_taken = place->from_taken;
}

static void go_behind(struct pd_pt_decoder *d, struct pd_code_node *node)
{
    d->place.ip = node->next_ip;
    d->place.node = NULL;
    d->place.from = node;
    d->place.from_taken = false;
}

static void log_branch(struct pd_pt_decoder *d, const struct pd_code_node *node, bool bytes)
{
    pd_pt_log_insn(d->config.log, node->last_ip,
                   bytes && node->code ? node->code + (node->last_ip - node->ip) : NULL,
                   node->length, node->op, node->branch, (int64_t)(node->target - node->next_ip));
}

/* Only the branch of a run is shown when the run is known. */
static void log_kept(struct pd_pt_decoder *d)
{
    enum pd_code_error error;
    struct pd_code_node *node;
    while ((node = walk_resolve(d, &error)) != NULL) {
        if (node->branch != PD_BRANCH_NONE) {
            log_branch(d, node, false);
            return;
        }
        go_behind(d, node);
    }
}

struct run {
    uint64_t to_ip, max;
    uint32_t count;
    uint64_t end; /* behind its branch */
};

/* The rest of a node, up to its branch. False: the run ends before it. */
static bool log_node(struct pd_pt_decoder *d, const struct pd_code_node *node, struct run *run)
{
    for (; d->place.index < node->insns; d->place.index++) {
        bool last = d->place.index + 1 == node->insns;
        unsigned length = last ? node->length : node->lengths[d->place.index];
        run->count++;
        if (last && node->branch != PD_BRANCH_NONE) {
            log_branch(d, node, true);
            return true;
        }
        pd_pt_log_insn(d->config.log, d->place.ip,
                       node->code ? node->code + (d->place.ip - node->ip) : NULL, length,
                       PD_INSN_OTHER, PD_BRANCH_NONE, 0);
        if (run->max && run->count >= run->max)
            return false;
        d->place.ip += length;
        if (run->to_ip && d->place.ip == run->to_ip)
            return false;
    }
    return true;
}

/* Logs a run. False: it did not get to a branch in one map. */
static bool log_run(struct pd_pt_decoder *d, struct run *run)
{
    const struct pd_map *map = NULL;
    enum pd_code_error error;
    struct pd_code_node *node;
    bool one_map = true;
    while ((node = walk_resolve(d, &error)) != NULL) {
        one_map &= !map || map == node->map;
        map = node->map;
        if (!log_node(d, node, run))
            return false;
        if (node->branch != PD_BRANCH_NONE) {
            if (node->emulated_ptwrite)
                walk_log(d, "Emulated ptwrite signature found\n");
            run->end = node->next_ip;
            return one_map;
        }
        go_behind(d, node);
    }
    return false;
}

void walk_log_run(struct pd_pt_decoder *d, uint64_t to_ip, uint64_t max)
{
    struct pd_pt_log *log = d->config.log;
    struct place begin = place_of(d);
    struct pd_code_place place;
    struct run run = { to_ip, max, 0, 0 };
    if (to_ip && d->place.ip == to_ip)
        return;
    bool placed = d->code.view && log->place && log->place(d->code.view, d->place.ip, &place);
    uint32_t kept = placed ? pd_pt_log_kept(log, &place) : 0;
    if (kept && !to_ip && (!max || kept <= max))
        log_kept(d);
    else if (log_run(d, &run) && placed && !(to_ip && kept))
        pd_pt_log_keep(log, &place, run.count, run.end - begin.ip);
    go_to(d, &begin);
}
