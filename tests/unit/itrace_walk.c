/* SPDX-License-Identifier: MIT */
/* The walk through a trace, packets and code made here: what each kind of packet leads to, errors
 * and what follows them, that everything but branches is the same when nobody looks at branches,
 * and that steps are the same when many are handed over at once. */
#include "walk_step_log.h"
#include "base/text.h"
#include "test.h"

enum { BASE = 0x400000 };

static const uint8_t code[] = {
    0x90,                         /* 00 nop */
    0x74, 0x05,                   /* 01 je 08 */
    0xe8, 0x08, 0x00, 0x00, 0x00, /* 03 call 10 */
    0xff, 0xe0,                   /* 08 jmp *rax */
    0xeb, 0xfe,                   /* 0a jmp 0a */
    0x90, 0x90, 0x90, 0x90,       /* 0c */
    0x90,                         /* 10 nop */
    0xc3,                         /* 11 ret */
    0x0f, 0x05,                   /* 12 syscall */
    0x74, 0xea,                   /* 14 je 00 */
    0xeb, 0xe8,                   /* 16 jmp 00 */
    0xeb, 0x10,                   /* 18 jmp 2a, over the mark */
    0x0f, 0x0b, 'p',  'e',  'r',  'f', ',', 'p', 't', 'w', 'r', 'i', 't', 'e', ' ', ' ', /* 1a */
    0x75, 0x00, /* 2a jne 2c */
    0x75, 0xfc, /* 2c jne 2a */
};

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define PSBEND "\x02\x23"
#define TSC "\x19\x00\x00\x00\x10\x00\x00\x00"
#define AT(byte) "\x7d" byte "\x00\x40\x00\x00\x00" /* FUP, sign-extended */
/* Tracing is on, at that address. */
#define BEGIN(byte) PSB TSC "\x99\x01" AT(byte) PSBEND
#define TIP(byte) "\x2d" byte "\x00"
#define FUP(byte) "\x3d" byte "\x00"
#define PGE(byte) "\x31" byte "\x00"
#define PGD "\x01"
#define OVF "\x02\xf3"
#define GP_BLOCK "\x02\x63\x01\x0c\x2a\x00\x00\x00\x00\x00\x00\x00\x02\x33" /* item 1 is 0x2a */

static void put_step(struct pd_text *text, const struct pd_pt_state *state)
{
    static const char types[] = "BITWMPXpCbeKSEF", flags[] = "xAai";
    if (text->length)
        pd_text_char(text, ' ');
    if (state->error) {
        pd_text_char(text, '!');
        pd_text_u64(text, state->error, 0, 0);
        pd_text_char(text, ':');
        pd_text_hex(text, state->from_ip, 0, 0);
        return;
    }
    for (unsigned i = 0; types[i]; i++)
        if (state->type >> i & 1)
            pd_text_char(text, types[i]);
    for (unsigned i = 0; i < 4; i++)
        if (state->flags >> i & 1)
            pd_text_char(text, flags[i]);
    pd_text_char(text, ':');
    pd_text_hex(text, state->from_ip > BASE ? state->from_ip - BASE : state->from_ip, 0, 0);
    if (!state->to_ip)
        return;
    pd_text_char(text, '>');
    pd_text_hex(text, state->to_ip > BASE ? state->to_ip - BASE : state->to_ip, 0, 0);
}

/* Steps as "TYPES+flags:from>to", offsets in the code; errors as "!code:ip". Addresses of 0 are
 * none, BASE itself is whole. */
