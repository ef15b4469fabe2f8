"""Array programs as operators of PyTorch: values of every form, and their derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelTypeError, NotDifferentiable
from pykern.pytest_plugin import need_package

torch = need_package("torch")

import pykern.torch as pkt  # noqa: E402


@pkt.op
@pk.jit
def softmax(x):
    e = pk.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Moments(NamedTuple):
    mean: object
    count: object


@pkt.op
@pk.jit
def loss(p, x, y, rate):
    wrong = pk.tanh(x @ p["w"] + p["b"]) - y
    return (wrong * wrong).mean() * rate, {"wrong": wrong, "n": None}, Moments(wrong.sum(), 3)


def loss_expected(w, b, x, y, rate):
    wrong = torch.tanh(x @ w + b) - y
    return (wrong * wrong).mean() * rate, wrong


def doubles(*shape: int, **options):
    return torch.randn(shape, dtype=torch.float64, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_types(dtype):
    x = doubles(3, 7).to(getattr(torch, dtype))
    found = softmax(x)
    assert found.dtype is x.dtype
    tolerance = {"float16": 3e-3, "bfloat16": 2e-2}.get(dtype, 1e-6)
    torch.testing.assert_close(found, x.softmax(-1), rtol=tolerance, atol=tolerance)


def test_strided_and_expanded_arguments():
    x = doubles(7, 6)
    torch.testing.assert_close(softmax(x.T), x.T.softmax(-1))
    torch.testing.assert_close(softmax(x[::2, 1:4]), x[::2, 1:4].softmax(-1))
    torch.testing.assert_close(softmax(x[:1].expand(4, 6)), x[:1].expand(4, 6).softmax(-1))


def test_derivatives_of_both_modes_and_orders():
    x = doubles(3, 4, requires_grad=True)
    assert torch.autograd.gradcheck(softmax, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(softmax, (x,))


def test_trees_come_in_and_go_out():
    w, b = doubles(5, requires_grad=True), doubles(requires_grad=True)
    x, y = doubles(6, 5), doubles(6)
    value, more, moments = loss({"w": w, "b": b}, x, y, rate=2.0)
    expected, wrong = loss_expected(w, b, x, y, 2.0)
    torch.testing.assert_close(value, expected)
    torch.testing.assert_close(more["wrong"], wrong)
    torch.testing.assert_close(moments.mean, wrong.sum())
    assert moments.count == 3
    assert more["n"] is None
    assert value.ndim == 0
    found = torch.autograd.grad(value, (w, b))
    for mine, theirs in zip(found, torch.autograd.grad(expected, (w, b)), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_transformations():
    x = doubles(3, 5)

    def curved(f):
        return torch.func.hessian(lambda x: (f(x) ** 2).sum())(x)

    torch.testing.assert_close(curved(softmax), curved(lambda x: x.softmax(-1)))
    torch.testing.assert_close(torch.vmap(softmax, 1)(x), torch.vmap(lambda x: x.softmax(-1), 1)(x))


def wave(z, w, x):
    return w / (z + x), (np.conj(z) * w).sum(), abs(w - x)


def test_complex_tensors():
    """Values and derivatives of both modes, by PyTorch's convention; strided, conjugate, batched."""

    def expected(z, w, x):
        return w / (z + x), (z.conj() * w).sum(), (w - x).abs()

    operator = pkt.op(pk.jit(wave))
    z, w = torch.randn(2, 3, 4, dtype=torch.complex128)
    x = doubles(3, 4)
    for given in ((z, w, x), (z.T.contiguous().T, w.conj(), 2.0)):
        torch.testing.assert_close(operator(*given), expected(*given))
    followed = [a.clone().requires_grad_() for a in (z, w, x)]
    seeds = [torch.randn_like(r) for r in expected(z, w, x)]
    pairs = [torch.autograd.grad(f(*followed), followed, seeds) for f in (operator, expected)]
    torch.testing.assert_close(*pairs)
    tangents = torch.randn_like(z), torch.randn_like(w), torch.randn_like(x)
    torch.testing.assert_close(*(torch.func.jvp(f, (z, w, x), tangents)[1] for f in (operator, expected)))
    compiled = torch.compile(operator, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(z, w, x), expected(z, w, x))
    batch = torch.func.vmap(operator, (0, None, None))(torch.stack((z, w)), w, x)
    torch.testing.assert_close(batch[0], expected(torch.stack((z, w)), w, x)[0])


