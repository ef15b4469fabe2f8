"""Sums of cotangents of 16 bits are added up in f32 and rounded once, as those of products are.

Comes in: what a body adds up for a tensor of f16 or bf16. Goes out: the same in f32, and the tensor of the sums.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from pykern.passes.autodiff.tensor.builder import GenericBuilder, Output
from pykern.passes.autodiff.tensor.values import element, identity_map, is_tensor, shape
from pykern.passes.ir.lengths import empty, sizes_of
from pykern.passes.ir.values import made_by


def is_short(value: ir.Value) -> bool:
    """Whether it is a tensor of floats of 16 bits."""
    return is_tensor(value) and isinstance(element(value.type), ir.F16Type | ir.BF16Type)


def widened(value: ir.Value) -> ir.Value:
    """A short float in f32; not rounded before, where it was."""
    rounded = made_by(value, "arith.truncf")
    f32 = ir.F32Type.get()
    if rounded is not None and rounded.operands[0].type == f32:
        return rounded.operands[0]
    return arith.extf(f32, value)


def wide(held: ir.Value) -> ir.Value:
    """A tensor in f32."""
    return _converted(held, ir.F32Type.get())


def narrowed(sums: ir.Value, like: ir.Value) -> ir.Value:
    """Sums in f32, rounded to the elements of a tensor."""
    return _converted(sums, element(like.type))


def _converted(held: ir.Value, kind: ir.Type) -> ir.Value:
    map = identity_map(len(shape(held)))
    builder = GenericBuilder(map.n_dims)
    with builder.body:
        value = builder.input(held, map)
        made = (arith.extf if isinstance(kind, ir.F32Type) else arith.truncf)(kind, value)
    return builder.finish([Output(empty(sizes_of(held), kind), map, made)])[0]
