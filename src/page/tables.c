/* SPDX-License-Identifier: MIT */
/* Functions, frames and stacks of one or two profiles -> one table of each. */
#include "base/intern.h"
#include "page/page.h"
#include <stdlib.h>

/* A function's name, object and file as one text, by the function's number. */
struct pd_page_names {
    struct pd_intern intern;
    struct pd_text text; /* the one that is looked up */
};

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static bool is_jit(const struct perfdata_profile_object *object)
{
    const char *slash = strrchr(object->path, '/'), *name = slash ? slash + 1 : object->path;
    return starts_with(object->path, "/tmp/perf-") || starts_with(name, "jitted-") ||
           starts_with(object->name, "[JIT]") || !strcmp(object->path, "//anon");
}

static uint32_t kind_of(const struct perfdata_profile_function *function,
                        const struct perfdata_profile_object *object)
{
    if (function->flags & PERFDATA_FUNCTION_UNKNOWN)
        return PD_PAGE_UNKNOWN;
    if (function->flags & PERFDATA_FUNCTION_KERNEL)
        return PD_PAGE_KERNEL;
    if (function->flags & PERFDATA_FUNCTION_INLINED)
        return PD_PAGE_INLINED;
    return object && is_jit(object) ? PD_PAGE_JIT : PD_PAGE_USER;
}

/* The number of a function; `file` is where its code stands, as far as that is known. */
static perfdata_status number_function(struct pd_page_tables *tables,
                                       const perfdata_profile *profile, uint32_t index,
                                       const char *file, uint32_t *number)
{
    const struct perfdata_profile_function *function = perfdata_profile_function(profile, index);
    const struct perfdata_profile_object *object = perfdata_profile_object(profile,
                                                                           function->object);
    struct pd_page_function row = { .name = function->name,
                                    .object = object ? object->path : "",
                                    .file = file ? file : "",
                                    .kind = kind_of(function, object) };
    if (object && !*row.object)
        row.object = object->name;
    struct pd_text *key = &tables->names->text;
    key->length = 0;
    pd_text_string(key, row.name);
    pd_text_char(key, '\0');
    pd_text_string(key, object ? object->name : "");
    pd_text_char(key, '\0');
    pd_text_string(key, row.file);
    if (key->failed)
        return PERFDATA_ERROR_MEMORY;
    *number = pd_intern(&tables->names->intern, key->data, key->length);
    if (*number == PD_INTERN_NONE ||
        (*number == tables->functions.count && !pd_vec_push(&tables->functions, row)))
        return PERFDATA_ERROR_MEMORY;
    return PERFDATA_OK;
}

static perfdata_status number_frame(struct pd_page_tables *tables, const perfdata_profile *profile,
                                    uint32_t index, uint32_t *number)
{
    const struct perfdata_profile_frame *frame = perfdata_profile_frame(profile, index);
    struct pd_page_frame row = { .line = frame->line };
    perfdata_status status = number_function(tables, profile, frame->function, frame->file,
                                             &row.function);
    if (status < 0)
        return status;
    uint64_t key = (uint64_t)row.function << 32 | row.line;
    *number = pd_map64_get(&tables->frame_numbers, key);
    if (*number != PD_MAP64_NONE)
        return PERFDATA_OK;
    *number = (uint32_t)tables->frames.count;
    if (!pd_vec_push(&tables->frames, row) || !pd_map64_set(&tables->frame_numbers, key, *number))
        return PERFDATA_ERROR_MEMORY;
    return PERFDATA_OK;
}

static perfdata_status number_stack(struct pd_page_tables *tables, struct pd_page_stack row,
                                    uint32_t *number)
{
    uint64_t key = (uint64_t)row.parent << 32 | row.frame;
    *number = pd_map64_get(&tables->stack_numbers, key);
    if (*number != PD_MAP64_NONE)
        return PERFDATA_OK;
    *number = (uint32_t)tables->stacks.count;
    if (!pd_vec_push(&tables->stacks, row) || !pd_map64_set(&tables->stack_numbers, key, *number))
        return PERFDATA_ERROR_MEMORY;
    return PERFDATA_OK;
}

static perfdata_status add_stacks(struct pd_page_tables *tables, const perfdata_profile *profile,
                                  const uint32_t *frames, uint32_t *numbers)
{
    uint32_t count = perfdata_profile_stack_count(profile);
    for (uint32_t i = 0; i < count; i++) {
        const struct perfdata_profile_stack *stack = perfdata_profile_stack(profile, i);
        struct pd_page_stack row = { .parent = stack->parent == PERFDATA_NONE
                                                   ? 0
                                                   : numbers[stack->parent],
                                     .frame = frames[stack->frame] };
        perfdata_status status = number_stack(tables, row, &numbers[i]);
        if (status < 0)
            return status;
    }
    return PERFDATA_OK;
}

static perfdata_status begin(struct pd_page_tables *tables)
{
    if (tables->names)
        return PERFDATA_OK;
    tables->names = calloc(1, sizeof *tables->names);
    /* The empty stack. No stack has it as its frame's number: it is never looked up. */
    return tables->names && pd_vec_push(&tables->stacks, (struct pd_page_stack){ 0 })
               ? PERFDATA_OK
               : PERFDATA_ERROR_MEMORY;
}

perfdata_status pd_page_tables_add(struct pd_page_tables *tables, const perfdata_profile *profile,
                                   uint32_t **numbers, uint32_t **functions)
{
    uint32_t frame_count = perfdata_profile_frame_count(profile);
    uint32_t stack_count = perfdata_profile_stack_count(profile);
    uint32_t function_count = perfdata_profile_function_count(profile);
    uint32_t *frames = malloc((frame_count + (size_t)1) * sizeof *frames);
    *numbers = malloc((stack_count + (size_t)1) * sizeof **numbers);
    perfdata_status status = frames && *numbers ? begin(tables) : PERFDATA_ERROR_MEMORY;
    for (uint32_t i = 0; status >= 0 && i < frame_count; i++)
        status = number_frame(tables, profile, i, &frames[i]);
    if (status >= 0)
        status = add_stacks(tables, profile, frames, *numbers);
    if (status >= 0 && functions) {
        *functions = calloc(function_count + (size_t)1, sizeof **functions);
        for (uint32_t i = 0; *functions && i < frame_count; i++)
            (*functions)[perfdata_profile_frame(profile, i)->function] =
                tables->frames.data[frames[i]].function;
        status = *functions ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
    }
    free(frames);
    return status;
}

void pd_page_tables_free(struct pd_page_tables *tables)
{
    if (tables->names) {
        pd_intern_free(&tables->names->intern);
        pd_text_free(&tables->names->text);
        free(tables->names);
    }
    pd_vec_free(&tables->functions);
    pd_vec_free(&tables->frames);
    pd_vec_free(&tables->stacks);
    pd_map64_free(&tables->frame_numbers);
    pd_map64_free(&tables->stack_numbers);
    memset(tables, 0, sizeof *tables);
}
