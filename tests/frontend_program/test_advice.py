"""What array programs tell who writes names of NumPy, JAX or torch: the advice is there, and what it says is right."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError
from pykern.frontend.advice import instead_in_program
from tests.cases.texts import written
from tests.frontend_program.execute import build

X = np.random.default_rng(3).normal(size=(4, 6))
Y = np.random.default_rng(4).normal(size=(4, 6))


@pk.jit
def advised(x, y, n: pk.static, m: pk.static):
    e = pk.exp(x - x.max(axis=-1, keepdims=True))
    return (
        pk.maximum(x, 0), 1 / (1 + pk.exp(-x)), e / e.sum(axis=-1, keepdims=True),
        pk.concatenate((x, y), axis=1), pk.concatenate((x, y)), 2.0 + (5.0 - 2.0) / (n - 1) * pk.arange(n),
        (x[:, :4] * pk.eye(n)).sum(), pk.where(pk.arange(n)[:, None] <= pk.arange(m), x, 0),
        pk.where(pk.arange(n)[:, None] >= pk.arange(m), x, 0), x[1:] - x[:-1], pk.concatenate((x[-1:], x[:-1])),
        x[pk.arange(3 * n) // 3], x[pk.arange(3 * n) % n], (x != 0).sum(), pk.where(pk.isnan(x), 0, x),
        (pk.abs(x - y) <= 1e-3).all(), x.max() - x.min(), (x * y).sum(), (x * 100).round() / 100,
        pk.maximum(x, y) + pk.log1p(pk.exp(-pk.abs(x - y))), pk.stack((1.0, 2.0, 3.0)), x.astype("float32"),
    )  # fmt: skip


def test_the_advice_is_right():
    exponentials = np.exp(X)
    want = (
        X * (X > 0), 1 / (1 + np.exp(-X)), exponentials / exponentials.sum(axis=1, keepdims=True), np.hstack((X, Y)),
        np.vstack((X, Y)), np.linspace(2, 5, 4), np.trace(X), np.triu(X), np.tril(X), np.diff(X, axis=0),
        np.roll(X, 1, axis=0), np.repeat(X, 3, axis=0), np.tile(X, (3, 1)), np.count_nonzero(X), np.nan_to_num(X),
        np.allclose(X, Y, rtol=0, atol=1e-3), np.ptp(X), np.vdot(X, Y), np.round(X, 2), np.logaddexp(X, Y),
        np.array([1.0, 2.0, 3.0]), X.astype("float32"),
    )  # fmt: skip
    found = advised(X, Y, 4, 6)
    for got, exact in zip(found, want, strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-14)
    assert found[-1].dtype == np.float32


@pytest.mark.parametrize(
    ("expression", "advice"),
    [
        ("np.add(x, x)", "write a + b"),
        ("np.logical_and(x > 0, x < 1)", "write a & b"),
        ("np.hstack((x, x))", "axis=1"),
        ("np.array([1.0, 2.0])", "pk.stack"),
        ("pk.relu(x)", "pk.maximum(x, 0)"),
        ("x.exp()", "write pk.exp(x)"),
        ("x.softmax()", "keepdims=True"),
        ("x.item()", "index it"),
        ("x.reshape(5)", "whose product is the same"),
        ("x.astype('text')", "write pk.f32"),
        ("[k for k in range(5000)]", "pk.range"),
    ],
)
def test_advice_is_given(expression, advice, tmp_path):
    file = tmp_path / "program.py"
    scope = written(file, f"def program(x):\n    return {expression}\n", {"pk": pk, "np": np})
    with pytest.raises(KernelError) as caught:
        build(scope["program"], X)
    assert advice in str(caught.value.hint)


def test_long_loops_and_wrong_arguments():
    def program(x):
        for k in range(5000):
            x = x + k
        return x

    with pytest.raises(KernelError) as caught:
        build(program, X)
    assert "pk.range" in str(caught.value.hint)
    with pytest.raises(pk.errors.KernelTypeError) as caught:
        advised(X, Y, 4, 6, z=1)
    assert "it takes x, y, n, m" in str(caught.value.hint) and caught.value.code == "PK020"
    assert instead_in_program("np.tree_map") is not None
