"""Values that are the same for all positions: computed once, in front of the linalg op that needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, tensor

from pykern.passes.raise_to_linalg.boxes import IterationBox
from pykern.passes.raise_to_linalg.conditions import is_length
from pykern.passes.raise_to_linalg.evaluation import (
    Evaluator,
    array_length,
    from_stored,
    index_number,
    never_empty,
)
from pykern.passes.raise_to_linalg.expressions import Carried, Count, Expression, Fold, Length, Load
from pykern.passes.raise_to_linalg.forms import Dim, Form


@dataclass(eq=False)
class Scalars(Evaluator):
    """Evaluates what depends on no dimension but those run through in sequence."""

    arrays: dict[int, ir.Value] = field(default_factory=dict)
    counts: dict[tuple[str, int], ir.Value] = field(default_factory=dict)
    hold: Callable[[Fold], ir.Value] | None = None
    """Gives the tensor of a fold that depends on no dimension."""
    lookup: dict[Expression, tuple[ir.Value, list[tuple[Dim, ir.Value]]]] = field(default_factory=dict)
    """Tensors with an element for each position of dimensions in sequence, and their first positions."""

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is computed within is forgotten after it: it stands in a block of its own."""
        outer = self.memo, self.lookup
        self.memo, self.lookup = dict(self.memo), dict(self.lookup)
        yield
        self.memo, self.lookup = outer

    def position(self, dim: Dim) -> ir.Value:
        assert dim.value is not None, f"{dim} is not run through in sequence"
        return dim.value

    def compute(self, value: Expression) -> ir.Value:
        if isinstance(value, Length):
            return array_length(self.arrays[value.array], value.dim)
        if isinstance(value, Count):
            return self.counts[value.what, value.dim]
        return super().compute(value)

    def leaf(self, value: Load | Carried | Fold) -> ir.Value:
        if isinstance(value, Load) and value not in self.lookup:
            source = never_empty(value.tensor) if self.rest(value.mask) else value.tensor
            return self.extracted(value, source)
        if value in self.lookup:
            held, lows = self.lookup[value]
            indices = [arith.SubIOp(dim.position, low).result for dim, low in lows]
        else:
            assert self.hold is not None
            held, indices = value.tensor if isinstance(value, Carried) else self.hold(value), []
        return from_stored(tensor.ExtractOp(held, indices).result, value.type)

    # -- ranges ---------------------------------------------------------------------------------

    def low(self, box: IterationBox, dim: Dim) -> ir.Value:
        return self._extreme(box.range(dim).lows, arith.MaxSIOp)

    def high(self, box: IterationBox, dim: Dim) -> ir.Value:
        return self._extreme(box.range(dim).highs, arith.MinSIOp)

    def count(self, box: IterationBox, dim: Dim) -> ir.Value:
        """Number of positions, never negative; 0 where a condition of the box fails."""
        found = box.range(dim)
        conditions = box.conditions if dim is box.dims[0] else ()
        key = ("count", found, conditions)
        if key not in self.memo:
            self.memo[key] = self._count(box, dim, conditions)
        return self.memo[key]

    def _count(self, box: IterationBox, dim: Dim, conditions: tuple) -> ir.Value:
        found = box.range(dim)
        if len(found.lows) == 1 and len(found.highs) == 1 and is_length(found.highs[0] - found.lows[0]):
            size = self.form(found.highs[0] - found.lows[0])
        else:
            size = arith.SubIOp(self.high(box, dim), self.low(box, dim)).result
            size = arith.MaxSIOp(size, index_number(0)).result
        if conditions:
            size = arith.SelectOp(self.conjunction(conditions), size, index_number(0)).result
        return size

    def stride(self, dim: Dim, factor: int) -> ir.Value | None:
        """Cells from one position to the next, None for 1."""
        if dim.step is None:
            return None if factor == 1 else index_number(factor)
        step = self.value(dim.step)
        return step if factor == 1 else arith.MulIOp(step, index_number(factor)).result

    def _extreme(self, forms: tuple[Form, ...], op: type) -> ir.Value:
        key = (op, forms)
        if key not in self.memo:
            total = self.form(forms[0])
            for form in forms[1:]:
                total = op(total, self.form(form)).result
            self.memo[key] = total
        return self.memo[key]
