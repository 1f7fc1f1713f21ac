/* SPDX-License-Identifier: MIT */
/* A loop whose turns need nothing of each other, on several threads. */
#ifndef PD_PARALLEL_H
#define PD_PARALLEL_H
#include "base/base.h"

enum { PD_PARALLEL_MAX = 64 };

/* Calls turn(data, worker, i) once for each i below count, smaller ones first, and returns when all
 * are done. At most `threads` threads, and no more than PD_PARALLEL_MAX, take part, this one as
 * worker 0; as many as the system gives. */
void pd_parallel(unsigned threads, size_t count,
                 void (*turn)(void *data, unsigned worker, size_t index), void *data);

#endif
