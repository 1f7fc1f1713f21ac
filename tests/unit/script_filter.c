/* SPDX-License-Identifier: MIT */
/* Proves: the lists and spans that choose samples parse and match as perf's do, its odd corners
 * included. */
#include "test.h"
#include <inttypes.h>
#include "base/digits.h"
#include "select/filter.h"

static struct pd_recording recording;

/* The spans of a text as "start-end start-end", with sample times 1000 to 2000; "!" when it does
 * not parse. */
static const char *spans(const char *text, bool relative)
{
    static char out[256];
    struct pd_filter filter = { 0 };
    size_t used = 0;
    out[0] = 0;
    recording.features.sample_time.first = 1000;
    recording.features.sample_time.last = 2000;
    if (pd_filter_add_times(&filter, &recording, text, relative)) {
        pd_filter_free(&filter);
        return "!";
    }
    for (size_t i = 0; i < filter.span_count; i++)
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%llu-%llu", i ? " " : "",
                                 (unsigned long long)filter.spans[i].start,
                                 (unsigned long long)filter.spans[i].end);
    pd_filter_free(&filter);
    return out;
}

static void test_times(void)
{
    uint64_t time = 0;
    CHECK(pd_parse_time("1593.416820", &time) && time == UINT64_C(1593416820000));
    CHECK(pd_parse_time("7", &time) && time == UINT64_C(7000000000));
    CHECK(pd_parse_time("7.", &time) && time == UINT64_C(7000000000));
    CHECK(pd_parse_time(".5", &time) && time == 500000000);
    CHECK(!pd_parse_time("1.1234567891", &time));
    CHECK(!pd_parse_time("1.5.5", &time));
    CHECK(!pd_parse_time("x", &time));
    CHECK(!pd_parse_time("99999999999999", &time));
}

static void test_spans(void)
{
    CHECK_STR(spans(",", false), "0-0");
    CHECK_STR(spans("0.000000001,0.000000002", false), "1-2");
    CHECK_STR(spans("0,1 2,3 4,", false), "0-1000000000 2000000000-3000000000 4000000000-0");
    CHECK_STR(spans("1,3 2,4", false), "!");
    CHECK_STR(spans("1, 4,5", false), "!");
    CHECK_STR(spans("1,2 ", false), "!");
    CHECK_STR(spans("5,4", false), "!");
    CHECK_STR(spans("1", false), "!");
    CHECK_STR(spans("", false), "!");
    CHECK_STR(spans("1,2,3", false), "!");
    CHECK_STR(spans("0.000000001,0.000000002", true), "1001-1002");
}

static void test_percents(void)
{
    CHECK_STR(spans("10%", false), "1000-1099");
    CHECK_STR(spans(" 10%", false), "1000-1099");
    CHECK_STR(spans("10% ", false), "!");
    CHECK_STR(spans("0%", false), "!");
    CHECK_STR(spans("10%-20%", false), "1100-1199");
    CHECK_STR(spans("10%-20%x", false), "1100-1199");
    CHECK_STR(spans("10%-20%,", false), "1100-1199");
    CHECK_STR(spans("20%-10%", false), "1200-1100");
    CHECK_STR(spans("0%-100%", false), "1000-2000");
    CHECK_STR(spans("10%-110%", false), "!");
    CHECK_STR(spans("-10%", false), "!");
    CHECK_STR(spans("30%/2,10%/1", false), "1300-1599 1000-1099");
    CHECK_STR(spans("50%/3", false), "!");
    CHECK_STR(spans("50%/0", false), "!");
    CHECK_STR(spans("10%-20%,30%/2", false), "!");
    CHECK_STR(spans("10%,20%", false), "!");
}

static bool numbers(const char *list, uint32_t wanted)
{
    struct pd_filter filter = { 0 };
    bool found = !pd_filter_add_pids(&filter, &recording.context, list);
    if (found)
        found = filter.pid_count && filter.pids[filter.pid_count - 1] == wanted;
    pd_filter_free(&filter);
    return found;
}

