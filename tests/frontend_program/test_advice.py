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
        x[:, None], {k: 2 * v for k, v in {"x": x}.items()}["x"], x.swapaxes(-1, -2), x.astype("float32"),
    )  # fmt: skip


def test_the_advice_is_right():
    exponentials = np.exp(X)
    want = (
        X * (X > 0), 1 / (1 + np.exp(-X)), exponentials / exponentials.sum(axis=1, keepdims=True),
        X[:, None], 2 * X, X.T, X.astype("float32"),
    )  # fmt: skip
    found = advised(X, Y, 4, 6)
    for got, exact in zip(found, want, strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-14)
    assert found[-1].dtype == np.float32


@pytest.mark.parametrize(
    ("expression", "advice"),
    [
        ("np.unique(x)", "outside of the program"),
        ("np.bincount(x.ravel() > 0)", "minlength=n"),
        ("np.linalg.eig(x)", "outside of the program"),
        ("pk.inv(x)", "write np.linalg.inv(a)"),
        ("x.unsqueeze(0)", "write x[:, None]"),
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
            x = x + pk.sum(pk.ones(k % 3 + 1))
        return x

    with pytest.raises(KernelError) as caught:
        build(program, X)
    assert "pk.range" in str(caught.value.hint)
    with pytest.raises(pk.errors.KernelTypeError) as caught:
        advised(X, Y, 4, 6, z=1)
    assert "it takes x, y, n, m" in str(caught.value.hint) and caught.value.code == "PK020"
    assert instead_in_program("np.tree_map") is not None
