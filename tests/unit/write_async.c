/* SPDX-License-Identifier: MIT */
/* A thread that writes makes the same file, whatever the sizes of what it gets; what it cannot
 * write is told. */
#include "test.h"
#include "write/write.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 3 << 20 };

static uint8_t *bytes; /* whole records of the kernel */

/* Pieces of many sizes, some larger than a block, with rounds between them. */
static perfdata_status write_pieces(struct pd_writer *writer)
{
    static const size_t sizes[] = { 8, 4096, 70000, 1 << 20, 200, MOST, 65536, 64, 800000 };
    perfdata_status status = PERFDATA_OK;
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes && status == PERFDATA_OK; i++) {
            status = pd_writer_put_kernel(writer, bytes, sizes[i] / 8 * 8);
            if (status == PERFDATA_OK && i % 2)
                status = pd_writer_sync(writer);
        }
    return status;
}

static perfdata_status write_file(int fd, unsigned blocks, int level, enum pd_writer_kind kind)
{
    struct pd_context context;
    struct pd_writer *writer;
    const struct pd_writer_options options = { .kind = kind, .level = level, .blocks = blocks };
    const struct pd_attr attr = { .type = 1, .size = 128, .sample_period = 1 };
    const uint64_t id = 5;
    pd_context_init(&context);
    CHECK(pd_writer_open_fd(&context, fd, &options, &writer) == 0);
    CHECK(pd_writer_add_event(writer, &attr, &id, 1) == 0);
    CHECK(pd_writer_begin(writer) == 0);
    perfdata_status status = write_pieces(writer);
    if (status == PERFDATA_OK)
        status = pd_writer_wait(writer);
    if (status == PERFDATA_OK)
        status = pd_writer_finish(writer);
    CHECK((status == PERFDATA_OK) == (context.status == PERFDATA_OK));
    if (status < 0)
        CHECK_STR(context.message, "cannot write: No space left on device");
    pd_writer_close(writer);
    pd_context_fini(&context);
    return status;
}

static uint8_t *make(unsigned blocks, int level, enum pd_writer_kind kind, size_t *size)
{
    struct stat info;
    int fd = memfd_create("async", MFD_CLOEXEC);
    CHECK(write_file(fd, blocks, level, kind) == PERFDATA_OK);
    CHECK(fstat(fd, &info) == 0);
    *size = (size_t)info.st_size;
    uint8_t *all = malloc(*size);
    CHECK(all && pread(fd, all, *size, 0) == (ssize_t)*size);
    close(fd);
    return all;
}

int main(void)
{
    static const enum pd_writer_kind kinds[] = { PD_WRITE_FILE, PD_WRITE_PIPE };
    bytes = calloc(1, MOST);
    if (!bytes)
        return 1;
    for (size_t i = 0; i < MOST; i += 8) {
        pd_store32(bytes + i, 9, false);
        pd_store16(bytes + i + 4, (uint16_t)(i / 8 * 7), false);
        pd_store16(bytes + i + 6, 8, false);
    }
    for (unsigned form = 0; form < 4; form++) {
        size_t size, other_size;
        int level = form >= 2;
        uint8_t *all = make(0, level, kinds[form % 2], &size);
        for (unsigned blocks = 1; blocks <= 4; blocks++) {
            uint8_t *other = make(blocks, level, kinds[form % 2], &other_size);
            CHECK_U64(other_size, size);
            CHECK(other_size == size && !memcmp(all, other, size));
            free(other);
        }
        free(all);
    }
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    for (unsigned blocks = 0; full >= 0 && blocks <= 2; blocks++)
        CHECK(write_file(full, blocks, 0, PD_WRITE_PIPE) == PERFDATA_ERROR_OUTPUT);
    close(full);
    free(bytes);
    return test_done();
}
