/* SPDX-License-Identifier: MIT */
#ifndef PD_DEMANGLE_H
#define PD_DEMANGLE_H
#include "base/base.h"

/* The readable form of a C++, Rust, OCaml or Java name, to be freed; NULL when `name` is none of
 * them. `verbose`: C++ with parameters. */
char *pd_demangle(const char *name, bool verbose);

#endif
