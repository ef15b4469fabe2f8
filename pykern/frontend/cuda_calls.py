"""Calls of functions in CUDA C++: checked against their signature, and a call of what is linked in later.

Comes in: a call of a `CudaValue`. Goes out: func.call of a private function named `CapturedCuda.symbol`. Across it go
i32, i64, f32 and f64 only, whose passing C++ and LLVM agree on: smaller integers and bool as i32, arrays as their
address. `pykern.lowering.nvvm.user_code` writes the other side.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from mlir import ir
from mlir.dialects import arith, func, memref

from pykern.data.source import CUDA_ONLY, INSTEAD_OF_CUDA, CapturedCuda, KernelSource
from pykern.dialect import attributes as kern
from pykern.errors import TargetError
from pykern.frontend.casts import convert, materialise, mlir_type
from pykern.frontend.values import Array, NoneValue, Scalar, Value, describe
from pykern.types import BY_NAME, DType, bool_

if TYPE_CHECKING:
    from pykern.frontend.calls import Calls

FAMILY = "nvvm"


def call(t: Calls, node: ast.Call, function: CapturedCuda, arguments: list[Value], keywords: dict) -> Value:
    """The value of ``f(...)``. Raises `TargetError` where the kernel is for another target."""
    target = t.source.target
    if target.family != FAMILY:
        raise TargetError(
            f"`{function.name}` is CUDA C++, and this is compiled for {target}: {CUDA_ONLY}",
            t.span(node), INSTEAD_OF_CUDA, t.call_notes(),
        )  # fmt: skip
    if not isinstance(t.source, KernelSource):
        raise t.type_error(node, f"`{function.name}` is called in an array program", "call it in a kernel")
    if keywords or len(arguments) != len(function.parameters):
        raise t.type_error(
            node,
            f"`{function.name}` takes {len(function.parameters)} arguments in order",
            f"it is {function}",
        )
    passed = [
        _passed(t, place, function, number, value)
        for number, (place, value) in enumerate(zip(node.args, arguments, strict=False))
    ]
    results = [] if function.result == "void" else [_carrier(BY_NAME[function.result])]
    _declare(function, [value.type for value in passed], results)
    made = func.CallOp(results, ir.FlatSymbolRefAttr.get(function.symbol), passed)
    if not results:
        return NoneValue()
    return Scalar(BY_NAME[function.result], _narrowed(made.results[0], BY_NAME[function.result]))


def _passed(t: Calls, node: ast.AST, function: CapturedCuda, number: int, value: Value) -> ir.Value:
    wanted = function.parameters[number]
    name, bracket, rest = wanted.partition("[")
    dtype = BY_NAME[name]
    hint = f"it is {function}"
    if bracket:
        rank = rest.count(":")
        if not isinstance(value, Array) or value.dtype != dtype or len(value.shape) != rank or value.outer:
            raise t.type_error(
                node, f"argument {number + 1} of `{function.name}` is {wanted}, not {describe(value)}", hint
            )
        t.note_array_write(value.ssa)
        address = memref.ExtractAlignedPointerAsIndexOp(value.ssa).result
        return arith.IndexCastOp(ir.IntegerType.get_signless(64), address).result
    scalar = t.as_scalar(node, value)
    fits = scalar.dtype == dtype
    if scalar.dtype.weak:  # Python's numbers take the type of what they meet
        fits = dtype.is_float or (dtype.is_integer and scalar.dtype.is_integer)
    if not fits:
        raise t.type_error(
            node,
            f"argument {number + 1} of `{function.name}` is {wanted}, not {describe(value)}",
            f"{hint}; convert it: pk.{name}(...)",
        )
    with t.operands_of(node):
        return _widened(materialise(convert(scalar, dtype)), dtype)


def _carrier(dtype: DType) -> ir.Type:
    """What a value is passed as."""
    small = not dtype.is_float and dtype.bits < 32
    return ir.IntegerType.get_signless(32) if small else mlir_type(dtype)


def _widened(value: ir.Value, dtype: DType) -> ir.Value:
    carrier = _carrier(dtype)
    if value.type == carrier:
        return value
    return (arith.ExtSIOp if dtype.kind == "i" else arith.ExtUIOp)(carrier, value).result


def _narrowed(value: ir.Value, dtype: DType) -> ir.Value:
    if value.type == mlir_type(dtype):
        return value
    if dtype == bool_:
        zero = arith.ConstantOp(value.type, 0).result
        return arith.CmpIOp(arith.CmpIPredicate.ne, value, zero).result
    return arith.TruncIOp(mlir_type(dtype), value).result


def _declare(function: CapturedCuda, inputs: list[ir.Type], results: list[ir.Type]) -> None:
    root: Any = ir.InsertionPoint.current.block.owner
    while root.operation.name != "builtin.module":
        root = root.operation.parent
    body = root.operation.regions[0].blocks[0]
    known = (ir.StringAttr(op.operation.attributes["sym_name"]).value for op in body.operations)
    if function.symbol in known:
        return
    with ir.InsertionPoint.at_block_begin(body):
        made = func.FuncOp(function.symbol, ir.FunctionType.get(inputs, results), visibility="private")
    made.operation.attributes[kern.CUDA] = ir.StringAttr.get(function.name)
