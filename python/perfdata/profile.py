# SPDX-License-Identifier: MIT
"""A recording as tables: samples, stacks, functions; and what they add up to.

Tables are objects with __arrow_c_stream__, which pyarrow.table(), polars.from_arrow(), pandas (from
2.2 by pyarrow) and DuckDB take. Columns of samples are not copied on the way, and the profile lives
as long as they do.
"""
from __future__ import annotations

import ctypes
import os
from ctypes import byref
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Sequence

from . import _library as c
from ._library import lib, text
from .arrow import Table
from .errors import failure
from .rows import ProfileSample, iterate

if TYPE_CHECKING:
    from .recording import Recording

_DETAILS = {"function": 0, "line": 1, "address": 2}
_KEYS = {"function": 0, "frame": 1, "object": 2}


class Row(NamedTuple):
    """What a function (frame, object) takes."""

    key: int | None  # its number in its table; None: what was in no map
    name: str
    object: str | None
    self_samples: int  # samples that were there
    self_period: int  # their periods
    total_samples: int  # samples with it anywhere in their stack, each counted once
    total_period: int


class Node(NamedTuple):
    """A node of a call tree."""

    parent: int | None  # place of the node above in the list, smaller than its own
    key: int | None
    name: str
    self_samples: int
    self_period: int
    total_samples: int
    total_period: int


class Change(NamedTuple):
    """A function in two profiles; None: it is not in one of them."""

    before: Row | None
    after: Row | None


