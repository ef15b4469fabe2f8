"""Array programs built by the frontend and executed with upstream passes alone.

A launch becomes loops around a call of the kernel's body, so that only the frontend is under test.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from mlir import ir
from mlir.dialects import arith, bufferization, linalg, scf, tensor
from mlir.dialects import llvm as llvm_dialect

from pykern.capture.functions import function_source
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, KernelOptions, Parameter, StaticSpec
from pykern.dialect import attributes as kern
from pykern.dialect.context import check_kern_ops, new_context
from pykern.frontend.program import build_program
from pykern.launching.arguments import pass_value
from pykern.passes import kernels
from pykern.passes.arithmetic.round_once import RoundOnce
from pykern.passes.framework import Upstream, run_pass
from pykern.types import BY_NAME

PIPELINE = (
    "func.func(empty-tensor-to-alloc-tensor)",  # no cse: buffers of one tensor are one value to it
    "one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map "
    "allow-return-allocs-from-loops=true}",
    "buffer-results-to-out-params{modify-public-functions=true hoist-static-allocs=false}",
    "func.func(convert-linalg-to-loops),canonicalize,cse",
    "func.func(math-extend-to-supported-types{target-type=f32 extra-types=f64})",
    "func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32})",
    "arith-expand{include-bf16=true},convert-math-to-funcs,convert-scf-to-cf",
    "expand-strided-metadata,lower-affine,convert-math-to-llvm,convert-math-to-libm",
    "finalize-memref-to-llvm,convert-func-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,convert-arith-to-llvm",
    "reconcile-unrealized-casts,canonicalize",
)


def program_source(function: Callable, *args: Any, static: tuple[str, ...] = ()) -> ProgramSource:
    """What the front door would hand over: arrays by their full shapes; `static` names constants."""
    source, _ = function_source(function, program=True)
    names = function.__code__.co_varnames[: len(args)]
    parameters = []
    for name, value in zip(names, args, strict=True):
        if name in static or value is None or isinstance(value, str):
            parameters.append(Parameter(name, StaticSpec(value)))
            continue
        parameter = pass_value(name, value, None).parameter
        if isinstance(parameter.spec, ArraySpec):
            parameter = Parameter(name, ArraySpec(parameter.spec.dtype, value.shape))
        parameters.append(parameter)
    return ProgramSource(source, tuple(parameters), KernelOptions())


def build(function: Callable, *args: Any, static: tuple[str, ...] = ()) -> str:
    """The verified module as text."""
    with new_context(), ir.Location.unknown():
        module = build_program(program_source(function, *args, static=static))
        assert module.operation.verify()
        check_kern_ops(module)
        return str(module)


def run(function: Callable, *args: Any, static: tuple[str, ...] = ()) -> Any:
    """Build, lower, call; arrays the program writes are written. Gives what the program returns."""
    with new_context(), ir.Location.unknown():
        module = build_program(program_source(function, *args, static=static))
        assert module.operation.verify()
        check_kern_ops(module)
        _check_locations(module)
        program = next(
            op.operation for op in module.body.operations if kern.PROGRAM in op.operation.attributes
        )
        name = ir.StringAttr(program.attributes["sym_name"]).value
        tree = json.loads(ir.StringAttr(program.attributes[kern.RESULT_TREE]).value)
        updated = list(ir.DenseI64ArrayAttr(program.attributes[kern.UPDATED]))
        _loops_for_launches(module)
        shapes = _tensor_results(program)
        run_pass(RoundOnce(), module)  # f64 to f16 would be a call of a library's function
        for text in PIPELINE:
            _copy_by_loops(module)
            run_pass(Upstream(text), module)
        code = llvm_dialect.translate_module_to_llvmir(module.operation)  # type: ignore[attr-defined]
    flat = [
        a for n, a in zip(function.__code__.co_varnames, args, strict=False) if not _is_static(n, a, static)
    ]
    results = [np.empty(shape, dtype) for shape, dtype in shapes]
    engine = _engine(code)
    cells = [c for a in flat for c in _cells(a)] + [c for r in results for c in _cells(r)]
    ctypes.CFUNCTYPE(None, *(type(c) for c in cells))(engine.get_function_address(name))(*cells)
    arrays = flat
    for number, result in zip(updated, results[len(results) - len(updated) :], strict=True):
        arrays[number][...] = result.view(arrays[number].dtype)
    return _rebuilt(tree, results)


def _is_static(name: str, value: Any, static: tuple[str, ...]) -> bool:
    return name in static or value is None or isinstance(value, str)


def _check_locations(module: ir.Module) -> None:
    """Every op says where in the Python it comes from."""

    def visit(op: ir.Operation) -> ir.WalkResult:
        assert op.name == "builtin.module" or "unknown" not in str(op.location), op
        hidden = op.name in ("linalg.fill", "linalg.matmul", "linalg.batch_matmul")  # upstream fills these in
        return ir.WalkResult.SKIP if hidden else ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)


# -- launches -----------------------------------------------------------------------------------


def _loops_for_launches(module: ir.Module) -> None:
    for kernel in kernels.kernels(module):
        _take_ids(kernel)
    for launch in kernels.named(module.operation, "kern.launch"):
        view: Any = launch.opview
        arguments, symbol = list(view.call.operands), view.kernel
        last = launch
        ids = []
        for start, step, count in zip(view.starts, view.steps, view.ndrange, strict=True):
            with ir.InsertionPoint(last), launch.location:
                bounds = [arith.ConstantOp(ir.IndexType.get(), v).result for v in (0, count, 1, step, start)]
                loop = scf.ForOp(*bounds[:3])
            with ir.InsertionPoint(loop.body), launch.location:
                scaled = arith.MulIOp(loop.induction_variable, bounds[3]).result
                ids.append(arith.AddIOp(scaled, bounds[4]).result)
                last = scf.YieldOp([]).operation
        counts = [arith.ConstantOp(ir.IndexType.get(), n, ip=ir.InsertionPoint(last), loc=launch.location).result
                  for n in view.ndrange]  # fmt: skip
        with ir.InsertionPoint(last), launch.location:
            callee = {"callee": ir.FlatSymbolRefAttr.get(symbol)}
            ir.Operation.create("func.call", operands=[*arguments, *ids, *counts], attributes=callee)
        launch.erase()
    for op in kernels.named(module.operation, "kern.stop_gradient"):
        kernels.replace(op, [op.operands[0]])


def _take_ids(kernel: ir.Operation) -> None:
    """Ids and the ndrange become arguments."""
    block, rank = kernels.body(kernel), kernels.rank(kernel)
    with kernel.location:
        extra: list[Any] = [block.add_argument(ir.IndexType.get(), kernel.location) for _ in range(2 * rank)]
    for op in kernels.named(kernel, "kern.global_id", "kern.ndrange"):
        view: Any = op.opview
        kernels.replace(op, [extra[view.dim + (rank if op.name == "kern.ndrange" else 0)]])
    for op in kernels.named(kernel, "kern.guard"):
        op.erase()
    kind = ir.FunctionType.get([a.type for a in block.arguments], [])
    kernel.attributes["function_type"] = ir.TypeAttr.get(kind)
    del kernel.attributes["arg_attrs"]


def _copy_by_loops(module: ir.Module) -> None:
    """A copy between strided buffers would need MLIR's own runtime."""
    for op in kernels.named(module.operation, "memref.copy"):
        with ir.InsertionPoint(op), op.location:
            linalg.copy(op.operands[0], outs=[op.operands[1]])
        op.erase()


