"""What a kernel calls and captures: functions, closures, globals, statics, tuples and structs."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import pytest

import pykern as pk
from tests.cases.narrow import narrowed, tolerance

SCALE = 3
OFFSETS = (4, -1, 10)
HALF = np.float32(0.5)


@pk.func
def twice(x):
    return 2 * x


@pk.func
def affine(x, a=SCALE, *, b=1):
    return a * twice(x) + b


@pk.func
def smaller_larger(a, b):
    if a < b:
        return a, b
    return b, a


@pk.func
def nested(i):
    low, high = smaller_larger(affine(i, b=2), 20 - i)
    return (low, (high, low + high)), i


@pk.kernel
def calls(out):
    i = pk.index()
    out[0, i] = affine(i)
    out[1, i] = affine(i, 5)
    out[2, i] = affine(b=i, x=2, a=i)
    (low, (high, total)), same = nested(i)
    out[3, i] = low * 10000 + high * 100 + total + same
    pair = smaller_larger(i, 4)
    out[4, i] = affine(*pair) + pair[-1] + len(pair)


def test_calls(device):
    out = np.zeros((5, 9), np.int64)
    calls(out, ndrange=9, device=device)
    for i in range(9):
        (low, (high, total)), same = nested(i)
        pair = smaller_larger(i, 4)
        wanted = [affine(i), affine(i, 5), affine(2, i, b=i), low * 10000 + high * 100 + total + same]
        assert out[:, i].tolist() == [*wanted, affine(*pair) + pair[-1] + 2]


@pk.kernel
def stores_by_a_function(out, x):
    put(out, pk.index(), x)


@pk.func
def put(out, i, x):
    if i % 2 == 0:
        out[i] = x[i]
        return
    out[i] = -x[i]


def test_a_function_writes_arrays(device, rng):
    x, out = narrowed([rng.random(11), np.zeros(11)], device)
    stores_by_a_function(out, x, ndrange=11, device=device)
    np.testing.assert_array_equal(out, np.where(np.arange(11) % 2 == 0, x, -x))


def made(power: int, weights: tuple[float, ...], function):
    @pk.kernel
    def run(out, x):
        i = pk.index()
        s = 0.0
        for k in pk.unroll(range(len(weights))):
            s += weights[k] * function(x[i]) ** power
        out[i] = s * HALF + OFFSETS[2] * math.pi

    return run


@pytest.mark.parametrize(("power", "weights"), [(1, (1.5,)), (2, (0.25, 3.0, -1.0))])
def test_closures_and_globals(power, weights, device, rng):
    x, out = narrowed([rng.random(8), np.zeros(8)], device)
    made(power, weights, twice)(out, x, ndrange=8, device=device)
    wanted = sum(w * (2 * x) ** power for w in weights) * 0.5 + 10 * math.pi
    np.testing.assert_allclose(out, wanted, rtol=tolerance(device, 1e-14, 1e-6))


def test_a_closure_of_another_value_is_another_kernel(device):
    def adder(k):
        @pk.kernel
        def run(out):
            out[pk.index()] = k

        return run

    outs = [np.zeros(2, np.int64) for _ in range(3)]
    for k, out in enumerate(outs):
        adder(k * 7)(out, ndrange=2, device=device)
    assert [o[0] for o in outs] == [0, 7, 14]


def test_a_global_that_changes(device, monkeypatch):
    out = np.zeros(1, np.int64)
    uses_scale(out, ndrange=1, device=device)
    assert out[0] == 3
    monkeypatch.setitem(globals(), "SCALE", 8)
    uses_scale(out, ndrange=1, device=device)
    assert out[0] == 8


@pk.kernel
def uses_scale(out):
    out[pk.index()] = SCALE


@pk.kernel
def statics(out, x, taps: pk.static, way: pk.static, shift: pk.static = 1):
    i = pk.index()
    s = x[i] * 0
    for k in pk.unroll(range(len(taps))):
        s += taps[k] * x[(i + k * shift) % len(x)]
    if way == "negate":
        s = -s
    out[i] = s


@pytest.mark.parametrize("taps", [(2,), (1, -2, 1), (0.5, 0.25)])
@pytest.mark.parametrize("way", ["keep", "negate"])
@pytest.mark.parametrize("shift", [1, 2])
def test_statics(taps, way, shift, device, rng):
    x, out = narrowed([rng.integers(-8, 8, 10).astype(np.float64), np.zeros(10)], device)
    statics(out, x, taps, way, shift=shift, ndrange=10, device=device)
    sign = -1 if way == "negate" else 1
    np.testing.assert_array_equal(out, sign * sum(t * np.roll(x, -k * shift) for k, t in enumerate(taps)))


@pk.kernel
def halves(out, x, dtype: pk.static):
    i = pk.index()
    kept = pk.private(2, dtype)
    kept[0] = x[i]
    kept[1] = dtype(3)
    out[i] = kept[0] // kept[1] if dtype == pk.i32 else kept[0] / kept[1]


@pytest.mark.parametrize("dtype", [pk.i32, np.int32, pk.f32, np.dtype("f4")], ids=str)
def test_types_are_static_values(dtype, device, rng):
    x, out = narrowed([rng.integers(-20, 20, 10).astype(np.float64), np.zeros(10)], device)
    halves(out, x, dtype, ndrange=10, device=device)
    is_whole = dtype in (pk.i32, np.int32)
    expected = x.astype(np.int32) // 3 if is_whole else x.astype(np.float32) / np.float32(3)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


class Point(NamedTuple):
    x: float
    y: int


@dataclasses.dataclass
class Box:
    low: Point
    high: Point
    scale: np.float32


@pk.func
def inside(point, box):
    return box.low.x <= point.x < box.high.x and box.low.y <= point.y < box.high.y


@pk.kernel
def structs(out, xs, ys, box, pair):
    i = pk.index()
    point = Point(xs[i], ys[i])
    moved = Point(y=point.y + pair[1], x=point.x * box.scale + pair[0])
    out[i] = inside(point, box) + 2 * inside(moved, box)


def test_structs_and_tuples_as_arguments(device, rng):
    xs, ys = rng.random(40) * 4, rng.integers(0, 9, 40)
    box, pair = Box(Point(1.0, 2), Point(3.0, 7), np.float32(0.5)), (0.25, -1)
    out = np.zeros(40, np.int64)
    structs(out, xs, ys, box, pair, ndrange=40, device=device)

    def within(x, y):
        return (x >= 1) & (x < 3) & (y >= 2) & (y < 7)

    np.testing.assert_array_equal(out, within(xs, ys) + 2 * within(xs * 0.5 + 0.25, ys - 1))


@pk.kernel
def tuples(out, n):
    i = pk.index()
    a = (i, n) + (3,)
    b, (c, d) = a[0], a[1:]
    s = 0
    for item in a:
        s += item * item
    if i % 2:
        pair = (b, c)
    else:
        pair = (c, d)
    for _ in range(3):
        pair = (pair[1], pair[0] + pair[1])
    out[i] = s * 1000 + pair[0] * 10 + pair[1] + a[-1]


def test_tuples_flow_through_branches_and_loops(device):
    out = np.zeros(7, np.int64)
    tuples(out, 5, ndrange=7, device=device)
    for i in range(7):
        pair = (i, 5) if i % 2 else (5, 3)
        for _ in range(3):
            pair = (pair[1], pair[0] + pair[1])
        assert out[i] == (i * i + 25 + 9) * 1000 + pair[0] * 10 + pair[1] + 3


@pk.func
def mark(x, i):
    x[i] = 7
    return 1


@pk.kernel
def mark_if_negative(y, x, c):
    i = pk.index()
    y[i] = 1 if c[i] >= 0 else mark(x, i)


def test_a_helper_that_stores_runs_on_its_side_though_both_sides_give_one_constant(device):
    x, y, c = narrowed([np.zeros(5), np.zeros(5), np.array([-1, 1, -2, 0, 3])], device)
    mark_if_negative(y, x, c, ndrange=5, device=device).wait()
    np.testing.assert_array_equal(x, [7, 0, 7, 0, 0])
    np.testing.assert_array_equal(y, np.ones(5))


def test_an_indented_kernel_with_text_at_the_margin():
    @pk.kernel
    def count(x: pk.Out[pk.f64[:]]):
        """A docstring
        with a line that is less indented than the kernel."""
        x[pk.index()] = pk.index()

    x = np.zeros(3)
    count(x, ndrange=3)
    np.testing.assert_array_equal(x, [0, 1, 2])
    with pytest.raises(pk.KernelError) as caught:
        count(1.5, ndrange=3)
    span = caught.value.span
    assert span.line == count.__wrapped__.__code__.co_firstlineno + 1
    assert span.text[span.column : span.end_column].startswith("x: pk.Out")
