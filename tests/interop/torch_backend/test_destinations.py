"""Results of parts in memory that is there already: of what nothing reads any more, and of running statistics."""

from __future__ import annotations

from typing import Any

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")

from pykern.torch.backend import backend, part  # noqa: E402
from pykern.torch.backend.writer import NotTaken  # noqa: E402
from tests.interop.torch_backend.compare import compared, in_torch, same, succeeded, trained  # noqa: E402


class Between(torch.nn.Module):
    """A convolution, and what `then` makes of its result."""

    def __init__(self, then):
        super().__init__()
        torch.manual_seed(0)
        self.convolution, self.then = torch.nn.Conv2d(3, 6, 1), then

    def forward(self, x):
        return self.then(self.convolution(x))


def donated(told: Any) -> list[tuple[str, ...]]:
    return [one.text.donated for one in told.graphs[0].parts[0].compiled]


@pytest.mark.parametrize("memory", [torch.contiguous_format, torch.channels_last])
def test_a_result_takes_the_memory_of_a_convolution(memory):
    model = Between(lambda y: torch.tanh(y) * 2 + y).to(memory_format=memory)
    told = compared(model, torch.randn(2, 3, 6, 6).to(memory_format=memory))
    assert donated(told) == [("given",)]


@pytest.mark.parametrize(
    "then",
    [
        lambda y: (torch.tanh(y) * 2 + 1).transpose(1, 2) + y,
        lambda y: torch.exp(y) + y.flip(1) + y.mean((2, 3), keepdim=True),
        lambda y: torch.softmax(y, 1) * y.amax(1, keepdim=True),
        lambda y: torch.exp(y.roll(1, 3)) + y[:, :, :, :1],
        lambda y: (torch.exp(y) + 1, torch.exp(-y.transpose(2, 3)) + 1),
        lambda y: (torch.exp(y).contiguous(memory_format=torch.channels_last), torch.exp(y) * 2),
    ],
    ids=["transposed", "flipped", "rows", "rolled", "two", "layouts"],
)
def test_what_is_read_in_another_order_is_right(then):
    compared(Between(then), torch.randn(2, 3, 6, 6))


def test_what_is_read_afterwards_keeps_its_memory():
    for then in (
        lambda y: (torch.exp(y) * 2 + 1, y),
        lambda y: (torch.exp(y) * 2 + 1, y.view(-1)),
        lambda y: (torch.exp(y) * 2 + 1, y.cumsum(0)),
    ):
        assert donated(compared(Between(then), torch.randn(2, 3, 6, 6))) == [()]
    # A saved activation is a result of the forward graph.
    assert donated(trained(Between(lambda y: torch.exp(y) * 2 + 1), torch.randn(2, 3, 6, 6))) == [()]


class Normed(torch.nn.Module):
    """Two batch norms, one of them behind a convolution."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.convolution = torch.nn.Conv2d(3, 4, 3)
        self.norms = torch.nn.ModuleList([torch.nn.BatchNorm2d(3), torch.nn.BatchNorm2d(4, momentum=0.3)])

    def forward(self, x):
        return torch.relu(self.norms[1](self.convolution(self.norms[0](x))))


def steps(dynamic: bool | None = None, grad: bool = False) -> Any:
    """The compiled model after some calls, beside another; its summary."""
    torch._dynamo.reset()
    models = Normed(), Normed()
    compiled = torch.compile(models[0], backend=backend, dynamic=dynamic)
    with torch.set_grad_enabled(grad):
        for batch in (2, 5, 3):
            x = torch.randn(batch, 3, 5, 5)
            same(compiled(x).detach(), models[1](x).detach())
    same([*models[0].buffers()], [*models[1].buffers()])
    return compiled, models


@pytest.mark.sweep("dynamic", "grad")
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("grad", [False, True])
def test_running_statistics_are_updated_where_they_are(dynamic, grad):
    compiled, models = steps(dynamic, grad)
    left = in_torch(succeeded(compiled))
    assert "aten.convolution.default" in left
    assert "aten.copy_.default" not in left
    counted = models[0].norms[1].num_batches_tracked
    assert int(counted) == 3
    assert counted._version >= 3


def test_a_part_in_torch_updates_them_too(monkeypatch):
    def fails(*_):
        raise NotTaken("no program")

    monkeypatch.setattr(part, "written", fails)
    steps()


def test_a_gradient_needs_the_statistics_of_before():
    """What was saved of a norm is not written unseen."""
    torch._dynamo.reset()
    norm = torch.nn.BatchNorm2d(3)
    x = torch.randn(2, 3, 4, 4, requires_grad=True)
    norm.eval()
    saved = norm(x).square().sum()
    norm.train()
    compiled = torch.compile(norm, backend=backend)
    with torch.no_grad():
        compiled(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.backward()


def test_inference_mode_updates_them_too():
    models = Normed(), Normed()
    torch._dynamo.reset()
    compiled = torch.compile(models[0], backend=backend)
    with torch.inference_mode():
        for _ in range(2):
            x = torch.randn(2, 3, 5, 5)
            same(compiled(x), models[1](x))
    same([*models[0].buffers()], [*models[1].buffers()])


class Overlapping(torch.nn.Module):
    """Buffers that look at one memory."""

    def __init__(self):
        super().__init__()
        whole = torch.ones(8)
        self.register_buffer("whole", whole)
        self.register_buffer("first", whole[:4])
        self.register_buffer("middle", whole[2:6])

    def forward(self, x):
        self.first.add_(x)
        self.middle.mul_(2)
        y = torch.exp(self.whole * 0.1) + 1
        self.whole.sub_(0.1)
        return y * self.first.sum(), self.middle + 1


def test_buffers_that_overlap_are_written_in_order():
    models = Overlapping(), Overlapping()
    torch._dynamo.reset()
    compiled = torch.compile(models[0], backend=backend)
    with torch.no_grad():
        for _ in range(3):
            x = torch.randn(4)
            same(compiled(x), models[1](x))
    same([*models[0].buffers()], [*models[1].buffers()])


class Looked(torch.nn.Module):
    """A buffer whose values of before are results, in forms that a program may write as looks at it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("held", torch.arange(5.0))

    def forward(self, x):
        before = self.held.flip(0), x.clone().copy_(self.held), self.held.to(torch.float32, copy=True)
        self.held.mul_(2).add_(x)
        return *before, x * 2 + 1


def test_values_of_before_are_no_looks_at_what_is_written():
    models = Looked(), Looked()
    torch._dynamo.reset()
    compiled = torch.compile(models[0], backend=backend)
    with torch.no_grad():
        for _ in range(2):
            x = torch.randn(5)
            same(compiled(x), models[1](x))
    same([*models[0].buffers()], [*models[1].buffers()])
    succeeded(compiled)
