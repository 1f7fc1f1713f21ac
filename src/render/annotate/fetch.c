/* SPDX-License-Identifier: MIT */
/* Runs of objdump for the code of functions: one for many of an object where that gives the same
 * text, and on several threads. */
#include "base/parallel.h"
#include "render/annotate/run.h"

enum {
    CODE_MAX = 1 << 20, /* bytes of code whose text is in memory at once, some twenty times that */
    BATCH_MIN = 3       /* functions: fewer are not worth a copy of the object */
};

/* ---- what is wanted ---- */

bool pd_annotate_is_refused(const struct pd_annotate *annotate, uint32_t function)
{
    const struct pd_dso *dso = annotate->counts.code.functions.data[function].dso;
    return pd_map64_get(&annotate->refused, (uintptr_t)dso) != PD_MAP64_NONE;
}

static perfdata_status want(struct pd_annotate *annotate, uint32_t id, uint64_t *size)
{
    struct pd_annotate_code *code = &annotate->codes[id];
    const struct pd_code_function *function = &annotate->counts.code.functions.data[id];
    if (code->done || !function->map || pd_annotate_is_refused(annotate, id))
        return 0;
    code->done = true;
    if (!pd_symbols_code_file(annotate->session.symbols, function->map, function->symbol->start,
                              &code->file))
        return PERFDATA_ERROR_MEMORY;
    *size = function->symbol->end - function->symbol->start;
    code->end = code->file.address + *size;
    if (code->file.source == PD_CODE_IN_FILE && !pd_vec_push(&annotate->fetching.wanted, id))
        return PERFDATA_ERROR_MEMORY;
    return 0;
}

static int by_place(const void *left, const void *right, void *data)
{
    const struct pd_annotate_code *codes = data;
    const struct pd_annotate_code *a = &codes[*(const uint32_t *)left];
    const struct pd_annotate_code *b = &codes[*(const uint32_t *)right];
    int order = strcmp(a->file.path, b->file.path);
    if (!order)
        order = (a->file.address > b->file.address) - (a->file.address < b->file.address);
    return order ? order : (a->end > b->end) - (a->end < b->end);
}

/* ---- one run for many ---- */

static uintptr_t object_of(const struct pd_annotate *annotate, size_t wanted)
{
    uint32_t id = annotate->fetching.wanted.data[wanted];
    return (uintptr_t)annotate->counts.code.functions.data[id].dso;
}

/* Whether one run may serve many functions: only that of the default objdump, and with no options
 * that depend on where a source or an object lies. */
static bool may_be_together(const struct pd_annotate *annotate)
{
    const struct perfdata_annotate_options *options = annotate->options;
    return !options->objdump && !options->prefix && !options->prefix_strip;
}

/* Splits the functions of one object into as many batches as there are threads. */
static bool add_batches(struct pd_annotate *annotate, size_t first, size_t count)
{
    struct pd_annotate_fetching *fetching = &annotate->fetching;
    size_t each = PD_MAX((count + annotate->threads - 1) / annotate->threads, (size_t)BATCH_MIN);
    if (pd_map64_get(&fetching->apart, object_of(annotate, first)) != PD_MAP64_NONE)
        return true;
    for (size_t i = 0; i + BATCH_MIN <= count && may_be_together(annotate); i += each) {
        struct pd_annotate_batch batch = { first + i, PD_MIN(each, count - i) };
        if (!pd_vec_push(&fetching->batches, batch))
            return false;
    }
    return true;
}

static bool make_parts(struct pd_annotate *annotate)
{
    struct pd_annotate_fetching *fetching = &annotate->fetching;
    const struct pd_annotate_code *codes = annotate->codes;
    size_t first = 0;
    fetching->batches.count = fetching->parts.count = 0;
    for (size_t i = 0; i < fetching->wanted.count; i++) {
        const struct pd_annotate_code *code = &codes[fetching->wanted.data[i]];
        struct pd_together_part part = { .start = code->file.address,
                                         .end = code->end,
                                         .function = fetching->wanted.data[i] };
        bool last = i + 1 == fetching->wanted.count ||
                    strcmp(codes[fetching->wanted.data[i + 1]].file.path, code->file.path) != 0;
        if (!pd_vec_push(&fetching->parts, part) ||
            (last && !add_batches(annotate, first, i + 1 - first)))
            return false;
        first = last ? i + 1 : first;
    }
    return true;
}

