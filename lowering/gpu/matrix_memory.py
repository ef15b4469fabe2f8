"""How matrices come from shared memory, and get there: `ldmatrix` and `cp.async` on NVIDIA, words side by side on AMD.

Only kernels for chips that have `Chip.matrix_unit` ask for them.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import llvm

COUNT, BYTES = 4, 16
"""Matrices of a load; bytes of a copy."""
_WORD = 4
"""Bytes of a word."""


def load_matrices(pointer: ir.Value, transposed: bool) -> list[ir.Value]:
    """A lane's word of each of four matrices; `pointer` is the lane's row."""
    word = ir.IntegerType.get_signless(32)
    layout = "col" if transposed else "row"
    loaded = ir.Operation.create(
        "nvvm.ldmatrix",
        results=[ir.Type.parse(f"!llvm.struct<({', '.join([str(word)] * COUNT)})>")],
        operands=[pointer],
        attributes={
            "num": ir.IntegerAttr.get(word, COUNT),
            "layout": ir.Attribute.parse(f"#nvvm.mma_layout<{layout}>"),
            "shape": ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>"),
            "eltType": ir.Attribute.parse("#nvvm.ld_st_matrix_elt_type<b16>"),
        },
    ).result
    return [llvm.ExtractValueOp(word, loaded, ir.DenseI64ArrayAttr.get([n])).result for n in range(COUNT)]


def copy_async(target: ir.Value, source: ir.Value, count: ir.Value) -> None:
    """Copy 16 bytes past the first cache; those beyond `count` are zeros."""
    ir.Operation.create(
        "nvvm.cp.async.shared.global",
        operands=[target, source, count],
        attributes={
            "size": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), BYTES),
            "modifier": ir.Attribute.parse("#nvvm<load_cache_modifier cg>"),
        },
    )


def load_words(pointer: ir.Value, count: int) -> list[ir.Value]:
    """Words side by side, from a multiple of their size on."""
    word = ir.IntegerType.get_signless(32)
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _WORD * count)
    loaded = llvm.LoadOp(ir.VectorType.get([count], word), pointer, alignment=alignment).result
    return words_of(loaded)


def store_words(pointer: ir.Value, words: list[ir.Value]) -> None:
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _WORD * len(words))
    llvm.StoreOp(vector_of(words), pointer, alignment=alignment)


def vector_of(values: list[ir.Value]) -> ir.Value:
    """Numbers of one type as a vector."""
    i64, kind = ir.IntegerType.get_signless(64), ir.VectorType.get([len(values)], values[0].type)
    vector = llvm.PoisonOp(kind).result
    for number, value in enumerate(values):
        at = llvm.ConstantOp(i64, ir.IntegerAttr.get(i64, number)).result
        vector = llvm.InsertElementOp(vector, value, at).result
    return vector


def words_of(vector: ir.Value) -> list[ir.Value]:
    """The elements of a vector."""
    i64, kind = ir.IntegerType.get_signless(64), ir.VectorType(vector.type)
    numbers = [llvm.ConstantOp(i64, ir.IntegerAttr.get(i64, n)).result for n in range(kind.shape[0])]
    return [llvm.ExtractElementOp(vector, at).result for at in numbers]