def test_an_own_derivative_by_complex_tensors():
    @pkt.op
    @pk.jit
    def squared(z):
        return z * z

    @squared.backward
    def _(saved, cotangent):
        assert saved.z.is_complex() and saved.results[0].is_complex()
        return 2 * saved.z.conj() * cotangent

    z = torch.randn(3, dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(squared, z)


def test_kernels_of_complex_tensors_give_no_gradient_silently():
    @pkt.op(out={"o": pkt.like("z")}, ndrange=lambda z: z.shape)
    @pk.kernel
    def turn(o, z):
        i = pk.index()
        o[i] = z[i] * 2j

    z = torch.randn(3, dtype=torch.complex64)
    torch.testing.assert_close(turn(z), z * 2j)
    with pytest.raises(NotDifferentiable, match="kernels have derivatives by real ones"):
        turn(z.requires_grad_())
    turn.backward(lambda saved, cotangent: cotangent * -2j)
    (found,) = torch.autograd.grad(turn(z), z, torch.ones(3, dtype=torch.complex64))
    torch.testing.assert_close(found, torch.full((3,), -2j))


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")
def test_linearize():
    """It calls operators below autograd, with tangents around."""
    x, v = doubles(5), doubles(5)
    _, found = torch.func.linearize(softmax, x)
    _, expected = torch.func.linearize(lambda x: x.softmax(-1), x)
    torch.testing.assert_close(found(v), expected(v))


def test_opcheck():
    torch.library.opcheck(softmax.variant("('T',)").overload, (doubles(2, 3, requires_grad=True),))


def test_other_arrays_are_refused_by_name():
    with pytest.raises(KernelTypeError, match=r"takes tensors and numbers, not ndarray"):
        softmax(np.zeros((2, 3)))


def test_a_program_that_writes_its_argument_is_refused():
    @pkt.op
    @pk.jit
    def doubled(x):
        x *= 2
        return x.sum()

    with pytest.raises(KernelTypeError, match="writes its arguments"):
        doubled(doubles(3))


@pk.jit
def row_sums(x):
    return x.sum(-1)


@pk.jit
def itself(x, a):
    return x, x * a


def test_calls_that_nothing_follows(monkeypatch):
    """The second call of a kind is the program's own: with the same results, and a memory of their own."""
    sums, same, x = pkt.op(row_sums), pkt.op(itself), torch.randn(3, 4)
    for _ in range(2):
        torch.testing.assert_close(sums(x), x.sum(-1))
        number = sums(x[0])
        assert isinstance(number, torch.Tensor)
        torch.testing.assert_close(number, x[0].sum())
        torch.testing.assert_close(sums(x), x.sum(-1))
        for factor in (2.0, 3, torch.tensor(0.5)):
            copied, scaled = same(x, factor)
            torch.testing.assert_close(scaled, x * factor)
            torch.testing.assert_close(copied.add_(1), x + 1)
        negated = torch.complex(x, x).conj().imag
        torch.testing.assert_close(softmax(negated), negated.softmax(-1))
        wanting = x.clone().requires_grad_()
        assert softmax(wanting).requires_grad
        with torch.no_grad():
            assert not softmax(wanting).requires_grad
        with torch.inference_mode():
            assert softmax(x).is_inference()
    calls = []
    monkeypatch.setattr(softmax.variant("('T',)"), "run", lambda given: calls.append(given))
    softmax(x)
    assert not calls, "the dispatcher was asked"
