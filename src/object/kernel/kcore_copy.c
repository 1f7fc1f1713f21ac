/* SPDX-License-Identifier: MIT */
/* The code of the kernel and its modules out of a kcore as it is now, as a small ELF core file,
 * with the symbols and the list of modules that go with it. */
#include "object/kernel/kcore_copy.h"
#include "base/memory.h"
#include "base/vec.h"
#include "io/at.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SEGMENTS = 1024, PIECE = 1 << 16 };

struct span {
    uint64_t start, end;
};

struct copy {
    struct pd_context *context;
    int folder, into; /* of the files that are copied, and of the copies */
    int from, to;     /* kcore and its copy */
    Elf64_Ehdr head;
    PD_VEC(Elf64_Phdr) in, out; /* out: p_paddr holds where the bytes lie in kcore */
    uint64_t end;               /* of what is written */
};

static perfdata_status cannot(struct copy *copy, const char *what)
{
    return pd_fail(copy->context, PERFDATA_ERROR_IO, -1, "kcore: cannot %s: %s", what,
                   strerrordesc_np(errno));
}

static bool read_whole(int fd, uint64_t offset, void *to, size_t size)
{
    size_t got;
    int error = pd_read_at(fd, offset, to, size, &got);
    errno = error ? error : EIO;
    return got == size;
}

/* ---- what is there ---- */

static perfdata_status read_segments(struct copy *copy)
{
    Elf64_Ehdr *head = &copy->head;
    if (!read_whole(copy->from, 0, head, sizeof *head))
        return cannot(copy, "read it");
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phnum > MOST_SEGMENTS) {
        errno = ENOEXEC;
        return pd_fail(copy->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "kcore: not a core file of 64 bits");
    }
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr segment;
        if (!read_whole(copy->from, head->e_phoff + i * sizeof segment, &segment, sizeof segment))
            return cannot(copy, "read it");
        if (segment.p_type == PT_LOAD && !pd_vec_push(&copy->in, segment))
            return pd_no_memory(copy->context, NULL);
    }
    return PERFDATA_OK;
}

/* From the first module to the end of the last. */
static struct span modules(int folder)
{
    char *line = NULL;
    size_t room = 0;
    struct span all = { UINT64_MAX, 0 };
    int fd = openat(folder, "modules", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    errno = 0;
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    while (file && getline(&line, &room, file) > 0) {
        unsigned long long size, address, end;
        if (sscanf(line, "%*s %llu %*s %*s %*s %llx", &size, &address) != 2 || !address ||
            pd_add_overflows(address, size, &end))
            continue;
        all.start = PD_MIN(all.start, address);
        all.end = PD_MAX(all.end, end);
    }
    pd_memory_note_errno();
    free(line);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return all;
}

/* The parts of a span that kcore has. */
static bool choose(struct copy *copy, struct span span)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (span.start >= span.end || span.end > UINT64_MAX - page)
        return true;
    span.start &= ~(page - 1);
    span.end = (span.end + page - 1) & ~(page - 1);
    for (size_t i = 0; i < copy->in.count; i++) {
        const Elf64_Phdr *in = &copy->in.data[i];
        uint64_t end, start = PD_MAX(span.start, in->p_vaddr);
        if (pd_add_overflows(in->p_vaddr, in->p_memsz, &end))
            end = UINT64_MAX;
        end = PD_MIN(end, span.end);
        if (start >= end)
            continue;
        Elf64_Phdr out = { .p_type = PT_LOAD,
                           .p_flags = PF_R | PF_W | PF_X,
                           .p_vaddr = start,
                           .p_paddr = in->p_offset + (start - in->p_vaddr),
                           .p_filesz = end - start,
                           .p_memsz = end - start,
                           .p_align = page };
        if (!pd_vec_push(&copy->out, out))
            return false;
    }
    return true;
}

/* ---- the copy ---- */

static perfdata_status copy_bytes(struct copy *copy, uint64_t from, uint64_t to, uint64_t size)
{
    uint8_t *bytes = malloc(PIECE);
    bool good = bytes != NULL;
    for (uint64_t done = 0; done < size && good; done += PIECE) {
        size_t part = (size_t)PD_MIN(size - done, (uint64_t)PIECE);
        good = read_whole(copy->from, from + done, bytes, part) &&
               pd_write_at(copy->to, to + done, bytes, part);
    }
    int error = errno;
    free(bytes);
    errno = bytes ? error : ENOMEM;
    return good ? PERFDATA_OK : cannot(copy, "copy it");
}

