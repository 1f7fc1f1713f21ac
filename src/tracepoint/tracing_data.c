/* SPDX-License-Identifier: MIT */
/* The container of tracing data (docs/perf-data-format.md) and the table of its formats. */
#include "tracepoint/program.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

struct reader {
    struct pd_tracing *tracing;
    const uint8_t *at, *end;
    bool failed;
};

/* libtraceevent takes an allocation that failed for the end of a text, or goes on without a field:
 * only errno tells. It is cleared before each call. */
static void note_memory(struct pd_tracing *tracing)
{
    tracing->no_memory |= errno == ENOMEM;
}

static const uint8_t *take(struct reader *r, uint64_t size)
{
    if (r->failed || size > (uint64_t)(r->end - r->at)) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *start = r->at;
    r->at += size;
    return start;
}

static uint32_t take32(struct reader *r)
{
    const uint8_t *p = take(r, 4);
    return p ? pd_load32(p, r->tracing->swap) : 0;
}

static uint64_t take64(struct reader *r)
{
    const uint8_t *p = take(r, 8);
    return p ? pd_load64(p, r->tracing->swap) : 0;
}

/* A NUL-terminated string, NULL when the end comes first. */
static const char *take_string(struct reader *r)
{
    const uint8_t *nul = r->failed ? NULL : memchr(r->at, 0, (size_t)(r->end - r->at));
    if (!nul) {
        r->failed = true;
        return NULL;
    }
    const char *start = (const char *)r->at;
    r->at = nul + 1;
    return start;
}

static void add_field(struct pd_trace_format *format, const struct tep_format_field *f, bool common)
{
    if (f->offset < 0 || f->size < 0)
        return;
    struct pd_trace_field field = { .name = f->name,
                                    .type = f->type,
                                    .offset = (uint32_t)f->offset,
                                    .size = (uint32_t)f->size,
                                    .element_size = f->elementsize,
                                    .dynamic = f->flags & TEP_FIELD_IS_DYNAMIC,
                                    .relative = f->flags & TEP_FIELD_IS_RELATIVE,
                                    .common = common,
                                    .is_signed = f->flags & TEP_FIELD_IS_SIGNED };
    field.kind = f->flags & TEP_FIELD_IS_STRING    ? PD_TRACE_STRING
                 : f->flags & TEP_FIELD_IS_ARRAY   ? PD_TRACE_ARRAY
                 : f->flags & TEP_FIELD_IS_POINTER ? PD_TRACE_POINTER
                 : f->flags & TEP_FIELD_IS_SIGNED  ? PD_TRACE_SIGNED
                                                   : PD_TRACE_NUMBER;
    format->tracing->no_memory |= !pd_vec_push(&format->fields, field);
}

static bool add_format(struct pd_tracing *tracing, struct tep_event *event)
{
    struct pd_trace_format *format = pd_arena_zalloc(&tracing->arena, sizeof *format);
    uint64_t id = (uint64_t)event->id;
    if (!format || !pd_vec_push(&tracing->formats, format))
        return false;
    if (pd_map64_get(&tracing->by_id, id) == PD_MAP64_NONE &&
        !pd_map64_set(&tracing->by_id, id, (uint32_t)tracing->formats.count - 1))
        return false;
    format->tracing = tracing;
    format->event = event;
    for (const struct tep_format_field *f = event->format.common_fields; f; f = f->next)
        add_field(format, f, true);
    for (const struct tep_format_field *f = event->format.fields; f; f = f->next)
        add_field(format, f, false);
    format->compiled = pd_trace_compile(format);
    return format->compiled || pd_trace_find_divisors(format);
}

enum { MAX_NESTING = 64, MAX_FORMAT = 256 * 1024 };

/* libtraceevent parses print formats by recursion: deep nesting is refused before it sees it. */
static bool is_nested_too_deep(const char *text, size_t size)
{
    int depth = 0;
    size_t operators = 0;
    for (size_t i = 0; i < size; i++) {
        depth += text[i] == '(' || text[i] == '[' || text[i] == '{' || text[i] == '?';
        depth -= text[i] == ')' || text[i] == ']' || text[i] == '}' || text[i] == ':';
        depth = depth < 0 ? 0 : depth;
        operators += text[i] == '!' || text[i] == '~';
        if (depth > MAX_NESTING || operators > 4096)
            return true;
    }
    return false;
}

