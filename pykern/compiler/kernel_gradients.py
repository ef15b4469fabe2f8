"""The gradient of a kernel by way of whole arrays: raised to linalg, reversed, and compiled as a program.

Comes in: `KernelLaunch`, a kernel with its shadows and the index space, lengths known. Goes out: a program
that takes what the kernel's derivative takes, and updates the shadows in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from mlir import ir
from mlir.dialects import arith, func, tensor

from pykern.compiler.kernel_launch import launching, tile_program
from pykern.data.launch_bounds import failure
from pykern.data.program_source import KernelLaunch
from pykern.data.source import Derivative, KernelSource, is_tiled
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import NotDifferentiable, NotRaisable
from pykern.frontend.kernel import argument_types, build_module
from pykern.passes.autodiff.kernel.shadow_arguments import shadow_type
from pykern.passes.autodiff.rules.expression import flow_type
from pykern.passes.autodiff.tensor.forward import forward
from pykern.passes.autodiff.tensor.reverse import reverse
from pykern.passes.autodiff.tensor.values import is_float, zeros_like
from pykern.passes.framework import Upstream, run_pass
from pykern.passes.ir.clone import clone_block
from pykern.passes.kernel.launch_bounds.find import certain, launch_bounds
from pykern.passes.kernel.reuse_loads import ReuseLoads
from pykern.passes.kernel.simplify import Simplify
from pykern.passes.kernels import body, find, kernels, named, programs
from pykern.passes.raise_to_linalg.raise_to_linalg import raisable
from pykern.passes.tensor.inline_helpers import InlineHelpers
from pykern.passes.tensor.raise_launches import RaiseLaunches


def kernel_gradient(launch: KernelLaunch) -> ir.Module:
    """The module of the gradient. Raises `NotRaisable` with its reason, `NotDifferentiable`."""
    derivative = launch.source.derivatives[-1]
    primal = launch.source.primal()
    if is_tiled(primal.function):
        return _tile_gradient(launch, primal, derivative)
    module = build_module(replace(primal, derivatives=()))
    if primal.derivatives:
        raise NotRaisable(
            "derivatives of derivatives are taken work-item by work-item",
            span_of(next(kernels(module)).location),
            'differentiate it with level="direct"',
        )
    for step in (Simplify(), ReuseLoads(), Upstream("canonicalize,cse")):
        run_pass(step, module)
    active = _active(primal.parameters, derivative.active)
    for number in active:
        argument = body(next(kernels(module))).arguments[number]
        kind = shadow_type(argument, f"argument {number + 1}", strided=False)  # refuses integers
        _refuse_bytes(kind, argument)
    outside = certain(launch_bounds(next(kernels(module)), None, launch.space))
    if outside is not None:
        raise failure(*outside)
    reason = raisable(module)
    if reason is not None:
        raise reason
    program = launching(module, launch)
    run_pass(RaiseLaunches(), module)
    run_pass(Upstream("canonicalize,cse", bodies=True), module)
    _refuse_run_time_lengths(program)
    if derivative.level == "auto":
        _refuse_loops(program)
    made = reverse(program, active)
    _with_shadows(program, made, active)
    made.operation.erase()
    return module


def _tile_gradient(launch: KernelLaunch, primal: KernelSource, derivative: Derivative) -> ir.Module:
    """Of a tile kernel, which is on whole arrays already."""
    if primal.derivatives:
        raise NotDifferentiable(
            f"`{primal.function.name}` is a tile kernel, whose derivatives are taken once",
            hint="launch it in a @pk.jit program, and differentiate that: pk.grad, pk.jvp, pk.hvp",
        )
    module = tile_program(launch, primal)
    run_pass(InlineHelpers(), module)
    run_pass(Upstream("canonicalize,cse", bodies=True), module)
    program = cast(func.FuncOp, programs(module)[0].opview)
    active = _active(primal.parameters, derivative.active)
    for number in active:
        if not is_float(program.arguments[number].type):
            raise NotDifferentiable(
                f"argument {number + 1} of `{primal.function.name}` holds integers, which have no derivative",
                hint="pass it plainly, not as a pk.Dup",
            )
    if derivative.mode == "forward":
        made = forward(program, active)
        _with_tangents(program, made, active)
    else:
        made = reverse(program, active)
        _with_shadows(program, made, active)
    made.operation.erase()
    return module


def _refuse_run_time_lengths(program: func.FuncOp) -> None:
    """The rules, and the passes after them, take the lengths of arrays from their types."""
    found = named(program.operation, "kern.launch")  # `kern-raise-launches` leaves such a launch as it is
    if found:
        raise NotRaisable(
            "a loop's length is data: its raised form has an array of a length known only when it runs",
            span_of(found[0].location),
            'differentiate it with level="direct"',
        )


def _refuse_bytes(kind: ir.Type, argument: ir.Value) -> None:
    """Whole arrays of fp8 are not added up."""
    element = ir.MemRefType(kind).element_type
    if flow_type(element) != element:
        raise NotRaisable(
            "derivatives of fp8 are summed up work-item by work-item",
            span_of(argument.owner.owner.location),
            'differentiate it with level="direct"',
        )


def _refuse_loops(program: func.FuncOp) -> None:
    """What is computed step after step is faster in registers, work-item by work-item."""
    loops = find(program.operation, lambda op: op.name in ("scf.for", "scf.while"))
    if loops:
        raise NotRaisable(
            "its raised form keeps a loop: it is differentiated work-item by work-item",
            span_of(loops[0].location),
            'level="raised" takes it all the same',
        )


def _active(parameters: tuple, active: tuple[int, ...]) -> list[int]:
    """Numbers of the function's arguments for those of parameters."""
    numbers: list[int] = []
    argument = 0
    for number, parameter in enumerate(parameters):
        if number in active:
            numbers.append(argument)
        argument += len(list(argument_types(parameter.spec)))
    return numbers


