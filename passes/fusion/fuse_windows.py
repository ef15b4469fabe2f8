"""Reductions over sliding windows are fused with the elementwise operation that they read.

Comes in: tensors, after fusion by MLIR's own pass. Goes out: the same without the intermediate array, which would hold
a number for each element of each window. In ``((w - w.mean(1)[:, None]) ** 2).sum(1)``, where `w` are the windows of
length m of an array x:

    before: t[i, k] = (x[i + k] - mean[i]) ** 2, of n * m elements;  r[i] += t[i, k]
    after:  r[i] += (x[i + k] - mean[i]) ** 2

Read next: `passes.tensor.read_windows`, which lets operations read `x[i + k]` instead of a copy of the windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.lengths import add_missing_lengths
from pykern.passes.ir.structured import (
    SEGMENTS,
    generic,
    indexing_maps,
    is_elementwise,
    loop_lengths,
    loops_in,
    reduces,
    reduction_loops,
)
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body, named, replace


@dataclass(frozen=True)
class FuseWindows(Pass):
    """Fuse a reduction with the elementwise op on windows that it reads.

    MLIR's fusion does not do this: no operand of the fused op would have the length of a window as its own dimension,
    and the loop bounds of a `linalg.generic` come from its operands. Here an empty tensor of that length is added.

    In:  linalg.generic on tensors.
    Out: one op in place of two, where an elementwise op indexes an array by the sum of two loops, and a reduction is
         the only reader of its result and reads each element once.
    """

    name: ClassVar[str] = "kern-fuse-windows"
    looks_for: ClassVar[tuple[str, ...]] = ("linalg.generic",)

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "linalg.generic"):
            if len(op.results) == 1 and reduces(op):
                _join(op)


def _join(reader: ir.Operation) -> None:
    inputs, _ = ir.DenseI32ArrayAttr(reader.attributes[SEGMENTS])
    for number, operand in enumerate(list(reader.operands)[:inputs]):
        maker = made_by(operand, "linalg.generic")
        if maker is not None and _is_of_windows(maker) and _reads_once(reader, number, maker):
            _put_into(maker, reader, number)
            return


def _is_of_windows(op: ir.Operation) -> bool:
    """Whether an op without reductions indexes an operand by a sum of loops, and its one result has one use."""
    return (
        is_elementwise(op)
        and any(not isinstance(e, ir.AffineDimExpr) for one in indexing_maps(op)[:-1] for e in one.results)
        and len(list(op.results[0].uses)) == 1
    )


def _reads_once(reader: ir.Operation, number: int, maker: ir.Operation) -> bool:
    read = indexing_maps(reader)[number]
    return (
        maker.block == reader.block and len(loops_in(read)) == read.n_dims and read.is_projected_permutation
    )


def _put_into(maker: ir.Operation, reader: ir.Operation, number: int) -> None:
    inputs, _ = ir.DenseI32ArrayAttr(reader.attributes[SEGMENTS])
    operands, maps, lengths = list(reader.operands), indexing_maps(reader), loop_lengths(reader)
    read = maps[number]
    given = [*operands[:number], *operands[number + 1 : inputs]]
    accesses = [*maps[:number], *maps[number + 1 : inputs]]
    kept = len(given)
    for value, one in zip(list(maker.operands)[:-1], indexing_maps(maker), strict=False):
        given.append(value)
        accesses.append(ir.AffineMap.get(read.n_dims, 0, [e.compose(read) for e in one.results]))
    with ir.InsertionPoint(reader), reader.location:
        add_missing_lengths(given, accesses, maps[inputs:], lengths)
        made = generic(given, operands[inputs:], [*accesses, *maps[inputs:]], reduction_loops(reader))
        block = body(made)
        arguments = list(block.arguments)
        with ir.InsertionPoint(block):
            own = dict(zip(body(maker).arguments, arguments[kept:], strict=False))
            elements = [*arguments[:kept], arguments[-1]]
            elements[number:number] = clone_block(body(maker), own)
            known = dict(zip(body(reader).arguments, elements, strict=True))
            ir.Operation.create("linalg.yield", operands=clone_block(body(reader), known))
    replace(reader, list(made.results))
    maker.erase()
