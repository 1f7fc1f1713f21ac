/* SPDX-License-Identifier: MIT */
/* The text of --itrace and keys of perfconfig -> options of decoding. */
#include "itrace/options.h"
#include "io/settings.h"
#include "itrace/intel_pt/walk/decoder.h"
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

enum {
    PERIOD_NS = 100000,
    CALLCHAIN = 16,
    LAST_BRANCH = 64,
    SIZE_MAX_ASKED = 1024,
    CACHE_DIVISOR = 64,
    LOG_BUFFER = 16384
};

/* perf's defaults, which a plain --itrace asks for, too. */
static void set_defaults(struct pd_itrace_options *options, bool no_samples)
{
    options->branches = options->transactions = options->ptwrites = true;
    options->power = options->other = options->intr_events = options->errors = true;
    options->first_level = options->last_level = options->tlb = true;
    options->remote_access = options->mem = true;
    options->calls = no_samples;
    options->instructions = !no_samples;
    options->period_type = no_samples ? PD_ITRACE_INSTRUCTIONS : PD_ITRACE_NS;
    options->period = no_samples ? 1 : PERIOD_NS;
    options->callchain_size = CALLCHAIN;
    options->last_branch_size = LAST_BRANCH;
}

void pd_itrace_options_init(struct pd_itrace_options *options, enum pd_itrace_verb verb)
{
    memset(options, 0, sizeof *options);
    options->decode = verb != PD_ITRACE_INJECT;
    options->max_loops = PD_PT_MAX_LOOPS;
    options->cache_divisor = CACHE_DIVISOR;
    options->log_buffer_size = LOG_BUFFER;
    set_defaults(options, verb == PD_ITRACE_SCRIPT);
    if (verb == PD_ITRACE_REPORT) {
        options->branches = false;
        options->callchain = options->add_callchain = true;
    }
}

/* ---- the letters ---- */

static const char *skip_separators(const char *at)
{
    while (*at == ' ' || *at == ',')
        at++;
    return at;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What is read, and what has been said of the period so far. */
struct reading {
    struct pd_itrace_options *options;
    const char *text; /* behind the letter */
    bool type_set, period_set;
    bool ended; /* the text ends without a unit */
};

/* A number and its unit, where there is one. */
static bool read_period(struct reading *reading)
{
    struct pd_itrace_options *options = reading->options;
    const char *at = skip_separators(reading->text);
    options->instructions = true;
    if (!is_digit(*at)) {
        reading->text = at;
        return true;
    }
    char *end;
    options->period = strtoull(at, &end, 10);
    reading->period_set = true;
    at = skip_separators(end);
    switch (*at++) {
    case 'i':
        options->period_type = PD_ITRACE_INSTRUCTIONS;
        reading->type_set = true;
        break;
    case 't':
        options->period_type = PD_ITRACE_TICKS;
        reading->type_set = true;
        break;
    case 'm': options->period *= 1000; /* fallthrough */
    case 'u': options->period *= 1000; /* fallthrough */
    case 'n':
        if (*at++ != 's')
            return false;
        options->period_type = PD_ITRACE_NS;
        reading->type_set = true;
        break;
    case 0: reading->ended = true; return true;
    default: return false;
    }
    reading->text = at;
    return true;
}

/* A size from 1 to 1024; none: as it was. */
static bool take_size(const char **text, unsigned *size)
{
    const char *at = skip_separators(*text);
    if (is_digit(*at)) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        if (!value || value > SIZE_MAX_ASKED)
            return false;
        *size = (unsigned)value;
        at = end;
    }
    *text = at;
    return true;
}

/* Blanks may stand before a sign and before its letter. */
static const char *skip_blanks(const char *at)
{
    while (*at == ' ')
        at++;
    return at;
}

static bool take_flags(const char **text, uint32_t *plus, uint32_t *minus)
{
    for (const char *at; at = skip_blanks(*text), *at == '+' || *at == '-'; *text = at) {
        uint32_t *flags = *at == '+' ? plus : minus;
        at = skip_blanks(at + 1);
        if (*at < 'a' || *at > 'z')
            return false;
        *flags |= PD_ITRACE_FLAG(*at++);
    }
    return true;
}

