"""A whole kernel: from `KernelSource` to a module with one func.func marked `kern.kernel`.

Comes in: `KernelSource`. Goes out: the module; its arguments are named by `kern.name`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from mlir import ir
from mlir.dialects import func

from pykern.data.launch_bounds import ANNOTATED
from pykern.data.source import (
    COMPLEX,
    ArgSpec,
    ArraySpec,
    KernelSource,
    Parameter,
    ScalarSpec,
    StaticSpec,
    StructSpec,
)
from pykern.dialect import attributes as kern
from pykern.dialect.collectives import CONVERGENT
from pykern.dialect.context import kern_ops
from pykern.dialect.diagnostics import span_of
from pykern.dialect.reports import AssertOp
from pykern.errors import KernelSyntaxError, LaunchError
from pykern.frontend import arithmetic, captured, complex_elements
from pykern.frontend.casts import materialise, memory_type, mlir_type
from pykern.frontend.desugar import RESULT
from pykern.frontend.parse import parse_function
from pykern.frontend.translation import Frame
from pykern.frontend.translator import Translator
from pykern.frontend.values import Array, Environment, NoneValue, Scalar, TupleValue, Value
from pykern.types import BY_NAME, weak_int


def build_module(source: KernelSource, checks_lengths: bool = False) -> ir.Module:
    """Translate the kernel inside the current MLIR context. `checks_lengths`: asserts for the launch are left in it.

    Raises `KernelSyntaxError` or `KernelTypeError` at the place in the user's source.
    """
    parsed = parse_function(source.function)
    t = Translator(source, checks_lengths=checks_lengths)
    t.frames.append(Frame(parsed, Environment(captures=captured.values(source.function.captures))))
    with t.location(parsed.node):
        module = ir.Module.create()
        flat = [kind for p in source.parameters for kind in argument_types(p.spec)]
        names = [name for p in source.parameters for name in argument_names(p.spec, p.name)]
        if source.launch.shared:
            flat.append(ir.IndexType.get())
            names.append("shared_bytes")
        with ir.InsertionPoint(module.body):
            made = func.FuncOp(source.function.name, ir.FunctionType.get(flat, []))
            _mark(made, source)
            made.arg_attrs = [ir.DictAttr.get({kern.NAME: ir.StringAttr.get(n)}) for n in names]
            block = made.add_entry_block()
        arguments = iter(block.arguments)
        for parameter in source.parameters:
            t.names[parameter.name] = _bind(
                parameter.spec, parameter.name, arguments, parameter.reads, parameter.writes
            )
        t.shared_bytes = next(arguments, None)
        with ir.InsertionPoint(block):
            for parameter in source.parameters:
                _know_lengths(t, parameter)
            t.statements(t.desugared(parsed.node.body))
            func.ReturnOp([])
    _drop_guards(module)
    _check_shared(module, source)
    result = t.names.get(RESULT, NoneValue())
    if not isinstance(result, NoneValue):
        returned = next(
            (n for n in ast.walk(parsed.node) if isinstance(n, ast.Return) and n.value is not None),
            parsed.node,
        )
        raise KernelSyntaxError(
            "a kernel returns nothing", t.span(returned), "write the result into an array argument"
        )
    return module


def _drop_guards(module: ir.Module) -> None:
    """Guards matter to barriers and collectives only."""
    ops = kern_ops(module.operation)
    if not any(op.OPERATION_NAME in CONVERGENT for op in ops):
        for op in ops:
            if op.OPERATION_NAME == "kern.guard":
                op.operation.erase()


def _check_shared(module: ir.Module, source: KernelSource) -> None:
    """One array takes what the launch gives; a launch gives nothing that nobody takes."""
    sized = [op for op in kern_ops(module.operation) if op.OPERATION_NAME == "kern.dynamic_shared"]
    if len(sized) > 1:
        raise KernelSyntaxError(
            "a kernel has one shared array that is sized at launch, and this is another",
            span_of(sized[1].location),
            "take parts of one array, or give this one a shape",
            (("the first one", span_of(sized[0].location)),),
        )
    if source.launch.shared and not sized:
        raise LaunchError(
            f"`{source.function.name}` is launched with shared_bytes, and has no shared array to size by it",
            hint="write pk.shared(None, dtype) in the kernel, or leave shared_bytes out",
        )


def argument_types(spec: ArgSpec) -> Iterator[ir.Type]:
    """Types of the function's arguments for one parameter; a static has none."""
    if isinstance(spec, ArraySpec):
        yield memref_type(spec)
    elif isinstance(spec, ScalarSpec):
        yield mlir_type(BY_NAME[spec.dtype])
    elif isinstance(spec, StructSpec):
        for _, inner in spec.fields:
            yield from argument_types(inner)


