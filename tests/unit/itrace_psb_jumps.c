/* SPDX-License-Identifier: MIT */
/* From PSB to PSB with a stored index: the same steps as without it, of less that is read; what is
 * plain; where it may be cut. */
#include "test.h"
#include "itrace/aux/index_file.h"
#include "walk_psb_jumps.h"

enum { PSBS = 12000, STEP = 256, TSC = 0x10000000 };

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

/* Long runs are leapt over; where a step ends within one, up to there. */
static void check_saved(const struct leaps_walk *with, size_t size, bool odd, uint64_t step)
{
    if (!step || step > PSBS)
        CHECK(with->psb_jumps >= (odd ? 100 : 3) && with->read < size / (odd ? 2 : 8));
    else if (step > 0x1000)
        CHECK(with->psb_jumps >= 100 && with->read < size / 4 * 3);
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
            if (w <= 2) /* what is shown is read in the trace */
                CHECK(!with.psb_jumps && with.read == trace.size);
            else
                check_saved(&with, trace.size, odd, steps[s]);
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

/* ---- forged indexes ---- */

static uint64_t seed = 1;

static uint64_t below(uint64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % limit;
}

/* What a field may be forged to: near what it is, the place of some PSB, or anything. */
static uint64_t forge(uint64_t value)
{
    switch (below(6)) {
    case 0: return value + 1;
    case 1: return value - 1;
    case 2: return value + STEP;
    case 3: return value - STEP * (1 + below(40));
    case 4: return STEP * below(PSBS);
    default: return below(2) ? seed : 0;
    }
}

struct index {
    struct pd_index_head head;
    struct pd_pt_psb_jump psb_jumps[PSBS];
    struct pd_index_row rows[2];
    struct pd_index_entry entries[2 * PSBS];
    struct pd_index_run runs[PSBS];
};

static bool read_index(const char *path, struct index *out)
{
    FILE *file = fopen(path, "rb");
    bool done = file && fread(&out->head, sizeof out->head, 1, file) == 1 &&
                out->head.psb_jumps <= PSBS && out->head.rows == 2 && out->head.entries <= PSBS &&
                out->head.runs <= PSBS &&
                fread(out->psb_jumps, sizeof *out->psb_jumps, out->head.psb_jumps, file) ==
                    out->head.psb_jumps &&
                fread(out->rows, sizeof *out->rows, 2, file) == 2 &&
                fread(out->entries, sizeof *out->entries, out->head.entries, file) ==
                    out->head.entries &&
                fread(out->runs, sizeof *out->runs, out->head.runs, file) == out->head.runs;
    if (file)
        fclose(file);
    return done;
}

/* With checksums that are right. */
static bool write_index(const char *path, struct index *index)
{
    for (uint64_t i = 0; i < index->head.runs; i++) {
        struct pd_index_run *run = &index->runs[i];
        if (run->first_jump <= index->head.psb_jumps &&
            run->psb_jumps <= index->head.psb_jumps - run->first_jump)
            run->checksum = pd_digest(index->psb_jumps + run->first_jump,
                                      run->psb_jumps * sizeof *index->psb_jumps, 0);
    }
    index->head.checksum = pd_index_checksum(&index->head, index->rows, index->entries,
                                             index->runs);
    FILE *file = fopen(path, "wb");
    bool done = file && fwrite(&index->head, sizeof index->head, 1, file) == 1 &&
                fwrite(index->psb_jumps, sizeof *index->psb_jumps, index->head.psb_jumps, file) ==
                    index->head.psb_jumps &&
                fwrite(index->rows, sizeof *index->rows, 2, file) == 2 &&
                fwrite(index->entries, sizeof *index->entries, index->head.entries, file) ==
                    index->head.entries &&
                fwrite(index->runs, sizeof *index->runs, index->head.runs, file) ==
                    index->head.runs;
    return file && !fclose(file) && done;
}

/* One field of what there is of it. */
static void forge_one(struct index *index)
{
    struct pd_index_run *run = &index->runs[below(index->head.runs)];
    struct pd_pt_psb_jump *psb_jump = below(2) ? &index->psb_jumps[below(index->head.psb_jumps)]
                                               : &run->told[below(2)];
    struct pd_index_entry *entry = &index->entries[below(index->head.entries)];
    switch (below(14)) {
    case 0: run->first = forge(run->first); break;
    case 1: run->resume = forge(run->resume); break;
    case 2: run->first_jump = forge(run->first_jump); break;
    case 3: run->psb_jumps = (uint32_t)forge(run->psb_jumps); break;
    case 4: run->has_tma ^= 1; break;
    case 5: run->told_count ^= 3; break;
    case 6: psb_jump->offset = forge(psb_jump->offset); break;
    case 7: psb_jump->tsc = forge(psb_jump->tsc); break;
    case 8: psb_jump->ip = forge(psb_jump->ip); break;
    case 9: entry->offset = forge(entry->offset); break;
    case 10: entry->tsc = forge(entry->tsc); break;
    case 11: index->rows[1].first_entry = forge(index->rows[1].first_entry); break;
    case 12: index->rows[1].first_run = forge(index->rows[1].first_run); break;
    case 13: /* of other bytes: all times are others */
        for (uint64_t i = 0; i < index->head.psb_jumps; i++)
            index->psb_jumps[i].tsc += 0x40;
        for (uint64_t i = 0; i < index->head.entries; i++)
            index->entries[i].tsc -= 0x40;
        for (uint64_t i = 0; i < index->head.runs; i++)
            index->runs[i].told[0].tsc += 0x40;
        break;
    }
}

/* Wherever a jump begins, no PSB before has that time or a later one. */
static void check_jumps(const struct aux_file *file, const struct trace *trace, size_t first_size)
{
    for (unsigned i = 0; i < 40; i++) {
        const uint32_t buffer = (uint32_t)below(2);
        const uint64_t size = buffer ? trace->size - first_size : first_size;
        const uint64_t tsc = TSC + below(0x40 * PSBS);
        uint64_t at = pd_aux_index_before(file->aux, buffer, 0, size, tsc), found;
        const uint8_t *bytes = trace->bytes + (buffer ? first_size : 0) + at;
        CHECK(!at || (pd_pt_find_psb(bytes, size - at, 0) == 0 &&
                      pd_pt_psb_tsc(bytes, bytes + size - at, &found) > 0 && found < tsc));
    }
}

/* Issue 24, point 5: an index that does not belong to the recording's bytes is not used, though its
 * checksums are right. */
static void check_forged(bool odd, unsigned rounds)
{
    static struct index good, forged;
    struct trace trace = make_trace(odd);
    const size_t first_size = trace.size / 3;
    unsigned rejected = 0;
    struct file f = file_begin(false);
    struct aux_file file;
    file_event(&f, AUX_IP_TID_TIME, AUX_ID_ALL, 0, NULL);
    file_data(&f);
    aux_info(&f, "");
    aux_trace(&f, 0, 0, trace.bytes, first_size);
    aux_trace(&f, 0, 0, trace.bytes + first_size, trace.size - first_size);
    file_end(&f);
    CHECK(aux_file_make(&file, &f));
    CHECK(pd_aux_index_store(file.aux) == 0 && read_index(file.index, &good));
    aux_file_close(&file);
    for (unsigned i = 0; i < rounds; i++) {
        struct leaps_walk with;
        struct pd_pt_config config = leaps_config(below(2) ? PD_PT_BRANCH : 0);
        forged = good;
        for (uint64_t n = 1 + below(2); n; n--)
            forge_one(&forged);
        CHECK(write_index(file.index, &forged));
        CHECK(aux_file_open(&file) && pd_aux_index_load(file.aux) == 0);
        CHECK(leaps_compare(file.aux, &config, below(2) ? 0x1234 : 0, &with) != SIZE_MAX);
        if (!odd)
            check_jumps(&file, &trace, first_size);
        rejected += file.recording.context.issue_count[PERFDATA_ISSUE_OBJECT] != 0;
        aux_file_close(&file);
    }
    CHECK(rejected > rounds / 3);
    CHECK(aux_file_open(&file));
    aux_file_remove(&file);
    file_free(&f);
    free(trace.bytes);
}

int main(void)
{
    check_forged(false, 200);
    check_forged(true, 200);
    check_plain();
    check_cut();
    check_walks(false);
    check_walks(true);
    return test_done();
}
