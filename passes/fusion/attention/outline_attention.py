"""The pass: attention becomes a call, which bufferization takes for one op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func, tensor

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.fusion.attention.pattern import Attention, attention_of
from pykern.passes.fusion.attention.score import Score
from pykern.passes.fusion.attention.softmax import single, unwidened
from pykern.passes.ir.clone import remake
from pykern.passes.ir.elements import Operand, dims
from pykern.passes.ir.memory import TENSOR_RESHAPES
from pykern.passes.ir.values import made_by
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
    read = [*map(_narrow, (found.query, found.keys, found.values)), *score.reads]
    path = _path_to_narrow(op.results[0])
    element = ir.RankedTensorType((path or [op])[-1].results[0].type).element_type
    with ir.InsertionPoint(op), op.location:
        empty = tensor.EmptyOp(ir.RankedTensorType(out.value.type).shape, element).result
    taken = [*(each.value for each in read), *score.outer, empty]
    with ir.InsertionPoint(module.body), op.location:
        score.make(name + ".score").operation.attributes[kern.ATTENTION] = ir.UnitAttr.get()
        tiles = func.FuncOp(name + ".tiles", ([_buffer(v.type) for v in taken], []), visibility="private")
        maps = [ir.AffineMap.get(rank + 2, 0, list(each.at)) for each in (*read, out)]
        tiles.operation.attributes[kern.ATTENTION] = ir.FlatSymbolRefAttr.get(name + ".score")
        tiles.operation.attributes[kern.MAPS] = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
        lengths = [*found.batches, found.queries, found.count, found.depth, found.width]
        tiles.operation.attributes[kern.LENGTHS] = ir.DenseI64ArrayAttr.get(lengths)
        tiles.operation.attributes[kern.WEIGHTS] = ir.TypeAttr.get(found.weights)
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
        for reshape in path[:-1]:
            kind = ir.RankedTensorType.get(ir.RankedTensorType(reshape.results[0].type).shape, element)
            result = remake(reshape, [result, *list(reshape.operands)[1:]], [kind]).result
    (path or [op])[-1].results[0].replace_all_uses_with(result)
    for each in reversed([op, *path]):
        each.erase()


def _narrow(read: Operand) -> Operand:
    """The same elements before they were widened, reshaped as they are."""
    reshape = made_by(read.value, *TENSOR_RESHAPES)
    if reshape is None:
        return read
    source = unwidened(Operand(reshape.operands[0], dims(*range(_rank(reshape.operands[0])))))
    if source.at != dims(*range(_rank(source.value))):
        return read
    kind = ir.RankedTensorType(read.value.type)
    kind = ir.RankedTensorType.get(kind.shape, ir.RankedTensorType(source.value.type).element_type)
    with ir.InsertionPoint(reshape):
        made = remake(reshape, [source.value, *list(reshape.operands)[1:]], [kind]).result
    return Operand(made, read.at)


def _rank(value: ir.Value) -> int:
    return ir.RankedTensorType(value.type).rank


def _path_to_narrow(value: ir.Value) -> list[ir.Operation]:
    """Reshapes, and the op behind them that narrows the result, where nobody else reads it."""
    path: list[ir.Operation] = []
    while len(uses := list(value.uses)) == 1 and len(uses[0].owner.operation.results) == 1:
        path.append(uses[0].owner.operation)
        value = path[-1].results[0]
        if path[-1].name not in TENSOR_RESHAPES:
            read = single(value, "arith.truncf")
            is_same = read is not None and read[0].at == dims(*range(_rank(value)))
            return path if is_same else []
    return []


def _buffer(kind: ir.Type) -> ir.Type:
    if not isinstance(kind, ir.RankedTensorType):
        return kind
    return ir.MemRefType.get(kind.shape, kind.element_type)


def _as_buffer(value: ir.Value, is_written: bool) -> ir.Value:
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    return to_buffer(_buffer(value.type), value, is_written)