/* ---- what the letters do (letters.def) ---- */

static bool read_calls(struct reading *reading)
{
    return reading->options->branches = reading->options->calls = true;
}

static bool read_returns(struct reading *reading)
{
    return reading->options->branches = reading->options->returns = true;
}

static bool read_errors(struct reading *reading)
{
    reading->options->errors = true;
    return take_flags(&reading->text, &reading->options->error_plus,
                      &reading->options->error_minus);
}

static bool read_log(struct reading *reading)
{
    reading->options->log = true;
    return take_flags(&reading->text, &reading->options->log_plus, &reading->options->log_minus);
}

static bool read_chain_of(struct reading *reading, bool *which)
{
    *which = true;
    reading->options->callchain_size = CALLCHAIN;
    return take_size(&reading->text, &reading->options->callchain_size);
}

static bool read_chain(struct reading *reading)
{
    return read_chain_of(reading, &reading->options->callchain);
}

static bool read_late_chain(struct reading *reading)
{
    return read_chain_of(reading, &reading->options->add_callchain);
}

static bool read_branches_of(struct reading *reading, bool *which)
{
    *which = true;
    reading->options->last_branch_size = LAST_BRANCH;
    return take_size(&reading->text, &reading->options->last_branch_size);
}

static bool read_branches(struct reading *reading)
{
    return read_branches_of(reading, &reading->options->last_branch);
}

static bool read_late_branches(struct reading *reading)
{
    return read_branches_of(reading, &reading->options->add_last_branch);
}

static bool read_skip(struct reading *reading)
{
    char *end;
    reading->options->skip = strtoul(reading->text, &end, 10);
    bool there = end != reading->text;
    reading->text = end;
    return there;
}

static bool read_quick(struct reading *reading)
{
    reading->options->quick += reading->options->quick < UINT8_MAX;
    return true;
}

static bool take_letter(struct reading *reading, char letter)
{
#define SWITCH(sign, member, text)                                                                 \
    if (letter == (sign))                                                                          \
        return reading->options->member = true;
#define LETTER(sign, reader, text)                                                                 \
    if (letter == (sign))                                                                          \
        return reader(reading);
#include "itrace/letters.def"
    return letter == ' ' || letter == ',';
}

/* Turns off all that letters choose. */
static void clear(struct pd_itrace_options *options)
{
    struct pd_itrace_options none = {
        .decode = true,
        .set = true,
        .thread_stack = options->thread_stack,
        .callchain_size = CALLCHAIN,
        .last_branch_size = LAST_BRANCH,
        .mispred_all = options->mispred_all,
        .max_loops = options->max_loops,
        .cache_divisor = options->cache_divisor,
        .log_buffer_size = options->log_buffer_size,
    };
    *options = none;
}

bool pd_itrace_options_parse(struct pd_itrace_options *options, enum pd_itrace_verb verb,
                             const char *text)
{
    struct reading reading = { .options = options, .text = text };
    if (!options->set || !text)
        clear(options);
    if (!text) {
        set_defaults(options, verb == PD_ITRACE_SCRIPT);
        return true;
    }
    for (char letter; !reading.ended && (letter = *reading.text);) {
        reading.text++;
        if (!take_letter(&reading, letter))
            return false;
    }
    if (options->instructions) {
        if (!reading.type_set)
            options->period_type = PD_ITRACE_NS;
        if (!reading.period_set)
            options->period = PERIOD_NS;
    }
    return true;
}

/* ---- perfconfig ---- */

/* A number with k, m or g behind it. */
static bool number(const char *value, uint64_t *out)
{
    if (!value || !*value)
        return false;
    char *end;
    errno = 0;
    long long parsed = strtoll(value, &end, 0);
    uint64_t factor = *end == 'k' || *end == 'K'   ? 1u << 10
                      : *end == 'm' || *end == 'M' ? 1u << 20
                      : *end == 'g' || *end == 'G' ? 1u << 30
                                                   : 1;
    if (errno || end == value || parsed < 0 || end[factor > 1])
        return false;
    return !pd_mul_overflows((uint64_t)parsed, factor, out);
}

