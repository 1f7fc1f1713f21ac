/* SPDX-License-Identifier: MIT */
/* The text of -e -> events to open. */
#include "record/events/parse.h"
#include "base/memory.h"
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct named {
    uint32_t type;
    uint64_t config;
    const char *names[4];
};

static const struct named symbols[] = {
#define SYMBOL(type, config, name, other) { PD_TYPE_##type, config, { name, other } },
#include "record/events/events.def"
};
static const struct named caches[] = {
#define CACHE(id, ...) { PD_TYPE_HW_CACHE, id, { __VA_ARGS__ } },
#include "record/events/events.def"
};
static const struct named cache_ops[] = {
#define CACHE_OP(op, ...) { 0, op, { __VA_ARGS__ } },
#include "record/events/events.def"
};
static const struct named cache_results[] = {
#define CACHE_RESULT(result, ...) { 0, result, { __VA_ARGS__ } },
#include "record/events/events.def"
};

/* ---- what is wrong, as perf shows it ---- */

static perfdata_status unexpected(struct pd_parser *parser, size_t at)
{
    return pd_parse_fail(parser, at, "parser error");
}

/* ---- words ---- */

static void skip_blanks(struct pd_parser *parser)
{
    while (isspace((unsigned char)parser->text[parser->at]))
        parser->at++;
}

/* A name ends before what has a meaning of its own. */
static struct pd_word take_word(struct pd_parser *parser)
{
    size_t from = parser->at;
    while (parser->text[parser->at] && !strchr(",/:{}", parser->text[parser->at]) &&
           !isspace((unsigned char)parser->text[parser->at]))
        parser->at++;
    return (struct pd_word){ parser->text + from, parser->at - from };
}

static const struct named *find_named(const struct named *list, size_t count, struct pd_word word)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < PD_LENGTH(list[i].names); k++)
            if (pd_word_is(word, list[i].names[k]))
                return &list[i];
    return NULL;
}

/* The longest name of the list that the word begins with, followed by "-" or its end. */
static const struct named *take_named(const struct named *list, size_t count, struct pd_word *word)
{
    const struct named *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < PD_LENGTH(list[i].names); k++) {
            const char *name = list[i].names[k];
            size_t length = name ? strlen(name) : 0;
            if (length > longest && length <= word->length && !memcmp(name, word->text, length) &&
                (length == word->length || word->text[length] == '-')) {
                best = &list[i];
                longest = length;
            }
        }
    if (best) {
        size_t used = longest + (longest < word->length);
        word->text += used;
        word->length -= used;
    }
    return best;
}

/* "L1-dcache-load-misses": cache, then operation and result in either order, both may be
 * missing. */
static bool cache_event(struct pd_word word, struct pd_attr *attr)
{
    const struct named *cache = take_named(caches, PD_LENGTH(caches), &word), *op = NULL,
                       *result = NULL;
    if (!cache)
        return false;
    while (word.length) {
        const struct named *found = NULL;
        if (!op)
            op = found = take_named(cache_ops, PD_LENGTH(cache_ops), &word);
        if (!found && !result)
            result = found = take_named(cache_results, PD_LENGTH(cache_results), &word);
        if (!found)
            return false;
    }
    attr->type = PD_TYPE_HW_CACHE;
    attr->config = cache->config | (op ? op->config << 8 : 0) | (result ? result->config << 16 : 0);
    return true;
}

/* A name that means an event by itself. */
static bool simple_event(struct pd_word word, struct pd_attr *attr)
{
    const struct named *symbol = find_named(symbols, PD_LENGTH(symbols), word);
    if (symbol) {
        attr->type = symbol->type;
        attr->config = symbol->config;
        return true;
    }
    if (cache_event(word, attr))
        return true;
    struct pd_word digits = { word.text + 1, word.length - 1 };
    if (word.length < 2 || word.text[0] != 'r' || !pd_word_number(digits, 16, &attr->config))
        return false;
    attr->type = PD_TYPE_RAW;
    return true;
}

