/* SPDX-License-Identifier: MIT */
/* --help: two columns, as wide as the terminal. */
#include "tool/verbs.h"
#include <stdio.h>
#include <string.h>

enum { INDENT = 2 };

/* Where the right column begins: a narrow terminal leaves the options a line of their own. */
static size_t help_column(void)
{
    return tool_columns() < 60 ? 8 : 28;
}

static void spaces(struct tool *tool, size_t count)
{
    while (count--)
        tool_puts(tool, " ");
}

/* Writes words from column `at` on, wrapped, further lines indented to `indent`. */
static void wrap(struct tool *tool, const char *text, size_t at, size_t indent)
{
    size_t width = tool_columns();
    bool first = true;
    while (*text) {
        size_t length = strcspn(text, " \n");
        if (!first && at + 1 + length > width) {
            tool_puts(tool, "\n");
            spaces(tool, indent);
            at = indent;
        } else if (!first) {
            tool_puts(tool, " ");
            at++;
        }
        tool_write(tool, text, length);
        at += length;
        first = false;
        text += length;
        text += strspn(text, " \n");
    }
    tool_puts(tool, "\n");
}

void tool_help_row(struct tool *tool, const char *left, const char *right)
{
    size_t at = INDENT + strlen(left), column = help_column();
    spaces(tool, INDENT);
    tool_puts(tool, left);
    if (at + 2 > column) {
        tool_puts(tool, "\n");
        at = 0;
    }
    spaces(tool, column - at);
    wrap(tool, right, column, column);
}

void tool_option_text(const struct tool_option *option, char *text, size_t size)
{
    const char *argument = option->argument;
    bool optional = option->flags & (TOOL_OPTIONAL | TOOL_LAST);
    char short_text[8] = "";
    if (option->short_name)
        snprintf(short_text, sizeof short_text, "-%c%s", option->short_name,
                 option->long_name ? ", " : "");
    snprintf(text, size, "%s%s%s%s%s%s%s", short_text, option->long_name ? "--" : "",
             option->long_name ? option->long_name : "", argument && optional ? "[" : "",
             argument ? option->long_name ? "=" : " " : "", argument ? argument : "",
             argument && optional ? "]" : "");
}

void tool_help_verb(struct tool *tool, const struct tool_verb *verb)
{
    const struct tool_verb_row *row = tool_verb_find(tool, verb->name);
    bool refused = tool_refused_next(verb, NULL) != NULL;
    tool_printf(tool, "%s %s%s%s\n", tool->name, verb->name, *verb->synopsis ? " " : "",
                verb->synopsis);
    if (row)
        wrap(tool, row->summary, 0, 0);
    for (const struct tool_option *option = verb->options; option->kind; option++) {
        char text[120];
        if (option->kind == TOOL_GROUP) {
            tool_printf(tool, "\n%s:\n", option->help);
        } else if (!(option->flags & TOOL_HIDDEN)) {
            tool_option_text(option, text, sizeof text);
            tool_help_row(tool, text, option->help);
        }
    }
    for (const struct tool_verb *const *sub = verb->subs; sub && *sub; sub++) {
        if (sub == verb->subs)
            tool_puts(tool, "\nVerbs:\n");
        tool_help_row(tool, tool_sub_name(*sub), (*sub)->description);
    }
    if (verb->examples[0])
        tool_puts(tool, "\nExamples:\n");
    for (size_t i = 0; i + 1 < TOOL_LENGTH(verb->examples) && verb->examples[i]; i += 2) {
        tool_printf(tool, "  %s %s\n", tool->name, verb->examples[i]);
        spaces(tool, 6);
        wrap(tool, verb->examples[i + 1], 6, 6);
    }
    if (refused)
        tool_printf(tool, "\nperf's other options of %s are refused by name until they work.\n",
                    verb->name);
}

void tool_help_all(struct tool *tool)
{
    tool_printf(tool, "%s VERB [OPTIONS] [FILE]\n", tool->name);
    wrap(tool,
         "Reads recordings of Linux perf (perf.data) and prints what perf prints, only faster.", 0,
         0);
    const char *group = "";
    for (const struct tool_verb_row *row = tool->verbs; row->verb; row++) {
        if (strcmp(group, row->group))
            tool_printf(tool, "\n%s:\n", row->group);
        group = row->group;
        tool_help_row(tool, row->name, row->summary);
    }
    tool_puts(tool, "\nFirst steps:\n");
    if (tool_verb_find(tool, "report"))
        tool_printf(tool, "  %s report --stdio -i perf.data     where the time went\n", tool->name);
    if (tool_verb_find(tool, "script"))
        tool_printf(tool, "  %s script -i perf.data | head      the samples, a line each\n",
                    tool->name);
    tool_printf(tool, "  %s help VERB                       the options of a verb\n", tool->name);
}
