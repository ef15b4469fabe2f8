"""Calls that stay calls: a launch of a kernel that has no raised form, differentiated as a kernel.

The function that launches it (`array_programs.outline_launches`) gets a companion `<name>.vjp` or
`<name>.jvp`, which launches the kernel's own derivative (`autodiff.direct`) on shadows.
"""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import func, tensor

from pykern.dialect import attributes as kern
from pykern.passes.autodiff.kernel.forward_kernel import forward_kernel
from pykern.passes.autodiff.kernel.memory_gates import is_open, to_cell
from pykern.passes.autodiff.kernel.reverse_kernel import reverse_kernel
from pykern.passes.autodiff.rules.gates import Flow, is_singular
from pykern.passes.autodiff.tensor.builder import elementwise
from pykern.passes.autodiff.tensor.cotangents import Cotangents, zero
from pykern.passes.autodiff.tensor.custom import reverse_by_rule, reverse_custom
from pykern.passes.autodiff.tensor.gates import Gate, as_bit, as_byte, byte
from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.scope import Scope
from pykern.passes.autodiff.tensor.values import constant, element, full, is_float, is_tensor
from pykern.passes.ir.argument_uses import written_arguments
from pykern.passes.ir.lengths import empty, sizes_of
from pykern.passes.kernels import body, find, named
from pykern.passes.tensor.outline_launches import launch_like, to_buffer, to_tensor

Differentiate = Callable[[ir.Operation, tuple[int, ...]], ir.Operation]


def reverse_call(op: ir.Operation, scope: Scope, cotangents: Cotangents) -> None:
    """``func.call`` of a function that launches a kernel, or has a derivative of its own."""
    module = _module()
    callee = _function(module, _callee(op))
    if kern.CUSTOM in callee.operation.attributes:
        names = ir.ArrayAttr(callee.operation.attributes[kern.CUSTOM])
        pair = [_function(module, ir.FlatSymbolRefAttr(name).value) for name in names]
        reverse_custom(op, callee, pair, scope, cotangents)
        return
    if kern.RULES in callee.operation.attributes:
        reverse_by_rule(op, _rule(module, callee, 0), scope, cotangents)
        return
    symbol = ir.FlatSymbolRefAttr(callee.operation.attributes[kern.LAUNCHES]).value
    if ".vjp" in symbol:
        reason = "the gradient of a kernel that stays a launch has no derivative in reverse mode"
        raise refused(op, reason, "use pk.hvp, or forward mode over it: pk.jvp(pk.grad(f), ...)")
    gated = cotangents.singular or bool(find(_function(module, symbol).operation, is_singular))
    companion = _companion(module, callee, "vjp.gated" if gated else "vjp", _reversed[gated])
    written = iter(op.results)
    shadows: list[ir.Value | None] = [None] * len(op.operands)
    for n in _writes(callee):
        result = next(written)
        shadows[n] = _given(result, scope, cotangents, gated) if is_float(result.type) else None
    left = _called(companion, [scope.value(v) for v in op.operands], shadows, -0.0 if gated else 0.0)
    floats = [v for v in op.operands if is_float(v.type)]
    for operand, cotangent in zip(floats, left, strict=True):
        cotangents.add(operand, cotangent, _gate_of(cotangent) if gated else None)


def _gated(kernel: ir.Operation, active: tuple[int, ...]) -> ir.Operation:
    """The reverse of a kernel of which all shadows hold gates."""
    return reverse_kernel(kernel, active, gated=True)


_reversed = {False: reverse_kernel, True: _gated}


def _given(result: ir.Value, scope: Scope, cotangents: Cotangents, gated: bool) -> ir.Value:
    """The shadow of what a launch wrote; minus zero where nothing flows, if it holds gates."""
    gate, cotangent = cotangents.gate(result), cotangents.take(result)
    if cotangent is None:
        zeros = zero(result, scope)
        return _filled(zeros, -0.0) if gated else zeros
    if not gated or gate is None:
        return cotangent
    if not is_tensor(cotangent):
        return to_cell(Flow(cotangent, gate()))
    return elementwise(lambda open, value: to_cell(Flow(value, as_bit(open))), [gate(), cotangent], cotangent)


def _gate_of(shadow: ir.Value) -> Gate:
    """The gate that a shadow holds."""
    if not is_tensor(shadow):
        return lambda: is_open(shadow)
    return lambda: elementwise(
        lambda value: as_byte(is_open(value)), [shadow], empty(sizes_of(shadow), byte())
    )


def _filled(like: ir.Value, number: float) -> ir.Value:
    return (
        full(sizes_of(like), element(like.type), number) if is_tensor(like) else constant(like.type, number)
    )


def forward_call(
    op: ir.Operation, values: list[ir.Value], results: list[ir.Value], tangents: list[ir.Value]
) -> list[ir.Value]:
    """Tangents of float results, from `values` and `tangents` of the operands, and `results` of the call."""
    module = _module()
    callee = _function(module, _callee(op))
    if kern.CUSTOM in callee.operation.attributes:
        raise refused(op, "a custom_vjp function has a derivative in reverse mode only")
    if kern.RULES in callee.operation.attributes:
        return list(func.CallOp(_rule(module, callee, 1), [*values, *results, *tangents]).results)
    companion = _companion(module, callee, "jvp", forward_kernel)
    given = iter(tangents)
    return _called(companion, values, [next(given) if is_float(v.type) else None for v in values], 0.0)


def launches(op: ir.Operation) -> bool:
    """Whether the call is to a function that launches a kernel."""
    if op.name != "func.call":
        return False
    marks = _function(_root(op), _callee(op)).operation.attributes
    return any(mark in marks for mark in (kern.LAUNCHES, kern.CUSTOM, kern.RULES))


