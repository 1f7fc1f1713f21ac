# SPDX-License-Identifier: MIT
"""The samples of a profile one after the other, as Python objects.

What many samples share is made once: a thread, an event, and the frames of each stack that differs.
A sample is then one tuple, made of columns without a line of Python being run for it.
"""
from __future__ import annotations

import ctypes
from array import array
from collections import deque
from itertools import chain, filterfalse, repeat
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple

from . import _library as c
from ._library import collector_paused, lib, text
from .errors import failure

if TYPE_CHECKING:
    from .profile import Profile

_AT_ONCE = 16384  # samples whose columns are turned into Python's numbers together


class ProfileFrame(NamedTuple):
    """A place in a program, as far as the profile tells frames apart."""

    symbol: str | None  # None: unknown
    object: str | None  # as `report` prints it; None: the address was in no map
    path: str | None  # of the object, as far as it is known
    address: int  # in the object's file, of the kernel in memory; 0 unless detail is "address"
    symbol_start: int  # as `address`; 0: unknown, or put into another function
    file: str | None  # of the source; None: unknown, or not asked for
    line: int  # 0: unknown, or not asked for
    kernel: bool
    inlined: bool  # it was put into the function of the next frame


class ProfileThread(NamedTuple):
    """A thread under one name."""

    pid: int | None  # None: unknown
    tid: int | None
    comm: str


class ProfileSample(NamedTuple):
    """A sample. Samples of one stack have one tuple of frames, of one thread one thread."""

    time: int | None  # ns of the recording's clock; None: not recorded
    cpu: int | None  # None: not recorded
    event: str  # as perf names it
    thread: ProfileThread
    period: int  # how many events it stands for
    frames: tuple[ProfileFrame, ...]  # callee first
    columns: tuple[int, ...]  # those that the profile was built with, in the order of COLUMNS


def _tuples(kind: type, *columns: Iterable) -> Iterator[Any]:
    """Rows of columns as named tuples. kind._make() would be a call of Python for each."""
    return map(tuple.__new__, repeat(kind), zip(*columns))


class _Functions:
    """What frames have of their functions, column by column, up to the function asked for last."""

    def __init__(self, handle: ctypes.c_void_p):
        self._handle = handle
        self._objects = c.Made(self._object)
        self.names: list[str | None] = []
        self.objects: list[str | None] = []
        self.paths: list[str | None] = []  # of the objects
        self.starts: list[int] = []
        self.kernel: list[bool] = []
        self.inlined: list[bool] = []

    def _object(self, number: int) -> tuple[str | None, str | None]:
        if number == c.NONE:
            return None, None
        known = lib.perfdata_profile_object(self._handle, number).contents
        return text(known.name), text(known.path)

    def grow(self, count: int) -> None:
        for number in range(len(self.names), count):
            function = lib.perfdata_profile_function(self._handle, number).contents
            name, path = self._objects[function.object]
            flags = function.flags
            self.names.append(None if flags & 1 else text(function.name))
            self.objects.append(name)
            self.paths.append(path)
            self.starts.append(function.address)
            self.kernel.append(flags & 2 != 0)
            self.inlined.append(flags & 4 != 0)


