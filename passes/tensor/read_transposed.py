"""Products read what was transposed where it lies, however many others read the transposition, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import tensor

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.framework import Pass
from pykern.passes.ir.affine import DYNAMIC
from pykern.passes.ir.structured import indexing_maps, set_indexing_maps
from pykern.passes.kernels import body, named, replace


@dataclass(frozen=True)
class ReadTransposed(Pass):
    """Let products, and slices of one line, read the array that a transposition was made from.

    Fusion does so only where there is one reader. `x @ x.T` and `x[0] @ x` of `x = a.T` need no copy: a product has a
    form for every order of its factors' dimensions.

    In:  linalg.generic and tensor.extract_slice on tensors.
    Out: the same; a transposition that nobody reads any more is left to canonicalization.
    """

    name: ClassVar[str] = "kern-read-transposed"
    looks_for: ClassVar[tuple[str, ...]] = ("linalg.generic",)

    def run(self, module: ir.Module) -> None:
        found = [
            (op, axes) for op in named(module.operation, "linalg.generic") if (axes := transposed_axes(op))
        ]
        for op, axes in reversed(found):  # a transposition of a transposition is read first
            _read_through(op, axes)


def _read_through(transposition: ir.Operation, axes: list[int]) -> None:
    source = transposition.operands[0]
    for use in list(transposition.results[0].uses):
        reader = use.owner.operation
        if reader.name == "linalg.generic" and (multiplies(reader) or transposed_axes(reader)):
            _with_source(reader, use.operand_number, source, axes)
        elif reader.name == "tensor.extract_slice" and use.operand_number == 0:
            _slice_of_source(reader, source, axes)


def transposed_axes(op: ir.Operation) -> list[int]:
    """Of a transposition: for each axis of what it reads, the axis of its result. Empty for anything else."""
    block = body(op)
    if len(op.operands) != 2 or len(op.results) != 1 or len(list(block.operations)) != 1:
        return []
    if next(iter(block.operations)).operation.operands[0] != block.arguments[0]:
        return []
    maps = indexing_maps(op)
    if not all(m.is_permutation for m in maps):
        return []
    reads, writes = ([ir.AffineDimExpr(e).position for e in m.results] for m in maps)
    return [writes.index(d) for d in reads]


def _with_source(reader: ir.Operation, number: int, source: ir.Value, axes: list[int]) -> None:
    """An operand of a linalg.generic becomes the source, its map what it was before in the source's order."""
    maps = indexing_maps(reader)
    if number >= len(maps) - len(reader.results):
        return
    was = maps[number]
    results = list(was.results)
    maps[number] = ir.AffineMap.get(was.n_dims, 0, [results[axis] for axis in axes])
    set_indexing_maps(reader, maps)
    reader.operands[number] = source


def _slice_of_source(cut: ir.Operation, source: ir.Value, axes: list[int]) -> None:
    """A slice that leaves at most one axis is the same one of the source."""
    kind = ir.RankedTensorType(cut.results[0].type)
    offsets, sizes, strides = (
        list(ir.DenseI64ArrayAttr(cut.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    if len(cut.operands) > 1 or kind.rank > 1 or sum(size != 1 for size in sizes) > 1 or DYNAMIC in sizes:
        return
    places = [[part[axis] for axis in axes] for part in (offsets, sizes, strides)]
    with ir.InsertionPoint(cut), cut.location:
        made = tensor.ExtractSliceOp(kind, source, [], [], [], *places)
    replace(cut, [made.result])
