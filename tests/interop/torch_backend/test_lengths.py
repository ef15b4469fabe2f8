"""Lengths that are known at run time: a program for each that comes, and PyTorch beyond a number of them."""

from __future__ import annotations

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")

import pykern.torch as pkt  # noqa: E402
from pykern.torch.backend import backend, part  # noqa: E402
from tests.interop.torch_backend.compare import same  # noqa: E402
from tests.interop.torch_backend.models import perceptron  # noqa: E402


def normal(x):
    return torch.nn.functional.gelu((x - x.mean(0)) / (x.std(0) + 1e-3)).reshape(-1, 2, 2)


@pytest.mark.parametrize("mark", [True, False], ids=["marked", "dynamic=True"])
def test_a_program_for_each_length(mark):
    torch._dynamo.reset()
    compiled = torch.compile(normal, backend=backend, fullgraph=True, dynamic=None if mark else True)
    for rows in (5, 9, 5, 12):
        x = torch.randn(rows, 4)
        if mark:
            torch._dynamo.mark_dynamic(x, 0)
        same(compiled(x), normal(x))
    [graph] = pkt.summary(compiled).graphs
    [only] = graph.parts
    assert len(only.compiled) == 3
    assert "3 programs for the lengths that came" in str(graph)


def test_beyond_many_lengths_torch_runs_it(monkeypatch):
    monkeypatch.setattr(part, "MOST_PROGRAMS", 2)
    torch._dynamo.reset()
    compiled = torch.compile(normal, backend=backend, dynamic=True)
    for rows in (3, 4, 5, 6, 3):
        x = torch.randn(rows, 4)
        same(compiled(x), normal(x))
    [graph] = pkt.summary(compiled).graphs
    assert "more than 2 different lengths" in str(graph)


def test_a_model_is_trained_with_batches_of_several_lengths():
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = perceptron()
    compiled = torch.compile(model, backend=backend, dynamic=True)
    for rows in (4, 7, 4):
        x = torch.randn(rows, 10)
        gradients = []
        for run in (compiled, model):
            model.zero_grad()
            run(x).square().mean().backward()
            gradients.append([p.grad.clone() for p in model.parameters()])
        for a, b in zip(*gradients, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def test_no_rows_at_all():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: torch.exp(x) * 2 + 1, backend=backend, dynamic=True)
    for rows in (3, 0, 2):
        x = torch.randn(rows, 4)
        same(compiled(x), torch.exp(x) * 2 + 1)
