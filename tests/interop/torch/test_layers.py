"""`pkt.replace`, `pkt.fuse` and the library's own layers, against PyTorch's; own derivatives; `pkt.check`."""

from __future__ import annotations

import copy
import math
import pickle

import pytest

import pykern as pk
from pykern.errors import KernelTypeError, NotDifferentiable
from pykern.pytest_plugin import need_package

torch = need_package("torch")

from torch.autograd.gradcheck import GradcheckError  # noqa: E402

import pykern.torch as pkt  # noqa: E402
from tests.interop.torch.kernels import axpy, axpy_, saxpy  # noqa: E402

F = torch.nn.functional


def model():
    return torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.RMSNorm(16),
        torch.nn.GELU(approximate="tanh"), torch.nn.SiLU(), torch.nn.Linear(16, 4), torch.nn.Softmax(-1),
        torch.nn.LayerNorm(4, elementwise_affine=False),
    )  # fmt: skip


def test_fused_layers_train_as_pytorchs():
    stock = model()
    fused = copy.deepcopy(stock)
    summary = pkt.fuse(fused)
    assert len(summary) == 6
    assert summary.left == {"8": "it has no weight and bias"}
    assert "1: LayerNorm is FusedLayerNorm now" in str(summary)
    assert list(fused.state_dict()) == list(stock.state_dict())
    x = torch.randn(5, 8)
    for net in (stock, fused):
        net(x).square().sum().backward()
    torch.testing.assert_close(fused(x), stock(x), rtol=1e-4, atol=1e-5)
    for mine, theirs in zip(fused.parameters(), stock.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-3, atol=1e-4)


def test_models_with_fused_layers_are_saved_whole():
    net, x = model(), torch.randn(5, 8)
    pkt.fuse(net)
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        torch.testing.assert_close(other(x), net(x))


@pytest.mark.parametrize("shape", [(5,), (3, 7), (2, 0), (2, 3, 9)])
def test_the_librarys_functions(shape):
    x, up = torch.randn(shape, dtype=torch.float64), torch.randn(shape, dtype=torch.float64)
    w, b = torch.randn(shape[-1:], dtype=torch.float64), torch.randn(shape[-1:], dtype=torch.float64)
    pairs = [(pkt.gelu(x), F.gelu(x)), (pkt.silu(x), F.silu(x)), (pkt.swiglu(x, up), F.silu(x) * up)]
    if 0 not in shape:
        pairs += [
            (pkt.softmax(x), x.softmax(-1)),
            (pkt.layer_norm(x, w, b, 1e-5), F.layer_norm(x, w.shape, w, b)),
            (pkt.rms_norm(x, w, 1e-6), F.rms_norm(x, w.shape, w, 1e-6)),
        ]
    for found, expected in pairs:
        torch.testing.assert_close(found, expected)


def test_replace_takes_types_exactly_and_keeps_what_is_shared():
    class Special(torch.nn.GELU):
        pass

    shared = torch.nn.GELU()
    net = torch.nn.Sequential(shared, torch.nn.Sequential(shared, Special()))
    summary = pkt.replace(net, {torch.nn.GELU: lambda old: torch.nn.ReLU()})
    assert net[0] is net[1][0] and type(net[0]) is torch.nn.ReLU and type(net[1][1]) is Special
    assert set(summary.done) == {"0", "1.0"}
    net[0].register_forward_hook(lambda *_: None)
    assert pkt.replace(net, {torch.nn.ReLU: lambda old: old}).left == {
        "0": "it has hooks",
        "1.0": "it has hooks",
    }


def test_wrong_replacements_are_refused():
    with pytest.raises(KernelTypeError, match="gives int"):
        pkt.replace(torch.nn.Sequential(torch.nn.GELU()), {torch.nn.GELU: lambda old: 3})
    with pytest.raises(KernelTypeError, match="has no place"):
        pkt.fuse(torch.nn.GELU())


@pkt.op(out={"y": pkt.like("x")}, ndrange=lambda x: x.shape)
@pk.kernel
def gelu(y, x):
    i = pk.index()
    y[i] = 0.5 * x[i] * (1.0 + pk.erf(x[i] * 0.7071067811865476))


@gelu.backward
def _(saved, dy):
    x, y = saved
    assert x is saved.x is saved[0] and len(saved) == 2 and y is saved.results[0]
    return dy * (0.5 * (1 + torch.erf(x / math.sqrt(2))) + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi))


def test_a_derivative_of_ones_own():
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(gelu, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(gelu, (x,))
    found = torch.func.hessian(lambda x: gelu(x).sum())(x.detach())
    torch.testing.assert_close(found, torch.func.hessian(lambda x: F.gelu(x).sum())(x.detach()))


def test_a_derivative_that_gives_none_raises():
    none = pkt.op(axpy, out={"o": pkt.like("x")}, ndrange=lambda x, y, a: x.shape)
    none.backward(lambda saved, do: (do, None))
    x, y = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    none(x, y.detach(), 1.0).sum().backward()
    with pytest.raises(NotDifferentiable, match="gives none by `y`"):
        none(x, y, 1.0).sum().backward()
    with pytest.raises(KernelTypeError, match="works in place"):
        axpy_.backward(lambda saved, do: do)


@pytest.mark.slow
def test_check():
    every = ["opcheck", "gradcheck", "forward mode", "gradgradcheck", "compiled"]
    x, y = torch.randn(5), torch.randn(5)
    assert pkt.check(saxpy, (x, y, 2.0)) == every
    assert pkt.check(axpy_, (torch.zeros(5), x, y, 2.0), ndrange=5) == every
    assert pkt.check(pkt.swiglu, (x, y)) == every


def test_check_finds_a_wrong_derivative():
    wrong = pkt.op(axpy, out={"o": pkt.like("x")}, ndrange=lambda x, y, a: x.shape)
    wrong.backward(lambda saved, do: (do, do))
    with pytest.raises(GradcheckError):
        pkt.check(wrong, (torch.randn(3), torch.randn(3), 2.0), compiled=False)
