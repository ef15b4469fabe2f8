"""What a host does to run an array program of which the kernels are exported: buffers, copies and launches, in order.

Comes in: an artifact whose program has a plan (`pykern.program.steps`). Goes out: a dictionary, which is written as
JSON. Loops of known length are written out. A program whose host would have to compute, or to look at results, is
refused: C has such programs as one function. Read next: `programs`.
"""

from __future__ import annotations

import base64
import json
import math
from dataclasses import dataclass, field, replace
from typing import Any

from pykern.data.abi import grid_axes
from pykern.data.artifact import DeviceCode, PlanKernel
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, leaves
from pykern.data.target import parse
from pykern.data.tensor_form import MAP
from pykern.errors import LaunchError
from pykern.exporter.manifest import numbers_of
from pykern.lowering.source.options import OFFSETS
from pykern.types import BY_NAME

MOST_STEPS = 10_000


@dataclass(frozen=True)
class Place:
    """Memory: a buffer by its name, where it begins, in elements, and its lengths."""

    buffer: str
    offset: int
    lengths: tuple[int, ...]
    itemsize: int


@dataclass
class ProgramManifest:
    """The manifest in the making. `registers` are `Place`s, numbers, and names of arguments that are numbers."""

    kernel: str
    offsets: bool
    """Whether kernels take whole buffers, and numbers that say where an array begins."""
    binary: bool
    """Whether kernels are binaries, which take all arguments in their order, and numbers as words of 64 bits."""
    kernels: tuple[PlanKernel, ...]
    registers: dict[int, Any] = field(default_factory=dict)
    buffers: list[dict[str, Any]] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)

    def block(self, steps: list[list[Any]]) -> None:
        """Follow steps of a plan. Raises `LaunchError` for those that need more of a host."""
        for name, *rest in steps:
            follow = getattr(self, f"_{name}", None)
            if follow is None:
                raise LaunchError(
                    f"the host of `{self.kernel}` has to {_DOES.get(name, name)} between its kernels",
                    hint='export it as C, which has the host\'s part as well: form="c"',
                )
            follow(*rest)
            if len(self.steps) > MOST_STEPS:
                raise LaunchError(
                    f"`{self.kernel}` launches more than {MOST_STEPS} kernels", hint='use form="c"'
                )

    def argument(self, name: str, spec: Any) -> dict[str, Any]:
        """Give the next register to an argument; `spec` has its type, and an array its shape."""
        number = len(self.registers)
        if not hasattr(spec, "shape"):
            self.registers[number] = {"argument": name}
            return {"name": name, "kind": "number", "dtype": spec.dtype}
        size = max(1, BY_NAME[spec.dtype].bits // 8)
        self.registers[number] = Place(name, 0, tuple(spec.shape), size)
        nbytes = size * math.prod(spec.shape)
        return {
            "name": name,
            "kind": "memory",
            "dtype": spec.dtype,
            "shape": list(spec.shape),
            "bytes": nbytes,
        }

    # -- steps -----------------------------------------------------------------------------------

    def _alloc(self, to: int, itemsize: int, lengths: list[Any]) -> None:
        shape = self._lengths(lengths)
        self.registers[to] = self._buffer(itemsize * math.prod(shape), shape, itemsize)

    def _constant(self, to: int, lengths: list[int], text: str) -> None:
        data = base64.b64decode(text)
        place = self._buffer(len(data), tuple(lengths), len(data) // max(1, math.prod(lengths)))
        self.buffers[-1]["base64"] = text
        self.registers[to] = place

    def _buffer(self, nbytes: int, shape: tuple[int, ...], itemsize: int) -> Place:
        name = f"buffer{len(self.buffers)}"
        self.buffers.append({"name": name, "bytes": nbytes})
        return Place(name, 0, shape, itemsize)

    def _view(
        self, to: int, source: int, shift: int, moving: list[list[int]], lengths: list[Any] | None
    ) -> None:
        place = self.registers[source]
        offset = place.offset + shift + sum(self._number(r) * stride for r, stride in moving)
        shape = place.lengths if lengths is None else self._lengths(lengths)
        self.registers[to] = replace(place, offset=offset, lengths=shape)

    def _bytes(self, to: int, source: int, first: int, itemsize: int, lengths: list[Any]) -> None:
        place = self.registers[source]
        offset = (place.offset * place.itemsize + self._number(first)) // itemsize
        self.registers[to] = Place(place.buffer, offset, self._lengths(lengths), itemsize)

    def _copy(self, source: int, to: int, itemsize: int) -> None:
        one, other = self.registers[source], self.registers[to]
        nbytes = itemsize * math.prod(other.lengths)
        if nbytes and (one.buffer, one.offset) != (other.buffer, other.offset):
            self.steps.append({"copy": nbytes, "from": _at(one, itemsize), "to": _at(other, itemsize)})

    def _length(self, to: int, source: int, dimension: int) -> None:
        self.registers[to] = self.registers[source].lengths[dimension]

    def _drop(self, registers: list[int]) -> None:
        """Buffers live as long as the program."""

    def _launch(self, number: int, arguments: list[list[Any]], counts: list[int], slots: list[int]) -> None:
        kernel = self.kernels[number]
        group = (*reversed(kernel.workgroup), 1, 1)[:3]
        groups = [-(-n // g) for n, g in zip((*reversed(counts), 1, 1)[:3], group, strict=True)]
        axes = grid_axes(len(counts)) if self.binary else 0
        given = [*self._given(arguments), *((name, "i64", n) for name, n in _of_launch(slots, axes))]
        told: dict[str, Any] = {"launch": kernel.symbol, "groups": groups, "workgroup": list(group)}
        if self.binary:
            told["arguments"] = [_argument(each) for each in given]
            told["shared_bytes"] = kernel.device.launch_shared
        else:
            told["arguments"] = [
                {"name": name, **(value if isinstance(value, dict) else {"value": value})}
                for name, (_, _, value) in zip(kernel.device.names, given, strict=False)
                if name
            ]
        self.steps.append(told)

    def _given(self, arguments: list[list[Any]]) -> list[tuple[str, str, Any]]:
        """What a kernel is given, in the order of its arguments before those that it does not need were left out: what
        it is, its type, and its value."""
        found: list[tuple[str, str, Any]] = []
        for kind, register, *more in arguments:
            value = self.registers[register]
            if kind != "array":
                found.append(("number", "i64" if kind == "index" else kind, value))
                continue
            found.append(
                ("memory", "", {"buffer": value.buffer} if self.offsets else _at(value, value.itemsize))
            )
            if self.offsets:
                found.append(("offset", "i64", value.offset))
            found += [(f"length{n}", "i64", length) for n, length in enumerate(value.lengths)]
            found += [(f"stride{n}", "i64", stride) for n, stride in enumerate(more[0] if more else [])]
        return found

    def _for(
        self,
        bounds: list[int],
        initial: list[int],
        inside: list[int],
        steps: list[list[Any]],
        carried: list[int],
        results: list[int],
    ) -> None:
        counter, *places = inside
        values = [self.registers[n] for n in initial]
        for turn in range(*map(self._number, bounds)):
            self.registers |= {counter: turn, **dict(zip(places, values, strict=True))}
            self.block(steps)
            values = [self.registers[n] for n in carried]
        self.registers |= dict(zip(results, values, strict=True))

    # -- numbers ---------------------------------------------------------------------------------

    def _lengths(self, lengths: list[Any]) -> tuple[int, ...]:
        return tuple(self._number(n[0]) if isinstance(n, list) else n for n in lengths)

    def _number(self, register: int) -> int:
        value = self.registers[register]
        if isinstance(value, dict):
            raise LaunchError(
                f"`{value['argument']}` of `{self.kernel}` decides how memory or loops are laid out",
                hint="give its value by pk.static, or export the program as C",
            )
        return int(value)


_DOES = {
    "read": "read a number of an array", "compute": "compute with numbers", "select": "choose between numbers",
    "while": "test a condition", "if": "test a condition",
}  # fmt: skip


def program_manifest(lowered: Any, form: str, ending: str, texts: dict[str, str]) -> dict[str, Any]:
    """The manifest. `texts` tells the end of the file's name for each kernel. Raises `LaunchError` for programs whose
    host does more than launch and copy, or whose kernels need more than arguments."""
    source, artifact = lowered.source, lowered.artifact
    layout, target = artifact.program, parse(artifact.target)
    assert isinstance(source, ProgramSource) and layout is not None and layout.plan is not None
    kernels, binary = layout.plan.kernels, target.family != "source"
    _refuse_more(artifact.kernel, [kernel.device for kernel in kernels])
    offsets = any(k.device.offsets for k in kernels) if binary else target.chip in OFFSETS
    made = ProgramManifest(artifact.kernel, offsets, binary, kernels)
    written = {r.argument for r in layout.results if r.argument >= 0}
    arguments, names = [], []
    for parameter in source.parameters:
        specs = list(leaves(parameter.spec))
        for number, spec in enumerate(specs):
            name = parameter.name if len(specs) == 1 else f"{parameter.name}_{number}"
            told = made.argument(name, spec)
            if isinstance(spec, ArraySpec):
                told["written"] = len(names) in written
            names.append(name)
            arguments.append(told)
    own = [r for r in layout.results if r.argument < 0]
    fresh = iter(["result"] if len(own) == 1 else [f"result{n}" for n in range(len(own))])
    results = []
    for result in layout.results:
        results.append(
            {"name": names[result.argument], "dtype": result.dtype, "shape": list(result.shape)}
            if result.argument >= 0
            else made.argument(next(fresh), result)
        )
    plan = json.loads(layout.plan.steps)
    for register, kind, value in plan["constants"]:
        made.registers[register] = float(value) if kind.startswith("f") else int(value)
    made.block(plan["steps"])
    files: dict[str, dict[str, Any]] = {k.symbol: {"file": texts.get(k.symbol, ending)} for k in kernels}
    if binary:
        for kernel in kernels:
            files[kernel.symbol]["shared_bytes"] = kernel.device.shared_bytes
    return {
        "program": artifact.kernel, "format": form, "target": artifact.target,
        **({"numbers": numbers_of(artifact.target)} if binary else {}),
        "arguments": arguments, "results": results, "buffers": made.buffers, "kernels": files, "steps": made.steps,
    }  # fmt: skip


def _refuse_more(program: str, kernels: list[DeviceCode]) -> None:
    """Raise for kernels that take what only pykern's own launches bring."""
    if any(kernel.tape is not None for kernel in kernels):
        raise LaunchError(
            f"`{program}` launches a derivative that keeps values on a tape, which a launch by pykern brings",
            hint="launch it by pykern, or write the differentiated kernel as array operations",
        )
    if any(kind.startswith(MAP) for kernel in kernels for kind in kernel.arguments):
        raise LaunchError(
            f"kernels of `{program}` take tensor maps, which a launch by pykern makes",
            hint="leave `+aligned` out of the target",
        )


def _of_launch(slots: list[int], axes: int) -> list[tuple[str, int]]:
    """The numbers of the index space, and behind them the first group of each axis."""
    return [*(("count", n) for n in slots), *((f"first_{axis}", 0) for axis in "xyz"[:axes])]


def _argument(given: tuple[str, str, Any]) -> dict[str, Any]:
    """An argument of a binary."""
    what, kind, value = given
    if what == "memory":
        return {"kind": "memory", **value}
    told = value if isinstance(value, dict) else {"value": value}
    return {"kind": "number", "is": what, "dtype": kind, **told}


def _at(place: Place, itemsize: int) -> dict[str, Any]:
    """A buffer and the first byte in it."""
    return {"buffer": place.buffer, "byte": place.offset * itemsize}