static bool is_of_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct word {
    const char *text;
    size_t length;
};

/* The names of the fields that come before `end`, `most` of them at most. Returns their number. */
static size_t field_names(const char *text, const char *end, struct word *names, size_t most)
{
    size_t count = 0;
    while (count < most && (text = strstr(text, "field:")) && text < end) {
        const char *last = strchr(text, ';');
        if (!last)
            break;
        const char *next = last;
        if (last[-1] == ']')
            while (last > text && *last != '[')
                last--;
        const char *name = last;
        while (name > text && is_of_name(name[-1]))
            name--;
        names[count++] = (struct word){ name, (size_t)(last - name) };
        text = next;
    }
    return count;
}

static const char *after_space(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* Where `print fmt:` begins, with any space between its words; NULL: nowhere. */
static const char *find_print(const char *text)
{
    for (; (text = strstr(text, "print")) != NULL; text++) {
        const char *fmt = after_space(text + sizeof "print" - 1);
        if (!strncmp(fmt, "fmt", 3) && *after_space(fmt + 3) == ':')
            return text;
    }
    return NULL;
}

/* The name in the next `REC->NAME`, with any space between its parts; NULL: there is none. */
static const char *next_read(const char *text)
{
    for (; (text = strstr(text, "REC")) != NULL; text++) {
        const char *arrow = after_space(text + sizeof "REC" - 1);
        if (!strncmp(arrow, "->", 2))
            return after_space(arrow + 2);
    }
    return NULL;
}

/* libtraceevent dies of flags and symbols of a field that there is not, and remembers from one
 * format to the next that it is about to read some. */
static bool prints_other_fields(const char *text)
{
    enum { MOST_FIELDS = 512 };
    struct word names[MOST_FIELDS];
    const char *print = find_print(text);
    size_t count = print ? field_names(text, print, names, MOST_FIELDS) : 0;
    while (print && (print = next_read(print))) {
        size_t length = 0, at = 0;
        while (is_of_name(print[length]))
            length++;
        while (at < count &&
               (names[at].length != length || memcmp(names[at].text, print, length) != 0))
            at++;
        if (at == count)
            return true;
    }
    return false;
}

static void read_format(struct reader *r, const char *system)
{
    struct pd_tracing *tracing = r->tracing;
    uint64_t size = take64(r);
    const uint8_t *bytes = take(r, size);
    if (!bytes || !system)
        return;
    char *text = size <= MAX_FORMAT ? pd_arena_copy(&tracing->arena, bytes, size) : NULL;
    tracing->no_memory |= !text && size <= MAX_FORMAT;
    if (!text || strlen(text) != size || is_nested_too_deep(text, size) ||
        prints_other_fields(text)) {
        tracing->damaged = true;
        if (!tracing->no_memory)
            pd_issue(tracing->context, PERFDATA_ISSUE_BAD_FEATURE, -1,
                     "a tracepoint format of '%s' is not usable", system);
        return;
    }
    errno = 0;
    enum tep_errno error = tep_parse_event(tracing->tep, text, size, system);
    note_memory(tracing);
    struct pd_trace_text whole = { system, (const char *)bytes, size };
    if (error == TEP_ERRNO__SUCCESS) {
        tracing->no_memory |= !pd_vec_push(&tracing->texts, whole);
        return;
    }
    tracing->damaged = true;
    if (!tracing->no_memory)
        pd_issue(tracing->context, PERFDATA_ISSUE_BAD_FEATURE, -1,
                 "a tracepoint format of '%s' does not parse", system);
}

static void read_formats(struct reader *r, const char *system)
{
    for (uint32_t count = take32(r); count && !r->failed; count--)
        read_format(r, system);
}

static void read_printk(struct pd_tracing *tracing, char *line)
{
    char *colon = strchr(line, ':'), *end;
    uint64_t address = strtoull(line, &end, 16);
    if (!colon || end == line)
        return;
    char *text = colon + 1;
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    if (*text == '"')
        text++, length--;
    if (length && text[length - 1] == '"')
        length--;
    if (length >= 2 && memcmp(text + length - 2, "\\n", 2) == 0)
        length -= 2;
    text[length] = 0;
    errno = 0;
    /* what is shorter, behind another quote, makes libtraceevent read before the text */
    if (length >= 3u + (*text == '"'))
        tep_register_print_string(tracing->tep, text, address);
    struct pd_trace_names printk = { .value = address, .text = text, .length = (uint32_t)length };
    note_memory(tracing);
    tracing->no_memory |= !pd_vec_push(&tracing->printks, printk);
}

static struct pd_trace_text take_text(struct reader *r, uint64_t size)
{
    const uint8_t *bytes = take(r, size);
    return (struct pd_trace_text){ NULL, bytes && size ? (const char *)bytes : NULL, size };
}

static void read_lines(struct reader *r, const uint8_t *bytes, uint64_t size,
                       void (*each)(struct pd_tracing *, char *line))
{
    char *text = bytes && size ? pd_arena_copy(&r->tracing->arena, bytes, size) : NULL;
    r->tracing->no_memory |= !text && bytes && size;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        each(r->tracing, line);
    }
}

