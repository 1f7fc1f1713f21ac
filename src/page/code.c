/* SPDX-License-Identifier: MIT */
/* Functions with their code -> as much of it as a page shows: lines near those with samples. */
#include "page/code.h"
#include <stdlib.h>

#define MOST_BYTES (UINT64_C(2) << 20) /* unless the caller says otherwise */

enum {
    AROUND = 12,    /* lines before and behind one that has samples */
    LINE_COST = 8,  /* what a line takes beside its text */
    LONGEST = 1000, /* bytes of a line; of generated sources they may be megabytes */
};

perfdata_page_code *perfdata_page_code_new(uint64_t most, const char *percent_limit)
{
    perfdata_page_code *code = calloc(1, sizeof *code);
    if (code) {
        code->most = most ? most : MOST_BYTES;
        code->limit = percent_limit ? percent_limit : "";
    }
    return code;
}

void perfdata_page_code_free(perfdata_page_code *code)
{
    if (!code)
        return;
    pd_vec_free(&code->functions);
    pd_vec_free(&code->lines);
    pd_vec_free(&code->cells);
    pd_intern_free(&code->texts);
    free(code);
}

static uint32_t keep_text(perfdata_page_code *code, const char *text)
{
    size_t known = code->texts.strings.count, length = strnlen(text, LONGEST);
    uint32_t id = pd_intern(&code->texts, text, length);
    code->failed |= id == PD_INTERN_NONE;
    if (code->texts.strings.count > known)
        code->bytes += length;
    return id;
}

static bool has_samples(const struct perfdata_code_function *function, size_t line)
{
    const struct perfdata_code_sum *sums = function->sums + line * function->event_count;
    for (size_t event = 0; event < function->event_count; event++)
        if (sums[event].count)
            return true;
    return false;
}

static void keep_line(perfdata_page_code *code, const struct perfdata_code_function *function,
                      size_t index, size_t gap)
{
    const struct perfdata_code_line *from = &function->lines[index];
    uint32_t at = (uint32_t)code->lines.count;
    struct pd_page_code_line line = {
        .place = from->offset == UINT64_MAX ? 0 : from->offset + 1,
        .text = keep_text(code, from->text),
        .kind = from->kind,
        .indent = from->indent,
        .gap = (uint32_t)PD_MIN(gap, (size_t)UINT32_MAX),
    };
    code->bytes += LINE_COST;
    code->failed |= !pd_vec_push(&code->lines, line);
    for (uint32_t event = 0; event < function->event_count; event++) {
        const struct perfdata_code_sum *sum =
            &function->sums[index * function->event_count + event];
        struct pd_page_code_cell cell = { at, event, sum->count, sum->period };
        if (sum->count && !pd_vec_push(&code->cells, cell))
            code->failed = true;
    }
}

/* Lines in order; `last` is where those that a line with samples asks for end. False: there was no
 * room for all. */
static bool keep_lines(perfdata_page_code *code, const struct perfdata_code_function *function)
{
    size_t count = function->line_count, last = 0, next = 0, gap = 0;
    for (size_t i = 0; i < count && !code->failed; i++) {
        if (code->bytes / 2 >= code->most)
            return false;
        for (next = PD_MAX(next, i); next < count && next <= i + AROUND; next++)
            if (has_samples(function, next))
                last = next + AROUND + 1;
        if (i < last) {
            keep_line(code, function, i, gap);
            gap = 0;
        } else {
            gap++;
        }
    }
    return !code->failed;
}

int perfdata_page_code_take(void *data, const struct perfdata_code_function *function)
{
    perfdata_page_code *code = data;
    if (code->bytes >= code->most) {
        code->left_out = function->count - function->index;
        return 1;
    }
    size_t before = code->lines.count;
    struct pd_page_code_function made = {
        .name = keep_text(code, function->name),
        .object = keep_text(code, function->object),
        .address = function->address,
    };
    bool all = keep_lines(code, function);
    if (!all)
        code->left_out = function->count - function->index;
    made.lines = (uint32_t)(code->lines.count - before);
    code->failed |= !pd_vec_push(&code->functions, made);
    return !all || code->failed;
}
