/* SPDX-License-Identifier: MIT */
/* A jitdump -> pieces of code with names, lines and the time from which they hold. */
#include "object/jit/jitdump.h"
#include <stdio.h>

/* The file: a header of its own size, then records of (id, size, time) with their size in front. */
enum {
    MAGIC = 0x4a695444,
    VERSION = 1,
    HEADER = 40,
    RECORD = 16,
    LOAD_BODY = 40,
    MOVE_BODY = 48,
    DEBUG_BODY = 16,
    UNWINDING_BODY = 24,
    LINE_ROW = 16
};
enum { RECORD_LOAD, RECORD_MOVE, RECORD_DEBUG, RECORD_CLOSE, RECORD_UNWINDING };

bool pd_jitdump_open_memory(struct pd_jitdump *dump, const void *image, size_t size)
{
    memset(dump, 0, sizeof *dump);
    dump->bytes = (struct pd_bytes){ .data = (uint8_t *)(uintptr_t)image,
                                     .size = size,
                                     .borrowed = true };
    const uint8_t *header = image;
    if (size < HEADER)
        return false;
    dump->swap = pd_load32(header, false) != MAGIC;
    dump->big_endian = header[0] == MAGIC >> 24;
    if (pd_load32(header, dump->swap) != MAGIC || pd_load32(header + 4, dump->swap) > VERSION)
        return false;
    uint32_t header_size = pd_load32(header + 8, dump->swap);
    dump->at = PD_MAX(header_size, (uint32_t)HEADER); /* perf, too, reads on behind what it knows */
    dump->machine = pd_load32(header + 12, dump->swap);
    dump->pid = pd_load32(header + 20, dump->swap);
    dump->arch_times = pd_load64(header + 32, dump->swap) & 1;
    return true;
}

bool pd_jitdump_open(struct pd_jitdump *dump, const char *path)
{
    struct pd_bytes bytes;
    /* Mapped: of a large dump only what is looked at needs memory. */
    if (!pd_file_map(path, &bytes))
        return false;
    bool ok = bytes.size <= PD_JITDUMP_LIMIT &&
              pd_jitdump_open_memory(dump, bytes.data, bytes.size);
    dump->bytes = bytes;
    if (!ok)
        pd_jitdump_close(dump);
    return ok;
}

void pd_jitdump_settle(struct pd_jitdump *dump, uint16_t machine, uint32_t pid)
{
    if (machine)
        dump->machine = machine;
    dump->pid = pid;
    dump->is_settled = true;
}

/* A record cannot put code into another process. */
static void own_entry(struct pd_jitdump *dump, struct pd_jit_entry *entry)
{
    if (!dump->is_settled || entry->pid == dump->pid)
        return;
    dump->strangers++;
    entry->pid = entry->tid = dump->pid;
}

void pd_jitdump_close(struct pd_jitdump *dump)
{
    if (!dump->bytes.borrowed)
        pd_bytes_free(&dump->bytes);
    memset(dump, 0, sizeof *dump);
}

/* ---- records: the body without the common head ---- */

static bool read_load(struct pd_jitdump *dump, const uint8_t *body, size_t size,
                      struct pd_jit_entry *out)
{
    if (size < LOAD_BODY)
        return false;
    *out = dump->next;
    memset(&dump->next, 0, sizeof dump->next); /* they were for this one */
    out->kind = PD_JIT_LOAD;
    out->pid = pd_load32(body, dump->swap);
    out->tid = pd_load32(body + 4, dump->swap);
    out->address = pd_load64(body + 16, dump->swap);
    out->size = pd_load64(body + 24, dump->swap);
    out->index = pd_load64(body + 32, dump->swap);
    out->name = (const char *)body + LOAD_BODY;
    size_t rest = size - LOAD_BODY;
    out->name_length = strnlen(out->name, rest);
    if (out->name_length == rest || out->size > rest - out->name_length - 1)
        return false;
    out->code = (const uint8_t *)out->name + out->name_length + 1;
    return true;
}

static bool read_move(const struct pd_jitdump *dump, const uint8_t *body, size_t size,
                      struct pd_jit_entry *out)
{
    if (size < MOVE_BODY)
        return false;
    *out = (struct pd_jit_entry){ .kind = PD_JIT_MOVE,
                                  .pid = pd_load32(body, dump->swap),
                                  .tid = pd_load32(body + 4, dump->swap),
                                  .address = pd_load64(body + 24, dump->swap),
                                  .size = pd_load64(body + 32, dump->swap),
                                  .index = pd_load64(body + 40, dump->swap) };
    return true;
}

