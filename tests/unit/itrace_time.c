/* SPDX-License-Identifier: MIT */
/* Time from TSC, TMA, MTC, CBR and CYC: each rule with numbers worked out by hand. */
#include "itrace/intel_pt/time.h"
#include "itrace/intel_pt/packet.h"
#include "itrace/aux/tsc.h"
#include "test.h"

enum { SHIFT = 3, MAX_NON_TURBO = 23, N = 184, D = 2 /* 92 ticks of TSC for one of CTC */ };

static struct pd_pt_time begin(uint64_t reference)
{
    struct pd_pt_time time;
    pd_pt_time_init(&time, N, D, SHIFT, MAX_NON_TURBO);
    time.buffer_reference = reference;
    pd_pt_time_reposition(&time, reference);
    return time;
}

static void first_tsc_is_near_the_reference(void)
{
    static const struct {
        uint64_t payload, reference, expected;
    } rows[] = { { 0x1000, 0x2000, 0x1000 },
                 { 0xff000000000010, UINT64_C(0x0100000000000010), UINT64_C(0x00ff000000000010) },
                 { 0x10, UINT64_C(0x00fffffffffffff0), UINT64_C(0x0100000000000010) },
                 { 0x10, UINT64_C(0x0300000000000000), UINT64_C(0x0300000000000010) } };
    for (size_t i = 0; i < PD_LENGTH(rows); i++) {
        struct pd_pt_time time = begin(rows[i].reference);
        pd_pt_time_tsc(&time, rows[i].payload, false);
        CHECK_U64(time.timestamp, rows[i].expected);
        CHECK_U64(time.reference, 0);
    }
}

static void later_tsc_goes_forward(void)
{
    struct pd_pt_time time = begin(UINT64_C(0x00fffffff0000000));
    pd_pt_time_tsc(&time, 0xffffffe0000000, false);
    time.insns = 5;
    pd_pt_time_tsc(&time, 0xffffffe0001000, false);
    CHECK_U64(time.timestamp, UINT64_C(0x00ffffffe0001000));
    CHECK_U64(time.insn_base, 5);
    /* A little behind: late. */
    pd_pt_time_tsc(&time, 0xffffffe0000f00, false);
    CHECK_U64(time.timestamp, UINT64_C(0x00ffffffe0001000));
    CHECK_U64(time.tsc, UINT64_C(0x00ffffffe0000f00));
    /* Far behind: the 56 bits have wrapped, when the buffer was copied after that. */
    pd_pt_time_tsc(&time, 0x100, false);
    CHECK_U64(time.timestamp, UINT64_C(0x00ffffffe0001000));
    time.buffer_reference = UINT64_C(0x0100000000100000);
    pd_pt_time_tsc(&time, 0x200, false);
    CHECK_U64(time.timestamp, UINT64_C(0x0100000000000200));
}

static void mtc_counts_from_tma(void)
{
    struct pd_pt_time time = begin(0x10000000);
    CHECK(!pd_pt_time_mtc(&time, 3, true));
    pd_pt_time_tsc(&time, 0x10000000, false);
    /* CTC 0x1234: 4 ticks behind a multiple of 8. */
    pd_pt_time_tma(&time, 0x1234, 7, false);
    CHECK_U64(time.ctc.last_mtc, 0x46);
    CHECK_U64(time.ctc.timestamp, 0x10000000 - 7 - 4 * 92);
    CHECK_U64(time.timestamp, 0x10000000);
    CHECK(!pd_pt_time_mtc(&time, 0x47, false));
    CHECK_U64(time.timestamp, 0x10000000 - 7 - 4 * 92 + 8 * 92);
    /* Over the end of the 8 bits; the same again is a whole round. */
    pd_pt_time_mtc(&time, 0x45, false);
    CHECK_U64(time.ctc.delta, 8 * 0xff);
    pd_pt_time_mtc(&time, 0x45, false);
    CHECK_U64(time.ctc.delta, 8 * 0x1ff);
    /* What is not whole is divided last. */
    struct pd_pt_time odd;
    pd_pt_time_init(&odd, 250, 3, 0, 20);
    CHECK_U64(pd_pt_time_ctc_ticks(&odd, 7), 583);
    CHECK_U64(pd_pt_time_ctc_ticks(&odd, UINT64_C(0x1000000001)), 5726623061416);
    /* Without a ratio there is no such time. */
    struct pd_pt_time none;
    pd_pt_time_init(&none, 0, 2, 0, 20);
    pd_pt_time_tma(&none, 1, 1, false);
    CHECK(!none.ctc.have_tma);
}

