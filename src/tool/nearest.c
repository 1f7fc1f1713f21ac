/* SPDX-License-Identifier: MIT */
/* "Did you mean": names near a wrong one. */
#include "tool/tool.h"
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 63, KEEP = 3 };

/* Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`. */
static unsigned distance(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    unsigned rows[3][MAX_NAME + 1];
    if (a_length > MAX_NAME || b_length > MAX_NAME)
        return MAX_NAME;
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = before[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        unsigned *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_length];
}

/* Small is near; names that begin alike or hold the wrong one count as near too. */
static unsigned score(const char *wrong, const char *name)
{
    size_t length = strlen(wrong);
    unsigned far = length < 4 ? 1 : length < 8 ? 2 : 3;
    unsigned edits = distance(wrong, name);
    if (edits <= far)
        return edits;
    if (length >= 2 && !strncmp(wrong, name, length))
        return 4;
    if (length >= 3 && strstr(name, wrong))
        return 5;
    return MAX_NAME;
}

void tool_nearest(const char *wrong, const char *prefix, const char *(*next)(void *context),
                  void *context, char *text, size_t size)
{
    const char *names[KEEP];
    unsigned scores[KEEP], count = 0;
    for (const char *name = next(context); name; name = next(context)) {
        unsigned mine = score(wrong, name), at = count;
        if (mine == MAX_NAME)
            continue;
        while (at > 0 && scores[at - 1] > mine)
            at--;
        if (at == KEEP)
            continue;
        if (count < KEEP)
            count++;
        for (unsigned i = count - 1; i > at; i--) {
            names[i] = names[i - 1];
            scores[i] = scores[i - 1];
        }
        names[at] = name;
        scores[at] = mine;
    }
    *text = 0;
    for (unsigned i = 0; i < count; i++) {
        size_t used = strlen(text);
        const char *join = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        snprintf(text + used, size - used, "%s%s%s", join, prefix, names[i]);
    }
}
