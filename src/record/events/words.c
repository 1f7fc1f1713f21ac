/* SPDX-License-Identifier: MIT */
/* Words of an event's text, and the errors that point into it. */
#include "record/events/parse.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool pd_word_is(struct pd_word word, const char *text)
{
    return text && strlen(text) == word.length && !memcmp(word.text, text, word.length);
}

bool pd_word_number(struct pd_word word, unsigned base, uint64_t *out)
{
    char digits[32], *end;
    if (!word.length || word.length >= sizeof digits || !isxdigit((unsigned char)word.text[0]))
        return false;
    memcpy(digits, word.text, word.length);
    digits[word.length] = 0;
    errno = 0;
    *out = strtoull(digits, &end, (int)base);
    return !*end && !errno;
}

perfdata_status pd_parse_fail(struct pd_parser *parser, size_t at, const char *format, ...)
{
    enum { SHOWN = 13, HEAD = 11 }; /* a mark further right than that: the text is cut */
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    bool cut = at > SHOWN;
    int width = 21 + (int)(cut ? SHOWN : at);
    return pd_fail(parser->context, PERFDATA_ERROR_ARGUMENT, (int64_t)at,
                   "event syntax error: '%s%.80s'\n%*s\\___ %s", cut ? ".." : "",
                   parser->text + (cut ? at - HEAD : 0), width, "", what);
}

perfdata_status pd_parse_no_memory(struct pd_parser *parser)
{
    return pd_no_memory(parser->context, NULL);
}
