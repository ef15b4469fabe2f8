"""The pass: what a running softmax does with the values it begins with, where all of a row is in its first tile.

Read next: `softmax`, whose forms come out, and `outline_attention`, which takes them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.fusion.attention.softmax import reduced, single, starts_from, unconverted
from pykern.passes.ir.elements import Operand, dims, through
from pykern.passes.ir.memory import TENSOR_RESHAPES
from pykern.passes.ir.structured import indexing_maps
from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import body, identity, named, programs

_STARTS = (0, -math.inf)
"""What sums and maxima begin with."""
_PRODUCTS = ("linalg.generic", "linalg.matmul", "linalg.batch_matmul")


@dataclass(frozen=True)
class FoldFirstTile(Pass):
    """Leave out what a running maximum, and sums that it rescales, begin with.

    In:  programs with linalg ops on tensors, one a NumPy operation.
    Out: `max(-inf, x)` is `x`, and so is `0 + x` of integers. `0 + product` is the product, whose sum begins with 0
         itself. `0 * exp(-inf - m) + sum` is the sum, where it adds up `exp(s - m)` and `m` is the maximum of `s` along
         its row: the first term is 0, or NaN where the sum is NaN, too.
    """

    name: ClassVar[str] = "kern-fold-first-tile"

    def run(self, module: ir.Module) -> None:
        for program in programs(module):
            ops = named(program, "linalg.generic", "linalg.fill")
            if not any(starts_from(op.results[0], *_STARTS) for op in ops if len(op.results) == 1):
                continue
            for op in ops:
                kept = _kept(op)
                if kept is not None:
                    op.results[0].replace_all_uses_with(kept)
                    _erase_unused(op)


def _erase_unused(op: ir.Operation) -> None:
    """The op, and what was computed for it alone: attention is not looked for where others read its parts."""
    if op.name not in (*_PRODUCTS, *TENSOR_RESHAPES) or any(list(result.uses) for result in op.results):
        return
    makers = {identity(maker): maker for maker in map(defining, op.operands) if maker is not None}
    op.erase()
    for maker in makers.values():
        _erase_unused(maker)


def _kept(op: ir.Operation) -> ir.Value | None:
    """The tensor that an op leaves as it is."""
    if len(op.results) != 1 or len(op.operands) != 3:
        return None
    value, name = op.results[0], body(op).operations[0].operation.name
    tests = {"arith.maximumf": _is_least, "arith.addf": _adds_nothing, "arith.addi": _is_nil}
    operands = single(value, name) if name in tests else None
    if operands is None:
        return None
    at = (
        dims(*range(ir.RankedTensorType(value.type).rank))
        if isinstance(value.type, ir.RankedTensorType)
        else ()
    )
    for first, other in (operands, operands[::-1]):
        if other.value.type == value.type and other.at == at and tests[name](first, other):
            return other.value
    return None


def _is_least(first: Operand, other: Operand) -> bool:
    return starts_from(_filled(first), -math.inf)


def _is_nil(first: Operand, other: Operand) -> bool:
    """Of integers 0 changes nothing, whatever it is added to."""
    return starts_from(_filled(first), 0)


def _adds_nothing(first: Operand, other: Operand) -> bool:
    """Whether `first` changes nothing where it is added to `other`."""
    if starts_from(_filled(first), 0.0):
        return _exponentials(other) is not None
    factors = single(first.value, "arith.mulf")
    for nil, scale in () if factors is None else (factors, factors[::-1]):
        if starts_from(_filled(nil), 0.0) and _is_scale_of(scale.seen_from(first.at), other):
            return True
    return False


def _is_scale_of(scale: Operand, total: Operand) -> bool:
    """Whether `scale` is `exp(-inf - m)`, and `total` adds up `exp(s - m)` along rows whose maximum is `m`."""
    largest = _difference(scale)
    found = _exponentials(total)
    if largest is None or found is None or not starts_from(_filled(largest[0]), -math.inf):
        return False
    power = _difference(found)
    if power is None:
        return False
    scores, other = power[0], through(power[1])
    rank = ir.RankedTensorType(scores.value.type).rank
    mine = through(largest[1])
    same = mine.value == other.value and mine.at == other.at and scores.at[:-1] == other.at
    maximum_of = reduced(other.value, "arith.maximumf", -math.inf)
    return same and len(scores.at) == rank and maximum_of is not None and maximum_of == scores.value


def _difference(power: Operand) -> tuple[Operand, Operand] | None:
    """`a` and `b` of `exp(a - b)`."""
    power = unconverted(power)[0]
    inner = single(power.value, "math.exp")
    difference = None if inner is None else single(through(inner[0]).value, "arith.subf")
    if inner is None or difference is None:
        return None
    at = through(inner[0].seen_from(power.at)).at
    return difference[0].seen_from(at), difference[1].seen_from(at)


def _exponentials(total: Operand) -> Operand | None:
    """What is added up along whole rows: alone, or as the first factor of a product.

    It is read at the dimensions of `total`; the one that it is added up along is a symbol.
    """
    total = through(total)
    op = made_by(total.value, *_PRODUCTS)
    if op is None or not 2 <= len(op.operands) <= 3 or not starts_from(op.operands[-1], 0.0):
        return None
    maps = indexing_maps(op)
    rows, out = tuple(maps[0].results), tuple(maps[-1].results)
    if not all(isinstance(e, ir.AffineDimExpr) for e in (*rows, *out)) or not rows or rows[-1] in out:
        return None
    if len(op.operands) == 2 and reduced(total.value, "arith.addf", 0.0) is None:
        return None
    if len(op.operands) == 3 and not _multiplies(op):
        return None
    if ir.RankedTensorType(op.operands[0].type).shape[-1] == 0:
        return None
    known = {ir.AffineDimExpr(e).position: a for e, a in zip(out, total.at, strict=True)}
    along = ir.AffineSymbolExpr.get(0)
    known[ir.AffineDimExpr(rows[-1]).position] = along
    return through(Operand(op.operands[0], tuple(known[ir.AffineDimExpr(e).position] for e in rows)))


def _multiplies(op: ir.Operation) -> bool:
    if op.name != "linalg.generic":
        return True
    names = [o.operation.name for o in op.regions[0].blocks[0].operations]
    return names[-3:] == ["arith.mulf", "arith.addf", "linalg.yield"]


def _filled(read: Operand) -> ir.Value:
    return through(read).value
