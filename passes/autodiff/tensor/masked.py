"""Products of matrices under gates: the operands are cut to zero, not each term of the sums.

The adjoint of a product is a product as well, and is computed as one only if its body multiplies and adds. So an
element of an operand is replaced by zero where nothing flows to any result that it is a factor of: what a program
computes and does not take may be infinite there, and zero times infinity is no zero. An element that a result which
is taken was made of stays as it is.
"""

from __future__ import annotations

from functools import reduce

from mlir import ir
from mlir.dialects import arith

from pykern.passes.autodiff.rules.gates import either
from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output, elementwise
from pykern.passes.autodiff.tensor.frame import Frame
from pykern.passes.autodiff.tensor.gates import as_bit, as_byte, closed
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.seeds import Seed
from pykern.passes.autodiff.tensor.values import constant, is_tensor
from pykern.passes.ir.accumulators import StructuredKind, accumulation
from pykern.passes.ir.lengths import sizes_of
from pykern.passes.ir.structured import Structured

_MULTIPLIES_AND_ADDS = frozenset(
    {"arith.mulf", "math.fma", "arith.addf", "arith.subf", "arith.negf", "arith.extf", "arith.truncf"}
)


def is_product(op: Structured) -> bool:
    """Whether the op adds up products of elements, each read at some of the loops."""
    return (
        all(accumulation(op, n).kind is StructuredKind.ADD for n in range(len(op.outputs)))
        and all(inner.name in _MULTIPLIES_AND_ADDS for inner in op.ops)
        and all(map.is_projected_permutation for map in op.maps)
    )


class Masks:
    """The operands of a product, zero where no seed is open; each is made where it is asked for."""

    def __init__(self, op: Structured, scope: Scope, seeds: list[Seed]) -> None:
        self.op, self.scope, self.seeds = op, scope, seeds
        self._cut: dict[int, ir.Value] = {}

    def operand(self, place: int) -> ir.Value:
        """Operand `place` as the adjoint reads it."""
        if place not in self._cut:
            with self.scope.here:
                value, open = self.scope.value(self.op.operands[place]), self._open(place)
                self._cut[place] = elementwise(_cut, [value, open])
        return self._cut[place]

    def _open(self, place: int) -> ir.Value:
        """Whether anything flows to a result that an element of the operand is a factor of, as bytes."""
        builder = GenericBuilder(self.op.loops, lambda: self.op.extents)
        with builder.body:
            frame = Frame(self.op, self.scope, builder)
            first, *others = [seed.open(frame) for seed in self.seeds]
            total = reduce(either, others, first)
            assert total is not None
            byte = as_byte(total)
        map = self.op.maps[place]
        start = closed(sizes_of(self.scope.value(self.op.operands[place])))
        return builder.finish([Output(start, map, byte, accumulate=not map.is_permutation)])[0]


class MaskedFrame(Frame):
    """The adjoint over the primal's loops, which reads the operands as they are cut."""

    def __init__(self, op: Structured, scope: Scope, builder: GenericBuilder, masks: Masks) -> None:
        super().__init__(op, scope, builder)
        self.masks = masks

    def _operand(self, place: int) -> ir.Value:
        if not is_tensor(self.op.operands[place]):
            return super()._operand(place)
        self.reads_primal = True
        return self.bring(self.masks.operand(place), self.op.maps[place])


def _cut(value: ir.Value, open: ir.Value) -> ir.Value:
    return arith.select(as_bit(open), value, constant(value.type, 0.0))
