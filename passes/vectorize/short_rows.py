"""Loops over short rows in versions: colours of a pixel, coordinates of a point, complex numbers, small matrices.

Comes in: innermost loops that read or write `image[i, j, 0]`, `image[i, j, 1]`, `image[i, j, 2]` for one j after the
other, in arrays whose lengths are known at launch only. Goes out: a branch. Where rows are as long as the indices say,
or padded to a power of two, the loop knows it, and LLVM loads whole vectors and takes them apart; elsewhere a copy runs
as it did.

Why: how far apart two rows lie is a length of the array. Where LLVM does not know it, it reads one element at a time.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, memref

from pykern.passes.analysis.cost_model.code_size import SHORT_ROW_OPS
from pykern.passes.analysis.cost_model.lengths import SHORT_ROW, SHORT_ROW_BYTES
from pykern.passes.framework import Pass
from pykern.passes.ir.loop_versions import branch_on
from pykern.passes.ir.memory import bytes_of
from pykern.passes.ir.values import is_inside
from pykern.passes.kernels import find, index_constant, is_constant
from pykern.passes.remarks import remark
from pykern.passes.vectorize.vectorize_streams import functions

_MEMORY = {"memref.load": 0, "memref.store": 1}
"""Where ops have their array; indices follow."""
Lengths = tuple[int, ...]
"""Of an array's last dimensions."""


@dataclass(frozen=True)
class VersionShortRows(Pass):
    """Give loops over rows of at most 8 elements a version that knows how many there are.

    In:  innermost scf.for over memrefs of unknown lengths, the last indices of their accesses constants.
    Out: scf.if on `memref.dim`, the loop in it over casts of these memrefs, another one for rows that are padded to a
         power of two, and a copy for others.
    """

    name: ClassVar[str] = "kern-version-short-rows"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    scalar_only: ClassVar[bool] = True

    def run(self, module: ir.Module) -> None:
        for function in functions(module):
            for loop in find(function, _is_candidate):
                rows = short_rows(loop)
                if rows:
                    _versions(loop, rows)


def _is_candidate(op: ir.Operation) -> bool:
    """Innermost loops of which nobody has decided anything, of step 1: others are vectors already."""
    if op.name != "scf.for" or "llvm.loop_annotation" in op.attributes or is_constant(op.operands[2]) != 1:
        return False
    inside = find(op, lambda inner: True)
    return len(inside) <= SHORT_ROW_OPS and not any(
        o.name in ("scf.for", "scf.while", "scf.parallel") for o in inside
    )


def short_rows(loop: ir.Operation) -> dict[ir.Value, Lengths]:
    """Arrays of which the loop goes through short rows, and the lengths that its constant indices speak of."""
    accesses: dict[ir.Value, list[list[ir.Value]]] = {}
    for op in find(loop, lambda op: op.name in _MEMORY):
        memory, *indices = list(op.operands)[_MEMORY[op.name] :]
        if not is_inside(memory, loop):
            accesses.setdefault(memory, []).append(indices)
    found = {memory: _lengths(memory, each) for memory, each in accesses.items()}
    return {
        memory: lengths
        for memory, lengths in found.items()
        if _is_short(memory, lengths)
        and any(is_inside(indices[-1 - len(lengths)], loop) for indices in accesses[memory])
    }


def _lengths(memory: ir.Value, accesses: list[list[ir.Value]]) -> Lengths:
    """Of the last dimensions that all accesses have constant indices of; none where they are known."""
    kind = ir.MemRefType(memory.type)
    if not isinstance(kind.layout, ir.AffineMapAttr) or kind.layout != ir.AffineMapAttr.get(
        ir.AffineMap.get_identity(kind.rank)
    ):
        return ()
    lengths: list[int] = []
    for d in reversed(range(1, kind.rank)):
        places = [is_constant(indices[d]) for indices in accesses]
        known = [place for place in places if place is not None]
        if len(known) < len(places) or not kind.is_dynamic_dim(d):
            break
        lengths.insert(0, max(known) + 1)
    return tuple(lengths)


def _versions(loop: ir.Operation, rows: dict[ir.Value, Lengths]) -> None:
    """One for rows of these lengths, one for those that are padded, and one for others."""
    padded = {m: (*lengths[:-1], 1 << (lengths[-1] - 1).bit_length()) for m, lengths in rows.items()}
    others = _version(loop, rows)
    if padded != rows and all(_is_short(m, lengths) for m, lengths in padded.items()):
        _version(others, padded)


def _is_short(memory: ir.Value, lengths: Lengths) -> bool:
    row = ir.MemRefType.get(lengths, ir.MemRefType(memory.type).element_type)
    return 1 < math.prod(lengths) <= SHORT_ROW and bytes_of(row) <= SHORT_ROW_BYTES


def _version(loop: ir.Operation, rows: dict[ir.Value, Lengths]) -> ir.Operation:
    """The loop for rows of these lengths; gives the copy for others."""
    with ir.InsertionPoint(loop), loop.location:
        tests = [
            arith.CmpIOp(arith.CmpIPredicate.eq, _length(memory, d), index_constant(length)).result
            for memory, lengths in rows.items()
            for d, length in enumerate(lengths, ir.MemRefType(memory.type).rank - len(lengths))
        ]
        condition = functools.reduce(lambda a, b: arith.AndIOp(a, b).result, tests)
        other, block = branch_on(loop, condition)
        with ir.InsertionPoint.at_block_begin(block):
            known = {memory: _known(memory, lengths) for memory, lengths in rows.items()}
    for op in find(loop, lambda op: op.name in _MEMORY):
        place = _MEMORY[op.name]
        op.operands[place] = known.get(op.operands[place], op.operands[place])
    remark(loop, "a version for rows of " + ", ".join(" by ".join(map(str, each)) for each in rows.values()))
    return other


def _length(memory: ir.Value, dimension: int) -> ir.Value:
    return memref.DimOp(memory, index_constant(dimension)).result


def _known(memory: ir.Value, lengths: Lengths) -> ir.Value:
    """The array, its last lengths known."""
    kind = ir.MemRefType(memory.type)
    shape = [*list(kind.shape)[: kind.rank - len(lengths)], *lengths]
    return memref.CastOp(ir.MemRefType.get(shape, kind.element_type), memory).result
