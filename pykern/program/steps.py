"""The host's part of an array program on a device: allocations, launches, copies, loops, in the order of a stream.

Comes in: `ProgramPlan.steps`, JSON: ``{"constants": [[register, type, value]], "steps": [...]}``. A step is a list, its
name first; numbers in it are registers unless said otherwise. A length is a number, or ``[register]``:

    ["alloc", to, itemsize, lengths]
    ["view", to, from, shift, [[register, stride]], lengths or null]
    ["bytes", to, from, first byte, itemsize, lengths]   ["constant", to, lengths, base64]
    ["copy", from, to, itemsize]                         ["read", to, from, [[register, stride]], type]
    ["length", to, from, dimension]                      ["drop", [registers]]
    ["compute", to, op, [operands], type, operands' type, predicate?]      ["select", to, condition, a, b]
    ["launch", kernel, [["array", register, strides?] | [type, register]], counts, slots]
    ["for", [from, to, step], initial, inside, steps, carried, results]
    ["while", initial, inside, tests, condition, handed, taken, steps, carried, results]
    ["if", condition, [steps, values], [steps, values], results]

Goes out: `steps_of`, closures over the registers of a `Run`. Offsets are in elements.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pykern.program.scalars import compute, number
from pykern.runtime.pool import Allocation, Pool
from pykern.runtime.registry import Opened
from pykern.runtime.stream import Stream

if TYPE_CHECKING:
    from pykern.program.kernels import LaunchedKernel


class Buffer(NamedTuple):
    """Memory that the program works on: where it begins, in elements, and its lengths."""

    allocation: Allocation
    offset: int
    lengths: tuple[int, ...]
    itemsize: int


@dataclass
class Run:
    """One call under way."""

    opened: Opened
    stream: Stream
    registers: list[Any]
    pool: Pool
    """Where memory between the kernels comes from."""

    def allocate(self, nbytes: int) -> Allocation:
        made = self.pool.allocate(nbytes)
        made.used_on(self.stream.native)
        return made


Step = Callable[[Run], None]


class Steps:
    """Makes closures of steps. Constant arrays are brought to the device once."""

    def __init__(self, opened: Opened, kernels: list[LaunchedKernel]) -> None:
        self.opened = opened
        self.kernels = kernels

    def block(self, steps: list[list[Any]]) -> Callable[[Run], None]:
        made = [getattr(self, f"_{name}")(*rest) for name, *rest in steps]
        if len(made) == 1:
            return made[0]

        def run(call: Run) -> None:
            for step in made:
                step(call)

        return run

    # -- buffers ---------------------------------------------------------------------------------

    def _alloc(self, to: int, itemsize: int, lengths: list[Any]) -> Step:
        known = _lengths(lengths)

        def run(call: Run) -> None:
            sizes = known(call)
            call.registers[to] = Buffer(call.allocate(itemsize * math.prod(sizes)), 0, sizes, itemsize)

        return run

    def _view(
        self, to: int, source: int, shift: int, moving: list[list[int]], shape: list[Any] | None
    ) -> Step:
        known = _lengths(shape) if shape is not None else None

        def run(call: Run) -> None:
            registers = call.registers
            buffer = registers[source]
            offset = buffer.offset + shift
            for register, stride in moving:
                offset += registers[register] * stride
            lengths = known(call) if known else buffer.lengths
            registers[to] = Buffer(buffer.allocation, offset, lengths, buffer.itemsize)

        return run

    def _bytes(self, to: int, source: int, first: int, itemsize: int, lengths: list[Any]) -> Step:
        known = _lengths(lengths)

        def run(call: Run) -> None:
            buffer = call.registers[source]
            offset = (buffer.offset + call.registers[first]) // itemsize
            call.registers[to] = Buffer(buffer.allocation, offset, known(call), itemsize)

        return run

    def _constant(self, to: int, lengths: list[int], text: str) -> Step:
        data = np.frombuffer(base64.b64decode(text), np.uint8)
        allocation = self.opened.pool.allocate(data.nbytes)
        driver, native = self.opened.driver, self.opened.stream
        if data.nbytes:
            driver.copy_in(native, allocation.used_on(native), 0, data)
            driver.wait(driver.record(native))
        buffer = Buffer(allocation, 0, tuple(lengths), data.nbytes // max(1, math.prod(lengths)))

        def run(call: Run) -> None:
            allocation.used_on(call.stream.native)
            call.registers[to] = buffer

        return run

    def _copy(self, source: int, to: int, itemsize: int) -> Step:
        def run(call: Run) -> None:
            a, b = call.registers[source], call.registers[to]
            nbytes = itemsize * math.prod(b.lengths)
            if nbytes and (a.allocation is not b.allocation or a.offset != b.offset):
                target, memory = b.allocation.memory, a.allocation.memory
                offsets = b.offset * itemsize, a.offset * itemsize
                call.opened.driver.copy(call.stream.native, target, offsets[0], memory, offsets[1], nbytes)

        return run

    def _read(self, to: int, source: int, moving: list[list[int]], kind: str) -> Step:
        def run(call: Run) -> None:
            registers = call.registers
            buffer = registers[source]
            offset = buffer.offset + sum(registers[r] * stride for r, stride in moving)
            registers[to] = read(call, buffer.allocation, offset, kind)

        return run

    def _length(self, to: int, source: int, dimension: int) -> Step:
        def run(call: Run) -> None:
            call.registers[to] = call.registers[source].lengths[dimension]

        return run

    def _drop(self, registers: list[int]) -> Step:
        def run(call: Run) -> None:
            for register in registers:
                call.registers[register] = None

        return run

    # -- numbers ---------------------------------------------------------------------------------

    def _compute(
        self, to: int, name: str, operands: list[int], kind: str, operand: str, predicate: int = 0
    ) -> Step:
        function = compute(name, kind, operand, predicate)

        def run(call: Run) -> None:
            registers = call.registers
            registers[to] = function(*[registers[n] for n in operands])

        return run

    def _select(self, to: int, condition: int, a: int, b: int) -> Step:
        def run(call: Run) -> None:
            registers = call.registers
            registers[to] = registers[a] if registers[condition] else registers[b]

        return run

    # -- launches and control flow ---------------------------------------------------------------

    def _launch(self, kernel: int, arguments: list[list[Any]], counts: list[int], slots: list[int]) -> Step:
        return self.kernels[kernel].launch(arguments, tuple(counts), slots)

    def _for(
        self,
        bounds: list[int],
        initial: list[int],
        inside: list[int],
        steps: list[list[Any]],
        carried: list[int],
        results: list[int],
    ) -> Step:
        body = self.block(steps)
        counter, *arguments = inside

        def run(call: Run) -> None:
            registers = call.registers
            values = [registers[n] for n in initial]
            for turn in range(*(registers[n] for n in bounds)):
                registers[counter] = turn
                _put(registers, arguments, values)
                body(call)
                values = [registers[n] for n in carried]
            _put(registers, arguments, [None] * len(arguments))
            _put(registers, results, values)

        return run

    def _while(
        self,
        initial: list[int],
        inside: list[int],
        tests: list[list[Any]],
        condition: int,
        handed: list[int],
        taken: list[int],
        steps: list[list[Any]],
        carried: list[int],
        results: list[int],
    ) -> Step:
        test, body = self.block(tests), self.block(steps)

        def run(call: Run) -> None:
            registers = call.registers
            values = [registers[n] for n in initial]
            while True:
                _put(registers, inside, values)
                test(call)
                values = [registers[n] for n in handed]
                if not registers[condition]:
                    break
                _put(registers, taken, values)
                body(call)
                values = [registers[n] for n in carried]
            _put(registers, results, values)

        return run

    def _if(self, condition: int, then: list[Any], otherwise: list[Any], results: list[int]) -> Step:
        branches = [(self.block(steps), values) for steps, values in (then, otherwise)]

        def run(call: Run) -> None:
            registers = call.registers
            body, values = branches[0 if registers[condition] else 1]
            body(call)
            _put(registers, results, [registers[n] for n in values])

        return run


def read(call: Run, allocation: Allocation, offset: int, kind: str) -> Any:
    """One element, once all work before it is done."""
    width = {"index": 8, "i1": 1, "bf16": 2}.get(kind) or int(kind[1:]) // 8
    word = np.zeros(width, np.uint8)
    driver, native = call.opened.driver, call.stream.native
    driver.copy_out(native, word, allocation.memory, offset * width)
    driver.wait(driver.record(native))
    return number(int.from_bytes(word.tobytes(), "little"), kind)


def _put(registers: list[Any], places: list[int], values: list[Any]) -> None:
    for place, value in zip(places, values, strict=True):
        registers[place] = value


def _lengths(lengths: list[Any]) -> Callable[[Run], tuple[int, ...]]:
    if all(isinstance(n, int) for n in lengths):
        known = tuple(lengths)
        return lambda call: known
    return lambda call: tuple(n if isinstance(n, int) else max(0, call.registers[n[0]]) for n in lengths)
