"""A driver for devices whose memory has addresses, over an API in the shape of CUDA's driver API.

Comes in: `Calls`, the functions of one API (cuda.py, rocm.py), and what `pykern.runtime.driver` asks. Goes
out: the same done by those functions. Their results are tuples that begin with a result code. Streams are
ordered with the API's stream 0, on which memory is allocated and freed: nothing is given back while
work put in before still uses it, and the host need not wait.
"""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pykern.data.artifact import Artifact
from pykern.data.tensor_form import TensorForm
from pykern.errors import DeviceError
from pykern.runtime.driver import DeviceInfo, Direct, Memory
from pykern.runtime.drivers.forked import ProcessLock
from pykern.runtime.drivers.launched import Launched
from pykern.runtime.drivers.results import check, failure
from pykern.runtime.drivers.tensor_maps import TensorMaps, encoder

PLAIN_SHARED = 48 << 10
"""Bytes of shared memory that a launch may have without asking for more."""
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Calls:
    """The functions of an API, and the names of the results that are no failure of the call."""

    api: str
    current: Callable[[], Any]
    """What is the calling thread's own: a context, or a device's number."""
    select: Callable[[int], Any]
    """Makes it something else."""
    allocate: Callable[..., Any]
    free: Callable[..., Any]
    host_allocate: Callable[..., Any]
    host_free: Callable[..., Any]
    copy_in: Callable[..., Any]
    copy_out: Callable[..., Any]
    copy: Callable[..., Any]
    set_8: Callable[..., Any]
    set_16: Callable[..., Any]
    set_32: Callable[..., Any]
    set_2d_8: Callable[..., Any]
    set_2d_32: Callable[..., Any] | None
    """None where the API has only that of bytes."""
    load: Callable[..., Any]
    unload: Callable[..., Any]
    function: Callable[..., Any]
    launch: Callable[..., Any]
    allow_shared: Callable[..., Any] | None
    """``(function, bytes)`` for more than `PLAIN_SHARED`; None where that needs no permission."""
    priorities: Callable[..., Any]
    stream: Callable[..., Any]
    stream_destroy: Callable[..., Any]
    stream_wait: Callable[..., Any]
    stream_synchronize: Callable[..., Any]
    synchronize: Callable[..., Any]
    event: Callable[..., Any]
    event_destroy: Callable[..., Any]
    record: Callable[..., Any]
    query: Callable[..., Any]
    wait: Callable[..., Any]
    elapsed: Callable[..., Any]
    error_text: Callable[..., Any]
    out_of_memory: str
    not_ready: str
    address_of: Callable[[str], int]
    """Where a function of the API is, 0 where that is not told."""
    context: int
    """What is the thread's own while the device is used."""
    current_name: str
    select_name: str
    launch_name: str
    """The functions behind `current`, `select` and `launch`."""
    bindings: Any = None
    """The module of the API's bindings, where kernels may take tensor maps."""
    nothing: int | None = 0
    """What `current` gives where the thread has nothing of its own; None where it always has something."""


@dataclass(eq=False)
class Block:
    """What `Memory.handle` is."""

    address: int
    freed: bool = False


@dataclass(eq=False)
class Native:
    """A stream or an event: `handle` is the API's."""

    handle: Any


@dataclass(eq=False)
class Code:
    """A kernel loaded on a device. `shared` is the dynamic shared memory it may have so far."""

    name: str
    arguments: tuple[str, ...]
    function: Any
    static_shared: int
    shared: int = field(default=0)
    maps: tuple[TensorForm, ...] = ()
    """Tensor maps that it takes behind its arguments."""


