"""An array program on a device with a driver: where its arrays lie, memory for its results, the call.

Comes in: the flattened arguments of a call. Goes out: the results, as arrays on that device; numbers are read back.
NumPy arrays are copied there where the device was asked for; if no argument lives there, results are NumPy's,
and the call waits. Read next: `program/steps.py`.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pykern.arrays.array import Array
from pykern.arrays.foreign import several_places
from pykern.capture.function_text import FunctionText
from pykern.data.artifact import Artifact
from pykern.data.source import ArraySpec, Parameter, ScalarSpec, leaves
from pykern.data.target import parse
from pykern.errors import LaunchError
from pykern.launching.device_kinds import suits
from pykern.launching.on_device import Places, check_dtypes
from pykern.program.kernels import LaunchedKernel
from pykern.program.results import builder, scalars_of
from pykern.program.scalars import constant, number
from pykern.program.steps import Buffer, Run, Steps
from pykern.runtime.pool import Pool
from pykern.runtime.registry import Opened
from pykern.runtime.stream import Stream
from pykern.runtime.written import note_write, overlaps_itself
from pykern.types import BY_NAME

KINDS = {"int": "index", "float": "f64", "bool": "i1"}
"""Types of scalars in a plan, where they are not called as the dtype is."""


class DevicePlan:
    """One kind of call on one device. `names` are the parameters of the flattened arguments."""

    def __init__(
        self,
        opened: Opened,
        artifact: Artifact,
        parameters: tuple[Parameter, ...],
        names: tuple[str, ...],
        text: FunctionText,
        debug: bool,
    ) -> None:
        layout = artifact.program
        assert layout is not None and layout.plan is not None
        self.opened, self.artifact, self.layout, self.names, self.debug = (
            opened,
            artifact,
            layout,
            names,
            debug,
        )
        self.target = parse(artifact.target)
        self.returned = len(layout.results) - len(layout.updated)
        self.dtypes = [BY_NAME[r.dtype].numpy for r in layout.results]
        self.build = builder(layout.tree)
        self.scalars = scalars_of(layout.tree)
        self.kinds = [_kind(spec) for p in parameters for spec in leaves(p.spec)]
        self.written = frozenset(r.argument for r in layout.results if r.argument >= 0)
        for parameter in parameters:
            check_dtypes(parameter.name, parameter.spec, opened)
        kernels = [LaunchedKernel(opened, artifact, k, n, text) for n, k in enumerate(layout.plan.kernels)]
        plan = json.loads(layout.plan.steps)
        self.registers: list[Any] = [None] * layout.plan.registers
        for register, kind, value in plan["constants"]:
            self.registers[register] = constant(value, kind)
        self.steps = Steps(opened, kernels).block(plan["steps"])

    # -- a call ----------------------------------------------------------------------------------

    def run(self, values: list[Any], out: list[Any] | None, stream: Stream) -> list[Any]:
        """Run with flattened arguments, arrays of the device and bits of scalars. Gives the results' arrays,
        NumPy arrays of no dimension for numbers."""
        return self._numbers(self.put(values, out, stream, self.opened.pool))

    def put(self, values: list[Any], out: list[Any] | None, stream: Stream, pool: Pool) -> list[Any]:
        """Put everything into the stream, with scratch memory of `pool`. Gives the results' arrays."""
        run = Run(self.opened, stream, self.registers.copy(), pool)
        kept, copied_back = self._arguments(run, values)
        results: list[Any] = []
        copied_out: list[tuple[Any, Array]] = []
        place = len(values)
        for n, (spec, dtype) in enumerate(zip(self.layout.results, self.dtypes, strict=True)):
            given = out[n] if out is not None and n < self.returned else None
            if spec.argument >= 0:
                results.append(kept[spec.argument])
            else:
                taken = isinstance(given, Array) and self._may_take(given, kept, out or [])
                array = given if taken and given is not None else self.fresh(spec.shape, dtype)
                run.registers[place] = _buffer(array, stream)
                place += 1
                results.append(array)
            if given is not None and given is not results[n]:
                copied_out.append((given, results[n]))
        with np.errstate(
            all="ignore"
        ):  # numbers between kernels: infinities and NaN are as good there as in them
            self.steps(run)
        for target, source in copied_back:
            target[...] = source
        for target, source in copied_out:
            _copy_out(target, source)
            results[next(n for n, o in enumerate(out or ()) if o is target)] = target
        if self.debug:
            stream.synchronize()
        return results[: self.returned]

    def _arguments(self, run: Run, values: list[Any]) -> tuple[list[Any], list[tuple[Array, Array]]]:
        """The arrays the program works on, and what has to be copied back."""
        kept: list[Any] = []
        copied_back = []
        for n, value in enumerate(values):
            if not isinstance(value, Array):
                run.registers[n] = number(value, self.kinds[n])
                kept.append(None)
                continue
            array = value
            if n in self.written:
                self._check_written(n, value, values)
            if not value.contiguous:
                array = value.copy()
                if n in self.layout.updated:
                    copied_back.append((value, array))
            run.registers[n] = _buffer(array, run.stream)
            kept.append(array)
        return kept, copied_back

    def check_hosts(self, places: Places) -> None:
        """Refuse to write NumPy arrays that are read-only, or that another argument looks at."""
        hosts = iter(places.hosts)
        values = [next(hosts) if kind == "array" else None for kind in self.kinds]
        for n in self.written:
            if values[n] is not None:
                self._check_written(n, values[n], values)

    def note_writes(self, places: Places) -> None:
        """Tell the libraries whose arrays are written in place."""
        owners = iter(places.owners)
        values = [next(owners) if kind == "array" else None for kind in self.kinds]
        for n in self.written:
            note_write(values[n])

    def check(self, values: list[Any]) -> None:
        """Refuse arrays that cannot be written."""
        for n in self.written:
            self._check_written(n, values[n], values)

    def _check_written(self, n: int, array: Any, values: list[Any]) -> None:
        name = self.names[n]
        how = "is written by" if n in self.layout.updated else "is donated to"
        if not (array.flags.writeable if isinstance(array, np.ndarray) else not array.readonly):
            raise LaunchError(
                f"`{name}` is read-only, and {how} `{self.artifact.kernel}`",
                hint=f"pass a copy: np.array({name}), or {name}.copy() of a pk.Array",
            )
        if overlaps_itself(geometry := array if isinstance(array, np.ndarray) else array.geometry()):
            raise several_places(name, geometry, f"it {how} `{self.artifact.kernel}`")
        for other, value in enumerate(values):
            if other != n and isinstance(value, type(array)) and overlap(array, value):
                raise LaunchError(
                    f"`{name}` {how} `{self.artifact.kernel}`, and `{self.names[other]}` overlaps it",
                    hint=f"pass a copy: {self.names[other]}.copy()",
                )

    def _may_take(self, given: Array, kept: list[Any], out: list[Any]) -> bool:
        """Whether a result may be made in an array given as ``out=``."""
        if not given.contiguous or not suits(self.target, given):
            return False
        others = [
            *(a for a in kept if a is not None),
            *(o for o in out if o is not given and isinstance(o, Array)),
        ]
        return not any(overlap(given, other) for other in others)

    def fresh(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        """An array for a result."""
        return Array(
            self.opened.pool.allocate(int(np.prod(shape, dtype=object)) * dtype.itemsize), shape, dtype
        )

    def _numbers(self, results: list[Any]) -> list[Any]:
        """Numbers are read back: their copies go out together, and the host waits once."""
        return [
            result.numpy() if n in self.scalars and isinstance(result, Array) else result
            for n, result in enumerate(results)
        ]


def overlap(a: Any, b: Any) -> bool:
    """Whether two arrays, both NumPy's or both of the device, may share elements."""
    if isinstance(a, np.ndarray):
        return np.may_share_memory(a, b)
    return a._allocation is b._allocation and np.may_share_memory(a.geometry(), b.geometry())


def bring_back(results: list[Any], places: Places, plan: DevicePlan) -> list[Any]:
    """The results of a call without arrays of the device, as NumPy's; what was updated is copied back."""
    hosts = dict(zip(map(id, places.arrays), places.hosts, strict=True))
    for n in plan.layout.updated:
        at = sum(1 for kind in plan.kinds[:n] if kind == "array")
        updated = places.hosts[at]
        if updated is not None:
            note_write(updated)
            np.copyto(updated, places.arrays[at].numpy())
    found = []
    for result in results:
        host = hosts.get(id(result))
        if host is not None:  # a donated array
            note_write(host)
            np.copyto(host, result.numpy())
            found.append(host)
        else:
            found.append(result.numpy() if isinstance(result, Array) else result)
    return found


def _copy_out(target: Any, source: Array) -> None:
    if isinstance(target, Array):
        target[...] = source
    else:
        np.copyto(target, source.numpy())


def _buffer(array: Array, stream: Stream) -> Buffer:
    array._allocation.used_on(stream.native)
    size = array.dtype.itemsize
    if array.offset % size:
        raise LaunchError(f"{array!r} begins inside of an element", hint="pass a copy: x.copy()")
    return Buffer(array._allocation, array.offset // size, array.shape, size)


def _kind(spec: ArraySpec | ScalarSpec) -> str:
    if isinstance(spec, ArraySpec):
        return "array"
    dtype = BY_NAME[spec.dtype]
    return KINDS.get(spec.dtype) or (spec.dtype if dtype.is_float else f"i{dtype.bits}")
