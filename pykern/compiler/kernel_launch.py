"""A launch of a kernel as a program of its own, on whole arrays: no source text is written or read for it.

Comes in: `KernelLaunch`, a kernel with its index space, lengths known. Goes out: the module of a program that takes the
kernel's arguments, launches it, and updates in place the arrays that it writes.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import bufferization, func

from pykern.data.program_source import KernelLaunch, ProgramSource
from pykern.data.source import ArraySpec, KernelSource, is_tiled, leaves
from pykern.data.tiles import TileLaunch
from pykern.dialect import attributes as kern
from pykern.dialect.launch import LaunchOp
from pykern.frontend.casts import mlir_type
from pykern.frontend.kernel import build_module
from pykern.frontend.program import build_program
from pykern.frontend.program.shaping import permuted
from pykern.frontend.program.values import Cell
from pykern.passes.ir.argument_uses import argument_uses
from pykern.passes.kernels import body, kernels
from pykern.types import BY_NAME


def kernel_launch(launch: KernelLaunch) -> ir.Module:
    """The module of a launch that is not differentiated."""
    if is_tiled(launch.source.function):
        return tile_program(launch, launch.source)
    module = build_module(launch.source)
    kernel = next(kernels(module))
    attributes = launching(module, launch).operation.attributes
    attributes[kern.RESULT_TREE] = ir.StringAttr.get("null")
    kernel.attributes["sym_visibility"] = ir.StringAttr.get("private")
    return module


def tile_program(launch: KernelLaunch, source: KernelSource) -> ir.Module:
    """The module of a tile kernel's launch, which is an array program by itself. `source`: before derivatives."""
    asked = ProgramSource(source.function, source.parameters, source.options, tiles=TileLaunch(launch.space))
    return build_program(asked)


def launching(module: ir.Module, launch: KernelLaunch) -> func.FuncOp:
    """A program that launches the kernel, and gives what it wrote. Arrays that it only reads may be permuted."""
    kernel = next(kernels(module))
    arguments = list(body(kernel).arguments)
    orders = _orders(launch, len(arguments))
    types = [_tensor_type(a.type, order) for a, order in zip(arguments, orders, strict=True)]
    uses = iter(argument_uses(kernel))
    written = [n for n, a in enumerate(arguments) if isinstance(a.type, ir.MemRefType) and next(uses).writes]
    symbol = ir.StringAttr(kernel.attributes["sym_name"]).value
    results = [types[n] for n in written]
    with ir.InsertionPoint(module.body), kernel.location:
        made = func.FuncOp(f"{symbol}.program", ir.FunctionType.get(types, results))
        with ir.InsertionPoint(made.add_entry_block()):
            given = [_permuted(a, order) for a, order in zip(made.arguments, orders, strict=True)]
            passed = [
                bufferization.to_buffer(k.type, a, read_only=None if n in written else True)
                if isinstance(k.type, ir.MemRefType)
                else a
                for n, (k, a) in enumerate(zip(arguments, given, strict=True))
            ]
            counts = tuple(count for _, _, count in launch.space)
            plain = kern.PLAIN in kernel.attributes
            starts = None if plain else tuple(start for start, _, _ in launch.space)
            steps = None if plain else tuple(step for _, step, _ in launch.space)
            LaunchOp.create(symbol, passed, counts, starts, steps)
            func.ReturnOp(
                [bufferization.to_tensor(types[n], passed[n], restrict=True, writable=True) for n in written]
            )
    attributes = made.operation.attributes
    attributes["arg_attrs"] = kernel.attributes["arg_attrs"]
    attributes[kern.PROGRAM] = ir.UnitAttr.get()
    attributes[kern.UPDATED] = ir.DenseI64ArrayAttr.get(written)
    return made


def _orders(launch: KernelLaunch, count: int) -> list[tuple[int, ...]]:
    """The axes of arrays that lie in memory in another order than C's, the fastest last; for others nothing."""
    specs = [leaf for parameter in launch.source.parameters for leaf in leaves(parameter.spec)]
    orders = [spec.axes if isinstance(spec, ArraySpec) else () for spec in specs]
    return (
        orders if any(orders) else [()] * count
    )  # a derivative has further arguments, none of them permuted


def _tensor_type(kind: ir.Type, order: tuple[int, ...]) -> ir.Type:
    """What the program takes for an argument of the kernel: of an array its elements as they lie in memory."""
    if not isinstance(kind, ir.MemRefType):
        return kind
    memref = ir.MemRefType(kind)
    axes = order or range(memref.rank)
    return ir.RankedTensorType.get([memref.shape[axis] for axis in axes], memref.element_type)


def _permuted(argument: ir.Value, order: tuple[int, ...]) -> ir.Value:
    """An argument of the program with its axes as the kernel counts them."""
    if not order:
        return argument
    kind = ir.RankedTensorType(argument.type)
    dtype = next(t for t in BY_NAME.values() if mlir_type(t) == kind.element_type)
    return permuted(Cell(dtype, tuple(kind.shape), argument), tuple(map(order.index, range(kind.rank)))).ssa
