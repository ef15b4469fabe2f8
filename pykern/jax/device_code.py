"""The code of a program as JAX calls it on a GPU: a foreign function that puts the program's plan into XLA's stream.

Comes in: a `ProgramSource`. Goes out: `Code`, as for the CPU, registered for the GPU's platform. Compiled for the GPU
at its first call, which names it. It is asked for where a program has no portable source, which XLA compiles itself.
Numbers among the arguments lie on the device, and the host waits to read them; without any it does not wait.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pykern.arrays.array import Array
from pykern.arrays.creation import from_pointer
from pykern.capture.function_text import FunctionText
from pykern.data.artifact import ResultSpec
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, ScalarSpec, leaves
from pykern.data.target import Target
from pykern.data.xla_frame import DTYPES
from pykern.errors import LaunchError
from pykern.jax.call_frame import Buffer, CallFrame, Refused
from pykern.jax.code import Code, code_of
from pykern.jax.framework import jax
from pykern.launching.device_kinds import fitted
from pykern.obtain.code import compiled
from pykern.program.device import DevicePlan
from pykern.program.scalars import bits
from pykern.runtime import registry
from pykern.runtime.driver import Memory, Missing
from pykern.runtime.registry import Opened
from pykern.runtime.stream import Stream, foreign_stream
from pykern.types import BY_NAME

PLATFORMS = {"cuda": "CUDA", "rocm": "ROCM"}
"""Kinds of devices, as `jax.lax.platform_dependent` calls them too, and XLA's names for them."""


@functools.cache
def gpus_here() -> tuple[str, ...]:
    """The kinds of GPUs of this machine that have handlers."""
    return tuple(k for k in PLATFORMS if not isinstance(devices := registry.found(k), Missing) and devices)


@functools.cache
def device_code_of(source: ProgramSource, kind: str) -> Code:
    """Register the handler for a kind of GPU. Raises what `code_of` raises."""
    code = code_of(source)
    handler = DeviceHandler(source, code.results, kind)
    capsule = jax.ffi.pycapsule(handler.function)
    jax.ffi.register_ffi_target(code.name, capsule, platform=PLATFORMS[kind])
    return replace(code, scratch_bytes=0, library=handler)


class DeviceHandler:
    """The handler of one program for devices of a kind. `function` is what XLA calls."""

    def __init__(self, source: ProgramSource, results: Sequence[ResultSpec], kind: str) -> None:
        self.source, self.results, self.kind = source, tuple(results), kind
        flat = [(p.name, leaf) for p in source.parameters for leaf in leaves(p.spec)]
        self.names = tuple(name for name, _ in flat)
        self.specs = tuple(leaf for _, leaf in flat)
        self.function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(self._handle)
        self._plans: dict[tuple[str, Target], DevicePlan] = {}

    def _handle(self, address: int) -> int:
        frame = CallFrame(address)
        if frame.answers_metadata():
            return 0
        try:
            self._run(frame)
        except Refused as refused:
            return refused.address
        except Exception as error:  # noqa: BLE001 - nothing of Python may leave the function: XLA raises it
            return frame.error(f"pykern: `{self.source.function.name}`: {error}")
        return 0

    def _run(self, frame: CallFrame) -> None:
        if not frame.is_executed:
            raise LaunchError("is only executed")
        given, made = frame.arguments(), frame.results()
        opened = registry.opened(registry.full_name(self.kind, frame.ordinal()))
        stream = foreign_stream(opened, frame.stream())
        shapes = [_shape(spec) for spec in self.specs]
        inputs = _all_fit("argument", given, shapes)
        outputs = _all_fit("result", made, [result.shape for result in self.results])
        every = [*outputs, *inputs]
        for n in range(math.prod(_leading(*every[0])) if every else 1):
            self._run_one(opened, stream, [_nth(*i, n) for i in inputs], [_nth(*o, n) for o in outputs])

    def _run_one(self, opened: Opened, stream: Stream, given: list[Buffer], made: list[Buffer]) -> None:
        """The program, of the calls of a batch one."""
        arrays = [
            _array(buffer, spec.dtype, opened) if isinstance(spec, ArraySpec) else None
            for buffer, spec in zip(given, self.specs, strict=True)
        ]
        out: list[Any] = [
            _array(buffer, result.dtype, opened) if buffer.dtype == DTYPES[result.dtype] else None
            for buffer, result in zip(made, self.results, strict=True)
        ]
        plan = self._plan(opened, [a for a in (*arrays, *out) if a is not None])
        numbers = _numbers(opened, stream, given, self.specs, plan.kinds)
        values = [next(numbers) if array is None else array for array in arrays]
        fresh = [None if r.argument >= 0 else o for r, o in zip(self.results, out, strict=True)]
        found = plan.put(values, fresh, stream, opened.pool)
        if plan.artifact.sites:
            stream.synchronize()
        for buffer, result, there, array in zip(made, self.results, out, found, strict=True):
            if there is None:  # a number of 64 bits, of which JAX has 32
                _narrow(opened, stream, buffer, array, BY_NAME[result.dtype].numpy)

    def _plan(self, opened: Opened, arrays: Sequence[Array]) -> DevicePlan:
        """For arrays that lie like these, compiled once."""
        target = fitted(opened.info.target, arrays, ())
        plan = self._plans.get((opened.name, target))
        if plan is None:
            source = replace(self.source, target=target, handler="")
            function = source.function
            text = FunctionText(function.name, function.file, function.first_line, function.text, ())
            made = DevicePlan(opened, compiled(source), source.parameters, self.names, text, False)
            plan = self._plans.setdefault((opened.name, target), made)
        return plan


