/* SPDX-License-Identifier: MIT */
/* Source and instructions that a page shows. */
#ifndef PD_PAGE_CODE_H
#define PD_PAGE_CODE_H
#include "base/intern.h"
#include "page/page.h"

/* `name`, `object` and `text` are numbers of `texts`. */
struct pd_page_code_function {
    uint32_t name, object, lines; /* 0 lines: its code cannot be had */
    uint64_t address;
};

struct pd_page_code_line {
    uint64_t place; /* of an instruction: from the function's start, and 1; 0: it is none */
    uint32_t text, indent;
    uint32_t kind; /* enum perfdata_code_kind */
    uint32_t gap;  /* lines before it that are left out */
};

struct pd_page_code_cell {
    uint32_t line, event; /* line: of all lines of the page */
    uint64_t count, weight;
};

struct perfdata_page_code {
    PD_VEC(struct pd_page_code_function) functions;
    PD_VEC(struct pd_page_code_line) lines;
    PD_VEC(struct pd_page_code_cell) cells;
    struct pd_intern texts;
    const char *limit;
    uint64_t bytes, most; /* of texts; a text that is there already costs nothing */
    uint64_t left_out;    /* functions for which there was no room */
    bool failed;          /* the system had no memory */
};

#endif
