/* SPDX-License-Identifier: MIT */
/* A span of perf's time -> the TSC ticks of a trace that lie in it; what TIME_CONV says of both. */
#include "itrace/aux/tsc.h"
#include "format/structs.h"

__extension__ typedef __int128 wide;

/* Beyond this shift the conversion itself overflows, so that later ticks may have earlier times. */
enum { SHIFT_MAX = 32 };

/* The least tick that is `ns` or more behind the zero; greater than UINT64_MAX where none is. */
static wide tick_after(const struct pd_tsc_conversion *conversion, wide ns)
{
    if (ns <= 0)
        return 0;
    return ((ns << conversion->shift) + (wide)conversion->mult - 1) / (wide)conversion->mult;
}

/* Mostly the TSC began to count before perf's clock did: the zero is then a time before 0, and
 * wraps. */
static wide since_zero(const struct pd_tsc_conversion *conversion, uint64_t time)
{
    return (wide)time - (wide)(int64_t)conversion->zero;
}

static uint64_t clamp(wide tick, uint64_t least)
{
    if (tick < (wide)least)
        return least;
    return tick > (wide)UINT64_MAX ? UINT64_MAX : (uint64_t)tick;
}

uint64_t pd_tsc_first(const struct pd_tsc_conversion *conversion, uint64_t time)
{
    if (!time || conversion->shift > SHIFT_MAX || conversion->mult > UINT32_MAX)
        return 0;
    return clamp(tick_after(conversion, since_zero(conversion, time)), 0);
}

uint64_t pd_tsc_last(const struct pd_tsc_conversion *conversion, uint64_t time)
{
    if (!time || conversion->shift > SHIFT_MAX || conversion->mult > UINT32_MAX)
        return 0;
    return clamp(tick_after(conversion, since_zero(conversion, time) + 1) - 1, 1);
}

bool pd_tsc_conversion_read(const uint8_t *record, uint32_t size, bool swap,
                            struct pd_tsc_conversion *out)
{
    struct pd_record_time_conv body;
    if (pd_record_decode(NULL, record, size, swap, NULL, &body, sizeof body) < 0 ||
        !body.time_mult || body.time_shift > 63)
        return false;
    *out = (struct pd_tsc_conversion){ .zero = body.time_zero,
                                       .shift = (uint32_t)body.time_shift,
                                       .mult = body.time_mult };
    return true;
}
