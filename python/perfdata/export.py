# SPDX-License-Identifier: MIT
"""Profiles and recordings in the forms of other tools."""
from __future__ import annotations

import ctypes
import os
import tempfile
from ctypes import byref
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

from . import _library as c
from ._library import lib, text
from .errors import failure

if TYPE_CHECKING:
    from .profile import Profile
    from .recording import Recording

_GROUPS = {"comm": 0, "process": 1, "thread": 2, None: 3}
_DETAILS = {"": -1, "function": 0, "line": 1, "address": 2}


class Format(NamedTuple):
    """A form that export() writes."""

    name: str
    about: str
    binary: bool
    tables: bool  # several files
    samples: bool  # shows samples one by one
    folder: bool  # files that mean nothing without each other: export() needs a path


def formats() -> list[Format]:
    """What export() can write.

    >>> import perfdata
    >>> {"folded", "pprof", "parquet"} <= {form.name for form in perfdata.formats()}
    True
    """
    found, about, flags = [], ctypes.c_char_p(), ctypes.c_uint32()
    while True:
        name = lib.perfdata_export_format(len(found), byref(about), byref(flags))
        if name is None:
            return found
        found.append(Format(text(name), text(about.value), bool(flags.value & 1),
                            bool(flags.value & 2), bool(flags.value & 4),
                            bool(flags.value & 16)))


def _options(count: bool, group: str | None, detail: str,
             events: "Iterable[str] | str | None") -> c.ExportOptions:
    if group not in _GROUPS:
        raise failure(-1, f"group is comm, process, thread or None, not {group!r}")
    if detail not in _DETAILS:
        raise failure(-1, f"detail is function, line, address or '', not {detail!r}")
    names = events if events is None or isinstance(events, str) else ",".join(events)
    return c.ExportOptions(struct_size=ctypes.sizeof(c.ExportOptions), flags=int(count),
                           group=_GROUPS[group], detail=_DETAILS[detail], events=c.encode(names))


class _Sink:
    """Takes what the library writes; an exception of the receiver stops it and is raised again."""

    def __init__(self, put: Any):
        self.error: BaseException | None = None

        def write(_: Any, data: Any, size: int) -> int:
            try:
                put(ctypes.string_at(data, size))
                return 0
            except BaseException as error:  # it must not unwind through C
                self.error = error
                return 1

        self.call = c.WRITE_FN(write)

    def check(self, status: int, message: str) -> None:
        if self.error is not None:
            raise self.error
        if status < 0:
            raise failure(status, message or None)


def export_recording(recording: "Recording", format: str, path: "str | os.PathLike | None", *,
                     count: bool = False, group: str | None = "comm", detail: str = "",
                     events: "Iterable[str] | str | None" = None, comms: str | None = None,
                     pids: str | None = None, tids: str | None = None, cpus: str | None = None,
                     dsos: str | None = None, symbols: str | None = None, time: str | None = None,
                     stop_symbols: str | None = None, itrace: "Iterable[str] | str | None" = None,
                     callchain: bool = True, inline: bool = True, demangle: bool = True,
                     max_stack: int = 0, no_itrace: bool = False) -> bytes | None:
    recording._check_open()
    options = _options(count, group, detail, events)
    profile = c.profile_options(recording, callchain=callchain, inline=inline, demangle=demangle,
                                no_itrace=no_itrace, max_stack=max_stack, itrace=itrace,
                                comms=comms, pids=pids, tids=tids, cpus=cpus, dsos=dsos,
                                symbols=symbols, time=time, stop_symbols=stop_symbols)
    options.profile = ctypes.pointer(profile)
    if path is not None:
        recording._check(lib.perfdata_export_file(recording._handle, format.encode(),
                                                  byref(options), os.fsencode(path), None))
        return None
    parts: list[bytes] = []
    sink = _Sink(parts.append)
    status = lib.perfdata_export_run(recording._handle, format.encode(), byref(options), sink.call,
                                     None, None)
    sink.check(0, "")
    recording._check(status)
    return b"".join(parts)


def export_profile(profile: "Profile", format: str, path: "str | os.PathLike | None", *,
                   count: bool = False, group: str | None = "comm",
                   events: "Iterable[str] | str | None" = None) -> bytes | None:
    options = _options(count, group, "", events)
    error = ctypes.create_string_buffer(512)
    if path is not None and any(form.name == format and form.tables for form in formats()):
        return _export_tables(profile, format, path, options, error)
    parts: list[bytes] = []
    sink = _Sink(parts.append)
    status = lib.perfdata_profile_export(profile._handle, format.encode(), byref(options),
                                         sink.call, None, error, len(error))
    sink.check(status, text(error.value))
    if path is None:
        return b"".join(parts)
    replace_file(os.fspath(path), parts)
    return None


def replace_file(path: str, parts: list[bytes]) -> None:
    """Beside its name first, so that nobody meets half of it."""
    handle, beside = tempfile.mkstemp(prefix=".perfdata-", dir=os.path.dirname(path) or ".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _export_tables(profile: "Profile", format: str, path: "str | os.PathLike",
                   options: c.ExportOptions, error: ctypes.Array) -> None:
    tables: list[tuple[str, list[bytes]]] = []
    options.table = c.TABLE_FN(lambda _, name: tables.append((text(name), [])) or 0)
    sink = _Sink(lambda data: tables[-1][1].append(data))
    status = lib.perfdata_profile_export(profile._handle, format.encode(), byref(options),
                                         sink.call, None, error, len(error))
    sink.check(status, text(error.value))
    os.makedirs(path, exist_ok=True)
    for name, parts in tables:
        replace_file(os.path.join(path, f"{name}.{format}"), parts)


def write_page(profile: "Profile", path: "str | os.PathLike", title: str | None, svg: bool,
               before: "Profile | None", recording: "Recording | None") -> None:
    if recording is None:
        raise failure(-1, "recording is needed: it keeps the text of a failure")
    recording._check_open()
    options = c.PageOptions(struct_size=ctypes.sizeof(c.PageOptions), form=int(svg),
                            title=c.encode(title), before=before._handle if before else None)
    recording._check(lib.perfdata_page_file(recording._handle, profile._handle, byref(options),
                                            os.fsencode(path)))
