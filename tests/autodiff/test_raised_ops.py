"""Differentiation of tensor programs, op by op: reverse against forward mode against differences."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir
from mlir._mlir_libs._mlirDialectsLinalg import isa_contraction_op

from pykern.passes.autodiff.tensor.functions import name_of
from pykern.passes.kernels import find
from tests.autodiff.tensor_programs import Program, check, functions
from tests.cases.tensor_texts import (
    ADD,
    conv1d,
    cut,
    full,
    function,
    generic,
    heat_step,
    layernorm,
    pointwise,
    reduced,
    softmax,
    tensor,
)

N, M = 5, 7


def sample(rng: np.random.Generator, *sizes: int) -> np.ndarray:
    return rng.standard_normal(sizes)


@pytest.mark.parametrize("make", [softmax, layernorm])
def test_layers(make, rng):
    program = Program(make(N, M), (0,) if make is softmax else (0, 1, 2))
    x = [sample(rng, N, M)] if make is softmax else [sample(rng, N, M), sample(rng, M), sample(rng, M)]
    check(program, x, rng)


REDUCTIONS = {
    "sum": (ADD, "%zero"),
    "difference": ("%r = arith.subf %o, %v : f64", "%zero"),
    "fma": ("%r = math.fma %v, %v, %o : f64", "%zero"),
    "masked": (
        "%p = arith.cmpf ogt, %a, %zero : f64\n%q = arith.addf %v, %o : f64\n%r = arith.select %p, %q, %o : f64",
        "%zero",
    ),
    "max": ("%r = arith.maximumf %v, %o : f64", "%low"),
    "min": ("%r = arith.minnumf %o, %v : f64", "%high"),
    "max by select": ("%p = arith.cmpf ogt, %v, %o : f64\n%r = arith.select %p, %v, %o : f64", "%low"),
    "min by select": ("%p = arith.cmpf ogt, %v, %o : f64\n%r = arith.select %p, %o, %v : f64", "%high"),
    "max from half": ("%r = arith.maximumf %v, %o : f64", "%half"),
    "product": ("%r = arith.mulf %o, %v : f64", "%one"),
    "horner": ("%p = arith.mulf %o, %half : f64\n%r = arith.addf %p, %v : f64", "%one"),
    "logistic": ("%p = arith.mulf %o, %v : f64\n%r = math.tanh %p : f64", "%half"),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, rng):
    text = reduced("%y", "%x", (N, M), *REDUCTIONS[name], before="%v = math.sin %a : f64")
    program = Program(function(f"%x: {tensor(N, M)}", text, [f"%y: {tensor(N)}"]))
    check(program, [sample(rng, N, M)], rng)


def test_ties_are_split(rng):
    """As JAX does: every maximum gets its part."""
    program = Program(
        function(f"%x: {tensor(2, 4)}", reduced("%y", "%x", (2, 4), *REDUCTIONS["max"]), [f"%y: {tensor(2)}"])
    )
    x = np.array([[1.0, 3.0, 3.0, 0.0], [2.0, 2.0, 2.0, 2.0]])
    gradient = check(program, [x], rng, differences=False)
    _, gradient = program.call("f.vjp", x, np.ones(2))
    np.testing.assert_array_equal(gradient, [[0, 0.5, 0.5, 0], [0.25] * 4])


def test_products_with_zeros(rng):
    text = reduced("%y", "%x", (4, 5), *REDUCTIONS["product"])
    program = Program(function(f"%x: {tensor(4, 5)}", text, [f"%y: {tensor(4)}"]))
    x = sample(rng, 4, 5)
    x[1, 2] = x[2, 0] = x[2, 3] = 0.0
    check(program, [x], rng)
    _, gradient = program.call("f.vjp", x, np.ones(4))
    others = [[np.prod(np.delete(row, k)) for k in range(5)] for row in x]
    np.testing.assert_allclose(gradient, others, rtol=1e-14)


def test_product_over_two_dimensions_from_an_active_start(rng):
    text = generic(
        "%y", [f"%x: {tensor(2, 4, 3)}", f"%w: {tensor(3)}"], f"%s: {tensor(4)}",
        "(i, j, k) -> (i, j, k), (k), (j)", "rpr",
        "%p = arith.mulf %a, %b : f64\n%r = arith.mulf %p, %o : f64\nlinalg.yield %r : f64",
    )  # fmt: skip
    arguments = f"%x: {tensor(2, 4, 3)}, %w: {tensor(3)}, %s: {tensor(4)}"
    program = Program(function(arguments, text, [f"%y: {tensor(4)}"]), (0, 1, 2))
    check(program, [sample(rng, 2, 4, 3), sample(rng, 3), sample(rng, 4)], rng)


def contraction(maps: str, kinds: str, a: tuple, b: tuple, out: tuple) -> str:
    body = "%p = arith.mulf %a, %b : f64\n%r = arith.addf %o, %p : f64\nlinalg.yield %r : f64"
    text = full("%z", tensor(*out)) + generic(
        "%y", [f"%x: {tensor(*a)}", f"%w: {tensor(*b)}"], f"%z: {tensor(*out)}", maps, kinds, body
    )
    return function(f"%x: {tensor(*a)}, %w: {tensor(*b)}", text, [f"%y: {tensor(*out)}"])


def named(op: str, a: tuple, b: tuple, out: tuple) -> str:
    text = full("%z", tensor(*out)) + (
        f"%y = linalg.{op} ins(%x, %w : {tensor(*a)}, {tensor(*b)}) outs(%z : {tensor(*out)}) -> {tensor(*out)}"
    )
    return function(f"%x: {tensor(*a)}, %w: {tensor(*b)}", text, [f"%y: {tensor(*out)}"])


TRANSPOSED = (
    "indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,"
    " affine_map<(m, n, k) -> (m, n)>]"
)
CONTRACTIONS = {
    "matmul": (named("matmul", (4, 5), (5, 3), (4, 3)), (4, 5), (5, 3)),
    "transposed matmul": (named(f"matmul {TRANSPOSED}", (5, 4), (5, 3), (4, 3)), (5, 4), (5, 3)),
    "batch": (named("batch_matmul", (2, 4, 5), (2, 5, 3), (2, 4, 3)), (2, 4, 5), (2, 5, 3)),
    "matvec": (named("matvec", (4, 5), (5,), (4,)), (4, 5), (5,)),
    "vecmat": (named("vecmat", (4,), (4, 5), (5,)), (4,), (4, 5)),
    "dot": (named("dot", (6,), (6,), ()), (6,), (6,)),
    "outer": (contraction("(i, j) -> (i), (j), (i, j)", "pp", (4,), (5,), (4, 5)), (4,), (5,)),
    "a b^T": (
        contraction("(i, j, k) -> (i, k), (j, k), (i, j)", "ppr", (4, 5), (3, 5), (4, 3)),
        (4, 5),
        (3, 5),
    ),
}


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_contractions(name, rng):
    text, a, b = CONTRACTIONS[name]
    check(Program(text, (0, 1), second=True), [sample(rng, *a), sample(rng, *b)], rng)


def test_the_adjoint_of_a_contraction_is_one(rng):
    """So that it can be scheduled as one: a product of the cotangent and the other factor alone."""
    found: list[bool] = []

    def look(module: ir.Module) -> None:
        vjp = next(op for op in functions(module) if name_of(op) == "f.vjp")
        ops = [op for op in vjp.regions[0].blocks[0].operations if op.operation.name == "linalg.generic"]
        found.extend(isa_contraction_op(op) for op in ops)

    Program(CONTRACTIONS["matmul"][0], (0, 1), change=look)
    assert found == [True, True]


def test_one_factor_twice(rng):
    """x @ x: two different maps of one tensor; x * x: one map twice."""
    square = named("matmul", (4, 4), (4, 4), (4, 4)).replace("%x, %w", "%x, %x")
    check(Program(square, (0,)), [sample(rng, 4, 4), sample(rng, 4, 4)], rng)
    text = pointwise("%y", ["%x", "%x"], "%r = arith.mulf %a, %b : f64", tensor(4, 3))
    check(Program(function(f"%x: {tensor(4, 3)}", text, [f"%y: {tensor(4, 3)}"])), [sample(rng, 4, 3)], rng)


SINE = "%q = arith.mulf %a, %b : f64\n%p = math.sin %q : f64"
QUOTIENT = "%q = arith.mulf %b, %b : f64\n%p = arith.divf %q, %a : f64"


@pytest.mark.parametrize("body", ["product", "sine", "quotient"])
@pytest.mark.parametrize(("stride", "offset"), [(1, 0), (2, 0), (3, 1)])
def test_convolution(body, stride, offset, rng):
    bodies = {"product": "%p = arith.mulf %a, %b : f64", "sine": SINE, "quotient": QUOTIENT}
    program = Program(conv1d(20, 4, stride, offset, bodies[body]), (0, 1))
    assert '"parallel", "reduction"' in program.function("f.vjp")  # gathered, not run in order
    assert '["reduction", "reduction"]' not in program.function("f.vjp")
    x = 1.0 + rng.random(20) if body == "quotient" else sample(rng, 20)
    gradient = check(program, [x, sample(rng, 4)], rng)
    assert np.isfinite(gradient[0]).all()


def test_convolution_of_images(rng):
    out = tensor(2, 4, 3, 5)
    text = full("%z", out) + (
        "%y = linalg.conv_2d_nhwc_hwcf"
        " {strides = dense<[1, 2]> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>}"
        f" ins(%x, %w : {tensor(2, 8, 8, 3)}, {tensor(3, 3, 3, 5)}) outs(%z : {out}) -> {out}"
    )
    arguments = f"%x: {tensor(2, 8, 8, 3)}, %w: {tensor(3, 3, 3, 5)}"
    program = Program(function(arguments, text, [f"%y: {tensor(2, 4, 3, 5)}"]), (0, 1))
    check(program, [sample(rng, 2, 8, 8, 3), sample(rng, 3, 3, 3, 5)], rng)


def test_max_pooling(rng):
    text = full("%z", tensor(1, 3, 3, 2), "%low") + (
        "%e = tensor.empty() : tensor<2x3xf64>\n"
        "%y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}"
        f" ins(%x, %e : {tensor(1, 6, 7, 2)}, tensor<2x3xf64>) outs(%z : {tensor(1, 3, 3, 2)}) -> {tensor(1, 3, 3, 2)}"
    )
    program = Program(function(f"%x: {tensor(1, 6, 7, 2)}", text, [f"%y: {tensor(1, 3, 3, 2)}"]))
    check(program, [sample(rng, 1, 6, 7, 2)], rng)


def test_diagonal_and_flipped_maps_run_in_order(rng):
    text = f"%e = tensor.empty() : {tensor(5)}\n" + generic(
        "%y", [f"%x: {tensor(5, 5)}", f"%w: {tensor(5)}"], f"%e: {tensor(5)}", "(i) -> (i, i), (4 - i), (i)", "p",
        "%r = arith.mulf %a, %b : f64\nlinalg.yield %r : f64",
    )  # fmt: skip
    program = Program(function(f"%x: {tensor(5, 5)}, %w: {tensor(5)}", text, [f"%y: {tensor(5)}"]), (0, 1))
    check(program, [sample(rng, 5, 5), sample(rng, 5)], rng)


@pytest.mark.parametrize("nonlinear", [False, True])
def test_stencil(nonlinear, rng):
    program = Program(
        function(f"%x: {tensor(6, 8)}", heat_step("%y", "%x", 6, 8, nonlinear), [f"%y: {tensor(6, 8)}"])
    )
    assert program.function("f.vjp").count("tensor.pad") == (2 if nonlinear else 1)
    check(program, [sample(rng, 6, 8)], rng)


def test_strided_and_reduced_slices(rng):
    x = tensor(9, 8)
    text = (
        cut("%s", "%x", x, (1, 2), (4, 3), (2, 2))
        + f"%t = tensor.extract_slice %x[3, 0] [1, 3] [1, 1] : {x} to tensor<3xf64>\n"
        + "%e = tensor.empty() : tensor<4x3xf64>\n"
        + generic("%u", ["%s: tensor<4x3xf64>", "%t: tensor<3xf64>"], "%e: tensor<4x3xf64>",
                  "(i, j) -> (i, j), (j), (i, j)", "pp", "%r = arith.mulf %a, %b : f64\nlinalg.yield %r : f64")
        + f"\n%v = tensor.insert_slice %u into %x[0, 1] [4, 3] [2, 2] : tensor<4x3xf64> into {x}\n"
        + f"%y = tensor.insert_slice %t into %v[8, 5] [1, 3] [1, 1] : tensor<3xf64> into {x}\n"
    )  # fmt: skip
    check(Program(function(f"%x: {x}", text, [f"%y: {x}", "%u: tensor<4x3xf64>"])), [sample(rng, 9, 8)], rng)


def test_shapes_pads_and_elements(rng):
    text = """
