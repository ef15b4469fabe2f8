"""What the functions of CUDA's driver API and HIP's have in common, for emulated GPUs.

Comes in: calls. Goes out: tuples that begin with a result code. Everything is done at once, so streams need no order.
What a launch finds wrong is raised where it is launched from Python; compiled entries get a result code, and Python,
which launches again, raises it then. Read next: `bindings` (CUDA), `amd.bindings` (HIP).
"""

from __future__ import annotations

import ctypes
import enum
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

from pykern.errors import KernelError
from pykern.runtime.emulator.device_memory import DeviceMemory, NoRoom

MEMORY = 2 << 30


class Names:
    """Every attribute is its own name: an enumeration of the bindings."""

    def __getattr__(self, name: str) -> str:
        return name


class EmulatedApi:
    """In the place of a module of bindings. All devices share one memory. `results` has the codes, `no_room` and
    `failed` those of them for memory that is used up and for launches; `c_forms` the parameters of the functions that
    compiled entries call, whose methods are ``_c_<name>``."""

    results: type[enum.IntEnum]
    no_room: enum.IntEnum
    failed: enum.IntEnum
    c_forms: dict[str, tuple[Any, ...]]

    def __init__(self) -> None:
        self._memory: DeviceMemory | None = None
        self._current = 0
        self._handles: dict[int, Any] = {}
        self._numbers = itertools.count(1)
        self._pinned: dict[int, Any] = {}
        self._pending: KernelError | None = None
        self._c_functions: dict[str, Any] = {}
        for name, function in self._functions().items():
            setattr(self, name, self._answering(function))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the emulator has no {name}")

    def _functions(self) -> dict[str, Callable[..., Any]]:
        raise NotImplementedError

    def _answering(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of the bindings: a result code, then the values."""
        success = self.results(0)

        def call(*arguments: Any) -> tuple[Any, ...]:
            given = function(*arguments)
            if isinstance(given, self.results):
                return given, None
            values = given if isinstance(given, tuple) else () if given is None else (given,)
            return (success, *values)

        return call

    def handle(self, what: Any) -> int:
        number = next(self._numbers)
        self._handles[number] = what
        return number

    def select(self, context: int) -> None:
        self._current = int(context)

    # -- events ------------------------------------------------------------------------------------

    def make_event(self, flags: int) -> int:
        return self.handle([0.0])

    def record(self, event: int, stream: int) -> None:
        self._handles[event][0] = time.perf_counter()

    def forget(self, handle: int) -> None:
        self._handles.pop(handle)

    def elapsed(self, start: int, end: int) -> float:
        return (self._handles[end][0] - self._handles[start][0]) * 1e3

    # -- memory ------------------------------------------------------------------------------------

    @property
    def memory(self) -> DeviceMemory:
        if self._memory is None:
            self._memory = DeviceMemory(MEMORY)
        return self._memory

    def allocate(self, nbytes: int, *_: Any) -> int | enum.IntEnum:
        try:
            return self.memory.allocate(nbytes)
        except NoRoom:
            return self.no_room

    def free(self, address: int, *_: Any) -> None:
        self.memory.free(address)

    def host_allocate(self, nbytes: int, flags: int) -> int:
        buffer = ctypes.create_string_buffer(nbytes)
        address = ctypes.addressof(buffer)
        self._pinned[address] = buffer
        return address

    def host_free(self, address: int) -> None:
        self._pinned.pop(address)

    # -- launches ----------------------------------------------------------------------------------

    def raise_pending(self) -> None:
        """What the launch of a compiled entry has found, just before."""
        pending, self._pending = self._pending, None
        if pending is not None:
            raise pending

    def launch_told(self, launch: Callable[..., None], *arguments: Any) -> int:
        """The result code of a launch, whose error Python raises when it launches again."""
        try:
            launch(*arguments)
        except KernelError as error:
            self._pending = error
            return int(self.failed)
        return 0

    def c_address(self, name: str) -> int:
        """The address of a C function that does what the binding does."""
        if name not in self._c_functions:
            form = ctypes.CFUNCTYPE(ctypes.c_int, *self.c_forms[name])
            self._c_functions[name] = form(getattr(self, f"_c_{name}"))
        return ctypes.cast(self._c_functions[name], ctypes.c_void_p).value or 0


def nothing(*_: Any) -> None:
    """All work is done already."""


def values_at(pointers: int, sizes: Sequence[int]) -> list[bytes]:
    """The arguments of a launch, whose addresses stand one after the other."""
    addresses = (ctypes.c_void_p * len(sizes)).from_address(pointers)
    return [ctypes.string_at(address, nbytes) for address, nbytes in zip(addresses, sizes, strict=True)]


def copy(to: int, source: int, nbytes: int, stream: Any) -> None:
    ctypes.memmove(to, source, nbytes)


def fill(width: int) -> Callable[..., None]:
    def fill_plain(address: int, value: int, count: int, stream: Any) -> None:
        data = (value % (1 << 8 * width)).to_bytes(width, "little")
        ctypes.memmove(address, data * count, width * count)

    return fill_plain


def fill_rows(width: int) -> Callable[..., None]:
    def fill_each(address: int, pitch: int, value: int, columns: int, rows: int, stream: Any) -> None:
        data = value.to_bytes(width, "little") * columns
        for row in range(rows):
            ctypes.memmove(address + row * pitch, data, len(data))

    return fill_each