@dataclass(eq=False)
class Pinned:
    """Page-locked host memory; NumPy arrays over it keep it alive."""

    address: int
    nbytes: int

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {"version": 3, "shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False)}


class AddressDriver:
    """See `pykern.runtime.driver.Driver`. `format` are the kinds of binary the API loads."""

    def __init__(self, calls: Calls, info: DeviceInfo, formats: tuple[str, ...]) -> None:
        self.info = info
        self._calls = calls
        self._formats = formats
        self._launched = Launched()
        encode = encoder(calls.bindings, self._do) if calls.bindings is not None else None
        self._maps = TensorMaps(encode, calls.api)
        self._process = ProcessLock(f"{info.runtime}:{info.ordinal} ({info.name})")
        self.direct = self._direct()

    def _direct(self) -> Direct | None:
        calls = self._calls
        try:
            names = (calls.current_name, calls.select_name, calls.launch_name)
            current, select, launch = map(calls.address_of, names)
        except RuntimeError:  # of the bindings: the driver has no such function
            return None
        if not (current and select and launch):
            return None
        return Direct(
            "addresses",
            launch,
            current,
            code=lambda code: (int(code.function), code),
            stream=lambda stream: int(stream.handle),
            memory=lambda memory: memory.address,
            context=calls.context,
            flush=select,
        )

    def _do(self, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call. The bindings raise RuntimeError for a function that the installed driver lacks."""
        try:
            return check(self._calls, self._call(what, function, *arguments), what, self._launched.names)
        except RuntimeError as error:
            raise DeviceError(f"{self._calls.api}: {what}: {error}") from None

    def _call(self, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """One call with the device as the thread's own; others find the thread afterwards as they left it."""
        self._process.check()
        calls = self._calls
        before = int(check(calls, calls.current(), what, self._launched.names))
        if before == calls.context:
            return function(*arguments)
        check(calls, calls.select(calls.context), what, self._launched.names)
        try:
            return function(*arguments)
        finally:
            if before != calls.nothing:
                calls.select(before)

    def _when_gone(self, owner: object, function: Callable[..., Any], handle: Any) -> None:
        def destroy() -> None:
            with contextlib.suppress(DeviceError, RuntimeError):  # nobody is there to be told
                self._call("let go", function, handle)

        weakref.finalize(owner, destroy).atexit = False

    # -- memory ------------------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> Memory:
        if nbytes < 0:
            raise DeviceError(f"cannot allocate {nbytes} bytes")
        got = self._do(f"allocate {nbytes} bytes", self._calls.allocate, max(nbytes, 1))
        address = int(got)
        return Memory(Block(address), nbytes, address)

    def free(self, memory: Memory) -> None:
        block = self._block(memory, "free")
        block.freed = True
        self._do("free", self._calls.free, block.address)

    def pinned(self, nbytes: int) -> np.ndarray:
        if nbytes <= 0:
            return np.empty(0, np.uint8)
        portable = 1  # for every device of the API
        got = self._do(f"allocate {nbytes} bytes of the host", self._calls.host_allocate, nbytes, portable)
        owner = Pinned(int(got), nbytes)
        self._when_gone(owner, self._calls.host_free, owner.address)
        return np.asarray(owner)

    # -- copies ------------------------------------------------------------------------------------

    def copy_in(self, stream: Any, memory: Memory, offset: int, host: np.ndarray) -> None:
        address = self._range(memory, offset, host.nbytes, "copy to the device")
        source = _host_address(host, "copy to the device")
        if host.nbytes:
            what = f"copy {host.nbytes} bytes to the device"
            self._do(what, self._calls.copy_in, address, source, host.nbytes, stream.handle)

    def copy_out(self, stream: Any, host: np.ndarray, memory: Memory, offset: int) -> None:
        address = self._range(memory, offset, host.nbytes, "copy to the host")
        if not host.flags.writeable:
            raise DeviceError("copy to the host: the host's array is read-only")
        to = _host_address(host, "copy to the host")
        if host.nbytes:
            what = f"copy {host.nbytes} bytes to the host"
            self._do(what, self._calls.copy_out, to, address, host.nbytes, stream.handle)

    def copy(self, stream: Any, to: Memory, to_offset: int, source: Memory, offset: int, nbytes: int) -> None:
        into = self._range(to, to_offset, nbytes, "copy")
        begin = self._range(source, offset, nbytes, "copy")
        what = f"copy {nbytes} bytes"
        if nbytes == 0 or into == begin:
            return
        if abs(into - begin) >= nbytes:
            self._do(what, self._calls.copy, into, begin, nbytes, stream.handle)
            return
        between = self.allocate(nbytes)  # the API copies between bytes that do not meet
        self._do(what, self._calls.copy, between.address, begin, nbytes, stream.handle)
        self._do(what, self._calls.copy, into, between.address, nbytes, stream.handle)
        self.free(between)

    def fill(self, stream: Any, memory: Memory, offset: int, pattern: bytes, nbytes: int) -> None:
        width = len(pattern)
        if width not in (1, 2, 4, 8) or nbytes % width:
            raise DeviceError(f"cannot fill {nbytes} bytes with a pattern of {width} bytes")
        address = self._range(memory, offset, nbytes, "fill")
        what, calls, count = f"fill {nbytes} bytes", self._calls, nbytes // width
        if count == 0:
            return
        value = int.from_bytes(pattern, "little")
        plain = {1: calls.set_8, 2: calls.set_16, 4: calls.set_32}.get(width)
        if plain is not None and address % width == 0:
            self._do(what, plain, address, value, count, stream.handle)
            return
        # Rows of `width` bytes, of which each call writes one column.
        step, set_column = 1, calls.set_2d_8
        if calls.set_2d_32 is not None and width == 8 and address % 4 == 0:
            step, set_column = 4, calls.set_2d_32
        for at in range(0, width, step):
            part = int.from_bytes(pattern[at : at + step], "little")
            self._do(what, set_column, address + at, width, part, 1, count, stream.handle)

    # -- kernels -----------------------------------------------------------------------------------

    def load(self, artifact: Artifact) -> Code:
        device = artifact.device
        if device is None or device.format not in self._formats:
            made = device.format if device else "a shared object"
            raise DeviceError(f"{artifact.kernel}: {self._calls.api} cannot load {made}")
        what = f"load {artifact.kernel}"
        image = ctypes.create_string_buffer(artifact.binary)  # ends with a zero byte, as PTX has to
        module = self._do(what, self._calls.load, ctypes.addressof(image))
        function = self._do(what, self._calls.function, module, artifact.entry.encode())
        forms = [form for text in device.arguments if (form := TensorForm.of(text)) is not None]
        plain = device.arguments[: len(device.arguments) - len(forms)]  # maps come last
        code = Code(artifact.kernel, plain, function, device.shared_bytes, maps=tuple(forms))
        self._when_gone(code, self._unload, module)
        return code

    def _unload(self, module: Any) -> Any:
        self._calls.synchronize()  # it may be running
        return self._calls.unload(module)

    def launch(
        self,
        stream: Any,
        code: Any,
        arguments: list[Memory | int],
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        shared_bytes: int,
    ) -> None:
        what = f"launch {code.name}"
        self._launched.add(code.name)
        slots, pointers = self._packed(code, arguments, what)
        if 0 in grid:
            return
        if code.static_shared + shared_bytes > self.info.shared_bytes:
            raise DeviceError(
                f"{what}: {code.static_shared + shared_bytes} bytes of shared memory; "
                f"{self.info.name} has {self.info.shared_bytes}"
            )
        grows = shared_bytes > code.shared and code.static_shared + shared_bytes > PLAIN_SHARED
        if grows and self._calls.allow_shared is not None:
            self._do(what, self._calls.allow_shared, code.function, shared_bytes)
            code.shared = shared_bytes
        self._do(
            what,
            self._calls.launch,
            code.function,
            *grid,
            *group,
            shared_bytes,
            stream.handle,
            ctypes.addressof(pointers),
            0,
        )
        del slots  # the call has copied what its pointers show

    def _packed(self, code: Code, arguments: list[Memory | int], what: str) -> tuple[Any, Any]:
        """Every argument in a slot of 8 bytes, and the addresses of the slots."""
        if len(arguments) != len(code.arguments):
            raise DeviceError(f"{what}: it takes {len(code.arguments)} arguments, not {len(arguments)}")
        values = []
        for number, (kind, given) in enumerate(zip(code.arguments, arguments, strict=True)):
            if isinstance(given, Memory) != (kind == "memory"):
                raise DeviceError(f"{what}: argument {number} is a {kind}, not {given!r}")
            if isinstance(given, Memory):
                self._block(given, what)
                values.append(given.address)
            else:
                values.append(given & _MASK)
        count = max(len(arguments) + len(code.maps), 1)
        slots = (ctypes.c_uint64 * count)(*values)
        base = ctypes.addressof(slots)
        pointers = (ctypes.c_void_p * count)(*range(base, base + 8 * count, 8))
        for number, form in enumerate(code.maps, len(arguments)):
            pointers[number] = ctypes.addressof(self._maps.map_of(slots[form.argument], form))
        return slots, pointers

    # -- streams and events ------------------------------------------------------------------------

    def stream(self, priority: str) -> Native:
        least, greatest = self._do("ask for priorities", self._calls.priorities)
        numbers = {"low": least, "normal": int((least + greatest) / 2), "high": greatest}
        if priority not in numbers:
            raise DeviceError(f"a stream's priority is high, normal or low, not {priority!r}")
        ordered = 0  # with stream 0
        stream = Native(self._do("make a stream", self._calls.stream, ordered, numbers[priority]))
        self._when_gone(stream, self._calls.stream_destroy, stream.handle)
        return stream

    def foreign(self, handle: int) -> Native:
        """A stream of somebody else, by the API's number."""
        return Native(handle)

    def stream_number(self, stream: Any) -> int:
        """The API's number of a stream, for others."""
        return int(stream.handle)

    def record(self, stream: Any) -> Native:
        timed = 0
        event = Native(self._do("make an event", self._calls.event, timed))
        self._when_gone(event, self._calls.event_destroy, event.handle)
        self._do("record an event", self._calls.record, event.handle, stream.handle)
        return event

    def done(self, event: Any) -> bool:
        code, *_ = self._call("ask for an event", self._calls.query, event.handle)
        if int(code) != 0 and code.name != self._calls.not_ready:
            raise failure(self._calls, code, "ask for an event", self._launched.names)
        return int(code) == 0

    def wait(self, event: Any) -> None:
        self._do("wait for an event", self._calls.wait, event.handle)

    def stream_wait(self, stream: Any, event: Any) -> None:
        self._do("wait for an event", self._calls.stream_wait, stream.handle, event.handle, 0)

    def elapsed_ms(self, start: Any, end: Any) -> float:
        return float(self._do("take the time", self._calls.elapsed, start.handle, end.handle))

    def synchronize(self, stream: Any | None) -> None:
        if stream is None:
            self._do("wait for the device", self._calls.synchronize)
        else:
            self._do("wait for a stream", self._calls.stream_synchronize, stream.handle)

    # -- checks ------------------------------------------------------------------------------------

    def _block(self, memory: Memory, what: str) -> Block:
        block = memory.handle
        if isinstance(block, Block) and block.freed:
            raise DeviceError(f"{what}: this memory of {memory.nbytes} bytes was freed already")
        return block

    def _range(self, memory: Memory, offset: int, nbytes: int, what: str) -> int:
        """The address of some bytes of `memory`."""
        self._block(memory, what)
        if offset < 0 or nbytes < 0 or offset + nbytes > memory.nbytes:
            raise DeviceError(
                f"{what}: bytes {offset} to {offset + nbytes} are not within the {memory.nbytes} of this memory"
            )
        return memory.address + offset


def _host_address(host: np.ndarray, what: str) -> int:
    if not host.flags.c_contiguous:
        raise DeviceError(f"{what}: the host's array is not contiguous")
    return host.ctypes.data
