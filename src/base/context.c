/* SPDX-License-Identifier: MIT */
/* Errors and issues of a recording -> its last message and the caller's callback. */
#include "base/context.h"
#include "base/memory.h"
#include <stdarg.h>
#include <stdio.h>

void pd_context_init(struct pd_context *context)
{
    memset(context, 0, sizeof *context);
    context->offset = -1;
    pthread_mutex_init(&context->lock, NULL);
}

void pd_context_fini(struct pd_context *context)
{
    pthread_mutex_destroy(&context->lock);
}

PD_PRINTF(4, 0)
static perfdata_status fail_with(struct pd_context *context, perfdata_status status, int64_t offset,
                                 const char *format, va_list arguments)
{
    pthread_mutex_lock(&context->lock);
    /* What follows from the first issue must not hide it. */
    if (context->strict_failed) {
        pthread_mutex_unlock(&context->lock);
        return status;
    }
    context->strict_failed = status == PERFDATA_ERROR_STRICT;
    context->status = status;
    context->offset = offset;
    vsnprintf(context->message, sizeof context->message, format, arguments);
    pthread_mutex_unlock(&context->lock);
    return status;
}

perfdata_status pd_fail(struct pd_context *context, perfdata_status status, int64_t offset,
                        const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_with(context, status, offset, format, arguments);
    va_end(arguments);
    return status;
}

perfdata_status pd_no_memory(struct pd_context *context, const char *what)
{
    return pd_fail(context, PERFDATA_ERROR_MEMORY, -1, what ? "no memory for %s" : "out of memory",
                   what);
}

perfdata_status pd_analysis_status(struct pd_context *context, perfdata_status status)
{
    pthread_mutex_lock(&context->lock);
    bool failed = context->strict_failed;
    pthread_mutex_unlock(&context->lock);
    if (failed)
        return PERFDATA_ERROR_STRICT;
    if (status >= 0 && pd_memory_failed())
        return pd_no_memory(context, NULL);
    return status;
}

/* Counts it and tells the callback. */
static void tell(struct pd_context *context, struct perfdata_issue *issue)
{
    issue->struct_size = sizeof *issue;
    issue->path = context->path;
    pthread_mutex_lock(&context->lock);
    context->issue_count[issue->kind]++;
    if (context->on_issue)
        context->on_issue(context->issue_data, issue);
    pthread_mutex_unlock(&context->lock);
}

perfdata_status pd_issue(struct pd_context *context, enum perfdata_issue_kind kind, int64_t offset,
                         const char *format, ...)
{
    va_list arguments;
    perfdata_status status = PERFDATA_OK;
    va_start(arguments, format);
    if (context->strict) {
        status = fail_with(context, PERFDATA_ERROR_STRICT, offset, format, arguments);
    } else {
        char text[512];
        vsnprintf(text, sizeof text, format, arguments);
        tell(context,
             &(struct perfdata_issue){ .kind = (int32_t)kind, .offset = offset, .text = text });
    }
    va_end(arguments);
    return status;
}

/* Lines become one, without the heading; empty lines end a sentence as others do. */
static void join_lines(const char *lines, char *out, size_t size)
{
    static const char heading[] = "Warning:\n";
    size_t length = 0;
    if (!strncmp(lines, heading, sizeof heading - 1))
        lines += sizeof heading - 1;
    for (; *lines && length + 1 < size; lines++) {
        if (*lines != '\n')
            out[length++] = *lines;
        else if (length && out[length - 1] != ' ')
            out[length++] = ' ';
    }
    while (length && out[length - 1] == ' ')
        length--;
    out[length] = '\0';
}

perfdata_status pd_warning(struct pd_context *context, enum perfdata_issue_kind kind,
                           int64_t offset, const char *format, ...)
{
    char lines[1024], text[sizeof lines];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(lines, sizeof lines, format, arguments);
    va_end(arguments);
    join_lines(lines, text, sizeof text);
    if (context->strict)
        return pd_fail(context, PERFDATA_ERROR_STRICT, offset, "%s", text);
    tell(context, &(struct perfdata_issue){
                      .kind = (int32_t)kind, .offset = offset, .text = text, .perf_text = lines });
    return PERFDATA_OK;
}

perfdata_status pd_take_options(struct pd_context *context, void *to, size_t known,
                                const void *given)
{
    size_t size;
    if (!given)
        return PERFDATA_OK;
    memcpy(&size, given, sizeof size);
    bool fits = size >= sizeof size;
    for (size_t i = known; fits && i < size; i++)
        fits = !((const uint8_t *)given)[i];
    if (fits) {
        memcpy(to, given, PD_MIN(size, known));
        return PERFDATA_OK;
    }
    return !context ? PERFDATA_ERROR_ARGUMENT
                    : pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                              size < sizeof size ? "struct_size of the options is not set"
                                                 : "options that this version does not know");
}

void pd_give_result(void *out, const void *result, size_t known)
{
    size_t size;
    if (!out)
        return;
    memcpy(&size, out, sizeof size);
    if (size < sizeof size)
        return;
    memcpy(out, result, PD_MIN(size, known));
    memcpy(out, &size, sizeof size);
    if (size > known)
        memset((uint8_t *)out + known, 0, size - known);
}
