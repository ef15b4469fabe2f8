"""NumPy's functions of each element in kernels: of numbers and of rows, beside NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.cases.row_kernels import of_lines

FLOATS = np.array([0.0, -0.0, 1.5, -2.5, np.nan, np.inf, -np.inf, 0.25, 30.0, -1.0, 2.0, 700.0])
ONE = [
    "negative",
    "positive",
    "reciprocal",
    "logical_not",
    "sinc",
    "isposinf",
    "isneginf",
    "fix",
    "nan_to_num",
]
TWO = ["heaviside", "logaddexp", "logaddexp2", "isclose"]
LINES = [
    *(f"np.{name}({{x}})" for name in ONE), *(f"np.{name}({{x}}, {{y}})" for name in TWO),
    "np.isclose({x}, {y}, rtol=0.5, equal_nan=True)", "np.nan_to_num({x}, nan=3, posinf=2.0)", "np.isclose({x}, 1)",
]  # fmt: skip
INTEGERS = [
    "np.negative({x})", "np.positive({x})", "np.invert({x})", "np.lcm({x}, {y})", "np.logical_not({x})", "np.sinc({x})",
    "np.heaviside({x}, {y})", "np.logaddexp({x}, {y})", "np.isclose({x}, {y})", "np.nan_to_num({x})",
    "np.linalg.norm([{x}, {y}])",
]  # fmt: skip


def check(lines, x, y, device, tmp_path, rtol):
    numbers = "\n".join(f"o[i, {n}] = {line.format(x='x[i]', y='y[i]')}" for n, line in enumerate(lines))
    o = np.zeros((len(x), len(lines)))
    numbers = numbers.replace("norm([x[i], y[i]])", "norm(np.array([x[i], y[i]]))")
    of_lines(numbers, tmp_path, "o, x, y")(o, x, y, ndrange=len(x), device=device)
    with np.errstate(all="ignore"):
        space = {"np": np, "x": x, "y": y}
        wanted = [
            [eval(line.format(x=f"x[{i}]", y=f"y[{i}]"), space) for line in lines] for i in range(len(x))
        ]
    np.testing.assert_allclose(o, np.array(wanted, float), rtol, err_msg=str(lines))


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_floats(dtype, device, tmp_path):
    x = FLOATS.astype(dtype)
    check(LINES, x, np.roll(x, 5), device, tmp_path, {2: 2e-3, 4: 2e-6, 8: 1e-13}[x.itemsize])


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.int64])
def test_integers(dtype, device, tmp_path):
    x = np.array([0, 1, 2, 3, 5, 100, 9, 12, 65, 7], dtype)
    x = x if np.iinfo(dtype).min == 0 else np.where(np.arange(10) % 3 == 1, -x, x).astype(dtype) * 500
    lines = [
        line for line in INTEGERS if dtype != np.uint8 or not any(n in line for n in ("log", "heav", "norm"))
    ]
    check(lines, x, np.roll(x, 3), device, tmp_path, 1e-12)


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_rows(rng, device, tmp_path):
    x, y = rng.integers(-4, 5, (3, 7)) / 2.0, rng.integers(-4, 5, (3, 7)) / 2.0
    text = (
        "o[i] = np.logaddexp(x[i], y[i]) + np.sinc(x[i]) + np.heaviside(y[i], 0.5) - np.isclose(x[i], y[i])"
    )
    o = np.zeros((3, 7))
    of_lines(text, tmp_path, "o, x, y")(o, x, y, ndrange=3, device=device)
    np.testing.assert_allclose(
        o, np.logaddexp(x, y) + np.sinc(x) + np.heaviside(y, 0.5) - np.isclose(x, y), 1e-12
    )


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_pow_of_math_gives_floats(device, tmp_path):
    x = np.array([-70000, 3, 0, 46341], np.int32)
    o = np.zeros((4, 2))
    text = "o[i, 0] = math.pow(x[i], 2)\no[i, 1] = math.pow(2, i - 1)"
    of_lines(text, tmp_path, "o, x", {"math": math})(o, x, ndrange=4, device=device)
    np.testing.assert_array_equal(o, [[math.pow(int(v), 2), math.pow(2, i - 1)] for i, v in enumerate(x)])


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_floats_that_integers_do_not_hold_are_brought_to_their_ends(device, tmp_path):
    o = np.zeros((3, 2))
    of_lines("o[i, 0] = np.int8(x[i])\no[i, 1] = np.uint8(x[i])", tmp_path, "o, x")(
        o, np.array([-300.5, np.nan, 300.5]), ndrange=3, device=device
    )
    np.testing.assert_array_equal(o, [[-128, 0], [0, 0], [127, 255]])