static void test_lists(void)
{
    struct pd_filter filter = { 0 };
    CHECK(numbers("12", 12) && numbers(",12", 12) && numbers("12,", 12) && numbers(" +12", 12));
    CHECK(numbers("-1", UINT32_MAX));
    CHECK(!numbers("12 ", 12) && !numbers("0x10", 16) && !numbers("1-3", 3) && !numbers("abc", 0));
    CHECK(!strcmp(recording.context.message, "problems parsing pid list"));
    CHECK(!pd_filter_add_comms(&filter, &recording.context, "bash,a b,zz"));
    CHECK(pd_name_set_has(&filter.comms, "a b", 3) && pd_name_set_has(&filter.comms, "bash", 4));
    CHECK(!pd_name_set_has(&filter.comms, "bas", 3));
    CHECK(pd_filter_add_comms(&filter, &recording.context, "file:///nonexistent/x"));
    CHECK(!pd_filter_add_symbols(&filter, &recording.context, "main,400221 ,0x10,add", 16));
    CHECK(filter.symbols.count == 1 && filter.address_count == 3);
    CHECK(filter.addresses[0] == 0x400221 && filter.addresses[1] == 0x10 &&
          filter.addresses[2] == 0xadd);
    pd_filter_free(&filter);
}

static bool cpus(const char *list, uint32_t wanted, size_t count)
{
    struct pd_filter filter = { 0 };
    size_t found = 0;
    if (pd_filter_add_cpus(&filter, &recording, list))
        count = SIZE_MAX;
    for (uint32_t i = 0; i < PD_FILTER_CPUS; i++)
        found += pd_filter_cpu(&filter, i);
    bool good = found == count && pd_filter_cpu(&filter, wanted) &&
                pd_filter_cpu(&filter, UINT32_MAX);
    pd_filter_free(&filter);
    return good;
}

static void test_cpus(void)
{
    struct pd_event event = { .attr = { .sample_type = PD_SAMPLE_CPU } }, *events[] = { &event };
    recording.events = events;
    recording.event_count = 1;
    CHECK(cpus("0-3", 2, 4) && cpus("7", 7, 1) && cpus("0,2-4,9", 9, 5) && cpus("5-", 5, 1));
    CHECK(!cpus("x", 0, 1) && !cpus("1-0", 0, 1) && !cpus("99999", 0, 1) && !cpus("3x", 3, 1));
    event.attr.sample_type = 0;
    CHECK(!cpus("0", 0, 1));
    CHECK(!strncmp(recording.context.message, "File does not contain CPU events", 32));
    recording.event_count = 0;
}

/* As printf has them, around each power of ten and of sixteen. */
static void test_numbers(void)
{
    for (uint64_t power = 1, hex = 1, i = 0; i < 20; i++, power *= 10, hex <<= 4)
        for (int step = -1; step <= 1; step++) {
            const uint64_t value = power + (uint64_t)(int64_t)step, other = hex + value % 3 - 1;
            char expected[64], text[64];
            snprintf(expected, sizeof expected, "%" PRIu64, value);
            *pd_put_u64(text, value) = 0;
            CHECK_STR(text, expected);
            snprintf(expected, sizeof expected, "%10" PRIu64, value);
            *pd_put_u64_right(text, value, 10) = 0;
            CHECK_STR(text, expected);
            snprintf(expected, sizeof expected, "%25" PRIu64, value);
            *pd_put_u64_right(text, value, 25) = 0;
            CHECK_STR(text, expected);
            snprintf(expected, sizeof expected, "%" PRIx64, other);
            *pd_put_hex_wide(text, other) = 0;
            CHECK_STR(text, expected);
        }
    for (size_t length = 0; length < 20; length++) {
        char text[32];
        memset(text, '-', sizeof text);
        CHECK(pd_put_short(text, "abcdefghijklmnopqrst", length) == text + length);
        CHECK(!memcmp(text, "abcdefghijklmnopqrst", length) && text[length] == '-');
    }
}

static void test_digits(void)
{
    char text[64];
    *pd_put_u64(text, UINT64_MAX) = 0;
    CHECK_STR(text, "18446744073709551615");
    *pd_put_u64_right(text, 7, 3) = 0;
    CHECK_STR(text, "  7");
    *pd_put_fixed(text, 42, 4) = 0;
    CHECK_STR(text, "0042");
    *pd_put_hex(text, 0) = 0;
    CHECK_STR(text, "0");
    *pd_put_hex(text, UINT64_MAX) = 0;
    CHECK_STR(text, "ffffffffffffffff");
    *pd_put_hex16(text, 0x10) = 0;
    CHECK_STR(text, "              10");
}

int main(void)
{
    pd_context_init(&recording.context);
    test_times();
    test_spans();
    test_percents();
    test_lists();
    test_cpus();
    test_digits();
    test_numbers();
    pd_context_fini(&recording.context);
    return test_done();
}