static void first_mtc_tells_what_tma_misses(void)
{
    uint32_t last = 0x12; /* of 7 bits, mtc_shift 9 */
    pd_pt_time_fix_mtc(&last, 0x93, 9);
    CHECK_U64(last, 0x92);
    last = 0x12;
    pd_pt_time_fix_mtc(&last, 0x91, 9);
    CHECK_U64(last, 0x12);
}

static void cycles_take_what_cbr_says(void)
{
    struct pd_pt_time time = begin(0x10000000);
    pd_pt_time_tsc(&time, 0x10000000, false);
    pd_pt_time_cyc(&time, 10);
    CHECK_U64(time.timestamp, 0x10000000);
    pd_pt_time_cbr(&time, 0x146); /* the upper byte does not count */
    CHECK_U64(time.cbr, 0x46);
    CHECK_U64(time.cbr_payload, 0x146);
    time.pge = true;
    pd_pt_time_cyc(&time, 700);
    CHECK_U64(time.timestamp, 0x10000000 + 230);
    CHECK_U64(time.tot_cycles, 700);
    /* Above 2^53 the sum is a double's. */
    time.cyc_reference = time.timestamp = (UINT64_C(1) << 60) + 1;
    time.cycles = 0;
    pd_pt_time_cyc(&time, 7000);
    CHECK_U64(time.timestamp, (UINT64_C(1) << 60) + 2304);
}

static void calibration_looks_for_the_next_mtc(void)
{
    /* TNT, CYC 100, TIP, CYC 20 (2 bytes each), MTC */
    static const uint8_t ahead[] = { 0x06, 0x27, 0x06, 0x2d, 0x01, 0x02, 0xa3, 0x59, 0x11 };
    static const uint8_t stopped[] = { 0x06, 0x27, 0x06, 0x01, 0xa3, 0x59, 0x11 };
    struct pd_pt_time time = begin(0x10000000);
    pd_pt_time_tsc(&time, 0x10000000, false);
    pd_pt_time_tma(&time, 0x78, 0, false);
    CHECK(pd_pt_time_mtc(&time, 0x10, true));
    CHECK(!time.have_cyc_to_tsc);
    pd_pt_time_calibrate(&time, ahead, sizeof ahead, PD_PT_NO_BLOCK, true);
    CHECK(time.have_cyc_to_tsc);
    uint64_t cycles = (0x27 >> 3 | 3 << 5) + (0xa3 >> 3);
    CHECK(time.cyc_to_tsc == 8 * 92 / (double)cycles);
    /* As found when the MTC has come. */
    struct pd_pt_time found = time;
    found.have_cyc_to_tsc = false;
    found.cycles = cycles;
    pd_pt_time_found(&found, 0x11);
    CHECK(found.have_cyc_to_tsc && found.cyc_to_tsc == time.cyc_to_tsc);
    /* More than 1.25 times what CBR says is not believed; nor what lies behind the end of
     * tracing. */
    time.have_cyc_to_tsc = false;
    pd_pt_time_cbr(&time, MAX_NON_TURBO);
    pd_pt_time_calibrate(&time, ahead, sizeof ahead, PD_PT_NO_BLOCK, true);
    CHECK(!time.have_cyc_to_tsc);
    time.cbr = 0;
    pd_pt_time_calibrate(&time, stopped, sizeof stopped, PD_PT_NO_BLOCK, true);
    CHECK(!time.have_cyc_to_tsc);
    for (size_t size = 0; size < sizeof ahead; size++)
        pd_pt_time_calibrate(&time, ahead, size, PD_PT_NO_BLOCK, true);
    CHECK(!time.have_cyc_to_tsc);
}

