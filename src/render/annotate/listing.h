/* SPDX-License-Identifier: MIT */
/* objdump's text of a function, line by line. */
#ifndef PD_LISTING_H
#define PD_LISTING_H
#include "base/text.h"
#include "base/vec.h"

#define PD_LISTING_NO_OFFSET UINT64_MAX

struct pd_listing_line {
    size_t at;       /* of its text: of an instruction what follows its address and colon */
    uint64_t offset; /* of an instruction, from the function's start */
    uint32_t number; /* of the line of source; else counted on */
    uint32_t indent; /* blanks before it, which its text has not */
    uint32_t next;   /* the next line with an offset; that line's index, or the count */
};

struct pd_listing {
    PD_VEC(struct pd_listing_line) lines;
    char *text;  /* of all lines, each NUL-terminated */
    bool failed; /* the system had no memory */
};

PD_INLINE const char *pd_listing_text(const struct pd_listing *listing, size_t line)
{
    return listing->text + listing->lines.data[line].at;
}

/* Lines that name `path` with a colon behind it are left out, and unless `places` places in sources
 * ("/a/b.c:12"), which number the lines behind them. Addresses from `start` to before `end` are the
 * function's. */
void pd_listing_parse(const char *text, size_t size, const char *path, uint64_t start, uint64_t end,
                      bool places, struct pd_listing *out);
void pd_listing_free(struct pd_listing *listing);

#endif
