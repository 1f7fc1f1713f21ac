# SPDX-License-Identifier: MIT
"""What a recording consists of: events, records, samples with their frames, and the walk that reads
them.

Times are nanoseconds of the recording's clock, addresses and sizes bytes, periods how many events a
sample stands for.
"""
from __future__ import annotations

import ctypes
import json
import struct
from ctypes import byref
from itertools import accumulate, repeat
from operator import add
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

from . import _library as c
from ._library import collector_paused, lib, text
from .errors import Error, failure

if TYPE_CHECKING:
    from .recording import Recording

_SAMPLE = 9  # PERF_RECORD_SAMPLE
# What is made together at most, besides what one sample needs: samples, their frames, frames that
# are new.
_AT_ONCE, _NUMBERS_AT_ONCE, _NEW_AT_ONCE = 2048, 16384, 4096
_LOCATION = struct.Struct("@8xQPPQQQQQ8xP5xBH")  # perfdata_location, what a Frame has of it
_BUILD_ID_SIZE = struct.Struct("@88xI")
_ROW = struct.Struct("@NPPP16QIIBBB5x")  # perfdata_sample_row
_ROW_BYTES = struct.Struct(f"{_ROW.size}s")
_ROW_COMM = struct.Struct("@24xP144x")
_ROW_FRAMES = struct.Struct("@164xI8x")


class Frame(tuple):
    """A place in a program."""

    # Fields of perfdata_location (_LOCATION), and behind them what their addresses of texts stand
    # for: the cheapest thing that can be made of each new address of a recording.
    __slots__ = ()

    @property
    def ip(self) -> int:
        """The address as it ran."""
        return self[0]

    @property
    def symbol(self) -> str | None:
        """None: unknown."""
        return self[11][self[2]]

    @property
    def object(self) -> str | None:
        """Path of the program or library, name of the kernel; None: the address was in no map."""
        return self[11][self[1]]

    @property
    def offset(self) -> int:
        """Bytes behind the symbol's begin; 0 without a symbol."""
        return self[5] - self[3] if self[2] else 0

    @property
    def symbol_start(self) -> int:
        """Where the symbol begins, as `address`; 0 without a symbol."""
        return self[3]

    @property
    def symbol_end(self) -> int:
        return self[4]

    @property
    def binding(self) -> int:
        """Of the symbol: 0 local, 1 global, 2 weak, 3 other."""
        return self[10]

    @property
    def address(self) -> int:
        """In the object's file; of the kernel as it ran."""
        return self[5]

    @property
    def map_start(self) -> int:
        """Where the mapping that it lies in begins in memory; 0: it lies in none."""
        return self[6]

    @property
    def map_end(self) -> int:
        return self[7]

    @property
    def build_id(self) -> str:
        """Hexadecimal; "": unknown."""
        return self[11][self[8]] or ""

    @property
    def kernel(self) -> bool:
        return self[9] in b"kg"

    def __str__(self) -> str:
        return f"{self.symbol or '[unknown]'} ({self.object or '[unknown]'})"

    def __repr__(self) -> str:
        return f"<perfdata.Frame 0x{self.ip:x} {self}>"


class TracepointField(NamedTuple):
    """A field of a tracepoint, by the format in the recording."""

    name: str
    type: str  # "int", "char[]"
    common: bool  # one that all tracepoints have
    value: "int | float | str | bytes"
    size: int  # bytes as recorded


class Source(NamedTuple):
    """A line of source."""

    file: str
    line: int
    code: str | None
    """Its text; None: the file is not there."""


class Event:
    """An event of a recording, and its perf_event_attr."""

    def __init__(self, recording: "Recording", handle: int):
        self._recording = recording  # keeps the handle alive
        self._handle = handle
        self.name: str = text(lib.perfdata_event_name(handle))  #: as perf names it
        self.index: int = lib.perfdata_event_index(handle)
        self.type: int = lib.perfdata_event_type(handle)
        self.config: int = lib.perfdata_event_config(handle)

    def attr(self, field: str) -> int:
        """A field of perf_event_attr by the kernel's name: "sample_period", "exclude_kernel"."""
        value = ctypes.c_uint64()
        self._recording._check_open()
        status = lib.perfdata_event_attr(self._handle, field.encode(), byref(value))
        if status < 0:
            raise failure(status, f"perf_event_attr has no field '{field}'")
        return value.value

    def attr_bytes(self, size: int = 128) -> bytes:
        """The whole perf_event_attr in this machine's byte order."""
        self._recording._check_open()
        room = ctypes.create_string_buffer(size)
        lib.perfdata_event_attr_bytes(self._handle, room, size)
        return room.raw

    @property
    def ids(self) -> list[int]:
        """The ids of its instances (CPU x thread)."""
        self._recording._check_open()
        count = ctypes.c_size_t()
        ids = lib.perfdata_event_ids(self._handle, byref(count))
        return ids[: count.value] if count.value else []

    def __repr__(self) -> str:
        return f"<perfdata.Event {self.name!r}>"


