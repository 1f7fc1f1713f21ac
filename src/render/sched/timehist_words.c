/* SPDX-License-Identifier: MIT */
/* Names of tasks and times, as lines and sums of timehist have them. */
#include "render/sched/timehist.h"
#include "base/digits.h"
#include <string.h>

enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000, NS_PER_US = 1000 };

void pd_timehist_ms(struct pd_text *out, uint64_t time, unsigned width)
{
    char *start = pd_text_room(out, PD_MAX(width, 20U) + 5), *to = start;
    if (!start)
        return;
    to = pd_put_u64_right(to, time / NS_PER_MS, width);
    *to++ = '.';
    to = pd_put_fixed(to, (uint32_t)(time % NS_PER_MS / NS_PER_US), 3);
    *to++ = ' ';
    out->length += (size_t)(to - start);
}

void pd_sched_digits_init(struct pd_sched_digits *digits)
{
    for (uint32_t i = 0; i < 1000; i++) {
        (void)pd_put_fixed(digits->fixed[i], i, 3);
        digits->fixed[i][3] = ' ';
        memset(digits->right[i], ' ', 3);
        (void)pd_digits_before(digits->right[i] + 3, i);
        digits->right[i][3] = '.';
    }
    digits->second = UINT64_MAX;
}

void pd_timehist_column(struct pd_timehist *hist, uint64_t time)
{
    enum { SIZE = 11 };
    const struct pd_sched_digits *digits = &hist->digits;
    char *to = pd_text_room(&hist->tp.out, SIZE);
    if (PD_UNLIKELY(!to || time >= UINT64_C(1000) * NS_PER_MS)) {
        pd_timehist_ms(&hist->tp.out, time, 6);
        return;
    }
    const uint32_t ns = (uint32_t)time;
    memset(to, ' ', 3);
    memcpy(to + 3, digits->right[ns / NS_PER_MS], 4);
    memcpy(to + 7, digits->fixed[ns % NS_PER_MS / NS_PER_US], 4);
    hist->tp.out.length += SIZE;
}

void pd_timehist_time(struct pd_timehist *hist, uint64_t time)
{
    enum { BEFORE = 9, SIZE = 15 };
    struct pd_sched_digits *digits = &hist->digits;
    struct pd_text *out = &hist->tp.out;
    const uint64_t second = time / NS_PER_S;
    const uint32_t us = (uint32_t)(time % NS_PER_S) / NS_PER_US;
    char *to = pd_text_room(out, SIZE + 1);
    if (PD_UNLIKELY(!to || second != digits->second)) {
        size_t begin = out->length;
        pd_tp_time(out, time, SIZE);
        if (!out->failed && out->length == begin + SIZE) {
            memcpy(digits->until_point, out->data + begin, BEFORE);
            digits->second = second;
        }
        return;
    }
    memcpy(to, digits->until_point, BEFORE);
    memcpy(to + BEFORE, digits->fixed[us / 1000], 4);
    memcpy(to + BEFORE + 3, digits->fixed[us % 1000], 4);
    out->length += SIZE;
}

/* A name under construction; like perf's buffer of 128 bytes it cuts what is longer. */
struct name {
    char text[127];
    size_t size;
};

static void add(struct name *name, const char *text, size_t size)
{
    size = PD_MIN(size, sizeof name->text - name->size);
    (void)pd_put_short(name->text + name->size, text, size);
    name->size += size;
}

/* A mark, and a number as %d has it. */
static void add_number(struct name *name, char mark, uint32_t number)
{
    char digits[21], *end = digits + sizeof digits;
    bool negative = number > INT32_MAX;
    char *start = pd_digits_before(end, negative ? 0 - number : number);
    if (negative)
        *--start = '-';
    add(name, &mark, 1);
    add(name, start, (size_t)(end - start));
}

static void put_padded(struct pd_timehist *hist, const char *text, size_t size, bool left,
                       struct pd_text *out)
{
    size_t width = hist->comm_width;
    hist->comm_width = PD_MAX(width, size);
    if (left)
        pd_text_left(out, text, size, width);
    else
        pd_text_right(out, text, size, width);
}

void pd_timehist_task(struct pd_timehist *hist, const char *comm, struct pd_sched_task *task,
                      struct pd_text *out)
{
    struct pd_sched_name *known = &task->name;
    const uint32_t pid = pd_thread_pid(task->thread, UINT64_MAX);
    char *to = pd_text_room(out, sizeof known->text);
    if (PD_UNLIKELY(!known->size || known->comm != comm || known->pid != pid ||
                    hist->comm_width > sizeof known->text || !to)) {
        size_t begin = out->length;
        const size_t width = hist->comm_width;
        pd_timehist_name(hist, comm, task->thread, true, out);
        known->size = 0;
        if (out->failed || width > sizeof known->text || out->length - begin > sizeof known->text ||
            hist->comm_width != width)
            return;
        *known = (struct pd_sched_name){ .comm = comm, .pid = pid };
        known->size = (uint32_t)(out->length - begin);
        memset(known->text, ' ', sizeof known->text);
        memcpy(known->text, out->data + begin, known->size);
        return;
    }
    memcpy(to, known->text, sizeof known->text);
    out->length += hist->comm_width;
}

void pd_timehist_name(struct pd_timehist *hist, const char *comm, const struct pd_thread *thread,
                      bool left, struct pd_text *out)
{
    struct name name;
    uint32_t pid = thread ? pd_thread_pid(thread, UINT64_MAX) : 0;
    name.size = 0;
    if (!thread)
        comm = "<idle>";
    add(&name, comm, strlen(comm));
    if (pid) {
        add_number(&name, '[', thread->tid);
        if (pid != thread->tid)
            add_number(&name, '/', pid);
        add(&name, "]", 1);
    }
    put_padded(hist, name.text, name.size, left, out);
}
