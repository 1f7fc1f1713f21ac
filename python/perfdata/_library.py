# SPDX-License-Identifier: MIT
"""libperfdata by ctypes: its structures, its functions, and where it lies.

Structures are those of include/perfdata; a test compares their sizes and offsets with the
compiler's.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import gc
import os
from contextlib import contextmanager
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_int32,
                    c_int64, c_size_t, c_ubyte, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator

SONAME = "libperfdata.so.1"
NONE = 0xFFFFFFFF
NO_DATA = -46  # a status: there is no such thing
NO_TIME = 0xFFFFFFFFFFFFFFFF


def _candidates() -> Iterator[str]:
    """Where the library may be, the likeliest first."""
    chosen = os.environ.get("PERFDATA_LIBRARY")
    if chosen:
        yield chosen
        return
    here = Path(__file__).resolve().parent
    yield str(here / "lib" / SONAME)  # a wheel brings it along
    root = here.parent.parent
    yield str(root / "build" / SONAME)  # the source tree
    # PREFIX/share/perfdata/python, installed with the program
    if root.name == "perfdata" and root.parent.name == "share":
        for folder in sorted(root.parent.parent.glob("lib*/")):
            yield str(folder / SONAME)
            yield from (str(path) for path in sorted(folder.glob("*/" + SONAME)))
    yield SONAME
    found = ctypes.util.find_library("perfdata")
    if found:
        yield found


def _load() -> ctypes.CDLL:
    tried = []
    for name in _candidates():
        if os.sep in name and not os.path.exists(name):
            continue
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("libperfdata is not installed: ./dev install, or pip install the package "
                      "from perfdata's source, or PERFDATA_LIBRARY=FILE"
                      + "".join("\n  " + text for text in tried))


lib = _load()

# ---- structures ----


class Issue(Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_int32), ("reserved", c_uint32),
                ("offset", c_int64), ("path", c_char_p), ("text", c_char_p),
                ("perf_text", c_char_p)]


ISSUE_FN = CFUNCTYPE(None, c_void_p, POINTER(Issue))
WRITE_FN = CFUNCTYPE(c_int, c_void_p, POINTER(c_char), c_size_t)
TABLE_FN = CFUNCTYPE(c_int, c_void_p, c_char_p)


class Options(Structure):
    _fields_ = [("struct_size", c_size_t), ("on_issue", ISSUE_FN), ("issue_data", c_void_p),
                ("max_memory", c_uint64), ("max_records", c_uint64), ("max_decompressed", c_uint64),
                ("threads", c_uint32), ("flags", c_uint32)]


class SymbolSearch(Structure):
    _fields_ = [("symfs", c_char_p), ("kallsyms", c_char_p), ("vmlinux", c_char_p),
                ("home", c_char_p), ("build_id_dir", c_char_p), ("jitdump", c_char_p),
                ("guest_kallsyms", c_char_p), ("guest_modules", c_char_p),
                ("guest_vmlinux", c_char_p), ("guest_mount", c_char_p), ("index_dir", c_char_p),
                ("debuginfod", c_void_p), ("reserved", c_void_p * 4)]


class BuildId(Structure):
    _fields_ = [("struct_size", c_size_t), ("path", c_char_p), ("id", POINTER(c_uint8)),
                ("id_size", c_uint32), ("misc", c_uint16), ("reserved", c_uint16), ("pid", c_int32),
                ("reserved2", c_uint32)]


class CursorOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("order", c_uint32), ("flags", c_uint32),
                ("search", SymbolSearch), ("itrace", POINTER(c_char_p)), ("itrace_count", c_size_t),
                ("perf_config", c_char_p)]


class Identity(Structure):
    _fields_ = [("struct_size", c_size_t), ("pid", c_uint32), ("tid", c_uint32), ("cpu", c_uint32),
                ("reserved", c_uint32), ("time", c_uint64), ("id", c_uint64),
                ("stream_id", c_uint64)]


class Value(Structure):
    _fields_ = [("struct_size", c_size_t), ("kind", c_uint32), ("count", c_uint32),
                ("number", c_uint64), ("real", c_double), ("data", c_void_p), ("size", c_size_t)]


class TracepointField(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("type", c_char_p),
                ("common", c_uint32), ("reserved", c_uint32), ("value", Value)]


class TraceFacts(Structure):
    _fields_ = [("struct_size", c_size_t), ("flags", c_uint32), ("insn_length", c_uint32),
                ("insn_ip", c_uint64), ("to", c_uint64), ("insn_count", c_uint64),
                ("cycle_count", c_uint64), ("machine_pid", c_uint32), ("vcpu", c_uint32),
                ("reserved", c_uint64)]


class Thread(Structure):
    _fields_ = [("struct_size", c_size_t), ("tid", c_uint32), ("pid", c_uint32), ("ppid", c_uint32),
                ("reserved", c_uint32), ("comm", c_char_p)]


class Location(Structure):
    _fields_ = [("struct_size", c_size_t), ("ip", c_uint64), ("object", c_char_p),
                ("symbol", c_char_p), ("symbol_start", c_uint64), ("symbol_end", c_uint64),
                ("address", c_uint64), ("map_start", c_uint64), ("map_end", c_uint64),
                ("map_offset", c_uint64), ("build_id", POINTER(c_uint8)),
                ("build_id_size", c_uint32), ("cpumode", c_uint8), ("level", c_char),
                ("binding", c_uint16)]


class Source(Structure):
    _fields_ = [("struct_size", c_size_t), ("file", c_char_p), ("line", c_uint32),
                ("reserved", c_uint32), ("code", c_void_p), ("code_size", c_size_t)]


SAMPLE_FIELDS = ("ip", "pid", "tid", "time", "addr", "id", "stream_id", "cpu", "period", "weight",
                 "data_src", "transaction", "phys_addr", "cgroup", "data_page_size",
                 "code_page_size")


class SampleRow(Structure):
    _fields_ = [("struct_size", c_size_t), ("record", c_void_p), ("event", c_void_p),
                ("comm", c_char_p), ("values", c_uint64 * len(SAMPLE_FIELDS)),
                ("present", c_uint32), ("frame_count", c_uint32), ("cpumode", c_uint8),
                ("has_chain", c_uint8), ("damaged", c_uint8), ("reserved", c_uint8 * 5)]


class SampleBatch(Structure):
    _fields_ = [("struct_size", c_size_t), ("rows", POINTER(SampleRow)), ("row_room", c_size_t),
                ("numbers", POINTER(c_uint32)), ("number_room", c_size_t),
                ("frames", POINTER(Location)), ("frame_room", c_size_t), ("max_stack", c_uint32),
                ("first_frame", c_uint32), ("row_count", c_size_t), ("number_count", c_size_t),
                ("frame_count", c_size_t)]


def _columns() -> Iterator[str]:
    name = lib.perfdata_column_name
    name.restype, name.argtypes = c_char_p, [c_uint32]
    index = 0
    while (found := name(index)) is not None:
        yield found.decode()
        index += 1


COLUMNS = tuple(_columns())


class ProfileOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("flags", c_uint32), ("detail", c_uint32),
                ("columns", c_uint32), ("max_stack", c_uint32), ("threads", c_uint32),
                ("max_switches", c_uint32), ("samples", c_void_p), ("samples_data", c_void_p),
                ("comms", c_char_p), ("pids", c_char_p), ("tids", c_char_p), ("cpus", c_char_p),
                ("dsos", c_char_p), ("symbols", c_char_p), ("address_range", c_uint64),
                ("time", c_char_p), ("stop_symbols", c_char_p), ("search", SymbolSearch),
                ("itrace", POINTER(c_char_p)), ("itrace_count", c_size_t),
                ("perf_config", c_char_p)]


class Samples(Structure):
    _fields_ = [("struct_size", c_size_t), ("count", c_size_t), ("first", c_uint64),
                ("time", c_void_p), ("weight", c_void_p), ("event", c_void_p),
                ("thread", c_void_p), ("stack", c_void_p), ("cpu", c_void_p),
                ("columns", c_void_p * len(COLUMNS))]


class ProfileThread(Structure):
    _fields_ = [("pid", c_uint32), ("tid", c_uint32), ("comm", c_char_p), ("machine", c_uint32),
                ("reserved", c_uint32), ("samples", c_uint64), ("first", c_uint64),
                ("last", c_uint64)]


class ProfileStack(Structure):
    _fields_ = [("frame", c_uint32), ("parent", c_uint32), ("depth", c_uint32),
                ("reserved", c_uint32), ("hash", c_uint64)]


class ProfileEvent(Structure):
    _fields_ = [("name", c_char_p), ("type", c_uint32), ("reserved", c_uint32),
                ("config", c_uint64), ("sample_type", c_uint64), ("samples", c_uint64),
                ("weight", c_uint64)]


class ProfileObject(Structure):
    _fields_ = [("name", c_char_p), ("path", c_char_p), ("build_id", POINTER(c_uint8)),
                ("build_id_size", c_uint32), ("is_kernel", c_uint32), ("hash", c_uint64)]


class ProfileFunction(Structure):
    _fields_ = [("name", c_char_p), ("name_length", c_uint32), ("object", c_uint32),
                ("flags", c_uint32), ("reserved", c_uint32), ("address", c_uint64),
                ("size", c_uint64), ("hash", c_uint64)]


class ProfileFrame(Structure):
    _fields_ = [("function", c_uint32), ("line", c_uint32), ("file", c_char_p),
                ("address", c_uint64), ("hash", c_uint64)]


class Query(Structure):
    _fields_ = [("struct_size", c_size_t), ("flags", c_uint32), ("key", c_uint32),
                ("event", c_uint32), ("focus", c_uint32), ("from_", c_uint64), ("to", c_uint64),
                ("threads", POINTER(c_uint32)), ("thread_count", c_size_t)]


class Row(Structure):
    _fields_ = [("key", c_uint32), ("reserved", c_uint32), ("self_count", c_uint64),
                ("self_weight", c_uint64), ("total_count", c_uint64), ("total_weight", c_uint64)]


class Node(Structure):
    _fields_ = [("parent", c_uint32), ("key", c_uint32), ("self_count", c_uint64),
                ("self_weight", c_uint64), ("total_count", c_uint64), ("total_weight", c_uint64)]


class Change(Structure):
    _fields_ = [("before", Row), ("after", Row)]


class ExportOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("flags", c_uint32), ("group", c_uint32),
                ("detail", c_int32), ("reserved", c_uint32), ("events", c_char_p),
                ("profile", POINTER(ProfileOptions)), ("table", TABLE_FN)]


class PageOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("form", c_uint32), ("flags", c_uint32),
                ("title", c_char_p), ("before", c_void_p), ("warnings", POINTER(c_char_p)),
                ("warning_count", c_size_t), ("max_samples", c_uint64)]


class ArrowArrayStream(Structure):
    pass


RELEASE_FN = CFUNCTYPE(None, POINTER(ArrowArrayStream))
ArrowArrayStream._fields_ = [("get_schema", c_void_p), ("get_next", c_void_p),
                             ("get_last_error", c_void_p), ("release", c_void_p),
                             ("private_data", c_void_p)]

# Names in C, for the test that compares them.
STRUCTURES = {
    "perfdata_issue": Issue, "perfdata_options": Options, "perfdata_symbol_search": SymbolSearch,
    "perfdata_build_id": BuildId, "perfdata_cursor_options": CursorOptions,
    "perfdata_identity": Identity, "perfdata_value": Value,
    "perfdata_tracepoint_field": TracepointField, "perfdata_trace_facts": TraceFacts,
    "perfdata_thread": Thread, "perfdata_location": Location, "perfdata_sample_row": SampleRow,
    "perfdata_sample_batch": SampleBatch,
    "perfdata_profile_options": ProfileOptions, "perfdata_profile_event": ProfileEvent,
    "perfdata_samples": Samples, "perfdata_profile_thread": ProfileThread,
    "perfdata_profile_stack": ProfileStack,
    "perfdata_profile_object": ProfileObject, "perfdata_profile_function": ProfileFunction,
    "perfdata_profile_frame": ProfileFrame, "perfdata_query": Query, "perfdata_row": Row,
    "perfdata_node": Node, "perfdata_change": Change, "perfdata_export_options": ExportOptions,
    "perfdata_page_options": PageOptions, "ArrowArrayStream": ArrowArrayStream,
}

# ---- functions: (result, arguments...) ----

_status = c_int
_p = c_void_p
_out = POINTER(c_void_p)
_FUNCTIONS = {
    "status_text": (c_char_p, c_int),
    "issue_name": (c_char_p, c_int32),
    "recording_open": (_status, c_char_p, POINTER(Options), _out),
    "recording_open_memory": (_status, c_void_p, c_size_t, POINTER(Options), _out),
    "recording_close": (None, _p),
    "recording_error": (c_char_p, _p, POINTER(c_int64)),
    "recording_version": (c_uint32, _p),
    "recording_form": (c_uint32, _p),
    "recording_is_big_endian": (c_int, _p),
    "recording_is_unfinished": (c_int, _p),
    "recording_is_truncated": (c_int, _p),
    "recording_event_count": (c_size_t, _p),
    "recording_event": (_p, _p, c_size_t),
    "recording_build_id_count": (c_size_t, _p),
    "recording_build_id": (_status, _p, c_size_t, POINTER(BuildId)),
    "event_name": (c_char_p, _p),
    "event_index": (c_size_t, _p),
    "event_type": (c_uint32, _p),
    "event_config": (c_uint64, _p),
    "event_attr": (_status, _p, c_char_p, POINTER(c_uint64)),
    "event_attr_bytes": (None, _p, c_void_p, c_size_t),
    "event_ids": (POINTER(c_uint64), _p, POINTER(c_size_t)),
    "header_print": (_status, _p, c_uint32, WRITE_FN, c_void_p),
    "cursor_open": (_status, _p, POINTER(CursorOptions), _out),
    "cursor_next": (c_int, _p, _out),
    "cursor_next_samples": (c_int, _p, POINTER(SampleBatch)),
    "cursor_choose": (c_void_p, _p, c_size_t),
    "cursor_trace_errors": (c_uint64, _p),
    "cursor_close": (None, _p),
    "record_type": (c_uint32, _p),
    "record_name": (c_char_p, _p),
    "record_misc": (c_uint16, _p),
    "record_offset": (c_uint64, _p),
    "record_number": (c_uint64, _p),
    "record_time": (c_uint64, _p),
    "record_event": (_p, _p),
    "record_bytes": (_p, _p, POINTER(c_size_t)),
    "record_identity": (None, _p, POINTER(Identity)),
    "record_field": (_status, _p, c_char_p, POINTER(Value)),
    "record_field_text": (_status, _p, c_char_p, POINTER(c_char_p)),
    "record_print": (_status, _p, c_uint32, WRITE_FN, c_void_p),
    "record_tracepoint_count": (c_size_t, _p),
    "record_tracepoint_at": (_status, _p, c_size_t, POINTER(TracepointField)),
    "record_tracepoint_text": (_status, _p, c_char_p, POINTER(c_char_p)),
    "record_sample": (_status, _p, _out),
    "record_sample_row": (_status, _p, c_void_p, c_void_p, c_size_t),
    "record_sample_text": (_status, _p, c_uint32, POINTER(c_char_p)),
    "record_thread": (_status, _p, POINTER(Thread)),
    "record_resolve": (_status, _p, c_uint8, c_uint64, POINTER(Location)),
    "record_trace_facts": (_status, _p, POINTER(TraceFacts)),
    "sample_branch_count": (c_size_t, _p),
    "sample_branch": (_status, _p, c_size_t, POINTER(c_uint64), POINTER(c_uint64),
                      POINTER(c_uint64)),
    "sample_insn": (_status, _p, POINTER(c_uint64), POINTER(c_void_p), POINTER(c_size_t)),
    "record_source": (_status, _p, c_uint8, c_uint64, POINTER(Source)),
    "sample_raw": (_p, _p, POINTER(c_size_t)),
    "profile_build": (_status, _p, POINTER(ProfileOptions), _out),
    "profile_free": (None, _p),
    "profile_sample_count": (c_uint64, _p),
    "profile_trace_errors": (c_uint64, _p),
    "profile_times": (_status, _p, POINTER(c_uint64), POINTER(c_uint64)),
    "profile_event_count": (c_uint32, _p),
    "profile_event": (POINTER(ProfileEvent), _p, c_uint32),
    "profile_thread_count": (c_uint32, _p),
    "profile_thread": (POINTER(ProfileThread), _p, c_uint32),
    "profile_stack_count": (c_uint32, _p),
    "profile_stack_frames": (c_uint64, _p, _p, c_size_t, _p, _p, c_uint64),
    "profile_samples": (_status, _p, POINTER(Samples)),
    "profile_function_count": (c_uint32, _p),
    "profile_function": (POINTER(ProfileFunction), _p, c_uint32),
    "profile_frame": (POINTER(ProfileFrame), _p, c_uint32),
    "profile_frame_columns": (c_size_t, _p, c_uint32, c_size_t, _p, _p, _p, _p),
    "profile_object": (POINTER(ProfileObject), _p, c_uint32),
    "profile_rows": (_status, _p, POINTER(Query), POINTER(POINTER(Row)), POINTER(c_size_t)),
    "profile_tree": (_status, _p, POINTER(Query), POINTER(POINTER(Node)), POINTER(c_size_t)),
    "profile_compare": (_status, _p, POINTER(Query), _p, POINTER(Query), POINTER(POINTER(Change)),
                        POINTER(c_size_t)),
    "rows_free": (None, _p),
    "rows_stream": (_status, _p, POINTER(Query), _p),
    "profile_export": (_status, _p, c_char_p, POINTER(ExportOptions), WRITE_FN, c_void_p, c_char_p,
                       c_size_t),
    "export_run": (_status, _p, c_char_p, POINTER(ExportOptions), WRITE_FN, c_void_p, c_void_p),
    "export_file": (_status, _p, c_char_p, POINTER(ExportOptions), c_char_p, c_void_p),
    "export_format": (c_char_p, c_size_t, POINTER(c_char_p), POINTER(c_uint32)),
    "page_file": (_status, _p, _p, POINTER(PageOptions), c_char_p),
}
for _table in ("samples", "stacks", "functions", "frames", "objects", "threads", "events",
               "mappings", "switches", "sums"):
    _FUNCTIONS[_table + "_stream"] = (_status, _p, c_uint32, _p)

for _name, (_result, *_arguments) in _FUNCTIONS.items():
    _function = getattr(lib, "perfdata_" + _name)
    _function.restype = _result
    _function.argtypes = _arguments


def text(value: bytes | None) -> str:
    """A text of the library; bytes that are no UTF-8 stay what they are, as surrogates
    (os.fsencode() brings them back)."""
    return (value or b"").decode("utf-8", "surrogateescape")


class Made(dict):
    """Things by number, each made when it is first asked for."""

    def __init__(self, make: Callable[[int], Any]):
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> Any:
        made = self[number] = self._make(number)
        return made


@contextmanager
def collector_paused() -> Iterator[None]:
    """While many objects are made that stay and have no cycles, Python's collector of cycles would
    walk over all of them again and again, which took half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def encode(value: str | bytes | os.PathLike | None) -> bytes | None:
    """A text for the library."""
    return None if value is None else os.fsencode(value)


def strings(values: list[str]) -> ctypes.Array:
    return (c_char_p * len(values))(*[os.fsencode(value) for value in values])


def profile_options(recording: Any, *, callchain: bool, inline: bool, demangle: bool,
                    no_itrace: bool, max_stack: int, itrace: Iterable[str] | str | None,
                    **texts: str | None) -> ProfileOptions:
    """What a recording is read by: which samples, whose names, how deep."""
    options = ProfileOptions(struct_size=ctypes.sizeof(ProfileOptions), max_stack=max_stack,
                             threads=recording._threads, search=recording._search,
                             flags=(not callchain) << 4 | (not inline) << 5
                             | (not demangle) << 6 | no_itrace << 10)
    for name, value in texts.items():
        setattr(options, name, encode(value))
    options.perf_config = encode(os.environ.get("PERF_CONFIG"))
    given = [itrace] if isinstance(itrace, str) else list(itrace or ())
    if given:
        options.itrace = strings(given)
        options.itrace_count = len(given)
    return options


def hex_id(pointer: "ctypes._Pointer[c_ubyte]", size: int) -> str:
    return bytes(pointer[:size]).hex() if size else ""
