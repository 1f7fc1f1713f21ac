/* SPDX-License-Identifier: MIT */
/* Between parse.c and terms.c: a text of events under the cursor. */
#ifndef PD_RECORD_PARSE_H
#define PD_RECORD_PARSE_H
#include "record/events/events.h"

struct pd_parser {
    struct pd_context *context;
    const struct pd_roots *roots;
    const char *tracefs; /* NULL: none */
    struct pd_events *events;
    const char *text;
    size_t at;
};

struct pd_word {
    const char *text;
    size_t length;
};

bool pd_word_is(struct pd_word word, const char *text);
/* The whole word as a number; base 0 as in strtoull(). */
bool pd_word_number(struct pd_word word, unsigned base, uint64_t *out);

perfdata_status pd_parse_fail(struct pd_parser *parser, size_t at, const char *format, ...)
    PD_PRINTF(3, 4);
perfdata_status pd_parse_no_memory(struct pd_parser *parser);

/* "/terms/" under the cursor: what perf knows of any event, and what the event's PMU says. */
perfdata_status pd_parse_terms(struct pd_parser *parser, struct pd_selected *event);
/* The event becomes one of the PMU of this name. */
perfdata_status pd_parse_pmu(struct pd_parser *parser, size_t at, struct pd_word name,
                             struct pd_selected *event);
/* The event becomes what a PMU calls by this name, if one does: *known. */
perfdata_status pd_parse_alias(struct pd_parser *parser, struct pd_word name,
                               struct pd_selected *event, bool *known);

#endif
