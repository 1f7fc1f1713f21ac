/* SPDX-License-Identifier: MIT */
/* Names of tasks and times, as lines and sums of timehist have them. */
#include "render/sched/timehist.h"
#include "base/digits.h"
#include <string.h>

enum { NS_PER_MS = 1000000, NS_PER_US = 1000 };

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
    size_t width = hist->comm_width;
    hist->comm_width = PD_MAX(width, name.size);
    if (left)
        pd_text_left(out, name.text, name.size, width);
    else
        pd_text_right(out, name.text, name.size, width);
}
