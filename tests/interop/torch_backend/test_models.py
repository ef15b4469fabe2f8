"""Models under `torch.compile(backend="pykern")`: values, gradients and buffers as in PyTorch."""

from __future__ import annotations

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")

from tests.interop.torch_backend.compare import compared, in_torch, taken, trained  # noqa: E402
from tests.interop.torch_backend.models import Block, Gated, Residual, perceptron  # noqa: E402


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_a_perceptron_is_trained():
    told = trained(perceptron(), torch.randn(9, 10))
    assert not in_torch(told)
    assert [graph.kind for graph in told.graphs] == ["forward", "backward"]


def test_a_block_of_a_transformer_is_trained():
    told = trained(Block(), torch.randn(2, 7, 16))
    assert taken(told) > 50


def test_a_gated_layer_is_trained():
    trained(Gated(), torch.randn(3, 5, 12))


def test_convolutions_stay_in_torch_and_batch_norms_do_not():
    told = trained(Residual(), torch.randn(3, 4, 6, 6))
    left = in_torch(told)
    assert left["aten.convolution.default"] == "no rule writes it"
    assert not any("norm" in name for name in left)


def test_inference_takes_running_statistics():
    model = Residual().eval()
    for norm in model.norms:
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
    compared(model, torch.randn(2, 4, 5, 5))


def test_channels_last_memory_stays_so():
    model = Residual().eval().to(memory_format=torch.channels_last)
    compared(model, torch.randn(2, 4, 5, 5).to(memory_format=torch.channels_last))
    compared(lambda x: torch.tanh(x) * 2 + 1, torch.randn(2, 4, 5, 5).to(memory_format=torch.channels_last))


def test_a_model_learns_the_same():
    """Ten steps of a stock optimiser."""
    losses = []
    for backend in ("pykern", "eager"):
        torch.manual_seed(1)
        torch._dynamo.reset()
        model, x = Gated(), torch.randn(8, 12)
        run = torch.compile(model, backend=backend)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(10):
            optimizer.zero_grad()
            loss = (run(x) - 2 * x).square().mean()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