class _Current:
    """What is read of the cursor's current record: gone with the next one."""

    __slots__ = ("_cursor", "_record", "_turn")

    def __init__(self, cursor: "_Cursor", record: int):
        self._cursor = cursor
        self._record = record
        self._turn = cursor.turn

    def _handle(self) -> int:
        if self._turn != self._cursor.turn:
            raise Error("the record is gone: only the latest one can be asked for what it has not "
                        "yet given")
        return self._record

    # ---- any record ----

    @property
    def record_type(self) -> int:
        """PERF_RECORD_..., from 64 on the tool's."""
        return lib.perfdata_record_type(self._handle())

    @property
    def name(self) -> str:
        """ "MMAP2"; "UNKNOWN" for a type that is in no table."""
        return text(lib.perfdata_record_name(self._handle()) or b"UNKNOWN")

    @property
    def misc(self) -> int:
        return lib.perfdata_record_misc(self._handle())

    @property
    def offset(self) -> int:
        """Where it begins in the file, bytes."""
        return lib.perfdata_record_offset(self._handle())

    @property
    def number(self) -> int:
        """Its place in the order, from 1."""
        return lib.perfdata_record_number(self._handle())

    @property
    def bytes(self) -> bytes:
        """As recorded, header included, in the recorder's byte order."""
        size = ctypes.c_size_t()
        pointer = lib.perfdata_record_bytes(self._handle(), byref(size))
        return ctypes.string_at(pointer, size.value)

    def field(self, name: str) -> "int | float | str | bytes":
        """A field by its name in `perfdata dump`: "pid", "filename", "callchain[2]",
        "entries[0].cpu"."""
        value = c.Value(struct_size=ctypes.sizeof(c.Value))
        status = lib.perfdata_record_field(self._handle(), name.encode(), byref(value))
        if status < 0:
            raise failure(status,
                          f"record {self.name} has no field '{name}'" if status == -22 else None,
                          self.offset)
        return _value(value)

    def field_text(self, name: str) -> str:
        """A field as `perfdata dump` prints it."""
        out = ctypes.c_char_p()
        status = lib.perfdata_record_field_text(self._handle(), name.encode(), byref(out))
        if status < 0:
            raise failure(status,
                          f"record {self.name} has no field '{name}'" if status == -22 else None,
                          self.offset)
        return text(out.value)

    def identity(self) -> c.Identity:
        """Who a kernel record speaks of; all ones: absent."""
        out = c.Identity(struct_size=ctypes.sizeof(c.Identity))
        lib.perfdata_record_identity(self._handle(), byref(out))
        return out

    def as_dict(self) -> dict[str, Any]:
        """All fields, as `perfdata dump --json` has them."""
        parts: list[bytes] = []
        write = c.WRITE_FN(lambda _, data, size: parts.append(ctypes.string_at(data, size)) or 0)
        status = lib.perfdata_record_print(self._handle(), 1, write, None)
        if status < 0 and not parts:
            raise failure(status, None, self.offset)
        return json.loads(b"".join(parts))

    # ---- tracepoints ----

    @property
    def tracepoint_fields(self) -> list[TracepointField]:
        """Fields of the tracepoint, common ones first; empty when it is none, or its format was not
        recorded."""
        handle, fields = self._handle(), []
        out = c.TracepointField(struct_size=ctypes.sizeof(c.TracepointField))
        out.value.struct_size = ctypes.sizeof(c.Value)
        for index in range(lib.perfdata_record_tracepoint_count(handle)):
            if lib.perfdata_record_tracepoint_at(handle, index, byref(out)) == 0:
                fields.append(TracepointField(text(out.name), text(out.type), bool(out.common),
                                              _value(out.value), out.value.size))
        return fields

    @property
    def tracepoint_text(self) -> str | None:
        """The payload in perf's words; None: no tracepoint, or its format was not recorded."""
        out = ctypes.c_char_p()
        status = lib.perfdata_record_tracepoint_text(self._handle(), None, byref(out))
        return text(out.value) if status == 0 else None


