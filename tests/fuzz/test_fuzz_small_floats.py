"""Random expressions over f16, bf16 and what they meet, bit for bit against NumPy with ml_dtypes, rounded at each step.

Each operation on 16 bits is that in f32, rounded to 16 bits: the correctly rounded one (f32 has more than twice the
bits). A product is never a term of a sum here, for ``a * b + c`` may be contracted; of bf16 it is none the less, where
nothing contracts it: on the CPU.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.data.promotion import promote
from pykern.types import DType, bf16, f16, f32, i32, weak_float, weak_int
from tests.cases.seeds import seeds
from tests.cases.texts import defined

LEAVES = {"x": bf16, "y": bf16, "g": f16, "h": f16, "w": f32, "n": i32}
CONSTANTS = [("0.3", 0.3, weak_float), ("-1.7", -1.7, weak_float), ("3", 3, weak_int)]
N = 257


class Expression:
    """A text, and what NumPy makes of it step by step, with its type."""

    def __init__(self, text: str, value: Any, dtype: DType, product: bool = False) -> None:
        self.text, self.value, self.dtype, self.product = text, value, dtype, product


def converted(value: Any, dtype: DType) -> np.ndarray:
    """In the type, by one rounding."""
    array = np.asarray(value)
    if dtype == bf16 and array.dtype.kind in "iu":
        array = array.astype(np.float32)  # they are small: exact
    return array.astype(dtype.numpy)


class Maker:
    """Random expressions over arrays."""

    def __init__(self, rng: np.random.Generator, arrays: dict[str, np.ndarray], mixed: bool) -> None:
        self.rng, self.arrays = rng, arrays
        chosen = rng.choice(["xy", "gh"])
        self.leaves = list(LEAVES) if mixed else list(chosen)

    def leaf(self) -> Expression:
        name = str(self.rng.choice(self.leaves))
        return Expression(f"{name}[i]", self.arrays[name], LEAVES[name])

    def operand(self, depth: int) -> Expression:
        return self.made(depth - 1) if depth > 1 and self.rng.random() < 0.7 else self.leaf()

    def made(self, depth: int) -> Expression:
        kind = self.rng.choice(
            ["binary", "binary", "binary", "constant", "unary", "extremum", "where", "cast"]
        )
        a = self.operand(depth)
        if kind == "unary":
            return self.unary(a)
        if kind == "cast":
            target = (bf16, f16, f32)[self.rng.integers(3)]
            return Expression(f"pk.{target.name}({a.text})", converted(a.value, target), target)
        if kind == "constant":
            text, value, dtype = CONSTANTS[self.rng.integers(len(CONSTANTS))]
            b = Expression(text, value, dtype)
        else:
            b = self.operand(depth)
        if kind == "extremum":
            name = str(self.rng.choice(["minimum", "maximum"]))
            dtype, left, right = self.common(a, b)
            return Expression(f"pk.{name}({a.text}, {b.text})", getattr(np, name)(left, right), dtype)
        if kind == "where":
            dtype, left, right = self.common(a, b)
            chosen = np.where(self.arrays["w"] > 0, left.astype(np.float64), right.astype(np.float64))
            return Expression(f"pk.where(w[i] > 0, {a.text}, {b.text})", chosen.astype(dtype.numpy), dtype)
        return self.binary(a, b)

    def unary(self, a: Expression) -> Expression:
        if self.rng.random() < 0.5:
            return Expression(f"(-{a.text})", (-a.value).astype(a.dtype.numpy), a.dtype)
        return Expression(f"abs({a.text})", np.abs(a.value).astype(a.dtype.numpy), a.dtype)

    def binary(self, a: Expression, b: Expression) -> Expression:
        op = str(self.rng.choice(["+", "-", "*", "/"]))
        dtype, left, right = self.common(a, b)
        if dtype == i32:
            return a
        if op in "+-" and (a.product or b.product) and dtype != bf16:
            op = "/"
        wide = (left.astype(np.float32), right.astype(np.float32)) if dtype.bits == 16 else (left, right)
        function = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[op]
        value = function(*wide).astype(dtype.numpy)
        return Expression(f"({a.text} {op} {b.text})", value, dtype, op == "*" and dtype != bf16)

    def common(self, a: Expression, b: Expression) -> tuple[DType, np.ndarray, np.ndarray]:
        dtype = promote(a.dtype, b.dtype)
        return dtype, converted(a.value, dtype), np.broadcast_to(converted(b.value, dtype), (N,))


FORMS = {
    "plain": "o[i] = {e}",
    "carried": "t = {e}\n    for k in range(3):\n        t = (t + {e}) * t\n    o[i] = t",
    "in place": "o[i] = {e}\n    o[i] += {e}\n    o[i] *= o[i]",
    "private": "m = pk.private(2, o.dtype)\n    m[0] = {e}\n    m[1] = m[0] - {e} / 2\n    o[i] = m[1]",
    "through a name": "t = {e}\n    s = t + t\n    if s > 1:\n        s = s - t / 3\n    o[i] = s",
}


def of_form(form: str, e: np.ndarray, dtype: DType) -> np.ndarray:
    """What a form makes of the value of its expression."""

    def rounded(value: Any) -> np.ndarray:
        return np.asarray(value).astype(dtype.numpy)

    def wide(value: np.ndarray) -> np.ndarray:
        return value.astype(np.float32)

    w = wide(e)
    if form == "carried":
        t = e
        for _ in range(3):
            t = rounded(wide(rounded(wide(t) + w)) * wide(t))
        return t
    if form == "in place":
        o = rounded(w + w)
        return rounded(wide(o) * wide(o))
    if form == "private":
        return rounded(w - wide(rounded(w / np.float32(2))))
    if form == "through a name":
        s = rounded(w + w)
        less = rounded(wide(s) - wide(rounded(w / np.float32(3))))
        return np.where(wide(s) > 1, wide(less), wide(s)).astype(dtype.numpy)
    return e


def arrays_of(rng: np.random.Generator) -> dict[str, np.ndarray]:
    made: dict[str, np.ndarray] = {}
    for name, dtype in LEAVES.items():
        if dtype == i32:
            made[name] = rng.integers(-200, 200, N).astype(np.int32)
            continue
        values = rng.uniform(-300, 300, N) * rng.choice([1.0, 1e-3, 30.0], N)
        values[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
        made[name] = rng.permutation(values).astype(np.float32).astype(dtype.numpy)
    return made


def kernel_of(text: str, file: str) -> Any:
    space = defined(text, file, {"pk": pk})
    return pk.kernel(space["run"])


@pytest.mark.parametrize(
    "device", ["cpu", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)
@pytest.mark.parametrize("seed", seeds(3))
def test_each_operation_rounds(seed, device):
    rng = np.random.default_rng(seed)
    for number in range(6 if device == "cpu" else 3):
        arrays = arrays_of(rng)
        with np.errstate(all="ignore"):
            made = Maker(rng, arrays, mixed=number % 2 == 1).made(4)
            form = str(rng.choice(list(FORMS))) if made.dtype.bits == 16 and not made.product else "plain"
            wanted = of_form(form, made.value, made.dtype)
        parameters = ", ".join(LEAVES)
        text = f"def run(o, {parameters}):\n    i = pk.index()\n    {FORMS[form].format(e=made.text)}\n"
        kernel = kernel_of(text, f"<small floats {seed}.{number}>")
        out = np.zeros(N, made.dtype.numpy)
        kernel(out, *arrays.values(), ndrange=N, device=device)
        same(out, wanted, text)


def same(found: np.ndarray, wanted: np.ndarray, text: str) -> None:
    a, b = found.astype(np.float32), np.asarray(wanted).astype(np.float32)
    np.testing.assert_array_equal(a, b, err_msg=text)
    if "imum" in text:  # of two zeros NumPy takes the first or the second
        return
    np.testing.assert_array_equal(np.signbit(a[b == 0]), np.signbit(b[b == 0]), err_msg=text)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("seed", seeds(1))
def test_array_programs_round_each_operation(seed, dtype):
    @pk.jit
    def program(x, y):
        return (x + y) * y, abs(x - y) / y, (x * y) / 3, np.maximum(x - y, x / y) - y

    rng = np.random.default_rng(seed)
    x, y = (rng.uniform(-300, 300, N).astype(dtype) for _ in range(2))

    def r(value):
        return value.astype(dtype).astype(np.float32)

    a, b = x.astype(np.float32), y.astype(np.float32)
    with np.errstate(all="ignore"):
        wanted = (
            r(a + b) * b,
            np.abs(r(a - b)) / b,
            r(a * b) / np.float32(3),
            np.maximum(r(a - b), r(a / b)) - b,
        )
        wanted = [value.astype(dtype) for value in wanted]
    for found, value in zip(program(x, y), wanted, strict=True):
        assert found.dtype == dtype
        same(found, value, "program")


@pytest.mark.parametrize(
    "device", ["cpu", "opencl:0", "vulkan:0", "webgpu:0", "metal:emulated:0"], indirect=True
)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_a_sum_is_rounded_before_it_is_multiplied(dtype, device):
    @pk.kernel
    def kernel(o, x, y):
        i = pk.index()
        o[i] = (x[i] + y[i]) * y[i]

    x, y = np.array([184, 1025, 3.14], dtype), np.array([-49.5, 1.25, 100], dtype)
    out = np.zeros(3, dtype)
    kernel(out, x, y, ndrange=3, device=device)
    same(out, (x + y) * y, "kernel")
