/* SPDX-License-Identifier: MIT */
/* --call-graph, and what its kinds ask for on this machine. */
#ifndef PD_RECORD_CALLGRAPH_H
#define PD_RECORD_CALLGRAPH_H
#include "format/format.h"

enum { PD_CALL_GRAPH_STACK = 8192, PD_CALL_GRAPH_MOST_STACK = 65528 };

/* The registers that unwinding wants: all that the ABI of 64 bits has. */
#if defined(__x86_64__)
#define PD_CALL_GRAPH_REGISTERS UINT64_C(0xff0fff)
#elif defined(__aarch64__)
#define PD_CALL_GRAPH_REGISTERS UINT64_C(0x1ffffffff)
#else
#define PD_CALL_GRAPH_REGISTERS UINT64_C(0)
#endif

/* user, call_stack, no_flags, no_cycles, hw_index */
#define PD_CALL_GRAPH_LBR_FILTER UINT64_C(0x2c801)

/* "fp", "dwarf[,SIZE]", "lbr"; `stack` may be NULL. False: perf does not know it. */
bool pd_call_graph_parse(const char *text, uint32_t *kind, uint32_t *stack);

#endif
