"""The pass: attention becomes a call, which bufferization takes for one op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, tensor

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.fusion.attention.pattern import Attention, attention_of
from pykern.passes.fusion.attention.score import Score
from pykern.passes.ir.elements import Operand, dims
from pykern.passes.kernels import named, programs
from pykern.passes.remarks import remark
from pykern.passes.tensor.outline_launches import to_buffer, to_tensor


@dataclass(frozen=True)
class OutlineAttention(Pass):
    """Put a call in place of attention.

    In:  programs with linalg.generic on tensors, one a NumPy operation: products of matrices, of which the second
         takes a softmax over scores made of the first.
    Out: `func.call @<program>.attention<n>(queries, keys, values, what scores read, scalars, out)` of a function
         that calls the declaration `.tiles` on buffers; and `.score`, what is done with each product.
    """

    name: ClassVar[str] = "kern-outline-attention"
    looks_for: ClassVar[tuple[str, ...]] = ("math.exp",)

    def run(self, module: ir.Module) -> None:
        for program in programs(module):
            number = 0
            for op in reversed(named(program, "linalg.generic")):
                found = attention_of(op)
                if found is None:
                    continue
                score = Score(found)
                if score.collect():
                    symbol = ir.StringAttr(program.attributes["sym_name"]).value
                    remark(op, "attention in tiles: the scores are never in memory as a whole")
                    _outline(module, found, score, f"{symbol}.attention{number}")
                    number += 1


def _outline(module: ir.Module, found: Attention, score: Score, name: str) -> None:
    op = found.last
    rank = found.rank
    out = Operand(op.results[0], (*dims(*range(rank - 1)), dims(rank + 1)[0]))
    read = [found.query, found.keys, found.values, *score.reads]
    with ir.InsertionPoint(op), op.location:
        empty = tensor.EmptyOp(ir.RankedTensorType(out.value.type).shape, found.element).result
    taken = [*(each.value for each in read), *score.outer, empty]
    with ir.InsertionPoint(module.body), op.location:
        score.make(name + ".score").operation.attributes[kern.ATTENTION] = ir.UnitAttr.get()
        tiles = func.FuncOp(name + ".tiles", ([_buffer(v.type) for v in taken], []), visibility="private")
        maps = [ir.AffineMap.get(rank + 2, 0, list(each.at)) for each in (*read, out)]
        tiles.operation.attributes[kern.ATTENTION] = ir.FlatSymbolRefAttr.get(name + ".score")
        tiles.operation.attributes[kern.MAPS] = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
        lengths = [*found.batches, found.queries, found.count, found.depth, found.width]
        tiles.operation.attributes[kern.LENGTHS] = ir.DenseI64ArrayAttr.get(lengths)
        if not found.shifted:
            tiles.operation.attributes[kern.UNSHIFTED] = ir.UnitAttr.get()
        whole = func.FuncOp(name, ([v.type for v in taken], [empty.type]), visibility="private")
        with ir.InsertionPoint(whole.add_entry_block()):
            *given, last = whole.arguments
            buffers = [_as_buffer(a, False) for a in given]
            result = _as_buffer(last, True)
            func.CallOp([], name + ".tiles", [*buffers, result])
            func.ReturnOp([to_tensor(last.type, result)])
    with ir.InsertionPoint(op), op.location:
        result = func.CallOp([empty.type], name, taken).results[0]
        if result.type != op.results[0].type:
            result = arith.TruncFOp(op.results[0].type, result).result
    op.results[0].replace_all_uses_with(result)
    op.erase()


def _buffer(kind: ir.Type) -> ir.Type:
    if not isinstance(kind, ir.RankedTensorType):
        return kind
    return ir.MemRefType.get(kind.shape, kind.element_type)


def _as_buffer(value: ir.Value, is_written: bool) -> ir.Value:
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    return to_buffer(_buffer(value.type), value, is_written)
