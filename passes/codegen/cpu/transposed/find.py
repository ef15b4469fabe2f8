"""Whether an op transposes what it reads, and in which form it is computed.

Comes in: a `Space`. Goes out: `Transposition`, or None where the loops of `emit` do as well.

    out[.., t, .., l] = f(transposed[.., l, .., t], straight[.., l], others)

`lane` is the dimension along which the results lie, `line` the one along which transposed inputs do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir import ir

from pykern.environment.machine import Cpu
from pykern.passes.analysis.cost_model.caches import (
    CACHE_WAYS,
    LINE_BYTES,
    STREAMED_RUN_BYTES,
    TRANSPOSED_RUN_BYTES,
)
from pykern.passes.analysis.cost_model.registers import SQUARE_BITS, SQUARE_OPS, SQUARE_SIDE
from pykern.passes.analysis.cost_model.threads import TRANSPOSED_LANES
from pykern.passes.analysis.space import Space, strides_of
from pykern.passes.ir.memory import root_of
from pykern.passes.kernels import body
from pykern.passes.vectorize.accesses import ELEMENTARY, has_vector_form, is_vector_element


@dataclass(frozen=True)
class Transposition:
    """Groups of the space along which results and transposed inputs lie, and how it is computed."""

    lane: int
    line: int
    side: int
    """Elements of a square's side."""
    inputs: tuple[int, ...]
    """Inputs that lie along the line."""
    along: frozenset[int]
    """Operands that lie along the lane."""
    blocks: dict[int, int]
    """Elements of a block along lane and line."""
    staged: bool
    """Whether a block of the transposed inputs is transposed into memory of its own before anything is computed."""


@dataclass(frozen=True)
class _Operand:
    """A buffer of the op: elements from one iteration of each group to the next, bits of an element."""

    number: int
    value: ir.Value
    steps: list[int]

    @property
    def kind(self) -> ir.MemRefType:
        return ir.MemRefType(self.value.type)

    @property
    def bytes(self) -> int:
        """Bytes of an element; 0 for types whose vectors have another layout than their elements."""
        kind = self.kind.element_type
        if isinstance(kind, ir.FloatType):
            return ir.FloatType(kind).width // 8
        return ir.IntegerType(kind).width // 8 if is_vector_element(kind) else 0

    @property
    def size(self) -> int:
        return math.prod(self.kind.shape) * self.bytes


def transposition_of(space: Space, target: Cpu, streamed: int) -> Transposition | None:
    """How to compute the op; None where nothing is transposed, or squares do not fit in.

    Arrays of `streamed` bytes and more are written past the cache.
    """
    if not space.iterations or any(space.reduction):
        return None
    operands = [
        _Operand(n, value, _steps(space, n))
        for n, value in enumerate(space.op.operands)
        if isinstance(value.type, ir.MemRefType)
    ]
    results = [o for o in operands if o.number >= space.inputs]
    lane = _side_by_side(space, results[0])
    if lane is None or not all(o.steps[lane] == 1 and space.maps[o.number].is_permutation for o in results):
        return None
    transposed = [o for o in operands if o.number < space.inputs and _is_transposed(space, o, lane)]
    if not transposed:
        return None
    line = _side_by_side(space, transposed[0])
    transposed = [o for o in transposed if _side_by_side(space, o) == line]
    side = min(SQUARE_SIDE, min(target.vector_bytes, SQUARE_BITS // 8) // max(o.bytes for o in transposed))
    if line is None or side < 2 or min(space.lengths[lane], space.lengths[line]) < side:
        return None
    widest = max(1, *(o.bytes for o in (*transposed, *results)))
    large = sum(o.size for o in operands) >= streamed
    unit = max(side, LINE_BYTES // widest)
    meet = any(_meet(o.steps[line] * o.bytes, min(unit, space.lengths[line]), target) for o in results)
    staged = large or meet or not _is_direct(space, operands, transposed, lane, line, side)
    if staged:
        run = STREAMED_RUN_BYTES if large else TRANSPOSED_RUN_BYTES
        most = {line: TRANSPOSED_RUN_BYTES // widest, lane: run // widest}
    else:
        most = {line: LINE_BYTES // widest, lane: TRANSPOSED_LANES}
    blocks = {group: _block(space.lengths[group], length, unit) for group, length in most.items()}
    along = frozenset(o.number for o in operands if o.steps[lane] == 1)
    return Transposition(lane, line, side, tuple(o.number for o in transposed), along, blocks, staged)


def _steps(space: Space, n: int) -> list[int]:
    """Elements from one iteration of each group to the next."""
    steps = strides_of(space.op.operands[n], space.maps[n], [0] * space.maps[n].n_dims)
    return [steps[group[-1]] for group in space.groups]


def _side_by_side(space: Space, operand: _Operand) -> int | None:
    """The group along which elements lie side by side, which has to be the last index."""
    strides, _ = operand.kind.get_strides_and_offset()
    if not strides or strides[-1] != 1 or not _is_plain(space.maps[operand.number]):
        return None
    found = [g for g, step in enumerate(operand.steps) if step == 1 and space.lengths[g] > 1]
    last = ir.AffineDimExpr(list(space.maps[operand.number].results)[-1]).position
    return found[0] if len(found) == 1 and last in space.groups[found[0]] else None


def _is_plain(m: ir.AffineMap) -> bool:
    return all(isinstance(e, ir.AffineDimExpr) for e in m.results)


def _is_transposed(space: Space, operand: _Operand, lane: int) -> bool:
    group = _side_by_side(space, operand)
    return group is not None and operand.steps[lane] > 1 and operand.bytes > 0


def _is_direct(
    space: Space, operands: list[_Operand], transposed: list[_Operand], lane: int, line: int, side: int
) -> bool:
    """Whether vectors can be computed with as they come, and elements of the last squares twice."""
    *ops, _ = [o.operation for o in body(space.op).operations]
    kinds = [a.type for a in body(space.op).arguments]
    if len(ops) > SQUARE_OPS or not all(has_vector_form(op) and op.name not in ELEMENTARY for op in ops):
        return False
    if ops and not all(map(is_vector_element, kinds)):
        return False
    for o in operands:
        plain = _is_plain(space.maps[o.number]) and o.bytes > 0
        if not plain or not (o in transposed or o.steps[lane] == 0 or _side_by_side(space, o) == lane):
            return False
    uneven = space.lengths[lane] % side or space.lengths[line] % side
    return not (uneven and _reads_results(space))


def _meet(apart: int, rows: int, target: Cpu) -> bool:
    """Whether so many rows, that many bytes apart, are more than the first cache holds of two lines of each."""
    way = target.l1 // CACHE_WAYS
    return CACHE_WAYS * (way // math.gcd(apart, way)) < 2 * rows


def _reads_results(space: Space) -> bool:
    """Whether the op reads where it writes."""
    values, arguments = list(space.op.operands), list(body(space.op).arguments)
    written = [root_of(v) for v in values[space.inputs :]]
    read = [root_of(v) for v in values[: space.inputs] if isinstance(v.type, ir.MemRefType)]
    return any(list(a.uses) for a in arguments[space.inputs :]) or any(v in written for v in read)


def _block(length: int, most: int, unit: int) -> int:
    """Blocks of about the same size: multiples of `unit`, so that vectors fill them."""
    most = max(most, unit)
    size = -(-length // -(-length // most))
    return min(-(-size // unit) * unit, length)