%p = tensor.pad %x low[1, 0] high[2, 3] {
^bb0(%i: index, %j: index):
  tensor.yield %one : f64
} : tensor<3x4xf64> to tensor<6x7xf64>
%q = math.sin %p : tensor<6x7xf64>
%s = tensor.collapse_shape %q [[0, 1]] : tensor<6x7xf64> into tensor<42xf64>
%t = tensor.expand_shape %s [[0, 1, 2]] output_shape [2, 3, 7] : tensor<42xf64> into tensor<2x3x7xf64>
%i5 = arith.constant 5 : index
%n = tensor.extract %s[%i5] : tensor<42xf64>
%m = arith.mulf %n, %c : f64
%u = tensor.insert %m into %t[%i1, %i1, %i0] : tensor<2x3x7xf64>
%f = tensor.from_elements %m, %n, %c, %one : tensor<2x2xf64>
%g = tensor.splat %m : tensor<4x2xf64>
%h = tensor.concat dim(0) %f, %g : (tensor<2x2xf64>, tensor<4x2xf64>) -> tensor<6x2xf64>
%k = math.exp %h : tensor<6x2xf64>
%shape = arith.constant dense<[3, 4]> : tensor<2xindex>
%l = tensor.reshape %k(%shape) : (tensor<6x2xf64>, tensor<2xindex>) -> tensor<3x4xf64>
%d = tensor.cast %l : tensor<3x4xf64> to tensor<?x4xf64>
%y = tensor.cast %d : tensor<?x4xf64> to tensor<3x4xf64>
"""
    program = Program(
        function(
            "%x: tensor<3x4xf64>, %c: f64", text, ["%u: tensor<2x3x7xf64>", "%y: tensor<3x4xf64>", "%m: f64"]
        ),
        (0, 1),
    )
    check(program, [sample(rng, 3, 4), 0.7], rng)


def test_captured_scalars_and_indices(rng):
    body = """%p = linalg.index 0 : index
