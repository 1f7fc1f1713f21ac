/* SPDX-License-Identifier: MIT */
/* Terms of events -> what they set in the attribute, by the formats of their PMU. */
#include "record/trace/intel_pt.h"
#include "record/events/parse.h"
#include <perfdata/recorder.h>
#include <stdio.h>
#include <stdlib.h>

enum value_kind { NUMBER, TEXT, FLAG };

static const struct {
    const char *name;
    enum value_kind kind;
} terms[PD_TERM_COUNT] = {
#define TERM(NAME, name, value) { name, value },
#include "record/events/events.def"
};

/* ---- one term ---- */

struct term {
    struct pd_word key, value;
    bool has_value;
    size_t at, value_at; /* in the parser's text */
};

static perfdata_status no_value(struct pd_parser *parser, size_t at, const char *what)
{
    return pd_parse_fail(parser, at, "%s", what);
}

static void list_terms(struct pd_parser *parser, const char *pmu, struct pd_text *out)
{
    size_t count = 0;
    char **formats = pmu ? pd_roots_list(parser->roots, &count, PD_PMU_FOLDER "/%s/format", pmu)
                         : NULL;
    for (size_t i = 0; i < count; i++)
        pd_text_format(out, "%s,", formats[i]);
    free(formats);
    for (size_t i = 0; i < PD_TERM_COUNT; i++)
        pd_text_format(out, "%s%s", i ? "," : "", terms[i].name);
    pd_text_char(out, 0);
}

static perfdata_status unknown_term(struct pd_parser *parser, const struct term *term,
                                    const char *pmu)
{
    struct pd_text valid = { 0 };
    perfdata_status status;
    list_terms(parser, pmu, &valid);
    if (valid.failed)
        status = pd_parse_no_memory(parser);
    else if (pmu)
        status = pd_parse_fail(parser, term->at,
                               "unknown term '%.*s' for pmu '%s'\n\nvalid terms: %s",
                               (int)PD_MIN(term->key.length, 60u), term->key.text, pmu, valid.data);
    else
        status = pd_parse_fail(parser, term->at, "unknown term\n\nvalid terms: %s", valid.data);
    pd_text_free(&valid);
    return status;
}

static perfdata_status common_term(struct pd_parser *parser, struct pd_selected *event,
                                   const struct term *term, enum pd_term number)
{
    struct pd_terms *said = &event->terms;
    uint64_t value = 1;
    switch (terms[number].kind) {
    case TEXT:
        if (!term->has_value)
            return no_value(parser, 0, "expected string value");
        said->text[number] = pd_arena_copy(&parser->events->arena, term->value.text,
                                           term->value.length);
        if (!said->text[number])
            return pd_parse_no_memory(parser);
        if (number == PD_TERM_BRANCH_TYPE && strcmp(said->text[number], "no") != 0 &&
            perfdata_branch_filter_parse(said->text[number], &value) < 0)
            return pd_parse_fail(parser, term->value_at, "invalid branch sample type");
        break;
    case NUMBER:
    case FLAG:
        if (term->has_value && !pd_word_number(term->value, 0, &value))
            return pd_parse_fail(parser, term->value_at, "parser error");
        said->number[number] = value;
    }
    if ((number == PD_TERM_TIME || number == PD_TERM_PERCORE) && value > 1)
        return pd_parse_fail(parser, term->value_at, "expected 0 or 1");
    said->said |= UINT32_C(1) << number;
    if (number <= PD_TERM_CONFIG2)
        *pd_pmu_config(&event->attr, (unsigned)(number - PD_TERM_CONFIG)) = value;
    return PERFDATA_OK;
}

static perfdata_status parse_list(struct pd_parser *parser, struct pd_selected *event,
                                  const char *text, size_t length, size_t base, unsigned depth);

/* events/NAME: terms of the PMU; NAME.unit and NAME.scale say how its count is shown. */
static perfdata_status alias(struct pd_parser *parser, struct pd_selected *event, const char *name,
                             size_t at, unsigned depth, bool *known)
{
    enum { DEEPEST = 4 };
    size_t length;
    char *text = pd_roots_read(parser->roots, &length, PD_PMU_FOLDER "/%s/events/%s", event->pmu,
                               name);
    *known = text != NULL;
    if (!text)
        return PERFDATA_OK;
    perfdata_status status = depth >= DEEPEST
                                 ? pd_parse_fail(parser, at, "an alias of an alias of an alias")
                                 : parse_list(parser, event, text, length, at, depth + 1);
    free(text);
    char *unit = pd_roots_read(parser->roots, NULL, PD_PMU_FOLDER "/%s/events/%s.unit", event->pmu,
                               name);
    char *scale = pd_roots_read(parser->roots, NULL, PD_PMU_FOLDER "/%s/events/%s.scale",
                                event->pmu, name);
    if (unit)
        event->unit = pd_arena_strdup(&parser->events->arena, unit);
    if (scale)
        event->scale = strtod(scale, NULL);
    free(unit);
    free(scale);
    return status;
}

