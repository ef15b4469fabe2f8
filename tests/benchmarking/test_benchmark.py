"""`pk.benchmark`: how often functions are called, whether their results agree, what it refuses, what it tells."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pykern as pk
from pykern.benchmarking.interleaved import wake
from pykern.benchmarking.kernels import saxpy


class Counted:
    """A function that counts its calls and keeps the arguments of the last."""

    def __init__(self, function=lambda *args: None):
        self.calls, self.function, self.seen = 0, function, ()

    def __call__(self, *args, **keywords):
        self.calls += 1
        self.seen = args
        return self.function(*args, **keywords)


def test_defaults_of_the_plain_form():
    counted = Counted()
    result = pk.benchmark(counted, ())
    assert counted.calls == 110
    assert len(result["Counted"]) == 100


@pytest.mark.parametrize(("warmup", "repeat", "calls"), [(0, 1, 1), (3, 7, 1), (2, 5, 4)])
def test_calls_are_counted(warmup, repeat, calls):
    counted = Counted()
    result = pk.benchmark(counted, (1, 2), warmup=warmup, repeat=repeat, calls=calls)
    assert counted.calls == warmup + repeat * calls
    assert counted.seen == (1, 2)
    assert len(result["Counted"]) == repeat


def test_comparing_is_the_first_call_to_warm_up():
    counts = {"a": Counted(lambda x: x + 1), "b": Counted(lambda x: 1 + x)}
    pk.benchmark(counts, (np.ones(4),), warmup=2, repeat=3)
    assert {name: one.calls for name, one in counts.items()} == {"a": 5, "b": 5}


def test_functions_take_turns():
    order = []
    functions = {name: lambda name=name: order.append(name) for name in "ab"}
    pk.benchmark(functions, (), warmup=1, repeat=3, check=False)
    assert order == ["a", "b"] * 4


def test_times_are_those_of_the_calls():
    result = pk.benchmark({"long": lambda: time.sleep(0.02), "short": lambda: time.sleep(0.005)}, (), 1, 5)
    assert 0.02 <= result.min <= result.p10 <= result.median <= result.p90
    assert 0.005 <= result["short"].min < 0.02, "the least of five: also a busy machine lets one through"
    assert result.speedups["short"] == result["long"].median / result["short"].median > 1
    assert result.speedups["long"] == 1
    assert (result.first, result.fastest, list(result)) == ("long", "short", ["long", "short"])


@pytest.mark.parametrize("inputs", [(2, 3), [2, 3], {"x": 2, "y": 3}])
def test_inputs_are_arguments(inputs):
    counted = Counted(lambda x, y: x - y)
    pk.benchmark(counted, inputs, 0, 1)
    assert counted.calls == 1


def test_an_array_alone_is_one_argument():
    counted = Counted()
    pk.benchmark(counted, np.arange(3), 0, 1)
    assert len(counted.seen) == 1


# -- agreement -----------------------------------------------------------------------------------


def test_a_kernel_beside_numpy(rng):
    x, y = rng.random(1000, np.float32), rng.random(1000, np.float32)
    z = np.zeros_like(x)
    result = pk.benchmark(
        {
            "pykern": lambda z, x, y: saxpy(z, x, y, 2.0, ndrange=1000),
            "numpy": lambda z, x, y: 2 * x + y,
        },
        (z, x, y), 1, 3, bytes=12_000, flops=2000,
    )  # fmt: skip
    assert result.checked
    np.testing.assert_allclose(z, 2 * x + y, rtol=1e-6)
    assert "GB/s" in str(result)


def test_a_launch_has_keywords(rng):
    x = rng.random(64, np.float32)
    z = np.zeros_like(x)
    pk.benchmark(saxpy, (z, x, x, 1.0), 1, 1, keywords={"ndrange": 64})
    np.testing.assert_allclose(z, 2 * x, rtol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda x: x * 1.01, "`wrong` differs from `right`: 1.01 is not 1.0"),
        (lambda x: np.where(np.arange(4) == 2, np.nan, x), r"nan is not 1.0 at \(2,\); 1 of 4"),
        (lambda x: x[:2], r"its shape is \(2,\), not \(4,\)"),
        (lambda x: (x, x), "2 results and `right` 1 result"),
    ],
)
def test_disagreement_is_found(wrong, said):
    with pytest.raises(pk.Disagreement, match=said):
        pk.benchmark({"right": lambda x: x * 1.0, "wrong": wrong}, (np.ones(4),), 1, 1)


def test_nothing_to_compare_with():
    with pytest.raises(pk.Disagreement, match="`b` gives no result and `a` 1 result"):
        pk.benchmark({"a": lambda: 1.0, "b": lambda: None}, (), 1, 1)


def test_disagreement_of_what_is_written():
    def first(x, out):
        out[:] = x

    def second(x, out):
        out[:] = x + 1

    with pytest.raises(AssertionError, match=r"1\.0 is not 0\.0"):
        pk.benchmark([first, second], (np.zeros(3), np.full(3, 9.0)), 1, 1)
    pk.benchmark([first, second], (np.zeros(3), np.full(3, 9.0)), 1, 1, check=False)


def test_who_writes_what_is_there_already_agrees_with_who_returns_it():
    x = np.ones(3)

    def into(x, out):
        out[:] = x

    assert pk.benchmark({"into": into, "returns": lambda x, out: x}, (x, x.copy()), 1, 1).checked


@pytest.mark.parametrize(
    ("off", "tolerance", "agrees"), [(1e-3, None, False), (1e-5, None, True), (1e-3, 1e-2, True)]
)
def test_tolerance(off, tolerance, agrees):
    x = np.ones(8, np.float32)
    functions = {"a": lambda x: x, "b": lambda x: x * np.float32(1 + off)}
    if agrees:
        pk.benchmark(functions, (x,), 1, 1, tolerance=tolerance)
        return
    with pytest.raises(pk.Disagreement):
        pk.benchmark(functions, (x,), 1, 1, tolerance=tolerance)


def test_integers_agree_exactly():
    big = np.array([2**60], np.int64)
    with pytest.raises(pk.Disagreement):
        pk.benchmark({"a": lambda x: x, "b": lambda x: x + 1}, (big,), 1, 1)


def test_in_place_functions_are_compared_on_copies():
    x = np.ones(4)

    def double(x):
        x *= 2

    pk.benchmark({"a": double, "b": lambda x: x * 2}, (x,), warmup=1, repeat=2)
    np.testing.assert_array_equal(x, 4.0)  # two timed calls of `a`; the compared one had a copy


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: pk.benchmark(len), TypeError, "the inputs are missing"),
        (lambda: pk.benchmark("len", ()), TypeError, "is a str, not a function"),
        (lambda: pk.benchmark({}, ()), TypeError, "no function"),
        (lambda: pk.benchmark({"a": 3}, ()), TypeError, "`a` is a int, not a function"),
        (lambda: pk.benchmark(len, ([],), repeat=0), ValueError, "repeat=0"),
        (lambda: pk.benchmark(len, ([],), warmup=-1), ValueError, "warmup=-1"),
        (lambda: pk.benchmark(len, ([],), repeat=2.5), ValueError, "repeat=2.5"),
        (lambda: pk.benchmark(len, ([],), calls=0), ValueError, "calls=0"),
        (lambda: pk.benchmark(len, ([],), tolerance=-1.0), ValueError, "tolerance"),
        (lambda: pk.benchmark(x="n", values=[1]), TypeError, "x, values and lines"),
        (lambda: pk.benchmark(x="n", values=[], lines={"a": len}), ValueError, "values is empty"),
        (lambda: pk.benchmark(x="n", values=[1], lines={"a": "gone"}), ValueError, "no line has a function"),
        (lambda: pk.benchmark(x="n", values=[1], lines={"a": 3}), TypeError, "line `a` is a int"),
        (lambda: pk.benchmark(x="n", values=[1], lines={"a": len}, metric="MB"), ValueError, "metric='MB'"),
        (
            lambda: pk.benchmark(x="n", values=[1], lines={"a": len}, metric="GFLOP/s"),
            ValueError,
            "without flops",
        ),
    ],
)
def test_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()


# -- what it tells -------------------------------------------------------------------------------


def test_text_and_notebook():
    result = pk.benchmark({"<a>": lambda: None, "b": lambda: None}, (), 1, 3)
    text, page = str(result), result._repr_html_()
    assert "3 rounds after 1 calls to warm up" in text
    assert all(word in text for word in ("median", "p10", "p90", "<a>"))
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    assert result.as_json()["lines"]["b"]["n"] == 3


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
def test_events_take_the_time_of_arrays_on_devices(device):
    x = pk.ones(1 << 12, pk.f32, device=device)
    z = pk.zeros(1 << 12, pk.f32, device=device)
    functions = {
        "kernel": lambda z, x: saxpy(z, x, x, 2.0, ndrange=1 << 12),
        "copy": lambda z, x: pk.copyto(z, 3.0),
    }
    result = pk.benchmark(functions, (z, x), warmup=2, repeat=3, cold=True)
    assert result.clock == f"events of {device}"
    assert result.checked
    assert 0 < result.min < 10
    np.testing.assert_allclose(z.numpy(), 3.0)
    with pytest.raises(pk.Disagreement):
        pk.benchmark({**functions, "copy": lambda z, x: pk.copyto(z, 4.0)}, (z, x), 1, 1)


class Begun:
    """As JAX's arrays: there before the work is done."""

    def __init__(self, waited: list[int]) -> None:
        self.waited = waited

    def block_until_ready(self) -> None:
        self.waited.append(1)


def test_calls_before_a_turn_are_waited_for():
    """Else a round of JAX's would hold all that the calls before it began: it looked thirty times slower."""
    waited: list[int] = []
    begun = 0

    def function() -> Begun:
        nonlocal begun
        begun += 1
        return Begun(waited)

    wake(function, 0.001)
    assert begun == len(waited) > 0
