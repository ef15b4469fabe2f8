"""Operations on sliding windows read the array that the windows were made from, so that no copy of them is needed.

Comes in: tensors. Goes out: for windows `w` of `x`, as of `sliding_window_view`:

    before: w[i, k] = x[i + k], of n * m elements;  r[i] += w[i, k]
    after:  r[i] += x[i + k]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.ir.affine import access_of
from pykern.passes.ir.clone import clone_block, terminator_operands
from pykern.passes.ir.lengths import add_missing_lengths
from pykern.passes.ir.structured import (
    SEGMENTS,
    generic,
    indexing_maps,
    loop_lengths,
    reduces,
    reduction_loops,
)
from pykern.passes.kernels import body, named, replace


@dataclass(frozen=True)
class ReadWindows(Pass):
    """Replace reads of windows by reads of the array that they were made from: `w[i, k]` is `x[i + k]`.

    The array of all windows has m times as many elements, m being the length of a window. MLIR's fusion does not remove
    it in front of a reduction: no operand would have the length of a window as its own dimension, and the loop bounds
    of a `linalg.generic` come from its operands. Here an empty tensor of that length is added.

    In:  linalg.generic on tensors.
    Out: the same ops on the array. The windows have no uses any more; canonicalization erases them.
    """

    name: ClassVar[str] = "kern-read-windows"
    looks_for: ClassVar[tuple[str, ...]] = ("linalg.generic",)

    def run(self, module: ir.Module) -> None:
        waiting = [op for op in named(module.operation, "linalg.generic") if _makes_windows(op)]
        while waiting:
            op = waiting.pop(0)
            readers: list[ir.Operation] = []
            for use in op.results[0].uses:
                if use.owner.operation not in readers:  # one may read it twice
                    readers.append(use.owner.operation)
            for reader in readers:
                if reader.name != "linalg.generic":
                    continue
                places = [k for k, each in enumerate(waiting) if each == reader]
                made = _read_source(reader, op)
                for place in places:
                    waiting[place] = made


def _makes_windows(op: ir.Operation) -> bool:
    """Whether each element is one of an array, at sums of loops."""
    block = body(op)
    if len(op.operands) != 2 or len(op.results) != 1 or reduces(op) or len(list(block.operations)) != 1:
        return False
    read, written = indexing_maps(op)
    access = access_of(read)
    if terminator_operands(block)[0] != block.arguments[0] or access is None:
        return False
    return written == ir.AffineMap.get_identity(read.n_dims) and any(len(s.loops) > 1 for s in access.sums)


def _read_source(reader: ir.Operation, windows: ir.Operation) -> ir.Operation:
    inputs, _ = ir.DenseI32ArrayAttr(reader.attributes[SEGMENTS])
    operands, maps, lengths = list(reader.operands), indexing_maps(reader), loop_lengths(reader)
    for number in range(inputs):
        if operands[number] == windows.results[0]:
            operands[number] = windows.operands[0]
            known = maps[number]
            results = [each.compose(known) for each in indexing_maps(windows)[0].results]
            maps[number] = ir.AffineMap.get(known.n_dims, 0, results)
    if windows.results[0] in operands:
        return reader  # it writes into them
    with ir.InsertionPoint(reader), reader.location:
        given, read = operands[:inputs], maps[:inputs]
        add_missing_lengths(given, read, maps[inputs:], lengths)
        made = generic(given, operands[inputs:], [*read, *maps[inputs:]], reduction_loops(reader))
        block = body(made)
        arguments = list(block.arguments)
        known_values = dict(
            zip(body(reader).arguments, [*arguments[:inputs], *arguments[len(given) :]], strict=True)
        )
        with ir.InsertionPoint(block):
            yielded = clone_block(body(reader), known_values)
            ir.Operation.create("linalg.yield", operands=yielded)
    replace(reader, list(made.results))
    return made
