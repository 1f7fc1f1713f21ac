/* SPDX-License-Identifier: MIT */
/* --time: spans as perf reads them, its odd corners included ("10%-20%x" is good, "10% " is
 * not). */
#include "select/filter.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NS_PER_SECOND UINT64_C(1000000000)

typedef PD_VEC(struct pd_time_range) span_vec;

bool pd_parse_time(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    uint64_t seconds = strtoull(text, &end, 10), fraction = 0, total;
    if (errno || (*end && *end != '.'))
        return false;
    if (*end == '.') {
        const char *digit = ++end;
        unsigned count = 0;
        for (; *digit >= '0' && *digit <= '9'; digit++, count++)
            fraction = fraction * 10 + (uint64_t)(*digit - '0');
        if (*digit || count > 9)
            return false;
        for (; count < 9; count++)
            fraction *= 10;
    }
    if (pd_mul_overflows(seconds, NS_PER_SECOND, &total) ||
        pd_add_overflows(total, fraction, &total))
        return false;
    *out = total;
    return true;
}

/* "start,stop", either may be missing; `text` is changed. */
static bool parse_span(char *text, struct pd_time_range *span)
{
    *span = (struct pd_time_range){ 0, 0 };
    char *comma = strchr(text, ',');
    if (!comma)
        return false;
    *comma = 0;
    if (*text && !pd_parse_time(text, &span->start))
        return false;
    if (comma[1] && !pd_parse_time(comma + 1, &span->end))
        return false;
    return !span->end || span->start <= span->end;
}

/* Spans separated by blanks, rising. */
static bool parse_spans(char *text, span_vec *spans)
{
    for (;;) {
        text += strspn(text, " ");
        char *blank = strchr(text, ' ');
        if (blank)
            *blank = 0;
        struct pd_time_range span;
        if (!parse_span(text, &span) || !pd_vec_push(spans, span))
            return false;
        if (spans->count > 1) {
            const struct pd_time_range *before = &spans->data[spans->count - 2];
            if (!before->end || before->end >= span.start)
                return false;
        }
        if (!blank)
            return true;
        text = blank + 1;
    }
}

static bool parse_percent(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end == text || !(*out >= 0 && *out <= 100))
        return false;
    *out /= 100;
    return true;
}

static bool percent_span(double from, double to, const struct pd_time_range *whole,
                         struct pd_time_range *span)
{
    double total = (double)(whole->end - whole->start);
    if (!(from >= 0 && from <= 1 && to >= 0 && to <= 1))
        return false;
    /* The sum too is perf's: a double, which drops the last nanoseconds of a wall clock's times. */
    span->start = (uint64_t)((double)whole->start + round(from * total));
    span->end = (uint64_t)((double)whole->start + round(to * total));
    if (span->end > span->start && span->end != whole->end)
        span->end--;
    return true;
}

/* "p%/n": the n-th slice of p percent. */
static bool parse_slice(char *text, const struct pd_time_range *whole, struct pd_time_range *span)
{
    char *percent = strchr(text, '%'), *end;
    double share;
    if (!percent || percent[1] != '/')
        return false;
    *percent = 0;
    if (!parse_percent(text, &share))
        return false;
    long n = strtol(percent + 2, &end, 10);
    if (*end || end == percent + 2 || n <= 0)
        return false;
    return percent_span(share * (double)(n - 1), share * (double)n, whole, span);
}

/* "a%-b%" */
static bool parse_range(char *text, const struct pd_time_range *whole, struct pd_time_range *span)
{
    char *dash = strchr(text, '-');
    double from, to;
    if (!dash)
        return false;
    *dash = 0;
    char *first = strchr(text, '%'), *second = strchr(dash + 1, '%');
    if (!first || !second)
        return false;
    *first = *second = 0;
    if (!parse_percent(text, &from) || !parse_percent(dash + 1, &to))
        return false;
    return percent_span(from, to, whole, span);
}

static bool parse_percents(char *text, const struct pd_time_range *whole, span_vec *spans)
{
    struct pd_time_range span;
    bool slices = strchr(text, '/') &&
                  (!strchr(text, '-') || strchr(text, '/') < strchr(text, '-'));
    bool ranges = !slices && strchr(text, '-');
    if (!slices && !ranges) { /* "p%" is its first slice */
        char *percent = strchr(text, '%');
        double share;
        if (percent[1])
            return false;
        *percent = 0;
        return parse_percent(text, &share) && share > 0 && percent_span(0, share, whole, &span) &&
               pd_vec_push(spans, span);
    }
    while (*text) {
        char *comma = strchr(text, ',');
        if (comma)
            *comma = 0;
        if (!(slices ? parse_slice(text, whole, &span) : parse_range(text, whole, &span)) ||
            !pd_vec_push(spans, span))
            return false;
        if (!comma)
            break;
        text = comma + 1;
    }
    return spans->count > 0;
}

static perfdata_status store_spans(struct pd_filter *filter, span_vec *spans)
{
    size_t bytes = spans->count * sizeof *spans->data;
    struct pd_time_range *copy = pd_arena_alloc(&filter->arena, bytes);
    if (copy) {
        memcpy(copy, spans->data, bytes);
        filter->spans = copy;
        filter->span_count = spans->count;
    }
    pd_vec_free(spans);
    return copy ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

perfdata_status pd_filter_add_times(struct pd_filter *filter, struct pd_recording *recording,
                                    const char *text, bool relative)
{
    struct pd_context *context = &recording->context;
    bool percent = strchr(text, '%') != NULL;
    const struct pd_features *features = &recording->features;
    struct pd_time_range whole = { features->sample_time.first, features->sample_time.last };
    if ((percent || relative) && !whole.start && !whole.end)
        return pd_fail(context, PERFDATA_ERROR_NO_DATA, -1,
                       "HINT: no first/last sample time found in perf data.\n"
                       "Please use latest perf binary to execute 'perf record'\n"
                       "(if '--buildid-all' is enabled, please set '--timestamp-boundary').");
    char *copy = pd_arena_strdup(&filter->arena, text);
    if (!copy)
        return pd_no_memory(context, "the time spans");
    span_vec spans = { 0 };
    bool good = percent ? whole.end >= whole.start && parse_percents(copy, &whole, &spans)
                        : parse_spans(copy, &spans);
    if (!good) {
        pd_vec_free(&spans);
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "Invalid time string");
    }
    /* perf moves percentages and open ends as well, which leaves nothing of them. */
    for (size_t i = 0; relative && i < spans.count; i++) {
        spans.data[i].start += whole.start;
        spans.data[i].end += whole.start;
    }
    return store_spans(filter, &spans);
}