%q = arith.index_cast %p : index to i64
%f = arith.sitofp %q : i64 to f64
%g = arith.mulf %f, %c : f64
%h = math.tanh %g : f64
%r = arith.mulf %h, %a : f64"""
    text = pointwise("%u", ["%x"], body, tensor(4, 3)) + full("%v", tensor(4, 3), "%c")
    text += pointwise("%y", ["%u", "%v"], "%r = arith.addf %a, %b : f64", tensor(4, 3))
    check(
        Program(function("%x: tensor<4x3xf64>, %c: f64", text, ["%y: tensor<4x3xf64>"]), (0, 1)),
        [sample(rng, 4, 3), 0.3],
        rng,
    )


def test_lookup(rng):
    """Rows of a table by number, some twice; the places are no float and are passed over."""
    body = """%p = linalg.index 1 : index
%v = tensor.extract %x[%a, %p] : tensor<6x3xf64>
%s = math.sin %v : f64
%r = arith.mulf %s, %b : f64
linalg.yield %r : f64"""
    text = "%e = tensor.empty() : tensor<5x3xf64>\n" + generic(
        "%y",
        ["%k: tensor<5xindex>", "%w: tensor<3xf64>"],
        "%e: tensor<5x3xf64>",
        "(i, j) -> (i), (j), (i, j)",
        "pp",
        body,
    )
    program = Program(
        function(
            "%x: tensor<6x3xf64>, %k: tensor<5xindex>, %w: tensor<3xf64>", text, ["%y: tensor<5x3xf64>"]
        ),
        (0, 2),
        second=True,
    )
    check(program, [sample(rng, 6, 3), np.array([4, 0, 4, 5, 0]), sample(rng, 3)], rng)


def test_what_accumulates_into_an_argument(rng):
    text = generic(
        "%y", [f"%x: {tensor(4, 3)}"], f"%s: {tensor(4)}", "(i, j) -> (i, j), (i)", "pr",
        "%p = arith.mulf %a, %a : f64\n%r = arith.addf %o, %p : f64\nlinalg.yield %r : f64",
    ) + "\n" + generic(
        "%z", [f"%y: {tensor(4)}"], f"%y: {tensor(4)}", "(i) -> (i), (i)", "p",
        "%p = math.sin %o : f64\n%r = arith.mulf %p, %a : f64\nlinalg.yield %r : f64",
    )  # fmt: skip
    program = Program(function(f"%x: {tensor(4, 3)}, %s: {tensor(4)}", text, [f"%z: {tensor(4)}"]), (0, 1))
    check(program, [sample(rng, 4, 3), sample(rng, 4)], rng)


def test_argmax_beside_its_maximum(rng):
    text = full("%m", tensor(4), "%low") + "%ke = tensor.empty() : tensor<4xi64>\n" + """