def _with_shadows(program: func.FuncOp, made: func.FuncOp, active: list[int]) -> None:
    """Put ``(x, dx, ...) -> new shadows`` in the place of the program."""
    written = list(ir.DenseI64ArrayAttr(program.operation.attributes[kern.UPDATED]))
    types, shadows = _argument_types(program, active)

    def results(given: list[ir.Value]) -> list[ir.Value]:
        shadow = dict(zip(active, (given[n] for n in shadows), strict=True))
        primal = [a for n, a in enumerate(given) if n not in shadows]
        seeds = [
            shadow[n] if n in shadow else zeros_like(program.arguments[n])
            for n in written
            if is_float(program.arguments[n].type)
        ]
        block = made.regions[0].blocks[0]
        found = clone_block(block, dict(zip(block.arguments, [*primal, *seeds], strict=True)))
        flowing = dict(zip(active, found[len(written) :], strict=True))
        return [_updated(flowing[n], shadow[n], n in written) for n in active]

    _replace(program, types, shadows, results)


def _with_tangents(program: func.FuncOp, made: func.FuncOp, active: list[int]) -> None:
    """Put ``(x, dx, ...) -> what is written, and its tangents`` in the place of the program."""
    written = list(ir.DenseI64ArrayAttr(program.operation.attributes[kern.UPDATED]))
    types, shadows = _argument_types(program, active)
    primal = [n for n in range(len(types)) if n not in shadows]
    floats = [n for n in written if is_float(program.arguments[n].type)]
    shadow = dict(zip(active, shadows, strict=True))

    def results(given: list[ir.Value]) -> list[ir.Value]:
        tangents = [
            given[shadow[n]]
            if isinstance(program.arguments[n].type, ir.ShapedType)
            else tensor.extract(given[shadow[n]], [])
            for n in active
        ]
        block = made.regions[0].blocks[0]
        found = clone_block(
            block, dict(zip(block.arguments, [*(given[n] for n in primal), *tangents], strict=True))
        )
        flowing = dict(zip(floats, found[len(written) :], strict=True))
        return [*found[: len(written)], *(flowing[n] for n in floats if n in shadow)]

    _replace(
        program, types, [*(primal[n] for n in written), *(shadow[n] for n in floats if n in shadow)], results
    )


def _argument_types(program: func.FuncOp, active: list[int]) -> tuple[list[ir.Type], list[int]]:
    """The types of ``(x, dx, ...)``, and which of them are shadows."""
    types: list[ir.Type] = []
    shadows: list[int] = []
    for n, argument in enumerate(program.arguments):
        types.append(argument.type)
        if n in active:
            shadows.append(len(types))
            kind = argument.type
            types.append(kind if isinstance(kind, ir.ShapedType) else ir.RankedTensorType.get([], kind))
    return types, shadows


def _replace(
    program: func.FuncOp,
    types: list[ir.Type],
    updated: list[int],
    results: Callable[[list[ir.Value]], list[ir.Value]],
) -> None:
    """Put a program of these arguments in the place of another; its results are the new contents of `updated`."""
    with ir.InsertionPoint(program.operation), program.location:
        whole = func.FuncOp("kern.unnamed", ir.FunctionType.get(types, [types[n] for n in updated]))
        with ir.InsertionPoint(whole.add_entry_block()):
            func.ReturnOp(results(list(whole.arguments)))
    attributes = whole.operation.attributes
    attributes[kern.PROGRAM] = ir.UnitAttr.get()
    attributes[kern.RESULT_TREE] = ir.StringAttr.get("null")
    attributes[kern.UPDATED] = ir.DenseI64ArrayAttr.get(updated)
    attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get({}) for _ in types])
    name = program.operation.attributes["sym_name"]
    program.operation.erase()
    attributes["sym_name"] = name


def _updated(flowing: ir.Value, shadow: ir.Value, is_written: bool) -> ir.Value:
    """The new shadow: of what the kernel wrote, what was there before; of the rest, the sum."""
    if is_written:
        return flowing
    if not isinstance(flowing.type, ir.ShapedType):
        flowing = tensor.FromElementsOp(shadow.type, [flowing]).result
    return arith.AddFOp(shadow, flowing).result