/* ---- modifiers ---- */

static bool is_modifier(char c)
{
    return c && strchr("ukhpPGHSDIWeb", c);
}

struct modifiers {
    bool guests;                                      /* count if nothing is said */
    bool user, kernel, hypervisor, host, guest, idle; /* excluded */
    bool any_level, any_machine; /* one of the former three, latter two was said */
    bool read, pinned, exclusive, weak, most_precise;
    unsigned precise;
};

static void modify(struct modifiers *m, char c)
{
    if ((c == 'u' || c == 'k' || c == 'h') && !m->any_level)
        m->any_level = m->user = m->kernel = m->hypervisor = true;
    if (((c == 'u' && !m->guests) || c == 'p') && !m->any_machine)
        m->guest = true;
    if ((c == 'G' || c == 'H') && !m->any_machine)
        m->any_machine = m->guest = m->host = true;
    switch (c) {
    case 'u': m->user = false; break;
    case 'k': m->kernel = false; break;
    case 'h': m->hypervisor = false; break;
    case 'G': m->guest = false; break;
    case 'H': m->host = false; break;
    case 'I': m->idle = true; break;
    case 'p': m->precise++; break;
    case 'P': m->most_precise = true; break;
    case 'S': m->read = true; break;
    case 'D': m->pinned = true; break;
    case 'e': m->exclusive = true; break;
    case 'W': m->weak = true; break;
    default: break;
    }
}

static void set_flag(struct pd_attr *attr, unsigned flag, bool on)
{
    attr->flags = (attr->flags & ~(UINT64_C(1) << flag)) | (uint64_t)on << flag;
}

/* A group's modifiers come on top of those of its members. */
static void apply_modifiers(const struct pd_events *events, struct pd_selected *event,
                            struct pd_word word, bool on_top, bool leads)
{
    const struct pd_attr *old = &event->attr;
    struct modifiers m = { .guests = events->guests };
    if (on_top)
        m = (struct modifiers){ .guests = events->guests,
                                .user = pd_attr_flag(old, PD_ATTR_EXCLUDE_USER),
                                .kernel = pd_attr_flag(old, PD_ATTR_EXCLUDE_KERNEL),
                                .hypervisor = pd_attr_flag(old, PD_ATTR_EXCLUDE_HV),
                                .host = pd_attr_flag(old, PD_ATTR_EXCLUDE_HOST),
                                .guest = pd_attr_flag(old, PD_ATTR_EXCLUDE_GUEST),
                                .idle = pd_attr_flag(old, PD_ATTR_EXCLUDE_IDLE),
                                .precise = pd_attr_precise_ip(old) };
    m.any_level = m.user || m.kernel || m.hypervisor;
    for (size_t i = 0; i < word.length; i++)
        modify(&m, word.text[i]);
    set_flag(&event->attr, PD_ATTR_EXCLUDE_USER, m.user);
    set_flag(&event->attr, PD_ATTR_EXCLUDE_KERNEL, m.kernel);
    set_flag(&event->attr, PD_ATTR_EXCLUDE_HV, m.hypervisor);
    set_flag(&event->attr, PD_ATTR_EXCLUDE_HOST, m.host);
    set_flag(&event->attr, PD_ATTR_EXCLUDE_GUEST, m.guest);
    set_flag(&event->attr, PD_ATTR_EXCLUDE_IDLE, m.idle);
    set_flag(&event->attr, PD_ATTR_PRECISE_IP, m.precise & 1);
    set_flag(&event->attr, PD_ATTR_PRECISE_IP_HIGH, m.precise >> 1);
    event->sample_read |= m.read;
    event->weak |= m.weak;
    event->most_precise |= m.most_precise;
    if (leads) {
        set_flag(&event->attr, PD_ATTR_PINNED, m.pinned || pd_attr_flag(old, PD_ATTR_PINNED));
        set_flag(&event->attr, PD_ATTR_EXCLUSIVE,
                 m.exclusive || pd_attr_flag(old, PD_ATTR_EXCLUSIVE));
    }
}

