"""One linalg op for one statement: its operands as views, its body from an expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, linalg

from pykern.passes.ir import structured
from pykern.passes.raise_to_linalg.boxes import IterationBox
from pykern.passes.raise_to_linalg.builder import TRAPS
from pykern.passes.raise_to_linalg.evaluation import Evaluator
from pykern.passes.raise_to_linalg.expressions import (
    Apply,
    Carried,
    Expression,
    Fold,
    Load,
    reachable,
    vector_dims,
)
from pykern.passes.raise_to_linalg.forms import Dim, Form
from pykern.passes.raise_to_linalg.scalars import Scalars

Terms = tuple[tuple[Dim, int], ...]


@dataclass(frozen=True)
class IndexedTensor:
    """A tensor and, for each of its dimensions, the sum of positions that indexes it."""

    tensor: ir.Value
    maps: list[Terms]


def generic(
    parallel: list[Dim],
    reduced: list[Dim],
    inputs: list[IndexedTensor],
    out: IndexedTensor,
    body: Callable[[ir.Operation, list[ir.Value], ir.Value], ir.Value],
) -> ir.Value:
    """`linalg.generic`; `body` gets the op, the input elements and the output's, and gives the result."""
    dims = [*parallel, *reduced]
    op = structured.generic(
        [each.tensor for each in inputs],
        [out.tensor],
        [_map(each.maps, dims) for each in (*inputs, out)],
        [False] * len(parallel) + [True] * len(reduced),
    )
    block = op.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        *values, old = block.arguments
        linalg.YieldOp([body(op, list(values), old)])
    return op.results[0]


def _map(maps: list[Terms], dims: list[Dim]) -> ir.AffineMap:
    results = []
    for terms in maps:
        total = ir.AffineConstantExpr.get(0)
        for dim, factor in terms:
            total = total + ir.AffineDimExpr.get(dims.index(dim)) * factor
        results.append(total)
    return ir.AffineMap.get(len(dims), 0, results)


@dataclass(eq=False)
class Body(Evaluator):
    """Evaluates within the body of a linalg op. What is the same everywhere stands in front of the op."""

    scalars: Scalars = field(default_factory=Scalars)
    box: IterationBox = field(default_factory=IterationBox)
    dims: list[Dim] = field(default_factory=list)
    op: ir.Operation | None = None
    elements: dict[Expression, ir.Value] = field(default_factory=dict)
    sources: dict[Load, ir.Value] = field(default_factory=dict)

    def is_known(self, value: Expression) -> bool:
        return value in self.elements or value in self.memo

    def known(self, value: Expression) -> ir.Value:
        return self.elements[value] if value in self.elements else self.memo[value]

    def compute(self, value: Expression) -> ir.Value:
        if not self._is_invariant(value):
            return super().compute(value)
        with ir.InsertionPoint(self.op):
            return self.scalars.value(value)

    def _is_invariant(self, value: Expression) -> bool:
        if vector_dims(value):
            return False
        for part in reachable([value]):
            if isinstance(part, Load | Carried | Fold):
                return False
            if isinstance(part, Apply) and part.name in TRAPS and self.scalars.rest(part.mask):
                return False
        return True

    def form(self, form: Form) -> ir.Value:
        resolved = self.box.resolved(form)
        varies = any(d.value is None for d in resolved.dims)
        if resolved not in self.memo and not varies and all(map(self._is_invariant, resolved.symbols)):
            with ir.InsertionPoint(self.op):
                self.memo[resolved] = self.scalars.form(resolved)
        return super().form(resolved)

    def position(self, dim: Dim) -> ir.Value:
        if dim.value is not None:
            return dim.value
        if dim not in self.memo:
            with ir.InsertionPoint(self.op):
                low, stride = self.scalars.low(self.box, dim), self.scalars.stride(dim, 1)
            number = arith.AddIOp(linalg.IndexOp(self.dims.index(dim)).result, low).result
            self.memo[dim] = number if stride is None else arith.MulIOp(number, stride).result
        return self.memo[dim]

    def leaf(self, value: Load | Carried | Fold) -> ir.Value:
        if value in self.elements:
            return self.elements[value]
        assert isinstance(value, Load)
        return self.extracted(value, self.sources[value])
