/* SPDX-License-Identifier: MIT */
/* From PSB to PSB with a stored index: the same steps as without it, of less that is read; what is plain; where it may be
 * cut. */
#include "test.h"
#include "walk_leaps.h"

enum { PSBS = 12000, STEP = 256, TSC = 0x10000 };

struct trace {
    uint8_t *bytes;
    size_t size;
};

static void put(struct trace *trace, const char *bytes, size_t size)
{
    memcpy(trace->bytes + trace->size, bytes, size);
    trace->size += size;
}

/* A PSB+ up to the STEP that it is in, with branches behind it. */
static void put_state(struct trace *trace, unsigned i, uint64_t tsc, const char *state,
                      size_t state_size)
{
    aux_psb(trace->bytes + trace->size, tsc);
    trace->size += 24;
    put(trace, "\x02\x73\x11\x22\0\x33\0", 7); /* TMA */
    bool traced = i < 50 ? i >= 20 : i % 7;
    if (traced && i >= 50) /* MODE.Exec */
        put(trace, "\x99\x01", 2);
    if (traced) { /* FUP */
        put(trace, "\x7d\0\0\x40\0\0\0", 7);
        trace->bytes[trace->size - 6] = (uint8_t)i;
    }
    put(trace, "\x02\x03\x17\0", 4); /* CBR */
    put(trace, state, state_size);
    put(trace, "\x02\x23", 2);
    memset(trace->bytes + trace->size, 0x5a, STEP * (i + 1) - trace->size);
    trace->size = STEP * (size_t)(i + 1);
}

/* What is not like the others comes now and then. */
static struct trace make_trace(bool odd)
{
    struct trace trace = { .bytes = calloc(PSBS, STEP) };
    for (unsigned i = 0; i < PSBS; i++) {
        uint64_t tsc = TSC + 0x40 * i;
        unsigned kind = odd ? i % 1000 : 0;
        switch (kind) {
        case 500: put_state(&trace, i, tsc, "\x02\x03\x10\0", 4); break;         /* CBR again */
        case 510: put_state(&trace, i, tsc, "\x99\x05", 2); break;               /* IF is set */
        case 520: put_state(&trace, i, tsc, "\x02\xf3", 2); break;               /* OVF */
        case 530: put_state(&trace, i, tsc - 0x1000, "", 0); break;              /* late */
        case 540: put_state(&trace, i, tsc - 0x4000000, "", 0); break;           /* too late */
        case 550: put_state(&trace, i, tsc, "\x05", 1); break;                   /* bad */
        case 560: put_state(&trace, i, tsc, "\x0b", 1); break;                   /* CYC */
        case 570: put_state(&trace, i, tsc, "\x02\x43\0\0\0\0\0\0", 8); break;   /* PIP */
        case 580: put_state(&trace, i, tsc, "\x02\x43\x01\0\0\0\0\0", 8); break; /* of a guest */
        case 590: put_state(&trace, i, tsc, "\x02\x23\x05", 3); break;           /* bad behind it */
        case 600: put_state(&trace, i, tsc, "\x99\x21", 2); break; /* in a transaction */
        default: put_state(&trace, i, tsc, "", 0); break;
        }
    }
    return trace;
}

static void check_walks(bool odd)
{
    struct trace trace = make_trace(odd);
    struct file f = file_begin(false);
    struct aux_file file;
    file_event(&f, AUX_IP_TID_TIME, AUX_ID_ALL, 0, NULL);
    file_data(&f);
    aux_info(&f, "");
    aux_trace(&f, 0, 0, trace.bytes, trace.size / 3);
    aux_trace(&f, 0, 0, trace.bytes + trace.size / 3, trace.size - trace.size / 3);
    file_end(&f);
    CHECK(aux_file_make(&file, &f));
    CHECK(pd_aux_index_store(file.aux) == 0 && pd_aux_index_load(file.aux) == 0 && file.aux->index);
    static const uint32_t wanted[] = { PD_PT_ALL_STEPS, PD_PT_INSTRUCTION, PD_PT_PSB_EVENT,
                                       PD_PT_BRANCH, 0 };
    static const uint64_t steps[] = { 0, 1, 0x40, 0x1234, 0x100000 };
    for (unsigned w = 0; w < PD_LENGTH(wanted); w++)
        for (unsigned s = 0; s < PD_LENGTH(steps); s++) {
            struct pd_pt_config config = leaps_config(wanted[w]);
            struct leaps_walk with;
            size_t count = leaps_compare(file.aux, &config, steps[s], &with);
            CHECK(count != SIZE_MAX && (w > 2 || count > PSBS / 2));
            CHECK(with.leaps >= (odd ? 100 : 3)); /* 4096 at once, or one run between odd ones */
            CHECK(with.read < trace.size / (odd ? 2 : 8));
        }
    aux_file_remove(&file);
    file_free(&f);
    free(trace.bytes);
}

