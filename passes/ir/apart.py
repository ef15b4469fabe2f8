"""Whether two parts of one buffer have no element in common: rows `i` and `i - 1` have none.

Comes in: two `memref.subview`s. Goes out: a proof from their offsets, or none. Read next: `memory`, which says which
buffers may be the same.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.ir.index_arithmetic import counted_from
from pykern.passes.ir.values import made_by

DYNAMIC = ir.ShapedType.get_dynamic_size()


def are_apart(first: ir.Value, second: ir.Value) -> bool:
    """Whether both are parts of one memref, of known size and with unit steps, that lie side by side in a dimension."""
    views = [made_by(value, "memref.subview") for value in (first, second)]
    if views[0] is None or views[1] is None or views[0].operands[0] != views[1].operands[0]:
        return False
    parts = [_part(view) for view in views if view is not None]
    for (low, least, low_size), (high, most, high_size) in zip(*parts, strict=True):
        if (low is None) != (high is None) or (low is not None and low != high):
            continue
        if low_size is None or high_size is None:
            continue
        if most - least >= low_size or least - most >= high_size:
            return True
    return False


def _part(view: ir.Operation) -> list[tuple[ir.Value | None, int, int | None]]:
    """For each dimension where it begins, a value and a number added to it, and how far it reaches, None if unknown."""
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(view.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    given = iter(list(view.operands)[1:])
    found = []
    for offset, size, stride in zip(offsets, sizes, strides, strict=True):
        base, number = counted_from(next(given)) if offset == DYNAMIC else (None, offset)
        found.append((base, number, size if stride == 1 and size != DYNAMIC else None))
    return found