def _value(value: c.Value) -> "int | float | str | bytes":
    if value.kind == 2:
        return value.real
    if value.kind == 3:
        return text(ctypes.string_at(value.data, value.size)) if value.data else ""
    if value.kind >= 4:
        return ctypes.string_at(value.data, value.size) if value.data else b""
    if value.kind == 1 and value.number >= 1 << 63:
        return value.number - (1 << 64)
    return value.number


class Record(_Current):
    """A record. It can be asked until the next one is taken."""

    __slots__ = ("time",)

    def __init__(self, cursor: "_Cursor", record: int):
        super().__init__(cursor, record)
        time = lib.perfdata_record_time(record)
        self.time: int | None = None if time == c.NO_TIME else time  #: ns; None: it has none

    @property
    def event(self) -> Event | None:
        """The event that it belongs to; None: to none."""
        handle = lib.perfdata_record_event(self._handle())
        return self._cursor.event(handle) if handle else None

    def __repr__(self) -> str:
        if self._turn != self._cursor.turn:
            return "<perfdata.Record>"
        return f"<perfdata.Record {self.name} time={self.time}>"


class Sample(_Current):
    """A sample. Its own attributes stay; what is inherited of a record can be asked until the next
    one is taken.

    Attributes:
        comm: the thread's name as of the sample.
        frames: the call chain, callee first; of a sample without one the sampled address alone; ()
            without frames.
    """

    __slots__ = ("comm", "frames", "_bytes")

    comm: str
    frames: tuple[Frame, ...]
    _bytes: bytes  # as perfdata_sample_row() has them

    def _handle(self) -> int:
        return super()._handle() or self._cursor.choose()

    @property
    def _row(self) -> tuple[int, ...]:
        """As _ROW has it: few programs ask for much of a sample."""
        return _ROW.unpack(self._bytes)

    @property
    def event(self) -> Event:
        """The event that it is of."""
        return self._cursor.event(self._row[2])

    @property
    def values(self) -> tuple[int, ...]:
        """All fields, in the order of perfdata.SAMPLE_FIELDS, as perf fills in what is missing."""
        return self._row[4:20]

    def get(self, field: str) -> int | None:
        """A field by name (perfdata.SAMPLE_FIELDS); None: the event's samples do not have it."""
        place = c.SAMPLE_FIELDS.index(field)
        return self._row[4 + place] if self._row[20] >> place & 1 else None

    @property
    def cpumode(self) -> int:
        """1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user."""
        return self._row[22]

    @property
    def has_chain(self) -> bool:
        """False: no call chain was recorded, or perf would discard it."""
        return self._row[23] != 0

    @property
    def damaged(self) -> bool:
        """True: its content exceeds its size."""
        return self._row[24] != 0

    @property
    def ip(self) -> int:
        """The sampled address; 0: not recorded."""
        return self._row[4]

    @property
    def pid(self) -> int | None:
        return _signed(self._row[5])

    @property
    def tid(self) -> int | None:
        return _signed(self._row[6])

    @property
    def time(self) -> int | None:
        """ns of the recording's clock; None: not recorded."""
        return self._row[7] if self._row[7] != c.NO_TIME else None

    @property
    def cpu(self) -> int | None:
        """None: not recorded."""
        return self._row[11] if self._row[20] & 128 else None

    @property
    def period(self) -> int:
        """How many events it stands for."""
        return self._row[12]

    @property
    def symbol(self) -> str | None:
        """Of the innermost frame."""
        return self.frames[0].symbol if self.frames else None

    @property
    def raw(self) -> bytes | None:
        """Raw bytes (of tracepoints and others), in the recorder's byte order; None: there are
        none."""
        size, sample = ctypes.c_size_t(), ctypes.c_void_p()
        lib.perfdata_record_sample(self._handle(), byref(sample))
        pointer = lib.perfdata_sample_raw(sample, byref(size))
        return ctypes.string_at(pointer, size.value) if pointer else None

    @property
    def branches(self) -> list[tuple[int, int, int]]:
        """The branch stack: (from, to, flags), newest first."""
        sample, words = ctypes.c_void_p(), [ctypes.c_uint64() for _ in range(3)]
        lib.perfdata_record_sample(self._handle(), byref(sample))
        stack = []
        for index in range(lib.perfdata_sample_branch_count(sample)):
            lib.perfdata_sample_branch(sample, index, *map(byref, words))
            stack.append(tuple(word.value for word in words))
        return stack

    def resolve(self, ip: int, cpumode: int | None = None) -> Frame:
        """What lies at an address in the sample's process at that time."""
        out = c.Location(struct_size=ctypes.sizeof(c.Location))
        mode = self.cpumode if cpumode is None else cpumode
        self._cursor.check(lib.perfdata_record_resolve(self._handle(), mode, ip, byref(out)))
        return _frame(out)

    @property
    def insn(self) -> bytes | None:
        """The code of the instruction at the sample's address, of a trace's step that of the last
        one that ran; None: it is not to be had."""
        sample, ip = ctypes.c_void_p(), ctypes.c_uint64()
        code, size = ctypes.c_void_p(), ctypes.c_size_t()
        self._cursor.check(lib.perfdata_record_sample(self._handle(), byref(sample)))
        status = lib.perfdata_sample_insn(sample, byref(ip), byref(code), byref(size))
        if status == c.NO_DATA:
            return None
        self._cursor.check(status)
        return ctypes.string_at(code, size.value)

    def source(self, ip: int | None = None, cpumode: int | None = None) -> Source | None:
        """Where in the source the sample's address, or another one of its process, comes from;
        None: that is not known."""
        out = c.Source(struct_size=ctypes.sizeof(c.Source))
        mode = self.cpumode if cpumode is None else cpumode
        status = lib.perfdata_record_source(self._handle(), mode, self.ip if ip is None else ip,
                                            byref(out))
        if status == c.NO_DATA:
            return None
        self._cursor.check(status)
        code = text(ctypes.string_at(out.code, out.code_size)) if out.code else None
        return Source(text(out.file), out.line, code)

    def __repr__(self) -> str:
        return (f"<perfdata.Sample {self.comm} {self.tid} time={self.time} {self.event.name} "
                f"{self.symbol}>")


