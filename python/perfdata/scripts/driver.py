# SPDX-License-Identifier: MIT
"""Runs a Python script that was made for perf: calls its handlers with what perf-script-python(1)
says, event by event."""
from __future__ import annotations

import ctypes
import importlib.abc
import importlib.util
import os
import re
import sys
import types
from ctypes import byref
from pathlib import Path
from typing import Any, Callable

from .. import _library as c
from .._library import lib, text
from ..errors import Error
from ..recording import Recording
from ..records import Event, Frame, Sample
from .flags import named_fields

_MODULES = Path(__file__).resolve().parent / "modules"
_OWN = ("perf_trace_context", "Core", "Util", "EventClass")
_TRACEPOINT = 2  # PERF_TYPE_TRACEPOINT
_SWITCH, _SWITCH_CPU_WIDE, _AUXTRACE_ERROR, _THROTTLE, _UNTHROTTLE, _SAMPLE = 14, 15, 72, 5, 6, 9
_READ = 1 << 4  # PERF_SAMPLE_READ
_LETTERS = "bcrosyiABExghDt"  # of a trace's flags, from bit 0
_NONE_SIGNED = -1


class _Finder(importlib.abc.MetaPathFinder):
    """Our modules, after all others: scripts put perf's own folder into sys.path where it is
    installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _OWN:
            return None
        return importlib.util.spec_from_file_location(name, _MODULES / f"{name}.py")


class Context:
    """The `context` of handlers: opaque."""


class Current:
    """What perf_trace_context asks about: the event that is handled now."""

    def __init__(self) -> None:
        self.context = Context()
        self.sample: Sample | None = None
        self.itrace: list[str] = []
        self.itrace_is_given = False
        self.has_begun = False

    def common(self, name: str) -> int:
        if self.sample is None:
            return 0
        for field in self.sample.tracepoint_fields:
            if field.name == name:
                return int(field.value)
        return 0

    def set_itrace(self, options: str) -> int:
        if self.itrace_is_given or self.has_begun:
            return -1
        self.itrace = [options]
        self.itrace_is_given = True
        return 0


current = Current()


class Driver:
    """A script, and the recording that it is run over."""

    def __init__(self, recording: Recording, options: Any):
        self.recording = recording
        self.options = options
        self.namespace: dict[str, Any] = {}
        self.handlers: dict[int, tuple[str, Callable | None, bool]] = {}  # by event
        self.attrs: dict[int, bytes] = {}
        self.formats: dict[tuple[str, str], str] | None = None
        self.chains: dict[tuple[Frame, ...], int] = {}

    # ---- the script ----

    def load(self, path: str, arguments: list[str]) -> None:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec")
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        sys.argv = [path, *arguments]
        sys.path[0] = os.path.dirname(path)
        sys.meta_path.append(_Finder())
        self.namespace = module.__dict__
        self.namespace["perf_script_context"] = current.context
        exec(code, self.namespace)

    def call(self, name: str, *arguments: Any) -> bool:
        handler = self.namespace.get(name)
        if not callable(handler):
            return False
        handler(*arguments)
        return True

    # ---- events ----

    def run(self) -> None:
        if any(name.startswith("stat__") for name in self.namespace):
            print("perfdata: handlers stat__... of `perf stat record` are not called yet",
                  file=sys.stderr)
        self.call("trace_begin")
        current.has_begun = True
        self.walk()
        self.call("trace_end")

    def walk(self) -> None:
        options = self.options
        itrace = None if options.no_itrace else (current.itrace or [""])
        if not self.has_traces():
            itrace = None
        cursor = self.recording._cursor("delivery", True, itrace, not options.no_demangle,
                                        options.force)
        handlers = {_SWITCH: ("context_switch", self.context_switch),
                    _SWITCH_CPU_WIDE: ("context_switch", self.context_switch),
                    _THROTTLE: ("throttle", self.throttle),
                    _UNTHROTTLE: ("unthrottle", self.throttle),
                    _AUXTRACE_ERROR: ("auxtrace_error", self.trace_error)}
        wanted = {kind: method for kind, (name, method) in handlers.items()
                  if callable(self.namespace.get(name))}
        walk = cursor.samples_and_records if wanted else cursor.samples
        for at in walk(options.max_stack):
            if not isinstance(at, Sample):
                method = wanted.get(at.record_type)
                if method is not None:
                    method(at)
            elif self.keeps(at):
                current.sample = at
                self.sample(at)
        current.sample = None

    def has_traces(self) -> bool:
        return "auxtrace" in self.recording.header["features"]

    def keeps(self, sample: Sample) -> bool:
        options = self.options
        return not ((options.comms and sample.comm not in options.comms)
                    or (options.pids and sample.pid not in options.pids)
                    or (options.tids and sample.tid not in options.tids)
                    or (options.cpus and sample.cpu not in options.cpus)
                    or (options.spans
                        and not any(start <= (sample.time or 0) <= stop
                                    for start, stop in options.spans)))

    def sample(self, sample: Sample) -> None:
        event = sample.event
        if event.type == _TRACEPOINT:
            self.tracepoint(sample, event)
        elif callable(self.namespace.get("process_event")):
            self.namespace["process_event"](self.sample_dict(sample, event))

    def tracepoint(self, sample: Sample, event: Event) -> None:
        fields = sample.tracepoint_fields
        if not fields:
            return
        known = self.handlers.get(event._handle)
        if known is None:
            own = len([f for f in fields if not f.common])
            known = self.handlers[event._handle] = self.first_seen(event, own)
        name, handler, wants_sample = known
        if handler is None and not callable(self.namespace.get("trace_unhandled")):
            return
        time = sample.values[3]
        chain = self.chain(sample)
        common = [sample.values[7], time // 10**9, time % 10**9, sample.values[1 + 1], sample.comm,
                  chain]
        common[3] = next((f.value for f in fields if f.name == "common_pid"), sample.values[2])
        values = [_payload(field) for field in fields if not field.common]
        if handler is not None:
            handler(name, current.context, *common, *values,
                    *([self.sample_dict(sample, event)] if wants_sample else []))
            return
        names = ("common_cpu", "common_s", "common_ns", "common_pid", "common_comm",
                 "common_callchain")
        every = dict(zip(names, common))
        every.update((field.name, value)
                     for field, value in zip((f for f in fields if not f.common), values))
        self.unhandled(name, every, sample, event)

    def unhandled(self, name: str, fields: dict[str, Any], sample: Sample, event: Event) -> None:
        handler = self.namespace["trace_unhandled"]
        more = [self.sample_dict(sample, event)] if _argument_count(handler) == 4 else []
        handler(name, current.context, fields, *more)

    def first_seen(self, event: Event, field_count: int) -> tuple[str, Callable | None, bool]:
        """The handler of an event, and whether it takes the sample; its named fields are told
        before it is called."""
        name = event.name.split("/")[0]
        name = re.sub(r"[^0-9A-Za-z_]", "_", name.replace(":", "__", 1)) if ":" in name else name
        system, _, tracepoint = event.name.partition(":")
        tracepoint = tracepoint.split(":")[0]
        name = f"{system}__{tracepoint}"
        handler = self.namespace.get(name)
        self.define_names(name, system, tracepoint)
        if not callable(handler):
            return name, None, False
        return name, handler, _argument_count(handler) == 8 + field_count + 1

    def define_names(self, name: str, system: str, tracepoint: str) -> None:
        for field in named_fields(self.print_format(system, tracepoint)):
            kind = "symbolic" if field.delimiter is None else "flag"
            self.call(f"define_{kind}_field", name, field.field,
                      *([] if field.delimiter is None else [field.delimiter]))
            for value, label in field.values:
                self.call(f"define_{kind}_value", name, field.field, value, label)

    def print_format(self, system: str, tracepoint: str) -> str:
        if self.formats is None:
            self.formats = {}
            for part in self.recording.header.get("tracing_parts", ()):
                words = part.get("text", "")
                found = re.match(r"name: (\S+)", words) if part["part"] == "format" else None
                if found:
                    self.formats[part["system"], found.group(1)] = words.partition("print fmt:")[2]
        return self.formats.get((system, tracepoint), "")

    # ---- dictionaries ----

    def chain(self, sample: Sample) -> list[dict[str, Any]]:
        return [_chain_entry(frame) for frame in sample.frames] if sample.has_chain else []

    def sample_dict(self, sample: Sample, event: Event) -> dict[str, Any]:
        values = sample.values
        attr = self.attrs.get(event._handle)
        if attr is None:
            attr = self.attrs[event._handle] = event.attr_bytes()
        inner = {"pid": values[1] & 0xFFFFFFFF, "tid": values[2] & 0xFFFFFFFF,
                 "cpu": values[7] & 0xFFFFFFFF, "ip": values[0], "time": values[3],
                 "period": values[8], "phys_addr": values[12], "addr": values[4]}
        _put_read(inner, sample)
        inner.update(weight=values[9], transaction=values[11], datasrc=values[10],
                     datasrc_decode=_sample_text(sample, 0), cpumode=sample.cpumode)
        if sample.get("addr") is not None and _address_is_place(event):
            inner["addr_correlates_sym"] = True
            at = sample.resolve(values[4])
            # The kernel works with users' addresses.
            if at.object is None and sample.cpumode in (1, 2):
                at = sample.resolve(values[4], 3 - sample.cpumode)
            _put_place(inner, at, "addr_dso", "addr_")
        whole = {"ev_name": event.name, "attr": attr, "sample": inner, "raw_buf": sample.raw or b"",
                 "comm": sample.comm}
        if sample.frames:
            # Of a chain the first frame may be of a function that was put into another.
            at = sample.resolve(values[0]) if sample.has_chain else sample.frames[0]
            _put_place(whole, at, "dso", "")
        whole["callchain"] = self.chain(sample)
        whole["brstack"], whole["brstacksym"] = _branches(sample)
        whole["iregs"], whole["uregs"] = _sample_text(sample, 3), _sample_text(sample, 2)
        if self.options.like_perf and not whole["iregs"]:
            whole["uregs"] = ""  # perf tells them beside others only
        facts = c.TraceFacts(struct_size=ctypes.sizeof(c.TraceFacts))
        if lib.perfdata_record_trace_facts(sample._handle(), byref(facts)) == 0:
            if sample.get("data_src") is None:
                inner["datasrc"] = 0
            if facts.flags:
                inner["flags"] = "".join(letter for bit, letter in enumerate(_LETTERS)
                                         if facts.flags >> bit & 1)
                inner["flags_disp"] = _sample_text(sample, 1).ljust(21)
            for name, value in (("insn_cnt", facts.insn_count), ("cyc_cnt", facts.cycle_count)):
                if value:
                    inner[name] = value
            if facts.machine_pid:
                inner["machine_pid"], inner["vcpu"] = facts.machine_pid, facts.vcpu
        return whole

    # ---- other records ----

    def context_switch(self, record: Any) -> None:
        who = record.identity()
        wide = record.record_type == _SWITCH_CPU_WIDE
        other = (_signed(record.field("next_prev_pid")),
                 _signed(record.field("next_prev_tid"))) if wide else (-1, -1)
        out, preempted = bool(record.misc & 1 << 13), bool(record.misc & 1 << 14)
        self.call("context_switch", who.time, _signed(who.cpu), _signed(who.pid), _signed(who.tid),
                  *other, _NONE_SIGNED, out, preempted, 0, _NONE_SIGNED)

    def throttle(self, record: Any) -> None:
        who = record.identity()
        self.call("throttle" if record.record_type == _THROTTLE else "unthrottle",
                  record.field("time"), record.field("id"), record.field("stream_id"),
                  _signed(who.cpu), _signed(who.pid), _signed(who.tid))

    def trace_error(self, record: Any) -> None:
        known = {name: record.field(name)
                 for name in ("error_type", "code", "cpu", "pid", "tid", "ip", "time", "msg")}
        self.call("auxtrace_error", known["error_type"], known["code"], _signed(known["cpu"]),
                  _signed(known["pid"]), _signed(known["tid"]), known["ip"], known["time"],
                  known["msg"], 0, 0, 0)


def _signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 and value < 1 << 32 else value


def _argument_count(handler: Callable) -> int:
    code = getattr(handler, "__code__", None)
    return code.co_argcount if code is not None else 0


def _payload(field: Any) -> Any:
    """As perf gives it: texts end at their NUL, what is no text stays bytes, numbers below 64 bits
    have no sign."""
    value = field.value
    if isinstance(value, int) and value < 0 and field.size < 8:
        return value + (1 << 8 * field.size)
    if isinstance(value, bytes) and "char" in field.type:
        plain = value.split(b"\0", 1)[0]
        return text(plain)
    return bytearray(value) if isinstance(value, bytes) else value


def _chain_entry(frame: Frame) -> dict[str, Any]:
    entry: dict[str, Any] = {"ip": frame.ip}
    if frame.symbol is not None:
        entry["sym"] = {"start": frame.symbol_start, "end": frame.symbol_end,
                        "binding": frame.binding, "name": frame.symbol}
        entry["sym_off"] = frame.address - frame.symbol_start
    if frame.object is not None:
        entry["dso"] = frame.object
    return entry


def _put_place(out: dict[str, Any], frame: Frame, dso: str, head: str) -> None:
    """What perf tells of an address, if it lies in a map."""
    if frame.object is None:
        return
    out[dso] = frame.object
    out[f"{dso}_bid"] = frame.build_id
    out[f"{dso}_map_start"], out[f"{dso}_map_end"] = frame.map_start, frame.map_end
    if frame.symbol is not None:
        out[head + "symbol"], out[head
                                  + "symoff"] = frame.symbol, frame.address - frame.symbol_start


def _address_is_place(event: Event) -> bool:
    if event.type == 1:  # software: page faults
        return event.config in (2, 5, 6)
    return event.type == 0 and event.config == 4 and event.attr("sample_period") == 1


def _sample_text(sample: Sample, which: int) -> str:
    out = ctypes.c_char_p()
    if lib.perfdata_record_sample_text(sample._handle(), which, byref(out)) != 0:
        return ""
    return text(out.value)


def _put_read(out: dict[str, Any], sample: Sample) -> None:
    """What was read of counters: (id, value, lost) of each. perf names times also where nothing was
    read."""
    form = sample.event.attr("read_format")
    times, has_id, group, has_lost = form & 3, form >> 2 & 1, form >> 3 & 1, form >> 4 & 1
    fields = sample.as_dict()["fields"] if sample.event.attr("sample_type") & _READ else {}
    if times & 1:
        out["time_enabled"] = int(fields.get("read_time_enabled", 0))
    if times & 2:
        out["time_running"] = int(fields.get("read_time_running", 0))
    if not fields:
        out["values"] = [(0, 0, 0)]
    elif group:
        words, width = [int(word) for word in fields.get("read_values", ())], 1 + has_id + has_lost
        entries = [words[at: at + width] for at in range(0, len(words), width)]
        out["values"] = [(entry[1] if has_id else 0, entry[0], entry[1 + has_id] if has_lost else 0)
                         for entry in entries]
    else:
        out["values"] = [tuple(int(fields.get(name, 0))
                               for name in ("read_id", "read_value", "read_lost"))]


def _branches(sample: Sample) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    plain, named = [], []
    for origin, target, flags in sample.branches:
        entry = {"from": origin, "to": target, "mispred": bool(flags & 1),
                 "predicted": bool(flags & 2), "in_tx": bool(flags & 4), "abort": bool(flags & 8),
                 "cycles": flags >> 4 & 0xFFFF}
        places = [sample.resolve(address, None) for address in (origin, target)]
        entry["from_dsoname"], entry["to_dsoname"] = (place.object or "" for place in places)
        plain.append(entry)
        labels = [f"{at.symbol}+0x{at.offset:x}" if at.symbol else "[unknown]" for at in places]
        named.append({"from": labels[0], "to": labels[1],
                      "pred": "P" if flags & 2 else "M" if flags & 1 else "-",
                      "in_tx": "X" if flags & 4 else "-", "abort": "A" if flags & 8 else "-"})
    return plain, named


def run(path: str, arguments: list[str], recording: Recording, options: Any) -> int:
    """The exit status of a script."""
    driver = Driver(recording, options)
    current.itrace = list(options.itrace)
    current.itrace_is_given = bool(options.itrace)
    try:
        driver.load(path, arguments)
        driver.run()
    except Error as error:
        sys.stdout.flush()
        print(f"perfdata: {error}", file=sys.stderr)
        return 1
    return 0