static void check(const char *bytes, size_t size, struct pd_pt_config *config, const char *expected)
{
    struct image_trace trace = { .bytes = (const uint8_t *)bytes, .size = size };
    struct pd_text text = { 0 };
    config->data = &trace;
    struct pd_pt_decoder *decoder = pd_pt_decoder_new(config);
    pd_pt_set_code(decoder, &image.view, NULL);
    for (const struct pd_pt_state *state; (state = pd_pt_decode(decoder, UINT64_MAX));)
        put_step(&text, state);
    pd_pt_decoder_free(decoder);
    pd_text_char(&text, 0);
    CHECK_STR(text.data, expected);
    pd_text_free(&text);
    for (size_t most = 0; most < 4; most++) {
        struct image_trace whole = { .bytes = (const uint8_t *)bytes, .size = size };
        CHECK(image_compare_more(config, &whole, most, 0) != SIZE_MAX);
    }
    /* Cut anywhere, in one buffer or two, it ends without harm. */
    for (size_t cut = 1; cut < size; cut++) {
        struct image_trace parts = { .bytes = (const uint8_t *)bytes, .size = size, .cut = cut };
        struct pd_pt_config few = *config;
        few.wanted &= ~(PD_PT_BRANCH | PD_PT_TRACE_BEGIN | PD_PT_TRACE_END);
        CHECK(image_compare(&few, &parts, 0) != SIZE_MAX);
        parts.gap = true;
        CHECK(image_compare(&few, &parts, 1) != SIZE_MAX);
    }
}

static void expect(const char *bytes, size_t size, const char *expected)
{
    struct pd_pt_config config = image_config(NULL);
    check(bytes, size, &config, expected);
}
#define EXPECT(bytes, expected) expect(bytes, sizeof(bytes) - 1, expected)

static void branches(void)
{
    /* T; then N, call, compressed return. */
    EXPECT(BEGIN("\x00") "\x06" TIP("\x00") "\x0a", "S:400000 B:1>8 B:8>400000 B:3>10 B:11>8");
    /* A return that is not compressed; code goes on over a jump. */
    EXPECT(BEGIN("\x03") TIP("\x16") "\x06", "S:3 B:3>10 B:11>16 B:16>400000 B:1>8");
    /* Deferred: the TIP of the jump behind the bits that follow it. */
    EXPECT(BEGIN("\x00") "\x0e" TIP("\x14"), "S:400000 B:1>8 B:8>14 B:14>400000");
    /* Off at a system call, on again. */
    EXPECT(BEGIN("\x12") PGD "\x99\x01" PGE("\x14") "\x06", "S:12 Be:12 Bb:0>14 B:14>400000");
}

static void events(void)
{
    EXPECT(BEGIN("\x00") "\x06" FUP("\x08") TIP("\x10"), "S:400000 B:1>8 Ba:8>10");
    EXPECT(BEGIN("\x00") FUP("\x00") PGD, "S:400000 Bea:400000");
    /* PTWRITE, with its FUP and without. */
    EXPECT(BEGIN("\x0c") "\x02\x12\x01\x02\x03\x04\x02\x92\x01\x02\x03\x04" FUP("\x0e"),
           "S:c W:c Wi:e");
    /* A transaction begins and is aborted. */
    EXPECT(BEGIN("\x0c") "\x99\x21" FUP("\x0d") "\x99\x22" FUP("\x0e") TIP("\x00"),
           "S:c Tx:d BTA:e>400000");
    /* Interrupts are switched off: MODE.Exec changes IF. */
    EXPECT(BEGIN("\x0c") "\x99\x05" FUP("\x0d"), "S:c F:d");
    /* Another core to bus ratio. */
    EXPECT(BEGIN("\x0c") "\x02\x03\x17\x00\x02\x03\x17\x00", "S:c C:c");
    /* PSB in between: first the way to where it is. */
    EXPECT(BEGIN("\x00") "\x04" BEGIN("\x10"), "S:400000 B:3>10 S:10");
}

static void errors(void)
{
    EXPECT(BEGIN("\x08") "\x06" FUP("\x00") TIP("\x10") TIP("\x00"),
           "S:8 !6:400008 B:0>400000 !6:400001 B:0>400000");
    EXPECT(BEGIN("\x00") OVF FUP("\x10") TIP("\x00"), "S:400000 !7:400000 Bb:0>10 B:11>400000");
    EXPECT(BEGIN("\x0a") "\x06", "S:a B:a>a B:a>a !10:40000a");
    EXPECT(BEGIN("\x08") TIP("\x99") "\x06"
                                     "\x6d\x10\x00\x40\x00\x00\x00" TIP("\x00"),
           "S:8 B:8>99 !5:400099 B:0>10 B:11>400000");
    EXPECT(BEGIN("\x00") "\x05"
                         "\x06",
           "S:400000 !3:400000 B:1>8");
    /* A return that TNT covers, of a call that was not seen. */
    EXPECT(BEGIN("\x10") "\x06", "S:10 !6:400011");
}

