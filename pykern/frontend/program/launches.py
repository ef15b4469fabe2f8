"""A kernel called in an array program: its own function in the module, and a `kern.launch` on buffers.

Comes in: a call ``k(y, x, c, ndrange=x.shape)``. Goes out: for each array a buffer of its tensor, the launch,
and for each array the kernel writes the tensor it left. Shapes and the index space are static, so the kernel
is built for them.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlir import ir
from mlir.dialects import bufferization

from pykern.data.launch_bounds import LaunchCheck
from pykern.data.source import (
    Annotation,
    ArgSpec,
    ArraySpec,
    CapturedKernel,
    Constant,
    KernelSource,
    LaunchSpec,
    Parameter,
    ScalarSpec,
    StaticSpec,
    StructSpec,
    TypeName,
    is_tiled,
)
from pykern.data.tiles import TileLaunch
from pykern.dialect import attributes as kern
from pykern.dialect.launch import LaunchOp
from pykern.dialect.reports import ReportBoundsOp
from pykern.errors import LAUNCHED_FROM, KernelError
from pykern.frontend import kernel as kernel_frontend
from pykern.frontend.casts import convert, materialise, memory_type
from pykern.frontend.parse import parse_function
from pykern.frontend.program import arguments, tile_body
from pykern.frontend.program.complex_arrays import holds_complex
from pykern.frontend.program.tensors import tensor_type
from pykern.frontend.program.unknown_values import unknown
from pykern.frontend.program.values import Cell
from pykern.frontend.values import (
    KernelValue,
    NoneValue,
    RangeValue,
    Scalar,
    Text,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.passes import kernels
from pykern.passes.ir.argument_uses import argument_uses
from pykern.passes.kernel.launch_bounds.find import certain, launch_bounds
from pykern.passes.kernel.launch_bounds.point import Space
from pykern.passes.kernel.work_item_warnings import look_at
from pykern.types import BY_NAME

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def launch(t: ProgramTranslator, node: ast.Call, callee: KernelValue) -> Value:
    """``k(*args, ndrange=..., workgroup=...)``."""
    called = callee.kernel
    args, keywords = t.arguments(node)
    if any(map(holds_complex, (*args, *keywords.values()))):
        raise t.type_error(node, f"`{called.function.name}` takes no complex values inside of a program",
                           "launch it outside of the program, or pass z.real and z.imag")  # fmt: skip
    ndrange, group = keywords.pop("ndrange", None), keywords.pop("workgroup", None)
    for name in ("stream", "device", "shared_bytes"):
        if name in keywords:
            raise t.type_error(node, f"`{name}` is not for a launch in an array program",
                               "the program as a whole runs on one device")  # fmt: skip
    sizes = _sizes(t, node, called, keywords)
    values = t.bind(node, parse_function(called.function), args, keywords)
    space = _space(t, node, called, ndrange)
    workgroup = _group(t, node, called, group, len(space))
    notes = {note.name: note for note in called.annotations}
    passed = [
        (_parameter(t, node, name, value, notes.get(name, Annotation(name))), value)
        for name, value in values.items()
    ]
    if not all(count for _, _, count in space):
        return NoneValue()  # no work-items
    if is_tiled(called.function):
        bound = {p.name: _converted(p, value) for p, value in passed}
        written = tile_body.launch(t, node, called.function, bound, TileLaunch(space, sizes))
        _refuse_views(t, node, [c for p, v in passed for c in _cells(p.spec, v)], written)
        return NoneValue()
    arrays = [cell for parameter, value in passed for cell in _cells(parameter.spec, value)]
    source = _source(called, tuple(p for p, _ in passed), space, workgroup)
    symbol, writes = _built(t, node, source)
    if any(arrays.count(c) > 1 and writes[k] for k, c in enumerate(arrays)):
        symbol, writes = _built(t, node, replace(source, noalias=False))
    if math.prod(count for _, _, count in space) > 1:
        look_at(_function(t.module, symbol), source.options.debug or t.source.options.debug)
    if not source.options.debug:
        symbol = _within(t.module, symbol, space)
    written = list(dict.fromkeys(c for c, is_written in zip(arrays, writes, strict=True) if is_written))
    for cell in written:
        t.check_writable(node, cell, f"`{called.function.name}` writes it")
    _refuse_views(t, node, arrays, written)
    _emit(t, node, symbol, passed, arrays, written, space, workgroup)
    return NoneValue()


# -- what is launched ---------------------------------------------------------------------------


def _space(t: ProgramTranslator, node: ast.Call, called: CapturedKernel, given: Value | None) -> Space:
    if given is None:
        if called.ndrange is None:
            raise t.type_error(node, f"`{called.function.name}` is launched without an ndrange",
                               f"say how many work-items: {called.function.name}(..., ndrange=x.shape)")  # fmt: skip
        return called.ndrange
    dims = given.items if isinstance(given, TupleValue) else (given,)
    space = tuple(_extent(t, node, dim) for dim in dims)
    if called.ndrange is not None and space != called.ndrange:
        raise t.type_error(node, f"`{called.function.name}` has another static ndrange")
    return space


def _extent(t: ProgramTranslator, node: ast.Call, dim: Value) -> tuple[int, int, int]:
    if isinstance(dim, RangeValue):
        start, stop, step = (
            arguments.integer(t, node, b, "an ndrange") for b in (dim.start, dim.stop, dim.step)
        )
        return start, step, len(range(start, stop, step))
    count = arguments.integer(t, node, dim, "an ndrange")
    if count < 0:
        raise t.type_error(node, f"a length of the ndrange is negative: {count}")
    return 0, 1, count


def _group(
    t: ProgramTranslator, node: ast.Call, called: CapturedKernel, given: Value | None, rank: int
) -> tuple[int, ...]:
    static = called.workgroup
    sizes = static if given is None else arguments.integers(t, node, given, "a workgroup")
    if len(sizes) > rank or any(n < 1 for n in sizes):
        raise t.type_error(node, f"the workgroup {sizes} does not fit an ndrange of {rank} dimensions")
    if not sizes:
        return ()
    if static and given is not None and sizes != static:
        raise t.type_error(node, f"`{called.function.name}` has the static workgroup {static}")
    return (*sizes, *(1,) * (rank - len(sizes)))


def _sizes(
    t: ProgramTranslator, node: ast.Call, called: CapturedKernel, keywords: dict[str, Value]
) -> tuple[int | None, ...]:
    """``tile=`` of a launch, whose index is a tile."""
    own = {a.arg for a in parse_function(called.function).node.args.args}
    if not is_tiled(called.function) or "tile" in own or "tile" not in keywords:
        return ()
    given = keywords.pop("tile")
    items = given.items if isinstance(given, TupleValue) else (given,)
    return tuple(
        None if isinstance(n, NoneValue) else arguments.integer(t, node, n, "the size of a tile")
        for n in items
    )


# -- what is passed -----------------------------------------------------------------------------


def _parameter(t: ProgramTranslator, node: ast.Call, name: str, value: Value, note: Annotation) -> Parameter:
    if note.static:
        return Parameter(name, StaticSpec(_static(t, node, name, value)))
    spec = _spec(t, node, name, value)
    if isinstance(spec, ArraySpec):
        _check_array(t, node, spec, note)
    if isinstance(spec, ScalarSpec) and note.dtype:
        return Parameter(name, ScalarSpec(note.dtype), note.reads, note.writes, converts=True)
    if note.shape is not None and not isinstance(spec, ArraySpec):
        raise t.type_error(
            node, f"`{name}` of the kernel is annotated as an array, and {describe(value)} is passed"
        )
    return Parameter(name, spec, note.reads, note.writes)


def _spec(t: ProgramTranslator, node: ast.Call, name: str, value: Value) -> ArgSpec:
    if isinstance(value, Scalar):
        return ScalarSpec(value.dtype.name)
    if isinstance(value, Cell):
        return ScalarSpec(value.dtype.name) if value.is_scalar else ArraySpec(value.dtype.name, value.shape)
    if isinstance(value, TupleValue):
        names = value.fields or tuple(str(k) for k in range(len(value.items)))
        fields = (
            (n, _spec(t, node, f"{name}.{n}", item)) for n, item in zip(names, value.items, strict=True)
        )
        return StructSpec(value.name or "tuple", tuple(fields))
    raise t.type_error(node, f"`{name}` of the kernel cannot take {describe(value)}",
                       "annotate the parameter `pk.static` for values known when compiling")  # fmt: skip


def _check_array(t: ProgramTranslator, node: ast.Call, spec: ArraySpec, note: Annotation) -> None:
    wrong_type = note.dtype and note.dtype != spec.dtype
    wrong_shape = note.shape is not None and (
        len(note.shape) != spec.rank
        or any(want not in (None, have) for want, have in zip(note.shape, spec.shape, strict=True))
    )
    if wrong_type or wrong_shape or (note.dtype and note.shape is None):
        raise t.type_error(node, f"`{note.name}` of the kernel is annotated with another type than "
                           f"{spec.dtype}{list(spec.shape)}", f"convert it: x.astype(pk.{note.dtype})")  # fmt: skip


def _converted(parameter: Parameter, value: Value) -> Value:
    """An argument as the body of a tile kernel sees it."""
    spec = parameter.spec
    if parameter.converts and isinstance(spec, ScalarSpec) and isinstance(value, Scalar):
        return convert(value, BY_NAME[spec.dtype])
    return value


def _static(t: ProgramTranslator, node: ast.Call, name: str, value: Value) -> object:
    if isinstance(value, Scalar) and value.is_const:
        return (
            value.const
            if value.dtype.weak or value.dtype.kind == "b"
            else Constant(value.const, value.dtype.name)
        )
    if isinstance(value, TupleValue):
        return tuple(_static(t, node, name, item) for item in value.items)
    if isinstance(value, Text):
        return value.value
    if isinstance(value, NoneValue):
        return None
    if isinstance(value, TypeValue):
        return TypeName(value.dtype.name)
    reason = f"`{name}` of the kernel is pk.static, and {describe(value)} is not known when compiling"
    raise unknown(t, node, [value], reason, None)


def _cells(spec: ArgSpec, value: Value) -> Iterator[Cell]:
    """The arrays in an argument, in order."""
    if isinstance(spec, ArraySpec):
        assert isinstance(value, Cell)
        yield value
    elif isinstance(spec, StructSpec):
        assert isinstance(value, TupleValue)
        for (_, inner), item in zip(spec.fields, value.items, strict=True):
            yield from _cells(inner, item)


# -- the kernel's function ----------------------------------------------------------------------


def _source(
    called: CapturedKernel, parameters: tuple[Parameter, ...], space: Space, group: tuple[int, ...]
) -> KernelSource:
    plain = all(start == 0 and step == 1 for start, step, _ in space)
    counts = tuple(count for _, _, count in space)
    return KernelSource(
        called.function, parameters, LaunchSpec(len(space), plain, counts, group), called.options
    )


def _built(t: ProgramTranslator, node: ast.Call, source: KernelSource) -> tuple[str, list[bool]]:
    """The symbol of the kernel in the program's module, and which of its arrays it writes."""
    if source in t.kernels:
        return t.kernels[source]
    try:
        made = kernel_frontend.build_module(source)
    except KernelError as error:
        launch = f"{LAUNCHED_FROM}`{t.frame.function.source.name}`", t.span(node)
        error.extra_notes = (*error.extra_notes, launch, *t.call_notes())
        raise
    taken = {ir.StringAttr(op.operation.attributes["sym_name"]).value for op in t.module.body.operations}
    name = source.function.name
    symbol = next(s for s in (name, *(f"{name}_{n}" for n in range(len(taken) + 1))) if s not in taken)
    writes: list[bool] = []
    with ir.InsertionPoint(t.module.body):
        for op in made.body.operations:
            own = ir.StringAttr(op.operation.attributes["sym_name"]).value
            if kern.KERNEL in op.operation.attributes:
                clone = op.operation.clone()
                clone.attributes["sym_name"] = ir.StringAttr.get(symbol)
                clone.attributes["sym_visibility"] = ir.StringAttr.get("private")
                writes = [use.writes for use in argument_uses(clone)]
            elif own not in taken:  # a function of libm
                op.operation.clone()
    t.kernels[source] = symbol, writes
    return t.kernels[source]


