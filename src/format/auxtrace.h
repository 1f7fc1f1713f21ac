/* SPDX-License-Identifier: MIT */
/* Names of the words of AUXTRACE_INFO (docs/perf-data-format.md#the-aux-area). */
#ifndef PD_FORMAT_AUXTRACE_H
#define PD_FORMAT_AUXTRACE_H
#include "base/text.h"
#include "format/rows.h"

/* Where the walk over the words is: all zero at first. Call pd_auxtrace_word() for each word in
 * turn. */
struct pd_auxtrace_words {
    uint64_t cpu, magic;
    uint32_t begin; /* of the CPU's words under way */
    uint32_t end;   /* behind them; 0: before the first CPU */
};

/* Appends the name of word `index` of all `words` of a trace of this type, "cpu3.trcidr0" for what
 * is a CPU's, "word12" for what is not known. */
void pd_auxtrace_word(struct pd_auxtrace_words *walk, uint32_t type, const struct pd_array *words,
                      uint32_t index, struct pd_text *text);

#endif
