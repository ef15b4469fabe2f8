"""The calls that stand for attention in a program on buffers, as `kern-outline-attention` has made them.

Comes in: a program that calls functions marked with lengths and maps. Goes out: `AttentionCall`, for the CPU's loops
and the kernels of devices alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import VerifyError
from pykern.passes.fusion.attention.mask import KeyOffsets, key_offsets
from pykern.passes.ir.affine import evaluate
from pykern.passes.ir.structured import loops_in
from pykern.passes.kernels import identity, named, symbols

FACTORS, LENGTHS_AT_LEAST = 3, 4
"""Queries, keys and values; and their lengths, apart from those of batches."""


@dataclass
class AttentionShape:
    """Lengths and maps of one attention; dimensions are batches, query, key, depth, width."""

    lengths: tuple[int, ...]
    maps: list[ir.AffineMap]
    element: ir.FloatType
    """The type of the scores and of all sums."""

    @property
    def batches(self) -> tuple[int, ...]:
        return self.lengths[:-4]

    @property
    def batch_count(self) -> int:
        return math.prod(self.batches)

    @property
    def queries(self) -> int:
        return self.lengths[-4]

    @property
    def keys(self) -> int:
        return self.lengths[-3]

    @property
    def depth(self) -> int:
        return self.lengths[-2]

    @property
    def width(self) -> int:
        return self.lengths[-1]

    def dimension(self, name: str) -> int:
        return len(self.batches) + ("query", "key", "depth", "width").index(name)

    def batches_of(self, operand: int) -> list[int]:
        """The batches that an operand knows: keys may be shared by several heads."""
        used = loops_in(self.maps[operand])
        return [b for b in range(len(self.batches)) if b in used]

    def at(self, operand: int, known: dict[int, ir.Value]) -> list[ir.Value]:
        """Indices of an operand, in the order of `maps`, at values of the dimensions."""
        return [evaluate(e, known) for e in self.maps[operand].results]

    def widened(self, value: ir.Value) -> ir.Value:
        """f16 and bf16 in the type of the sums."""
        return value if value.type == self.element else arith.ExtFOp(self.element, value).result

    def narrowed(self, value: ir.Value, memory: ir.Value) -> ir.Value:
        """As elements of some memory."""
        element = ir.MemRefType(memory.type).element_type
        return value if value.type == element else arith.TruncFOp(element, value).result

    def key_offsets(self, score: ir.Operation) -> KeyOffsets:
        """Which keys a query may attend to, as far as the indices alone tell."""
        return key_offsets(score, 1 + self.dimension("query"), 1 + self.dimension("key"))


@dataclass(frozen=True)
class AttentionCall:
    """`call` has queries, keys, values, what scores read (as many as there are maps), scalars, and the result."""

    call: ir.Operation
    tiles: ir.Operation
    score: ir.Operation
    """The function of a product, indices, what is read for it, and scalars."""
    shape: AttentionShape

    @property
    def weights(self) -> ir.Type:
        """The type that powers may be rounded to before they are multiplied with values."""
        if kern.WEIGHTS in self.tiles.attributes:
            return ir.TypeAttr(self.tiles.attributes[kern.WEIGHTS]).value
        return self.shape.element

    @property
    def shifted(self) -> bool:
        """Whether the largest score is taken off before exp."""
        return kern.UNSHIFTED not in self.tiles.attributes


def attention_calls(module: ir.Module, program: ir.Operation) -> list[AttentionCall]:
    """All of a program. Raises `VerifyError` where the marks do not fit the arguments."""
    known = symbols(module)
    found = []
    for call in named(program, "func.call"):
        tiles = known.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
        if tiles is not None and kern.MAPS in tiles.attributes:
            score = _score(tiles, known)
            maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(tiles.attributes[kern.MAPS])]
            lengths = tuple(ir.DenseI64ArrayAttr(tiles.attributes[kern.LENGTHS]))
            element = ir.FloatType(_type(score).results[0])
            found.append(AttentionCall(call, tiles, score, AttentionShape(lengths, maps, element)))
    return found


def erase_functions(calls: list[AttentionCall]) -> None:
    """Erase the functions that were called."""
    done = [op for each in calls for op in (each.tiles, each.score)]
    for op in {identity(op): op for op in done}.values():
        op.erase()


def _type(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _score(tiles: ir.Operation, known: dict[str, ir.Operation]) -> ir.Operation:
    """The function that `kern.attention` names."""
    inputs = _type(tiles).inputs
    maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(tiles.attributes[kern.MAPS])]
    lengths = (
        tuple(ir.DenseI64ArrayAttr(tiles.attributes[kern.LENGTHS]))
        if kern.LENGTHS in tiles.attributes
        else ()
    )
    mark = tiles.attributes.get(kern.ATTENTION, None)
    score = known.get(mark.value) if isinstance(mark, ir.FlatSymbolRefAttr) else None
    read = [*inputs[: len(maps) - 1], *inputs[-1:]]
    fits = len(read) == len(maps) >= FACTORS + 1 and len(lengths) >= LENGTHS_AT_LEAST
    fits = fits and all(
        isinstance(kind, ir.MemRefType) and kind.rank == len(m.results) and m.n_dims == len(lengths)
        for kind, m in zip(read, maps, strict=True)
    )
    if score is None or not fits or not isinstance(ir.MemRefType(read[-1]).element_type, ir.FloatType):
        raise VerifyError(
            f"attention of wrong marks: `{kern.ATTENTION}` names a function of the module, `{kern.LENGTHS}` lists "
            f"batches, queries, keys, depth and width, and `{kern.MAPS}` has a map of these for each array and the "
            f"result",
            span_of(tiles.location),
        )
    return score