def _rule(module: ir.Operation, callee: func.FuncOp, number: int) -> func.FuncOp:
    """Of a function with rules the one of its derivative."""
    names = ir.ArrayAttr(callee.operation.attributes[kern.RULES])
    return _function(module, ir.FlatSymbolRefAttr(names[number]).value)


def _companion(
    module: ir.Operation, callee: func.FuncOp, mode: str, differentiate: Differentiate
) -> func.FuncOp:
    """`<callee>.<mode>`, which launches the kernel's derivative, as `callee` launches the kernel; made once.

    Its arguments are those of `callee`, with a shadow behind each of floats. It gives all shadows in reverse mode, and
    those of what the kernel writes in forward mode.
    """
    name = f"{ir.StringAttr(callee.operation.attributes['sym_name']).value}.{mode}"
    known = _find(module, name)
    if known is not None:
        return known
    kernel = _derivative(module, callee, mode, differentiate)
    types: list[ir.Type] = []
    shadows: dict[int, int] = {}
    for n, argument in enumerate(callee.arguments):
        types.append(argument.type)
        if is_float(argument.type):
            shadows[n] = len(types)
            types.append(_shadow_type(argument.type))
    left = [shadows[n] for n in (_writes(callee) if mode == "jvp" else shadows) if n in shadows]
    with ir.InsertionPoint(callee.operation), callee.location:
        kind = ir.FunctionType.get(types, [types[k] for k in left])
        made = func.FuncOp(name, kind, visibility="private")
        with ir.InsertionPoint(made.add_entry_block()):
            func.ReturnOp(_launch(callee, kernel, list(made.arguments), left))
    made.operation.attributes[kern.LAUNCHES] = ir.FlatSymbolRefAttr.get(_name(kernel))
    made.operation.attributes[kern.WRITES] = ir.DenseI64ArrayAttr.get(left)
    return made


def _launch(
    callee: func.FuncOp, kernel: ir.Operation, values: list[ir.Value], left: list[int]
) -> list[ir.Value]:
    """Launch the derivative; what the launch leaves in the arguments `left`."""
    like = named(callee.operation, "kern.launch")[0].opview
    kinds = [a.type for a in body(kernel).arguments]
    uses = written_arguments(kernel)
    is_written = [a in uses for a in body(kernel).arguments]
    buffers = [
        to_buffer(kind, v, written) if isinstance(kind, ir.MemRefType) else v
        for v, kind, written in zip(values, kinds, is_written, strict=True)
    ]
    launch_like(like, _name(kernel), buffers)
    return [to_tensor(values[k].type, buffers[k]) for k in left]


def _called(
    companion: func.FuncOp, values: list[ir.Value], shadows: list[ir.Value | None], start: float
) -> list[ir.Value]:
    """Call a companion, with shadows of `start` for floats where none is given; the shadows it gives."""
    given: list[ir.Value] = []
    numbers: list[bool] = []
    for value, shadow in zip(values, shadows, strict=True):
        given.append(value)
        numbers.append(False)
        if is_float(value.type):
            numbers.append(not is_tensor(value))
            held = _filled(value, start) if shadow is None else shadow
            if not is_tensor(value):  # the shadow of a number is an array of rank 0
                held = tensor.FromElementsOp(_shadow_type(value.type), [held]).result
            given.append(held)
    left = func.CallOp(companion, given).results
    places = ir.DenseI64ArrayAttr(companion.operation.attributes[kern.WRITES])
    return [
        tensor.extract(shadow, []) if numbers[place] else shadow
        for place, shadow in zip(places, left, strict=True)
    ]


def _shadow_type(kind: ir.Type) -> ir.Type:
    return kind if isinstance(kind, ir.ShapedType) else ir.RankedTensorType.get([], kind)


def _writes(callee: func.FuncOp) -> list[int]:
    """The numbers of the arguments that the kernel writes, which are the results of the call."""
    return list(ir.DenseI64ArrayAttr(callee.operation.attributes[kern.WRITES]))


def _name(function: ir.Operation) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def _derivative(
    module: ir.Operation, callee: func.FuncOp, mode: str, differentiate: Differentiate
) -> ir.Operation:
    """The kernel's derivative by all its float arguments, beside it."""
    symbol = ir.FlatSymbolRefAttr(callee.operation.attributes[kern.LAUNCHES]).value
    name = f"{symbol}.{mode}"
    known = _find(module, name)
    if known is not None:
        return known.operation
    kernel = _function(module, symbol).operation
    with ir.InsertionPoint(kernel):
        copy = kernel.clone().operation
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    active = tuple(n for n, a in enumerate(body(copy).arguments) if _holds_floats(a.type))
    made = differentiate(copy, active)
    made.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return made


def _holds_floats(kind: ir.Type) -> bool:
    return isinstance(
        ir.MemRefType(kind).element_type if isinstance(kind, ir.MemRefType) else kind, ir.FloatType
    )


def _callee(op: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(op.attributes["callee"]).value


def _module() -> ir.Operation:
    return _root(ir.InsertionPoint.current.block.owner.operation)


def _root(op: ir.Operation) -> ir.Operation:
    while op.parent is not None:
        op = op.parent.operation
    return op


def _function(module: ir.Operation, name: str) -> func.FuncOp:
    found = _find(module, name)
    assert found is not None, f"no function {name}"
    return found


def _find(module: ir.Operation, name: str) -> func.FuncOp | None:
    for op in module.regions[0].blocks[0].operations:
        if isinstance(op, func.FuncOp) and ir.StringAttr(op.operation.attributes["sym_name"]).value == name:
            return op
    return None