/* The letters behind a colon or the last slash. */
static perfdata_status take_modifiers(struct pd_parser *parser, struct pd_word *out)
{
    unsigned seen[128] = { 0 };
    size_t from = parser->at;
    for (; is_modifier(parser->text[parser->at]); parser->at++)
        if (++seen[(unsigned char)parser->text[parser->at]] >
            (parser->text[parser->at] == 'p' ? 3u : 1u))
            return pd_parse_fail(parser, from, "Bad modifier");
    if (from == parser->at ||
        (parser->text[parser->at] && !strchr(",}", parser->text[parser->at]) &&
         !isspace((unsigned char)parser->text[parser->at])))
        return parser->text[parser->at] == ':' ? pd_parse_fail(parser, from, "Bad modifier")
                                               : unexpected(parser, from ? from - 1 : from);
    *out = (struct pd_word){ parser->text + from, parser->at - from };
    return PERFDATA_OK;
}

/* ---- events ---- */

static struct pd_selected *add_event(struct pd_parser *parser, const struct pd_selected *like)
{
    enum { MOST = 1 << 16 };
    struct pd_events *events = parser->events;
    struct pd_selected event = *like;
    if (events->list.count >= MOST) {
        (void)pd_parse_fail(parser, parser->at, "more than %d events", MOST);
        return NULL;
    }
    event.leader = (uint32_t)events->list.count;
    event.members = 1;
    if (!pd_vec_push(&events->list, event)) {
        (void)pd_parse_no_memory(parser);
        return NULL;
    }
    return &events->list.data[events->list.count - 1];
}

/* Tracepoints and BPF output: each one, with its raw data. */
static void sample_raw(struct pd_attr *attr)
{
    attr->sample_period = 1;
    attr->sample_type |= PD_SAMPLE_RAW | PD_SAMPLE_TIME | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD;
}

static void init_event(const struct pd_events *events, struct pd_selected *event)
{
    memset(event, 0, sizeof *event);
    event->scale = 1;
    set_flag(&event->attr, PD_ATTR_EXCLUDE_GUEST, !events->guests);
    set_flag(&event->attr, PD_ATTR_EXCLUDE_HOST, events->no_host);
}

static void finish_kind(struct pd_selected *event)
{
    if (event->attr.type != PD_TYPE_SOFTWARE)
        return;
    if (event->attr.config == PD_SW_BPF_OUTPUT)
        sample_raw(&event->attr);
    if (event->attr.config == PD_SW_CPU_CLOCK || event->attr.config == PD_SW_TASK_CLOCK) {
        event->unit = "msec";
        event->scale = 1e-6;
    }
}

/* What follows the name of any event: terms, modifiers. Its text is then its name, if none was
 * given. */
static perfdata_status finish_event(struct pd_parser *parser, struct pd_selected *event,
                                    size_t from)
{
    perfdata_status status = PERFDATA_OK;
    struct pd_word modifiers = { NULL, 0 };
    if (parser->text[parser->at] == '/') {
        status = pd_parse_terms(parser, event);
        if (status == PERFDATA_OK && is_modifier(parser->text[parser->at]))
            status = take_modifiers(parser, &modifiers);
    }
    if (status == PERFDATA_OK && parser->text[parser->at] == ':' && !modifiers.length) {
        parser->at++;
        status = take_modifiers(parser, &modifiers);
    }
    if (status < 0)
        return status;
    if (modifiers.length)
        apply_modifiers(parser->events, event, modifiers, false, true);
    size_t end = parser->at; /* perf's name has the blanks around it */
    while (isspace((unsigned char)parser->text[end]))
        end++;
    if (pd_term_said(&event->terms, PD_TERM_NAME))
        event->name = event->terms.text[PD_TERM_NAME];
    else if (!event->name)
        event->name = pd_arena_copy(&parser->events->arena, parser->text + from, end - from);
    return event->name ? PERFDATA_OK : pd_parse_no_memory(parser);
}