static void read_comm(struct pd_tracing *tracing, char *line)
{
    char *end;
    long pid = strtol(line, &end, 10);
    while (*end == ' ')
        end++;
    errno = 0;
    if (end != line && *end)
        tep_register_comm(tracing->tep, end, (int)pid);
    note_memory(tracing);
}

static char *resolve_for_library(void *data, unsigned long long *address, char **module)
{
    struct pd_tracing *tracing = data;
    uint64_t start = 0;
    *module = NULL;
    const char *name = tracing->resolver
                           ? tracing->resolver->resolve(tracing->resolver->data, *address, &start)
                           : NULL;
    if (name)
        *address = start;
    return (char *)(uintptr_t)name;
}

static bool read_head(struct reader *r, double *version)
{
    struct pd_tracing *tracing = r->tracing;
    const uint8_t *magic = take(r, 10);
    if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10) != 0)
        return false;
    const char *text = take_string(r);
    const uint8_t *order = take(r, 2);
    if (!text || !order)
        return false;
    *version = strtod(text, NULL);
    tracing->big_endian = order[0] != 0;
    tracing->long_size = order[1];
    union {
        uint16_t number;
        uint8_t first;
    } probe = { 1 };
    bool host_big = !probe.first;
    tracing->swap = tracing->big_endian != host_big;
    if (tracing->long_size != 4 && tracing->long_size != 8)
        return false;
    tep_set_flag(tracing->tep, TEP_NSEC_OUTPUT);
    tep_set_file_bigendian(tracing->tep, tracing->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_local_bigendian(tracing->tep, host_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_long_size(tracing->tep, tracing->long_size);
    tep_set_page_size(tracing->tep, (int)take32(r));
    return !r->failed;
}

static void read_body(struct reader *r, double version)
{
    const char *label = take_string(r);
    if (!label || strcmp(label, "header_page") != 0) {
        r->failed = true;
        return;
    }
    take(r, take64(r)); /* the ring buffer's page: not needed for samples */
    label = take_string(r);
    if (!label || strcmp(label, "header_event") != 0) {
        r->failed = true;
        return;
    }
    take(r, take64(r));
    read_formats(r, "ftrace");
    for (uint32_t systems = take32(r); systems && !r->failed; systems--) {
        const char *system = take_string(r);
        read_formats(r, system);
    }
    r->tracing->kallsyms = take_text(r, take32(r)); /* of old recordings */
    struct pd_trace_text text = take_text(r, take32(r));
    read_lines(r, (const uint8_t *)text.text, text.size, read_printk);
    if (version >= 0.6 && !r->failed) {
        text = r->tracing->comms = take_text(r, take64(r));
        read_lines(r, (const uint8_t *)text.text, text.size, read_comm);
    }
}

perfdata_status pd_tracing_open(struct pd_context *context, const uint8_t *bytes, size_t size,
                                size_t *used, struct pd_tracing **out)
{
    *out = NULL;
    struct pd_tracing *tracing = calloc(1, sizeof *tracing);
    struct tep_handle *tep = tep_alloc();
    if (!tracing || !tep) {
        free(tracing);
        tep_free(tep);
        return pd_no_memory(context, "tracing data");
    }
    tracing->context = context;
    tracing->tep = tep;
    pthread_mutex_init(&tracing->lock, NULL);
    struct reader reader = { tracing, bytes, bytes + size, false };
    double version = 0;
    if (!read_head(&reader, &version)) {
        pd_tracing_free(tracing);
        return pd_fail(context, PERFDATA_ERROR_BAD_RECORD, -1,
                       "no tracing data: bad magic or head");
    }
    tep_set_function_resolver(tep, resolve_for_library, tracing);
    read_body(&reader, version);
    tracing->complete = !reader.failed;
    tracing->damaged |= reader.failed;
    if (reader.failed)
        pd_issue(context, PERFDATA_ISSUE_BAD_FEATURE, -1, "tracing data ends early");
    for (int i = 0, count = tep_get_events_count(tep); i < count && !tracing->no_memory; i++) {
        struct tep_event *event = tep_get_event(tep, i);
        tracing->no_memory |= event && !add_format(tracing, event);
    }
    if (tracing->no_memory) {
        pd_tracing_free(tracing);
        return pd_no_memory(context, "tracepoint formats");
    }
    if (used)
        *used = (size_t)(reader.at - bytes);
    *out = tracing;
    return PERFDATA_OK;
}

void pd_tracing_free(struct pd_tracing *tracing)
{
    if (!tracing)
        return;
    for (size_t i = 0; i < tracing->formats.count; i++) {
        struct pd_trace_format *format = tracing->formats.data[i];
        pd_vec_free(&format->divisors);
        pd_vec_free(&format->ops);
        pd_vec_free(&format->pieces);
        pd_vec_free(&format->fields);
    }
    pd_map64_free(&tracing->by_id);
    pd_vec_free(&tracing->formats);
    pd_vec_free(&tracing->printks);
    pd_vec_free(&tracing->texts);
    tep_free(tracing->tep);
    pthread_mutex_destroy(&tracing->lock);
    pd_arena_free(&tracing->arena);
    free(tracing);
}

const struct pd_trace_text *pd_tracing_texts(const struct pd_tracing *tracing, size_t *count)
{
    *count = tracing->texts.count;
    return tracing->texts.data;
}

bool pd_tracing_is_whole(const struct pd_tracing *tracing)
{
    return !tracing->damaged;
}

bool pd_tracing_is_complete(const struct pd_tracing *tracing)
{
    return tracing->complete;
}

const uint8_t *pd_tracing_kallsyms(const struct pd_tracing *tracing, size_t *size)
{
    *size = tracing->kallsyms.size;
    return (const uint8_t *)tracing->kallsyms.text;
}

const uint8_t *pd_tracing_comms(const struct pd_tracing *tracing, size_t *size)
{
    *size = tracing->comms.size;
    return (const uint8_t *)tracing->comms.text;
}

bool pd_tracing_big_endian(const struct pd_tracing *tracing)
{
    return tracing->big_endian;
}

unsigned pd_tracing_long_size(const struct pd_tracing *tracing)
{
    return tracing->long_size;
}

const struct pd_trace_format *pd_tracing_format(const struct pd_tracing *tracing, uint64_t id)
{
    uint32_t at = pd_map64_get(&tracing->by_id, id);
    return at == PD_MAP64_NONE ? NULL : tracing->formats.data[at];
}

const char *pd_trace_system(const struct pd_trace_format *format)
{
    return format->event->system;
}

const char *pd_trace_name(const struct pd_trace_format *format)
{
    return format->event->name;
}

bool pd_trace_is_compiled(const struct pd_trace_format *format)
{
    return format->compiled;
}

const uint8_t *pd_trace_bytes(const struct pd_trace_format *format,
                              const struct pd_trace_field *field, const uint8_t *data, size_t size,
                              size_t *length)
{
    uint64_t offset = field->offset, count = field->size;
    if (field->dynamic) {
        if (field->size != 4 || !pd_range_ok(offset, 4, size))
            return NULL;
        uint32_t word = pd_load32(data + offset, format->tracing->swap);
        offset = (word & 0xffff) + (field->relative ? offset + 4 : 0);
        count = word >> 16;
    }
    if (!pd_range_ok(offset, count, size))
        return NULL;
    *length = count;
    return data + offset;
}
