"""Scalar code for several lanes at once: the one place where an op on scalars becomes an op on vectors.

Comes in: ops of scalar code, and what some of their values are in lanes. Goes out: the same ops at the insertion point,
on vectors where lanes differ and on numbers where they agree. A value of scalar code is, as its `Stride` says,

    uniform    0            the same in all lanes: it stays a scalar
    strided    n            an index, n more in each next lane: the scalar of the first lane stands for all
    varying    `VARYING`    any number in each lane: it is a vector

What only one caller needs is beside it, as a policy: which values differ, how memory is read and written, and what
control flow becomes. Read next: `body` (iterations of a loop), `items.emit` (work-items), and outside of this
folder the tiles of attention, of contractions and of transposed ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, vector

from pykern.passes.ir.clone import remake
from pykern.passes.ir.constants import constant
from pykern.passes.ir.predicates import predicate_of
from pykern.passes.ir.values import defining
from pykern.passes.kernels import index_constant, is_constant

VARYING = None
"""The stride of a value that is any number in each lane."""
Stride = int | None
_FAR = 1 << 30
"""Beyond the numbers of all lanes."""


def stride_of(op: ir.Operation, strides: Sequence[Stride]) -> Stride:
    """The stride of what an op without effects gives, from those of its operands."""
    if all(stride == 0 for stride in strides):
        return 0
    if VARYING in strides or not isinstance(op.results[0].type, ir.IndexType):
        return VARYING
    first, *others = (stride or 0 for stride in strides)
    if op.name == "arith.addi":
        return first + others[0]
    if op.name == "arith.subi":
        return first - others[0]
    if op.name == "arith.muli":
        left, right = map(is_constant, op.operands)
        factor, moving = (right, first) if right is not None else (left, others[0])
        return VARYING if factor is None else factor * moving
    return VARYING


@dataclass
class LaneEmitter:
    """Writes scalar code for `width` lanes at the insertion point.

    Code is written in the order of the program (`operation`, op by op), or where it is first asked for (`evaluate`).
    """

    width: int
    scalars: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """For uniform and strided values, the value of the first lane."""
    vectors: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """For varying values, the vector of all lanes."""
    strides: dict[ir.Value, int] = field(default_factory=dict)
    """For strided values, the difference from each lane to the next."""
    _spread: dict[tuple[ir.Block, ir.Value], ir.Value] = field(default_factory=dict, repr=False)
    """Vectors of numbers, by the block in which they were made."""

    # -- policies ------------------------------------------------------------------------------

    def stride(self, value: ir.Value) -> Stride:
        """What the lanes have in common; a caller that has analysed its code answers from that."""
        return VARYING if value in self.vectors else self.strides.get(value, 0)

    def result_stride(self, op: ir.Operation) -> Stride:
        """What the lanes have in common of the results of an op without effects."""
        return stride_of(op, [self.stride(v) for v in op.operands])

    def is_made_here(self, value: ir.Value) -> bool:
        """Whether `evaluate` has to compute the value: it is the result of an op of the scalar code."""
        return defining(value) is not None

    # -- values --------------------------------------------------------------------------------

    def give(self, known: Mapping[ir.Value, ir.Value]) -> None:
        """Say what values of the scalar code are: vectors differ from lane to lane, numbers do not."""
        for value, made in known.items():
            self.keep(value, made, VARYING if isinstance(made.type, ir.VectorType) else 0)

    def keep(self, value: ir.Value, made: ir.Value, stride: Stride) -> None:
        """Say what one value is."""
        (self.vectors if stride is VARYING else self.scalars)[value] = made
        if stride:
            self.strides[value] = stride

    def scalar(self, value: ir.Value) -> ir.Value:
        """The number of the first lane; what is not of the scalar code is itself."""
        return self.scalars.get(value, value)

    def lane(self, value: ir.Value, number: int) -> ir.Value:
        """The number of one lane."""
        if value in self.vectors:
            return vector.ExtractOp(self.vectors[value], [], [number]).result
        offset = (self.stride(value) or 0) * number
        first = self.scalar(value)
        return arith.AddIOp(first, index_constant(offset)).result if offset else first

    def vector(self, value: ir.Value) -> ir.Value:
        """The vector of all lanes."""
        if value in self.vectors:
            return self.vectors[value]
        key = ir.InsertionPoint.current.block, value
        if key not in self._spread:
            self._spread[key] = self._vector_of(self.scalar(value), self.stride(value) or 0)
        return self._spread[key]

    def type_of(self, element: ir.Type) -> ir.VectorType:
        """The vector type of lanes of a number type."""
        return ir.VectorType.get([self.width], element)

    def _vector_of(self, first: ir.Value, stride: int) -> ir.Value:
        kind, made = self.type_of(first.type), defining(first)
        if not stride:
            if made is not None and made.name == "arith.constant":
                return arith.ConstantOp(
                    kind, ir.DenseElementsAttr.get_splat(kind, made.attributes["value"])
                ).result
            return vector.BroadcastOp(kind, first).result
        offsets = vector.StepOp(kind).result
        if stride != 1:
            offsets = arith.MulIOp(offsets, constant(kind, stride)).result
        return arith.AddIOp(vector.BroadcastOp(kind, first).result, offsets).result

    # -- ops -----------------------------------------------------------------------------------

    def operation(self, op: ir.Operation) -> None:
        """An op without effects or regions."""
        stride = self.result_stride(op)
        made = self.in_lanes(op) if stride is VARYING else self.in_first_lane(op)
        for result, value in zip(op.results, made, strict=True):
            self.keep(result, value, stride)

    def in_first_lane(self, op: ir.Operation) -> Sequence[ir.Value]:
        """The op's results in the first lane, which stand for all lanes where its operands are uniform or strided."""
        return remake(op, [self.scalar(v) for v in op.operands], [r.type for r in op.results]).results

    def in_lanes(self, op: ir.Operation) -> Sequence[ir.Value]:
        """The op's results in all lanes."""
        operands = list(op.operands)
        if op.name == "arith.cmpi" and (found := self._compared_indices(op)) is not None:
            return [found]
        if op.name == "arith.select" and self.stride(operands[0]) == 0:
            given = [self.scalar(operands[0]), *map(self.vector, operands[1:])]  # one branch for all lanes
        else:
            given = [self.vector(v) for v in operands]
        return remake(op, given, [self.type_of(r.type) for r in op.results]).results

    def _compared_indices(self, op: ir.Operation) -> ir.Value | None:
        """Which lanes a comparison of indices holds in, where both move by a constant from lane to lane: that is one of
        the lane's number with the difference of the first lane's indices, and needs 32 bits instead of 64."""
        left, right = op.operands
        strides = self.stride(left), self.stride(right)
        predicate = predicate_of(op)
        if not isinstance(left.type, ir.IndexType) or VARYING in strides or predicate[0] == "u":
            return None
        moves = (strides[0] or 0) - (strides[1] or 0)
        if abs(moves) * self.width >= _FAR:
            return None
        i32 = ir.IntegerType.get_signless(32)
        kind = self.type_of(i32)
        difference = arith.SubIOp(self.scalar(right), self.scalar(left)).result
        near = arith.MinSIOp(
            arith.MaxSIOp(difference, index_constant(-_FAR)).result, index_constant(_FAR)
        ).result
        other = vector.BroadcastOp(kind, arith.IndexCastOp(i32, near).result).result
        numbers: list[ir.Attribute] = [ir.IntegerAttr.get(i32, moves * n) for n in range(self.width)]
        lanes = arith.ConstantOp(kind, ir.DenseElementsAttr.get(numbers, kind)).result
        return remake(op, [lanes, other], [self.type_of(op.results[0].type)]).result

    def evaluate(self, value: ir.Value) -> None:
        """Write what `value` is computed from, as far as it is not there yet, and the value."""
        waiting = [value]
        while waiting:  # no recursion: chains may be long
            if not self._is_missing(waiting[-1]):
                waiting.pop()
                continue
            op = waiting[-1].owner.operation
            missing = [v for v in op.operands if self._is_missing(v)]
            if missing:
                waiting.extend(reversed(missing))
            else:
                self.operation(op)

    def evaluated(self, value: ir.Value) -> ir.Value:
        """The vector of a value that is computed first where it is not there yet."""
        self.evaluate(value)
        return self.vector(value)

    def _is_missing(self, value: ir.Value) -> bool:
        return value not in self.scalars and value not in self.vectors and self.is_made_here(value)


def computed(value: ir.Value, known: Mapping[ir.Value, ir.Value], width: int) -> ir.Value:
    """`value` of scalar code, from what is known of it in lanes; a number where `width` is 0."""
    emitter = LaneEmitter(width)
    emitter.give(known)
    emitter.evaluate(value)
    return emitter.vector(value) if width else emitter.scalar(value)