static bool boolean(const char *value, bool *out)
{
    static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no",
                                                                              "off" };
    uint64_t parsed = !value; /* the key alone is a yes, "key =" a no */
    for (size_t i = 0; value && i < PD_LENGTH(yes); i++)
        if (!strcasecmp(value, yes[i]) || !strcasecmp(value, no[i])) {
            *out = !strcasecmp(value, yes[i]);
            return true;
        }
    if (value && *value && !number(value, &parsed))
        return false;
    *out = parsed != 0;
    return true;
}

bool pd_itrace_options_config(struct pd_itrace_options *options, const char *key, const char *value)
{
    if (!strcmp(key, "intel-pt.mispred-all"))
        return boolean(value, &options->mispred_all);
    uint64_t parsed, *to = NULL;
    if (!strcmp(key, "intel-pt.max-loops"))
        to = &options->max_loops;
    else if (!strcmp(key, "intel-pt.cache-divisor"))
        to = &options->cache_divisor;
    else if (!strcmp(key, "itrace.debug-log-buffer-size"))
        to = &options->log_buffer_size;
    if (!to)
        return true;
    if (!number(value, &parsed))
        return false;
    *to = parsed;
    if (!options->max_loops)
        options->max_loops = PD_PT_MAX_LOOPS;
    if (!options->cache_divisor)
        options->cache_divisor = CACHE_DIVISOR;
    return true;
}

struct config_reader {
    struct pd_itrace_options *options;
    struct pd_context *context;
    struct pd_chain_settings chains;
    enum pd_itrace_verb verb;
};

static int take_cache(const struct config_reader *reader, const char *value)
{
    size_t length = strlen(value);
    if (length >= sizeof reader->options->build_id_cache)
        return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                        "perfconfig: buildid.dir is too long");
    memcpy(reader->options->build_id_cache, value, length + 1);
    return 0;
}

/* What perf 6.1 reads for other output than plain text. core.proc-map-timeout is of recording. */
static bool is_of_terminal(const char *key)
{
    static const char *const sections[] = { "annotate.", "ui.", "color.", "colors.", "core." };
    for (size_t i = 0; i < PD_LENGTH(sections); i++)
        if (!strncmp(key, sections[i], strlen(sections[i])))
            return strcmp(key, "core.proc-map-timeout") != 0;
    return false;
}

const char *pd_itrace_options_cache(const struct pd_itrace_options *options, const char *given)
{
    return given || !options->build_id_cache[0] ? given : options->build_id_cache;
}

static int take_entry(void *data, const char *key, const char *value)
{
    struct config_reader *reader = data;
    bool known = false;
    int taken = 0;
    if (reader->verb == PD_ITRACE_SCRIPT)
        taken = pd_chain_settings_take(reader->context, &reader->chains, key, value, &known);
    if (known) {
        reader->options->callers_first = !strcmp(reader->chains.order, "caller");
        return taken;
    }
    if (!strcmp(key, "buildid.dir"))
        return take_cache(reader, value);
    if (is_of_terminal(key))
        return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                        "perfconfig: %s changes nothing here: it is of perf's annotated code or "
                        "interactive report",
                        key);
    if (pd_itrace_options_config(reader->options, key, value))
        return 0;
    return pd_issue(reader->context, PERFDATA_ISSUE_CONFIG, -1,
                    "perfconfig: %s: '%s' is no value for it", key, value);
}

perfdata_status pd_itrace_options_take(struct pd_itrace_options *options, enum pd_itrace_verb verb,
                                       struct pd_context *context,
                                       const struct pd_config_places *places,
                                       const char *const *asked, size_t count)
{
    struct config_reader reader = { .options = options, .context = context, .verb = verb };
    pd_itrace_options_init(options, verb);
    perfdata_status status = places ? pd_config_read(context, places, take_entry, &reader) : 0;
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++)
        if (!pd_itrace_options_parse(options, verb, asked[i][0] ? asked[i] : NULL))
            status = pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                             "Bad Instruction Tracing options '%s'", asked[i]);
    return status;
}
