"""A function or model that is compiled, beside the same in PyTorch: values, types, strides, gradients."""

from __future__ import annotations

import copy
from typing import Any

from pykern.pytest_plugin import need_package

torch = need_package("torch")

import pykern.torch as pkt  # noqa: E402
from pykern.torch.backend import backend  # noqa: E402

TOLERANCES = {torch.float64: 1e-11, torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 3e-3}


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, tuple | list) else [value]


def same(found: Any, expected: Any) -> None:
    """Equal but for rounding, relative to the largest element; equal in all else."""
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        if not b.dtype.is_floating_point:
            assert torch.equal(a, b)
            continue
        finite = b[b.isfinite()]
        largest = float(finite.abs().max()) if finite.numel() else 0.0
        torch.testing.assert_close(
            a, b, rtol=TOLERANCES[b.dtype], atol=TOLERANCES[b.dtype] * largest, equal_nan=True
        )


def compared(function: Any, *inputs: Any, **options: Any) -> Any:
    """Check a function without gradients; gives the summary."""
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend, fullgraph=True, **options)
    with torch.no_grad():
        same(compiled(*inputs), function(*inputs))
    return succeeded(compiled)


def trained(model: Any, *inputs: Any) -> Any:
    """Check a model's value, gradients and buffers; gives the summary."""
    torch._dynamo.reset()
    other = copy.deepcopy(model)
    compiled = torch.compile(model, backend=backend)
    values = []
    for run in (compiled, other):
        value = run(*inputs)
        value.square().mean().backward()
        values.append(value.detach())
    same(*values)
    for (name, a), (_, b) in zip(model.named_parameters(), other.named_parameters(), strict=True):
        scale = float(b.grad.abs().max()) + 1e-5
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-4 * scale, msg=name)
    same([*model.buffers()], [*other.buffers()])
    return succeeded(compiled)


def succeeded(compiled: Any) -> Any:
    """The summary, in which every part that was proposed is a program."""
    told = pkt.summary(compiled)
    assert told.graphs
    assert not [part.failure for graph in told.graphs for part in graph.parts if part.failure]
    return told


def taken(told: Any) -> int:
    return sum(graph.taken for graph in told.graphs)


def in_torch(told: Any) -> dict[str, str]:
    """What stays in PyTorch, and why."""
    return {left.operation: left.reason for graph in told.graphs for left in graph.left}
