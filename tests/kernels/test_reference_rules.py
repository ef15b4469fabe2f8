"""The device `python` computes what compiled kernels do: at the limits of types, with zeros, NaN and infinities."""

from __future__ import annotations

import math
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from tests.cases.texts import defined

INTEGERS = {
    t: np.array([np.iinfo(t).min, np.iinfo(t).max, 0, 1, 2, 7, 100], t)
    for t in ("i1", "i2", "i4", "i8", "u1", "u4", "u8")
}
FLOATS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5, -7.25, 1e30, 3e9])
DEVICES = pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0"], indirect=True)


def kernel_of(expression: str, **options: Any) -> Any:
    file, text = f"<rule {expression}>", f"def run(o, x, a):\n    i = pk.index()\n    o[i] = {expression}\n"
    space = defined(text, file, {"pk": pk, "math": math, "np": np})
    return pk.kernel(space["run"], **options)


def agree(expression: str, x: np.ndarray, a: Any, out: np.ndarray, device: str) -> None:
    kernel, found, wanted = kernel_of(expression), out.copy(), out.copy()
    kernel(found, x, a, ndrange=len(x), device=device)
    kernel(wanted, x, a, ndrange=len(x), device="python")
    np.testing.assert_array_equal(found, wanted, err_msg=f"{expression} with {x.dtype} and {a!r}")
    if out.dtype.kind == "f" and not re.search("m(ax|in)", expression):  # which take either of two zeros
        number = ~np.isnan(found)
        np.testing.assert_array_equal(
            np.signbit(found[number]), np.signbit(wanted[number]), err_msg=expression
        )


@DEVICES
@pytest.mark.parametrize("op", ["+", "-", "*", "//", "%", "<<", ">>"])
def test_integers(op, device):
    for dtype in ("i1", "i4", "u1", "i8") if device == "cpu" else ("i4", "u1"):
        x = INTEGERS[dtype]
        for a in (0, 3, -1, 300, 8, 64, -5):
            agree(f"x[i] {op} a", x, a, np.zeros_like(x), device)
            agree(f"a {op} x[i]", x, a, np.zeros_like(x), device)
        agree(f"i {op} a", x, 0, np.zeros(7, np.int64), device)
        agree(f"(i - 3) {op} (i - 4)", x, 0, np.zeros(7, np.int64), device)


FUNCTIONS = [
    "round(x[i])", "max(0.0, x[i])", "min(x[i], 0.0)", "max(x[i], a)", "abs(x[i])", "int(x[i])", "pk.i8(x[i])",
    "math.floor(x[i])", "math.ceil(x[i])", "math.trunc(x[i])", "math.sqrt(x[i])", "math.fmod(x[i], a)", "1 / x[i]",
    "~(x[i] > 0)", "~(i > 3)", "i ** -1", "(i - 3) ** -2",
    "x[i] // a", "int(x[i]) // int(x[i] * 0)", "int(x[i]) % (i - i)",
    "(i < 2) + (i < 3)", "divmod(int(x[i]), i)[0]", "pk.cdiv(int(x[i]), i)", "np.maximum(x[i], a)", "round(a * x[i])",
]  # fmt: skip


@DEVICES
@pytest.mark.parametrize("expression", FUNCTIONS)
def test_functions_of_floats(expression, device):
    for dtype in (np.float64, np.float32):
        for a in (2.5, -1.0) if device == "cpu" else (2.5,):
            agree(expression, FLOATS.astype(dtype), a, np.zeros(len(FLOATS)), device)


@DEVICES
@pytest.mark.parametrize("expression", ["x[i] / 0", "float(x[i]) / float(x[i] * 0)"])
def test_floats_divided_by_zero(expression, device):
    for dtype in (np.float64, np.float32):
        agree(expression, FLOATS.astype(dtype), 0, np.zeros(len(FLOATS)), device)


