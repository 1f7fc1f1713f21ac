# SPDX-License-Identifier: MIT
"""What goes wrong, as exceptions."""
from __future__ import annotations

from typing import NamedTuple

from ._library import lib, text


class Error(Exception):
    """Something failed. All failures of the package are of this class.

    Attributes:
        status: the library's code (negative, enum perfdata_error).
        offset: where in the file, bytes; None: unknown, or nowhere in particular.
    """

    def __init__(self, message: str, status: int = 0, offset: int | None = None):
        super().__init__(message)
        self.status = status
        self.offset = offset


class ArgumentError(Error, ValueError):
    """An argument makes no sense, or does not parse."""


class UnsupportedError(Error):
    """This build cannot do it."""


class OpenError(Error, OSError):
    """A file is not there, cannot be opened, read or written."""


class FormatError(Error):
    """The bytes are no recording, or not what they say."""


class NoDataError(Error, LookupError):
    """What was asked for is not in the recording."""


class LimitError(Error):
    """A limit was reached."""


class StrictError(Error):
    """The first issue of a recording that was opened with strict=True."""


_CLASSES = {-1: ArgumentError, -2: UnsupportedError, -21: OpenError, -22: OpenError, -23: OpenError,
            -24: OpenError, -25: LimitError, -40: FormatError, -41: FormatError, -42: FormatError,
            -43: FormatError, -44: FormatError, -45: StrictError, -46: NoDataError}


def failure(status: int, message: str | None = None, offset: int = -1) -> Exception:
    """The exception for a status."""
    if status == -20:
        return MemoryError(message or "out of memory")
    said = message or text(lib.perfdata_status_text(status))
    error = _CLASSES.get(status, Error)(said)
    error.status = status
    error.offset = offset if offset >= 0 else None
    return error


class Issue(NamedTuple):
    """Something wrong in a recording that did not stop reading."""

    kind: str  # "truncated", "bad-record" ...
    text: str
    path: str
    offset: int | None  # bytes, in `path`; None: unknown
