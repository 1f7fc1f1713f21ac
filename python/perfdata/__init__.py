# SPDX-License-Identifier: MIT
"""Recordings of Linux perf: records, samples with call chains, tables for pyarrow, polars, pandas
and DuckDB.

    import perfdata
    with perfdata.open("perf.data") as recording:
        for sample in recording.iter_samples():
            print(sample.comm, sample.time, sample.frames[0])
        profile = recording.profile()
        for row in profile.rows()[:10]:
            print(row.name, row.self_period)
        table = pyarrow.table(profile.samples())

Times are nanoseconds of the recording's clock; periods say how many events a sample stands for;
addresses and sizes are bytes.
"""
from ._library import COLUMNS, SAMPLE_FIELDS
from .arrow import Table
from .errors import (ArgumentError, Error, FormatError, Issue, LimitError, NoDataError, OpenError,
                     StrictError, UnsupportedError)
from .export import Format, formats
from .profile import Change, Node, Profile, Row
from .recording import BuildId, Recording, open
from .records import Event, Frame, Record, Sample, Source, TracepointField
from .rows import ProfileFrame, ProfileSample, ProfileThread

__version__ = "0.1.0"
__all__ = ["open", "Recording", "Record", "Sample", "Frame", "Event", "BuildId", "TracepointField",
           "Source", "Profile", "ProfileSample", "ProfileFrame", "ProfileThread", "Row",
           "Node", "Change", "Table", "Format", "formats", "Issue", "Error",
           "ArgumentError", "UnsupportedError", "OpenError", "FormatError",
           "NoDataError", "LimitError", "StrictError", "COLUMNS", "SAMPLE_FIELDS"]
