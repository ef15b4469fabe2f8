"""Conditions of work-items are kept from a compiler that would make bounds of them.

Intel's OpenCL compiler for CPUs runs the work-items of a group in a loop, and makes bounds of that loop out of
conditions that are linear in an id. Some bounds are wrong: of ``if i < n and k - i <= m``, and of two conditions that
leave a single work-item, too many run, or none (seen in version 2026.22.10). Bits that only the launch decides, and
that are zero, make an id nothing that it knows. Addresses are computed from the ids themselves, so that neighbours are
still seen.

Comes in: a flat kernel, whose last argument is a slot of the launch. Goes out: the same. Read next: `unknown_zero`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.lowering.spirv.unknown_zero import unknown_zero
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import remake
from pykern.passes.ir.values import defining
from pykern.passes.kernels import named

_LINEAR = (
    "arith.addi", "arith.subi", "arith.muli", "arith.shli", "arith.index_cast", "arith.extsi", "arith.extui",
    "arith.trunci", "arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui",
)  # fmt: skip
"""What a compiler may look through when it looks for an id."""


@dataclass(frozen=True)
class OpaqueIds(Pass):
    """Comparisons and bounds of loops read ids of work-items that are joined with bits of zero.

    In:  flat kernels whose last argument is a slot of the launch.
    Out: no operand of `arith.cmpi`, and no bound of `scf.for`, is made of `gpu.thread_id` by `_LINEAR` ops alone: the
         sign of the last slot, which is the position of an array or a length and never negative, is in between. A
         kernel that compares each id once, with what it is less than, stays as it is.
    """

    name: ClassVar[str] = "kern-opaque-ids"
    looks_for: ClassVar[tuple[str, ...]] = ("gpu.thread_id",)

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            comparisons, loops = named(kernel, "arith.cmpi"), named(kernel, "scf.for")
            if not _are_guards(comparisons, loops):
                _Kernel(kernel).hide([*comparisons, *loops])


def _are_guards(comparisons: list[ir.Operation], loops: list[ir.Operation]) -> bool:
    """Whether ids are only asked whether they lie in the launch, each once: that much is understood everywhere."""
    known: dict[ir.Value, Counter[str]] = {}
    told = Counter[str]()
    for op in comparisons:
        left, right = (_ids(value, known) for value in op.operands)
        if right or (left and ir.IntegerAttr(op.attributes["predicate"]).value != arith.CmpIPredicate.slt):
            return False
        told += left
    bounds = any(_ids(loop.operands[place], known) for loop in loops for place in range(2))
    return not bounds and all(count == 1 for count in told.values())


def _ids(value: ir.Value, known: dict[ir.Value, Counter[str]]) -> Counter[str]:
    """The ids that a value is linear in, and how often; what is behind a subtraction counts twice. `known` grows."""
    if value not in known:
        op, found = defining(value), Counter[str]()
        if op is not None and op.name == "gpu.thread_id":
            found[str(op.attributes["dimension"])] = 1
        elif op is not None and op.name in _LINEAR:
            for operand in op.operands:
                found += _ids(operand, known)
            found = found + found if op.name == "arith.subi" else found
        known[value] = found
    return known[value]


class _Kernel:
    def __init__(self, kernel: ir.Operation) -> None:
        self.kernel = kernel
        self.zero: ir.Value | None = None
        self.made: dict[ir.Value, ir.Value] = {}
        """Values without ids that are known, by the values with them; a value that has none stands for itself."""

    def hide(self, readers: list[ir.Operation]) -> None:
        for op in readers:
            for place in range(2):  # what is compared; a loop's bounds
                op.operands[place] = self._opaque(op.operands[place])

    def _opaque(self, value: ir.Value) -> ir.Value:
        if value not in self.made:
            self.made[value] = self._remade(value)
        return self.made[value]

    def _remade(self, value: ir.Value) -> ir.Value:
        op = defining(value)
        if op is None:
            return value
        if op.name == "gpu.thread_id":
            zero = self._zero()
            with ir.InsertionPoint.after(op), op.location:
                return arith.XOrIOp(value, zero).result
        if op.name not in _LINEAR:
            return value
        operands = [self._opaque(operand) for operand in op.operands]
        if all(new == old for new, old in zip(operands, op.operands, strict=True)):
            return value
        with ir.InsertionPoint.after(op):
            return remake(op, operands, [value.type]).result

    def _zero(self) -> ir.Value:
        if self.zero is None:
            with ir.InsertionPoint.at_block_begin(kernels.body(self.kernel)), self.kernel.location:
                self.zero = arith.IndexCastOp(ir.IndexType.get(), unknown_zero(self.kernel)).result
        return self.zero