static perfdata_status pmu_term(struct pd_parser *parser, struct pd_selected *event,
                                const struct term *term, unsigned depth)
{
    char name[64], text[64];
    uint64_t value = 1, most = 0;
    bool known = false;
    if (term->key.length >= sizeof name || memchr(term->key.text, '.', term->key.length))
        return unknown_term(parser, term, event->pmu);
    memcpy(name, term->key.text, term->key.length);
    name[term->key.length] = 0;
    char *format = pd_roots_read(parser->roots, NULL, PD_PMU_FOLDER "/%s/format/%s", event->pmu,
                                 name);
    if (!format) {
        perfdata_status status = PERFDATA_OK;
        if (!term->has_value)
            status = alias(parser, event, name, term->at, depth, &known);
        return status < 0 || known ? status : unknown_term(parser, term, event->pmu);
    }
    snprintf(text, sizeof text, "%s", format);
    free(format);
    if (term->has_value && !pd_word_number(term->value, 0, &value))
        return pd_parse_fail(parser, term->value_at, "expected numeric value");
    if (pd_pmu_set(&event->attr, text, value, &most)) {
        unsigned word = 0;
        uint64_t mask = pd_pmu_mask(parser->roots, event->pmu, name, &word);
        event->said_config |= word ? 0 : mask;
        return PERFDATA_OK;
    }
    return pd_parse_fail(parser, term->value_at, "value too big for format, maximum is %llu",
                         (unsigned long long)most);
}

static perfdata_status one_term(struct pd_parser *parser, struct pd_selected *event,
                                const struct term *term, unsigned depth)
{
    for (unsigned i = 0; i < PD_TERM_COUNT; i++) /* a driver's configuration has no name: @TEXT */
        if (i != PD_TERM_DRIVER_CONFIG && pd_word_is(term->key, terms[i].name))
            return common_term(parser, event, term, (enum pd_term)i);
    return event->pmu ? pmu_term(parser, event, term, depth) : unknown_term(parser, term, NULL);
}

/* `base`: where the text stands in the parser's, for messages. */
static perfdata_status parse_list(struct pd_parser *parser, struct pd_selected *event,
                                  const char *text, size_t length, size_t base, unsigned depth)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t from = 0; from < length && status == PERFDATA_OK;) {
        size_t to = from;
        while (to < length && text[to] != ',')
            to++;
        const char *equals = memchr(text + from, '=', to - from);
        size_t key = equals ? (size_t)(equals - text) : to;
        struct term term = { { text + from, key - from },
                             { text + key + 1, equals ? to - key - 1 : 0 },
                             equals != NULL,
                             depth ? base : base + from,
                             depth ? base : base + key + 1 };
        if (!term.key.length || (equals && !term.value.length))
            status = pd_parse_fail(parser, base + (depth ? 0 : key), "parser error");
        else
            status = one_term(parser, event, &term, depth);
        from = to + 1;
    }
    return status;
}

perfdata_status pd_parse_terms(struct pd_parser *parser, struct pd_selected *event)
{
    size_t from = ++parser->at;
    const char *end = strchr(parser->text + from, '/');
    if (!end)
        return pd_parse_fail(parser, from, "parser error");
    size_t length = (size_t)(end - parser->text) - from;
    parser->at = from + length + 1;
    perfdata_status status = parse_list(parser, event, parser->text + from, length, from, 0);
    return status == PERFDATA_OK && event->pmu && !strcmp(event->pmu, PD_INTEL_PT)
               ? pd_intel_pt_check(parser->context, parser->roots, &event->attr)
               : status;
}

/* ---- PMUs ---- */

static perfdata_status use_pmu(struct pd_parser *parser, struct pd_selected *event,
                               const char *name, int64_t type)
{
    event->attr.type = (uint32_t)type;
    event->pmu = pd_arena_strdup(&parser->events->arena, name);
    char *cpus = pd_roots_read(parser->roots, NULL, PD_PMU_FOLDER "/%s/cpumask", name);
    if (cpus)
        event->cpus = pd_arena_strdup(&parser->events->arena, cpus);
    free(cpus);
    if (!strcmp(name, PD_INTEL_PT))
        pd_intel_pt_default(parser->roots, &event->attr);
    return event->pmu ? PERFDATA_OK : pd_parse_no_memory(parser);
}

static int64_t pmu_type(struct pd_parser *parser, const char *name)
{
    int64_t type = pd_roots_number(parser->roots, -1, PD_PMU_FOLDER "/%s/type", name);
    return type < 0 || type > INT32_MAX ? -1 : type;
}

perfdata_status pd_parse_pmu(struct pd_parser *parser, size_t at, struct pd_word word,
                             struct pd_selected *event)
{
    char name[128];
    int64_t type = -1;
    if (word.length < sizeof name && !memchr(word.text, '.', word.length)) {
        memcpy(name, word.text, word.length);
        name[word.length] = 0;
        type = pmu_type(parser, name);
    }
    if (type < 0)
        return pd_parse_fail(parser, at, "Cannot find PMU `%.*s'. Missing kernel support?",
                             (int)PD_MIN(word.length, 60u), word.text);
    return use_pmu(parser, event, name, type);
}

perfdata_status pd_parse_alias(struct pd_parser *parser, struct pd_word word,
                               struct pd_selected *event, bool *known)
{
    char name[64];
    size_t count;
    perfdata_status status = PERFDATA_OK;
    *known = false;
    if (!word.length || word.length >= sizeof name || memchr(word.text, '.', word.length))
        return PERFDATA_OK;
    memcpy(name, word.text, word.length);
    name[word.length] = 0;
    char **pmus = pd_roots_list(parser->roots, &count, PD_PMU_FOLDER);
    for (size_t i = 0; i < count && status == PERFDATA_OK && !*known; i++) {
        char path[PD_PATH_SIZE];
        char *text = NULL;
        if (pd_roots_path(parser->roots, path, PD_PMU_FOLDER "/%s", pmus[i]))
            text = pd_roots_read(parser->roots, NULL, PD_PMU_FOLDER "/%s/events/%s", pmus[i], name);
        int64_t type = text ? pmu_type(parser, pmus[i]) : -1;
        free(text);
        if (type < 0)
            continue;
        status = use_pmu(parser, event, pmus[i], type);
        if (status == PERFDATA_OK)
            status = alias(parser, event, name, parser->at, 0, known);
    }
    free(pmus);
    return status;
}
