"""Operations over the same arrays that do not need one another run as one loop: memory is read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.cost_model.code_size import SIBLING_OPS
from pykern.passes.analysis.cost_model.lengths import FUSED_STREAMS
from pykern.passes.framework import Pass
from pykern.passes.fusion.legality import may_wait
from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.structured import generic, indexing_maps, loop_lengths, reduces, reduction_loops
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import find, programs
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class FuseSiblings(Pass):
    """Join linalg.generic ops over one iteration space that read an array in common.

    In:  linalg.generic on tensors.
    Out: fewer of them, with several results. Ops stay apart where one needs the other's result, where
         something in between writes what the first one reads, and where an input of a reduction is read
         more than once (products of matrices).
    """

    name: ClassVar[str] = "kern-fuse-siblings"

    def run(self, module: ir.Module) -> bool:
        changed = False
        for function in programs(module):
            while _fuse_one(function):
                changed = True
        return changed


def _fuse_one(function: ir.Operation) -> bool:
    generics = find(function, lambda op: op.name == "linalg.generic")
    if len(generics) > SIBLING_OPS:
        return False
    places: dict[int, int] = {}
    for n, second in enumerate(generics):
        for first in reversed(generics[:n]):
            if first.block == second.block and _may_join(first, second, places):
                remark(second, "runs in one loop with another operation over the same arrays")
                _join(first, second)
                return True
    return False


def _may_join(first: ir.Operation, second: ir.Operation, places: dict[int, int]) -> bool:
    if len(first.operands) + len(second.operands) > FUSED_STREAMS:
        return False
    if reduction_loops(first) != reduction_loops(second):
        return False
    if not _shared(first, second) or loop_lengths(first) != loop_lengths(second):
        return False
    if reduces(first) and not (_reads_once(first) and _reads_once(second)):
        return False
    return may_wait(first, second, places)


def _inputs(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)[: len(op.operands) - outputs_of(op)]


def _shared(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether both read an array along all dimensions, in the same way, or slices of it that lie one in the other."""
    one, other = (
        [(_whole(v), str(m)) for v, m in zip(_inputs(op), indexing_maps(op), strict=False)
         if m.n_dims and len(m.results) == m.n_dims]
        for op in (first, second)
    )  # fmt: skip
    return any(a == c and b == d for a, b in one for c, d in other)


def _whole(value: ir.Value) -> tuple[ir.Value, str]:
    """An array, and which cache lines of it are read: of columns of a slice in strides the same as of their
    neighbours."""
    slice_ = made_by(value, "tensor.extract_slice")
    if slice_ is None or len(slice_.operands) > 1:
        return value, ""
    *rows, column = ir.DenseI64ArrayAttr(slice_.attributes["static_offsets"])
    *others, stride = ir.DenseI64ArrayAttr(slice_.attributes["static_strides"])
    if stride < 2:
        return value, ""
    return slice_.operands[0], f"{rows} {column // stride} {others} {stride}"


def _reads_once(op: ir.Operation) -> bool:
    return all(len(m.results) == m.n_dims for _, m in zip(_inputs(op), indexing_maps(op), strict=False))


def _join(first: ir.Operation, second: ir.Operation) -> None:
    counts = [len(_inputs(op)) for op in (first, second)]
    outputs: list[ir.Value] = []
    maps = [m for op, n in zip((first, second), counts, strict=True) for m in indexing_maps(op)[:n]]
    for op, n in zip((first, second), counts, strict=True):
        outputs += list(op.operands)[n:]
        maps += indexing_maps(op)[n:]
    results = [*first.results, *second.results]
    with ir.InsertionPoint(second), second.location:
        made = generic([*_inputs(first), *_inputs(second)], outputs, maps, reduction_loops(first))
    _move_bodies(made, first, second, counts)
    for old, new in zip(results, made.results, strict=True):
        old.replace_all_uses_with(new)
    first.erase()
    second.erase()


def _move_bodies(made: ir.Operation, first: ir.Operation, second: ir.Operation, counts: list[int]) -> None:
    blocks = [op.regions[0].blocks[0] for op in (first, second)]
    old = [a for block, n in zip(blocks, counts, strict=True) for a in list(block.arguments)[:n]]
    old += [a for block, n in zip(blocks, counts, strict=True) for a in list(block.arguments)[n:]]
    target = made.regions[0].blocks[0]
    for before, after in zip(old, target.arguments, strict=True):
        before.replace_all_uses_with(after)
    yielded: list[ir.Value] = []
    place = ir.InsertionPoint(target)
    for block in blocks:
        *operations, end = [o.operation for o in block.operations]
        yielded += list(end.operands)
        for op in operations:
            op.detach_from_parent()
            place.insert(op)
        end.erase()
    with place, made.location:
        ir.Operation.create("linalg.yield", operands=yielded)
