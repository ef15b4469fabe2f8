"""Random graphs of operations, taken or not: as in PyTorch, with gradients."""

from __future__ import annotations

import random

import pytest

from pykern.pytest_plugin import need_package
from tests.cases.seeds import seeds

torch = need_package("torch")

from tests.interop.torch_backend.compare import compared, trained  # noqa: E402

functional = torch.nn.functional
OF_ONE = (
    torch.tanh, torch.sigmoid, torch.relu, torch.sin, functional.gelu, functional.silu, lambda x: x * 0.5 + 1,
    lambda x: x.softmax(-1), lambda x: x - x.mean(-1, keepdim=True), lambda x: x.abs().sqrt(),
    lambda x: x / (1 + x * x),
    lambda x: functional.layer_norm(x, x.shape[-1:]), lambda x: x.clamp(-0.7, 0.9), lambda x: x.flip(0),
    lambda x: x.cumsum(-1) * 0.1, lambda x: (0.1 * x).exp().log1p(), lambda x: x.t().contiguous().t(),
    lambda x: torch.where(x > 0.1, x, -x), lambda x: torch.cat([x[1:], x[:1]]), lambda x: x + x.amax(0),
    lambda x: functional.pad(x[:, 1:], (1, 0)), lambda x: (x > 0) * x + x.argmax(0) * 0.01,
)  # fmt: skip
OF_TWO = (
    torch.add, torch.mul, torch.sub, torch.maximum, torch.minimum, lambda a, b: a / (b * b + 1),
    lambda a, b: (a @ b.t()).tanh() @ b * 0.3, lambda a, b: torch.where(a < b, a, b * 0.5), torch.atan2,
    lambda a, b: a + b.sum(0) * 0.1, lambda a, b: a.view(-1)[: b.numel()].view(b.shape) - b, torch.hypot,
)  # fmt: skip
IN_PLACE = (
    lambda x, y: x.clone().add_(y), lambda x, y: x.clone().mul_(2).sub_(y), lambda x, y: _row_written(x.clone(), y)
)  # fmt: skip


def _row_written(x, y):
    x[-1] = y[0] * 2
    x[:, ::2] += 1
    return x


def plan(chance: random.Random, length: int) -> list:
    """What is applied to which of the values so far."""
    made = []
    for n in range(2, 2 + length):
        kind = chance.choices((OF_ONE, OF_TWO, IN_PLACE), (5, 4, 1))[0]
        made.append(
            (
                chance.choice(kind),
                [chance.randrange(max(0, n - 4), n) for _ in range(1 if kind is OF_ONE else 2)],
            )
        )
    return made


class Graph(torch.nn.Module):
    def __init__(self, steps: list, results: list[int], shape: tuple[int, int]) -> None:
        super().__init__()
        self.steps, self.results = steps, results
        self.weight = torch.nn.Parameter(torch.randn(shape))

    def forward(self, x):
        values = [x, self.weight]
        for function, operands in self.steps:
            values.append(function(*(values[n] for n in operands)))
        return torch.stack([values[n] for n in self.results])


@pytest.mark.parametrize("seed", seeds(6))
def test_random_graphs(seed):
    chance = random.Random(seed)
    torch.manual_seed(seed)
    shape = chance.choice(((5, 4), (1, 7), (8, 3), (33, 17)))
    length = chance.randrange(4, 14)
    results = chance.sample(range(2, 2 + length), 2) + [1 + length]
    graph = Graph(plan(chance, length), results, shape).double()
    x = torch.randn(shape, dtype=torch.float64)
    compared(graph, x)
    trained(graph, x)
