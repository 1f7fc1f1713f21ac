# SPDX-License-Identifier: MIT
"""Names of flags and states: perf-script-python(1), "Core.py Module". Used where perf's own are not
installed."""
from collections import defaultdict


def autodict():
    """A dictionary whose missing values are such dictionaries."""
    return defaultdict(autodict)


flag_fields = autodict()
symbolic_fields = autodict()


def define_flag_field(event_name, field_name, delim):
    flag_fields[event_name][field_name]["delim"] = delim


def define_flag_value(event_name, field_name, value, field_str):
    flag_fields[event_name][field_name]["values"][value] = field_str


def define_symbolic_field(event_name, field_name):
    symbolic_fields[event_name][field_name]["values"]


def define_symbolic_value(event_name, field_name, value, field_str):
    symbolic_fields[event_name][field_name]["values"][value] = field_str


def _known(table, event_name, field_name):
    return table[event_name].get(field_name) if event_name in table else None


def flag_str(event_name, field_name, value):
    """The names of the bits that are set."""
    field = _known(flag_fields, event_name, field_name)
    if field is None:
        return ""
    names = []
    for bits in sorted(field["values"]):
        if not value and not bits:
            return field["values"][bits]
        if bits and value & bits == bits:
            names.append(field["values"][bits])
            value &= ~bits
    return (" %s " % field["delim"] if field["delim"] else " ").join(names)


def symbol_str(event_name, field_name, value):
    """The name of a value."""
    field = _known(symbolic_fields, event_name, field_name)
    return field["values"][value] if field is not None and value in field["values"] else ""


trace_flags = {0x00: "NONE", 0x01: "IRQS_OFF", 0x02: "IRQS_NOSUPPORT", 0x04: "NEED_RESCHED",
               0x08: "HARDIRQ", 0x10: "SOFTIRQ"}


def trace_flag_str(value):
    if not value:
        return "NONE"
    return " | ".join(name for bit, name in trace_flags.items() if bit and value & bit)


def taskState(state):
    return {0: "R", 1: "S", 2: "D", 64: "DEAD"}.get(state, "Unknown")


class EventHeaders:
    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                 common_callchain):
        self.cpu = common_cpu
        self.secs = common_secs
        self.nsecs = common_nsecs
        self.pid = common_pid
        self.comm = common_comm
        self.callchain = common_callchain

    def ts(self):
        return self.secs * 1000000000 + self.nsecs

    def ts_format(self):
        return "%d.%d" % (self.secs, self.nsecs // 1000)