def argument_names(spec: ArgSpec, name: str) -> Iterator[str]:
    """Names of the function's arguments for one parameter: `p`, or `p.field`."""
    if isinstance(spec, ArraySpec | ScalarSpec):
        yield name
    elif isinstance(spec, StructSpec):
        for field, inner in spec.fields:
            yield from argument_names(inner, f"{name}.{field}")


def memref_type(spec: ArraySpec) -> ir.MemRefType:
    """The memref of an array argument: identity layout where dense, dynamic strides else."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [dynamic if d is None else d for d in spec.shape]
    element = memory_type(BY_NAME[spec.dtype])
    if not spec.strided:
        return ir.MemRefType.get(shape, element)
    stride = ir.ShapedType.get_dynamic_stride_or_offset()
    layout = ir.StridedLayoutAttr.get(0, [stride] * len(shape))
    return ir.MemRefType.get(shape, element, layout=layout)


def _bind(spec: ArgSpec, name: str, arguments: Iterator[ir.Value], reads: bool, writes: bool) -> Value:
    if isinstance(spec, ArraySpec):
        return Array(name, BY_NAME[spec.dtype], next(arguments), "global", spec.shape, reads, writes)
    if isinstance(spec, ScalarSpec):
        return Scalar(BY_NAME[spec.dtype], next(arguments))
    if isinstance(spec, StaticSpec):
        return captured.static_value(spec.value)
    if spec.name == COMPLEX:
        return complex_elements.bind(
            *(_bind(inner, name, arguments, reads, writes) for _, inner in spec.fields)
        )
    items = tuple(_bind(inner, f"{name}.{field}", arguments, reads, writes) for field, inner in spec.fields)
    is_tuple = all(field.isdigit() for field, _ in spec.fields)
    return TupleValue(items, spec.name, () if is_tuple else tuple(field for field, _ in spec.fields))


def _know_lengths(t: Translator, parameter: Parameter) -> None:
    """The lengths of an array that are annotated, or that chose this code, are known. Each launch is checked for those
    that are annotated, as only the first of its kind has looked at the annotation."""
    array = t.names[parameter.name]
    if not parameter.lengths or not isinstance(array, Array):
        return
    for d, length in enumerate(parameter.lengths):
        if not parameter.annotated:
            continue
        if length is not None and array.shape[d] is None and (t.checks_lengths or t.source.options.debug):
            passed = t.length(array, d)
            same = arithmetic.binary("==", passed, Scalar(weak_int, const=length))
            message = (
                f"{ANNOTATED}`{array.name}` is annotated {array.dtype.name}[{_shown(parameter.lengths)}]"
            )
            AssertOp.create(materialise(same), message, before_launch=not t.source.options.debug)
    shape = tuple(
        known if known is not None else n for n, known in zip(array.shape, parameter.lengths, strict=True)
    )
    t.names[parameter.name] = replace(array, shape=shape)


def _shown(lengths: tuple[int | None, ...]) -> str:
    return ", ".join(":" if n is None else str(n) for n in lengths)


def _mark(made: func.FuncOp, source: KernelSource) -> None:
    """What passes need to know of the launch, as attributes of the function."""
    integer = ir.IntegerType.get_signless(64)
    attributes = made.operation.attributes
    attributes[kern.KERNEL] = ir.UnitAttr.get()
    attributes[kern.RANK] = ir.IntegerAttr.get(integer, source.launch.rank)
    if source.launch.plain:
        attributes[kern.PLAIN] = ir.UnitAttr.get()
    if source.launch.unit:
        attributes[kern.UNIT] = ir.UnitAttr.get()
    if source.launch.ndrange is not None:
        attributes[kern.NDRANGE] = ir.DenseI64ArrayAttr.get(list(source.launch.ndrange))
    if source.launch.workgroup:
        attributes[kern.WORKGROUP] = ir.DenseI64ArrayAttr.get(list(source.launch.workgroup))
    if source.known:
        attributes[kern.KNOWN] = ir.DenseI64ArrayAttr.get([n for pair in source.known for n in pair])
    if source.noalias:
        attributes[kern.NOALIAS] = ir.UnitAttr.get()
