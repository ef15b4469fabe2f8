"""Operators in compiled and exported graphs, under checkpointing, in several processes."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import warnings

import pytest

import pykern as pk
from pykern.pytest_plugin import need_package

torch = need_package("torch")

import pykern.torch as pkt  # noqa: E402
from pykern.torch.kernel_op import KernelOp  # noqa: E402
from tests.interop.torch.kernels import axpy, axpy_, axpy_expected, saxpy  # noqa: E402
from tests.interop.torch.test_program_ops import softmax  # noqa: E402

ALL = "PYKERN_FUZZ" in os.environ
everything = pytest.mark.skipif(not ALL, reason="takes a minute: make test-all")


@pytest.fixture(autouse=True)
def _fresh_dynamo():
    torch._dynamo.reset()


def aot(function, **options):
    """Dynamo and AOTAutograd, without the C++ of Inductor: it takes seconds to compile."""
    return torch.compile(function, fullgraph=True, backend="aot_eager", **options)


def gradients(function, *arguments):
    given = [a.detach().clone().requires_grad_() for a in arguments]
    return torch.autograd.grad(function(*given).square().sum(), given)


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_graphs(dynamic):
    def chain(x, y):
        return softmax(saxpy(x.sin(), y, 2.0).cos())

    def expected(x, y):
        return axpy_expected(x.sin(), y, 2.0).cos().softmax(-1)

    compiled = aot(chain, dynamic=dynamic)
    for length in (5, 9):
        x, y = torch.randn(length), torch.randn(length)
        torch.testing.assert_close(compiled(x, y), expected(x, y))
        for mine, theirs in zip(gradients(compiled, x, y), gradients(expected, x, y), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


def test_compiled_writes_into_views():
    def write(o, x, y):
        o = o.clone()
        axpy_(o[1:4], x, y, 2.0, ndrange=3)
        return o * o

    o, x, y = torch.randn(7), torch.randn(3), torch.randn(3)
    torch.testing.assert_close(aot(write)(o, x, y), write(o, x, y))
    for mine, theirs in zip(gradients(aot(write), o, x, y), gradients(write, o, x, y), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_compiled_calls_of_a_new_kind():
    """A tensor for a number is another operator, made while Dynamo traces."""
    x, y, a = torch.randn(4), torch.randn(4), torch.tensor(0.5)
    found = gradients(aot(lambda x, a: saxpy(x, y, a)), x, a)
    for mine, theirs in zip(found, gradients(lambda x, a: axpy_expected(x, y, a), x, a), strict=True):
        torch.testing.assert_close(mine, theirs)


class Module(torch.nn.Module):
    def forward(self, x, y):
        return saxpy(x, y, 2.0) + 1


def test_one_function_is_compiled_with_several_operators():
    """As layers of one class, each with an operator of its own."""

    class Layer(torch.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, *given):
            return self.function(*given).sin()

    x = torch.randn(4)
    for scale in (2.0, 3.0, 4.0):

        @pk.jit
        def scaled(x, scale=scale):
            return x * scale

        for function in (
            pkt.op(scaled),
            pkt.op(axpy, out={"o": pkt.like("x")}, ndrange=lambda x, y, a: x.shape),
        ):
            given = (x, x, 0.5) if isinstance(function, KernelOp) else (x, scale)
            compiled = torch.compile(Layer(function), fullgraph=True, backend="eager")
            torch.testing.assert_close(compiled(*given), function(*given).sin())


def test_exported_programs_have_gradients():
    x, y, n = torch.randn(7), torch.randn(7), torch.export.Dim("n")
    program = torch.export.export(Module(), (x, y), dynamic_shapes=({0: n}, {0: n}))
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    x, y = torch.randn(3), torch.randn(3)
    for mine, theirs in zip(gradients(loaded, x, y), gradients(Module(), x, y), strict=True):
        torch.testing.assert_close(mine, theirs)


def test_checkpointing():
    x, y = torch.randn(5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)

    def checkpointed(x):
        return torch.utils.checkpoint.checkpoint(lambda x: softmax(saxpy(x, y, 2.0)), x, use_reentrant=False)

    expected = gradients(lambda x: axpy_expected(x, y, 2.0).softmax(-1), x)
    torch.testing.assert_close(gradients(checkpointed, x), expected)


def test_signs_that_are_left_to_be_changed_and_expanded_gradients():
    x = torch.randn(4, dtype=torch.complex64).conj().imag
    torch.testing.assert_close(saxpy(x, x, 1.0), axpy_expected(x, x, 1.0))
    given = torch.randn(4, requires_grad=True)
    saxpy(given, x, 2.0).sum().backward()
    torch.testing.assert_close(given.grad, 2 * (2 * given.detach()).exp())


PROCESS = """
import os, sys
import torch
import torch.distributed as dist
import pykern.torch as pkt

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 2))
pkt.fuse(model)
data = torch.randn(6, 4)
whole = torch.autograd.grad(model(data).square().mean(), list(model.parameters()))
parallel = torch.nn.parallel.DistributedDataParallel(model)
parallel(data[rank * 3 : rank * 3 + 3]).square().mean().backward()
for mine, theirs in zip(model.parameters(), whole):
    torch.testing.assert_close(mine.grad, theirs, rtol=1e-4, atol=1e-5)
dist.destroy_process_group()
print("right")
"""


@pytest.mark.slow
@everything
def test_two_processes_train_one_model(tmp_path):
    (tmp_path / "one.py").write_text(PROCESS)
    ranks = [
        subprocess.Popen(
            [sys.executable, "one.py", str(rank), str(tmp_path / "store")],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(2)
    ]  # fmt: skip
    for rank in ranks:
        out, err = rank.communicate(timeout=300)
        assert out == "right\n", err


@pytest.mark.slow
@pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++"))), reason="there is no C++ compiler, which Inductor needs"
)
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")
def test_inductor_packages(tmp_path):
    x, y, n = torch.randn(7), torch.randn(7), torch.export.Dim("n")
    program = torch.export.export(Module(), (x, y), dynamic_shapes=({0: n}, {0: n}))
    package = torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "m.pt2"))
    x, y = torch.randn(3), torch.randn(3)
    torch.testing.assert_close(torch._inductor.aoti_load_package(package)(x, y), Module()(x, y))


def test_traces_of_torch_jit():
    """An operator in a trace is called with what the trace is called with: nothing of the first call stays in it."""
    x, y = torch.randn(3, 5), torch.randn(3, 5)
    expected = axpy_expected(y, y, 0.5), torch.softmax(y, -1)
    for given in (x, x.clone().requires_grad_()):
        for function, wanted in zip((lambda v: saxpy(v, v, 0.5), softmax), expected, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(given)
                traced = torch.jit.trace(function, (given,))
            torch.testing.assert_close(traced(y), wanted)


def test_traces_of_torch_jit_take_no_writes():
    o, x = torch.zeros(5), torch.randn(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(pk.KernelError, match=r"torch\.jit\.trace cannot record"):
            torch.jit.trace(lambda v: axpy_(o, v, v, 0.5, ndrange=5), (x,))