static int read_psb(struct pd_pt_psb *psb, const char *state, size_t size, const char *behind)
{
    uint8_t bytes[128];
    size_t at = aux_psb(bytes, 0x123456) - 2;
    memcpy(bytes + at, state, size);
    memcpy(bytes + at + size, behind, strlen(behind));
    return pd_pt_psb_read(bytes, bytes + at + size + strlen(behind), psb);
}

/* What is plain, and what is alike. */
static void check_plain(void)
{
    struct pd_pt_psb psb, other;
    CHECK(read_psb(&psb, "", 0, "\x02\x23\x06") == 1);
    CHECK(psb.size == 26 && psb.tsc == 0x123456 && !psb.ip && !psb.has_tma);
    CHECK(read_psb(&psb, "", 0, "\x02\x23") == -1); /* what is behind it is not known */
    CHECK(read_psb(&psb, "", 0, "\x02") == -1);
    CHECK(read_psb(&psb, "", 0, "\x02\x23\x05                    ") == 0); /* a bad packet */
    CHECK(read_psb(&psb, "\x5d\x34\x12\0\0", 5, "\x02\x23\x06") == 1 && psb.ip == 0x1234);
    CHECK(read_psb(&psb, "\x1d", 1, "\x02\x23\x06") == 0); /* a FUP without an address */
    CHECK(read_psb(&psb, "\x5d\x34\x12\0\0\x5d\x34\x12\0\0", 10, "\x02\x23\x06") == 0);
    CHECK(read_psb(&psb, "\x5d\x34\x12\0\0\x02\x73\1\1\0\1\0", 12, "\x02\x23\x06") == 0);
    CHECK(read_psb(&psb, "\x02\x03\x17\0", 4, "\x02\x23\x06") == 1);
    CHECK(read_psb(&other, "\x02\x03\x17\0\x5d\x34\x12\0\0", 9, "\x02\x23\x06") == 1);
    CHECK(pd_pt_psb_alike(&psb, &other) && pd_pt_psb_alike(&other, &psb));
    CHECK(read_psb(&other, "", 0, "\x02\x23\x06") == 1);
    CHECK(pd_pt_psb_alike(&psb, &other) && !pd_pt_psb_alike(&other, &psb)); /* CBR is known */
    CHECK(read_psb(&other, "\x02\x03\x16\0", 4, "\x02\x23\x06") == 1);
    CHECK(!pd_pt_psb_alike(&psb, &other));
    CHECK(read_psb(&psb, "\x99\x01", 2, "\x02\x23\x06") == 1);
    CHECK(read_psb(&other, "\x99\x05", 2, "\x02\x23\x06") == 1);
    CHECK(!pd_pt_psb_alike(&psb, &other)); /* the interrupt flag */
    CHECK(read_psb(&other, "\x02\x73\1\1\0\1\0", 7, "\x02\x23\x06") == 1 && other.has_tma);
}

static void check_cut(void)
{
    static uint8_t bytes[40000];
    memset(bytes, 0x5a, sizeof bytes);
    CHECK_U64(pd_pt_psb_cut(bytes, sizeof bytes), 0);
    aux_psb(bytes + 100, 1);
    CHECK_U64(pd_pt_psb_cut(bytes, sizeof bytes), 0);
    aux_psb(bytes + 200, 2);
    CHECK_U64(pd_pt_psb_cut(bytes, sizeof bytes), 200); /* far from the end */
    aux_psb(bytes + 39000, 3);
    CHECK_U64(pd_pt_psb_cut(bytes, sizeof bytes), 39000);
    aux_psb(bytes + 39100, 4);
    CHECK_U64(pd_pt_psb_cut(bytes, sizeof bytes), 39100);
    CHECK_U64(pd_pt_psb_cut(bytes, 39120), 39100); /* it need not be whole itself */
    aux_psb(bytes + 39900, 5);
    bytes[39124] = 0x05; /* the one before is not plain */
    CHECK_U64(pd_pt_psb_cut(bytes, sizeof bytes), 39100);
}

int main(void)
{
    check_plain();
    check_cut();
    check_walks(false);
    check_walks(true);
    return test_done();
}
