# SPDX-License-Identifier: MIT
"""The samples of a profile one after the other, as Python objects.

What many samples share is made once: a thread, an event, and the frames of each stack that differs.
A sample is then one tuple, made of columns without a line of Python being run for it.
"""
from __future__ import annotations

import ctypes
from itertools import repeat
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple

from . import _library as c
from ._library import lib, text
from .errors import failure

if TYPE_CHECKING:
    from .profile import Profile

_new_tuple = tuple.__new__
_AT_ONCE = 4096  # samples whose columns are turned into Python's numbers together


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


class _Made(dict):
    """Things by number, each made when it is first asked for."""

    def __init__(self, make: Callable[[int], Any]):
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> Any:
        made = self[number] = self._make(number)
        return made


class _Frames:
    """Frames of a profile's stacks."""

    def __init__(self, handle: ctypes.c_void_p):
        self._handle = handle
        self._frames = _Made(self._frame)
        self._functions = _Made(self._function)
        self._stacks: dict[int, tuple[ProfileFrame, ...]] = {}

    def _function(self, number: int) -> tuple:
        """What all frames of a function have, in two parts."""
        function = lib.perfdata_profile_function(self._handle, number).contents
        owner = lib.perfdata_profile_object(self._handle, function.object)
        name = text(owner.contents.name) if owner else None
        path = text(owner.contents.path) if owner else None
        return ((None if function.flags & 1 else text(function.name), name, path), function.address,
                (bool(function.flags & 2), bool(function.flags & 4)))

    def _frame(self, number: int) -> ProfileFrame:
        frame = lib.perfdata_profile_frame(self._handle, number).contents
        names, start, flags = self._functions[frame.function]
        file = frame.file
        return _new_tuple(ProfileFrame, (*names, frame.address, start,
                                         text(file) if file is not None else None, frame.line,
                                         *flags))

    def stack(self, number: int) -> tuple[ProfileFrame, ...]:
        """A stack is a frame above the stack of its callers, which others share."""
        at, chain = number, []
        while at != c.NONE:
            known = self._stacks.get(at)
            if known is not None:
                break
            stack = lib.perfdata_profile_stack(self._handle, at).contents
            chain.append(self._frames[stack.frame])
            at = stack.parent
        made = self._stacks[number] = (*chain, *(self._stacks[at] if at != c.NONE else ()))
        return made


def _thread(handle: ctypes.c_void_p, number: int) -> ProfileThread:
    thread = lib.perfdata_profile_thread(handle, number).contents
    pid, tid = (value if value != c.NONE else None for value in (thread.pid, thread.tid))
    return ProfileThread(pid, tid, text(thread.comm))


def _view(pointer: Any, kind: Any, count: int) -> memoryview:
    """A column as it lies in the profile."""
    at = ctypes.cast(pointer, ctypes.c_void_p).value
    return memoryview((kind * count).from_address(at)).cast("B").cast(
        "Q" if kind is ctypes.c_uint64 else "I")


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
    # Numbers and what they stand for; of a number that says "none" None, of others themselves.
    of_time, of_cpu = {c.NO_TIME: None}.get, {c.NONE: None}.get
    stacks = _Made(frames.stack)
    threads = _Made(lambda number: _thread(handle, number))
    events = _Made(lambda number: text(lib.perfdata_profile_event(handle, number).contents.name))
    words, halves = ctypes.c_uint64, ctypes.c_uint32
    time, weight = _view(out.time, words, count), _view(out.weight, words, count)
    cpu, event = _view(out.cpu, halves, count), _view(out.event, halves, count)
    thread, stack = _view(out.thread, halves, count), _view(out.stack, halves, count)
    asked = [_view(column, words, count) for column in out.columns if column]
    for at in range(0, count, _AT_ONCE):
        part = slice(at, at + _AT_ONCE)
        times, cpus = time[part].tolist(), cpu[part].tolist()
        columns: Iterable = zip(*(column[part].tolist() for column in asked)) if asked \
            else repeat(())
        yield from map(ProfileSample._make, zip(
            map(of_time, times, times), map(of_cpu, cpus, cpus),
            map(events.__getitem__, event[part].tolist()),
            map(threads.__getitem__, thread[part].tolist()), weight[part].tolist(),
            map(stacks.__getitem__, stack[part].tolist()), columns))
