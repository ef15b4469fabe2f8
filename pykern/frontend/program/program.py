"""A whole array program: from `ProgramSource` to a module with one tensor function and the kernels it calls.

Comes in: `ProgramSource`. Goes out: ``func.func @name(%x: tensor<4x8xf32> {kern.name = "x"}, ...)`` marked
`kern.program`, with `kern.result_tree` (see `results`) and `kern.updated`: the numbers of the arguments that
are written in place, whose new contents are the last results, in that order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from mlir import ir
from mlir.dialects import func

from pykern.data.program_source import ProgramSource
from pykern.data.source import (
    COMPLEX,
    DICT,
    ArgSpec,
    ArraySpec,
    Parameter,
    ScalarSpec,
    StaticSpec,
    leaves,
)
from pykern.dialect import attributes as kern
from pykern.errors import KernelError, KernelSyntaxError, KernelTypeError
from pykern.frontend import captured
from pykern.frontend.casts import mlir_type
from pykern.frontend.desugar import RESULT, Desugarer, always_returns
from pykern.frontend.kernel import argument_names
from pykern.frontend.parse import parse_function
from pykern.frontend.program import complex_arrays, shaping, structures, tile_body
from pykern.frontend.program.flow import cells
from pykern.frontend.program.results import result_tree
from pykern.frontend.program.tensors import tensor_type
from pykern.frontend.program.tile_lengths import DependsOnSize
from pykern.frontend.program.translator import Gradient, ProgramTranslator
from pykern.frontend.program.values import Cell, DictValue
from pykern.frontend.translation import Frame
from pykern.frontend.values import Environment, NoneValue, Scalar, TupleValue, Value
from pykern.types import BY_NAME


def build_program(source: ProgramSource, gradient: Gradient | None = None) -> ir.Module:
    """Translate the program inside the current MLIR context. `gradient` writes those that it takes inside.

    Raises `KernelSyntaxError` or `KernelTypeError` at the place in the user's source.
    """
    try:
        return _built(source, gradient, cuts=False)
    except DependsOnSize as error:
        if not error.fixed:
            raise
    return _built(source, gradient, cuts=True)


def _built(source: ProgramSource, gradient: Gradient | None, cuts: bool) -> ir.Module:
    """The module; `cuts`: tiles of fixed sizes are cut in loops. Where a long loop cannot stay one, copies are made."""
    t = ProgramTranslator(source, gradient=gradient, build=build_program)
    try:
        return _translated(t, source, cuts)
    except KernelError as error:
        if error.parameters or not t.has_kept_loops:
            raise
    copies = ProgramTranslator(source, gradient=gradient, build=build_program, may_keep_loops=False)
    return _translated(copies, source, cuts)


def _translated(t: ProgramTranslator, source: ProgramSource, cuts: bool) -> ir.Module:
    parsed = parse_function(source.function)
    t.frames.append(Frame(parsed, Environment(captures=captured.values(source.function.captures))))
    with t.location(parsed.node):
        t.module = module = ir.Module.create()
        flat = [kind for p in source.parameters for kind in _types(p)]
        with ir.InsertionPoint(module.body):
            made = func.FuncOp(source.function.name, ir.FunctionType.get(flat, []))
        names = [name for p in source.parameters for name in argument_names(p.spec, p.name)]
        made.arg_attrs = [ir.DictAttr.get({kern.NAME: ir.StringAttr.get(n)}) for n in names]
        block = made.add_entry_block()
        arguments = iter(enumerate(block.arguments))
        with ir.InsertionPoint(block):
            for parameter in source.parameters:
                bound = _bind(parameter, parameter.spec, parameter.name, arguments)
                t.names[parameter.name] = structures.of_caller(bound, len(t.names))
            given = [cell for value in t.names.values() for cell in cells(value)]
            if source.tiles is None:
                t.statements(Desugarer().function_body(parsed.node.body))
            else:
                tile_body.body(t, parsed.node, source.tiles, cuts)
            value = t.names.get(RESULT, NoneValue())
            if not isinstance(value, NoneValue) and not always_returns(parsed.node.body):
                raise KernelSyntaxError(f"`{source.function.name}` returns a value on some paths only",
                                        t.span(parsed.node), "end the function with a return")  # fmt: skip
            passed = [leaf for p in source.parameters for leaf in leaves(p.spec)]
            orders = [leaf.order if isinstance(leaf, ArraySpec) else () for leaf in passed]
            _return(t, made, value, given, orders)
    return module


def _return(
    t: ProgramTranslator, made: func.FuncOp, value: Value, given: list[Cell], orders: list[tuple[int, ...]]
) -> None:
    """The leaves of the returned value, then the arrays of the caller that were written, in the order of their axes."""
    results: list[ir.Value] = []
    tree = result_tree(t, t.frame.function.node, value, results)
    updated = complex_arrays.whole(t, [cell for cell in given if cell.was_written], given)
    for cell in updated:
        assert cell.parameter is not None
        results.append(shaping.permuted(cell, orders[cell.parameter]).ssa)
    func.ReturnOp(results)
    kind = ir.FunctionType.get(made.type.inputs, [r.type for r in results])
    attributes = made.operation.attributes
    attributes["function_type"] = ir.TypeAttr.get(kind)
    attributes[kern.PROGRAM] = ir.UnitAttr.get()
    attributes[kern.RESULT_TREE] = ir.StringAttr.get(json.dumps(tree))
    attributes[kern.UPDATED] = ir.DenseI64ArrayAttr.get([c.parameter for c in updated])


def _types(parameter: Parameter) -> Iterator[ir.Type]:
    """Types of the function's arguments for one parameter."""
    for spec in leaves(parameter.spec):
        yield _type(parameter, spec)