static void emulated_ptwrite(void)
{
    /* 64 outcomes are read in advance; then the branches follow them. */
#define SIX "\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe"
#define EIGHT_STEPS " B:2a>2c B:2c>2a B:2a>2c B:2c>2a B:2a>2c B:2c>2a B:2a>2c B:2c>2a"
    EXPECT(BEGIN("\x18") SIX "\x3e" PGD,
           "S:18 B:18>2a W:2a" EIGHT_STEPS EIGHT_STEPS EIGHT_STEPS EIGHT_STEPS EIGHT_STEPS
               EIGHT_STEPS EIGHT_STEPS EIGHT_STEPS " !6:40002a");
    EXPECT(BEGIN("\x18") "\x06" PGD, "S:18 B:18>2a !11:40002a B:2a>2c !6:40002c");
}

static void samples(void)
{
    struct pd_pt_config config = image_config(NULL);
    static const char trace[] = BEGIN("\x00") "\x0a" TIP("\x0c");
    config.period_type = PD_PT_PERIOD_INSTRUCTIONS;
    config.period = 1;
    check(trace, sizeof trace - 1, &config, "S:400000 I:400000 I:1 BI:3>10 I:10 BI:11>8 BI:8>c");
    config.period = 3;
    check(trace, sizeof trace - 1, &config, "S:400000 BI:3>10 B:11>8 BI:8>c");
    config.wanted = PD_PT_INSTRUCTION;
    config.timeful = false;
    check(trace, sizeof trace - 1, &config, "BI:3>10 BI:8>c");
}

static void quick(void)
{
    struct pd_pt_config config = image_config(NULL);
    static const char trace[] = BEGIN("\x00") "\x06" TIP("\x10") FUP("\x10") TIP("\x14")
        PGD PGE("\x00") BEGIN("\x0c");
    config.quick = 1;
    check(trace, sizeof trace - 1, &config,
          "S:400000 I:400000 I:10 BIa:10>14 I:14 Bb:0>400000 I:400000 IS:c");
    config.quick = 2;
    check(trace, sizeof trace - 1, &config, "S:400000 I:400000 IS:c");
}

static bool outside(void *data, uint64_t ip)
{
    (void)data;
    return ip >= BASE + 0x10;
}

static void filters(void)
{
    struct pd_pt_config config = image_config(NULL);
    static const char trace[] = BEGIN("\x03") "\x21\x10\x00";
    check(trace, sizeof trace - 1, &config, "S:3 B:3>10 Be:11>10");
    config.filtered_out = outside;
    check(trace, sizeof trace - 1, &config, "S:3 Be:3>10");
}

static void jumps_forward(void)
{
#define LATER(high) PSB "\x19\x00\x00\x00" high "\x00\x00\x00" AT("\x00") PSBEND
    static const char bytes[] = LATER("\x11") LATER("\x12") LATER("\x13");
    struct image_trace trace = { .bytes = (const uint8_t *)bytes, .size = sizeof bytes - 1 };
    struct pd_pt_config config = image_config(&trace);
    struct pd_pt_decoder *decoder = pd_pt_decoder_new(&config);
    const struct pd_pt_state *state = pd_pt_decode(decoder, UINT64_MAX);
    CHECK(state && state->timestamp == 0x11000000);
    pd_pt_fast_forward(decoder, 0x13000000);
    state = pd_pt_decode(decoder, UINT64_MAX);
    CHECK(state && state->timestamp == 0x12000000);
    pd_pt_decoder_free(decoder);
    uint64_t tsc;
    CHECK(pd_pt_first_tsc(trace.bytes + 1, trace.size - 1, &tsc) && tsc == 0x12000000);
    CHECK(pd_pt_first_tsc(trace.bytes, 20, &tsc) <= 0);
}

/* ---- what is known of the code ---- */

static unsigned looked_up;

static struct pd_code_node *counted_at(struct pd_code_view *view, uint64_t ip,
                                       enum pd_code_error *error)
{
    looked_up++;
    return image_at(view, ip, error);
}

