/* SPDX-License-Identifier: MIT */
/* AUX queues -> queues of steps: the decoder of each, set up by the options and the event, and what
 * it reads. */
#include "itrace/synth/ahead_segments.h"

static int next_buffer(void *data, struct pd_pt_buffer *out)
{
    struct pd_synth_queue *queue = data;
    struct pd_aux_piece piece;
    if (queue->synth->plan.step_through && queue->given)
        return 0;
    pd_synth_segments_next(queue);
    int got = pd_aux_reader_next(queue->reader, &piece);
    if (got < 0)
        queue->synth->status = got;
    if (got <= 0)
        return got;
    queue->given = true;
    /* As perf, which numbers a trace where it begins: one that is entered later, by --time, has
     * none. */
    *out = (struct pd_pt_buffer){ .data = piece.data,
                                  .size = piece.size,
                                  .reference = piece.reference,
                                  .trace_nr = piece.follows ? 0 : piece.trace_number,
                                  .position = piece.position,
                                  .consecutive = piece.consecutive };
    return 1;
}

static int look_ahead(void *data, size_t nth, uint64_t *tsc, uint64_t *reference)
{
    struct pd_synth_queue *queue = data;
    return pd_aux_reader_ahead(queue->reader, nth, tsc, reference);
}

static void skip(void *data, size_t nth, uint64_t tsc)
{
    struct pd_synth_queue *queue = data;
    perfdata_status status = pd_aux_reader_skip(queue->reader, nth, tsc);
    if (status < 0)
        queue->synth->status = status;
}

/* Whether to go from PSB to PSB by the index: only where nothing is made of each PSB, since what is
 * shown is read in the trace. Time spans go by pieces. */
static bool can_jump(const struct pd_synth *synth)
{
    return synth->plan.quick >= 2 && synth->aux->index && !synth->plan.range_count &&
           !(synth->plan.mask & (PD_PT_PSB_EVENT | PD_PT_INSTRUCTION));
}

static bool psb_jumps(void *data, uint64_t position, uint64_t below, struct pd_pt_psb_jumps *out)
{
    struct pd_synth_queue *queue = data;
    return pd_aux_reader_psb_jumps(queue->reader, position, below, out);
}

static void psb_jump_to(void *data, uint64_t position)
{
    struct pd_synth_queue *queue = data;
    pd_aux_reader_psb_jump_to(queue->reader, position);
}

static void set_period(const struct pd_synth *synth, struct pd_pt_config *config)
{
    const struct pd_itrace_options *options = &synth->options;
    if (!options->instructions)
        return;
    config->period = options->period;
    config->period_type = PD_PT_PERIOD_TICKS;
    if (options->period_type == PD_ITRACE_INSTRUCTIONS)
        config->period_type = PD_PT_PERIOD_INSTRUCTIONS;
    else if (options->period_type == PD_ITRACE_NS)
        config->period = pd_ns_to_ticks(&synth->aux->info.pt.time, options->period);
    if (!config->period) {
        config->period_type = PD_PT_PERIOD_INSTRUCTIONS;
        config->period = 1;
    }
}

/* How long before a sample all steps have to be made in the order of their time over all queues, as
 * it tells which one comes first where times are equal: with CYCs, or PSBs alone, a few steps later
 * nothing of the order before is left. 0: always, for MTCs alone come at the same time everywhere,
 * or samples are not rare (without the walk each TIP is one); or there is but one queue. */
static uint64_t near_of(const struct pd_synth *synth, const struct pd_pt_config *config)
{
    enum { NEAR = 4096, RARE_PERIODS = 16 };
    const struct pd_pt_info *info = &synth->aux->info.pt;
    const struct pd_pt_modes *modes = &synth->aux->modes;
    bool cycles = modes->config & info->cyc_bit && !modes->cyc_threshold;
    if (synth->queue_count < 2 || config->period_type != PD_PT_PERIOD_TICKS || config->quick ||
        config->period / RARE_PERIODS < NEAR || synth->made.events[PD_SYNTH_BRANCHES])
        return 0;
    return cycles || !(modes->config & info->mtc_bit) ? NEAR : 0;
}

/* "GenuineIntel,6,92,..." */
static bool is_goldmont(const struct pd_recording *recording)
{
    const char *id = recording->features.cpuid.present ? recording->features.cpuid.text.text : NULL;
    return id && !strncmp(id, "GenuineIntel,6,92,", 18);
}

