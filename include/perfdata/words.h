/* SPDX-License-Identifier: MIT */
/* The words that options of report and script take, from the tables by which they are read: for
 * help and completion. */
#ifndef PERFDATA_WORDS_H
#define PERFDATA_WORDS_H
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_word_list {
    PERFDATA_WORDS_ITRACE = 0, /* letters of --itrace            */
    PERFDATA_WORDS_FIELDS = 1, /* output fields of script, -F    */
    PERFDATA_WORDS_SORT = 2    /* sort keys and columns of report */
};

/* Static, complete in itself. Since 0.1. */
struct perfdata_word {
    const char *name;
    const char *about; /* what it stands for, in a line; "" where the name says all */
    int supported;     /* 0: perf has it, this version refuses it by name */
};

/* Word `index` of a list, in the order of its table; NULL beyond the last and for an unknown list.
 * Since 0.1. */
PERFDATA_API const struct perfdata_word *perfdata_word(int list, size_t index);

#ifdef __cplusplus
}
#endif
#endif
