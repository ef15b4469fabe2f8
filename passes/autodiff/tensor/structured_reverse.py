"""The adjoint of a linalg op: for each operand that varies one op that writes its cotangent.

Operands at permutations of the loops share one parallel op; an operand that leaves loops out gets a
reduction over them, added up in its cotangent; sums of loops are gathered (`convolution`), slices of
one tensor too (`stencil`); any other map is run in order, every loop a reduction. Where that reduction is a
product of matrices under gates, it stays one, of operands that are cut (`masked`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.passes.autodiff.rules import table
from pykern.passes.autodiff.rules.gates import either, may_be_infinite
from pykern.passes.autodiff.tensor import gates
from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output
from pykern.passes.autodiff.tensor.convolution import gathering_frame
from pykern.passes.autodiff.tensor.cotangents import Cotangents, blank, zero
from pykern.passes.autodiff.tensor.frame import Frame
from pykern.passes.autodiff.tensor.gates import MaybeGate, as_bit, as_byte, byte, closed
from pykern.passes.autodiff.tensor.lookup import add_lookups
from pykern.passes.autodiff.tensor.masked import MaskedFrame, Masks, is_product
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.seeds import Seed, seeds
from pykern.passes.autodiff.tensor.stencil import add_slices
from pykern.passes.autodiff.tensor.sweep import backward, gated, gates_back
from pykern.passes.autodiff.tensor.targets import Target, lookups, slices_of_one, targets
from pykern.passes.autodiff.tensor.values import element, full, is_tensor
from pykern.passes.autodiff.tensor.wide_sums import is_short, narrowed, wide, widened
from pykern.passes.ir.lengths import empty, sizes_of
from pykern.passes.ir.structured import Structured


def reverse_structured(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    """Add what flows from the results of a linalg op to what it reads."""
    Adjoint(Structured(op), scope, cotangents).run()


class Adjoint:
    def __init__(self, op: Structured, scope: Scope, cotangents: Cotangents) -> None:
        self.op, self.scope, self.cotangents = op, scope, cotangents
        self.seeds: list[Seed] = seeds(op, scope, cotangents)
        self.risky = _is_risky(op) or any(seed.factored for seed in self.seeds)
        gated = all(seed.gated for seed in self.seeds)
        self.masks = Masks(op, scope, self.seeds) if gated and is_product(op) else None

    def run(self) -> None:
        found = targets(self.op, self.cotangents.varied)
        for source, cuts in slices_of_one(self.op, found).items():
            add_slices(self, source, cuts)
            found = [target for target in found if target not in cuts]
        add_lookups(self, lookups(self.op, self.cotangents.varied))
        whole, projected = [], {}
        for target in found:
            if target.map.is_permutation:
                whole.append(target)
            elif target.map.is_projected_permutation:
                projected.setdefault(target.loops, []).append(target)
            else:
                self.other(target)
        for group in (whole, *projected.values()):
            self.group(group, sums=group is not whole)

    def group(self, group: Sequence[Target], sums: bool) -> None:
        """One op for targets whose maps name the same loops; `sums`: not all loops."""
        builder = GenericBuilder(self.op.loops, lambda: self.op.extents)
        with builder.body:
            if sums and self.masks is not None:
                values = self.swept(MaskedFrame(self.op, self.scope, builder, self.masks), group)
            else:
                values = self.swept(Frame(self.op, self.scope, builder), group)
        if values:
            self.finish(builder, values)
        else:
            builder.drop()

    def other(self, target: Target) -> None:
        """A target at a map that is no projection."""
        builder = GenericBuilder(self.op.loops, lambda: self.op.extents)
        with builder.body:
            frame = gathering_frame(self.op, self.scope, builder, target)
            values = self.swept(frame or Frame(self.op, self.scope, builder), [target])
            if frame is not None and values:
                values = [(target, frame.guarded(values[0][1]))]
        if not values:
            builder.drop()
        elif frame is not None:
            self.finish(builder, values, map=frame.target_map)
        else:
            self.finish(builder, values, kinds=["reduction"] * self.op.loops)

    def swept(self, frame: Frame, group: Sequence[Target]) -> list[tuple[Target, ir.Value]]:
        """The cotangents of the targets' elements, in the body being written; none where nothing flows."""
        elements = [e for target in group for e in target.elements]
        gates = self.risky and not isinstance(frame, MaskedFrame)
        entering = [seed.flow(frame, gates) for seed in self.seeds]
        flowing = backward(self.op, frame.primal, entering, elements)
        found = []
        for target in group:
            parts = [flowing[e].settled() for e in target.elements if e in flowing]
            if parts:
                total = parts[0]
                for part in parts[1:]:
                    total = arith.addf(total, part)
                found.append((target, total))
        return found

    def finish(
        self,
        builder: GenericBuilder,
        values: list[tuple[Target, ir.Value]],
        map: ir.AffineMap | None = None,
        kinds: Sequence[str] | None = None,
    ) -> None:
        """Write the cotangents; they are added to what is known of them already."""
        outputs, open, short = [], [], []
        for target, value in values:
            gate, known = self.gate(target), self.cotangents.gate(target.value)
            init = self.cotangents.take(target.value) if is_tensor(target.value) else None
            accumulate = init is not None or not target.map.is_permutation
            open.append(gate if init is None else gates.either(gate, known))
            if sums := accumulate and is_short(target.value):
                with builder.body:
                    value = widened(value)
            if init is None:
                init = self.start(target.value, accumulate)
            elif sums:
                init = wide(init)
            short.append(sums)
            outputs.append(Output(init, map or target.map, value, accumulate))
        results = builder.finish(outputs, kinds)
        for (target, _), gate, sums, result in zip(values, open, short, results, strict=True):
            scalar = not is_tensor(target.value)
            total = narrowed(result, target.value) if sums else result
            self.cotangents.add(target.value, tensor.extract(total, []) if scalar else total, gate)

    def gate(self, target: Target) -> MaybeGate:
        """The gate of a target: where it has a cotangent."""
        return (lambda: self._bytes(target)) if self.closes(target.elements) else None

    def closes(self, elements: Sequence[ir.Value]) -> bool:
        """Whether all that flows to `elements` flows under gates."""
        reached = gated(self.op, [(seed.at, seed.gated) for seed in self.seeds], elements)
        return bool(reached) and all(reached.values())

    def open(self, frame: Frame, elements: Sequence[ir.Value]) -> ir.Value:
        """In the body being written: whether anything flows to `elements`, which `closes`, as a byte."""
        entering = [(seed.at, seed.open(frame)) for seed in self.seeds]
        found = gates_back(self.op, frame.primal, entering, elements)
        first, *others = [found[one] for one in elements if one in found]
        total = reduce(either, others, first)
        assert total is not None
        return as_byte(total)

    def _bytes(self, target: Target) -> ir.Value:
        """The gate of a target, written like its cotangent."""
        builder = GenericBuilder(self.op.loops, lambda: self.op.extents)
        with builder.body:
            total = self.open(Frame(self.op, self.scope, builder), target.elements)
        whole = target.map.is_permutation
        sizes = sizes_of(self.scope.value(target.value)) if is_tensor(target.value) else []
        init = empty(sizes, byte()) if whole else closed(sizes)
        in_order = None if target.map.is_projected_permutation else ["reduction"] * self.op.loops
        (result,) = builder.finish([Output(init, target.map, total, not whole)], in_order)
        return result if is_tensor(target.value) else as_bit(tensor.extract(result, []))

    def start(self, value: ir.Value, accumulate: bool) -> ir.Value:
        if not is_tensor(value):
            return full([], element(value.type), 0.0)
        if accumulate and is_short(value):
            return full(sizes_of(self.scope.value(value)), ir.F32Type.get(), 0.0)
        return zero(value, self.scope) if accumulate else blank(value, self.scope)


def _is_risky(op: Structured) -> bool:
    """Whether zeros that flow into the body may meet factors that are infinite."""
    return any(
        table.has_rule(inner) and may_be_infinite(inner, place)
        for inner in op.ops
        for place in range(len(inner.operands))
    )
