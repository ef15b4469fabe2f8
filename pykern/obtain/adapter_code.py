"""The code of `pk_adapt`: from the disk cache, or from the compiler, as that of the programs' entry.

Comes in: calls that went through Python although there is an entry for what they mean. Goes out: functions of Python's
that are bound to kernels and programs. Nobody waits for the code: until it is there such calls go through Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from pykern.arrays.foreign import by_interface
from pykern.data.abi import TABLE_INDEX
from pykern.data.runtime_source import ADAPTER
from pykern.obtain.entry_code import EntryCode, numpy_functions
from pykern.runtime.cpu_table import table
from pykern.runtime.launchable import SUPPORTED
from pykern.runtime.loader import TAKES_SLOTS, open_library

_FASTCALL, _KEYWORDS = 0x80, 0x2


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    )  # fmt: skip


class AdapterCode(EntryCode):
    """Of this process; `address` is 1 once calls may be adapted."""

    source = ADAPTER
    waits = False

    def __init__(self) -> None:
        super().__init__()
        if not SUPPORTED:
            self.address = 0
        self._methods: dict[str, _Method] = {}
        self._missed: Any = None

    def bound(self, kernel: Any) -> Callable[..., Any]:
        """What calls of a kernel or program go to that no entry took."""
        return self._function("pk_adapt", kernel)

    def _function(self, name: str, bound_to: Any) -> Any:
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
            ("PyCFunction_NewEx", ctypes.pythonapi)
        )
        return make(ctypes.addressof(self._methods[name]), bound_to, None)

    def _load(self, binary: bytes) -> None:
        functions = numpy_functions()
        if functions is None:
            self.address = 0
            return
        try:
            library = open_library(binary)
        except OSError:  # made for another machine
            self.address = 0
            return
        cells = table()
        TAKES_SLOTS(library.address("pk_init"))(cells)
        for name in ("pk_adapt", "pk_missed"):
            flags = _FASTCALL | _KEYWORDS
            self._methods[name] = _Method(name.encode(), library.address(name), flags, None)
        self._missed = self._function("pk_missed", None)
        cells[TABLE_INDEX["asarray"]] = id(by_interface)
        cells[TABLE_INDEX["missed"]] = id(self._missed)
        cells[TABLE_INDEX["PyArray_NewFromDescr"]] = functions[0]
        self.address = 1


adapter_code = AdapterCode()