def _signed(value: int) -> int | None:
    return value if value != c.NONE else None


def _frame(at: c.Location) -> Frame:
    return next(_Maker().frames(bytes(at)))


class _Cursor:
    """A walk over a recording. The library's cursor is closed with it."""

    def __init__(self, recording: "Recording", options: c.CursorOptions):
        handle = ctypes.c_void_p()
        recording._check_open()
        recording._check(lib.perfdata_cursor_open(recording._handle, byref(options), byref(handle)))
        self.recording = recording
        self.handle = handle
        self.turn = 0
        self.place = 0  # of the sample taken last among those that were given together
        self._events = {event._handle: event for event in recording.events}
        recording._cursors.add(self)

    def check(self, status: int) -> None:
        self.recording._check(status)

    def event(self, handle: int) -> Event:
        known = self._events.get(handle)
        if known is None:
            self.recording._check_open()
            known = self._events[handle] = Event(self.recording, handle)
        return known

    def end(self, got: int) -> None:
        """The walk is over, or failed."""
        error = self.recording._failure(got) if got < 0 else None
        self.close()
        if error:
            raise error

    def close(self) -> None:
        self.turn += 1
        if self.handle:
            lib.perfdata_cursor_close(self.handle)
            self.handle = None

    def __del__(self) -> None:  # not with the generator: its latest record may still be asked
        if getattr(self, "handle", None):
            self.close()

    def records(self) -> Iterator[Record]:
        record = ctypes.c_void_p()
        place = byref(record)
        while self.handle:
            self.turn += 1
            got = lib.perfdata_cursor_next(self.handle, place)
            if got <= 0:
                self.end(got)
                return
            yield Record(self, record.value)

    def choose(self) -> int:
        """The library's record of the sample that was taken last."""
        return lib.perfdata_cursor_choose(self.handle, self.place)

    def samples(self, max_stack: int) -> Iterator[Sample]:
        """Samples alone, many by one call of the library."""
        batch = _Batch(self, max_stack)
        while self.handle:
            self.turn += 1
            got = lib.perfdata_cursor_next_samples(self.handle, byref(batch.room))
            if got <= 0:
                self.end(got)
                return
            for self.place, sample in enumerate(map(batch.sample, *batch.columns())):
                sample._turn = self.turn = self.turn + 1
                yield sample
                if not self.handle:
                    return

    def samples_and_records(self, max_stack: int) -> Iterator["Sample | Record"]:
        """All records; those that are samples of an event as such."""
        row, frames = c.SampleRow(), (c.Location * max(max_stack, 1))()
        row.struct_size, frames[0].struct_size = map(ctypes.sizeof, (c.SampleRow, c.Location))
        maker, record = _Maker(self), ctypes.c_void_p()
        while self.handle:
            self.turn += 1
            got = lib.perfdata_cursor_next(self.handle, byref(record))
            if got <= 0:
                self.end(got)
                return
            if lib.perfdata_record_type(record) != _SAMPLE or not lib.perfdata_record_event(record):
                yield Record(self, record.value)
                continue
            self.check(lib.perfdata_record_sample_row(record, byref(row), frames, max_stack))
            at, = _ROW_COMM.unpack(row)
            stack = maker.frames(memoryview(frames).cast("B")[:row.frame_count * _LOCATION.size])
            sample = maker.sample((bytes(row),), (at,), tuple(stack))
            sample._record, sample._turn = record.value, self.turn
            yield sample


