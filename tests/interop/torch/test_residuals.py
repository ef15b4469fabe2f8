"""Gradients of programs' calls that keep what the forward run computed: the same as those that compute it again."""

from __future__ import annotations

import pytest

import pykern as pk
from pykern.errors import NotDifferentiable
from pykern.pytest_plugin import need_package

torch = need_package("torch")

from torch.utils.checkpoint import checkpoint  # noqa: E402

import pykern.torch as pkt  # noqa: E402
from pykern.torch.residuals import ARGUMENT, OWN, RESULT, run  # noqa: E402


@pkt.op
@pk.jit
def block(x, w, b, v):
    return pk.tanh(x @ w + b) @ v


@pkt.op
@pk.jit
def exponential(x):
    return pk.exp(x)


@pkt.op
@pk.jit
def powers(x, w):
    product = x @ w
    return product, product * product


def expected(x, w, b, v):
    return torch.tanh(x @ w + b) @ v


def given():
    return [torch.randn(s, dtype=torch.float64, requires_grad=True) for s in ((8, 6), (6, 7), (7,), (7, 5))]


def agree(function, values, other=expected):
    found = torch.autograd.grad(function(*values).square().sum(), values)
    wanted = torch.autograd.grad(other(*values).square().sum(), values)
    torch.testing.assert_close(found, wanted)


def test_gradients():
    values = given()
    agree(block, values)
    agree(
        lambda x, w: block(x, w, values[2].detach(), values[3]),
        values[:2],
        lambda x, w: expected(x, w, *values[2:]),
    )
    assert torch.autograd.gradcheck(block, values)
    assert torch.autograd.gradgradcheck(block, values)


def test_arguments_and_results_are_not_copied():
    _, halves, own = run(block.variant("('T','T','T','T',)"), (0, 1, 2, 3), given())
    assert {number for where, number in halves.places if where == ARGUMENT} == {0, 1, 3}
    assert sum(where == OWN for where, _ in halves.places) == len(own)
    _, halves, own = run(powers.variant("('T','T',)"), (0, 1), given()[:2])
    assert sorted(halves.places) == [(ARGUMENT, 0), (ARGUMENT, 1), (RESULT, 0)]
    assert not len(own)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint(reentrant):
    values = given()
    checkpoint(block, *values, use_reentrant=reentrant).square().sum().backward()
    wanted = torch.autograd.grad(expected(*values).square().sum(), values)
    torch.testing.assert_close(tuple(v.grad for v in values), wanted)


def test_gradients_that_are_followed_or_mapped():
    x = torch.randn(4, requires_grad=True)
    value = exponential(x)
    rows = torch.vmap(torch.func.grad(lambda x: exponential(x).sum()))(x.detach().reshape(2, 2))
    torch.testing.assert_close(rows, x.detach().reshape(2, 2).exp())
    for _ in range(2):
        torch.testing.assert_close(torch.autograd.grad(value.sum(), x, retain_graph=True)[0], x.exp())
    (first,) = torch.autograd.grad(value.sum(), x, create_graph=True)
    torch.testing.assert_close(torch.autograd.grad(first.sum(), x)[0], x.exp())
    expanded = torch.autograd.grad(exponential(x).sum(), x)[0]  # the cotangent has strides of 0
    torch.testing.assert_close(expanded, x.exp())


@pytest.mark.parametrize("written", ["argument", "result"])
def test_what_was_kept_and_is_written_is_an_error(written):
    x, w, b, v = given()
    if written == "argument":
        shifted = x * 1
        value = block(shifted, w, b, v)
        shifted.add_(1)
    else:
        product, value = powers(x, w)
        product.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.sum().backward()


def test_a_missing_gradient_is_missed_by_backward_alone():
    @pkt.op
    @pk.jit
    def stopped(x):
        while x.sum() < 10:
            x = x * 2
        return x

    x = torch.ones(3, requires_grad=True)
    value = stopped(x)
    try:
        value.sum().backward()
    except NotDifferentiable:
        return
    torch.testing.assert_close(x.grad, torch.full((3,), 4.0))
