# SPDX-License-Identifier: MIT
"""An open recording: its header, and the ways to read it.

Times are nanoseconds of the recording's clock, addresses and sizes bytes, periods how many events a
sample stands for.
"""
from __future__ import annotations

import ctypes
import json
import os
import weakref
from ctypes import byref
from typing import Any, Iterator, NamedTuple, Sequence

from . import _library as c
from ._library import lib, text
from .errors import Error, Issue, failure
from .profile import Profile
from .records import Event, Record, Sample, _Cursor


class BuildId(NamedTuple):
    """An entry of the recording's table of build-ids."""

    path: str
    build_id: str  # hexadecimal
    kernel: bool
    pid: int | None  # of a guest's hypervisor; None: the host


def symbol_search(symfs=None, kallsyms=None, vmlinux=None, jitdump=None, build_id_dir=None,
                  home: "str | os.PathLike | None" = "~", guest_kallsyms=None, guest_modules=None,
                  guest_vmlinux=None, guest_mount=None, index_dir=None) -> c.SymbolSearch:
    """Where symbols are looked for, as in the program's options; `home` None: no build-id cache of
    the user's."""
    if home == "~":
        home = os.environ.get("HOME")
    given = dict(symfs=symfs, kallsyms=kallsyms, vmlinux=vmlinux, jitdump=jitdump,
                 build_id_dir=build_id_dir, home=home, guest_kallsyms=guest_kallsyms,
                 guest_modules=guest_modules, guest_vmlinux=guest_vmlinux, guest_mount=guest_mount,
                 index_dir=index_dir)
    search = c.SymbolSearch()
    for name, value in given.items():
        setattr(search, name, c.encode(value))
    return search