def _tensor_results(program: ir.Operation) -> list[tuple[tuple[int, ...], Any]]:
    """Results that are scalars become tensors of rank 0; gives shapes and dtypes as memory has them."""
    block = kernels.body(program)
    terminator = block.operations[len(block.operations) - 1].operation
    results = []
    with ir.InsertionPoint(terminator), program.location:
        for value in terminator.operands:
            if not isinstance(value.type, ir.RankedTensorType):
                if isinstance(value.type, ir.IndexType):
                    value = arith.IndexCastOp(ir.IntegerType.get_signless(64), value).result
                if value.type == ir.IntegerType.get_signless(1):
                    value = arith.ExtUIOp(ir.IntegerType.get_signless(8), value).result
                value = tensor.FromElementsOp(ir.RankedTensorType.get([], value.type), [value]).result
            kind = ir.RankedTensorType(value.type)
            # a buffer of its own: results may be arguments, or one another
            copy = bufferization.AllocTensorOp(kind, [], copy=value).result
            results.append((copy, (tuple(kind.shape), _numpy(kind.element_type))))
        ir.Operation.create("func.return", operands=[value for value, _ in results])
    terminator.erase()
    kind = ir.FunctionType.get([a.type for a in block.arguments], [value.type for value, _ in results])
    program.attributes["function_type"] = ir.TypeAttr.get(kind)
    tensors = [isinstance(a.type, ir.RankedTensorType) for a in block.arguments]
    read_only = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
    program.attributes["arg_attrs"] = ir.ArrayAttr.get(
        [read_only if t else ir.DictAttr.get({}) for t in tensors]
    )
    return [form for _, form in results]


def _numpy(element: ir.Type) -> Any:
    return np.dtype({"f16": "f2", "f32": "f4", "f64": "f8", "bf16": "u2", "i8": "i1", "i16": "i2", "i32": "i4",
                     "i64": "i8"}[str(element)])  # fmt: skip


# -- calling ------------------------------------------------------------------------------------


def _engine(code: str) -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(code)
    features = llvm.get_host_cpu_features().flatten()  # f16 is the machine's own, not a library's
    target = llvm.Target.from_triple(llvm.get_process_triple())
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=1)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine


_SCALARS = {"f2": ctypes.c_uint16, "f4": ctypes.c_float, "f8": ctypes.c_double}


def _cells(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        pointer = ctypes.c_void_p(value.ctypes.data)
        strides = [stride // value.itemsize for stride in value.strides]
        return [pointer, pointer, *map(ctypes.c_int64, (0, *value.shape, *strides))]
    if isinstance(value, bool | np.bool_):
        return [ctypes.c_bool(bool(value))]
    if isinstance(value, float):
        return [ctypes.c_double(value)]
    if isinstance(value, np.floating):
        return [_SCALARS[value.dtype.str[1:]](float(value))]
    if isinstance(value, tuple):
        return [c for item in value for c in _cells(item)]
    return [ctypes.c_int64(int(value))]


def _rebuilt(tree: Any, results: list[np.ndarray]) -> Any:
    if tree is None:
        return None
    if "tuple" in tree:
        return tuple(_rebuilt(item, results) for item in tree["tuple"])
    if "dict" in tree:
        return {key: _rebuilt(item, results) for key, item in tree["dict"].items()}
    if "constant" in tree:
        return tree["constant"]
    if "array" in tree:
        return results[tree["array"]].view(BY_NAME[tree["dtype"]].numpy)
    scalar = results[tree["scalar"]].view(BY_NAME[tree["dtype"]].numpy)[()]
    python = tree["dtype"] in ("int", "float") or (tree["dtype"] == "bool" and "numpy" not in tree)
    return scalar.item() if python else scalar
