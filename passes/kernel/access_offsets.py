"""How far from its own index a work-item reads and writes each array: the width of a stencil.

Comes in: a kernel on the kern stage, one work-item. Goes out: `AccessOffsets` as plain data. An index is known where it
is the work-item's along an axis, plus constants, indices of loops with constant bounds, and cuts at the array's ends
(``max(i - 1, 0)``, ``min(i + 1, n - 1)``), which bring it no further away.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.data.access_offsets import AccessOffsets, Offset, Offsets
from pykern.passes.ir.values import defining
from pykern.passes.kernel.launch_bounds.slopes import is_counter
from pykern.passes.kernels import body, is_constant

_ALONE = (
    "arith.", "math.", "scf.", "func.return", "kern.global_id",
    "memref.alloca", "memref.cast", "memref.dim", "memref.load", "memref.store",
)  # fmt: skip
"""Operations of work-items that know nothing of one another, nor of the index space they run in."""
_SAME = ("arith.index_cast", "arith.extsi")


def access_offsets(kernel: ir.Operation) -> AccessOffsets:
    """Of each array argument, in order."""
    finder = _OffsetFinder()
    kernel.walk(finder.visit)
    arrays = [a for a in body(kernel).arguments if isinstance(a.type, ir.MemRefType)]
    return AccessOffsets(
        finder.alone,
        tuple(finder.of(finder.reads, array) for array in arrays),
        tuple(finder.of(finder.writes, array) for array in arrays),
    )


@dataclass
class _OffsetFinder:
    alone: bool = True
    reads: dict[ir.Value, list[Offsets]] = field(default_factory=dict)
    writes: dict[ir.Value, list[Offsets]] = field(default_factory=dict)

    def visit(self, op: ir.Operation) -> ir.WalkResult:
        op = op.operation
        if op.name == "memref.load":
            self._access(self.reads, op.operands[0], list(op.operands)[1:])
        elif op.name == "memref.store":
            self._access(self.writes, op.operands[1], list(op.operands)[2:])
        elif op.name != "func.func" and not op.name.startswith(_ALONE):
            self.alone = False
        return ir.WalkResult.ADVANCE

    def _access(self, found: dict[ir.Value, list[Offsets]], array: ir.Value, indices: list[ir.Value]) -> None:
        offsets = [_offset(index) for index in indices]
        known = all(o is not None and o.axis is not None for o in offsets)
        found.setdefault(array, []).append(tuple(o for o in offsets if o is not None) if known else None)

    def of(self, found: dict[ir.Value, list[Offsets]], array: ir.Value) -> Offsets:
        """All accesses of an array as one; () where there are none."""
        total: Offsets = ()
        for number, one in enumerate(found.get(array, [])):
            if one is None or total is None:
                return None
            total = one if number == 0 else _joined(total, one)
        return total


def _joined(a: tuple[Offset, ...], b: tuple[Offset, ...]) -> Offsets:
    joined = [_either(x, y) for x, y in zip(a, b, strict=True)]
    return None if None in joined else tuple(j for j in joined if j is not None)


def _either(a: Offset | None, b: Offset | None) -> Offset | None:
    if a is None or b is None or a.axis != b.axis:
        return None
    return Offset(a.axis, min(a.least, b.least), max(a.most, b.most))


def _offset(value: ir.Value) -> Offset | None:
    """What an index is: the work-item's along an axis and a range beside it, or a range alone; None elsewhere."""
    number = is_constant(value)
    if number is not None:
        return Offset(None, number, number)
    op = defining(value)
    if op is None:
        return _counter(value) if is_counter(value) else None
    if op.name == "kern.global_id":
        return Offset(ir.IntegerAttr(op.attributes["dim"]).value, 0, 0)
    if op.name in _SAME:
        return _offset(op.operands[0])
    if op.name in ("arith.addi", "arith.subi", "arith.muli"):
        return _arithmetic(op.name, *(_offset(v) for v in op.operands))
    if op.name in ("arith.maxsi", "arith.minsi"):
        return _cut(op)
    if op.name == "arith.select":
        return _either(_offset(op.operands[1]), _offset(op.operands[2]))
    return None


def _arithmetic(name: str, a: Offset | None, b: Offset | None) -> Offset | None:
    if a is None or b is None:
        return None
    if name == "arith.muli":
        products = [x * y for x in (a.least, a.most) for y in (b.least, b.most)]
        return Offset(None, min(products), max(products)) if a.axis is None and b.axis is None else None
    if name == "arith.subi":
        b = Offset(b.axis, -b.most, -b.least)
        if b.axis is not None:
            return None
    if a.axis is not None and b.axis is not None:
        return None
    return Offset(b.axis if a.axis is None else a.axis, a.least + b.least, a.most + b.most)


def _cut(op: ir.Operation) -> Offset | None:
    """An index that is kept inside of the array: it is nearer to the work-item's own, which is inside, than before."""
    for index, end in (op.operands, list(op.operands)[::-1]):
        found = _offset(index)
        is_end = is_constant(end) == 0 if op.name == "arith.maxsi" else _is_last(end)
        if found is not None and found.axis is not None and is_end:
            return Offset(found.axis, min(found.least, 0), max(found.most, 0))
    return None


def _is_last(value: ir.Value) -> bool:
    """Whether it is a length less 1."""
    op = defining(value)
    if op is None or op.name != "arith.subi" or is_constant(op.operands[1]) != 1:
        return False
    length = defining(op.operands[0])
    return length is not None and length.name == "memref.dim"


def _counter(value: ir.Value) -> Offset | None:
    """The indices of a loop with constant bounds."""
    low, high, step = (is_constant(v) for v in list(value.owner.owner.operands)[:3])
    if low is None or high is None or not step or step < 0 or high <= low:
        return None
    return Offset(None, low, low + (high - low - 1) // step * step)