def _type(parameter: Parameter, spec: ArraySpec | ScalarSpec) -> ir.Type:
    if isinstance(spec, ArraySpec):
        if None in spec.shape or spec.strided:
            raise KernelTypeError(f"`{parameter.name}`: the arrays of a program are dense, of known lengths")
        if BY_NAME[spec.dtype].is_storage:
            raise KernelTypeError(f"`{parameter.name}`: {spec.dtype} is for arrays of kernels",
                                  hint="convert it: x.astype(pk.f32)")  # fmt: skip
        lengths = _lengths(spec)
        return tensor_type(BY_NAME[spec.dtype], tuple(lengths[axis] for axis in spec.order))
    return mlir_type(BY_NAME[spec.dtype])


def _lengths(spec: ArraySpec) -> tuple[int, ...]:
    return tuple(n for n in spec.shape if n is not None)


def _bind(parameter: Parameter, spec: ArgSpec, name: str, arguments: Iterator[tuple[int, ir.Value]]) -> Value:
    if isinstance(spec, ArraySpec):
        number, ssa = next(arguments)
        dtype = BY_NAME[spec.dtype]
        lengths = _lengths(spec)
        stored = Cell(dtype, tuple(lengths[axis] for axis in spec.order), ssa)
        ssa = shaping.permuted(stored, tuple(map(spec.order.index, range(spec.rank)))).ssa
        return Cell(dtype, lengths, ssa, name, parameter=number, writes=parameter.writes)
    if isinstance(spec, ScalarSpec):
        return Scalar(BY_NAME[spec.dtype], next(arguments)[1])
    if isinstance(spec, StaticSpec):
        return captured.static_value(spec.value)
    if spec.name == COMPLEX:
        return complex_arrays.bind(*(_bind(parameter, inner, name, arguments) for _, inner in spec.fields))
    items = tuple(_bind(parameter, inner, f"{name}.{field}", arguments) for field, inner in spec.fields)
    if spec.name == DICT:
        return DictValue(tuple(zip((field for field, _ in spec.fields), items, strict=True)))
    is_tuple = all(field.isdigit() for field, _ in spec.fields)
    return TupleValue(items, spec.name, () if is_tuple else tuple(field for field, _ in spec.fields))
