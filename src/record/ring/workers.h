/* SPDX-License-Identifier: MIT */
/* Threads that read the buffers at the same time, each buffer into a file of its own: perf's
 * --threads. */
#ifndef PD_RECORD_WORKERS_H
#define PD_RECORD_WORKERS_H
#include "record/record.h"

/* None of these functions does anything where no threads are wanted. */

/* Decides which thread reads which CPUs; the recorder's CPUs must be known. */
perfdata_status pd_workers_prepare(perfdata_recorder *recorder);
/* Opens the threads' files, then starts the threads; the buffers must be mapped. */
perfdata_status pd_workers_start(perfdata_recorder *recorder);
/* The failure of one of the threads, if there is one. */
perfdata_status pd_workers_status(perfdata_recorder *recorder);
/* Lets the threads read what is left and end; their files are then complete. */
perfdata_status pd_workers_finish(perfdata_recorder *recorder);
/* Bytes in their files so far. */
uint64_t pd_workers_size(const perfdata_recorder *recorder);
void pd_workers_packed(const perfdata_recorder *recorder, uint64_t *in, uint64_t *out);
void pd_workers_close(perfdata_recorder *recorder);

#endif
