"""The few forms of tensor ops that everything is made of: generic, fill, empty, slices, shapes.

Comes in: SSA tensors with their NumPy shapes. Goes out: SSA tensors. Elements are as memory holds them
(a bool is a byte); bodies of generics work on `Scalar`s, converted at their borders.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, linalg, tensor

from pykern.frontend.casts import convert, materialise, memory_type
from pykern.frontend.values import Scalar
from pykern.types import DType, bool_, f64, i64, weak_int

Shape = tuple[int, ...]
PARALLEL, REDUCTION = "parallel", "reduction"
_DYNAMIC = ir.ShapedType.get_dynamic_size()


def strong(dtype: DType) -> DType:
    """The type an array takes where a Python number comes in."""
    return dtype if not dtype.weak else f64 if dtype.is_float else i64


def tensor_type(dtype: DType, shape: Shape) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(list(shape), memory_type(dtype))


def empty(dtype: DType, shape: Shape) -> ir.Value:
    return tensor.EmptyOp(list(shape), memory_type(dtype)).result


def fill(value: Scalar, dtype: DType, shape: Shape) -> ir.Value:
    """A tensor that holds `value` everywhere."""
    stored = to_memory(convert(value, dtype))
    return linalg.fill(stored, outs=[empty(dtype, shape)])


def to_memory(value: Scalar) -> ir.Value:
    """An element as a tensor holds it."""
    ssa = materialise(value)
    return arith.ExtUIOp(memory_type(bool_), ssa).result if value.dtype == bool_ else ssa


def from_memory(dtype: DType, ssa: ir.Value) -> Scalar:
    """An element of a tensor as a scalar."""
    if dtype == bool_:
        nil = arith.ConstantOp(ssa.type, 0).result
        ssa = arith.CmpIOp(arith.CmpIPredicate.ne, ssa, nil).result
    return Scalar(dtype, ssa)


def from_scalar(value: Scalar, dtype: DType) -> ir.Value:
    """A tensor of rank 0."""
    stored = to_memory(convert(value, dtype))
    return tensor.FromElementsOp(tensor_type(dtype, ()), [stored]).result


def extract(dtype: DType, ssa: ir.Value) -> Scalar:
    """The element of a tensor of rank 0."""
    return from_memory(dtype, tensor.ExtractOp(ssa, []).result)


# -- generics -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Input:
    """An operand of a generic: a tensor read through `dims` (loop numbers), or a scalar with none."""

    dtype: DType
    ssa: ir.Value
    dims: tuple[ir.AffineExpr | int, ...]

    @property
    def is_tensor(self) -> bool:
        return isinstance(self.ssa.type, ir.RankedTensorType)

    def element(self, argument: ir.Value) -> Scalar:
        return from_memory(self.dtype, argument) if self.is_tensor else Scalar(self.dtype, argument)


@dataclass(frozen=True)
class Output:
    """A result of a generic; `init` is what it starts from, nothing where None."""

    dtype: DType
    shape: Shape
    dims: tuple[int, ...]
    init: ir.Value | None = None


Body = Callable[[list[Scalar], list[Scalar]], Sequence[Scalar]]
"""From the elements of the inputs and of the outputs so far, to the elements of the outputs."""


def generic(
    iterators: Sequence[str], inputs: Sequence[Input], outputs: Sequence[Output], body: Body
) -> list[ir.Value]:
    """One linalg.generic of known result types."""
    block, scratch = _block(inputs)
    for output in outputs:
        block.add_argument(memory_type(output.dtype), ir.Location.current)
    with ir.InsertionPoint(block):
        elements = [i.element(a) for i, a in zip(inputs, block.arguments, strict=False)]
        before = [
            from_memory(o.dtype, a)
            for o, a in zip(outputs, list(block.arguments)[len(inputs) :], strict=True)
            if o.init is not None
        ]
        results = body(elements, before)
    return _finish(iterators, inputs, outputs, block, scratch, results)


def elementwise(
    shape: Shape, inputs: Sequence[Input], body: Callable[[list[Scalar]], Sequence[Scalar]]
) -> list[tuple[DType, ir.Value]]:
    """A parallel generic over `shape`; the types of the results are what the body gives."""
    block, scratch = _block(inputs)
    with ir.InsertionPoint(block):
        results = body([i.element(a) for i, a in zip(inputs, block.arguments, strict=True)])
        results = [convert(r, strong(r.dtype)) for r in results]
    for result in results:
        block.add_argument(memory_type(result.dtype), ir.Location.current)
    dims = tuple(range(len(shape)))
    outputs = [Output(r.dtype, shape, dims) for r in results]
    made = _finish([PARALLEL] * len(shape), inputs, outputs, block, scratch, results)
    return [(r.dtype, ssa) for r, ssa in zip(results, made, strict=True)]


def loop_index(dim: int) -> Scalar:
    """The number of the iteration in a loop of the generic around."""
    return Scalar(weak_int, linalg.IndexOp(dim).result)


def _block(inputs: Sequence[Input]) -> tuple[ir.Block, ir.Operation]:
    """A block for a body, in an op of no meaning: the types of the results are not known yet."""
    scratch = ir.Operation.create("scf.execute_region", regions=1)
    types = [memory_type(i.dtype) if i.is_tensor else i.ssa.type for i in inputs]
    return scratch.regions[0].blocks.append(*types), scratch


def _finish(
    iterators: Sequence[str],
    inputs: Sequence[Input],
    outputs: Sequence[Output],
    block: ir.Block,
    scratch: ir.Operation,
    results: Sequence[Scalar],
) -> list[ir.Value]:
    with ir.InsertionPoint(block):
        yielded = [to_memory(convert(r, o.dtype)) for r, o in zip(results, outputs, strict=True)]
        ir.Operation.create("linalg.yield", operands=yielded)
    rank = len(iterators)
    maps = [ir.AffineMap.get(rank, 0, [_expression(d) for d in item.dims]) for item in (*inputs, *outputs)]
    starts = [o.init if o.init is not None else empty(o.dtype, o.shape) for o in outputs]
    made = ir.Operation.create(
        "linalg.generic",
        results=[s.type for s in starts],
        operands=[*(i.ssa for i in inputs), *starts],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{name}>") for name in iterators]
            ),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
        },
        regions=1,
    )
    block.append_to(made.regions[0])
    scratch.erase()
    return list(made.results)


def _expression(dim: ir.AffineExpr | int) -> ir.AffineExpr:
    return dim if isinstance(dim, ir.AffineExpr) else ir.AffineExpr.get_dim(dim)


# -- shapes -------------------------------------------------------------------------------------


def reshape(ssa: ir.Value, dtype: DType, old: Shape, new: Shape) -> ir.Value:
    """The elements in another shape, by collapsing and expanding."""
    if old == new:
        return ssa
    dense = tuple(n for n in old if n != 1)
    if dense == tuple(n for n in new if n != 1):  # only axes of length 1 come and go
        return _expand(_collapse(ssa, dtype, old, dense), dtype, dense, new)
    total = math.prod(old)
    if total == 0:
        return empty(dtype, new)
    flat = (total,)
    if len(old) != 1:
        made = tensor.CollapseShapeOp(tensor_type(dtype, flat), ssa, [list(range(len(old)))])
        ssa = made.result
    if len(new) != 1:
        ssa = tensor.ExpandShapeOp(
            tensor_type(dtype, new), ssa, [list(range(len(new)))], [], list(new)
        ).result
    return ssa


def _groups(shape: Shape) -> list[list[int]]:
    """Axes grouped so that each group has one length that is not 1."""
    groups: list[list[int]] = []
    for axis, length in enumerate(shape):
        seen = groups and any(shape[a] != 1 for a in groups[-1])
        if not groups or (length != 1 and seen):
            groups.append([])
        groups[-1].append(axis)
    return groups


def _collapse(ssa: ir.Value, dtype: DType, old: Shape, dense: Shape) -> ir.Value:
    if old == dense:
        return ssa
    groups = _groups(old) if dense else []
    return tensor.CollapseShapeOp(tensor_type(dtype, dense), ssa, groups).result


def _expand(ssa: ir.Value, dtype: DType, dense: Shape, new: Shape) -> ir.Value:
    if dense == new:
        return ssa
    groups = _groups(new) if dense else []
    return tensor.ExpandShapeOp(tensor_type(dtype, new), ssa, groups, [], list(new)).result


# -- slices -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Extent:
    """What a slice takes of one axis; `kept` is False for an axis that an integer index drops."""

    offset: int | ir.Value
    size: int
    step: int = 1
    kept: bool = True


def extract_slice(ssa: ir.Value, dtype: DType, extents: Sequence[Extent]) -> ir.Value:
    shape = tuple(e.size for e in extents if e.kept)
    if 0 in shape:
        return empty(dtype, shape)
    return tensor.ExtractSliceOp(tensor_type(dtype, shape), ssa, *_slice_operands(extents)).result


def insert_slice(value: ir.Value, into: ir.Value, extents: Sequence[Extent]) -> ir.Value:
    if any(e.size == 0 for e in extents):
        return into
    return tensor.InsertSliceOp(value, into, *_slice_operands(extents)).result


def _slice_operands(extents: Sequence[Extent]) -> tuple:
    given = [e.offset for e in extents if isinstance(e.offset, ir.Value)]
    static = [_DYNAMIC if isinstance(e.offset, ir.Value) else e.offset for e in extents]
    return given, [], [], static, [e.size for e in extents], [e.step for e in extents]
