"""Operators together with all that PyTorch has besides: several results, types, forms, modes, subclasses, threads.

Each is beside the same function of PyTorch's own operations.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

torch = need_package("torch")

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.testing._internal.two_tensor import TwoTensor  # noqa: E402

import pykern.torch as pkt  # noqa: E402
from tests.interop.torch.kernels import axpy_expected, saxpy  # noqa: E402

func, close = torch.func, torch.testing.assert_close


@pk.kernel
def two(s, p, x, y):
    i = pk.index()
    s[i] = x[i] * x[i] + y[i]
    p[i] = x[i] * y[i]


@pk.kernel
def counted(o, k, x, n):
    i = pk.index()
    o[i] = x[i] * n[i]
    k[i] = n[i] * 2


@pk.kernel
def turned(o, x):
    i, j = pk.index()
    o[i, j] = x[i, j] * x[j, i]


@pk.kernel
def squared(x, a):
    i = pk.index()
    x[i] = x[i] * x[i] * a


@pk.jit
def softmax(x):
    e = pk.exp(x - pk.max(x, axis=-1, keepdims=True))
    return e / pk.sum(e, axis=-1, keepdims=True)


both = pkt.op(two, out={"s": pkt.like("x"), "p": pkt.like("x")}, ndrange=lambda x, y: x.shape)
count = pkt.op(counted, out={"o": pkt.like("x"), "k": pkt.like("n")}, ndrange=lambda x, n: x.shape)
turn = pkt.op(turned, out={"o": pkt.like("x")}, ndrange=lambda x: x.shape)
square_ = pkt.op(squared)
soft = pkt.op(softmax)


def both_expected(x, y):
    return x * x + y, x * y


def numbers(*shape):
    return torch.randn(shape, dtype=torch.float64)


def gradients(function, *given):
    """Of what is given, by the results that hold floats."""
    own = [g.detach().clone().requires_grad_(g.is_floating_point()) for g in given]
    found = function(*own)
    total = sum(r.double().sin().sum() for r in (found if isinstance(found, tuple) else (found,)))
    return torch.autograd.grad(total, [g for g in own if g.requires_grad])


@pytest.mark.slow
def test_several_results_under_transformations():
    x, y = numbers(3, 4), numbers(3, 4)
    for dims, given in ((0, (x, y)), ((1, None), (x, y[:, 0])), ((None, 0), (x[0], y))):
        close(func.vmap(both, dims)(*given), func.vmap(both_expected, dims)(*given))
    a, b = x[0], y[0]
    for jacobian in (func.jacrev, func.jacfwd):
        close(jacobian(both, (0, 1))(a, b), jacobian(both_expected, (0, 1))(a, b))
    of = [func.hessian(lambda x, f=f: f(x, b)[1].square().sum())(a) for f in (both, both_expected)]
    close(*of)
    close(func.jvp(both, (a, b), (b, a)), func.jvp(both_expected, (a, b), (b, a)))
    each = [func.vmap(func.grad(lambda x, y, f=f: f(x, y)[1].prod()))(x, y) for f in (both, both_expected)]
    close(*each)


@pytest.mark.parametrize("used", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_one_result_and_one_argument(used):
    x, y = numbers(5), numbers(5)
    for wanting in (0, 1):
        found = []
        for function in (both, both_expected):
            given = [v.clone().requires_grad_(n == wanting) for n, v in enumerate((x, y))]
            function(*given)[used].sin().sum().backward()
            assert given[1 - wanting].grad is None
            found.append(given[wanting].grad)
        close(*found)


FORMS = {
    "turned": numbers(4, 4).t(), "strided": numbers(8, 8)[::2, 1::2], "expanded": numbers(1, 4).expand(4, 4),
    "empty": numbers(0, 0), "one": numbers(1, 1), "flipped": numbers(4, 4).flip(1),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "expanded",
        "empty",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("turned", "strided", "one", "flipped")),
    ],
)
def test_forms(name):
    x = FORMS[name]
    close(turn(x), x * x.t())
    close(gradients(turn, x), gradients(lambda x: x * x.t(), x))
    if x.numel():
        close(gradients(soft, x), gradients(lambda x: x.softmax(-1), x))
    with FakeTensorMode() as mode:
        made = [
            turn(mode.from_tensor(x)),
            soft(mode.from_tensor(x)) if x.numel() else turn(mode.from_tensor(x)),
        ]
    assert [m.stride() for m in made] == [turn(x).stride(), (soft if x.numel() else turn)(x).stride()]


@pytest.mark.parametrize("dtype", [torch.bfloat16, pytest.param(torch.float16, marks=pytest.mark.slow)])
def test_short_floats(dtype):
    x, y = numbers(9).to(dtype), numbers(9).to(dtype)
    tolerance = {"rtol": 3e-2, "atol": 3e-2}
    for mine, theirs, given in ((both, both_expected, (x, y)), (soft, lambda x: x.softmax(-1), (x,))):
        for found, expected in zip(gradients(mine, *given), gradients(theirs, *given), strict=True):
            assert found.dtype == dtype
            close(found, expected, **tolerance)
    close(both(x, y), both_expected(x, y), **tolerance)


@pytest.mark.parametrize("dtype", [torch.int8, pytest.param(torch.uint8, marks=pytest.mark.slow)])
def test_integers_have_no_gradient(dtype):
    x, n = numbers(9).requires_grad_(), torch.arange(9).to(dtype)
    o, k = count(x, n)
    assert o.requires_grad and not k.requires_grad
    close(k, n * 2)
    close(torch.autograd.grad(o.sum(), x)[0], n.double())


class Weighed(torch.nn.Module):
    """A parameter, and a buffer that each call writes."""

    def __init__(self, is_ours: bool) -> None:
        super().__init__()
        self.is_ours = is_ours
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 1, 5, dtype=torch.float64))
        self.register_buffer("held", torch.linspace(1, 2, 5, dtype=torch.float64))

    def forward(self, x):
        if self.is_ours:
            square_(self.held, 0.9, ndrange=5)
            return saxpy(x, self.weight, 2.0) + both(self.weight, self.held)[0]
        self.held.mul_(self.held.clone()).mul_(0.9)
        return axpy_expected(x, self.weight, 2.0) + both_expected(self.weight, self.held)[0]


@pytest.mark.slow
def test_compiled_parameters_and_buffers():
    ours, theirs, x = Weighed(True), Weighed(False), numbers(5)
    torch._dynamo.reset()
    compiled = torch.compile(ours, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        close(compiled(x), theirs(x))
    compiled(x).sum().backward()
    theirs(x).sum().backward()
    close(ours.weight.grad, theirs.weight.grad)
    close(ours.held, theirs.held)


@pytest.mark.slow
def test_compiled_for_any_length():
    """Of two elements and more, of one, and of none."""

    def function(both, saxpy, x, y):
        s, p = both(x.sin(), y)
        return saxpy(s, p, 2.0).sum()

    torch._dynamo.reset()
    compiled = torch.compile(lambda x, y: function(both, saxpy, x, y), fullgraph=True, backend="aot_eager")
    for n in (5, 7, 1, 0, 2):
        x, y = numbers(n), numbers(n)
        if n == 5:
            torch._dynamo.mark_dynamic(x, 0)
            torch._dynamo.mark_dynamic(y, 0)
        expected = gradients(lambda x, y: function(both_expected, axpy_expected, x, y), x, y)
        close(gradients(compiled, x, y), expected)


class Named(torch.Tensor):
    """A subclass that changes nothing."""


def test_subclasses_of_tensors():
    x, y = numbers(4), numbers(4)
    for found, expected in (
        (saxpy(x.as_subclass(Named), y, 2.0), axpy_expected(x, y, 2.0)),
        (soft(x.as_subclass(Named)), x.softmax(-1)),
    ):
        assert type(found) is Named
        close(found.as_subclass(torch.Tensor), expected)
    pair = TwoTensor(x, y)
    for call in (lambda t: saxpy(t, t, 2.0), torch.compile(lambda t: saxpy(t, t, 2.0), backend="aot_eager")):
        found = call(pair)
        close((found.a, found.b), (axpy_expected(x, x, 2.0), axpy_expected(y, y, 2.0)))
    wanting = TwoTensor(x.clone().requires_grad_(), y.clone().requires_grad_())
    by = torch.autograd.grad(both(wanting, wanting)[0].sum(), wanting)[0]
    close((by.a, by.b), (2 * x + 1, 2 * y + 1))


def test_modes():
    x, y = numbers(4), numbers(4)
    with torch.inference_mode():
        held = x * 1
        square_(held, 2.0, ndrange=4)
        made = saxpy(x, y, 2.0), soft(x)
    close(held, x * x * 2)
    assert all(m.is_inference() for m in made)
    parameter = torch.nn.Parameter(x.clone())
    with torch.no_grad():
        assert not saxpy(parameter, y, 2.0).requires_grad and not soft(parameter).requires_grad
        with torch.enable_grad():
            assert saxpy(parameter, y, 2.0).requires_grad
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        close(gradients(soft, x), gradients(lambda x: x.softmax(-1), x))
    a, b = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = soft(a @ b)
    assert mixed.dtype == torch.bfloat16
    mixed.float().square().sum().backward()
    assert a.grad is not None and a.grad.dtype == torch.float32


def test_what_is_saved_and_then_written_is_an_error():
    x = numbers(4).requires_grad_()
    value = x.exp()
    square_(value, 2.0, ndrange=4)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.sum().backward()
    with pytest.raises(RuntimeError, match="leaf"):
        square_(x, 2.0, ndrange=4)


def test_threads():
    def work(number: int) -> None:
        for n in range(40):
            x, y = torch.full((5 + number,), float(number)), torch.full((5 + number,), float(n) / 50)
            close(gradients(lambda x, y: saxpy(x, y, 2.0), x, y), gradients(_axpy, x, y))
            close(soft(x), x.softmax(-1))

    with ThreadPoolExecutor(3) as pool:
        assert [*pool.map(work, range(3))] == [None] * 3


def _axpy(x, y):
    return axpy_expected(x, y, 2.0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")  # JAX may be there
def test_a_fork_computes_gradients():
    x = numbers(6)
    close(soft(saxpy(x, x, 2.0)), _axpy(x, x).softmax(-1))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            close(
                gradients(lambda x: saxpy(x, soft(x), 2.0), x),
                gradients(lambda x: _axpy(x, x.softmax(-1)), x),
            )
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