class Recording:
    """A recording; open one with perfdata.open(). It closes itself at the end of a `with`, or with
    close().

    Attributes:
        issues: what was wrong so far, and did not stop reading.
    """

    def __init__(self, source: "str | os.PathLike | bytes", *, strict: bool = False,
                 threads: int = 0, max_memory: int = 0, like_perf: bool = False, **search: Any):
        self.issues: list[Issue] = []
        self._cursors: weakref.WeakSet[_Cursor] = weakref.WeakSet()
        self._handle = ctypes.c_void_p()
        self._search = symbol_search(**search)
        self._threads = threads
        # No reference to self: a recording that is dropped closes itself at once.
        issues = self.issues

        def on_issue(_: Any, at: Any) -> None:
            issue = at.contents
            issues.append(Issue(text(lib.perfdata_issue_name(issue.kind)), text(issue.text),
                                text(issue.path), issue.offset if issue.offset >= 0 else None))

        self._on_issue = c.ISSUE_FN(on_issue)
        options = c.Options(struct_size=ctypes.sizeof(c.Options), on_issue=self._on_issue,
                            max_memory=max_memory, threads=threads,
                            flags=(1 if strict else 0) | (4 if like_perf else 0))
        if isinstance(source, bytes):
            self._bytes = source  # not copied: it lives as long as the recording
            self.path = "<bytes>"
            status = lib.perfdata_recording_open_memory(source, len(source), byref(options),
                                                        byref(self._handle))
        else:
            self.path = os.fspath(source)
            status = lib.perfdata_recording_open(os.fsencode(source), byref(options),
                                                 byref(self._handle))
        if status < 0:
            error = self._failure(status)
            self.close()
            raise error

    # ---- life ----

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def close(self) -> None:
        """Ends it; iterations that are under way end, too. Profiles stay."""
        for cursor in list(self._cursors):
            cursor.close()
        if self._handle:
            lib.perfdata_recording_close(self._handle)
            self._handle = ctypes.c_void_p()

    def _check_open(self) -> None:
        if not self._handle:
            raise failure(-1, "the recording is closed")

    def _failure(self, status: int) -> Exception:
        offset = ctypes.c_int64(-1)
        message = ""
        if self._handle:
            message = text(lib.perfdata_recording_error(self._handle, byref(offset)))
        return failure(status, message or None, offset.value)

    def _check(self, status: int) -> None:
        if status < 0:
            raise self._failure(status)

    # ---- what it is ----

    @property
    def events(self) -> list[Event]:
        """Its events, in the order of the file."""
        self._check_open()
        count = lib.perfdata_recording_event_count(self._handle)
        return [Event(self, lib.perfdata_recording_event(self._handle, index))
                for index in range(count)]

    @property
    def header(self) -> dict[str, Any]:
        """All that the header says, as `perfdata header --json` has it: features by name in
        ["features"]."""
        self._check_open()
        parts: list[bytes] = []
        write = c.WRITE_FN(lambda _, data, size: parts.append(ctypes.string_at(data, size)) or 0)
        self._check(lib.perfdata_header_print(self._handle, 2, write, None))
        return json.loads(b"".join(parts))

    @property
    def build_ids(self) -> list[BuildId]:
        """The table of build-ids in the header."""
        self._check_open()
        out, table = c.BuildId(struct_size=ctypes.sizeof(c.BuildId)), []
        for index in range(lib.perfdata_recording_build_id_count(self._handle)):
            self._check(lib.perfdata_recording_build_id(self._handle, index, byref(out)))
            table.append(BuildId(text(out.path), c.hex_id(out.id, out.id_size),
                                 out.misc & 7 in (1, 4), out.pid if out.pid != -1 else None))
        return table

    # ---- record by record ----

    def _cursor(self, order: str, resolve: bool, itrace: "Sequence[str] | str | None",
                demangle: bool, force: bool = False) -> _Cursor:
        if order not in ("delivery", "file"):
            raise failure(-1, f"order is 'delivery' or 'file', not {order!r}")
        options = c.CursorOptions(struct_size=ctypes.sizeof(c.CursorOptions), order=order == "file",
                                  flags=(1 if resolve else 0) | (0 if demangle else 2)
                                  | (8 if force else 0), search=self._search)
        given = [itrace] if isinstance(itrace, str) else list(itrace or ())
        if given:
            options.itrace = c.strings(given)
            options.itrace_count = len(given)
        options.perf_config = c.encode(os.environ.get("PERF_CONFIG"))
        cursor = _Cursor(self, options)
        cursor.options = options  # its texts are borrowed
        return cursor

    def __iter__(self) -> Iterator[Record]:
        return self.records()

    def records(self, order: str = "delivery", *, resolve: bool = False,
                itrace: "Sequence[str] | str | None" = None) -> Iterator[Record]:
        """All records, sorted by time as perf shows them, or in the order of the file ("file").

        Args:
            resolve: threads, maps and symbols can be asked for.
            itrace: what is made of AUX traces, values of --itrace ("b", "i100us"); None: nothing.
                Wants resolve.
        """
        return self._cursor(order, resolve or itrace is not None, itrace, True).records()

    def iter_samples(self, *, frames: bool = True, itrace: "Sequence[str] | str | None" = None,
                     max_stack: int = 127, demangle: bool = True) -> Iterator[Sample]:
        """All samples in perf's order, each with its thread's name and, with `frames`, its call
        chain resolved.

        >>> import perfdata
        >>> with perfdata.open(demo("spin.data"), symfs=demo("symfs")) as recording:
        ...     sample = next(recording.iter_samples())
        ...     print(sample.comm, sample.time, sample.period, sample.frames[0].symbol)
        spin 1593416820245 1003009 gamma_leaf
        """
        if not 0 < max_stack <= 65536:
            raise failure(-1, "max_stack is 1 to 65536")
        return self._cursor("delivery", True, itrace, demangle).samples(max_stack if frames else 0)

    # ---- as tables ----

    def profile(self, **options: Any) -> Profile:
        """Reads the recording once into tables; see Profile.build() for the options."""
        return Profile.build(self, **options)

    def samples(self, **options: Any) -> Any:
        """The samples as an Arrow stream: a row each. Options as of profile()."""
        return self.profile(**options).samples()

    def stacks(self, **options: Any) -> Any:
        """The call stacks that differ as an Arrow stream; what samples of each add up to is in
        Profile.sums()."""
        return self.profile(samples=False, **options).stacks()

    def functions(self, **options: Any) -> Any:
        """The functions as an Arrow stream."""
        return self.profile(samples=False, **options).functions()

    # ---- as files ----

    def export(self, format: str, path: "str | os.PathLike | None" = None,
               **options: Any) -> bytes | None:
        """Writes the recording in the form of another tool ("folded", "pprof" ...:
        perfdata.formats()).

        Args:
            path: where to; of forms with several tables a folder. None: the bytes are returned, of
                several tables the first. Forms whose Format.folder is true need a path.
            count: a sample weighs 1, not its period.
            group: what stands above the first function: "comm", "process", "thread", None
                (nothing).
            detail: frames differ by "function", "line", "address"; "": as suits the form.
            events: names of events, those alone.
        Others as of profile().
        """
        from .export import export_recording
        return export_recording(self, format, path, **options)

    def flame(self, path: "str | os.PathLike", *, title: str | None = None, svg: bool = False,
              before: "Profile | None" = None, **options: Any) -> None:
        """Writes a page that shows the recording (HTML, needs no network), or a flame graph as SVG.

        Args:
            before: a profile that it is compared with.
        Others as of profile().
        """
        self.profile(**options).flame(path, title=title, svg=svg, before=before, recording=self)

    def __repr__(self) -> str:
        return f"<perfdata.Recording {self.path!r}>"


def open(path: "str | os.PathLike | bytes", *, strict: bool = False, threads: int = 0,
         max_memory: int = 0, like_perf: bool = False, **search: Any) -> Recording:
    """Opens a recording: a file, pipe stream or directory that `perf record` wrote, or the bytes of
    a file.

    Args:
        strict: the first thing that is wrong raises StrictError; else it goes to Recording.issues.
        threads: workers of profiles and exports; 0: all cores. Results never depend on it.
        max_memory: bytes of records that wait for their order; 0: 1 GiB.
        symfs, kallsyms, vmlinux, jitdump, build_id_dir, home, guest_kallsyms, guest_modules,
        guest_vmlinux, guest_mount:
            where symbols are, as in the program's options.
        index_dir: a folder for indexes of symbols, which make the next reading start quicker, as
            ~/.cache/perfdata is for the program; None: there is none.
    Raises:
        OpenError, FormatError: it cannot be read, or is no recording.

    >>> import perfdata
    >>> with perfdata.open(demo("spin.data")) as recording:
    ...     arch = recording.header["features"]["arch"]["text"]
    ...     print([event.name for event in recording.events], arch)
    ['cpu-clock'] x86_64
    """
    return Recording(path, strict=strict, threads=threads, max_memory=max_memory,
                     like_perf=like_perf, **search)