static void take(struct pd_annotate *annotate, struct pd_annotate_code *code,
                 const struct pd_text *text)
{
    pd_listing_parse(text->data, text->length, code->file.path, code->file.address, code->end,
                     annotate->take != NULL, &code->listing);
    if (code->listing.failed)
        code->error = PD_OBJDUMP_MEMORY;
}

static void fetch_together(void *data, unsigned worker, size_t index)
{
    struct pd_annotate *annotate = data;
    struct pd_annotate_fetching *fetching = &annotate->fetching;
    const struct pd_annotate_batch *batch = &fetching->batches.data[index];
    struct pd_together_part *parts = fetching->parts.data + batch->first;
    const char *path = annotate->codes[parts->function].file.path;
    (void)worker;
    pd_together_run(&annotate->objdump, path, parts, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        if (parts[i].done)
            take(annotate, &annotate->codes[parts[i].function], &parts[i].text);
        pd_text_free(&parts[i].text);
    }
}

/* Remembers the objects of which a common run gave no function, so that it is not tried again. */
static perfdata_status note_apart(struct pd_annotate *annotate)
{
    struct pd_annotate_fetching *fetching = &annotate->fetching;
    for (size_t i = 0; i < fetching->batches.count; i++) {
        const struct pd_annotate_batch *batch = &fetching->batches.data[i];
        size_t part = batch->first, end = batch->first + batch->count;
        while (part < end && !fetching->parts.data[part].done)
            part++;
        if (part == end && !pd_map64_set(&fetching->apart, object_of(annotate, batch->first), 0))
            return PERFDATA_ERROR_MEMORY;
    }
    return 0;
}

/* ---- one run for each ---- */

static void fetch_alone(void *data, unsigned worker, size_t index)
{
    struct pd_annotate *annotate = data;
    const struct pd_together_part *part = &annotate->fetching.parts.data[index];
    struct pd_annotate_code *code = &annotate->codes[part->function];
    struct pd_objdump_output output;
    (void)worker;
    if (part->done)
        return;
    pd_objdump_run(&annotate->objdump, code->file.path, code->file.address, code->end, &output);
    code->failed = output.failed;
    code->error = output.error;
    if (!code->error)
        take(annotate, code, &output.text);
    pd_text_free(&output.text);
}

perfdata_status pd_annotate_fetch(struct pd_annotate *annotate, size_t first, size_t *end)
{
    struct pd_annotate_fetching *fetching = &annotate->fetching;
    uint64_t code = 0;
    perfdata_status status = 0;
    fetching->wanted.count = fetching->parts.count = 0;
    for (size_t i = first; i < *end && status == 0; i++) {
        uint64_t size = 0;
        status = want(annotate, annotate->rows.data[i].function, &size);
        code = size > CODE_MAX - code ? CODE_MAX : code + size;
        if (code == CODE_MAX)
            *end = i + 1;
    }
    if (status)
        return status;
    if (fetching->wanted.count)
        qsort_r(fetching->wanted.data, fetching->wanted.count, sizeof *fetching->wanted.data,
                by_place, annotate->codes);
    if (!make_parts(annotate))
        return PERFDATA_ERROR_MEMORY;
    pd_parallel(annotate->threads, fetching->batches.count, fetch_together, annotate);
    pd_parallel(annotate->threads, fetching->parts.count, fetch_alone, annotate);
    return note_apart(annotate);
}

void pd_annotate_fetching_free(struct pd_annotate_fetching *fetching)
{
    free(fetching->wanted.data);
    free(fetching->batches.data);
    free(fetching->parts.data);
    pd_map64_free(&fetching->apart);
}
