"""A maximum and a sum of exponentials of what lies below it, in one pass over a row.

Comes in: the values of a `Graph`. Goes out: `OnlineSum`s, and the arithmetic that keeps a sum true while the maximum
grows: of `s` below `m`, `s * exp(m - n)` lies below `n` [Milakov and Gimelshein 2018]. It is done once a block of
columns: the block's maximum first, then its sum while it is in the first cache. Each lane with a maximum of its own
needs a second exp for each term (1.9 of the time in the cache), or a branch that data decide about (1.4 in memory).

Why: memory is read once rather than twice. The sum of exponentials of 2^24 f32 took 0.40 to 0.48 of the time so,
with the next block fetched meanwhile, and 0.95 to 0.99 in the caches. Where the exponentials are wanted afterwards
too, they would be computed twice: that pays from where a row and what is kept of it leave the last cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.passes.codegen.cpu.rows.values import Computed, Graph, Loaded, Reduced, Value
from pykern.passes.ir.constants import constant


@dataclass(frozen=True, eq=False)
class OnlineSum:
    """`total` adds up exponentials, `term`, of a value less `largest`, which is the maximum of that value."""

    largest: Reduced
    total: Reduced
    term: Computed

    @property
    def difference(self) -> Computed:
        """The argument of the exponential."""
        argument = self.term.inputs[0]
        assert isinstance(argument, Computed)
        return argument

    @property
    def kind(self) -> ir.FloatType:
        """The type of the sum."""
        return ir.FloatType(self.total.combine.kind)

    def power(self, value: ir.Value, base: ir.Value) -> ir.Value:
        """exp(value - base) as something to add to the sum."""
        difference = _with(self.difference.op, [value, base])
        found = _with(self.term.op, [difference])
        return found if found.type == self.kind else arith.ExtFOp(self.kind, found).result

    def factor(self, largest: ir.Value, base: ir.Value) -> ir.Value:
        """What a sum below `largest` is multiplied with to lie below `base`."""
        if largest.type != self.kind:
            largest, base = (arith.ExtFOp(self.kind, v).result for v in (largest, base))
        difference = arith.SubFOp(largest, base).result
        return ir.Operation.create(self.term.op.name, results=[self.kind], operands=[difference]).result

    def finish(self, largest: ir.Value, total: ir.Value) -> ir.Value:
        """Of a row that is -inf everywhere the differences are NaN, and so is their sum."""
        kind = self.kind
        nan = constant(kind, float("nan"))
        return arith.SelectOp(_is_lowest(largest), nan, total).result


def base_of(largest: ir.Value) -> ir.Value:
    """What to subtract: the maximum, or 0 where there was nothing but -inf so far, whose exponentials are 0 then."""
    zero = constant(largest.type, 0.0)
    return arith.SelectOp(_is_lowest(largest), zero, largest).result


def pairs_of(graph: Graph, recompute: bool) -> list[OnlineSum]:
    """Those that pay: nothing but their sum needs the exponentials, or nobody keeps them (`recompute`)."""
    values = graph.needed()
    found = [pair for v in values if isinstance(v, Reduced) and (pair := _pair(v)) is not None]
    return found if recompute else [pair for pair in found if not _is_wanted(pair, graph, values)]


def _pair(total: Reduced) -> OnlineSum | None:
    if not total.combine.is_float_sum or not isinstance(total.combine.kind, ir.F32Type | ir.F64Type):
        return None
    term = _computed(total.added, "arith.extf")
    term = total.added if term is None else term.inputs[0]
    exponential = _computed(term, "math.exp", "math.exp2")
    difference = None if exponential is None else _computed(exponential.inputs[0], "arith.subf")
    if exponential is None or difference is None:
        return None
    value, largest = difference.inputs
    if (
        not isinstance(largest, Reduced)
        or largest.combine.op.name != "arith.maximumf"
        or largest.added is not value
    ):
        return None
    known = value.is_wide and isinstance(total.initial, Loaded)
    return OnlineSum(largest, total, exponential) if known else None


def _computed(value: Value, *names: str) -> Computed | None:
    return value if isinstance(value, Computed) and value.op.name in names else None


def _is_wanted(pair: OnlineSum, graph: Graph, values: Sequence[Value]) -> bool:
    """Whether somebody else needs the exponentials."""
    terms: list[Value] = [pair.term] if pair.total.added is pair.term else [pair.term, pair.total.added]
    readers = [v for v in values if any(o is t for o in v.operands for t in terms)]
    others = [v for v in readers if v is not pair.total and not any(v is t for t in terms)]
    return bool(others) or any(w.value is t for w in graph.writes for t in terms)


def _is_lowest(value: ir.Value) -> ir.Value:
    lowest = constant(value.type, float("-inf"))
    return arith.CmpFOp(arith.CmpFPredicate.OEQ, value, lowest).result


def _with(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    """The op with other operands, at the insertion point."""
    made = op.clone()
    for number, operand in enumerate(operands):
        made.operands[number] = operand
    return made.results[0]
