# SPDX-License-Identifier: MIT
"""What scripts made for perf ask of it while they handle an event: perf-script-python(1),
"perf_trace_context Module"."""
from perfdata.scripts.driver import current as _current

perf_script_context = _current.context


def common_pc(context):
    """common_preempt_count of the current event."""
    return _current.common("common_preempt_count")


def common_flags(context):
    """common_flags of the current event."""
    return _current.common("common_flags")


def common_lock_depth(context):
    """common_lock_depth of the current event; 0 where its format has none."""
    return _current.common("common_lock_depth")


def perf_set_itrace_options(context, itrace_options):
    """What is made of AUX traces, unless the command line said so; before the first event. 0, or
    -1."""
    return _current.set_itrace(itrace_options)


def perf_sample_insn(context):
    """The bytes of the instruction at the sampled address; None: unknown."""
    raise NotImplementedError("perf_sample_insn() is not there yet: "
                              "`perfdata script -F insn` prints instructions")


def perf_sample_srcline(context):
    """(file, line) of the sampled address."""
    raise NotImplementedError("perf_sample_srcline() is not there yet: "
                              "`perfdata script -F srcline` prints source lines")


def perf_sample_srccode(context):
    """(file, line, text) of the sampled address."""
    raise NotImplementedError("perf_sample_srccode() is not there yet: "
                              "`perfdata script -F srcline` prints source lines")
