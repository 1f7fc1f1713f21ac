/* SPDX-License-Identifier: MIT */
/* Proves: streams come back byte for byte, whatever is in memory and whatever in the file; a file
 * that cannot be made, cannot grow, or ends too early, is told as an error. */
#include "convert/spool.h"
#include "test.h"
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STREAMS = 3, ROUNDS = 90000, LONGEST = 400 };

static struct pd_context context;
static struct pd_convert convert = { .context = &context };
static struct pd_spool spool;
static struct pd_spool_stream streams[STREAMS];
static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(random_state >> 33) % below;
}

/* What is put into stream `number` in a round; the same again with the same state. */
static size_t fill(char *to, unsigned *number)
{
    *number = draw(8) ? 0 : draw(STREAMS);
    size_t size = draw(LONGEST);
    memset(to, (int)draw(256), size);
    return size;
}

static perfdata_status put_all(uint64_t lengths[STREAMS])
{
    struct pd_text text = { 0 };
    perfdata_status status = PERFDATA_OK;
    char bytes[LONGEST];
    random_state = 1;
    for (size_t i = 0; i < ROUNDS && status >= 0; i++) {
        unsigned number;
        size_t size = fill(bytes, &number);
        pd_text_bytes(&text, bytes, size);
        status = pd_spool_put(&spool, &streams[number], &text);
        CHECK(!text.length || status < 0);
        lengths[number] += size;
    }
    pd_text_free(&text);
    return status;
}

static void free_all(void)
{
    for (size_t i = 0; i < STREAMS; i++)
        pd_spool_free(&streams[i]);
    pd_spool_close(&spool);
}

static void come_back(void)
{
    uint64_t lengths[STREAMS] = { 0 };
    struct pd_spool_reader readers[STREAMS];
    char bytes[LONGEST], got[LONGEST];
    pd_spool_init(&spool, &convert);
    CHECK(put_all(lengths) == PERFDATA_OK);
    CHECK(spool.file_size > 1 << 20 && spool.pending > 0);
    for (size_t i = 0; i < STREAMS; i++) {
        CHECK_U64(streams[i].length, lengths[i]);
        pd_spool_reader_init(&readers[i], &spool, &streams[i]);
    }
    random_state = 1;
    for (size_t i = 0; i < ROUNDS; i++) {
        unsigned number;
        size_t size = fill(bytes, &number);
        CHECK(pd_spool_take(&readers[number], got, size) == PERFDATA_OK);
        CHECK(!memcmp(bytes, got, size));
    }
    for (size_t i = 0; i < STREAMS; i++) {
        CHECK(pd_spool_take(&readers[i], got, 1) == PERFDATA_ERROR_IO); /* there is no more */
        pd_spool_reader_free(&readers[i]);
    }
    CHECK(ftruncate(spool.fd, 1000) == 0);
    pd_spool_reader_init(&readers[0], &spool, &streams[0]);
    CHECK(pd_spool_take(&readers[0], got, 1) == PERFDATA_ERROR_IO);
    pd_spool_reader_free(&readers[0]);
    free_all();
}

static void no_folder(void)
{
    uint64_t lengths[STREAMS] = { 0 };
    CHECK(setenv("TMPDIR", "/nonexistent/folder", 1) == 0);
    pd_spool_init(&spool, &convert);
    CHECK(put_all(lengths) == PERFDATA_ERROR_IO);
    CHECK(strstr(context.message, "temporary file: No such file"));
    free_all();
    CHECK(unsetenv("TMPDIR") == 0);
}

static void full_disk(void)
{
    uint64_t lengths[STREAMS] = { 0 };
    struct rlimit limit;
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = 100000;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    pd_spool_init(&spool, &convert);
    CHECK(put_all(lengths) == PERFDATA_ERROR_IO);
    CHECK(strstr(context.message, "temporary file"));
    free_all();
}

int main(void)
{
    pd_context_init(&context);
    come_back();
    no_folder();
    full_disk();
    return test_done();
}
