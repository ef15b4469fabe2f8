"""The cotangent of an operand read at sums of loops, ``x[s*i + k + c]``, gathered instead of scattered.

In place of i the adjoint runs over the operand's own place q = s*i + k + c, reading what the primal
reads at i at (q - k - c) / s: of tensors spread by s and padded with zeros, so that no read is out
of range. Where a body might make NaN of such zeros, what flows is masked.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from pykern.passes.autodiff.tensor.builder import GenericBuilder
from pykern.passes.autodiff.tensor.frame import Frame
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.targets import Target
from pykern.passes.autodiff.tensor.values import affine, constant, element, full, is_tensor, shape
from pykern.passes.ir.affine import Sum, linear_form
from pykern.passes.ir.lengths import as_value
from pykern.passes.ir.structured import Structured

_FINITE = {"arith.addf", "arith.subf", "arith.mulf", "arith.negf", "math.fma", "arith.extf", "arith.truncf"}
"""Ops whose partial derivatives are finite at any finite operands."""


@dataclass(frozen=True)
class Substitution:
    """Loop `loop` becomes the place in the operand: ``stride * loop = place - others - offset``."""

    loop: int
    stride: int
    others: tuple[tuple[int, int], ...]  # (loop, coefficient)
    offset: int
    size: int  # of the operand there
    before: int  # zeros needed before the first element

    @property
    def moved(self) -> ir.AffineExpr:
        """``stride * loop + before`` by the new loops: a place in the spread and padded tensor."""
        place = ir.AffineExpr.get_dim(self.loop)
        for loop, coefficient in self.others:
            place = place - ir.AffineExpr.get_dim(loop) * coefficient
        return place + (self.before - self.offset)


def gathering_frame(
    op: Structured, scope: Scope, builder: GenericBuilder, target: Target
) -> GatheringFrame | None:
    """None where the map has no such form."""
    substitutions = _substitutions(op, target)
    if substitutions is None or not _all_readable(op, target, substitutions):
        return None
    return GatheringFrame(op, scope, builder, target, substitutions)


class GatheringFrame(Frame):
    """Reads what the primal reads, by the new loops."""

    def __init__(
        self,
        op: Structured,
        scope: Scope,
        builder: GenericBuilder,
        target: Target,
        substitutions: dict[int, Substitution],
    ) -> None:
        super().__init__(op, scope, builder)
        self.by_loop = {s.loop: s for s in substitutions.values()}
        self.target = target
        self.target_map = affine(op.loops, _target_results(target, substitutions))
        self._spread: dict[tuple[ir.Value, str], ir.Value] = {}

    def bring(self, value: ir.Value, map: ir.AffineMap) -> ir.Value:
        if map == self.target.map:
            return self.builder.input(value, self.target_map)
        results, strides, before, sizes = [], [], [], []
        for expression, size in zip(map.results, shape(value), strict=True):
            loop = expression.position if isinstance(expression, ir.AffineDimExpr) else None
            replaced = self.by_loop.get(loop) if loop is not None else None
            results.append(replaced.moved if replaced else expression)
            strides.append(replaced.stride if replaced else 1)
            before.append(replaced.before if replaced else 0)
            spread = (size - 1) * strides[-1] + 1 if replaced else size
            last = replaced.size - 1 + replaced.before - replaced.offset if replaced else 0
            sizes.append(max(before[-1] + spread, last + 1) if replaced else size)
        key = (value, str(map))
        if key not in self._spread:
            with self.scope.here:
                self._spread[key] = _spread(value, strides, before, sizes)
        return self.builder.input(self._spread[key], affine(self.op.loops, results))

    def position(self, loop: int) -> ir.Value:
        if loop not in self.by_loop:
            return super().position(loop)
        return arith.divsi(self._distance(self.by_loop[loop]), as_value(self.by_loop[loop].stride))

    def guarded(self, value: ir.Value) -> ir.Value:
        """Zero where the primal has no such iteration; as it is where the zeros make it so."""
        if all(inner.name in _FINITE for inner in self.op.ops):
            return value
        condition = None
        for replaced in self.by_loop.values():
            distance = self._distance(replaced)
            size = as_value(self.op.extents[replaced.loop] * replaced.stride)
            checks = [arith.cmpi(arith.CmpIPredicate.ult, distance, size)]
            if replaced.stride > 1:
                rest = arith.remui(distance, as_value(replaced.stride))
                checks.append(arith.cmpi(arith.CmpIPredicate.eq, rest, as_value(0)))
            for check in checks:
                condition = check if condition is None else arith.andi(condition, check)
        return arith.select(condition, value, constant(value.type, 0.0))

    def _distance(self, replaced: Substitution) -> ir.Value:
        """``stride * loop``, negative or too large where there is no such iteration."""
        place = linalg.IndexOp(replaced.loop).result
        for loop, coefficient in replaced.others:
            place = arith.subi(place, arith.muli(linalg.IndexOp(loop).result, as_value(coefficient)))
        return arith.subi(place, as_value(replaced.offset))


def _substitutions(op: Structured, target: Target) -> dict[int, Substitution] | None:
    """By dimension of the operand, for those read at more than one loop."""
    written = {e.position for m in op.maps[len(op.inputs) :] for e in m.results if _is_loop(e)}
    forms = [form for e in target.map.results if (form := linear_form(e)) is not None]
    if len(forms) < len(target.map.results) or any(form.descends for form in forms):
        return None
    found: dict[int, Substitution] = {}
    named = [loop for form in forms for loop in form.loops]
    if len(named) != len(set(named)):
        return None  # a loop in two dimensions: a diagonal
    for dimension, (form, size) in enumerate(zip(forms, shape(target.value), strict=True)):
        if form.is_dimension():
            continue
        # a loop of the result: its cotangent may be padded with zeros, an operand of a product too
        candidates = [loop for loop in form.loops if loop in written]
        if not candidates:
            return None
        loop = max(candidates, key=form.factor)
        others = tuple((d, form.factor(d)) for d in form.loops if d != loop)
        before = sum(coefficient * (op.extents[d] - 1) for d, coefficient in others) + form.constant
        found[dimension] = Substitution(loop, form.factor(loop), others, form.constant, size, before)
    return found


def _target_results(target: Target, substitutions: dict[int, Substitution]) -> list[ir.AffineExpr]:
    return [
        ir.AffineExpr.get_dim(substitutions[d].loop) if d in substitutions else expression
        for d, expression in enumerate(target.map.results)
    ]


def _all_readable(op: Structured, target: Target, substitutions: dict[int, Substitution]) -> bool:
    """Whether the replaced loops are read alone everywhere else."""
    replaced = {s.loop for s in substitutions.values()}
    for value, map in zip(op.operands, op.maps, strict=True):
        if not is_tensor(value):
            continue
        if map == target.map:
            if shape(value) != shape(target.value):
                return False
            continue
        for expression in map.results:
            form: Sum | None = linear_form(expression)
            if form is None or (replaced & set(form.loops) and not form.is_dimension()):
                return False
    return True


def _is_loop(expression: ir.AffineExpr) -> bool:
    return isinstance(expression, ir.AffineDimExpr)


def _spread(value: ir.Value, strides: list[int], before: list[int], sizes: list[int]) -> ir.Value:
    """`value` in a tensor of zeros of `sizes`, from `before`, its elements `strides` apart."""
    if sizes == shape(value):
        return value
    zeros = full(sizes, element(value.type), 0.0)
    return tensor.insert_slice(value, zeros, [], [], [], before, shape(value), strides)