/* How often code is looked up while the next steps are walked, back and forth between two
 * branches. */
static unsigned looks(struct pd_pt_decoder *decoder, struct pd_code_view *view)
{
    looked_up = 0;
    pd_pt_set_code(decoder, view, NULL);
    for (int i = 0; i < 4; i++) {
        const struct pd_pt_state *state = pd_pt_decode(decoder, UINT64_MAX);
        CHECK(state && !state->error && state->type & PD_PT_BRANCH);
    }
    return looked_up;
}

static struct pd_pt_decoder *looker(struct image_trace *trace, struct pd_pt_tables *tables)
{
    struct pd_pt_config config = image_config(trace);
    config.wanted = PD_PT_BRANCH;
    config.code_at = counted_at;
    config.tables = tables;
    return pd_pt_decoder_new(&config);
}

/* Decoders that share tables learn from each other. What has died is asked for again, whatever was
 * walked in between. */
static void shares_what_is_known(void)
{
#define LOOP "\x06" TIP("\x00") "\x06" TIP("\x00")
    static const char bytes[] = BEGIN("\x00") LOOP LOOP LOOP LOOP;
    struct image_trace traces[2] = { { .bytes = (const uint8_t *)bytes,
                                       .size = sizeof bytes - 1 } };
    traces[1] = traces[0];
    struct pd_code_view other = image.view;
    struct pd_pt_tables *tables = pd_pt_tables_new();
    struct pd_pt_decoder *one = looker(&traces[0], tables), *two = looker(&traces[1], tables);
    image_set(BASE, code, sizeof code);
    CHECK(looks(one, &image.view) > 0);
    CHECK(looks(two, &image.view) == 0);
    image.view.generation = other.generation = 1;
    pd_pt_set_code(one, &other, NULL);
    CHECK(looks(one, &image.view) > 0);
    CHECK(looks(two, &image.view) == 0);
    image.view.generation = 2;
    CHECK(looks(two, &image.view) > 0);
    image.view.generation = 0;
    pd_pt_decoder_free(one);
    pd_pt_decoder_free(two);
    free(tables);
}

/* ---- any packets ---- */

static uint32_t seed = 1;

