# SPDX-License-Identifier: MIT
"""Events as objects, for scripts made for perf that import EventClass. Used where perf's own is not
installed."""


class PerfEvent:
    """An event by the parts of process_event()'s dictionary."""

    event_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=0):
        self.name = name
        self.comm = comm
        self.dso = dso
        self.symbol = symbol
        self.raw_buf = raw_buf
        self.ev_type = ev_type
        PerfEvent.event_num += 1

    def show(self):
        print("PMU event: name=%12s, symbol=%24s, comm=%8s, dso=%12s"
              % (self.name, self.symbol, self.comm, self.dso))


def create_event(name, comm, dso, symbol, raw_buf):
    return PerfEvent(name, comm, dso, symbol, raw_buf)