def _within(module: ir.Module, symbol: str, space: Space) -> str:
    """The kernel to launch: in place of one that goes outside of its arrays another, which only says so."""
    kernel = _function(module, symbol)
    found = certain(launch_bounds(kernel, None, space))
    return symbol if found is None else _reporting(module, kernel, *found)


def _reporting(module: ir.Module, kernel: ir.Operation, check: LaunchCheck, values: list[int]) -> str:
    """A kernel of the same arguments that reports the access."""
    name = ir.StringAttr(kernel.attributes["sym_name"]).value
    symbol = next(s for n in itertools.count() if _function(module, s := f"{name}.outside{n}") is None)
    with ir.InsertionPoint(module.body):
        made = kernel.clone()
    made.attributes["sym_name"] = ir.StringAttr.get(symbol)
    *before, end = [op.operation for op in kernels.body(made).operations]
    for op in reversed(before):
        op.erase()
    span = check.span
    place = ir.Location.file(span.file, span.line, span.column + 1, span.line, span.end_column + 1)
    with ir.InsertionPoint(end), place:
        numbers = [
            [kernels.index_constant(values[n]) for n in part] for part in (check.indices, check.lengths)
        ]
        ReportBoundsOp.create(check.array, *numbers)
    return symbol


def _function(module: ir.Module, symbol: str) -> Any:
    """The function of a name, None where there is none."""
    for op in module.body.operations:
        if ir.StringAttr(op.operation.attributes["sym_name"]).value == symbol:
            return op.operation
    return None


