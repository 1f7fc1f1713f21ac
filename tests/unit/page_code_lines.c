/* SPDX-License-Identifier: MIT */
/* What of a function's code a page keeps: lines near samples; what is left out is counted. */
#include "page/code.h"
#include "test.h"

enum { LINES = 1000, EVENTS = 2 };

static struct perfdata_code_line lines[LINES];
static struct perfdata_code_sum sums[LINES * EVENTS];

static struct perfdata_code_function function(uint64_t index, uint64_t count)
{
    return (struct perfdata_code_function){ .name = "f",
                                            .object = "/bin/a",
                                            .index = index,
                                            .count = count,
                                            .line_count = LINES,
                                            .event_count = EVENTS,
                                            .lines = lines,
                                            .sums = sums };
}

static void fill(void)
{
    for (size_t i = 0; i < LINES; i++)
        lines[i] = (struct perfdata_code_line){ .text = i % 2 ? "nop" : "inc %eax", .offset = i };
    sums[500 * EVENTS + 1] = (struct perfdata_code_sum){ 2, 70 };
    sums[501 * EVENTS] = (struct perfdata_code_sum){ 1, 30 };
}

static void test_near(void)
{
    perfdata_page_code *code = perfdata_page_code_new(0, "0.1");
    struct perfdata_code_function one = function(0, 1);
    CHECK(!perfdata_page_code_take(code, &one));
    CHECK(code->functions.count == 1 && code->lines.count == 26 && code->cells.count == 2);
    CHECK(code->lines.data[0].gap == 488 && code->lines.data[0].place == 489);
    CHECK(code->cells.data[0].line == 12 && code->cells.data[0].event == 1);
    CHECK(code->cells.data[0].count == 2 && code->cells.data[0].weight == 70);
    CHECK(code->cells.data[1].line == 13 && code->cells.data[1].event == 0);
    CHECK(code->texts.strings.count == 4); /* texts that are equal stand once */
    CHECK(!code->left_out);
    perfdata_page_code_free(code);
}

static void test_room(void)
{
    perfdata_page_code *code = perfdata_page_code_new(300, "0.1");
    uint64_t index = 0;
    for (; index < 100; index++) {
        struct perfdata_code_function one = function(index, 100);
        if (perfdata_page_code_take(code, &one))
            break;
    }
    CHECK(index == 2 && code->functions.count == 2 && code->left_out == 98);
    perfdata_page_code_free(code);
    /* One that alone is more than twice the room is cut, and counts as left out. */
    code = perfdata_page_code_new(30, "0.1");
    struct perfdata_code_function one = function(0, 7);
    CHECK(perfdata_page_code_take(code, &one) && code->left_out == 7);
    CHECK(code->lines.count < 26);
    perfdata_page_code_free(code);
}

int main(void)
{
    fill();
    test_near();
    test_room();
    return test_done();
}
