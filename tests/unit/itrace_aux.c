/* SPDX-License-Identifier: MIT */
/* AUX areas: AUXTRACE_INFO, buffers by index and by walk, of samples, wanted CPUs, pieces,
 * overlaps. */
#include "itrace/aux/index.h"
#include "make_aux.h"
#include "test.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void open_bytes(struct pd_recording *r, const struct file *f)
{
    struct pd_source *source;
    memset(r, 0, sizeof *r);
    pd_context_init(&r->context);
    CHECK(pd_source_open_memory(&r->context, f->bytes, f->size, &source) == 0);
    CHECK(pd_recording_open(source, "test", r) == 0);
}

static bool not_cpu_1(void *data, uint32_t cpu)
{
    (void)data;
    return cpu != 1;
}

static void check_info(const struct pd_aux *aux)
{
    const struct pd_pt_info *pt = &aux->info.pt;
    CHECK(aux->info.present && aux->info.type == 1 && aux->info.word_count == AUX_INFO_WORDS);
    CHECK(pt->time.shift == 10 && pt->time.mult == 1000 && pt->time.zero == 55);
    CHECK(pt->tsc_ctc_n == 184 && pt->tsc_ctc_d == 2 && pt->max_non_turbo_ratio == 23);
    CHECK(pt->have_sched_switch == 3 && pt->per_cpu_mmaps == 1 && pt->cap_event_trace);
    CHECK_STR(pt->filter, "filter 0x1@/a");
    CHECK_U64(pd_tsc_to_time(&pt->time, 2048 + 512), 55 + 2000 + 500);
    CHECK_U64(pd_time_to_tsc(&pt->time, 55 + 2500), 2048 + 512);
}

/* The same buffers by index and by walk; with a broken index by walk. */
static void check_queues(bool big, int index_kind)
{
    static const uint8_t first[] = "first---", second[] = "second--", third[] = "third---";
    struct file f = file_begin(big);
    file_event(&f, AUX_IP_TID_TIME, AUX_ID_ALL, 0, NULL);
    file_data(&f);
    aux_info(&f, "filter 0x1@/a");
    size_t a = aux_trace(&f, 0, 0, first, 8), b = aux_trace(&f, 1, 1, second, 8),
           c = aux_trace(&f, 0, 0, third, 8);
    uint8_t index[48 + 8];
    size_t places[] = { a, b, index_kind == 2 ? c + 8 : c };
    pd_store64(index, 3, f.swap);
    for (unsigned i = 0; i < 3; i++) {
        pd_store64(index + 16 * i, places[i], f.swap);
        pd_store64(index + 16 * i + 8, 48, f.swap);
    }
    if (index_kind)
        file_feature(&f, 18, index, 48);
    file_end(&f);
    struct pd_recording r;
    struct pd_aux *aux;
    open_bytes(&r, &f);
    CHECK(pd_aux_open(&r, NULL, &aux) == 0 && pd_aux_load(aux) == 0);
    check_info(aux);
    CHECK(aux->buffers.count == 3 && aux->queues.count == 2);
    CHECK(aux->buffers.data[1].queue == 1 && aux->buffers.data[1].number == 2);
    CHECK(aux->queues.data[0].buffers.count == 2 && aux->queues.data[0].cpu == 0);
    struct pd_aux_reader *reader;
    struct pd_aux_piece piece;
    CHECK(pd_aux_reader_open(aux, 0, &reader) == 0);
    CHECK(pd_aux_reader_next(reader, &piece) == 1 && !memcmp(piece.data, first, 8));
    CHECK(!piece.consecutive && piece.size == 8 && piece.trace_number == 1);
    uint64_t tsc, reference;
    CHECK(pd_aux_reader_ahead(reader, 0, &tsc, &reference) == 0);
    CHECK(pd_aux_reader_ahead(reader, 1, &tsc, &reference) == -1);
    CHECK(pd_aux_reader_skip(reader, 0, 1) == 0);
    CHECK(pd_aux_reader_next(reader, &piece) == 1 && !memcmp(piece.data, third, 8));
    CHECK(piece.consecutive && piece.position == 8 && piece.trace_number == 3);
    CHECK(pd_aux_reader_next(reader, &piece) == 0);
    pd_aux_reader_seek(reader, 1);
    CHECK(pd_aux_reader_next(reader, &piece) == 1 && !piece.consecutive);
    pd_aux_reader_close(reader);
    pd_aux_close(aux);
    struct pd_aux_options options = { .cpu_wanted = not_cpu_1 };
    CHECK(pd_aux_open(&r, &options, &aux) == 0 && pd_aux_load(aux) == 0);
    CHECK(aux->buffers.count == 2 && aux->dropped == 1);
    pd_aux_close(aux);
    pd_recording_close(&r);
    file_free(&f);
}

