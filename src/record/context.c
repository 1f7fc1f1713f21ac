/* SPDX-License-Identifier: MIT */
/* What every file of record/ uses: errors, the log, and the request that recording ends. */
#include "record/record.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

perfdata_status pd_record_no_memory(perfdata_recorder *recorder)
{
    return pd_no_memory(&recorder->context, NULL);
}

void pd_record_log(const perfdata_recorder *recorder, int level, const char *format, ...)
{
    char text[8192];
    va_list arguments;
    if (!recorder->options.log)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    recorder->options.log(recorder->options.log_data, level, text);
}

void perfdata_recorder_stop(perfdata_recorder *recorder)
{
    uint64_t one = 1;
    int before = errno;
    recorder->stop = 1;
    (void)!write(recorder->stop_fd, &one, sizeof one);
    errno = before;
}