/* mem:ADDRESS[/LENGTH][:rwx] */
static perfdata_status breakpoint(struct pd_parser *parser, size_t from)
{
    struct pd_selected event;
    struct pd_attr *attr = &event.attr;
    init_event(parser->events, &event);
    size_t at = ++parser->at;
    if (!pd_word_number(take_word(parser), 0, &attr->bp_addr))
        return unexpected(parser, at);
    size_t name_end = parser->at;
    if (parser->text[parser->at] == '/') {
        at = ++parser->at;
        if (!pd_word_number(take_word(parser), 0, &attr->bp_len))
            return unexpected(parser, at);
    }
    bool sized = parser->at != name_end;
    if (parser->text[parser->at] == ':' && strchr("rwx", parser->text[parser->at + 1]) &&
        parser->text[parser->at + 1]) {
        struct pd_word kinds;
        at = ++parser->at;
        kinds = take_word(parser);
        for (size_t i = 0; i < kinds.length; i++) {
            unsigned kind = kinds.text[i] == 'r'   ? PD_BP_R
                            : kinds.text[i] == 'w' ? PD_BP_W
                            : kinds.text[i] == 'x' ? PD_BP_X
                                                   : 0;
            if (!kind || attr->bp_type & kind)
                return pd_parse_fail(parser, at, "parser error");
            attr->bp_type |= kind;
        }
    }
    attr->type = PD_TYPE_BREAKPOINT;
    attr->bp_type = attr->bp_type ? attr->bp_type : PD_BP_R | PD_BP_W;
    if (!sized)
        attr->bp_len = attr->bp_type == PD_BP_X ? sizeof(long) : 4;
    attr->sample_period = 1;
    if (sized) /* perf's name ends in front of the length */
        event.name = pd_arena_copy(&parser->events->arena, parser->text + from, name_end - from);
    perfdata_status status = finish_event(parser, &event, from);
    return status < 0 ? status : add_event(parser, &event) ? PERFDATA_OK : parser->context->status;
}

/* ---- tracepoints ---- */

const char *pd_tracefs(const struct pd_roots *roots)
{
    static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
    for (size_t i = 0; i < PD_LENGTH(places); i++) {
        size_t count;
        char **list = pd_roots_list(roots, &count, "%s/events", places[i]);
        free(list);
        if (count)
            return places[i];
    }
    return NULL;
}

static bool has_pattern(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

static perfdata_status add_tracepoint(struct pd_parser *parser, const struct pd_selected *like,
                                      const char *system, const char *name, bool *found)
{
    struct pd_selected event = *like;
    int64_t id = pd_roots_number(parser->roots, -1, "%s/events/%s/%s/id", parser->tracefs, system,
                                 name);
    if (id < 0)
        return PERFDATA_OK;
    struct pd_arena *arena = &parser->events->arena;
    event.attr.type = PD_TYPE_TRACEPOINT;
    event.attr.config = (uint64_t)id;
    event.system = pd_arena_strdup(arena, system);
    event.tracepoint = pd_arena_strdup(arena, name);
    if (!event.name || has_pattern(event.name)) {
        size_t size = strlen(system) + strlen(name) + 2;
        char *text = pd_arena_alloc(arena, size);
        if (text)
            snprintf(text, size, "%s:%s", system, name);
        event.name = text;
    }
    if (!event.name || !event.system || !event.tracepoint)
        return pd_parse_no_memory(parser);
    *found = true;
    return add_event(parser, &event) ? PERFDATA_OK : parser->context->status;
}

static perfdata_status add_tracepoints(struct pd_parser *parser, const struct pd_selected *like,
                                       const char *system, const char *name, bool *found)
{
    if (!has_pattern(name))
        return add_tracepoint(parser, like, system, name, found);
    size_t count;
    char **names = pd_roots_list(parser->roots, &count, "%s/events/%s", parser->tracefs, system);
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < count && status == PERFDATA_OK; i++)
        if (!fnmatch(name, names[i], 0))
            status = add_tracepoint(parser, like, system, names[i], found);
    free(names);
    return status;
}

