/* SPDX-License-Identifier: MIT */
/* Which build this is: an index is of use only to the build that wrote it, since another one may
 * have other rules. */
#ifndef PD_INDEX_BUILD_H
#define PD_INDEX_BUILD_H
#include "base/base.h"

/* A number made of the build-id that the linker gave this library, or the program that it is part
 * of; 0: it gave none. */
uint64_t pd_index_build(void);

#endif
