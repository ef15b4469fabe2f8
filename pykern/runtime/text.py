"""What compiled kernels print: values that come through a callback, written to `sys.stdout`."""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Any

from pykern.data.artifact import Site
from pykern.runtime.team import team
from pykern.types import BY_NAME

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64))


class Printer:
    """Prints of one launch: a callback ``(site, report, values)``, there as long as this is.

    What writing raises, Ctrl-C among it, cannot go through compiled code: it is kept, nothing more is printed, the
    launch ends there, and whoever launched asks `check`.
    """

    def __init__(self, sites: tuple[Site, ...]) -> None:
        self._sites = sites
        self._raised: BaseException | None = None
        self._callback = _CALLBACK(self._show)

    @property
    def address(self) -> int:
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def check(self) -> None:
        """Raise what a print has raised."""
        if self._raised is not None:
            raise self._raised

    def _show(self, site: int, _report: int, values: Any) -> None:
        if self._raised is not None:
            return
        try:
            sys.stdout.write(printed(self._sites[site], values))
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller of the launch
            self._raised = error
            team.stop()


def printed(site: Site, values: Any) -> str:
    """What a print writes; `values` are cells."""
    return site.template.format(*(_Shown(_value(values[n], dtype)) for n, dtype in enumerate(site.dtypes)))


class _Shown:
    """A value in a template: as `print` shows it, or by the format of an f-string."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __format__(self, spec: str) -> str:
        return format(self._value, spec) if spec else str(self._value)


def _value(bits: int, name: str) -> Any:
    """A value from its cell."""
    dtype = BY_NAME[name]
    if dtype.is_float:
        number = struct.unpack("<d", struct.pack("<q", bits))[0]
        return number if dtype.bits == 64 else dtype.numpy.type(number)
    if dtype.kind == "b":
        return bool(bits)
    return bits % 2**64 if dtype.kind == "u" else bits