static struct pd_pt_decoder *new_decoder(struct pd_synth *synth, struct pd_synth_queue *queue)
{
    const struct pd_pt_info *info = &synth->aux->info.pt;
    const struct pd_pt_modes *modes = &synth->aux->modes;
    struct pd_pt_config config = {
        .branches = modes->branches,
        .return_compression = modes->return_compression,
        .mtc_shift = modes->mtc_shift,
        .cyc_threshold = modes->cyc_threshold,
        .tsc_ctc_n = info->tsc_ctc_n,
        .tsc_ctc_d = info->tsc_ctc_d,
        .max_non_turbo_ratio = synth->plan.max_non_turbo,
        .next_ip_fup = is_goldmont(synth->recording),
        .quick = synth->plan.quick,
        .max_loops = synth->options.max_loops,
        .wanted = synth->plan.mask,
        .timeful = !synth->plan.timeless,
        .kernel_start = PD_PT_KERNEL_START,
        .data = queue,
        .buffer = next_buffer,
        .look_ahead = look_ahead,
        .skip = skip,
        .psb_jumps = can_jump(synth) ? psb_jumps : NULL,
        .psb_jump_to = psb_jump_to,
        .filtered_out = synth->filters.count ? pd_synth_filtered_out : NULL,
        .log = pd_synth_log_of(synth),
        .tables = synth->tables,
        .code_at = pd_code_at,
        .code_link = pd_code_link,
    };
    set_period(synth, &config);
    config.near_ticks = queue->near_ticks = near_of(synth, &config);
    return pd_pt_decoder_new(&config);
}

static void first_range(struct pd_synth *synth, struct pd_synth_queue *queue)
{
    if (!synth->plan.range_count)
        return;
    queue->span.to_start = true;
    queue->span.limit = synth->plan.ranges[0].start;
    if (!queue->span.limit) {
        queue->span.to_start = false;
        queue->span.limit = synth->plan.ranges[0].end;
    }
}

static perfdata_status make_queue(struct pd_synth *synth, const struct pd_aux_queue *from)
{
    struct pd_synth_queue *queue = &synth->queues[from->number];
    *queue = (struct pd_synth_queue){ .synth = synth,
                                      .number = from->number,
                                      .recorded_tid = from->tid,
                                      .recorded_cpu = from->cpu,
                                      .runner.cpu = from->cpu,
                                      .runner.pid = PD_NOBODY,
                                      .runner.tid = from->tid,
                                      .counts.cbr_seen = UINT32_MAX,
                                      .switches.next_tid = PD_NOBODY };
    perfdata_status status = pd_aux_reader_open(synth->aux, from->number, &queue->reader);
    if (status < 0)
        return status;
    if (can_jump(synth))
        pd_aux_reader_psb_jump(queue->reader);
    first_range(synth, queue);
    queue->decoder = new_decoder(synth, queue);
    return queue->decoder ? PERFDATA_OK : pd_no_memory(&synth->recording->context, "a decoder");
}

perfdata_status pd_synth_make_queues(struct pd_synth *synth)
{
    size_t count = 0;
    for (size_t i = 0; i < synth->aux->queues.count; i++)
        count = PD_MAX(count, (size_t)synth->aux->queues.data[i].number + 1);
    synth->queues = calloc(count + 1, sizeof *synth->queues);
    synth->tables = pd_pt_tables_new();
    if (!synth->queues || !synth->tables)
        return pd_no_memory(&synth->recording->context, "the queues of a trace");
    synth->queue_count = count;
    for (size_t i = 0; i < synth->aux->queues.count; i++) {
        const struct pd_aux_queue *from = &synth->aux->queues.data[i];
        if (!from->set || !from->buffers.count ||
            (synth->plan.step_types && from->number != synth->plan.step_queue))
            continue;
        perfdata_status status = make_queue(synth, from);
        if (status < 0)
            return status;
    }
    return PERFDATA_OK;
}

void pd_synth_free_queues(struct pd_synth *synth)
{
    for (size_t i = 0; i < synth->queue_count; i++) {
        if (synth->queues[i].decoder)
            pd_pt_decoder_free(synth->queues[i].decoder);
        pd_aux_reader_close(synth->queues[i].reader);
    }
    free(synth->queues);
    free(synth->tables);
    pd_vec_free(&synth->scheduler.heap);
}
