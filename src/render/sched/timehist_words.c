/* SPDX-License-Identifier: MIT */
/* Names of tasks and times, as lines and sums of timehist have them. */
#include "render/sched/timehist.h"
#include <stdio.h>

enum { NS_PER_MS = 1000000, NS_PER_US = 1000 };

void pd_timehist_ms(struct pd_text *out, uint64_t time, unsigned width)
{
    pd_text_u64(out, time / NS_PER_MS, width, ' ');
    pd_text_char(out, '.');
    pd_text_u64(out, time % NS_PER_MS / NS_PER_US, 3, '0');
    pd_text_char(out, ' ');
}

void pd_timehist_name(struct pd_timehist *hist, const char *comm, const struct pd_thread *thread,
                      bool left, struct pd_text *out)
{
    char text[128];
    uint32_t pid = thread ? pd_thread_pid(thread, UINT64_MAX) : 0;
    int length = 0;
    if (!thread)
        length = snprintf(text, sizeof text, "%s", "<idle>");
    else if (!pid)
        length = snprintf(text, sizeof text, "%s", comm);
    else if (pid != thread->tid)
        length = snprintf(text, sizeof text, "%s[%d/%d]", comm, (int)thread->tid, (int)pid);
    else
        length = snprintf(text, sizeof text, "%s[%d]", comm, (int)thread->tid);
    size_t size = PD_MIN((size_t)length, sizeof text - 1), width = hist->comm_width;
    hist->comm_width = PD_MAX(width, size);
    if (left)
        pd_text_left(out, text, size, width);
    else
        pd_text_right(out, text, size, width);
}
