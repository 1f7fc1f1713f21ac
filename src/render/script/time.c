/* SPDX-License-Identifier: MIT */
/* The time of a line: seconds, or the day by the clock that was recorded. */
#include "base/digits.h"
#include "render/script/plan.h"
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)

static char *put_fraction(const struct pd_script *script, char *to, uint64_t ns)
{
    *to++ = '.';
    if (script->form.time == PD_TIME_NSEC)
        return pd_put_fixed(to, (uint32_t)ns, 9);
    return pd_put_fixed(to, (uint32_t)(ns / 1000), 6);
}

char *pd_script_put_day(const struct pd_script *script, char *to, uint64_t time)
{
    uint64_t wall = script->clock.wall + (time - script->clock.time);
    time_t seconds = (time_t)(wall / NS_PER_SECOND);
    struct tm parts;
    if (!localtime_r(&seconds, &parts))
        return pd_put_bytes(to, "<error> ", 8);
    to += strftime(to, 48, "%F %H:%M:%S", &parts);
    to = put_fraction(script, to, wall % NS_PER_SECOND);
    *to++ = ' ';
    return to;
}

/* Makes the text of a new time. Neighbouring lines mostly share their seconds, which are kept. */
static char *put_new_time(struct pd_script_worker *worker, char *to, uint64_t time)
{
    uint64_t second = time / NS_PER_SECOND, rest = time - second * NS_PER_SECOND;
    if (PD_UNLIKELY(second != worker->texts.second || !worker->texts.second_length)) {
        worker->texts.second = second;
        worker->texts.second_length = (unsigned)(pd_put_u64_right(worker->texts.second_text, second,
                                                                  5) -
                                                 worker->texts.second_text);
    }
    memcpy(to, worker->texts.second_text, sizeof worker->texts.second_text);
    to += worker->texts.second_length;
    to = put_fraction(worker->script, to, rest);
    *to++ = ':';
    *to++ = ' ';
    return to;
}

void pd_script_make_time(struct pd_script_worker *worker, uint64_t time)
{
    struct pd_time_text *last = &worker->texts.time;
    last->time = time;
    last->length = (unsigned)(put_new_time(worker, last->text, time) - last->text);
}