static void cycles_without_cyc_are_guessed(void)
{
    struct pd_pt_time time = begin(0x10000000);
    time.pge = true;
    pd_pt_time_tsc(&time, 0x10000000, false);
    pd_pt_time_cbr(&time, 46); /* twice what TSC counts */
    pd_pt_time_tma(&time, 0x80, 0, false);
    pd_pt_time_mtc(&time, 0x11, false);
    CHECK_U64(time.tot_cycles, 2 * 8 * 92);
    CHECK(time.sample_cyc);
}

/* CYCs that are turned into time later stay below the limit. */
static void late_cycles_keep_the_limit(void)
{
    struct pd_pt_time time = begin(0x10000000);
    CHECK(!pd_pt_time_put_off(&time, false, UINT64_MAX));
    pd_pt_time_tsc(&time, 0x10000000, false);
    pd_pt_time_cbr(&time, MAX_NON_TURBO);
    pd_pt_time_cyc(&time, 10);
    CHECK(pd_pt_time_put_off(&time, false, 0x10000000 + 1000));
    CHECK(time.max_cycles > 700 && time.max_cycles < 800);
    pd_pt_time_cyc_late(&time, 700);
    CHECK_U64(time.timestamp, 0x10000000 + 10);
    CHECK_U64(pd_pt_time_at(&time, time.cycles), 0x10000000 + 710);
    CHECK(pd_pt_time_put_off(&time, false, UINT64_MAX));
    CHECK(time.max_cycles > 1 << 20);
    CHECK(!pd_pt_time_put_off(&time, false, time.timestamp));
}

/* The ends of a span, as stepping from tick to tick finds them. */
static void spans_end_at_the_right_tick(void)
{
    static const struct pd_tsc_conversion list[] = {
        { .zero = 0, .shift = 0, .mult = 1 },  { .zero = 100, .shift = 3, .mult = 5 },
        { .zero = 7, .shift = 2, .mult = 9 },  { .zero = (uint64_t)-50, .shift = 4, .mult = 16 },
        { .zero = 3, .shift = 10, .mult = 1 }, { .zero = (uint64_t)-9, .shift = 1, .mult = 7 },
    };
    for (size_t i = 0; i < PD_LENGTH(list); i++) {
        const struct pd_tsc_conversion *conversion = &list[i];
        for (uint64_t time = 1; time < 400; time++) {
            uint64_t first = 0, last = 0;
            while ((int64_t)pd_tsc_to_time(conversion, first) < (int64_t)time)
                first++;
            while ((int64_t)pd_tsc_to_time(conversion, last + 1) <= (int64_t)time)
                last++;
            CHECK_U64(pd_tsc_first(conversion, time), first);
            CHECK_U64(pd_tsc_last(conversion, time), last ? last : 1);
        }
    }
}

/* Far from every tick, and where conversions overflow. */
static void spans_of_impossible_conversions_end(void)
{
    const uint64_t most = UINT64_MAX;
    struct pd_tsc_conversion conversion = { .zero = UINT64_C(1) << 62, .shift = 32, .mult = 1 };
    CHECK_U64(pd_tsc_first(&conversion, 1), 0);
    CHECK_U64(pd_tsc_last(&conversion, 1), 1);
    CHECK_U64(pd_tsc_first(&conversion, most), most);
    CHECK_U64(pd_tsc_last(&conversion, most), most);
    conversion.mult = UINT32_MAX;
    conversion.zero = UINT64_C(1) << 63;
    CHECK_U64(pd_tsc_first(&conversion, 5), (UINT64_C(1) << 63) + (UINT64_C(1) << 31) + 6);
    conversion.shift = 63; /* nothing is known of the order of times: the whole trace */
    CHECK_U64(pd_tsc_first(&conversion, 5), 0);
    CHECK_U64(pd_tsc_last(&conversion, 5), 0);
}

int main(void)
{
    spans_end_at_the_right_tick();
    spans_of_impossible_conversions_end();
    first_tsc_is_near_the_reference();
    later_tsc_goes_forward();
    mtc_counts_from_tma();
    first_mtc_tells_what_tma_misses();
    cycles_take_what_cbr_says();
    calibration_looks_for_the_next_mtc();
    cycles_without_cyc_are_guessed();
    late_cycles_keep_the_limit();
    return test_done();
}
