/* SPDX-License-Identifier: MIT */
/* <perfdata/export.h>: a recording or a profile -> the bytes of the form that is asked for. */
#include "convert/convert.h"
#include "container/handle.h"
#include <stdlib.h>

static const struct {
    const char *name, *help;
    const struct pd_format *format;
} formats[] = {
#define FORMAT(name, text, help) { text, help, &pd_format_##name },
#include "convert/formats.def"
#undef FORMAT
};

const char *perfdata_export_format(size_t index, const char **text, uint32_t *flags)
{
    if (index >= PD_LENGTH(formats))
        return NULL;
    if (text)
        *text = formats[index].help;
    if (flags)
        *flags = formats[index].format->flags;
    return formats[index].name;
}

const struct pd_format *pd_format_find(const char *name)
{
    for (size_t i = 0; i < PD_LENGTH(formats); i++)
        if (!strcmp(formats[i].name, name))
            return formats[i].format;
    return NULL;
}

/* ---- a run ---- */

static perfdata_status begin(struct pd_convert *x)
{
    perfdata_status status = pd_convert_choose_events(x);
    return status >= 0 && x->format->begin ? x->format->begin(x) : status;
}

/* The form sees the profile, for the first time or again. */
static perfdata_status show(struct pd_convert *x, const perfdata_profile *profile)
{
    bool first = !x->profile;
    x->profile = profile;
    return first ? begin(x) : PERFDATA_OK;
}

/* The run only learns that it has to stop. The reason is kept, so that nothing that fails later
 * hides it. */
static perfdata_status keep_status(struct pd_convert *x, perfdata_status status)
{
    x->status = status;
    if (status < 0)
        memcpy(x->reason, x->context->message, sizeof x->reason);
    return status;
}

static int take_samples(void *data, const perfdata_profile *profile,
                        const struct perfdata_samples *samples)
{
    struct pd_convert *x = data;
    perfdata_status status = show(x, profile);
    return keep_status(x, status < 0 ? status : x->format->samples(x, samples)) < 0;
}

static perfdata_status take_part(void *data, const perfdata_profile *profile, bool frames)
{
    struct pd_convert *x = data;
    perfdata_status status = show(x, profile);
    return keep_status(x, status < 0 ? status : x->format->part(x, frames));
}

static perfdata_status finish(struct pd_convert *x, const perfdata_profile *profile)
{
    perfdata_status status = show(x, profile);
    if (status >= 0)
        status = x->format->end(x);
    return status < 0 ? status : pd_convert_flush(x, true);
}

static void free_all(struct pd_convert *x)
{
    if (x->format->free)
        x->format->free(x);
    else
        free(x->state);
    pd_text_free(&x->out);
    free(x->events);
}

/* Options that the form cannot heed are refused. */
static perfdata_status check_options(const struct pd_convert *x)
{
    uint32_t more = x->options->flags & ~(PERFDATA_EXPORT_COUNT | x->format->export_flags);
    const char *wrong = x->options->object && !(x->format->flags & PERFDATA_FORMAT_OBJECT)
                            ? "is not of one object"
                        : more & PERFDATA_EXPORT_ALL_RECORDS ? "has samples only"
                        : more & PERFDATA_EXPORT_WALL_CLOCK  ? "has the recording's own times only"
                        : more                               ? "does not know a flag"
                                                             : NULL;
    return wrong ? pd_fail(x->context, PERFDATA_ERROR_ARGUMENT, -1, "the form %s", wrong)
                 : PERFDATA_OK;
}

static perfdata_status take_options(struct pd_context *context,
                                    const struct perfdata_export_options *given,
                                    struct perfdata_export_options *out)
{
    *out = (struct perfdata_export_options){ .detail = -1 };
    perfdata_status status = pd_take_options(context, out, sizeof *out, given);
    if (status >= 0 &&
        (out->group > PERFDATA_EXPORT_TOGETHER || out->detail > PERFDATA_FRAMES_BY_ADDRESS))
        status = pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "no such group or detail");
    return status;
}

