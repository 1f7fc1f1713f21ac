/* SPDX-License-Identifier: MIT */
/* Pseudonyms of names: of the same length, so that every record and feature keeps its size and
 * place; equal for equal names; none for the names in a closed list that the kernel and perf give
 * themselves. */
#ifndef PD_REWRITE_PSEUDONYMS_H
#define PD_REWRITE_PSEUDONYMS_H
#include "base/hash.h"

/* All zero at first, but for the seed: another seed gives other pseudonyms. */
struct pd_pseudonyms {
    uint64_t seed;
    struct pd_map64 names; /* hash of a name -> number of the try that gave its pseudonym */
    struct pd_map64 taken; /* hash of a pseudonym -> low bits of its name's hash */
    bool no_memory;        /* two names may share one */
};

/* Replaces a name: of a thread, a file with its folders, a map, a host, a cgroup. What marks its
 * kind stays: the slashes, brackets, "[anon:", "/memfd:", " (deleted)", ".so.6", ".ko.xz". */
void pd_pseudonym(struct pd_pseudonyms *pseudonyms, char *name, size_t length);
void pd_pseudonyms_free(struct pd_pseudonyms *pseudonyms);

#endif
