/* SPDX-License-Identifier: MIT */
/* objdump's text of a function, line by line. */
#ifndef PD_LISTING_H
#define PD_LISTING_H
#include "base/text.h"
#include "base/vec.h"

#define PD_LISTING_NO_OFFSET UINT64_MAX

struct pd_listing_line {
    size_t at;       /* where its text begins: an instruction's, behind its address */
    uint64_t offset; /* of an instruction, from the function's start */
    uint32_t number; /* of the source line, where objdump tells it; else counted on from there */
    uint32_t indent; /* blanks before it, which are not in its text */
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

/* Leaves out lines that name `path` with a colon behind it. Places in sources ("/a/b.c:12") number
 * the lines behind them and are left out, too, unless `places` is set. Addresses from `start` to
 * before `end` are the function's. */
void pd_listing_parse(const char *text, size_t size, const char *path, uint64_t start, uint64_t end,
                      bool places, struct pd_listing *out);
void pd_listing_free(struct pd_listing *listing);

#endif