# -- the launch ---------------------------------------------------------------------------------


def _refuse_views(t: ProgramTranslator, node: ast.Call, arrays: list[Cell], written: list[Cell]) -> None:
    """Two arguments that NumPy would let overlap, one of them written."""
    for cell in written:
        for other in arrays:
            if other is not cell and other.origins & cell.origins:
                raise t.type_error(node, "a part of an array is passed beside the array, and one of them is written",
                                   "pass a copy: x[1:].copy()")  # fmt: skip


def _emit(
    t: ProgramTranslator,
    node: ast.Call,
    symbol: str,
    passed: list[tuple[Parameter, Value]],
    arrays: list[Cell],
    written: list[Cell],
    space: Space,
    workgroup: tuple[int, ...],
) -> None:
    buffers: dict[Cell, ir.Value] = {}
    # those that are written first: bufferization then sees that another one of the same tensor is read after
    for cell in sorted(dict.fromkeys(arrays), key=lambda c: c not in written):
        kind = ir.MemRefType.get(list(cell.shape), memory_type(cell.dtype))
        read_only = cell not in written
        buffers[cell] = bufferization.ToBufferOp(kind, cell.ssa, read_only=read_only or None).result
    operands = [o for p, value in passed for o in _operands(t, node, p.spec, value, buffers)]
    plain = all(start == 0 and step == 1 for start, step, _ in space)
    starts = None if plain else tuple(start for start, _, _ in space)
    steps = None if plain else tuple(step for _, step, _ in space)
    LaunchOp.create(symbol, operands, tuple(count for _, _, count in space), starts, steps, workgroup)
    for cell in written:
        kind = tensor_type(cell.dtype, cell.shape)
        made = bufferization.ToTensorOp(kind, buffers[cell], restrict=True, writable=True)
        t.write(node, cell, made.result)


def _operands(
    t: ProgramTranslator, node: ast.Call, spec: ArgSpec, value: Value, buffers: dict[Cell, ir.Value]
) -> Iterator[ir.Value]:
    if isinstance(spec, ArraySpec):
        assert isinstance(value, Cell)
        yield buffers[value]
    elif isinstance(spec, ScalarSpec):
        yield materialise(convert(t.as_scalar(node, value), BY_NAME[spec.dtype]))
    elif isinstance(spec, StructSpec):
        assert isinstance(value, TupleValue)
        for (_, inner), item in zip(spec.fields, value.items, strict=True):
            yield from _operands(t, node, inner, item, buffers)
