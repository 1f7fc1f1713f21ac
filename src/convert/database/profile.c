/* SPDX-License-Identifier: MIT */
/* A profile -> the tables profile_samples, profile_stacks and profile_functions, beside those of
 * perf. Numbers of rows are the profile's and one: 0 stands for none. */
#include "convert/convert.h"
#include "convert/database/profile.h"
#include "convert/tables.h"

struct writing {
    struct pd_db_writer *writer;
    struct pd_context *context;
    bool *used;
    uint64_t samples;
    perfdata_status status; /* the first failure */
    char reason[sizeof((struct pd_context *)0)->message];
};

static perfdata_status put_row(struct writing *w, enum pd_db_table table,
                               const struct pd_db_cell *cells)
{
    w->used[table] = true;
    return w->writer->row(w->writer, table, cells);
}

static perfdata_status put_sample(struct writing *w, const perfdata_profile *profile,
                                  const struct perfdata_samples *samples, size_t i)
{
    const struct perfdata_profile_thread *thread = perfdata_profile_thread(profile,
                                                                           samples->thread[i]);
    const uint64_t *ip = samples->columns[PERFDATA_COLUMN_IP];
    const char *event = perfdata_profile_event(profile, samples->event[i])->name;
    return put_row(w, PD_DB_profile_samples,
                   (struct pd_db_cell[]){
                       PD_DB_NUMBER(++w->samples), PD_DB_NUMBER(samples->time[i]),
                       PD_DB_NUMBER((int32_t)samples->cpu[i]), PD_DB_NUMBER((int32_t)thread->pid),
                       PD_DB_NUMBER((int32_t)thread->tid), PD_DB_STRING(thread->comm),
                       PD_DB_STRING(event), PD_DB_NUMBER(samples->weight[i]),
                       PD_DB_NUMBER(ip ? ip[i] : 0),
                       PD_DB_NUMBER(samples->stack[i] + UINT64_C(1)) });
}

static int take_samples(void *data, const perfdata_profile *profile,
                        const struct perfdata_samples *samples)
{
    struct writing *w = data;
    for (size_t i = 0; i < samples->count && w->status >= 0; i++)
        w->status = put_sample(w, profile, samples, i);
    if (w->status < 0) /* who asks for samples only learns that nothing more is wanted */
        memcpy(w->reason, w->context->message, sizeof w->reason);
    return w->status < 0;
}

static perfdata_status put_stacks(struct writing *w, const perfdata_profile *profile)
{
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 0; i < perfdata_profile_stack_count(profile) && status >= 0; i++) {
        const struct perfdata_profile_stack *stack = perfdata_profile_stack(profile, i);
        const struct perfdata_profile_frame *frame = perfdata_profile_frame(profile, stack->frame);
        uint64_t parent = stack->parent == PERFDATA_NONE ? 0 : stack->parent + UINT64_C(1);
        const char *file = frame->file ? frame->file : "";
        status = put_row(w, PD_DB_profile_stacks,
                         (struct pd_db_cell[]){ PD_DB_NUMBER(i + UINT64_C(1)), PD_DB_NUMBER(parent),
                                                PD_DB_NUMBER(stack->depth),
                                                PD_DB_NUMBER(frame->function + UINT64_C(1)),
                                                PD_DB_STRING(file), PD_DB_NUMBER(frame->line),
                                                PD_DB_NUMBER(stack->hash) });
    }
    return status;
}

static perfdata_status put_functions(struct writing *w, const perfdata_profile *profile)
{
    char room[PD_TABLE_ROOM];
    perfdata_status status = PERFDATA_OK;
    for (uint32_t i = 0; i < perfdata_profile_function_count(profile) && status >= 0; i++) {
        const struct perfdata_profile_function *function = perfdata_profile_function(profile, i);
        const struct perfdata_profile_object *object = perfdata_profile_object(profile,
                                                                               function->object);
        const char *build_id = pd_table_build_id(object, room);
        const char *path = object && object->path ? object->path : "";
        status = put_row(
            w, PD_DB_profile_functions,
            (struct pd_db_cell[]){ PD_DB_NUMBER(i + UINT64_C(1)), PD_DB_STRING(function->name),
                                   PD_DB_STRING(path), PD_DB_STRING(build_id ? build_id : ""),
                                   PD_DB_NUMBER(function->flags), PD_DB_NUMBER(function->hash) });
    }
    return status;
}

static struct perfdata_profile_options options_of(const struct perfdata_database_options *given,
                                                  struct writing *w)
{
    return (struct perfdata_profile_options){
        .struct_size = sizeof(struct perfdata_profile_options),
        .flags = PERFDATA_PROFILE_NO_SUMS |
                 (given->flags & PERFDATA_DATABASE_GUEST_CODE ? PERFDATA_PROFILE_GUEST_CODE : 0),
        .detail = PERFDATA_FRAMES_BY_LINE,
        .columns = 1u << PERFDATA_COLUMN_IP,
        .samples = take_samples,
        .samples_data = w,
        .comms = given->comms,
        .pids = given->pids,
        .tids = given->tids,
        .cpus = given->cpus,
        .time = given->time,
        .search = given->search,
        .itrace = given->itrace,
        .itrace_count = given->itrace_count,
        .perf_config = given->perf_config,
    };
}

perfdata_status pd_db_profile(perfdata_recording *recording,
                              const struct perfdata_database_options *options,
                              struct pd_db_writer *writer, bool *used)
{
    struct writing w = { .writer = writer, .context = &recording->recording.context, .used = used };
    struct perfdata_profile_options how = options_of(options, &w);
    perfdata_profile *profile = NULL;
    perfdata_status status = perfdata_profile_build(recording, &how, &profile);
    if (w.status < 0)
        status = pd_fail(w.context, w.status, -1, "%s", w.reason);
    if (status >= 0)
        status = put_stacks(&w, profile);
    if (status >= 0)
        status = put_functions(&w, profile);
    perfdata_profile_free(profile);
    return status;
}
