"""How the backend is found, what its summary says, which parts are programs."""

from __future__ import annotations

import dataclasses
from importlib.metadata import EntryPoint

from pykern.environment import settings as environment
from pykern.pytest_plugin import need_package
from tests.project.test_packaging import PROJECT

torch = need_package("torch")

import pykern.torch as pkt  # noqa: E402
from pykern.torch.backend import backend, writes  # noqa: E402
from tests.interop.torch_backend.compare import compared, in_torch, taken  # noqa: E402
from tests.interop.torch_backend.models import Residual, perceptron  # noqa: E402


def test_it_is_found_by_name():
    group = "torch_dynamo_backends"
    value = PROJECT["entry-points"][group]["pykern"]
    assert EntryPoint("pykern", value, group).load() is backend
    assert "pykern" in torch.compiler.list_backends()


def test_the_summary_is_of_one_compilation():
    torch._dynamo.reset()
    first, second = (torch.compile(perceptron(), backend="pykern") for _ in range(2))
    assert str(pkt.summary(first)) == "nothing has been compiled yet"
    first(torch.randn(3, 10))
    assert len(pkt.summary(first).graphs) == 1
    assert not pkt.summary(second).graphs
    assert not pkt.summary(torch.compile(perceptron(), backend="eager")).graphs


def test_the_summary_is_of_all_graphs_of_a_function():
    def function(x):
        y = torch.exp(x) * 2
        torch._dynamo.graph_break()
        return y.sum() + 1 - y

    torch._dynamo.reset()
    compiled = torch.compile(function, backend="pykern")
    compiled(torch.randn(4))
    assert [graph.taken for graph in pkt.summary(compiled).graphs] == [2, 3]


def test_the_summary_says_what_is_where():
    told = compared(Residual().eval(), torch.randn(1, 4, 5, 5))
    assert str(told).splitlines()[0] == "inference: 7 operations in 2 programs, 2 in PyTorch"
    assert "2 x aten.convolution.default: no rule writes it" in str(told)
    assert "fused_native_batch_norm_legit_no_training_relu (2 operations)" in str(told)


def test_the_summary_is_told_in_the_log(capsys, monkeypatch):
    log = dataclasses.replace(environment.settings(), log=frozenset({"remarks"}))
    monkeypatch.setattr("pykern.torch.backend.summary.settings", lambda: log)
    compared(lambda x: torch.exp(x) * 2 + 1, torch.randn(4))
    assert "inference: 3 operations in 1 programs, 0 in PyTorch" in capsys.readouterr().err


def test_programs_can_be_looked_into():
    told = compared(lambda x: torch.nn.functional.gelu(x) + x.mean(0), torch.randn(4, 3))
    [program] = told.graphs[0].programs
    assert program.__name__ == "fused_gelu_mean_add"
    assert "pk.erf" in program.text.text
    assert "math.erf" in program.lower(torch.randn(4, 3).numpy()).stages[0].text


def test_equal_parts_are_one_program():
    class Twice(torch.nn.Module):
        def forward(self, x):
            y = torch.tanh(x) * 2 + 1
            return torch.tanh(y.cumsum(0)) * 2 + 1

    told = compared(Twice(), torch.randn(3, 4))
    first, second = told.graphs[0].programs
    assert first is second


def test_one_operation_alone_stays_in_torch():
    assert taken(compared(torch.nn.ReLU(), torch.randn(4))) == 0
    assert taken(compared(torch.nn.Softmax(-1), torch.randn(4, 3))) == 1
    large = torch.randn(512, 512)
    assert [taken(compared(f, large)) for f in (torch.relu, torch.tanh, lambda x: x @ x)] == [0, 1, 0]
    assert taken(compared(torch.relu, torch.randn(1024, 1024))) == 1


def test_large_results_are_in_memory_that_is_kept():
    """Of every type and order of axes, and freed where the last tensor over it dies."""
    x = torch.randn(600, 1000)
    for _ in range(3):
        compared(lambda x: (torch.exp(x) * 2).bfloat16(), x)
        compared(lambda x: (torch.exp(x) * 2, (x + 1 > 0) & (x < 2), x.double().sin() + 1), x.t())


def test_views_at_the_end_stay_in_torch():
    told = compared(lambda x: (torch.exp(x) * 2).t(), torch.randn(4, 3))
    [part] = told.graphs[0].parts
    assert [n.target.overloadpacket.__name__ for n in part.operations] == ["exp", "mul"]


def test_what_fails_to_compile_runs_in_torch(monkeypatch):
    """A rule with a fault of its own: the summary says so, and the result is right."""
    from pykern.torch.backend import ops

    monkeypatch.setitem(
        ops.TABLE, torch.ops.aten.exp.default, lambda w, node: f"pk.nothing({w.name(node.args[0])})"
    )
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: torch.exp(x) * 2 + 1, backend="pykern")
    x = torch.randn(4)
    torch.testing.assert_close(compiled(x), torch.exp(x) * 2 + 1)
    [graph] = pkt.summary(compiled).graphs
    assert (graph.taken, graph.in_torch) == (0, 3)
    assert "nothing" in str(graph)


def test_writes_come_last():
    """What is left in PyTorch may read an argument that is written at the end."""

    def function(x):
        y = torch.exp(x) * 2 + 1
        z = torch.cumsum(x, 0)
        x.copy_(y)
        return torch.cumsum(z, 0) * y

    torch._dynamo.reset()
    x = torch.rand(5)
    a, b = x.clone(), x.clone()
    torch.testing.assert_close(torch.compile(function, backend="pykern")(a), function(b))
    torch.testing.assert_close(a, b)


def test_a_graph_that_writes_elsewhere_is_left_alone():
    graph = torch.fx.symbolic_trace(lambda x: torch.ops.aten.add_.Tensor(x, 1) * 2)
    assert writes.writes_elsewhere(graph)


def test_few_rows_by_large_weights_stay_in_torch():
    """Laying the weights out costs as much as the product; with many rows it does not."""
    model = torch.nn.Sequential(torch.nn.Linear(300, 300), torch.nn.GELU(), torch.nn.LayerNorm(300))
    few, many = (compared(model, torch.randn(rows, 300)) for rows in (4, 128))
    assert "aten.addmm.default" in in_torch(few) and taken(few) == 2
    assert taken(many) == 3
    assert taken(compared(lambda x, w: (x @ w).relu(), torch.randn(4, 300), torch.randn(300, 300))) == 2


def test_short_rows_are_put_together_in_torch():
    """As blocks, where they are in the cache; long rows, and few, are put together in the program."""

    def joined(x):
        return torch.cat((x.exp() * 2, x.tanh() + 1), 1)

    short, long, few = (
        compared(joined, torch.randn(shape)) for shape in ((4, 64, 6, 6), (4, 8, 4, 64), (1, 4, 2, 2))
    )
    assert "aten.cat.default" in in_torch(short) and taken(short) == 4
    assert taken(long) == taken(few) == 5