class _Maker:
    """Makes samples and frames of what the library gives, without a line of Python for each
    frame. Texts stay where they are as long as the cursor is open."""

    def __init__(self, cursor: "_Cursor | None" = None):
        self.cursor = cursor
        self.texts: dict[int, str | None] = {0: None}  # by the text's address; build-ids by theirs
        self.comms = c.Made(lambda at: text(ctypes.string_at(at)) if at else "")

    def frames(self, locations: "memoryview | bytes") -> Iterator[Frame]:
        """Frames of locations one behind the other."""
        texts, values = self.texts, list(_LOCATION.iter_unpack(locations))
        _, objects, symbols, *_, build_ids, _, _ = zip(*values) if values else repeat((), 11)
        for at in {*objects, *symbols}.difference(texts):
            texts[at] = text(ctypes.string_at(at))
        for at in set(build_ids).difference(texts):
            size, = _BUILD_ID_SIZE.unpack_from(locations, build_ids.index(at) * _LOCATION.size)
            texts[at] = ctypes.string_at(at, size).hex()
        return map(tuple.__new__, repeat(Frame), map(add, values, repeat((texts,))))

    def sample(self, row: tuple[bytes], comm: tuple[int], frames: tuple[Frame, ...]) -> Sample:
        """A sample, but for its turn."""
        sample = object.__new__(Sample)
        sample._cursor = self.cursor
        sample._record = None  # it has to be chosen
        sample._bytes, = row
        at, = comm
        sample.comm = self.comms[at]
        sample.frames = frames
        return sample


class _Batch(_Maker):
    """Where the library puts samples with their chains, and the frames that it has numbered."""

    def __init__(self, cursor: _Cursor, max_stack: int):
        super().__init__(cursor)
        room = _NUMBERS_AT_ONCE + max_stack if max_stack else 0
        rows, numbers = (c.SampleRow * _AT_ONCE)(), (ctypes.c_uint32 * room)()
        new = (c.Location * max(_NEW_AT_ONCE + max_stack, 1))()
        rows[0].struct_size, new[0].struct_size = map(ctypes.sizeof, (c.SampleRow, c.Location))
        self.room = c.SampleBatch(ctypes.sizeof(c.SampleBatch), rows, _AT_ONCE, numbers, room, new,
                                  len(new), max_stack)
        self.rows, self.new = memoryview(rows).cast("B"), memoryview(new).cast("B")
        self.numbers, self.known = numbers, []

    def columns(self) -> tuple[Iterator, Iterator, Iterator]:
        """Rows, names and frames of the samples that the library has just given."""
        room, known = self.room, self.known
        with collector_paused():
            del known[room.first_frame:]
            known += self.frames(self.new[:room.frame_count * _LOCATION.size])
        rows = self.rows[:room.row_count * _ROW.size]
        # A slice of a tuple is a tuple.
        all_frames = tuple(map(known.__getitem__, self.numbers[:room.number_count]))
        ends = list(accumulate(count for count, in _ROW_FRAMES.iter_unpack(rows)))
        stacks = map(all_frames.__getitem__, map(slice, [0, *ends], ends))
        return _ROW_BYTES.iter_unpack(rows), _ROW_COMM.iter_unpack(rows), stacks
