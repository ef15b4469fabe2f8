"""Kernels and programs that are called as they are, without `pkt.op`, inside of `torch.compile`."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.library.function import library_function
from pykern.pytest_plugin import need_package

torch = need_package("torch")

from tests.interop.torch.kernels import axpy, axpy_expected  # noqa: E402
from tests.interop.torch.test_graphs import aot  # noqa: E402


@pk.jit
def softmax(x):
    e = pk.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.fixture(autouse=True)
def _fresh_dynamo():
    torch._dynamo.reset()


def written(x, y):
    o = torch.zeros_like(x)
    axpy(o, x, y, 2.0, ndrange=o.shape)
    return o * 2


def test_a_launch_is_an_operation_of_the_graph():
    x, y = torch.randn(6), torch.randn(6)
    torch.testing.assert_close(aot(written)(x, y), 2 * axpy_expected(x, y, 2.0))
    by = torch.autograd.grad(aot(written)(x.requires_grad_(), y).sum(), x)[0]
    torch.testing.assert_close(by, 4 * (2 * x.detach()).exp())


def test_warm_kernels_and_programs_are_traced_too():
    x, y = torch.randn(4, 6), torch.randn(6)
    for _ in range(3):
        softmax(x)
        written(x[0], y)
    torch.testing.assert_close(
        aot(lambda x, y: written(softmax(x.sin())[0], y))(x, y),
        2 * axpy_expected(x.sin().softmax(-1)[0], y, 2.0),
    )


def test_other_calls_stand_between_graphs():
    x, y, o, host = torch.randn(6), torch.randn(6), torch.zeros(6), np.zeros(6, np.float32)
    gradient = pk.autodiff(axpy)

    def mixed(x, y):
        axpy(o, x, y, 2.0, ndrange=6, workgroup=2)
        axpy(host, host + 1, host + 1, 0.0, ndrange=6)
        do, dx = torch.ones(6), torch.zeros(6)
        gradient(pk.Dup(torch.zeros(6), do), pk.Dup(x, dx), y, 2.0, ndrange=6)
        softmax(x * 2, out=do)
        return dx + o, do

    found, soft = torch.compile(mixed, backend="aot_eager")(x, y)
    torch.testing.assert_close(found, 2 * (2 * x).exp() + axpy_expected(x, y, 2.0))
    torch.testing.assert_close(soft, (x * 2).softmax(-1))
    np.testing.assert_array_equal(host, np.full(6, 2, np.float32))
    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="is no operator of PyTorch"):
        aot(mixed)(x, y)


def test_several_kernels_are_met_for_the_first_time_in_one_function():
    @pk.kernel
    def doubled(o, x):
        i = pk.index()
        o[i] = 2 * x[i]

    @pk.kernel
    def squared(o, x):
        i = pk.index()
        o[i] = x[i] * x[i]

    def both(x):
        a, b = torch.zeros_like(x), torch.zeros_like(x)
        doubled(a, x, ndrange=x.shape)
        squared(b, a, ndrange=x.shape)
        return a + b

    x = torch.randn(6)
    torch.testing.assert_close(aot(both)(x), 2 * x + 4 * x * x)


def test_several_functions_of_the_library_are_met_for_the_first_time_in_one_function():
    @library_function()
    def doubled(x):
        return 2 * x

    @library_function()
    def squared(x):
        return x * x

    x = torch.randn(6)
    torch.testing.assert_close(aot(lambda x: squared(doubled(x)))(x), 4 * x * x)
