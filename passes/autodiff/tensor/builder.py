"""A linalg.generic whose inputs are found while its body is written.

Comes in: the number of loops; `input(tensor, map)` whenever the body wants an element. Goes out: the
results of one `linalg.generic` that reads exactly what was asked for, so that a product of which one
factor is read stays a contraction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, linalg

from pykern.passes.autodiff.tensor.values import element, identity_map, shape
from pykern.passes.ir.lengths import empty, empty_like


@dataclass(frozen=True)
class Output:
    """What is written through `map`: `value`, or `value` added to what is there."""

    init: ir.Value
    map: ir.AffineMap
    value: ir.Value
    accumulate: bool = False


class GenericBuilder:
    """Write the body inside ``with builder.body:``, then `finish`, or `drop` it.

    `extents` are the loops' trip counts, asked where no operand that is left gives them.
    """

    def __init__(self, loops: int, extents: Callable[[], Sequence[int]] | None = None) -> None:
        self.loops = loops
        self._extents = extents
        # a region to write in until the operands are known
        self._holder = ir.Operation.create("scf.execute_region", regions=1)
        self._block = self._holder.regions[0].blocks.append()
        self._inputs: dict[tuple[ir.Value, str], tuple[ir.AffineMap, ir.Value]] = {}

    @property
    def body(self) -> ir.InsertionPoint:
        return ir.InsertionPoint(self._block)

    @property
    def maps(self) -> set[str]:
        """The maps of the inputs so far."""
        return {map for _, map in self._inputs}

    def input(self, value: ir.Value, map: ir.AffineMap) -> ir.Value:
        """The element of `value` at `map` of the loops."""
        key = (value, str(map))
        if key not in self._inputs:
            argument = self._block.add_argument(element(value.type), ir.Location.current)
            self._inputs[key] = (map, argument)
        return self._inputs[key][1]

    def finish(self, outputs: Sequence[Output], kinds: Sequence[str] | None = None) -> list[ir.Value]:
        """Make the op. `kinds`: the iterators; by default what the first output's map leaves out is reduced."""
        self._bound([output.map for output in outputs])
        yielded = []
        for output in outputs:
            held = self._block.add_argument(element(output.init.type), ir.Location.current)
            with self.body:
                yielded.append(combined(held, output.value) if output.accumulate else output.value)
        with self.body:
            linalg.YieldOp(yielded)
        used = {str(e) for e in outputs[0].map.results}
        if kinds is None:
            kinds = ["parallel" if f"d{d}" in used else "reduction" for d in range(self.loops)]
        maps = [map for map, _ in self._inputs.values()] + [output.map for output in outputs]
        op = linalg.GenericOp(
            [output.init.type for output in outputs],
            [value for value, _ in self._inputs],
            [output.init for output in outputs],
            ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
            ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{k}>") for k in kinds]),
        )
        self._block.append_to(op.operation.regions[0])
        self._holder.erase()
        return list(op.operation.results)

    def _bound(self, maps: Sequence[ir.AffineMap]) -> None:
        """Give loops that no operand names alone their bounds, by an operand of their shape."""
        maps = [*maps, *(map for map, _ in self._inputs.values())]
        named = {str(e) for map in maps for e in map.results if isinstance(e, ir.AffineDimExpr)}
        missing = [d for d in range(self.loops) if f"d{d}" not in named]
        if missing:
            assert self._extents is not None, "loops without bounds"
            sizes = self._extents()
            shape_only = empty([sizes[d] for d in missing], ir.F32Type.get())
            map = ir.AffineMap.get(self.loops, 0, [ir.AffineExpr.get_dim(d) for d in missing])
            self.input(shape_only, map)

    def drop(self) -> None:
        self._holder.erase()


def combined(held: ir.Value, value: ir.Value) -> ir.Value:
    """The accumulated value: a sum, or for gates (bits) an "or"."""
    return (arith.addf if isinstance(value.type, ir.FloatType) else arith.ori)(held, value)


def elementwise(body, values: Sequence[ir.Value], into: ir.Value | None = None) -> ir.Value:
    """``body(*elements)`` over tensors of one shape; `into` is overwritten, by default a new tensor."""
    rank = len(shape(values[0]))
    builder = GenericBuilder(rank)
    with builder.body:
        result = body(*[builder.input(value, identity_map(rank)) for value in values])
    return builder.finish([Output(into or empty_like(values[0]), identity_map(rank), result)])[0]


def add(a: ir.Value, b: ir.Value) -> ir.Value:
    """a + b, scalars or tensors; written over a, where a is not needed any more."""
    if not isinstance(a.type, ir.RankedTensorType):
        return arith.addf(a, b)
    rank = len(shape(a))
    builder = GenericBuilder(rank)
    with builder.body:
        other = builder.input(b, identity_map(rank))
    return builder.finish([Output(a, identity_map(rank), other, accumulate=True)])[0]
