"""The kernels of an array program on a device, and how a plan launches them.

Comes in: a `PlanKernel` and where its binary lies. Goes out: steps that put a launch into a call's stream; the order
of the slots is that of `pykern.data.abi`, "Device code".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.arrays.array import Array
from pykern.capture.function_text import FunctionText
from pykern.data.abi import grid_axes
from pykern.data.artifact import Artifact, PlanKernel
from pykern.errors import LaunchError
from pykern.launching.device_report import Report
from pykern.launching.device_tape import TapeArguments, TapedLaunch, told_by_slots
from pykern.launching.on_device import along_axes, parts
from pykern.program.scalars import bits
from pykern.program.steps import Buffer, Run, Step
from pykern.runtime.driver import Memory
from pykern.runtime.registry import Opened

Triple = tuple[int, int, int]
Slots = list["Memory | int"]


class LaunchedKernel:
    """One kernel of a program, loaded on a device."""

    def __init__(
        self, opened: Opened, program: Artifact, kernel: PlanKernel, number: int, text: FunctionText
    ) -> None:
        self.opened, self.kernel, self.text = opened, kernel, text
        self.artifact = Artifact(
            key=f"{program.key}.{number}" if program.key else "",
            kernel=program.kernel,
            target=program.target,
            entry=kernel.symbol,
            binary=program.binary[kernel.begin : kernel.end],
            workgroup=kernel.workgroup,
            shared_bytes=kernel.device.shared_bytes,
            sites=program.sites if kernel.reports else (),
            device=kernel.device,
        )
        _check_group(opened, kernel, program.kernel)
        self.code = opened.code(self.artifact)
        self.tapes: dict[Any, int] = {}

    def launch(self, arguments: list[list[Any]], counts: tuple[int, ...], slots: list[int]) -> Step:
        """The step of one launch; see `pykern.program.steps` for its form."""
        device, group = self.kernel.device, along_axes(self.kernel.workgroup)
        grid = along_axes(tuple(-(-n // g) for n, g in zip(counts, self.kernel.workgroup, strict=True)))
        axes = grid_axes(len(counts))
        passed = _passing(arguments, device.offsets)
        driver, code = self.opened.driver, self.code
        pieces = [(part, [*slots, *first[:axes]]) for first, part in parts(grid, self.opened.info.max_grid)]
        if device.tape is None and not self.kernel.reports:

            def run(call: Run) -> None:
                given = passed(call)
                for part, behind in pieces:
                    driver.launch(
                        call.stream.native, code, [*given, *behind], part, group, device.launch_shared
                    )

            return run

        def run_with_more(call: Run) -> None:
            given = passed(call)
            attempt = self._attempt(call, given, slots, grid, group, axes)
            if device.tape is None:
                attempt(lambda first: [], self.opened.info.max_grid)()
                return
            written = [_array(call, arguments[n]) for n in self.kernel.writes]
            key = told_by_slots(device.tape, device, given, slots)
            TapedLaunch(self.opened, call.stream, device, grid, group, written, self.tapes, key).run(attempt)

        return run_with_more

    def _attempt(
        self, call: Run, given: Slots, slots: list[int], grid: Triple, group: Triple, axes: int
    ) -> Callable[[TapeArguments, Triple], Callable[[], None]]:
        def attempt(tape: TapeArguments, most: Triple) -> Callable[[], None]:
            report = (
                Report(self.opened, self.artifact, call.stream, self.text) if self.kernel.reports else None
            )
            behind = report.arguments(self.kernel.device.offsets) if report is not None else []
            for first, part in parts(grid, most):
                everything = [*given, *tape(first), *slots, *first[:axes], *behind]
                shared = self.kernel.device.launch_shared
                self.opened.driver.launch(call.stream.native, self.code, everything, part, group, shared)
            return report.ask if report is not None else lambda: None

        return attempt


def _check_group(opened: Opened, kernel: PlanKernel, program: str) -> None:
    """Refuse what a group of the device has not: drivers tell it late, or not at all."""
    items, most = math.prod(kernel.workgroup), opened.info.max_group
    if items > most:
        raise LaunchError(
            f"`{program}` launches groups of {items} work-items, and {opened.name} has {most} in one",
            hint="give a smaller workgroup=",
        )
    own, shared = kernel.device.shared_bytes, opened.info.shared_bytes
    if shared and own > shared:
        raise LaunchError(
            f"a kernel of `{program}` takes {own} bytes of shared memory, and {opened.name} has {shared} for a group",
            hint="share less: a smaller pk.shared, a smaller workgroup",
        )


def _passing(arguments: list[list[Any]], offsets: bool) -> Callable[[Run], Slots]:
    """What gives the arguments of a launch, arrays and numbers, as memory and slots."""
    made = [
        _array_passing(register, more[0] if more else [], offsets)
        if kind == "array"
        else _number(register, kind)
        for kind, register, *more in arguments
    ]

    def passed(call: Run) -> Slots:
        found: Slots = []
        for each in made:
            each(call, found)
        return found

    return passed


def _array_passing(register: int, strides: list[int], offsets: bool) -> Callable[[Run, Slots], None]:
    if offsets:

        def put(call: Run, found: Slots) -> None:
            buffer = call.registers[register]
            found.append(buffer.allocation.memory)
            found.append(buffer.offset)
            found.extend(buffer.lengths)
            found.extend(strides)

        return put

    def put_moved(call: Run, found: Slots) -> None:
        buffer: Buffer = call.registers[register]
        memory = buffer.allocation.memory
        moved = buffer.offset * buffer.itemsize
        found.append(
            Memory(memory.handle, memory.nbytes - moved, memory.address + moved) if moved else memory
        )
        found.extend(buffer.lengths)
        found.extend(strides)

    return put_moved


def _number(register: int, kind: str) -> Callable[[Run, Slots], None]:
    if kind in ("index", "i64", "i32", "i16", "i8", "i1"):
        return lambda call, found: found.append(call.registers[register])
    return lambda call, found: found.append(bits(call.registers[register], kind))


def _array(call: Run, argument: list[Any]) -> Array:
    """A written array as the launch of a tape puts it back: its bytes."""
    _, register, *more = argument
    buffer: Buffer = call.registers[register]
    size = buffer.itemsize
    strides = tuple(s * size for s in more[0]) if more else None
    return Array(buffer.allocation, buffer.lengths, np.dtype(f"V{size}"), strides, buffer.offset * size)