@DEVICES
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize(
    "expression", ["x[i] * 0.3", "x[i] + a", "x[i] / 3", "x[i] - 1.7 / x[i]", "x[i] ** 2"]
)
def test_a_python_float_is_weak_beside_16_bits(expression, dtype, device):
    x = np.array([1, 2, 3.14, 100, 184, 0.1, 7], dtype)
    agree(expression, x, 0.7, np.zeros(7, np.float32), device)


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0", "python"], indirect=True)
def test_a_python_integer_that_only_u64_holds(device):
    kernel = kernel_of("x[i] + a")
    x, out = np.array([0, 1, 5], np.uint64), np.zeros(3, np.uint64)
    for _ in range(3):
        kernel(out, x, 7, ndrange=3, device=device)
        np.testing.assert_array_equal(out, x + np.uint64(7))
        kernel(out, x, 2**63, ndrange=3, device=device)
        np.testing.assert_array_equal(out, x + np.uint64(2**63))
    with pytest.raises(pk.LaunchError, match="64 bits"):
        kernel(out, x, 2**64, ndrange=3, device=device)


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0", "python"], indirect=True)
@pytest.mark.parametrize(
    "expression", ["x[i] // a", "x[i] % a", "divmod(x[i], a)[1]", "pk.cdiv(x[i], a)", "i // a"]
)
def test_debug_tells_of_a_division_by_zero(expression, device):
    kernel, x, out = kernel_of(expression, debug=True), np.arange(1, 4), np.zeros(3, np.int64)
    kernel(out, x, 2, ndrange=3, device=device)
    with pytest.raises(pk.errors.AssertionFailed, match="divided by zero") as caught:
        kernel(out, x, 0, ndrange=3, device=device)
    assert caught.value.span.line == 3


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_arrays_that_overlap_in_part_are_refused(device):
    kernel = kernel_of("x[i] + a")
    memory = np.arange(8.0)
    with pytest.raises(pk.LaunchError, match="overlap in part"):
        kernel(memory[1:], memory[:-1], 1.0, ndrange=7, device=device)
    np.testing.assert_array_equal(memory, np.arange(8.0))
    kernel(memory, memory, 1.0, ndrange=8, device=device)
    np.testing.assert_array_equal(memory, np.arange(8.0) + 1)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_a_constant_that_does_not_fit_is_refused(device):
    with pytest.raises(pk.KernelTypeError, match="does not fit i8"):
        kernel_of("x[i] + 300")(np.zeros(3), np.ones(3, np.int8), 0, ndrange=3, device=device)


@pytest.mark.parametrize("kind", ["pk.f32", "pk.f16", "pk.i8", "int", "float", "bool", "np.float32"])
def test_annotated_names_have_that_type(kind):
    file, text = (
        f"<rule {kind}>",
        f"def run(o, x):\n    i = pk.index()\n    t: {kind} = x[i]\n    o[i] = t * 3\n",
    )
    kernel = pk.kernel(defined(text, file, {"pk": pk, "np": np})["run"])
    x, outs = np.array([0.1, -7.3, 2.5]), np.zeros((2, 3))
    for out, device in zip(outs, ("cpu", "python"), strict=True):
        kernel(out, x, ndrange=3, device=device)
    np.testing.assert_array_equal(outs[0], outs[1])


def test_errors_stand_in_the_file_of_the_kernel():
    """Where two files have the same kernel on the same line."""
    text = "def run(x):\n    i = pk.index()\n    x[i + int(x[i])] = 0\n"
    for file in ("<first file>", "<second file>"):
        with pytest.raises(pk.OutOfBounds) as caught:
            pk.kernel(defined(text, file, {"pk": pk})["run"])(np.full(3, 7.0), ndrange=3, device="python")
        assert caught.value.span is not None and caught.value.span.file == file


@DEVICES
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("op", ["//", "%"])
def test_short_floats_are_divided_as_numpy_does(op, dtype, device):
    """Rounded once: 30000 // -7 is -4286, which lies between two f16."""
    random = np.random.default_rng(3)
    x = np.concatenate((random.standard_normal(200) * 100, [30000, -30000, 0.1])).astype(dtype)
    a = np.where(random.random(len(x)) < 0.5, -7, random.standard_normal(len(x))).astype(dtype)
    kernel = kernel_of(f"x[i] {op} a[i]")
    found = np.zeros_like(x)
    kernel(found, x, a, ndrange=len(x), device=device)
    with np.errstate(over="ignore"):
        expected = x // a if op == "//" else x % a
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


def test_names_and_functions_are_the_users():
    factor = 3

    @pk.func
    def halved(v, by=2):
        return v // by

    @pk.kernel
    def kernel(o, x):
        i = pk.index()
        o[i] += halved(x[i] * factor) + int(1 < 2 < x[i])
        t = o[i]
        t -= 1
        o[i] = t

    x, out = np.arange(5), np.zeros(5, np.int64)
    kernel(out, x, ndrange=5, device="python")
    np.testing.assert_array_equal(out, x * 3 // 2 + (x > 2) - 1)
