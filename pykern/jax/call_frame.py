"""What XLA gives a handler that is written in Python: a call frame, read by its offsets (`pykern.data.xla_frame`).

Comes in: the address of a frame. Goes out: its buffers, the stream and the device of the call, and errors for XLA. On
the CPU no Python runs in a call (`pykern.lowering.llvm.xla`); on GPUs, where launches are queued anyway, it does.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from pykern.data import xla_frame

_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
"""A handler, and every function of XLA's that one may call."""


class Refused(Exception):
    """XLA has made an error itself; `address` is where it is."""

    def __init__(self, address: int) -> None:
        super().__init__(address)
        self.address = address


@dataclass(frozen=True)
class Buffer:
    """Memory on the call's device; `dtype` is XLA's number of the type."""

    dtype: int
    address: int
    shape: tuple[int, ...]


class CallFrame:
    """One call, or the question that XLA asks before the first."""

    def __init__(self, address: int) -> None:
        self._address = address
        self._api = _word(address + xla_frame.API)

    def answers_metadata(self) -> bool:
        """Whether XLA only asks for the version that the handler was made for, which it is told."""
        extension = _word(self._address + xla_frame.EXTENSION)
        if not extension or _number(extension + xla_frame.EXTENSION_TYPE).value != xla_frame.METADATA_TYPE:
            return False
        metadata = _word(extension + xla_frame.METADATA)
        _number(metadata + xla_frame.VERSION_MAJOR).value = xla_frame.MAJOR
        _number(metadata + xla_frame.VERSION_MINOR).value = xla_frame.MINOR
        _number(metadata + xla_frame.TRAITS).value = 0  # what it launches depends on numbers: never replayed
        return True

    @property
    def is_executed(self) -> bool:
        """Whether it is the stage in which a call is computed."""
        return _number(self._address + xla_frame.STAGE).value == xla_frame.EXECUTE

    def arguments(self) -> list[Buffer]:
        return self._buffers(xla_frame.ARGUMENTS, xla_frame.ARGUMENT_LIST)

    def results(self) -> list[Buffer]:
        return self._buffers(xla_frame.RESULTS, xla_frame.RESULT_LIST)

    def stream(self) -> int:
        """The stream that the call is put into, by the driver's number. Raises `Refused`."""
        return self._asked(xla_frame.STREAM_GET)

    def ordinal(self) -> int:
        """The number of the device. Raises `Refused`."""
        return self._asked(xla_frame.DEVICE_GET) & 0xFFFFFFFF

    def error(self, message: str) -> int:
        """The address of an error for XLA, which owns it."""
        given = (ctypes.c_int64 * 4)(xla_frame.ERROR_BYTES)
        text = ctypes.create_string_buffer(message.encode())
        at = ctypes.addressof(given)
        ctypes.c_void_p.from_address(at + xla_frame.ERROR_MESSAGE).value = ctypes.addressof(text)
        _number(at + xla_frame.ERROR_CODE).value = xla_frame.INTERNAL
        return self._call(xla_frame.ERROR_CREATE, at)

    def _buffers(self, count: int, listed: int) -> list[Buffer]:
        pointers = _word(self._address + listed)
        return [_buffer(_word(pointers + 8 * n)) for n in range(_word(self._address + count))]

    def _asked(self, function: int) -> int:
        context = _word(self._address + xla_frame.CONTEXT)
        given = (ctypes.c_int64 * 4)(xla_frame.ASKED_BYTES, 0, context, 0)
        refused = self._call(function, ctypes.addressof(given))
        if refused:
            raise Refused(refused)
        return _word(ctypes.addressof(given) + xla_frame.ASKED)

    def _call(self, function: int, arguments: int) -> int:
        called: Any = _Function(_word(self._api + function))
        return called(arguments) or 0


def _buffer(address: int) -> Buffer:
    rank, dims = _word(address + xla_frame.RANK), _word(address + xla_frame.DIMS)
    shape = tuple(_word(dims + 8 * d) for d in range(rank))
    return Buffer(_number(address + xla_frame.DTYPE).value, _word(address + xla_frame.DATA), shape)


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _number(address: int) -> ctypes.c_int32:
    return ctypes.c_int32.from_address(address)
