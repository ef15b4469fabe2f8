"""`pk.vjp` keeps what its pullback reads: no more, and nothing that anybody else can change."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.data.program_source import ProgramDerivative

over_devices = pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0"], indirect=True)


def put(a: np.ndarray, device: str) -> Any:
    return a.copy() if device == "cpu" else pk.asarray(a, device=device)


def host(a: Any) -> np.ndarray:
    return a.numpy() if isinstance(a, pk.Array) else np.asarray(a)


@pk.jit
def squared_twice(x):
    x *= x
    return (x * x).sum()


@over_devices
def test_updated_in_place(device: str) -> None:
    x = put(np.array([2.0, 3.0]), device)
    value, pull = pk.vjp(squared_twice, x)
    assert float(value) == 97.0
    np.testing.assert_array_equal(host(x), [4.0, 9.0])  # as a call leaves it
    for cotangent in (1.0, 2.0, 1.0):
        np.testing.assert_allclose(host(pull(cotangent)[0]), cotangent * np.array([32.0, 108.0]))


@pk.jit
def layers(w, x):
    h = pk.tanh(x @ w)
    for _ in pk.range(3):
        h = h - 0.1 * pk.sin(h)
    return h, (h * x).sum(axis=1)


@over_devices
def test_overwritten_by_the_caller(device: str) -> None:
    rng = np.random.default_rng(0)
    w, x = rng.random((5, 5)), rng.random((4, 5))
    c = rng.random((4, 5)), rng.random(4)
    wanted = pk.vjp(layers, w, x)[1](c)
    there = [put(a, device) for a in (w, x)]
    value, pull = pk.vjp(layers, *there)
    for array in (*there, *value):
        array[...] = np.nan
    for _ in range(2):
        for found, other in zip(pull(tuple(put(a, device) for a in c)), wanted, strict=True):
            np.testing.assert_allclose(host(found), other, rtol=1e-12)


def test_freed_with_the_pullback() -> None:
    x = np.ones(1000)
    kept = weakref.ref(x)
    _, pull = pk.vjp(squared_twice, x)
    del x
    gc.collect()
    assert kept() is None, "the argument is not held"
    np.testing.assert_allclose(pull(1.0)[0], np.full(1000, 4.0))


def residuals(f: Any, *args: Any, checkpoint: str = "all") -> list[tuple[int, ...]]:
    """The shapes of what is kept."""
    active = tuple(n for n, a in enumerate(args) if not isinstance(a, int))
    forward = f.derived(ProgramDerivative("residuals", active, checkpoint), (), "vjp")
    return sorted(a.shape for a in forward(*args)[1])


def linear(x, y):
    return 3.0 * x[1:] - x[:-1] + y[0]


def quotient(x, y):
    return x / y


def loop(x, y):
    for _ in pk.range(12):
        x = pk.cos(x * x)
    return x + y


def counted(x, n):
    for _ in pk.range(n):
        x = 0.9 * x
    return x


def row_sums(x, y):
    e = (x + 1.0) * y
    return e.sum()


X = np.linspace(0.1, 0.9, 24)


@pytest.mark.parametrize(
    ("f", "args", "checkpoint", "expected"),
    [
        (linear, (X, X), "all", []),
        (quotient, (X, X), "all", [(24,), (24,)]),
        (loop, (X, X), "all", [(12, 24)]),
        (loop, (X, X), "every(4)", [(3, 24)]),
        (loop, (X, X), "binomial(3)", [(4, 24)]),
        (counted, (X, 12), "all", [()]),
        (row_sums, (X, X), "all", [(24,), (24,)]),
    ],
)
def test_only_what_rules_read_is_kept(f: Any, args: tuple, checkpoint: str, expected: list) -> None:
    assert residuals(pk.jit(f), *args, checkpoint=checkpoint) == expected


def test_the_forward_does_not_run_again() -> None:
    """The pullback of a product and a reduction holds the two products of its rule and no exponential."""

    @pk.jit
    def program(w, x):
        return pk.exp(x @ w).sum(axis=1)

    w, x = np.ones((5, 3)) / 9, np.ones((4, 5))
    asked = ProgramDerivative("residuals", (0, 1))
    forward = program.derived(asked, (), "vjp")
    _, kept, name, _ = forward(w, x)
    parameters = ("cotangent", *(f"residual{n}" for n in range(len(kept))))
    text = forward.pullback(name, parameters).lower(np.ones(4), *kept).stages[1].text
    assert "linalg.matmul" not in text and text.count('"reduction"') == 2


@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
def test_short_floats(dtype: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    x = np.array([0.5, -1.0, 2.0]).astype(kind)
    value, pull = pk.vjp(squared_twice, x)
    x[:] = 0
    (found,) = pull(value * 0 + 1)
    assert found.dtype == kind
    np.testing.assert_allclose(found.astype(float), 4 * np.array([0.5, -1.0, 2.0]) ** 3, rtol=1e-2)


@pk.jit
def mixed(p, mask, k, n: pk.static, unused=None):
    a, b = p["a"], p["b"]
    for _ in pk.range(n):
        a = pk.where(mask, a * b, a / b)
    a[k] *= 2.0
    return {"sum": a.sum(), "count": k + n, "a": a}


@pytest.mark.parametrize("unused", [None, 2.0])
def test_other_arguments(unused: float | None) -> None:
    """Bools, integers, statics, None and structures."""
    rng = np.random.default_rng(0)
    p = {"a": rng.random(6) + 1, "b": 1.5}
    mask = np.array([True, False, True, True, False, False])
    args = (p, mask, np.int64(2), 3) if unused is None else (p, mask, np.int64(2), 3, unused)
    value, pull = pk.vjp(mixed, *args)
    old, p["a"], was = p["a"].copy(), None, mask.copy()
    mask[:] = False
    gradients = pull({"sum": 1.0, "count": None, "a": np.zeros(6)})
    power = np.where(was, 1.5**3, 1.5**-3) * np.where(np.arange(6) == 2, 2.0, 1.0)
    np.testing.assert_allclose(gradients[0]["a"], power, rtol=1e-12)
    np.testing.assert_allclose(gradients[0]["b"], (old * power * np.where(was, 2, -2)).sum(), rtol=1e-12)
    assert gradients[1:4] == (None, None, None)
    assert value["count"] == 5
    if unused is not None:
        assert gradients[4] == 0.0


@pk.kernel
def relaxed(x, y):
    """Keeps to cells of its own, by a loop that has no form on whole arrays."""
    i = pk.index()
    z = x[i]
    while z > 1.0:
        z = z * y[i]
    x[i] = z


def test_a_kernel_that_is_not_raised() -> None:
    @pk.jit
    def f(x, y):
        relaxed(x, y, ndrange=3)
        y *= 2.0
        return (x * y).sum()

    x, y = np.array([3.0, 5.0, 0.7]), np.array([0.5, 0.75, 0.9])
    trips = np.array([2, 6, 0])
    _, pull = pk.vjp(f, x.copy(), y.copy())
    for _ in range(2):
        dx, dy = pull(1.0)
        np.testing.assert_allclose(dx, 2 * y ** (trips + 1), rtol=1e-12)
        np.testing.assert_allclose(dy, 2 * (trips + 1) * x * y**trips, rtol=1e-12)


def test_what_depends_on_no_argument() -> None:
    @pk.jit
    def constant(x):
        return pk.ones((3,)), 2.0

    @pk.jit
    def whole(n):
        return n * 2

    _, pull = pk.vjp(constant, np.ones(4))
    np.testing.assert_array_equal(pull((np.ones(3), 1.0))[0], np.zeros(4))
    assert pk.vjp(whole, 3)[0] == 6 and pk.vjp(whole, 3)[1](1) == (None,)


def test_statics_have_pullbacks_of_their_own() -> None:
    @pk.jit
    def power(x, n: pk.static):
        return (x**n).sum()

    pulls = [pk.vjp(power, np.array([2.0, 3.0]), n)[1] for n in (2, 3, 2)]
    for n, pull in zip((2, 3, 2), pulls, strict=True):
        np.testing.assert_allclose(pull(1.0)[0], n * np.array([2.0, 3.0]) ** (n - 1))
