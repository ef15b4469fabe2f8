"""Tensor programs from MLIR text, with their derivatives, compiled and called with NumPy arrays.

Only upstream passes stand between what differentiation wrote and the numbers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import func, tensor
from mlir.execution_engine import ExecutionEngine
from mlir.runtime import get_ranked_memref_descriptor

from pykern.dialect.context import new_context
from pykern.passes.autodiff.tensor.forward import forward
from pykern.passes.autodiff.tensor.functions import name_of
from pykern.passes.autodiff.tensor.reverse import reverse
from pykern.passes.framework import Upstream, run_pass
from tests.cases.raised_buffers import CopiesToLinalg

SIMPLIFY = (
    "convert-elementwise-to-linalg,canonicalize,cse,func.func(linalg-fuse-elementwise-ops),canonicalize,cse"
)
# copy-before-write: in place, some programs with branches and loops come out wrong (LLVM 22), underived too
BUFFERS = (
    "func.func(empty-tensor-to-alloc-tensor),"
    "one-shot-bufferize{bufferize-function-boundaries=true allow-return-allocs-from-loops=true copy-before-write=true"
    " function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{modify-public-functions=true},"
    "canonicalize,cse"  # programs this small may leak
)
LOWERING = (
    "func.func(convert-linalg-to-loops),fold-memref-alias-ops,expand-strided-metadata,lower-affine,"
    "canonicalize,cse,convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,finalize-memref-to-llvm,"
    "convert-arith-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"
    "reconcile-unrealized-casts"
)
_CELLS = {"f64": ctypes.c_double, "f32": ctypes.c_float, "index": ctypes.c_int64, "i64": ctypes.c_int64}
_DTYPES = {"f64": np.float64, "f32": np.float32, "index": np.int64, "i64": np.int64, "i32": np.int32}


class Program:
    """`text` holds `@f`; beside it come `@f.vjp`, `@f.jvp` and, on demand, `@f.vjp.jvp`.

    `call(name, *arguments)` gives the results as arrays; `text` is the IR after `SIMPLIFY`.
    """

    def __init__(
        self,
        text: str,
        active: Sequence[int] = (0,),
        checkpoint: str = "all",
        second: bool = False,
        change: Callable[[ir.Module], None] | None = None,
    ) -> None:
        self.active = tuple(active)
        with new_context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            f = next(op for op in functions(module) if name_of(op) == "f")
            vjp = reverse(f, self.active, checkpoint)
            forward(f, self.active)
            if second:
                forward(vjp, self.active)
            if change is not None:
                change(module)
            run_pass(Upstream(SIMPLIFY), module)
            self.text = str(module)
            self.signatures = {name_of(op): _prepare(op) for op in functions(module)}
            run_pass(Upstream(BUFFERS), module)
            run_pass(CopiesToLinalg(), module)  # a copy would be a call of MLIR's own library
            run_pass(Upstream(LOWERING), module)
            self._engine = ExecutionEngine(module, opt_level=0)

    def call(self, name: str, *arguments) -> list[np.ndarray]:
        inputs, outputs = self.signatures[name]
        assert len(inputs) == len(arguments), f"{name} takes {inputs}"
        results = [np.zeros(shape, _DTYPES[kind]) for shape, kind in outputs]
        arrays = [_given(a, *spec) for a, spec in zip(arguments, inputs, strict=True)]
        before = [np.copy(a) if isinstance(a, np.ndarray) else a for a in arrays]
        cells = [
            _cell(a, kind) for a, (_, kind) in zip([*arrays, *results], [*inputs, *outputs], strict=True)
        ]
        pointers = (ctypes.c_void_p * len(cells))(
            *[ctypes.cast(ctypes.pointer(c), ctypes.c_void_p) for c in cells]
        )
        self._engine.lookup(name)(pointers)
        for old, new in zip(before, arrays, strict=True):
            np.testing.assert_array_equal(old, new, err_msg="an argument was overwritten")
        return results

    def function(self, name: str) -> str:
        """The text of one function, after `SIMPLIFY`."""
        start = self.text.index(f"func.func @{name}(")
        return self.text[start : self.text.index("\n  }\n", start)]


def functions(module: ir.Module) -> list[func.FuncOp]:
    return [op for op in module.body.operations if isinstance(op, func.FuncOp)]


def _prepare(function: func.FuncOp) -> tuple[list, list]:
    """Scalar results become tensors, arguments stay as they are; argument and result specs."""
    block = function.regions[0].blocks[0]
    terminator = block.operations[len(block.operations) - 1]
    with ir.InsertionPoint(terminator):
        for place, value in enumerate(terminator.operands):
            if not isinstance(value.type, ir.RankedTensorType):
                made = tensor.from_elements(ir.RankedTensorType.get([], value.type), [value])
                terminator.operation.operands[place] = made
    inputs, results = [a.type for a in block.arguments], [v.type for v in terminator.operands]
    attributes = function.operation.attributes
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
    attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    fixed = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
    attributes["arg_attrs"] = ir.ArrayAttr.get(
        [fixed if _is_tensor(t) else ir.DictAttr.get({}) for t in inputs]
    )
    if "res_attrs" in attributes:
        del attributes["res_attrs"]
    return [_spec(t) for t in inputs], [_spec(t) for t in results]


def _is_tensor(type: ir.Type) -> bool:
    return isinstance(type, ir.RankedTensorType)


def _spec(type: ir.Type) -> tuple[tuple[int, ...] | None, str]:
    if isinstance(type, ir.RankedTensorType):
        return tuple(type.shape), str(type.element_type)
    return None, str(type)


def _given(argument, shape: tuple[int, ...] | None, kind: str):
    if shape is None:
        return _CELLS[kind](argument).value
    array = np.ascontiguousarray(argument, _DTYPES[kind]).reshape(shape)
    assert np.shape(argument) == shape, f"{np.shape(argument)} for {shape}"
    return array.copy()


def _cell(argument, kind: str):
    if isinstance(argument, np.ndarray):
        return ctypes.pointer(get_ranked_memref_descriptor(argument))
    return _CELLS[kind](argument)


def return_only(module: ir.Module, name: str, first: int) -> None:
    """Let the function `name` return its results from `first` on only."""
    function = next(op for op in functions(module) if name_of(op) == name)
    block = function.regions[0].blocks[0]
    old = block.operations[len(block.operations) - 1].operation
    kept = list(old.operands)[first:]
    with ir.InsertionPoint(old), old.location:
        func.ReturnOp(kept)
    old.erase()
    inputs, results = [a.type for a in block.arguments], [v.type for v in kept]
    function.operation.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
    del function.operation.attributes["res_attrs"]


def random_like(arguments: Sequence, rng: np.random.Generator) -> list:
    return [
        rng.standard_normal(np.shape(a)) if np.ndim(a) else float(rng.standard_normal()) for a in arguments
    ]


def inner(a: Sequence, b: Sequence) -> float:
    return float(sum(np.sum(np.asarray(x) * np.asarray(y)) for x, y in zip(a, b, strict=True)))


def check(
    program: Program,
    arguments: Sequence,
    rng: np.random.Generator,
    differences: bool = True,
    dot_tolerance: float = 1e-12,
) -> list[np.ndarray]:
    """Reverse against forward mode (dot test), and both against central differences; the cotangents.

    All float results are seeded with random cotangents; the primal results are compared too.
    """
    wanted = [k for k, (_, kind) in enumerate(program.signatures["f"][1]) if kind.startswith("f")]
    results = program.call("f", *arguments)
    seeds = random_like([results[k] for k in wanted], rng)
    seeds = [
        np.asarray(s) if program.signatures["f"][1][k][0] is not None else s
        for s, k in zip(seeds, wanted, strict=True)
    ]
    reversed_ = program.call("f.vjp", *arguments, *seeds)
    for got, expected in zip(reversed_, results, strict=False):
        np.testing.assert_array_equal(got, expected)
    gradient = reversed_[len(results) :]
    direction = random_like([arguments[k] for k in program.active], rng)
    both = program.call("f.jvp", *arguments, *direction)
    for got, expected in zip(both, results, strict=False):
        np.testing.assert_array_equal(got, expected)
    tangents = both[len(results) :]
    left, right = inner(seeds, tangents), inner(gradient, direction)
    scale = sum(
        float(np.sum(np.abs(np.asarray(g) * np.asarray(d)))) for g, d in zip(gradient, direction, strict=True)
    )
    assert abs(left - right) <= dot_tolerance * max(scale, 1e-30), (
        f"<ct, J d> = {left}, <J^T ct, d> = {right}"
    )
    if differences:
        assert_differences(
            lambda *a: [program.call("f", *a)[k] for k in wanted],
            program.active,
            arguments,
            direction,
            tangents,
        )
    return gradient


def assert_differences(
    f, active, arguments, direction, tangents, step: float = 1e-6, tolerance: float = 2e-7
):
    """Tangents against central differences along `direction`."""
    sides = []
    for sign in (1.0, -1.0):
        moved = list(arguments)
        for k, d in zip(active, direction, strict=True):
            moved[k] = (
                np.asarray(arguments[k]) + sign * step * d
                if np.ndim(arguments[k])
                else arguments[k] + sign * step * d
            )
        sides.append(f(*moved))
    for up, down, tangent in zip(*sides, tangents, strict=True):
        expected = (up - down) / (2 * step)
        error = np.max(np.abs(tangent - expected), initial=0.0)
        assert error <= tolerance * max(1.0, np.max(np.abs(expected), initial=0.0)), (
            f"{tangent} is not {expected}"
        )