%y, %k = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]
} ins(%x : tensor<4x5xf64>) outs(%m, %ke : tensor<4xf64>, tensor<4xi64>) {
^bb0(%a: f64, %o: f64, %n: i64):
  %j = linalg.index 1 : index
  %t = arith.index_cast %j : index to i64
  %p = arith.cmpf ogt, %a, %o : f64
  %r = arith.select %p, %a, %o : f64
  %s = arith.select %p, %t, %n : i64
  linalg.yield %r, %s : f64, i64
} -> (tensor<4xf64>, tensor<4xi64>)
"""  # fmt: skip
    program = Program(function("%x: tensor<4x5xf64>", text, ["%y: tensor<4xf64>", "%k: tensor<4xi64>"]))
    check(program, [sample(rng, 4, 5)], rng)


def test_stop_gradient(rng):
    text = '%s = "kern.stop_gradient"(%x) : (tensor<4xf64>) -> tensor<4xf64>\n'
    text += pointwise("%y", ["%x", "%s"], "%r = arith.mulf %a, %b : f64", tensor(4))

    def drop(module: ir.Module) -> None:
        for op in find(module.operation, lambda op: op.name == "kern.stop_gradient"):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()

    program = Program(function("%x: tensor<4xf64>", text, ["%y: tensor<4xf64>"]), change=drop)
    x = sample(rng, 4)
    gradient = check(program, [x], rng, differences=False)
    _, gradient = program.call("f.vjp", x, np.ones(4))
    np.testing.assert_array_equal(gradient, x)


def test_single_precision_sums_into_double(rng):
    text = full("%z", tensor(4)) + generic(
        "%y", ["%x: tensor<4x3xf32>"], f"%z: {tensor(4)}", "(i, j) -> (i, j), (i)", "pr",
        "%p = arith.extf %a : f32 to f64\n%q = math.sin %p : f64\n%r = arith.addf %o, %q : f64\nlinalg.yield %r : f64",
    )  # fmt: skip
    program = Program(function("%x: tensor<4x3xf32>", text, [f"%y: {tensor(4)}"]))
    x = sample(rng, 4, 3).astype(np.float32)
    _, gradient = program.call("f.vjp", x, np.ones(4))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, np.cos(x), rtol=1e-6)