static perfdata_status no_tracepoint(struct pd_parser *parser, size_t from, const char *system,
                                     const char *name)
{
    char path[PD_PATH_SIZE];
    if (!parser->tracefs && pd_roots_path(parser->roots, path, "/sys/kernel/tracing") &&
        access(path, F_OK) == 0 && access(path, R_OK | X_OK) < 0)
        return pd_parse_fail(parser, from,
                             "can't access trace events\n\nError:\tNo permissions to read "
                             "/sys/kernel/tracing/events/%.60s/%.60s\nHint:\tTry 'sudo mount -o "
                             "remount,mode=755 /sys/kernel/tracing/'\n",
                             system, name);
    if (!parser->tracefs)
        return pd_parse_fail(parser, from,
                             "unsupported tracepoint\n\nError:\tUnable to find debugfs/tracefs\n"
                             "Hint:\tWas your kernel compiled with debugfs/tracefs support?\n"
                             "Hint:\tIs the debugfs/tracefs filesystem mounted?\n"
                             "Hint:\tTry 'sudo mount -t debugfs nodev /sys/kernel/debug'");
    return pd_parse_fail(parser, from,
                         "unknown tracepoint\n\nError:\tFile %s/events/%.60s/%.60s not found.\n"
                         "Hint:\tPerhaps this kernel misses some CONFIG_ setting to enable this "
                         "feature?.\n",
                         parser->tracefs, system, name);
}

static perfdata_status tracepoint(struct pd_parser *parser, size_t from, struct pd_word system_word)
{
    struct pd_selected like;
    init_event(parser->events, &like);
    sample_raw(&like.attr);
    parser->at++;
    struct pd_word name_word = take_word(parser);
    struct pd_arena *arena = &parser->events->arena;
    char *system = pd_arena_copy(arena, system_word.text, system_word.length);
    char *name = pd_arena_copy(arena, name_word.text, name_word.length);
    if (!system || !name)
        return pd_parse_no_memory(parser);
    if (!name_word.length || strchr(name, '\'') || strstr(system, "..") || strstr(name, ".."))
        return unexpected(parser, from);
    like.name = pd_arena_copy(arena, system_word.text,
                              (size_t)(name_word.text - system_word.text) + name_word.length);
    perfdata_status status = finish_event(parser, &like, from);
    bool found = false;
    if (status < 0)
        return status;
    if (!parser->tracefs || !has_pattern(system)) {
        if (parser->tracefs)
            status = add_tracepoints(parser, &like, system, name, &found);
    } else {
        size_t count;
        char **systems = pd_roots_list(parser->roots, &count, "%s/events", parser->tracefs);
        for (size_t i = 0; i < count && status == PERFDATA_OK; i++)
            if (!fnmatch(system, systems[i], 0))
                status = add_tracepoints(parser, &like, systems[i], name, &found);
        free(systems);
    }
    return status < 0 || found ? status : no_tracepoint(parser, from, system, name);
}

/* ---- the list ---- */

/* "1:2": type and config as numbers. */
static bool numeric(struct pd_parser *parser, struct pd_word type, struct pd_attr *attr)
{
    uint64_t number;
    if (!pd_word_number(type, 0, &number) || number > UINT32_MAX || parser->text[parser->at] != ':')
        return false;
    size_t at = parser->at++;
    attr->type = (uint32_t)number;
    if (pd_word_number(take_word(parser), 0, &attr->config))
        return true;
    parser->at = at;
    return false;
}