/* Lines, of which only whole ones count. */
static bool keep_lines(struct pd_jitdump *dump, const uint8_t *body, size_t size)
{
    if (size < DEBUG_BODY)
        return false;
    uint64_t count = pd_load64(body + 8, dump->swap);
    const uint8_t *rows = body + DEBUG_BODY;
    size_t rest = size - DEBUG_BODY, at = 0;
    uint64_t whole = 0;
    for (; whole < count && rest - at > LINE_ROW; whole++) {
        const uint8_t *end = memchr(rows + at + LINE_ROW, 0, rest - at - LINE_ROW);
        if (!end)
            break;
        at = (size_t)(end + 1 - rows);
    }
    dump->next.lines = whole ? rows : NULL;
    dump->next.lines_size = at;
    dump->next.line_count = whole;
    return true;
}

static bool keep_unwinding(struct pd_jitdump *dump, const uint8_t *body, size_t size)
{
    if (size < UNWINDING_BODY)
        return false;
    uint64_t whole = pd_load64(body, dump->swap), header = pd_load64(body + 8, dump->swap);
    if (whole > size - UNWINDING_BODY || header > whole)
        return false;
    dump->next.unwinding = whole ? body + UNWINDING_BODY : NULL;
    dump->next.unwinding_size = (size_t)whole;
    dump->next.unwinding_header_size = (size_t)header;
    dump->next.unwinding_mapped = pd_load64(body + 16, dump->swap);
    return true;
}

bool pd_jitdump_next(struct pd_jitdump *dump, struct pd_jit_entry *out)
{
    const struct pd_bytes *bytes = &dump->bytes;
    while (dump->at < bytes->size) {
        const uint8_t *record = bytes->data + dump->at;
        size_t left = bytes->size - dump->at;
        uint32_t id = left >= RECORD ? pd_load32(record, dump->swap) : 0;
        uint32_t size = left >= RECORD ? pd_load32(record + 4, dump->swap) : 0;
        bool ok = size >= RECORD && size <= left, found = false;
        if (ok) {
            const uint8_t *body = record + RECORD;
            size_t body_size = size - RECORD;
            dump->at += size;
            switch (id) {
            case RECORD_LOAD: ok = found = read_load(dump, body, body_size, out); break;
            case RECORD_MOVE: ok = found = read_move(dump, body, body_size, out); break;
            case RECORD_DEBUG: ok = keep_lines(dump, body, body_size); break;
            case RECORD_UNWINDING: ok = keep_unwinding(dump, body, body_size); break;
            case RECORD_CLOSE: dump->at = bytes->size; return false;
            default: break; /* skipped by its size */
            }
        }
        if (found)
            out->time = pd_load64(record + 8, dump->swap);
        if (found && !out->size)
            continue; /* nothing that an address could lie in */
        if (found) {
            own_entry(dump, out);
            return true;
        }
        if (!ok)
            break;
    }
    dump->damaged = dump->at < bytes->size;
    dump->at = bytes->size;
    return false;
}

uint64_t pd_jit_mapped_size(const struct pd_jit_entry *entry)
{
    uint64_t size;
    if (!entry->unwinding_mapped || entry->size > UINT64_MAX - 7 ||
        pd_add_overflows(pd_align8(entry->size), entry->unwinding_mapped, &size))
        return entry->size;
    return size;
}

/* ---- names ---- */

static size_t folder_length(const char *path, size_t length)
{
    while (length && path[length - 1] != '/')
        length--;
    return length;
}

bool pd_jitdump_is_marker(const char *path, size_t length, uint32_t pid)
{
    char name[32];
    size_t folder = folder_length(path, length);
    int size = snprintf(name, sizeof name, "jit-%d.dump", (int)pid);
    return size > 0 && (size_t)size == length - folder &&
           !memcmp(path + folder, name, (size_t)size);
}

void pd_jit_path(const char *dump_path, size_t length, const struct pd_jit_entry *entry,
                 struct pd_text *out)
{
    pd_text_bytes(out, dump_path, folder_length(dump_path, length));
    pd_text_string(out, "jitted-");
    pd_text_i64(out, (int32_t)entry->pid, 0);
    pd_text_char(out, '-');
    pd_text_u64(out, entry->index, 0, ' ');
    pd_text_string(out, ".so");
}