class _Frames:
    """Frames of a profile's stacks. The profile numbers frames as samples come, so that the first
    samples need the first frames."""

    def __init__(self, handle: ctypes.c_void_p):
        self._handle = handle
        self._functions = _Functions(handle)
        self._files = c.Made(lambda at: text(ctypes.string_at(at)))  # by where the text lies
        self._files[0] = None
        self._frames: list[ProfileFrame] = []
        # By number, of those stacks that samples had so far.
        self.stacks: list[tuple[ProfileFrame, ...] | None] = \
            [None] * lib.perfdata_profile_stack_count(handle)

    def _grow(self, count: int) -> None:
        """Makes all frames below a number."""
        first, known = len(self._frames), self._functions
        for at in range(first, count, _AT_ONCE):
            room = min(_AT_ONCE, count - at)
            columns = [array(kind, bytes(size * room)) for kind, size in
                       (("I", 4), ("I", 4), ("Q", 8), ("Q", 8))]
            lib.perfdata_profile_frame_columns(self._handle, at, room,
                                               *(column.buffer_info()[0] for column in columns))
            of, lines, addresses, files = (column.tolist() for column in columns)
            known.grow(max(of) + 1)
            self._frames += _tuples(
                ProfileFrame, map(known.names.__getitem__, of), map(known.objects.__getitem__, of),
                map(known.paths.__getitem__, of), addresses, map(known.starts.__getitem__, of),
                map(self._files.__getitem__, files) if any(files) else repeat(None), lines,
                map(known.kernel.__getitem__, of), map(known.inlined.__getitem__, of))

    def make(self, numbers: Iterable[int]) -> None:
        """Makes those stacks of a batch that are not yet there."""
        new = array("I", dict.fromkeys(filterfalse(self.stacks.__getitem__, numbers)))
        if not new:
            return
        count, room = len(new), 32 * len(new)
        ends, frames = array("Q", bytes(8 * count)), array("I", bytes(4 * room))
        given = (self._handle, new.buffer_info()[0], count, ends.buffer_info()[0])
        need = lib.perfdata_profile_stack_frames(*given, frames.buffer_info()[0], room)
        if need > room:
            frames = array("I", bytes(4 * need))
            lib.perfdata_profile_stack_frames(*given, frames.buffer_info()[0], need)
        of = frames[:need].tolist()
        self._grow(max(of) + 1)
        made = tuple(map(self._frames.__getitem__, of))  # a slice of a tuple is a tuple
        stacks = map(made.__getitem__, map(slice, chain((0,), ends), ends))
        deque(map(self.stacks.__setitem__, new, stacks), maxlen=0)  # runs to its end, keeps nothing


def _thread(handle: ctypes.c_void_p, number: int) -> ProfileThread:
    thread = lib.perfdata_profile_thread(handle, number).contents
    pid, tid = (value if value != c.NONE else None for value in (thread.pid, thread.tid))
    return ProfileThread(pid, tid, text(thread.comm))


def _view(pointer: Any, kind: Any, count: int) -> memoryview:
    """A column as it lies in the profile."""
    at = ctypes.cast(pointer, ctypes.c_void_p).value
    return memoryview((kind * count).from_address(at)).cast("B").cast(
        "Q" if kind is ctypes.c_uint64 else "I")


def _or_none(numbers: list[int], none: int) -> list[int | None]:
    """With None in the place of the number that says so."""
    return [number if number != none else None for number in numbers] if none in numbers \
        else numbers


def iterate(profile: "Profile") -> Iterator[ProfileSample]:
    """All samples of a profile that keeps them, in the order of delivery."""
    handle = profile._handle
    out = c.Samples(struct_size=ctypes.sizeof(c.Samples))
    status = lib.perfdata_profile_samples(handle, ctypes.byref(out))
    if status < 0:
        raise failure(status, "the profile was built without samples")
    return _iterate(profile, out)


def _iterate(profile: "Profile", out: c.Samples) -> Iterator[ProfileSample]:
    handle, count = profile._handle, out.count
    if not count:
        return
    frames = _Frames(handle)
    threads = c.Made(lambda number: _thread(handle, number))
    events = c.Made(lambda number: text(lib.perfdata_profile_event(handle, number).contents.name))
    words, halves = ctypes.c_uint64, ctypes.c_uint32
    time, weight = _view(out.time, words, count), _view(out.weight, words, count)
    cpu, event = _view(out.cpu, halves, count), _view(out.event, halves, count)
    thread, stack = _view(out.thread, halves, count), _view(out.stack, halves, count)
    asked = [_view(column, words, count) for column in out.columns if column]
    for at in range(0, count, _AT_ONCE):
        part = slice(at, at + _AT_ONCE)
        stacks = stack[part].tolist()
        with collector_paused():
            frames.make(stacks)
        columns: Iterable = zip(*(column[part].tolist() for column in asked)) if asked \
            else repeat(())
        yield from _tuples(
            ProfileSample, _or_none(time[part].tolist(), c.NO_TIME),
            _or_none(cpu[part].tolist(), c.NONE), map(events.__getitem__, event[part].tolist()),
            map(threads.__getitem__, thread[part].tolist()), weight[part].tolist(),
            map(frames.stacks.__getitem__, stacks), columns)
