"""What compiled CPU code needs of the process: the table of `pykern.data.abi`, and how many threads launches may use.

The threads themselves: `pykern.runtime.team`.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any

import numpy as np

from pykern.data.abi import TABLE, TABLE_INDEX
from pykern.environment.machine import cache_bytes, processors
from pykern.environment.settings import settings
from pykern.errors import LaunchError
from pykern.runtime.event import COMPLETED
from pykern.types import BY_NAME

_NUMPY_TYPES = tuple(
    name for name in ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64")
)
_KEYWORDS = tuple(map(sys.intern, ("ndrange", "stream", "workgroup", "out")))
_INTERNED = tuple(
    map(
        sys.intern,
        (
            "__dlpack__", "__defaults__", "__array_interface__", "mask", "data", "shape", "typestr", "strides",
            "_single_device_array_to_np_array_did_copy",
        ),
    )
)  # fmt: skip
_VERSION_NAMES, _VERSION = ("max_version",), (1, 0)
_kept: list[Any] = [np, COMPLETED, *_KEYWORDS]
kinds: dict[type, int] = {}
"""What `pykern.launching.foreign_kinds` has found out of types."""
_types: dict[str, tuple[int, int]] = {}


_table: list[ctypes.Array] = []
_making = threading.Lock()


def table() -> ctypes.Array:
    """The table; made once, its address goes into every kernel."""
    if not _table:
        with _making:  # two threads may make their first launches at once
            if not _table:
                _table.append(_made())
    return _table[0]


def _made() -> ctypes.Array:
    cells = (ctypes.c_int64 * len(TABLE))()
    cells[TABLE_INDEX["threads"]] = default_threads()
    cells[TABLE_INDEX["event"]] = id(COMPLETED)
    for keyword in _KEYWORDS:
        cells[TABLE_INDEX[keyword]] = id(keyword)
    for name in _INTERNED:
        cells[TABLE_INDEX[name]] = id(name)
    cells[TABLE_INDEX["version_names"]], cells[TABLE_INDEX["version"]] = id(_VERSION_NAMES), id(_VERSION)
    cells[TABLE_INDEX["kinds"]] = id(kinds)
    cells[TABLE_INDEX["ndarray"]] = id(np.ndarray)
    for name in _NUMPY_TYPES:
        dtype = BY_NAME[name].numpy
        _kept.append(dtype)
        cells[TABLE_INDEX[f"dtype.{name}"]] = id(dtype)
        cells[TABLE_INDEX[f"scalar.{name}"]] = id(dtype.type)
    cells[TABLE_INDEX["cache_bytes"]] = cache_bytes()
    cells[TABLE_INDEX["tuple_items"]] = tuple.__basicsize__  # CPython 3.14 keeps a hash before the items
    for cell, (address, place) in _types.items():
        cells[TABLE_INDEX[cell]], cells[TABLE_INDEX[_PLACES[cell]]] = address, place
    return cells


def keep(value: Any) -> Any:
    """The very same object, which the table may name from now on."""
    _kept.append(value)
    return value


_PLACES = {"array": "array_launch", "stream_type": "stream_launch"}


def publish_type(cell: str, kind: type) -> None:
    """Let entries know a class whose slot ``_launch`` holds cells for them."""
    _kept.append(kind)
    with _making:
        _types[cell] = id(kind), slot_offset(kind, "_launch")
        for made in _table:
            made[TABLE_INDEX[cell]], made[TABLE_INDEX[_PLACES[cell]]] = _types[cell]


def slot_offset(kind: type, name: str) -> int:
    """Bytes from an object to one of its slots: CPython does not tell, so an object is looked at."""
    sample, mark = object.__new__(kind), object()
    setattr(sample, name, mark)
    words = (ctypes.c_void_p * (kind.__basicsize__ // 8)).from_address(id(sample))
    return 8 * next(n for n, word in enumerate(words) if word == id(mark))


def publish_dtype(name: str) -> None:
    """Put a dtype of ml_dtypes into the table, so that entries know its arrays."""
    cell = TABLE_INDEX[f"dtype.{name}"]
    if not table()[cell]:
        dtype = BY_NAME[name].numpy
        _kept.append(dtype)
        table()[cell] = id(dtype)


def default_threads() -> int:
    """``PYKERN_NUM_THREADS``, else the processors this process may use."""
    chosen = settings().num_threads
    return processors() if chosen is None else chosen


def get_num_threads() -> int:
    """Threads a launch on the CPU may use."""
    return int(table()[TABLE_INDEX["threads"]])


def set_num_threads(threads: int) -> None:
    """Use up to `threads` threads from the next launch on. Raises `LaunchError` below 1."""
    if not isinstance(threads, int) or threads < 1:
        raise LaunchError(
            f"set_num_threads({threads!r}): at least 1 thread is needed", hint="give an integer from 1 on"
        )
    table()[TABLE_INDEX["threads"]] = threads