/* Converts a recording by way of a profile that is made for the form alone. */
static perfdata_status run_profile(struct pd_convert *x, perfdata_recording *recording,
                                   struct perfdata_profile_options *how,
                                   const struct pd_profile_bounds *given,
                                   struct perfdata_export_result *result)
{
    struct pd_profile_bounds bounds = *given;
    how->flags |= x->format->profile_flags;
    if (x->options->group == PERFDATA_EXPORT_BY_PROCESS ||
        x->options->group == PERFDATA_EXPORT_BY_THREAD)
        how->flags &= ~(uint32_t)PERFDATA_PROFILE_SUMS_BY_COMM;
    how->detail = x->options->detail < 0 ? x->format->detail : (uint32_t)x->options->detail;
    how->columns = x->format->columns;
    how->samples = x->format->samples ? take_samples : NULL;
    how->samples_data = x;
    bounds.take = x->format->part ? take_part : NULL;
    bounds.data = x;
    perfdata_profile *profile = NULL;
    perfdata_status status = pd_profile_build(recording, how, &bounds, &profile);
    if (x->status < 0)
        status = pd_fail(x->context, x->status, -1, "%s", x->reason);
    if (status >= 0)
        status = finish(x, profile);
    status = pd_analysis_status(&recording->recording.context, status);
    if (profile && result) {
        struct perfdata_export_result out = { .struct_size = sizeof out,
                                              .samples = profile->sample_count,
                                              .trace_errors = profile->trace_errors };
        pd_give_result(result, &out, sizeof out);
    }
    perfdata_profile_free(profile);
    return status;
}

perfdata_status perfdata_export_run(perfdata_recording *recording, const char *format,
                                    const struct perfdata_export_options *options,
                                    perfdata_write_fn write, void *data,
                                    struct perfdata_export_result *result)
{
    static const struct pd_profile_bounds bounds = PD_PROFILE_BOUNDS;
    return pd_export_run(recording, format, options, &bounds, write, data, result);
}

perfdata_status pd_export_run(perfdata_recording *recording, const char *format,
                              const struct perfdata_export_options *given,
                              const struct pd_profile_bounds *bounds, perfdata_write_fn write,
                              void *data, struct perfdata_export_result *result)
{
    struct perfdata_export_options options;
    struct perfdata_profile_options how = PERFDATA_PROFILE_OPTIONS_INIT;
    if (!recording || !format || !write || !given)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = take_options(&recording->recording.context, given, &options);
    if (status < 0)
        return status;
    struct pd_convert x = { .format = pd_format_find(format),
                            .options = &options,
                            .context = &recording->recording.context,
                            .recording = &recording->recording,
                            .write = write,
                            .write_data = data };
    if (!x.format)
        return pd_fail(x.context, PERFDATA_ERROR_ARGUMENT, -1, "no form is called '%s'", format);
    status = check_options(&x);
    if (status >= 0 && options.profile)
        status = pd_take_options(x.context, &how, sizeof how, options.profile);
    if (status < 0)
        return status;
    if (!recording->open)
        return pd_fail(x.context, PERFDATA_ERROR_ARGUMENT, -1, "the recording is not open");
    how.struct_size = sizeof how;
    if (x.format->run)
        status = x.format->run(&x, &how, result);
    else
        status = run_profile(&x, recording, &how, bounds, result);
    free_all(&x);
    return status;
}

/* ---- from a profile that the caller has ---- */

static perfdata_status convert_profile(struct pd_convert *x, const perfdata_profile *profile)
{
    struct perfdata_samples samples = { .struct_size = sizeof samples };
    if (x->format->run)
        return pd_fail(x->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the form needs the recording itself, not a profile of it");
    if (x->format->samples) {
        if (perfdata_profile_samples(profile, &samples) < 0)
            return pd_fail(x->context, PERFDATA_ERROR_NO_DATA, -1,
                           "the form shows samples, which the profile has not kept");
        if (samples.count && take_samples(x, profile, &samples))
            return x->status;
    }
    return finish(x, profile);
}

perfdata_status perfdata_profile_export(const perfdata_profile *profile, const char *format,
                                        const struct perfdata_export_options *given,
                                        perfdata_write_fn write, void *data, char *error,
                                        size_t error_size)
{
    struct perfdata_export_options options;
    if (error_size)
        error[0] = 0;
    if (!profile || !format || !write || !given)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_context context;
    pd_context_init(&context);
    perfdata_status status = take_options(&context, given, &options);
    struct pd_convert x = { .format = pd_format_find(format),
                            .options = &options,
                            .context = &context,
                            .write = write,
                            .write_data = data };
    if (status >= 0 && x.format) {
        status = check_options(&x);
        if (status >= 0)
            status = convert_profile(&x, profile);
        free_all(&x);
    } else if (status >= 0) {
        status = pd_fail(&context, PERFDATA_ERROR_ARGUMENT, -1, "no form is called '%s'", format);
    }
    if (status < 0 && error_size)
        snprintf(error, error_size, "%s", context.message);
    pd_context_fini(&context);
    return status;
}
