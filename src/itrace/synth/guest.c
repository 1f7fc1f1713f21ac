/* SPDX-License-Identifier: MIT */
/* What runs in a guest: its kernel's code, and whose thread its samples are. perf follows nothing
 * of a guest's user space but its hypervisor's own code (queue.c). */
#include "itrace/synth/internal.h"
#include "resolve/guests.h"

/* A thread of the guest of a process, whose maps are then to be seen. */
static struct pd_thread *touch(struct pd_synth *synth, uint32_t machine, uint32_t pid, uint32_t tid)
{
    struct pd_timeline *timeline = pd_guests_timeline(synth->guests, machine);
    struct pd_thread *thread = timeline ? pd_timeline_touch(timeline, pid, tid, synth->number)
                                        : NULL;
    if (!thread)
        synth->status = pd_no_memory(&synth->recording->context, "a guest");
    return thread;
}

struct pd_code_view *pd_synth_guest_view(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    if (!synth->guests || !synth->guests->wanted)
        return NULL;
    /* Where no process is known it is the nameless guest. */
    struct pd_thread *idle = touch(synth, queue->runner.pid == PD_NOBODY ? 0 : queue->runner.pid, 0,
                                   0);
    return idle ? pd_code_view(synth->code_reader, idle, synth->number, PD_CODE_GUEST) : NULL;
}

struct pd_thread *pd_synth_guest_thread(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    if (!synth->guests || !synth->guests->wanted)
        return NULL;
    if (synth->guests->code)
        return pd_guests_code_thread(synth->guests, queue->runner.pid, queue->runner.pid,
                                     synth->number);
    return touch(synth, queue->runner.pid, queue->runner.pid, queue->runner.tid);
}
