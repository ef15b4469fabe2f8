"""A kernel's function with a shadow behind each argument that is differentiated.

In: the function and the numbers of its arguments. Out: a function of the same name and marks in its
place, whose body `fill` writes.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import func

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import NotDifferentiable
from pykern.passes import kernels
from pykern.passes.ir.argument_uses import written_arguments

Values = dict[ir.Value, ir.Value]


def replace_function(
    kernel: ir.Operation,
    active: tuple[int, ...],
    strided: tuple[int, ...],
    fill: Callable[[Values, Values], None],
) -> ir.Operation:
    """`fill` is given the maps from the kernel's arguments to the new ones, and to their shadows."""
    arguments = list(kernels.body(kernel).arguments)
    names = _names(kernel, len(arguments))
    types: list[ir.Type] = []
    labels: list[str] = []
    for number, argument in enumerate(arguments):
        types.append(argument.type)
        labels.append(names[number])
        if number in active:
            types.append(shadow_type(argument, names[number], number in strided))
            labels.append(shadow_name(names[number]))
    with ir.InsertionPoint(kernel):
        made = func.FuncOp("kern.unnamed", ir.FunctionType.get(types, []))
    block = made.add_entry_block()
    values: Values = {}
    shadows: Values = {}
    given = iter(block.arguments)
    for number, argument in enumerate(arguments):
        values[argument] = next(given)
        if number in active:
            shadows[argument] = next(given)
    for name in kernel.attributes.keys():  # noqa: SIM118
        if name.startswith("kern."):
            made.operation.attributes[name] = kernel.attributes[name]
    written = {
        values[a] for a in written_arguments(kernel)
    }  # must not overlap others in the derivative either
    made.arg_attrs = [
        ir.DictAttr.get(
            {kern.NAME: ir.StringAttr.get(n)} | ({kern.WRITTEN: ir.UnitAttr.get()} if a in written else {})
        )
        for n, a in zip(labels, block.arguments, strict=True)
    ]
    try:
        with ir.InsertionPoint(block):
            fill(values, shadows)
    except NotDifferentiable:
        made.operation.erase()
        raise
    _give_flags(made.operation, _flags(kernel))
    name = kernel.attributes["sym_name"]
    kernel.erase()
    made.operation.attributes["sym_name"] = name
    return made.operation


_ROUNDED = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "math.")


def _flags(kernel: ir.Operation) -> ir.Attribute | None:
    """The fastmath flags of the kernel's own arithmetic."""
    for op in kernels.find(kernel, lambda op: op.name.startswith(_ROUNDED)):
        if "fastmath" in op.attributes and not str(op.attributes["fastmath"]).endswith("<none>"):
            return op.attributes["fastmath"]
    return None


def _give_flags(function: ir.Operation, flags: ir.Attribute | None) -> None:
    """Give the ops that the rules emitted the fastmath flags of the kernel."""
    if flags is None:
        return
    for op in kernels.find(function, lambda op: op.name.startswith(_ROUNDED)):
        if "fastmath" not in op.attributes or str(op.attributes["fastmath"]).endswith("<none>"):
            op.attributes["fastmath"] = flags


def shadow_name(name: str) -> str:
    """The name of an argument's shadow."""
    return f"d_{name}"


def shadow_type(argument: ir.Value, name: str, strided: bool) -> ir.Type:
    """The type of an argument's shadow, dense or with any strides. Raises `NotDifferentiable` for integers."""
    kind = argument.type
    element = ir.MemRefType(kind).element_type if isinstance(kind, ir.MemRefType) else kind
    if not isinstance(element, ir.FloatType):
        raise NotDifferentiable(
            f"`{name}` holds integers ({element}): nothing can be differentiated by it",
            span_of(argument.owner.owner.location),
            "pass it plainly, without pk.Dup",
        )
    shape = ir.MemRefType(kind).shape if isinstance(kind, ir.MemRefType) else []
    stride = ir.ShapedType.get_dynamic_stride_or_offset()
    layout = ir.StridedLayoutAttr.get(0, [stride] * len(shape)) if strided else None
    return ir.MemRefType.get(shape, element, layout=layout)


def _names(kernel: ir.Operation, count: int) -> list[str]:
    if "arg_attrs" not in kernel.attributes:
        return [f"argument{n}" for n in range(count)]
    found = []
    for number, attribute in enumerate(ir.ArrayAttr(kernel.attributes["arg_attrs"])):
        given = ir.DictAttr(attribute)
        found.append(ir.StringAttr(given[kern.NAME]).value if kern.NAME in given else f"argument{number}")
    return found