static perfdata_status write_segments(struct copy *copy)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    size_t table = copy->out.count * sizeof(Elf64_Phdr);
    perfdata_status status = PERFDATA_OK;
    copy->end = (sizeof copy->head + table + page - 1) & ~(page - 1);
    for (size_t i = 0; i < copy->out.count && status == PERFDATA_OK; i++) {
        Elf64_Phdr *out = &copy->out.data[i];
        out->p_offset = copy->end;
        status = copy_bytes(copy, out->p_paddr, out->p_offset, out->p_filesz);
        out->p_paddr = 0;
        copy->end += out->p_filesz;
    }
    copy->head.e_phoff = sizeof copy->head;
    copy->head.e_phnum = (Elf64_Half)copy->out.count;
    copy->head.e_shoff = 0;
    copy->head.e_shnum = copy->head.e_shstrndx = 0;
    if (status == PERFDATA_OK && (!pd_write_at(copy->to, 0, &copy->head, sizeof copy->head) ||
                                  !pd_write_at(copy->to, sizeof copy->head, copy->out.data, table)))
        status = cannot(copy, "write it");
    return status;
}

/* The file's size says nothing where the kernel makes it while it is read. */
static bool copy_text(int from, int to)
{
    char piece[4096];
    for (;;) {
        ssize_t got = read(from, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return !got;
        if (!pd_write_all(to, piece, (size_t)got))
            return false;
    }
}

static perfdata_status copy_file(struct copy *copy, const char *name)
{
    int from = openat(copy->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (from < 0)
        return PERFDATA_OK; /* a kernel without modules */
    int to = openat(copy->into, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0400);
    bool good = to >= 0 && copy_text(from, to);
    int error = errno;
    close(from);
    if (to >= 0 && close(to) < 0 && good) {
        error = errno;
        good = false;
    }
    errno = error;
    return good ? PERFDATA_OK
                : pd_fail(copy->context, PERFDATA_ERROR_IO, -1, "kcore: cannot write %s: %s", name,
                          strerrordesc_np(errno));
}

static perfdata_status copy_all(struct copy *copy, struct span kernel)
{
    perfdata_status status = read_segments(copy);
    if (status == PERFDATA_OK && !choose(copy, kernel))
        status = pd_no_memory(copy->context, NULL);
    if (status == PERFDATA_OK && !copy->out.count) {
        errno = ENOENT;
        status = pd_fail(copy->context, PERFDATA_ERROR_NOT_FOUND, -1,
                         "kcore: it does not have the kernel's code");
    }
    if (status == PERFDATA_OK && !choose(copy, modules(copy->folder)))
        status = pd_no_memory(copy->context, NULL);
    if (status == PERFDATA_OK)
        status = write_segments(copy);
    if (status == PERFDATA_OK)
        status = copy_file(copy, "kallsyms");
    return status < 0 ? status : copy_file(copy, "modules");
}

perfdata_status pd_kcore_copy(struct pd_context *context, int from, int into, uint64_t start,
                              uint64_t end)
{
    struct copy copy = { .context = context,
                         .folder = from,
                         .into = into,
                         .from = openat(from, "kcore", O_RDONLY | O_CLOEXEC | O_NONBLOCK),
                         .to = -1 };
    perfdata_status status;
    if (copy.from < 0 ||
        (copy.to = openat(into, "kcore", O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0400)) < 0)
        status = cannot(&copy, "make a copy");
    else
        status = copy_all(&copy, (struct span){ start, end });
    int error = errno;
    if (copy.from >= 0)
        close(copy.from);
    if (copy.to >= 0)
        close(copy.to);
    pd_vec_free(&copy.in);
    pd_vec_free(&copy.out);
    errno = error;
    return status;
}

FILE *pd_open_lines(const char *path)
{
    errno = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

bool pd_kernel_text_range(const char *kallsyms, uint64_t *start, uint64_t *end)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = pd_open_lines(kallsyms);
    *start = *end = 0;
    while (file && !(*start && *end) && getline(&line, &room, file) > 0) {
        unsigned long long address;
        char type, name[64];
        if (sscanf(line, "%llx %c %63s", &address, &type, name) != 3)
            continue;
        if (!strcmp(name, "_text") || (!*start && !strcmp(name, "_stext")))
            *start = address;
        else if (!strcmp(name, "_etext"))
            *end = address;
    }
    pd_memory_note_errno();
    free(line);
    if (file)
        fclose(file);
    return *start && *end > *start;
}
