# SPDX-License-Identifier: MIT
"""Tables through the Arrow C stream interface: __arrow_c_stream__ gives a capsule that owns the
stream."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from ._library import RELEASE_FN, ArrowArrayStream, lib
from .errors import failure

if TYPE_CHECKING:
    from .profile import Profile

_NAME = b"arrow_array_stream"
_api = ctypes.pythonapi
_capsule_new = _api.PyCapsule_New
_capsule_new.restype = ctypes.py_object
_capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = _api.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_malloc = _api.PyMem_RawMalloc
_malloc.restype = ctypes.c_void_p
_malloc.argtypes = [ctypes.c_size_t]
_free = _api.PyMem_RawFree
_free.restype = None
_free.argtypes = [ctypes.c_void_p]


# The structure belongs to the capsule, not to a Python object: readers keep the capsule alone. They
# may have moved the stream out of it; release is NULL then.
def _destroy(capsule: int, pointer=_capsule_pointer, name=_NAME, stream=ArrowArrayStream,
             release=RELEASE_FN, free=_free, by=ctypes.byref) -> None:
    at = pointer(capsule, name)
    inside = stream.from_address(at)
    if inside.release:
        release(inside.release)(by(inside))
    free(at)


_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_destroy)
_api.Py_IncRef(ctypes.py_object(_destructor))  # capsules may be freed after this module


class Table:
    """A table of a profile. Give it to pyarrow.table(), polars.from_arrow(), DuckDB ... as often as
    you like.

    It owns nothing but its profile: rows are made, or pointed at, as they are read.
    """

    def __init__(self, profile: "Profile", name: str, portable: bool = False, query: Any = None):
        self._profile = profile
        self.name = name
        self._portable = portable
        self._query = query

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A new stream over all rows, as a capsule "arrow_array_stream". Another schema is not
        made: readers cast."""
        at = _malloc(ctypes.sizeof(ArrowArrayStream))
        if not at:
            raise MemoryError
        handle = self._profile._handle
        if self._query is not None:
            status = lib.perfdata_rows_stream(handle, ctypes.byref(self._query), at)
        else:
            status = getattr(lib, f"perfdata_{self.name}_stream")(handle, int(self._portable), at)
        if status < 0:
            _free(at)
            raise failure(status,
                          f"the profile was built without {self.name}" if status == -46 else None)
        return _capsule_new(at, _NAME, ctypes.cast(_destructor, ctypes.c_void_p))

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        import pyarrow
        return pyarrow.table(self)

    def to_pandas(self, **options: Any) -> Any:
        """A pandas.DataFrame, by pyarrow."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        import polars
        return polars.DataFrame(self)

    def to_list(self) -> list[dict[str, Any]]:
        """A dict a row, by pyarrow; for small tables."""
        return self.to_arrow().to_pylist()

    def __repr__(self) -> str:
        return f"<perfdata.Table {self.name} of {self._profile!r}>"