Fitting = tuple[Buffer, tuple[int, ...]]
"""A buffer, and the shape behind the dimensions of a batch."""


def _shape(spec: ArraySpec | ScalarSpec) -> tuple[int, ...]:
    """The lengths of an argument, which are all known."""
    return tuple(n for n in spec.shape if n is not None) if isinstance(spec, ArraySpec) else ()


def _all_fit(what: str, buffers: Sequence[Buffer], shapes: Sequence[tuple[int, ...]]) -> list[Fitting]:
    """Raises `LaunchError` for buffers of other shapes, which no call of ours has."""
    if len(buffers) != len(shapes):
        raise LaunchError(f"takes {len(shapes)} {what}s, not {len(buffers)}")
    for n, (buffer, shape) in enumerate(zip(buffers, shapes, strict=True)):
        if buffer.shape[len(buffer.shape) - len(shape) :] != shape:
            raise LaunchError(f"{what} {n} is not {list(shape)} or a batch of these")
    return list(zip(buffers, shapes, strict=True))


def _leading(buffer: Buffer, shape: tuple[int, ...]) -> tuple[int, ...]:
    return buffer.shape[: len(buffer.shape) - len(shape)]


def _nth(buffer: Buffer, shape: tuple[int, ...], n: int) -> Buffer:
    """What the n-th call of a batch has of a buffer; without dimensions of the batch all calls have the same."""
    if not _leading(buffer, shape):
        return buffer
    return replace(
        buffer, address=buffer.address + n * math.prod(shape) * _dtype(buffer).itemsize, shape=shape
    )


_BY_NUMBER = {
    number: name for name, number in DTYPES.items() if name in BY_NAME and name not in ("int", "float")
}


def _dtype(buffer: Buffer) -> np.dtype:
    return np.dtype(BY_NAME[_BY_NUMBER[buffer.dtype]].numpy)


def _array(buffer: Buffer, dtype: str, opened: Opened) -> Array:
    """XLA keeps the memory as long as the stream works on it."""
    return from_pointer(buffer.address, buffer.shape, BY_NAME[dtype].numpy, opened.name)


def _numbers(
    opened: Opened, stream: Stream, given: Sequence[Buffer], specs: Sequence[Any], kinds: Sequence[str]
) -> Iterator[int]:
    """The slots of the numbers among the arguments, read from the device at once."""
    read: list[tuple[np.ndarray, str]] = []
    for buffer, spec, kind in zip(given, specs, kinds, strict=True):
        if isinstance(spec, ScalarSpec):
            host = np.empty(1, _dtype(buffer))
            memory = Memory(buffer.address, host.nbytes, buffer.address)
            opened.driver.copy_out(stream.native, host, memory, 0)
            read.append((host, kind))
    if read:
        opened.driver.synchronize(stream.native)
    return (bits(host[0], kind) for host, kind in read)


def _narrow(opened: Opened, stream: Stream, buffer: Buffer, array: Any, dtype: np.dtype) -> None:
    """A number in fewer bits, by way of the host."""
    wide = np.empty(1, dtype)
    opened.driver.copy_out(stream.native, wide, array._allocation.memory, array.offset)
    opened.driver.synchronize(stream.native)
    memory = Memory(buffer.address, _dtype(buffer).itemsize, buffer.address)
    opened.driver.copy_in(stream.native, memory, 0, wide.astype(_dtype(buffer)))
    opened.driver.synchronize(stream.native)  # the copy reads memory that is about to go
