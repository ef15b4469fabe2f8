"""Arguments as C has them: pointers, lengths and strides in place of memrefs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass
from pykern.passes.kernels import dense_strides, update_type

QUERIES = (".extent", ".work")
SYMBOL_PREFIX = "kern."
"""Kernels get names that no library function has: a user may well call one `exp`."""


@dataclass(frozen=True)
class FlattenArguments(Pass):
    """Give kernels (and their queries) the signature of `pykern.data.abi`.

    In:  func.func whose array arguments are memrefs.
    Out: per array `!llvm.ptr, index * rank (lengths)[, index * rank (strides)]`; the memref is put
         together inside. Pointers of kernels marked `kern.noalias` are llvm.noalias.
    """

    name: ClassVar[str] = "kern-flatten-arguments"

    def run(self, module: ir.Module) -> None:
        for op in [o.operation for o in module.body.operations]:
            if op.name != "func.func" or not op.regions[0].blocks:
                continue
            symbol = ir.StringAttr(op.attributes["sym_name"]).value
            if kern.KERNEL in op.attributes or symbol.endswith(QUERIES):
                _flatten(op)
                op.attributes["sym_name"] = ir.StringAttr.get(SYMBOL_PREFIX + symbol)
                if kern.KERNEL in op.attributes:  # the launcher calls it twice: one copy is enough
                    op.attributes["passthrough"] = ir.ArrayAttr.get([ir.StringAttr.get("noinline")])


def _flatten(function: ir.Operation) -> None:
    block = function.regions[0].blocks[0]
    old = list(block.arguments)
    noalias = kern.NOALIAS in function.attributes
    attributes: list[ir.Attribute] = []
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for argument in old:
            if not isinstance(argument.type, ir.MemRefType):
                attributes.append(ir.DictAttr.get({}))
                argument.replace_all_uses_with(block.add_argument(argument.type, argument.location))
                continue
            kind = ir.MemRefType(argument.type)
            lengths_and_strides = kind.rank * (1 if _is_dense(kind) else 2)
            pointer = block.add_argument(ir.Type.parse("!llvm.ptr"), argument.location)
            cells = [
                block.add_argument(ir.IndexType.get(), argument.location) for _ in range(lengths_and_strides)
            ]
            marks = {"llvm.noalias": ir.UnitAttr.get()} if noalias else {}
            if len(cells) > kind.rank:
                function.attributes[kern.STRIDED] = ir.UnitAttr.get()
            attributes += [ir.DictAttr.get(marks), *[ir.DictAttr.get({})] * len(cells)]
            argument.replace_all_uses_with(_memref(kind, pointer, cells))
    for _ in old:
        block.erase_argument(0)
    result_types = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
    update_type(function, result_types)
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)


def _is_dense(kind: ir.MemRefType) -> bool:
    return kind.rank == 0 or isinstance(kind.layout, ir.AffineMapAttr)


def _memref(kind: ir.MemRefType, pointer: ir.Value, cells: list[ir.Value]) -> ir.Value:
    """A memref descriptor built from its parts."""
    i64 = ir.IntegerType.get_signless(64)
    rank = kind.rank
    arrays = f", array<{rank} x i64>, array<{rank} x i64>" if rank else ""
    struct = ir.Type.parse(f"!llvm.struct<(ptr, ptr, i64{arrays})>")
    descriptor = ir.Operation.create("llvm.mlir.poison", results=[struct]).result
    zero = arith.ConstantOp(i64, ir.IntegerAttr.get(i64, 0)).result
    lengths = cells[:rank]
    strides = cells[rank:] if len(cells) > rank else dense_strides(lengths)
    parts = [((0,), pointer), ((1,), pointer), ((2,), zero)]
    parts += [((3, d), arith.IndexCastOp(i64, v).result) for d, v in enumerate(lengths)]
    parts += [((4, d), arith.IndexCastOp(i64, v).result) for d, v in enumerate(strides)]
    for position, value in parts:
        descriptor = ir.Operation.create(
            "llvm.insertvalue", results=[struct], operands=[descriptor, value],
            attributes={"position": ir.DenseI64ArrayAttr.get(list(position))},
        ).result  # fmt: skip
    return ir.Operation.create(
        "builtin.unrealized_conversion_cast", results=[kind], operands=[descriptor]
    ).result
