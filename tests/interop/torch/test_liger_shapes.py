"""RMSNorm and SwiGLU at the shapes and tolerances of the tests of Liger-Kernel (linkedin/Liger-Kernel).

Its kernels need Triton and a GPU, so values and gradients are compared with those of PyTorch in float64.
"""

from __future__ import annotations

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")

import pykern.torch as pkt  # noqa: E402

TOLERANCES = {torch.float32: {"atol": 1e-4, "rtol": 1e-6}, torch.bfloat16: {"atol": 2e-1, "rtol": 2e-2}}
ROWS = [(2, 128, 512), (5, 123, 123)]
LAYERS = [(2, 256, 256, 512), (6, 42, 123, 431)]


def agree(ours, theirs, given, dtype):
    """`theirs` computes in float64 of what `ours` is given."""
    mine = [g.to(dtype).requires_grad_() for g in given]
    wide = [g.detach().double().requires_grad_() for g in mine]
    found, expected = ours(*mine), theirs(*wide)
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, **TOLERANCES[dtype])
    cotangent = torch.randn(found.shape).to(dtype)
    pairs = zip(
        torch.autograd.grad(found, mine, cotangent),
        torch.autograd.grad(expected, wide, cotangent.double()),
        strict=True,
    )
    for gradient, wanted in pairs:
        assert gradient.dtype == dtype
        size = float(wanted.abs().max()) if dtype == torch.bfloat16 else 1.0  # sums of many rows, in 8 bits
        torch.testing.assert_close(gradient.double() / size, wanted / size, **TOLERANCES[dtype])


@pytest.mark.parametrize("offset", [0.0, 1.0], ids=["llama", "gemma"])
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("shape", ROWS)
def test_rms_norm(shape, dtype, offset):
    torch.manual_seed(0)

    def expected(x, weight):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (offset + weight)

    given = torch.randn(shape), torch.randn(shape[-1])
    agree(lambda x, w: pkt.rms_norm(x, w + offset, 1e-6), expected, given, dtype)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("shape", LAYERS)
def test_swiglu(shape, dtype):
    """The activation between its products, which stay in PyTorch."""
    torch.manual_seed(0)
    *rows, hidden, inner = shape

    def layer(activate):
        return lambda x, gate, up, down: activate(x @ gate.T, x @ up.T) @ down.T

    def expected(gate, up):
        return torch.nn.functional.silu(gate) * up

    weights = [torch.randn(*s) * s[-1] ** -0.5 for s in ((inner, hidden), (inner, hidden), (hidden, inner))]
    agree(layer(pkt.swiglu), layer(expected), (torch.randn(*rows, hidden), *weights), dtype)
