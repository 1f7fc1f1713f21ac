/* SPDX-License-Identifier: MIT */
/* How long guests of virtual machines waited for their host, as `perf kvm stat report` of 6.1
 * prints it. */
#ifndef PERFDATA_KVM_H
#define PERFDATA_KVM_H
#include <perfdata/recording.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a line is about. Since 0.1. */
enum perfdata_kvm_event {
    PERFDATA_KVM_EXITS, /* a reason for which guests were left */
    PERFDATA_KVM_MMIO,  /* an address that a device stands behind, read or written */
    PERFDATA_KVM_PORTS, /* a port, read or written */
    PERFDATA_KVM_MSRS   /* a model-specific register, read or written */
};

/* Strings are borrowed for the call; NULL: not given. Since 0.1. */
struct perfdata_kvm_options {
    size_t struct_size;
    uint32_t event;   /* enum perfdata_kvm_event */
    uint32_t by_time; /* 1: the longest in the mean first, 0: the most frequent ones */
    int64_t vcpu;     /* this one of each machine only; -1: all */
    const char *pids; /* "1,2": machines of these processes only */
};

/* Prints the table, from kvm:kvm_entry, kvm_exit, kvm_mmio and kvm_pio.
 * PERFDATA_ERROR_UNSUPPORTED for recordings of CPUs that are neither Intel's nor AMD's;
 * PERFDATA_ERROR_NO_DATA for recordings without tracepoints; PERFDATA_ERROR_ARGUMENT for events and
 * pids that there are not. Memory grows with the number of lines and threads. Since 0.1. */
PERFDATA_API perfdata_status perfdata_kvm_run(perfdata_recording *recording,
                                              const struct perfdata_kvm_options *options,
                                              perfdata_write_fn write, void *data);

#ifdef __cplusplus
}
#endif
#endif