/* What is cut, lies, or names a queue without end costs nothing and is said. */
static void check_hostile(void)
{
    static const uint8_t bytes[] = "12345678";
    struct file f = file_begin(false);
    file_event(&f, AUX_IP_TID_TIME, AUX_ID_ALL, 0, NULL);
    file_data(&f);
    size_t at = file_record(&f, AUX_INFO, 0, 24);
    file_u32_at(&f, at + 8, 1);
    aux_trace(&f, 0x7fffffff, 0, bytes, 8);
    aux_trace(&f, 0, 0, bytes, 8);
    file_end(&f);
    struct pd_recording r;
    struct pd_aux *aux;
    open_bytes(&r, &f);
    CHECK(pd_aux_open(&r, NULL, &aux) == 0 && pd_aux_load(aux) == 0);
    CHECK(aux->buffers.count == 1);
    CHECK(r.context.issue_count[PERFDATA_ISSUE_BAD_RECORD] == 2);
    pd_aux_close(aux);
    pd_recording_close(&r);
    file_free(&f);
}

/* One buffer that is larger than a piece is cut in front of PSBs, and all of it comes. */
static void check_pieces(void)
{
    enum { SIZE = (size_t)PD_AUX_PIECE + (1 << 20) };
    uint8_t *bytes = calloc(1, SIZE);
    for (size_t at = 0; at + 26 < SIZE; at += 100000)
        aux_psb(bytes + at, at + 1);
    struct file f = file_begin(false);
    file_event(&f, AUX_IP_TID_TIME, AUX_ID_ALL, 0, NULL);
    file_data(&f);
    aux_info(&f, "");
    aux_trace(&f, 0, 0, bytes, SIZE);
    file_end(&f);
    struct pd_recording r;
    struct pd_aux *aux;
    struct pd_aux_reader *reader = NULL;
    struct pd_aux_piece piece;
    open_bytes(&r, &f);
    CHECK(pd_aux_open(&r, NULL, &aux) == 0 && pd_aux_load(aux) == 0);
    CHECK(aux->buffers.count == 1 && pd_aux_reader_open(aux, 0, &reader) == 0);
    size_t sum = 0, pieces = 0;
    while (pd_aux_reader_next(reader, &piece) > 0) {
        CHECK(piece.consecutive == (pieces > 0) && piece.inside == (pieces > 0));
        CHECK(piece.from == sum && !memcmp(piece.data, bytes + sum, piece.size));
        CHECK(!memcmp(piece.data, aux_psb_tsc, sizeof aux_psb_tsc));
        sum += piece.size;
        pieces++;
    }
    CHECK(sum == SIZE && pieces == 2);
    pd_aux_reader_close(reader);
    pd_aux_close(aux);
    pd_recording_close(&r);
    file_free(&f);
    free(bytes);
}

static size_t overlap(const uint8_t *trace, size_t a, size_t a_end, size_t b, size_t b_end,
                      bool tsc, bool *consecutive)
{
    return pd_pt_find_overlap(trace + a, a_end - a, trace + b, b_end - b, tsc, false, consecutive);
}

static void check_overlaps(void)
{
    uint8_t trace[400];
    bool consecutive;
    for (size_t i = 0; i < sizeof trace; i++)
        trace[i] = (uint8_t)(i * 2 % 200 + 4); /* short TNTs, never a PSB */
    for (size_t at = 10; at < sizeof trace; at += 100)
        aux_psb(trace + at, 5000 + at);
    for (int tsc = 0; tsc < 2; tsc++) {
        /* the second begins within the first and goes on behind its end */
        CHECK_U64(overlap(trace, 0, 250, 105, 400, tsc, &consecutive), 250 - 105);
        CHECK(consecutive);
        /* wholly behind it: from its first PSB */
        CHECK_U64(overlap(trace, 0, 150, 200, 400, tsc, &consecutive), 10);
        CHECK(!consecutive);
        /* no PSB: nothing to use */
        CHECK_U64(overlap(trace, 0, 150, 240, 290, tsc, &consecutive), 50);
        CHECK_U64(overlap(trace, 40, 100, 105, 400, tsc, &consecutive), 5);
        CHECK(!consecutive);
    }
    /* padding of the first is no part of the trace */
    uint8_t padded[256];
    memcpy(padded, trace, 250);
    memset(padded + 250, 0, 6);
    pd_pt_find_overlap(padded, 256, trace + 105, 295, true, false, &consecutive);
    CHECK(consecutive);
    CHECK_U64(pd_pt_find_overlap(padded, 256, trace + 105, 295, true, false, &consecutive),
              256 - 105 - 6);
}

