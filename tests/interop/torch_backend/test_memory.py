"""Views, updates in place, results that are arguments: what is the same memory in PyTorch is so when compiled."""

from __future__ import annotations

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")

from pykern.torch.backend import backend  # noqa: E402
from tests.interop.torch_backend.compare import compared, same, succeeded, trained  # noqa: E402


def both(function, *inputs):
    """Results and arguments afterwards, of the compiled function and of the plain one."""
    torch._dynamo.reset()
    found = []
    compiled = torch.compile(function, backend=backend)
    for run in (compiled, function):
        given = [x.clone() for x in inputs]
        found.append((run(*given), given))
    same(*found)
    succeeded(compiled)
    return found[0]


def added_in_place(x, y):
    x.add_(y).mul_(2)
    return x.sum(), torch.exp(x)


def read_before_it_is_written(x, y):
    z = torch.sin(x) * y + 1
    x.copy_(z)
    return torch.cumsum(z, 0), torch.cos(x) * 2 + y


def part_written(x, y):
    x[1:, ::2] = y[:-1, ::2] * 2 + 1
    return x * y + 1


def view_and_base(x, y):
    z = torch.exp(x) + y
    z.t().mul_(2)
    return z, z.t(), z[0]


def kept_and_written(x, y):
    total = x.sum()
    y.copy_(x)
    x.mul_(2)
    return total


def turned_and_written(x, y):
    total = x.sum()
    y.t().copy_(x.t())
    x.t().exp_().add_(1)
    return total


@pytest.mark.parametrize(
    "function",
    [
        added_in_place,
        read_before_it_is_written,
        part_written,
        view_and_base,
        kept_and_written,
        turned_and_written,
    ],
)
def test_updates_in_place(function):
    both(function, torch.rand(4, 6), torch.rand(4, 6))


def test_a_result_that_is_an_argument():
    result, given = both(lambda x: (x, x.view(-1), torch.exp(x) * 2), torch.rand(3, 4))
    assert result[0] is given[0]
    assert result[1].data_ptr() == given[0].data_ptr()


def test_results_that_share_memory():
    def function(x):
        y = torch.exp(x) * 2 + 1
        return y, y[1], y.t()

    (y, row, turned), _ = both(function, torch.rand(3, 4))
    assert row.data_ptr() == y[1].data_ptr()
    assert turned.data_ptr() == y.data_ptr()


def test_views_that_are_results_and_computed_with():
    def function(x):
        y = x * 2 + 1
        repeated, part = y.expand(3, *y.shape), y.sin()[:, ::2].t()
        return repeated, part, repeated * x + 1, (part + 1).tanh()

    compared(function, torch.randn(4, 6))
    compared(function, torch.randn(4, 6), dynamic=True)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.bfloat16])
def test_arguments_of_any_type_get_new_values(dtype):
    """The program that writes them is one, whatever their type is called where it is stored."""

    def function(x, y):
        x.masked_fill_(y > 0, 0)
        return y.sin() + 1

    both(function, torch.ones(5, 3).to(dtype), torch.randn(5, 3))


@pytest.mark.parametrize(
    "function",
    [lambda x, y: x.mul(2).copy_(y), lambda x, y: (x.mul(2).copy_(z := y.exp() + 1), z)],
    ids=["argument", "result"],
)
def test_a_copy_is_memory_of_its_own(function):
    result, given = both(function, torch.rand(3, 4), torch.rand(3, 4))
    result = result if isinstance(result, tuple) else (result,)
    places = {t.data_ptr() for t in (*result, *given)}
    assert len(places) == len(result) + len(given)


def test_two_equal_results_are_two():
    (a, b), _ = both(lambda x: ((y := torch.exp(x) + 1), y.clone()), torch.rand(5))
    assert a.data_ptr() != b.data_ptr()


