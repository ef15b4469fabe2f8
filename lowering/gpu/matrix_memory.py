"""How matrices come from shared memory, and get there, on NVIDIA's chips: `ldmatrix` and `cp.async`.

Only kernels for chips that have `Chip.matrix_unit` ask for them.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import llvm

COUNT, BYTES = 4, 16
"""Matrices of a load; bytes of a copy."""


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