/* A stored index: the place to begin with lies before the time, and what is not of this recording
 * is not taken. */
static void check_index(void)
{
    enum { BUFFER = 1 << 20, STEP = 4096, TSC = 0x10000 };
    static uint8_t trace[BUFFER];
    char path[] = "/tmp/perfdata-index-XXXXXX", index[64];
    struct file f = file_begin(false);
    file_event(&f, AUX_IP_TID_TIME, AUX_ID_ALL, 0, NULL);
    file_data(&f);
    aux_info(&f, "");
    for (unsigned b = 0; b < 2; b++) {
        for (unsigned i = 0; i < BUFFER / STEP; i++)
            aux_psb(trace + STEP * i, TSC + 0x100 * i + 0x100000 * b);
        aux_trace(&f, 0, 0, trace, sizeof trace);
    }
    file_end(&f);
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, f.bytes, f.size) == (ssize_t)f.size && !close(fd));
    snprintf(index, sizeof index, "%s" PD_AUX_INDEX_SUFFIX, path);
    struct pd_recording r = { 0 };
    struct pd_source *source;
    struct pd_aux *aux;
    pd_context_init(&r.context);
    r.context.path = path;
    CHECK(pd_source_open_path(&r.context, path, &source) == 0);
    CHECK(pd_recording_open(source, path, &r) == 0);
    CHECK(pd_aux_open(&r, NULL, &aux) == 0 && pd_aux_load(aux) == 0);
    CHECK(pd_aux_index_load(aux) == 0 && !aux->index); /* there is none */
    CHECK(pd_aux_index_store(aux) == 0);
    CHECK(pd_aux_index_load(aux) == 0 && aux->index);
    uint64_t tsc = 0, late = TSC + 0x100000 + 0x100 * 200, reference;
    CHECK_U64(pd_aux_index_before(aux, 1, 0, BUFFER, late), 192 * STEP);
    CHECK_U64(pd_aux_index_before(aux, 1, 0, 64 * STEP, late), 48 * STEP);
    CHECK_U64(pd_aux_index_before(aux, 1, 0, BUFFER, 1), 0);
    struct pd_aux_reader *reader;
    struct pd_aux_piece piece;
    CHECK(pd_aux_reader_open(aux, 0, &reader) == 0);
    CHECK(pd_aux_reader_ahead(reader, 1, &tsc, &reference) == 1 && tsc == TSC + 0x100000);
    CHECK(pd_aux_reader_ahead(reader, 2, &tsc, &reference) == -1);
    CHECK(pd_aux_reader_skip(reader, 1, late) == 0 && pd_aux_reader_next(reader, &piece) == 1);
    CHECK_U64(piece.from, 192 * STEP);
    CHECK_U64(piece.position, BUFFER + 192 * STEP);
    CHECK(piece.size == BUFFER - 192 * STEP && piece.data[1] == 0x82 && piece.trace_number == 2);
    CHECK(pd_aux_reader_next(reader, &piece) == 0);
    pd_aux_reader_close(reader);
    pd_aux_close(aux);
    uint64_t issues = r.context.issue_count[PERFDATA_ISSUE_OBJECT];
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1 } };
    pd_recording_close(&r);
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0); /* it has changed since */
    memset(&r, 0, sizeof r);
    pd_context_init(&r.context);
    r.context.path = path;
    CHECK(pd_source_open_path(&r.context, path, &source) == 0);
    CHECK(pd_recording_open(source, path, &r) == 0);
    CHECK(pd_aux_open(&r, NULL, &aux) == 0 && pd_aux_load(aux) == 0);
    CHECK(pd_aux_index_load(aux) == 0 && !aux->index);
    CHECK(r.context.issue_count[PERFDATA_ISSUE_OBJECT] == issues + 1);
    pd_aux_close(aux);
    pd_recording_close(&r);
    unlink(path);
    unlink(index);
    file_free(&f);
}

int main(void)
{
    for (int index = 0; index < 3; index++) {
        check_queues(false, index);
        check_queues(true, index);
    }
    check_hostile();
    check_pieces();
    check_overlaps();
    check_index();
    return test_done();
}
