"""Batched gradients, `torch.func.functionalize`, and arguments that PyTorch's dispatcher would refuse."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

torch = need_package("torch")

from tests.interop.torch.kernels import axpy_, axpy_expected, saxpy  # noqa: E402
from tests.interop.torch.test_program_ops import softmax  # noqa: E402

FUNCTIONS = [
    pytest.param(lambda x: saxpy(x, x, 0.5), lambda x: axpy_expected(x, x, 0.5), id="kernel"),
    pytest.param(softmax, lambda x: x.softmax(-1), id="program"),
]


@pytest.mark.parametrize(("ours", "theirs"), FUNCTIONS)
def test_vectorized_jacobians(ours, theirs):
    x, functional = torch.randn(5, dtype=torch.float64), torch.autograd.functional
    expected = functional.jacobian(theirs, x)
    for strategy in ("reverse-mode", "forward-mode"):
        found = functional.jacobian(ours, x, vectorize=True, strategy=strategy)
        torch.testing.assert_close(found, expected)
    found = functional.hessian(lambda x: ours(x).square().sum(), x, vectorize=True)
    torch.testing.assert_close(found, functional.hessian(lambda x: theirs(x).square().sum(), x))


def test_batches_of_batches_of_gradients():
    x, y = torch.randn(3, 4, requires_grad=True), torch.randn(2, 5, 3, 4)
    batched = torch._vmap_internals._vmap

    def gradient(function):
        return lambda v: torch.autograd.grad(function(x), x, v)[0]

    for cotangents in (y, y[:, :1], y[:1]):
        found = batched(batched(gradient(softmax)))(cotangents)
        expected = batched(batched(gradient(lambda x: x.softmax(-1))))(cotangents)
        torch.testing.assert_close(found, expected)
    found = torch.autograd.grad(softmax(x), x, y[0], is_grads_batched=True)[0]
    torch.testing.assert_close(found, torch.stack([gradient(softmax)(v) for v in y[0]]))


def test_functionalized():
    def written(x):
        o = torch.zeros(10)
        axpy_(o[::2], x, x, 2.0, ndrange=5)
        o.mul_(2)
        return softmax(o)

    x = torch.randn(5)
    torch.testing.assert_close(torch.func.functionalize(written)(x), written(x))
    gradient = torch.func.grad(lambda x: torch.func.functionalize(saxpy)(x, x, 2.0).square().sum())
    expected = torch.func.grad(lambda x: axpy_expected(x, x, 2.0).square().sum())
    torch.testing.assert_close(gradient(x), expected(x))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: saxpy(x, x, "a"), "`a` is str"),
        (lambda x: saxpy(x, None, 2.0), "`y` is NoneType"),
        (lambda x: saxpy(np.ones(3), x, 2.0), "`x` is ndarray"),
        (lambda x: saxpy(x.to_sparse(), x, 2.0), "do not all lie in memory"),
        (lambda x: axpy_(x, x, x, 2.0), "without an ndrange"),
        (lambda x: softmax(2.0), "without a tensor"),
    ],
)
def test_refused_by_name(call, message):
    with pytest.raises(pk.KernelError, match=message):
        call(torch.ones(3))