static uint32_t next(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static size_t put(uint8_t *to, const void *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return size;
}

static uint8_t weeks; /* highest byte of TSCs: up for many of them, times are rounded as doubles */
static uint8_t mtc;

/* Cycles as MTCs have them, mostly: what an idle processor sends. */
static size_t put_ticks(uint8_t *to)
{
    size_t size = 0;
    for (unsigned left = 1 + next(5); left; left--) {
        const unsigned cycles = 250 + next(500);
        size += put(to + size,
                    (uint8_t[]){ (uint8_t)(cycles << 3 | 7), (uint8_t)(cycles >> 5 << 1) }, 2);
        size += put(to + size, (uint8_t[]){ 0x59, ++mtc }, 2);
    }
    return size;
}

static size_t put_packet(uint8_t *to)
{
    uint8_t ip[] = { 0x2d, (uint8_t)next(0x30), 0 };
    switch (next(24)) {
    case 0:
    case 1:
    case 2: return put(to, (uint8_t[]){ (uint8_t)(next(126) * 2 + 4) }, 1);
    case 3:
    case 4:
    case 5: return put(to, (uint8_t[]){ (uint8_t)(next(32) << 3 | 3) }, 1);
    case 6:
        if (next(4) == 0)
            return put(to, (uint8_t[]){ 7, (uint8_t)next(256) | 1, (uint8_t)(next(128) * 2) }, 3);
        return put(to, (uint8_t[]){ (uint8_t)(next(32) << 3 | 7), (uint8_t)(next(128) * 2) }, 2);
    case 7:
    case 8:
    case 9: return put(to, ip, 3);
    case 10: return put(to, (uint8_t[]){ 0x59, (uint8_t)next(256) }, 2);
    case 11: return put(to, (uint8_t[]){ 2, 3, (uint8_t)(next(3) * 10 + 10), 0 }, 4);
    case 12: ip[0] = 0x31; return put(to, ip, 3);
    case 13: return put(to, PGD, 1);
    case 14: ip[0] = 0x3d; return put(to, ip, 3);
    case 15: return put(to, (uint8_t[]){ 0x99, (uint8_t)(next(2) << 5 | next(8)) }, 2);
    case 16:
        return put(to, (uint8_t[]){ 2, 0x73, (uint8_t)next(256), 1, 0, (uint8_t)next(9), 0 }, 7);
    case 17: return put(to, (uint8_t[]){ 0x19, 0, (uint8_t)next(256), 0, 0x10, 0, 0, weeks }, 8);
    case 19: return put(to, (uint8_t[]){ 2, 0x43, (uint8_t)(next(8) ? 2 : 3), 0, 0, 0, 0, 0 }, 8);
    case 18: return put(to, BEGIN("\x00"), sizeof BEGIN("\x00") - 1);
    case 20: return put(to, (uint8_t[]){ 2, 0xf3 }, 2);
    default: return put_ticks(to);
    }
}

static void unseen_is_the_same(void)
{
    static uint8_t bytes[4096];
    for (unsigned round = 0; round < 12000; round++) {
        size_t size = put(bytes, BEGIN("\x00"), sizeof BEGIN("\x00") - 1);
        weeks = bytes[sizeof PSB TSC - 2] = (uint8_t)(next(2) * next(256));
        while (size < sizeof bytes - 64 && next(100))
            size += put_packet(bytes + size);
        struct image_trace trace = { .bytes = bytes, .size = size };
        struct pd_pt_config config = image_config(&trace);
        config.wanted = PD_PT_ALL_STEPS & ~(PD_PT_BRANCH | PD_PT_TRACE_BEGIN | PD_PT_TRACE_END);
        config.period_type = (enum pd_pt_period)next(3);
        config.period = 1 + next(20);
        config.cyc_threshold = next(4) == 0;
        config.mtc_shift = next(4) ? 3 : next(16);
        config.tsc_ctc_d = next(8) ? 2 : next(2) * 3;
        config.max_non_turbo_ratio = next(8) ? 23 : 0;
        config.watches_ips = next(3) == 0;
        for (unsigned i = 0; i < 2; i++)
            config.watch_ips[i] = BASE + next(0x30);
        if (next(4) == 0) {
            config.quick = 1;
            config.wanted &= ~(next(2) ? (uint32_t)PD_PT_INSTRUCTION : 0);
        }
        CHECK(image_compare(&config, &trace, next(3) * next(200)) != SIZE_MAX);
    }
    weeks = 0;
}

#define TICK(mtc) "\x07\x28\x59" mtc /* 640 cycles */
#define TIMED                                                                                      \
    PSB TSC "\x02\x73\x00\x20\x00\x05\x00"                                                         \
            "\x99\x01" AT("\x00") "\x02\x03\x14\x00" PSBEND TICK("\x01") TICK("\x02")
#define NEW_CBR "\x02\x03\x0a\x00"

/* Where calibration is put off, the time behind it is that of a calibration at once. */
static void calibration_is_the_same(void)
{
    static const struct {
        const char *bytes;
        size_t size;
    } traces[] = {
#define TRACE(bytes) { bytes, sizeof bytes - 1 }
        TRACE(TIMED FUP("\x00") TICK("\x03") "\x27\x02" TIP("\x10") TICK("\x04") NEW_CBR),
        TRACE(TIMED "\x59\x28\x07\xff\x40" TICK("\x90") NEW_CBR), /* MTCs, a very long CYC */
        TRACE(TIMED "\x59\x28\x07\xff\x40" TICK("\x90") TIP("\x10") TICK("\x91") NEW_CBR),
#undef TRACE
    };
    for (size_t i = 0; i < PD_LENGTH(traces); i++) {
        struct image_trace trace = { .bytes = (const uint8_t *)traces[i].bytes,
                                     .size = traces[i].size };
        struct pd_pt_config config = image_config(&trace);
        config.wanted = PD_PT_CBR_CHANGE;
        for (unsigned way = 0; way < 4; way++) {
            config.quick = way & 1;
            const size_t steps = image_compare(&config, &trace, way & 2 ? 50 : 0);
            CHECK(steps != SIZE_MAX && steps > 1);
        }
    }
}

/* Steps that are handed over at once; how many. */
static size_t more_is_the_same(struct image_trace *trace)
{
    struct pd_pt_config config = image_config(trace);
    config.cyc_threshold = next(4) == 0;
    config.max_loops = next(3);
    size_t branches = image_compare_more(&config, trace, 1 + next(IMAGE_RUN), next(2) * next(200));
    config.period_type = PD_PT_PERIOD_INSTRUCTIONS;
    config.period = 1 + next(2);
    size_t insns = image_compare_more(&config, trace, 1 + next(IMAGE_RUN), next(2) * next(200));
    CHECK(branches != SIZE_MAX && insns != SIZE_MAX);
    return branches + insns;
}

static void together_is_the_same(void)
{
    static uint8_t bytes[4096];
    size_t count = 0;
    for (unsigned round = 0; round < 1500; round++) {
        size_t size = put(bytes, BEGIN("\x00"), sizeof BEGIN("\x00") - 1);
        while (size < sizeof bytes - 64 && next(100))
            size += put_packet(bytes + size);
        struct image_trace trace = { .bytes = bytes, .size = size };
        count += more_is_the_same(&trace);
    }
    CHECK(count > 1000);
}

/* ---- what comes again ---- */

static const uint8_t calls[] = {
    0x74, 0x05,                   /* 00 je 07 */
    0xe8, 0x09, 0x00, 0x00, 0x00, /* 02 call 10 */
    0x75, 0xf7,                   /* 07 jne 00 */
    0xff, 0xd0,                   /* 09 call *rax */
    0xeb, 0xf3,                   /* 0b jmp 00 */
    0x90, 0x90, 0x90,             /* 0d */
    0x75, 0x03,                   /* 10 jne 15 */
    0xff, 0xe0,                   /* 12 jmp *rax */
    0x90,                         /* 14 */
    0x74, 0x07,                   /* 15 je 1e */
    0xe8, 0xe4, 0xff, 0xff, 0xff, /* 17 call 00 */
    0x75, 0xf2,                   /* 1c jne 10 */
    0xc3,                         /* 1e ret */
};

/* Calls itself from two places, and returns from all of that at once. */
static const uint8_t recursion[] = {
    0x75, 0x17,                   /* 00 jne 19 */
    0x74, 0x03,                   /* 02 je 07 */
    0xeb, 0x0a,                   /* 04 jmp 10 */
    0x90,                         /* 06 */
    0xe8, 0xf4, 0xff, 0xff, 0xff, /* 07 call 00 */
    0x90, 0x90,                   /* 0c */
    0xc3,                         /* 0e ret */
    0x90,                         /* 0f */
    0xe8, 0xeb, 0xff, 0xff, 0xff, /* 10 call 00 */
    0xc3,                         /* 15 ret */
    0x90, 0x90, 0x90,             /* 16 */
    0xc3,                         /* 19 ret */
};

/* Runs it and writes its trace. What it decides by comes again each `period`, mostly. */
struct runner {
    uint8_t *to;
    size_t size;
    uint64_t ip, stack[32];
    unsigned depth, bits, count, period, at;
    uint8_t step_log[64];
};

static unsigned runner_decides(struct runner *r)
{
    r->at = (r->at + 1) % r->period;
    if (!next(300))
        r->step_log[r->at] = (uint8_t)next(256);
    return r->step_log[r->at];
}

static void runner_flush(struct runner *r)
{
    if (r->count)
        r->to[r->size++] = (uint8_t)((1u << r->count | r->bits) << 1);
    r->bits = r->count = 0;
}

static void runner_bit(struct runner *r, bool taken)
{
    r->bits = r->bits << 1 | taken;
    if (++r->count == 6 || !next(40))
        runner_flush(r);
}

static void runner_tip(struct runner *r, uint64_t target)
{
    runner_flush(r);
    unsigned size = next(30) ? 2 : next(2) ? 4 : 6;
    r->to[r->size++] = (uint8_t)(size / 2 << 5 | 0xd);
    pd_store64(r->to + r->size, target, false);
    r->size += size;
    r->ip = target;
}

static void runner_step(struct runner *r)
{
    static const uint8_t targets[4] = { 0, 7, 0x10, 0x15 };
    enum pd_code_error error;
    const struct pd_code_node *node = image_at(&image.view, r->ip, &error);
    const bool call = node->op == PD_INSN_CALL;
    if (node->branch == PD_BRANCH_CONDITIONAL) {
        bool taken = runner_decides(r) & 1;
        runner_bit(r, taken);
        r->ip = taken ? node->target : node->next_ip;
    } else if (node->branch == PD_BRANCH_UNCONDITIONAL) {
        r->ip = node->target;
    } else if (node->op == PD_INSN_RET && r->depth && next(20)) {
        runner_bit(r, true);
        r->ip = r->stack[--r->depth];
    } else {
        r->depth -= node->op == PD_INSN_RET && r->depth;
        runner_tip(r, BASE + targets[runner_decides(r) % 4]);
    }
    if (call && r->depth < 32)
        r->stack[r->depth++] = node->next_ip;
    else if (call)
        r->depth = 0;
}

static void repeated_is_the_same(const uint8_t *program, size_t program_size)
{
    static uint8_t bytes[16384];
    image_set(BASE, program, program_size);
    for (unsigned round = 0; round < 300; round++) {
        struct runner runner = { .to = bytes, .ip = BASE, .period = 3 + next(60) };
        for (size_t i = 0; i < sizeof runner.step_log; i++)
            runner.step_log[i] = (uint8_t)next(256);
        runner.size = put(bytes, BEGIN("\x00"), sizeof BEGIN("\x00") - 1);
        while (runner.size < sizeof bytes - 128) {
            runner_step(&runner);
            if (!next(80))
                runner.size += put(bytes + runner.size, (uint8_t[]){ 0x59, (uint8_t)next(256) }, 2);
            if (!next(5000))
                runner.size += put_packet(bytes + runner.size);
        }
        struct image_trace trace = { .bytes = bytes, .size = runner.size };
        struct pd_pt_config config = image_config(&trace);
        config.wanted = PD_PT_ALL_STEPS & ~(PD_PT_BRANCH | PD_PT_TRACE_BEGIN | PD_PT_TRACE_END);
        config.period_type = (enum pd_pt_period)next(3);
        config.period = 1 + next(1000);
        CHECK(image_compare(&config, &trace, next(3) * next(2000)) != SIZE_MAX);
        CHECK(more_is_the_same(&trace) > 100);
    }
    image_set(BASE, code, sizeof code);
}

/* ---- on step logs ---- */

/* What makes a decoder forget what came before: all times in PSB+, and MTCs behind CYCs. */
static void runner_psb(struct runner *r, uint32_t ctc)
{
    uint8_t tsc[8] = { 0x19 }, tma[7] = { 2, 0x73 };
    const uint64_t time = 0x10000000 + (uint64_t)ctc * 92;
    runner_flush(r);
    memcpy(tsc + 1, &time, 7);
    memcpy(tma + 2, &ctc, 2);
    r->size += put(r->to + r->size, PSB, sizeof PSB - 1);
    r->size += put(r->to + r->size, tsc, sizeof tsc);
    r->size += put(r->to + r->size, tma, sizeof tma);
    r->size += put(r->to + r->size, "\x02\x03\x14\x00\x99\x01" AT("\x00") PSBEND,
                   sizeof "\x02\x03\x14\x00\x99\x01" AT("\x00") PSBEND - 1);
    r->ip = BASE;
    r->depth = 0;
}

static void runner_mtc(struct runner *r, uint32_t *ctc, bool cyc)
{
    *ctc += 8;
    runner_flush(r);
    if (cyc)
        r->size += put(r->to + r->size, (uint8_t[]){ (uint8_t)(next(32) << 3 | 3) }, 1);
    r->size += put(r->to + r->size, (uint8_t[]){ 0x59, (uint8_t)(*ctc >> 3) }, 2);
}

/* Odd packets: one in so many. */
static size_t make_logged(uint8_t *bytes, size_t room, unsigned round)
{
    struct runner runner = { .to = bytes, .ip = BASE, .period = 3 + next(60) };
    const bool cyc = round % 2;
    const uint32_t odd = round % 3 ? 5000 : 200;
    uint32_t ctc = 16;
    for (size_t i = 0; i < sizeof runner.step_log; i++)
        runner.step_log[i] = (uint8_t)next(256);
    runner_psb(&runner, ctc);
    while (runner.size < room - 128) {
        runner_step(&runner);
        if (!next(40) && round % 5)
            runner_mtc(&runner, &ctc, cyc);
        if (!next(10) && cyc)
            runner.size += put(bytes + runner.size, (uint8_t[]){ (uint8_t)(next(32) << 3 | 3) }, 1);
        if (!next(odd))
            runner.size += put_packet(bytes + runner.size);
        if (!next(200))
            runner_psb(&runner, ctc += 800);
    }
    return runner.size;
}

static void logged_is_the_same(void)
{
    static uint8_t bytes[8192];
    size_t count[2] = { 0 };
    image_set(BASE, calls, sizeof calls);
    for (unsigned round = 0; round < 600; round++) {
        struct image_trace trace = { .bytes = bytes };
        trace.size = make_logged(bytes, sizeof bytes, round);
        struct pd_pt_config config = image_config(&trace);
        config.period_type = round % 7 ? PD_PT_PERIOD_NONE : PD_PT_PERIOD_TICKS;
        config.period = 1 + next(1000);
        size_t logged = image_compare_step_log(&config, &trace);
        CHECK(logged != SIZE_MAX);
        count[round % 2] += logged;
    }
    CHECK(count[0] > 500000 && count[1] > 500000);
    image_set(BASE, code, sizeof code);
}

static bool snapshot_at_psb(struct pd_pt_snapshot *mark, struct pd_pt_decoder *decoder)
{
    const struct pd_pt_state *state;
    do {
        state = pd_pt_decode(decoder, UINT64_MAX);
    } while (state && (state->error || !(state->type & PD_PT_PSB_EVENT)));
    return state && pd_pt_snapshot_take(mark, decoder);
}

/* Items of a PEBS block belong to a place, too, and so does that there are none. */
static void marks_hold_items(void)
{
    static const char bytes[] = BEGIN("\x00") "\x06" GP_BLOCK BEGIN("\x08") TIP("\x00");
    struct image_trace trace = { .bytes = (const uint8_t *)bytes, .size = sizeof bytes - 1 };
    struct pd_pt_config config = image_config(&trace);
    struct pd_pt_snapshot *before = pd_pt_snapshot_new(), *behind = pd_pt_snapshot_new();
    struct pd_pt_snapshot *again = pd_pt_snapshot_new();
    struct pd_pt_decoder *decoder = pd_pt_decoder_new(&config);
    pd_pt_set_code(decoder, &image.view, NULL);
    CHECK(snapshot_at_psb(before, decoder) && snapshot_at_psb(behind, decoder));
    CHECK(!pd_pt_snapshot_same(before, behind));
    pd_pt_snapshot_back(decoder, before);
    const struct pd_pt_items *items = pd_pt_decode(decoder, UINT64_MAX)->items;
    CHECK(!items->mask[PD_PT_BLOCK_GP]);
    pd_pt_snapshot_back(decoder, behind);
    CHECK(items->mask[PD_PT_BLOCK_GP] == 2 && items->value[PD_PT_BLOCK_GP][1] == 0x2a);
    pd_pt_snapshot_back(decoder, before);
    CHECK(snapshot_at_psb(again, decoder) && pd_pt_snapshot_same(again, behind));
    pd_pt_decoder_free(decoder);
    free(before);
    free(behind);
    free(again);
}

int main(void)
{
    image_set(BASE, code, sizeof code);
    branches();
    events();
    errors();
    emulated_ptwrite();
    samples();
    quick();
    filters();
    jumps_forward();
    shares_what_is_known();
    unseen_is_the_same();
    calibration_is_the_same();
    together_is_the_same();
    repeated_is_the_same(calls, sizeof calls);
    repeated_is_the_same(recursion, sizeof recursion);
    logged_is_the_same();
    marks_hold_items();
    image_clear();
    return test_done();
}
