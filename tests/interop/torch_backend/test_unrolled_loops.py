"""Time steps of a loop that Dynamo unrolls: products by one factor are joined, and equal steps are one program."""

from __future__ import annotations

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")

from tests.interop.torch_backend.compare import compared, trained  # noqa: E402

STEPS = 6
TOGETHER = {
    "stack": torch.stack,
    "stack of batches": lambda given: torch.stack(given, 1),
    "stack of columns": lambda given: torch.stack(given, 2),
    "cat": torch.cat,
    "cat of columns": lambda given: torch.cat(given, 1),
    "reversed": lambda given: torch.stack(given[::-1]),
    "some": lambda given: torch.stack(given[1:-1]),
    "twice": lambda given: (torch.stack(given), torch.cat(given)),
    "each used": lambda given: torch.stack([n * y.sin() for n, y in enumerate(given)]) + torch.stack(given),
    "two": lambda given: given[-1] + given[0],
    "results": tuple,
}


class Recurrent(torch.nn.Module):
    """The hidden state by hand, and a layer over each of the states."""

    def __init__(self, together, bias=True):
        super().__init__()
        self.together = together
        self.state = torch.nn.Linear(5 + 7, 7, bias=bias)
        self.out = torch.nn.Linear(7, 3, bias=bias)

    def forward(self, x, h):
        given = []
        for t in range(x.shape[0]):
            h = torch.tanh(self.state(torch.cat((x[t], h), 1)))
            given.append(self.out(h))
        return self.together(given)


class Wide(Recurrent):
    """With products of the states that stay in PyTorch, so that each step is a part of its own."""

    def __init__(self):
        super().__init__(torch.stack)
        self.state, self.out = torch.nn.Linear(5 + 300, 300), torch.nn.Linear(300, 3)


def texts(summary):
    return [program.text.text for graph in summary.graphs for program in graph.programs]


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


@pytest.mark.parametrize(
    "together", ["stack", *(pytest.param(n, marks=pytest.mark.slow) for n in TOGETHER if n != "stack")]
)
def test_steps_give_what_pytorch_gives(together):
    model = Recurrent(TOGETHER[together], bias=together != "cat")
    compared(model, torch.randn(STEPS, 4, 5), torch.randn(4, 7))


@pytest.mark.slow
@pytest.mark.parametrize("together", ["stack", "stack of batches", "each used"])
def test_steps_are_trained(together):
    trained(Recurrent(TOGETHER[together]), torch.randn(STEPS, 4, 5), torch.randn(4, 7))


def test_products_by_one_layer_are_one():
    summary = compared(Recurrent(torch.stack), torch.randn(STEPS, 4, 5), torch.randn(4, 7))
    assert sum(text.count(" @ ") for text in texts(summary)) == STEPS + 1


def test_equal_steps_are_one_program():
    summary = compared(Wide(), torch.randn(9, 4, 5), torch.randn(4, 300))
    found = texts(summary)
    assert len(found) >= 9 and len({*found}) <= 3


@pytest.mark.slow
def test_random_numbers_stay_in_order():
    def noisy(x, w):
        rows = [(x[t] + torch.rand_like(x[t])) @ w for t in range(STEPS)]
        return torch.stack([torch.nn.functional.dropout(row, 0.5) for row in rows])

    x, w = torch.randn(STEPS, 4, 5), torch.randn(5, 3)
    values = []
    for run in (noisy, torch.compile(noisy, backend="pykern")):
        torch.manual_seed(3)
        values.append(run(x, w))
    torch.testing.assert_close(*values)


@pytest.mark.slow
def test_writes_between_products():
    def function(x, w, o, kept):
        rows = []
        for t in range(STEPS):
            rows.append(x[t] @ w)
            o[t] = rows[-1].sum()
            x[t].add_(1)
        kept.copy_(rows[2])
        return torch.stack(rows) + (x[0] @ w)

    w, values = torch.randn(5, 3), []
    for run in (function, torch.compile(function, backend="pykern")):
        torch.manual_seed(3)
        x, o, kept = torch.randn(STEPS, 4, 5), torch.zeros(STEPS), torch.zeros(4, 3)
        values.append((run(x, w, o, kept), x, o, kept))
    torch.testing.assert_close(*values)


@pytest.mark.slow
def test_a_product_is_written_to_an_argument():
    def function(x, w, kept):
        rows = [x[t] @ w for t in range(STEPS)]
        kept.copy_(rows[2])
        return torch.cat(rows).sin()

    x, w = torch.randn(STEPS, 4, 5), torch.randn(5, 3)
    ours, theirs = torch.zeros(4, 3), torch.zeros(4, 3)
    with torch.no_grad():
        found = torch.compile(function, backend="pykern")(x, w, ours)
    torch.testing.assert_close(found, function(x, w, theirs))
    torch.testing.assert_close(ours, theirs)