@pytest.mark.parametrize(
    "given",
    [
        torch.rand(4, 6).t(), torch.rand(8, 12)[::2, ::3], torch.rand(6).expand(4, 6), torch.rand(25)[1:].view(4, 6),
        torch.rand(2, 3, 4).permute(2, 0, 1), torch.rand(3, 1, 4)[:, :, ::2],
    ],
    ids=["transposed", "strided", "expanded", "offset", "permuted", "ones"],
)  # fmt: skip
def test_arguments_as_they_lie(given):
    told = compared(lambda x: (torch.exp(x) * 2 + 1, x.sum(0) - 1), given)
    assert told.graphs[0].parts


def test_buffers_are_updated():
    model = torch.nn.BatchNorm1d(4)
    other = torch.nn.BatchNorm1d(4)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend)
    for _ in range(3):
        x = torch.randn(5, 4)
        same(compiled(x).detach(), other(x).detach())
    same([*model.buffers()], [*other.buffers()])


class Counted(torch.nn.Module):
    """Times the number of calls, which is written before it is used, and read again in the backward pass."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return self.layer(x).relu() * self.calls


def test_gradients_are_of_what_was_before_a_write():
    trained(Counted(), torch.randn(3, 4))


def test_negated_and_conjugated_views_are_right():
    z = torch.randn(4, dtype=torch.complex64)
    compared(lambda x: (torch.exp(x) * 2, x + 1), z.conj().imag)


class Cache(torch.nn.Module):
    """Some rows of memory are written, and the whole of it is read; a counter is given out."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(2, 8, 3))
        self.register_buffer("columns", torch.zeros(2, 8, 3))
        self.register_buffer("last", torch.zeros(3, 3))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x, place):
        self.calls += 1
        self.rows[:, place] = x
        self.columns[:, 2:4] = x
        self.last[1] = x[0, 0]
        self.last.mul_(0.5)
        return torch.exp(self.rows * 2) + self.columns.cumsum(1), self.last.cumsum(0), self.calls


def test_rows_of_a_cache_are_written_where_they_are():
    models = Cache(), Cache()
    torch._dynamo.reset()
    compiled = torch.compile(models[0], backend=backend)
    with torch.no_grad():
        for n in range(3):
            given = torch.randn(2, 2, 3), torch.tensor([n, n + 3])
            same(compiled(*given), models[1](*given))
            same([*models[0].buffers()], [*models[1].buffers()])
    written = {left.operation for graph in succeeded(compiled).graphs for left in graph.left}
    assert "aten.index_put_.default" in written
    assert not {"aten.index_put.default", "aten.slice_scatter.default"} & written


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x.add_(y), x.t())[1],
        lambda x, y: (y.copy_(x.cumsum(0)), y + x)[1],
        lambda x, y: (x.cumsum(0), x.index_add_(0, torch.tensor([0, 1]), y[:2]), x.view(-1))[::2],
        lambda x, y: (x.cumsum_(1).cumsum_(0), y.index_fill_(0, torch.tensor([2]), 4.0), x.cumsum(0)),
        lambda x, y: x.copy_(x.flip(0).cumsum(0)) + y,
    ],
    ids=["view", "other", "given", "twice", "reversed"],
)
def test_what_is_computed_where_it_is_needed(function):
    both(function, torch.rand(4, 6), torch.rand(4, 6))


def filled_and_turned(x):
    """An operation that finds elements by strides, and a write through a view of another order."""
    z = x * 1
    z.fill_diagonal_(0.0)
    z.t().sub_(1)
    return z


def test_copies_keep_the_order_of_what_they_are_copied_into():
    compared(lambda x, y: torch.exp(x).contiguous().copy_(y), torch.rand(4, 6).t(), torch.rand(4, 6).t())
    x, weights = torch.rand(5, 4, requires_grad=True), torch.rand(5, 4)
    torch._dynamo.reset()
    compiled = torch.compile(filled_and_turned, backend=backend, fullgraph=True)
    found, expected = (
        torch.autograd.grad((run(x) * weights).sum(), x) for run in (compiled, filled_and_turned)
    )
    torch.testing.assert_close(found, expected)
