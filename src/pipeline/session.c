/* SPDX-License-Identifier: MIT */
/* A recording and options -> the timeline, symbols and guests that a run needs. */
#include "pipeline/pipeline.h"
#include "base/memory.h"
#include "itrace/options.h"
#include <stdio.h>
#include <unistd.h>

#define MAX_THREADS 256

/* A directory may hold a copy of the kernel: its table is used unless another one was named. False:
 * no memory. */
static bool take_kernel_copy(struct pd_session *session, struct pd_object_search *search)
{
    static const char name[] = "/kcore_dir/kallsyms";
    const struct pd_recording *recording = session->recording;

    if (!recording->directory || search->kallsyms || search->vmlinux)
        return true;
    size_t room = strlen(recording->path) + sizeof name;
    session->kallsyms = malloc(room);
    if (!session->kallsyms)
        return false;
    snprintf(session->kallsyms, room, "%s%s", recording->path, name);
    if (access(session->kallsyms, F_OK) == 0)
        search->kallsyms = session->kallsyms;
    return true;
}

struct pd_object_search pd_search_of(struct pd_recording *recording,
                                     const struct perfdata_symbol_search *search,
                                     const struct pd_itrace_options *itrace)
{
    const struct pd_features *features = &recording->features;
    return (struct pd_object_search){
        .context = &recording->context,
        .symfs = search->symfs,
        .kallsyms = search->kallsyms,
        .vmlinux = search->vmlinux,
        .home = search->home,
        .cache = itrace ? pd_itrace_options_cache(itrace, search->build_id_dir)
                        : search->build_id_dir,
        .index = search->index_dir,
        .jitdump = search->jitdump,
        .debuginfod = search->debuginfod,
        .os_release = features->osrelease.present ? features->osrelease.text.text : NULL,
    };
}

perfdata_status pd_session_open(struct pd_recording *recording,
                                const struct pd_object_search *search, struct pd_session *out)
{
    struct pd_context *context = &recording->context;
    pd_memory_forget();
    *out = (struct pd_session){ .recording = recording };
    out->timeline = pd_timeline_new(context, &recording->features, recording->swap);
    struct pd_object_search places = search ? *search : (struct pd_object_search){ 0 };
    perfdata_status status = places.debuginfod
                                 ? pd_fetch_new(context, places.debuginfod, &out->fetch)
                                 : PERFDATA_OK;
    if (status < 0) {
        pd_session_close(out);
        return status;
    }
    places.fetch = out->fetch;
    if (out->timeline && search && take_kernel_copy(out, &places))
        out->symbols = pd_symbols_new(context, out->timeline, &recording->features, &places);
    bool jit = search && search->jitdump && out->timeline;
    if (jit)
        out->jit = pd_jit_new(recording, out->timeline, search->jitdump, search->symfs);
    if (!out->timeline || (search && !out->symbols) || (jit && !out->jit)) {
        pd_session_close(out);
        return pd_no_memory(context, "a session");
    }
    out->search = places;
    out->guests = (struct pd_guests){ .swap = recording->swap,
                                      .context = context,
                                      .host = out->timeline,
                                      .features = &recording->features,
                                      .search = search ? &out->search : NULL };
    out->order_stats = &out->order_stats_copy;
    return 0;
}

void pd_session_want_guests(struct pd_session *session, const struct perfdata_symbol_search *search)
{
    pd_guests_want(&session->guests,
                   &(struct pd_guest_places){ search->guest_kallsyms, search->guest_modules,
                                              search->guest_vmlinux, search->guest_mount });
}

struct pd_code *pd_session_code(struct pd_session *session)
{
    if (!session->code)
        session->code = pd_code_new(session->symbols);
    return session->code;
}

perfdata_status pd_session_decode(struct pd_session *session, struct pd_synth_config *config)
{
    session->decodes = config->options->decode;
    config->recording = session->recording;
    config->timeline = session->timeline;
    config->symbols = session->symbols;
    config->guests = config->guest_code && !session->guests.code ? NULL : &session->guests;
    /* Code that a program makes as it runs comes from the records at any time. */
    config->threads = session->jit ? 1 : pd_pipeline_threads(session, config->threads);
    config->code = pd_session_code(session);
    if (!config->code)
        return pd_no_memory(&session->recording->context, "decoding");
    return pd_synth_open(config, &session->synth);
}

void pd_session_retire(struct pd_session *session, uint64_t number)
{
    if (session->synth)
        number = PD_MIN(number, pd_synth_needs(session->synth));
    pd_timeline_retire(session->timeline, number);
    pd_guests_retire(&session->guests, number);
}

uint64_t pd_session_trace_errors(const struct pd_session *session)
{
    struct pd_synth_stats stats = { 0 };
    if (session->synth)
        pd_synth_statistics(session->synth, &stats);
    return stats.errors;
}

void pd_session_close(struct pd_session *session)
{
    pd_synth_close(session->synth);
    pd_code_free(session->code);
    pd_guests_free(&session->guests);
    if (session->symbols)
        pd_symbols_free(session->symbols);
    if (session->timeline)
        pd_timeline_free(session->timeline);
    pd_jit_free(session->jit);
    pd_fetch_free(session->fetch);
    free(session->kallsyms);
    memset(session, 0, sizeof *session);
}

unsigned pd_pipeline_threads(const struct pd_session *session, unsigned threads)
{
    if (!threads)
        threads = session->recording->context.limits.threads;
    if (!threads) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cores > 0 ? (unsigned)PD_MIN(cores, MAX_THREADS) : 1;
    }
    return PD_MIN(threads, MAX_THREADS);
}
