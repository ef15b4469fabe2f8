"""``@``, dot, matmul, outer: products summed over one axis.

Matrix times matrix is linalg.matmul, a batch of them linalg.batch_matmul; everything else a generic.
f16 and bf16 accumulate in f32 and are rounded once.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlir.dialects import linalg

from pykern.data.promotion import promote
from pykern.data.tiles import wide
from pykern.frontend import arithmetic
from pykern.frontend.casts import convert
from pykern.frontend.program import arguments, elementwise
from pykern.frontend.program.tensors import PARALLEL, REDUCTION, Input, Output, Shape, fill, generic, reshape
from pykern.frontend.program.tile_forms import ADD
from pykern.frontend.program.tile_lengths import meet
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, Value
from pykern.types import DType, bool_, by_numpy_name, f32

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

NAMES = ("dot", "matmul", "outer")


def call(t: ProgramTranslator, node: ast.Call, name: str, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, name, "a b", args, keywords)
    return {"dot": dot, "matmul": matmul, "outer": outer}[name](t, node, given["a"], given["b"])


def matmul(t: ProgramTranslator, node: ast.AST, a: Value, b: Value) -> Value:
    """``a @ b`` of NumPy: axes before the last two are batches and broadcast."""
    x, y = arguments.array(t, node, a), arguments.array(t, node, b)
    if not x.shape or not y.shape:
        raise t.type_error(node, "`@` takes arrays of at least one dimension", "multiply by a number with *")
    along = _check(t, node, x, y)
    x, y = _typed(t, node, x, y)
    return finish(t, node, summed(t, node, (along,), _matmul(t, node, x, y)), x.dtype)


def _matmul(t: ProgramTranslator, node: ast.AST, x: Cell, y: Cell) -> Cell:
    left, right = len(x.shape) > 1, len(y.shape) > 1
    if len(x.shape) <= 2 and len(y.shape) <= 2:
        return _plain(t, x, y, left, right)
    batches = [Cell(c.dtype, c.shape[:-2], c.ssa) for c in (x, y) if len(c.shape) > 2]
    batch = elementwise.broadcast_shapes(t, node, batches)
    if x.shape[:-2] == y.shape[:-2] and len(batch) == 1 and x.dtype.bits > 16 and x.dtype != bool_:
        return _named(linalg.batch_matmul, x, y, (*batch, *x.shape[-2:-1], *y.shape[-1:]))
    count = len(batch)
    rows, columns, inner = count, count + left, count + left + right
    x_dims = (*((rows,) if left else ()), inner)
    y_dims = (inner, *((columns,) if right else ()))
    shape = (*batch, *(x.shape[-2:-1] if left else ()), *(y.shape[-1:] if right else ()))
    inputs = [_batched(x, batch, x_dims), _batched(y, batch, y_dims)]
    return contract(t, x.dtype, inputs, shape)


def dot(t: ProgramTranslator, node: ast.AST, a: Value, b: Value) -> Value:
    """The last axis of `a` against the last but one of `b`; a number multiplies."""
    x, y = arguments.array(t, node, a), arguments.array(t, node, b)
    if not x.shape or not y.shape:
        return elementwise.apply(t, node, [a, b], lambda e: arithmetic.binary("*", e[0], e[1], t.fastmath))
    if len(y.shape) <= 2 and len(x.shape) <= 2:
        return matmul(t, node, x, y)
    along = _check(t, node, x, y)
    x, y = _typed(t, node, x, y)
    shape = (*x.shape[:-1], *y.shape[:-2], *y.shape[-1:]) if len(y.shape) > 1 else x.shape[:-1]
    inner, first = len(shape), len(x.shape) - 1
    x_dims = (*range(first), inner)
    y_dims = (*range(first, inner - 1), inner, inner - 1) if len(y.shape) > 1 else (inner,)
    inputs = [Input(x.dtype, x.ssa, x_dims), Input(y.dtype, y.ssa, y_dims)]
    return finish(t, node, summed(t, node, (along,), contract(t, x.dtype, inputs, shape)), x.dtype)


def outer(t: ProgramTranslator, node: ast.AST, a: Value, b: Value) -> Value:
    x, y = arguments.array(t, node, a), arguments.array(t, node, b)
    column = Cell(x.dtype, (x.size, 1), reshape(x.ssa, x.dtype, x.shape, (x.size, 1)))
    row = Cell(y.dtype, (y.size,), reshape(y.ssa, y.dtype, y.shape, (y.size,)))
    return elementwise.apply(t, node, [column, row], lambda e: arithmetic.binary("*", e[0], e[1], t.fastmath))


def _check(t: ProgramTranslator, node: ast.AST, x: Cell, y: Cell) -> int:
    """The length that is summed over."""
    inner = y.shape[-2:][0]
    if x.shape[-1] != inner:
        raise t.type_error(node, f"the inner lengths differ: {x.shape[-1]} of {x.description} and "
                           f"{inner} of {y.description}",
                           "the last axis of the first meets the last but one of the second")  # fmt: skip
    return meet(t, node, (x.shape[-1], inner)) if inner != 1 else 1


def summed(t: ProgramTranslator, node: ast.AST, along: Sequence[int], made: Cell) -> Cell:
    """`made`, a sum of products along axes of these lengths."""
    if t.tile is not None:
        t.tile.reductions.reduces(t, node, "this sums over", along, ADD, made.ssa)
    return made


def _typed(t: ProgramTranslator, node: ast.AST, x: Cell, y: Cell) -> tuple[Cell, Cell]:
    dtype = promote(x.dtype, y.dtype)
    a, b = elementwise.cast(t, node, x, dtype), elementwise.cast(t, node, y, dtype)
    assert isinstance(a, Cell) and isinstance(b, Cell)
    return a, b


def _plain(t: ProgramTranslator, x: Cell, y: Cell, left: bool, right: bool) -> Cell:
    """Vectors and matrices."""
    if left and right and x.dtype.bits > 16:
        return _named(linalg.matmul, x, y, (*x.shape[:1], *y.shape[1:]))
    inner = left + right
    x_dims = (0, inner) if left else (inner,)
    y_dims = (inner, int(left)) if right else (inner,)
    shape = (*(x.shape[:1] if left else ()), *(y.shape[1:] if right else ()))
    return contract(t, x.dtype, [Input(x.dtype, x.ssa, x_dims), Input(y.dtype, y.ssa, y_dims)], shape)


def _named(op, x: Cell, y: Cell, shape: Shape) -> Cell:
    start = fill(Scalar(x.dtype, const=0), x.dtype, shape)
    return Cell(x.dtype, shape, op(x.ssa, y.ssa, outs=[start]))


def _batched(cell: Cell, batch: Shape, dims: tuple[int, ...]) -> Input:
    """`cell` under batch loops: axes of length 1 that repeat are collapsed."""
    own = cell.shape[: len(cell.shape) - len(dims)]
    ahead = len(batch) - len(own)
    kept = [a for a, n in enumerate(own) if n == batch[ahead + a]]
    shape = (*(own[a] for a in kept), *cell.shape[len(own) :])
    ssa = reshape(cell.ssa, cell.dtype, cell.shape, shape)
    return Input(cell.dtype, ssa, (*(ahead + a for a in kept), *dims))


def contract(t: ProgramTranslator, dtype: DType, inputs: list[Input], shape: Shape, summed: int = 1) -> Cell:
    """Products of two arrays over loops for `shape`, summed over the `summed` loops inside of these."""
    works = _wide(dtype) if t.tile is not None else f32 if dtype.is_float and dtype.bits == 16 else dtype

    def body(elements: list[Scalar], so_far: list[Scalar]) -> list[Scalar]:
        a, b = (convert(e, works) for e in elements)
        return [arithmetic.binary("+", so_far[0], arithmetic.binary("*", a, b, t.fastmath), t.fastmath)]

    start = fill(Scalar(works, const=False if works == bool_ else 0), works, shape)
    iterators = [*[PARALLEL] * len(shape), *[REDUCTION] * summed]
    [ssa] = generic(iterators, inputs, [Output(works, shape, tuple(range(len(shape))), start)], body)
    return Cell(works, shape, ssa)


def _wide(dtype: DType) -> DType:
    """The type of a product in a tile kernel."""
    return by_numpy_name(wide(dtype.numpy.name) or "") or dtype


def finish(t: ProgramTranslator, node: ast.AST, made: Cell, dtype: DType) -> Value:
    """Round once to the type of the operands; tile kernels keep the wide type, in which they add up."""
    made.is_scalar = not made.shape
    dtype = made.dtype if t.tile is not None else dtype
    return elementwise.cast(t, node, made, dtype)
