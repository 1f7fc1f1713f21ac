# SPDX-License-Identifier: MIT
"""A script to begin with: one handler for each tracepoint of a recording, which prints all that it
has."""
from __future__ import annotations

import keyword
import os
import re

from ..export import replace_file
from ..recording import Recording

_HEAD = '''# A script for `perfdata script -s` (and `perf script -s`), made from the \
events of {recording}.
# Handlers get what perf-script-python(1) says: fields of the tracepoint behind the eight \
arguments that all have.
import os
import sys

sys.path.append(os.environ["PERF_EXEC_PATH"] + "/scripts/python/Perf-Trace-Util/lib/Perf/Trace")

from perf_trace_context import *
from Core import *


def trace_begin():
    """Before the first event."""


def trace_end():
    """After the last one."""


def show(name, cpu, secs, nsecs, pid, comm, callchain, fields):
    print(f"{{comm:16}} {{pid:7}} [{{cpu:03}}] {{secs}}.{{nsecs:09}}: {{name}}: " \
+ " ".join(f"{{k}}={{v}}" for k, v in fields.items()))
    for entry in callchain:
        print(f"    {{entry['ip']:x}} {{entry['sym']['name'] if 'sym' in entry \
else '[unknown]'}} ({{entry.get('dso', '[unknown]')}})")


def process_event(event):
    """An event that is no tracepoint."""
    sample = event["sample"]
    show(event["ev_name"], sample["cpu"], sample["time"] // 10**9, sample["time"] % 10**9, \
sample["pid"], event["comm"],
         event["callchain"], {{"ip": hex(sample["ip"]), \
"symbol": event.get("symbol", "[unknown]"), "period": sample["period"]}})


def trace_unhandled(event_name, context, fields, sample):
    """A tracepoint without a handler here."""
    print(event_name, fields)
'''

_HANDLER = '''

def {name}(event_name, context, common_cpu, common_secs, common_nsecs, \
common_pid, common_comm, common_callchain{parameters},
           perf_sample_dict):
    show(event_name, common_cpu, common_secs, common_nsecs, common_pid, common_comm, \
common_callchain, {{{fields}}})
'''


def _word(name: str) -> str:
    """A name that a parameter can have."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{plain}" if not plain.isidentifier() or keyword.iskeyword(plain) else plain


def make(recording: Recording) -> str:
    """The script's text."""
    formats = {(part["system"], found.group(1)): re.findall(r"field:([^;]*);", part["text"])
               for part in recording.header.get("tracing_parts", ()) if part["part"] == "format"
               for found in [re.match(r"name: (\S+)", part.get("text", ""))] if found}
    parts, seen = [_HEAD.format(recording=os.path.basename(recording.path))], set()
    for event in recording.events:
        system, _, tracepoint = event.name.partition(":")
        fields = formats.get((system, tracepoint.split(":")[0]))
        name = f"{system}__{tracepoint.split(':')[0]}"
        if event.type != 2 or fields is None or name in seen or not name.isidentifier():
            continue
        seen.add(name)
        words = [found.group(1) for field in fields
                 for found in [re.search(r"(\w+)(?:\[[^\]]*\])?$", field)] if found]
        own = [_word(word) for word in words if not word.startswith("common_")]
        parts.append(_HANDLER.format(name=name, parameters="".join(f", {word}" for word in own),
                                     fields=", ".join(f'"{word}": {word}' for word in own)))
    return "".join(parts)


def write(recording: Recording, path: str) -> None:
    """The script in a file, which appears when it is complete."""
    replace_file(path, [make(recording).encode("utf-8")])
