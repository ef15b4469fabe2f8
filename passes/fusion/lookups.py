"""Operations that look up elements at indices which are linear in ranges, as `np.roll` and `np.pad` do: their parts.

Comes in: a tensor. Goes out: for each box of it, where its elements lie in the source.
"""

from __future__ import annotations

import itertools

from mlir import ir

from pykern.passes.analysis.linear_ranges import linear_ranges
from pykern.passes.ir.boxes import Box
from pykern.passes.ir.clone import terminator_operands
from pykern.passes.ir.structured import indexing_maps, reduces
from pykern.passes.ir.values import defining, is_inside, made_by
from pykern.passes.kernels import body

Slice = tuple[Box, ir.Value, "tuple[tuple[int | None, int], ...]"]
"""A box, the source, and for each dimension of this the loop that moves along it and what is added to its number."""


def looked_up(value: ir.Value) -> list[Slice] | None:
    """The slices of a source that a tensor consists of; None where it is not looked up, or not in slices."""
    op = made_by(value, "linalg.generic")
    extract = None if op is None else _lookup(op)
    if op is None or extract is None:
        return None
    shape, source = list(ir.RankedTensorType(value.type).shape), extract.operands[0]
    found, loops = [], set[int]()
    for index, length in zip(list(extract.operands)[1:], ir.RankedTensorType(source.type).shape, strict=True):
        ranges = linear_ranges(index, shape)
        if ranges is None or (ranges[0] is not None and ranges[0] in loops):
            return None
        loops |= {ranges[0]} if ranges[0] is not None else set()
        for low, high, slope, start in ranges[1]:
            if slope not in (0, 1) or not 0 <= start + slope * low <= start + slope * (high - 1) < length:
                return None
        found.append([(ranges[0], each) for each in ranges[1]])
    return [_slice(chosen, shape, source) for chosen in itertools.product(*found)]


def _slice(chosen: tuple, shape: list[int], source: ir.Value) -> Slice:
    low, high, places = [0] * len(shape), list(shape), []
    for loop, each in chosen:
        if loop is not None:
            low[loop], high[loop] = each.low, each.high
        places.append((loop if each.slope else None, each.start))
    return Box(tuple(low), tuple(high)), source, tuple(places)


def _lookup(op: ir.Operation) -> ir.Operation | None:
    """The one look-up of an operation that does nothing else."""
    if len(op.operands) != 1 or len(op.results) != 1 or reduces(op):
        return None
    (given,) = terminator_operands(body(op))
    extract = made_by(given, "tensor.extract")
    maps = indexing_maps(op)
    if extract is None or maps[0] != ir.AffineMap.get_identity(maps[0].n_dims) or extract.block != body(op):
        return None
    source = extract.operands[0]
    is_known = defining(source) is None or not is_inside(source, op)
    kinds = (ir.RankedTensorType(source.type), ir.RankedTensorType(op.results[0].type))
    return extract if is_known and all(kind.has_static_shape for kind in kinds) else None
