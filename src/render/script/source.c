/* SPDX-License-Identifier: MIT */
/* Lines of source files. For srccode: the source line shown below a sample's line, unless it is the
 * one that the thread showed last. */
#include "base/hash.h"
#include "render/script/plan.h"
#include "object/file.h"
#include <stdlib.h>

#define SOURCE_LIMIT ((size_t)64 << 20)

struct source_file {
    const char *path; /* lives as long as the symbols */
    struct pd_bytes bytes;
    PD_VEC(size_t) starts; /* of the lines */
    bool known;            /* it could be read */
};

struct shown {
    const char *path;
    unsigned line;
};

struct pd_script_source {
    struct pd_map64 by_path; /* a path's address -> its file */
    PD_VEC(struct source_file) files;
    struct pd_map64 by_thread; /* a thread's address -> what it showed */
    PD_VEC(struct shown) shown;
};

struct pd_script_source *pd_script_source_new(void)
{
    return calloc(1, sizeof(struct pd_script_source));
}

void pd_script_source_free(struct pd_script_source *source)
{
    if (!source)
        return;
    for (size_t i = 0; i < source->files.count; i++) {
        pd_bytes_free(&source->files.data[i].bytes);
        pd_vec_free(&source->files.data[i].starts);
    }
    pd_vec_free(&source->files);
    pd_vec_free(&source->shown);
    pd_map64_free(&source->by_path);
    pd_map64_free(&source->by_thread);
    free(source);
}

/* False: no memory. */
static bool read_source(struct source_file *file)
{
    file->known = pd_file_is_regular(file->path) &&
                  pd_file_read(file->path, &file->bytes, SOURCE_LIMIT);
    if (!file->known)
        return true;
    size_t at = 0, size = file->bytes.size;
    while (at < size) {
        if (!pd_vec_push(&file->starts, at))
            return false;
        const uint8_t *end = memchr(file->bytes.data + at, '\n', size - at);
        at = end ? (size_t)(end - file->bytes.data) + 1 : size;
    }
    return true;
}

static const struct source_file *find_source(struct pd_script_source *source, const char *path)
{
    uint64_t key = (uint64_t)(uintptr_t)path;
    uint32_t index = pd_map64_get(&source->by_path, key);
    if (index != PD_MAP64_NONE)
        return &source->files.data[index];
    index = (uint32_t)source->files.count;
    if (!pd_vec_push(&source->files, (struct source_file){ .path = path }) ||
        !pd_map64_set(&source->by_path, key, index) || !read_source(&source->files.data[index]))
        return NULL;
    return &source->files.data[index];
}

static struct shown *find_shown(struct pd_script_source *source, const struct pd_thread *thread)
{
    uint64_t key = (uint64_t)(uintptr_t)thread;
    uint32_t index = pd_map64_get(&source->by_thread, key);
    if (index != PD_MAP64_NONE)
        return &source->shown.data[index];
    index = (uint32_t)source->shown.count;
    if (!pd_vec_push(&source->shown, (struct shown){ NULL, 0 }) ||
        !pd_map64_set(&source->by_thread, key, index))
        return NULL;
    return &source->shown.data[index];
}

bool pd_script_source_text(struct pd_script_source *source, const char *path, unsigned line,
                           struct pd_source_text *out)
{
    *out = (struct pd_source_text){ NULL, 0 };
    const struct source_file *file = line ? find_source(source, path) : NULL;
    if (!file || line > file->starts.count)
        return file || !line;
    size_t start = file->starts.data[line - 1];
    size_t end = line < file->starts.count ? file->starts.data[line] : file->bytes.size;
    while (end > start && file->bytes.data[end - 1] == '\n')
        end--;
    *out = (struct pd_source_text){ (const char *)file->bytes.data + start, end - start };
    return true;
}

void pd_script_source_put(struct pd_script_source *source, struct pd_script *script,
                          const struct pd_location *location, const struct pd_delivered *record,
                          struct pd_text *text)
{
    struct pd_source_line at;
    struct pd_source_text line;
    if (!location->map)
        return;
    if (!pd_symbols_line(script->session.symbols, location->map, location->addr, &at))
        text->failed = true;
    if (at.answer != PD_LINES_FOUND || !at.line)
        return;
    struct shown *last = find_shown(source, record->thread);
    if (!last || !pd_script_source_text(source, at.file, at.line, &line)) {
        text->failed = true;
        return;
    }
    if ((last->path == at.file && last->line == at.line) || !line.text)
        return;
    pd_text_format(text, "|%-8u ", at.line);
    pd_text_bytes(text, line.text, line.length);
    pd_text_char(text, '\n');
    *last = (struct shown){ at.file, at.line };
}
