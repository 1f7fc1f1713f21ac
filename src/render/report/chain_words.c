/* SPDX-License-Identifier: MIT */
/* The words of -g and of the configuration -> how a plan counts and draws chains. */
#include "render/report/plan.h"
#include <stdlib.h>

static bool is_prefix(const char *token, size_t length, const char *word)
{
    return length <= strlen(word) && !strncmp(token, word, length);
}

static bool parse_chain_word(struct pd_report_plan *plan, const char *token, size_t length)
{
    static const struct {
        const char *word;
        enum pd_chain_mode mode;
    } modes[] = { { "graph", PD_CHAIN_GRAPH },
                  { "flat", PD_CHAIN_FLAT },
                  { "fractal", PD_CHAIN_FRACTAL },
                  { "folded", PD_CHAIN_FOLDED } };
    for (size_t i = 0; i < PD_LENGTH(modes); i++)
        if (is_prefix(token, length, modes[i].word)) {
            plan->chains.mode = modes[i].mode;
            return true;
        }
    bool caller = is_prefix(token, length, "caller");
    if (caller || is_prefix(token, length, "callee")) {
        plan->hist.caller_order = caller;
        plan->layout.order_set = true;
        return true;
    }
    static const char *const keys[] = { "function", "address", "srcline" };
    for (size_t i = 0; i < PD_LENGTH(keys); i++)
        if (is_prefix(token, length, keys[i])) {
            plan->hist.frames = (uint8_t)i;
            return true;
        }
    if (is_prefix(token, length, "branch")) {
        plan->chains.with_branches = true;
        return true;
    }
    static const char *const values[] = { "percent", "period", "count" };
    for (size_t i = 0; i < PD_LENGTH(values); i++)
        if (is_prefix(token, length, values[i])) {
            plan->chains.value = (enum pd_chain_value)i;
            return true;
        }
    return false;
}

/* The words of -g, or of the configuration. Behind "none" perf reads no further. */
static perfdata_status parse_chain_words(struct pd_context *context, struct pd_report_plan *plan,
                                         const char *text)
{
    const char *token;
    size_t length;
    bool percent_set = false;
    while (pd_report_next_token(&text, ",", &token, &length)) {
        if (is_prefix(token, length, "none")) {
            plan->chains.mode = PD_CHAIN_NONE;
            plan->chains.asked = false;
            return 0;
        }
        if (parse_chain_word(plan, token, length))
            continue;
        char *end;
        if (percent_set) {
            plan->chains.print_limit = (uint32_t)strtoul(token, &end, 0);
        } else {
            plan->chains.percent = strtod(token, &end);
            percent_set = true;
        }
        if (end == token)
            return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                           "invalid call graph option: `%.*s'", (int)length, token);
    }
    return 0;
}

bool pd_report_next_token(const char **at, const char *separators, const char **token,
                          size_t *length)
{
    *at += strspn(*at, separators);
    *token = *at;
    *length = strcspn(*at, separators);
    *at += *length;
    return *length != 0;
}

perfdata_status pd_report_parse_chains(struct pd_context *context, struct pd_report_plan *plan)
{
    const char *text = plan->options->call_graph, *settings = plan->options->chain_settings;
    plan->chains.mode = PD_CHAIN_GRAPH;
    plan->chains.percent = 0.5;
    perfdata_status status = settings ? parse_chain_words(context, plan, settings) : 0;
    if (status < 0)
        return status;
    if (plan->options->flags & PERFDATA_REPORT_NO_CALL_GRAPH)
        plan->chains.mode = PD_CHAIN_NONE;
    if (!text)
        return 0;
    plan->chains.asked = true;
    return parse_chain_words(context, plan, text);
}