class Profile:
    """Tables of a recording, complete and never changed: any thread may read it."""

    def __init__(self, handle: ctypes.c_void_p, samples: bool):
        self._handle = handle
        self._has_samples = samples

    @classmethod
    def build(cls, recording: "Recording", *, detail: str = "function", samples: bool = True,
              columns: Iterable[str] = (), sums: bool = True, switches: bool = False,
              lines: bool = False, callchain: bool = True, inline: bool = True,
              demangle: bool = True, max_stack: int = 0, comms: str | None = None,
              pids: str | None = None, tids: str | None = None, cpus: str | None = None,
              dsos: str | None = None, symbols: str | None = None, time: str | None = None,
              stop_symbols: str | None = None, itrace: "Sequence[str] | str | None" = None,
              no_itrace: bool = False) -> "Profile":
        """Reads a recording once.

        Args:
            detail: frames differ by "function", "line" or "address".
            samples: keep each sample; without, what they add up to.
            columns: of samples that not every recording has: "ip", "addr", "data_src", "phys_addr"
                ... (perfdata.COLUMNS).
            sums: what samples of one event, thread and stack add up to.
            switches: keep context switches.
            lines: source lines, also where frames differ by address.
            callchain, inline: without, stacks of one frame, or without functions put into others.
            comms, pids, tids, cpus, dsos, symbols, time: which samples, in the words of `perfdata
                script`.
            itrace: what is made of AUX traces; None: perf's default. no_itrace: nothing.
        """
        if detail not in _DETAILS:
            raise failure(-1, f"detail is one of {', '.join(_DETAILS)}, not {detail!r}")
        wanted = 0
        for column in columns:
            if column not in c.COLUMNS:
                raise failure(-1, f"no such column: {column!r}; there are {', '.join(c.COLUMNS)}")
            wanted |= 1 << c.COLUMNS.index(column)
        options = c.profile_options(recording, callchain=callchain, inline=inline,
                                    demangle=demangle, no_itrace=no_itrace, max_stack=max_stack,
                                    itrace=itrace, comms=comms, pids=pids, tids=tids, cpus=cpus,
                                    dsos=dsos, symbols=symbols, time=time,
                                    stop_symbols=stop_symbols)
        options.flags |= samples << 0 | (not sums) << 1 | switches << 2 | lines << 3
        options.detail, options.columns = _DETAILS[detail], wanted
        handle = ctypes.c_void_p()
        recording._check_open()
        recording._check(lib.perfdata_profile_build(recording._handle, byref(options),
                                                    byref(handle)))
        return cls(handle, bool(samples))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.perfdata_profile_free(self._handle)
            self._handle = None

    # ---- tables ----

    def samples(self, portable: bool = False) -> Table:
        """A row a sample, in order of time.

        time (ns; -1: not recorded), cpu (-1: not recorded), event, thread, stack (numbers: rows of
        those tables), period, and the columns that were asked for. Portable: as `export parquet`
        writes them, with pid, tid, comm, event by name, address and stack_hash, which are the same
        for every recording.

        >>> import perfdata, pyarrow
        >>> table = pyarrow.table(perfdata.open(demo("spin.data")).samples())
        >>> table.num_rows, table.column_names
        (90, ['time', 'cpu', 'event', 'thread', 'stack', 'period'])
        """
        return Table(self, "samples", portable)

    def stacks(self, portable: bool = False) -> Table:
        """A row a stack: stack, hash, parent, frame, depth, functions (numbers, root first)."""
        return Table(self, "stacks", portable)

    def functions(self, portable: bool = False) -> Table:
        """function, hash, name, object, flags (1 unknown, 2 kernel, 4 inlined), address, size
        (bytes)."""
        return Table(self, "functions", portable)

    def frames(self) -> Table:
        """frame, hash, function, file, line, address."""
        return Table(self, "frames")

    def objects(self) -> Table:
        """object, hash, name, path, build_id (hexadecimal), kernel."""
        return Table(self, "objects")

    def threads(self) -> Table:
        """thread, pid, tid, comm, machine, samples, first, last (ns)."""
        return Table(self, "threads")

    def events(self, portable: bool = False) -> Table:
        """event, name, type, config, samples, period."""
        return Table(self, "events", portable)

    def mappings(self, portable: bool = False) -> Table:
        """pid, object, start, end, offset (bytes)."""
        return Table(self, "mappings", portable)

    def switches(self) -> Table:
        """time (ns), cpu, thread, flags (1 leaves, 2 was preempted), other_pid, other_tid."""
        return Table(self, "switches")

    def sums(self) -> Table:
        """event, thread, stack, samples, period: what samples of one of each add up to."""
        return Table(self, "sums")

    # ---- one after the other ----

    def iter_samples(self) -> Iterator[ProfileSample]:
        """The samples as Python objects, in the order of delivery, with their frames: the quickest
        way to look at each of them. Only Recording.iter_samples() tells all that was recorded.

        The innermost frame is where the sample itself was, also where its chain begins elsewhere.
        Frames of a stack are made once, so that `sample.frames` can be a key of a dict.

        >>> import perfdata
        >>> profile = perfdata.open(demo("spin.data"), symfs=demo("symfs")).profile()
        >>> sample = next(profile.iter_samples())
        >>> sample.thread.comm, sample.time, sample.period, sample.frames[0].symbol
        ('spin', 1593416820245, 1003009, 'gamma_leaf')
        """
        return iterate(self)

    # ---- figures ----

    @property
    def sample_count(self) -> int:
        return lib.perfdata_profile_sample_count(self._handle)

    @property
    def trace_errors(self) -> int:
        """Errors that decoding AUX traces met: what ran there is missing."""
        return lib.perfdata_profile_trace_errors(self._handle)

    @property
    def times(self) -> tuple[int, int] | None:
        """Times of the first and the last sample, ns; None: none has one."""
        first, last = ctypes.c_uint64(), ctypes.c_uint64()
        if lib.perfdata_profile_times(self._handle, byref(first), byref(last)) < 0:
            return None
        return first.value, last.value

    def _query(self, by: str, event: int | None, time: tuple[int, int] | None,
               threads: Iterable[int] | None, outer_self: bool, callers: bool = False,
               focus: int | None = None) -> c.Query:
        if by not in _KEYS:
            raise failure(-1, f"rows are by {', '.join(_KEYS)}, not {by!r}")
        query = c.Query(struct_size=ctypes.sizeof(c.Query), flags=outer_self << 0 | callers << 1,
                        key=_KEYS[by], event=c.NONE if event is None else event,
                        focus=c.NONE if focus is None else focus)
        if time is not None:
            query.from_, query.to = time
        if threads is not None:
            numbers = list(threads)
            query.threads = (ctypes.c_uint32 * max(len(numbers), 1))(*numbers)
            query.thread_count = len(numbers)
        return query

    def _name(self, by: str, key: int) -> tuple[str, str | None]:
        """A key's name, and its object's."""
        if by == "frame":
            key = lib.perfdata_profile_frame(self._handle, key).contents.function
        if by == "object":
            number, name = key, None
        else:
            function = lib.perfdata_profile_function(self._handle, key).contents
            number, name = function.object, text(function.name)
        at = lib.perfdata_profile_object(self._handle, number)
        owner = text(at.contents.name) if at else None
        return (name if name is not None else owner or "[unknown]"), owner

    def _row(self, by: str, row: c.Row) -> Row:
        name, owner = self._name(by, row.key)
        return Row(row.key if row.key != c.NONE else None, name, owner, row.self_count,
                   row.self_weight, row.total_count, row.total_weight)

    def rows(self, by: str = "function", *, event: int | None = None,
             time: tuple[int, int] | None = None, threads: Iterable[int] | None = None,
             outer_self: bool = False) -> list[Row]:
        """What each function ("frame", "object") takes, the greatest own period first.

        Args:
            event: of this event alone, by number.
            time: of samples in this range, ns, both ends included.
            threads: of these alone, by number.
            outer_self: what functions that were put into others took counts for those, as in
                `perfdata report`.

        >>> import perfdata
        >>> top = perfdata.open(demo("spin.data"), symfs=demo("symfs")).profile().rows()[0]
        >>> top.name, top.object, top.self_samples, top.total_samples
        ('gamma_leaf', 'spin', 85, 89)
        """
        query = self._query(by, event, time, threads, outer_self)
        rows, count = ctypes.POINTER(c.Row)(), ctypes.c_size_t()
        status = lib.perfdata_profile_rows(self._handle, byref(query), byref(rows), byref(count))
        if status < 0:
            raise failure(status)
        try:
            return [self._row(by, rows[i]) for i in range(count.value)]
        finally:
            lib.perfdata_rows_free(rows)

    def rows_table(self, by: str = "function", **query: Any) -> Table:
        """The same as an Arrow table: key, name, object, file, line, self_samples, self_period,
        total_samples, total_period."""
        options = dict(event=None, time=None, threads=None, outer_self=False)
        unknown = set(query) - set(options)
        if unknown:
            raise TypeError(f"rows_table() has no argument {unknown.pop()!r}")
        return Table(self, "rows", query=self._query(by, **{**options, **query}))

    def tree(self, by: str = "function", *, callers: bool = False, focus: int | None = None,
             event: int | None = None, time: tuple[int, int] | None = None,
             threads: Iterable[int] | None = None, outer_self: bool = False) -> list[Node]:
        """The call tree, parents before their children; with `callers` from the callee to its
        callers.

        Args:
            focus: only of stacks with this key, from it on.
        """
        query = self._query(by, event, time, threads, outer_self, callers, focus)
        nodes, count = ctypes.POINTER(c.Node)(), ctypes.c_size_t()
        status = lib.perfdata_profile_tree(self._handle, byref(query), byref(nodes), byref(count))
        if status < 0:
            raise failure(status)
        try:
            return [Node(n.parent if n.parent != c.NONE else None,
                         n.key if n.key != c.NONE else None, self._name(by, n.key)[0], n.self_count,
                         n.self_weight, n.total_count, n.total_weight)
                    for n in (nodes[i] for i in range(count.value))]
        finally:
            lib.perfdata_rows_free(nodes)

    def compare(self, before: "Profile", by: str = "function") -> list[Change]:
        """What changed since another profile, joined by names: the greatest change of shares
        first."""
        queries = [self._query(by, None, None, None, False) for _ in range(2)]
        changes, count = ctypes.POINTER(c.Change)(), ctypes.c_size_t()
        status = lib.perfdata_profile_compare(before._handle, byref(queries[0]), self._handle,
                                              byref(queries[1]), byref(changes), byref(count))
        if status < 0:
            raise failure(status)
        try:
            return [Change(before._row(by, change.before) if _is_there(change.before) else None,
                           self._row(by, change.after) if _is_there(change.after) else None)
                    for change in (changes[i] for i in range(count.value))]
        finally:
            lib.perfdata_rows_free(changes)

    # ---- files ----

    def export(self, format: str, path: "str | os.PathLike | None" = None,
               **options: Any) -> bytes | None:
        """Writes the profile in the form of another tool; as Recording.export()."""
        from .export import export_profile
        return export_profile(self, format, path, **options)

    def folded(self, **options: Any) -> dict[str, int]:
        """Stacks as flame graph scripts take them: "comm;main;work" -> period.

        >>> import perfdata
        >>> folded = perfdata.open(demo("spin.data"), symfs=demo("symfs")).profile().folded()
        >>> sum(folded.values())
        90270810
        """
        lines = (self.export("folded", **options)
                 or b"").decode("utf-8", "surrogateescape").split("\n")
        return {stack: int(weight)
                for stack, _, weight in (line.rpartition(" ") for line in lines if line)}

    def flame(self, path: "str | os.PathLike", *, title: str | None = None, svg: bool = False,
              before: "Profile | None" = None, recording: "Recording | None" = None) -> None:
        """Writes a page that shows the profile, or a flame graph as SVG. `recording`: whose header
        the page shows."""
        from .export import write_page
        write_page(self, path, title, svg, before, recording)

    def __repr__(self) -> str:
        return f"<perfdata.Profile of {self.sample_count} samples>"


def _is_there(row: c.Row) -> bool:
    return row.key != c.NONE or row.self_count > 0 or row.total_count > 0