static perfdata_status parse_event(struct pd_parser *parser, size_t from)
{
    struct pd_selected event;
    init_event(parser->events, &event);
    size_t at = parser->at;
    struct pd_word word = take_word(parser);
    char next = parser->text[parser->at];
    bool known = simple_event(word, &event.attr) || numeric(parser, word, &event.attr);
    perfdata_status status = PERFDATA_OK;
    if (!word.length)
        return unexpected(parser, at);
    if (!known && pd_word_is(word, "mem") && next == ':')
        return breakpoint(parser, from);
    if (!known && next != '/') {
        status = pd_parse_alias(parser, word, &event, &known);
        if (status == PERFDATA_OK && !known)
            return next == ':' ? tracepoint(parser, at, word) : unexpected(parser, at);
    }
    if (!known && status == PERFDATA_OK)
        status = pd_parse_pmu(parser, at, word, &event);
    if (status < 0)
        return status;
    finish_kind(&event);
    status = finish_event(parser, &event, from);
    return status < 0 ? status : add_event(parser, &event) ? PERFDATA_OK : parser->context->status;
}

/* "{", events, "}" and modifiers. */
static perfdata_status end_group(struct pd_parser *parser, size_t first, struct pd_word name)
{
    struct pd_word modifiers = { NULL, 0 };
    perfdata_status status = PERFDATA_OK;
    parser->at++;
    if (parser->text[parser->at] == ':') {
        parser->at++;
        status = take_modifiers(parser, &modifiers);
    }
    size_t count = parser->events->list.count;
    struct pd_selected *events = parser->events->list.data;
    for (size_t i = first; i < count && status == PERFDATA_OK; i++) {
        events[i].leader = (uint32_t)first;
        events[i].members = i == first ? (uint32_t)(count - first) : 0;
        apply_modifiers(parser->events, &events[i], modifiers, true, i == first);
    }
    if (name.length && count > first)
        events[first].group_name = pd_arena_copy(&parser->events->arena, name.text, name.length);
    return status;
}

static perfdata_status parse_list(struct pd_parser *parser)
{
    enum { NONE = -1 };
    int64_t group = NONE;
    struct pd_word group_name = { NULL, 0 };
    for (;;) {
        size_t from = parser->at;
        skip_blanks(parser);
        size_t at = parser->at;
        struct pd_word word = take_word(parser);
        if (parser->text[parser->at] == '{' && group == NONE) {
            group = (int64_t)parser->events->list.count;
            group_name = word;
            parser->at++;
            continue;
        }
        parser->at = at;
        perfdata_status status = parse_event(parser, from);
        if (status < 0)
            return status;
        size_t end = parser->at;
        skip_blanks(parser);
        if (parser->text[parser->at] == '}' && group != NONE) {
            status = end_group(parser, (size_t)group, group_name);
            group = NONE;
            end = parser->at;
            skip_blanks(parser);
        }
        if (status < 0)
            return status;
        if (!parser->text[parser->at])
            return group == NONE ? PERFDATA_OK : unexpected(parser, parser->at);
        if (parser->text[parser->at++] != ',')
            return unexpected(parser, end);
    }
}

perfdata_status pd_events_parse(struct pd_context *context, const struct pd_roots *roots,
                                const char *text, struct pd_events *events)
{
    enum { MOST = 1 << 20 };
    size_t before = events->list.count;
    pd_memory_forget();
    struct pd_parser parser = { .context = context,
                                .roots = roots,
                                .tracefs = pd_tracefs(roots),
                                .events = events,
                                .text = text };
    if (strlen(text) > MOST)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1, "the list of events is too long");
    perfdata_status status = parse_list(&parser);
    /* a file that could not be read for lack of memory must not count as missing */
    if (pd_memory_failed())
        status = pd_parse_no_memory(&parser);
    if (status < 0)
        events->list.count = before;
    return status;
}

struct pd_selected *pd_events_add(struct pd_events *events, uint32_t type, uint64_t config,
                                  const char *name)
{
    struct pd_selected event = { .attr = { .type = type, .config = config },
                                 .name = name,
                                 .leader = (uint32_t)events->list.count,
                                 .members = 1,
                                 .scale = 1,
                                 .made = true };
    if (!pd_vec_push(&events->list, event))
        return NULL;
    return &events->list.data[events->list.count - 1];
}

void pd_events_free(struct pd_events *events)
{
    pd_vec_free(&events->list);
    pd_arena_free(&events->arena);
}
