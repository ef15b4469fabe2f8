"""The pass: each linalg op of a program becomes a kernel, launched where the op was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref

from pykern.passes.array_programs.aliases import outputs_of, programs
from pykern.passes.array_programs.device.kernel import Kernel, Place
from pykern.passes.array_programs.device.reductions import launch_generic
from pykern.passes.array_programs.nests.combine import allow_reordering
from pykern.passes.array_programs.nests.make import _starts
from pykern.passes.array_programs.nests.space import Space, space_of
from pykern.passes.framework import Pass
from pykern.passes.kernels import identity, named


@dataclass(frozen=True)
class MakeKernels(Pass):
    """Turn linalg ops on buffers, and stores of numbers, into launches of kernels.

    In:  programs with linalg.generic, memref.copy, memref.store on buffers, and kern.launch.
    Out: the same with `kern.launch` in place of all of them, but copies between dense buffers, which a
         driver makes. What is left besides is for the host: scalars, views, loops, numbers that are read back.
    """

    name: ClassVar[str] = "kern-make-kernels"

    def run(self, module: ir.Module) -> None:
        for program in programs(module):
            place = Place(module, program)
            for copy in named(program, "memref.copy"):
                if not all(map(is_contiguous, copy.operands)):
                    _strided_copy(program, copy)
            _generics(place)
            for store in named(program, "memref.store"):
                _store(place, store)


def _generics(place: Place) -> None:
    ops = named(place.program, "linalg.generic")
    for op in ops:
        allow_reordering(op)
    plain = [(identity(op), op) for op in ops if outputs_of(op) and not _moves(space_of(op))]
    starts, fills = _starts([op for _, op in plain])
    erased = {number for number, _ in plain if number in fills}
    for number, op in [(identity(o), o) for o in named(place.program, "linalg.generic")]:
        if number in erased:
            continue
        if outputs_of(op):
            space = space_of(op)
            start = starts.get(number, [None] * outputs_of(op))
            if space.iterations:
                launch_generic(place, space, start)
            elif any(v is not None for v in start):
                _only_start(place, op, start)
        op.erase()


def _moves(space: Space) -> bool:
    return any(map(space.moves_output, space.reduced))


def _only_start(place: Place, op: ir.Operation, start: list[ir.Value | None]) -> None:
    """A reduction of nothing leaves what it starts from."""
    outs = list(op.operands)[-outputs_of(op) :]
    for out, first in zip(outs, start, strict=True):
        if first is None or 0 in ir.MemRefType(out.type).shape:
            continue
        rank = ir.MemRefType(out.type).rank
        fill = _generic(op, [first, out], [[], list(range(rank))], rank)
        launch_generic(place, space_of(fill), [None])
        fill.erase()


def _strided_copy(program: ir.Operation, copy: ir.Operation) -> None:
    rank = ir.MemRefType(copy.operands[0].type).rank
    _generic(copy, list(copy.operands), [list(range(rank))] * 2, rank)
    copy.erase()


def _generic(
    before: ir.Operation, operands: list[ir.Value], dims: list[list[int]], rank: int
) -> ir.Operation:
    """``out[i] = in[i]``, over `rank` dimensions."""
    maps = [ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(d) for d in each]) for each in dims]
    kinds = [v.type.element_type if isinstance(v.type, ir.MemRefType) else v.type for v in operands]
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    with ir.InsertionPoint(before), before.location:
        made = ir.Operation.create(
            "linalg.generic",
            operands=operands,
            attributes={
                "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
                "iterator_types": ir.ArrayAttr.get([parallel] * rank),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1]),
            },
            regions=1,
        )
        block = made.regions[0].blocks.append(*kinds)
        with ir.InsertionPoint(block):
            ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    return made


def _store(place: Place, store: ir.Operation) -> None:
    """One work-item stores one number."""
    with Kernel(place, store, (1,), (1,)) as kernel:
        value, target, *indices = [kernel.value(v) for v in store.operands]
        memref.StoreOp(value, target, indices)
    store.erase()


def is_contiguous(value: ir.Value) -> bool:
    """Whether the elements lie side by side, wherever they begin."""
    kind = ir.MemRefType(value.type)
    strides, _ = kind.get_strides_and_offset()
    step = 1
    for length, stride in zip(reversed(kind.shape), reversed(strides), strict=True):
        if length != 1 and stride != step:
            return False
        step *= length
    return True
