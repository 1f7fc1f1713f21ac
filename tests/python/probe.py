# SPDX-License-Identifier: MIT
"""A script for perf: prints all that a script can see."""
import sys

import perf_trace_context


def show(value, indent):
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner,
                      dict) or (isinstance(inner, list) and inner and isinstance(inner[0], dict)):
            print(f"{indent}{key!r}:")
            show(inner, indent + "  ")
        else:
            print(f"{indent}{key!r} {inner!r}")


def trace_begin():
    print("begin", sys.argv[1:], perf_trace_context.perf_script_context is not None)


def trace_end():
    print("end")


def process_event(event):
    print("event")
    show(event, "  ")


def trace_unhandled(name, context, fields, sample):
    print("unhandled", name, perf_trace_context.common_pc(context),
          perf_trace_context.common_flags(context))
    show(fields, "  ")
    show(sample, "    ")


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, prev_pid, prev_prio, prev_state,
                        next_comm, next_pid, next_prio):
    print(event_name, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
          len(common_callchain), prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid,
          next_prio)


def context_switch(*arguments):
    print("switch", arguments)


def auxtrace_error(*arguments):
    print("error", arguments)


def throttle(*arguments):
    print("throttle", arguments)


def unthrottle(*arguments):
    print("unthrottle", arguments)
