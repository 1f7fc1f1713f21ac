/* SPDX-License-Identifier: MIT */
#include "base/context.h"
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

perfdata_status pd_issue(struct pd_context *context, enum perfdata_issue_kind kind, int64_t offset,
                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (context->strict) {
        fail_with(context, PERFDATA_ERROR_STRICT, offset, format, arguments);
        va_end(arguments);
        return PERFDATA_ERROR_STRICT;
    }
    pthread_mutex_lock(&context->lock);
    context->issue_count[kind]++;
    if (context->on_issue) {
        char text[512];
        vsnprintf(text, sizeof text, format, arguments);
        struct perfdata_issue issue = { .struct_size = sizeof issue,
                                        .kind = (int32_t)kind,
                                        .offset = offset,
                                        .path = context->path,
                                        .text = text };
        context->on_issue(context->issue_data, &issue);
    }
    pthread_mutex_unlock(&context->lock);
    va_end(arguments);
    return PERFDATA_OK;
}
