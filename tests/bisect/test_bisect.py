"""`bisect` names the pass at fault: a user's, and built-in ones that were broken on purpose, on every device."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from pykern.compiler.service import Service
from pykern.environment.settings import Settings
from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.spirv.finish import FinishSpirv
from pykern.passes.framework import Pass
from pykern.passes.kernel.tighten_bounds import TightenBounds
from pykern.passes.kernels import find
from pykern.testing import bisect, bisection
from pykern.tools.cli import main
from tests.bisect.kernels import cases
from tests.bisect.wrong_passes import last_sum_becomes_a_difference, stores_are_lost

RUNS = ["cpu", "opencl:0", "vulkan:0"]
FILE = Path(__file__).with_name("kernels.py")


@pytest.fixture
def compiled_here(monkeypatch):
    """The compiler in this process, so that a pass can be replaced."""
    here = Service(chosen=Settings(compiler="inprocess"))
    monkeypatch.setattr(bisection, "service", lambda: here)


@pytest.mark.parametrize("device", RUNS, indirect=True)
@pytest.mark.parametrize("step", [last_sum_becomes_a_difference, stores_are_lost])
def test_a_users_pass(device, step, rng, tmp_path):
    kernel, args, launch = cases(rng)["heat"]
    fault = bisect(kernel, *args, device=device, passes=[step], **launch)
    assert fault is not None
    assert fault.name == fault.stage == step.__name__
    assert fault.before == "kern-round-once"  # the last of the kern stage
    assert "`T2[" in fault.difference
    assert re.search(r"^[-+] .*(arith\.subf|memref\.store)", fault.diff, re.MULTILINE)
    path = tmp_path / "reproducer.py"
    assert fault.write_reproducer(str(path))
    ran = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.startswith("before the pass: as in Python\nafter the pass:   `")


def test_a_reproducer_tells_when_the_pass_is_mended(rng, tmp_path):
    kernel, args, launch = cases(rng)["heat"]
    fault = bisect(kernel, *args, passes=[stores_are_lost], **launch)
    path = tmp_path / "reproducer.py"
    fault.write_reproducer(str(path))
    text = path.read_text()
    path.write_text(
        re.sub(r"'stores_are_lost', \(.*\), PARAMETERS", "'canonicalize', None, PARAMETERS", text)
    )
    ran = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def broken(kind: type[Pass], then, monkeypatch) -> None:
    """`kind` does what it does, and harm."""
    right = kind.run

    def run(self, module):
        right(self, module)
        then(module)

    monkeypatch.setattr(kind, "run", run)


def one_less(module) -> None:
    """The first loop ends before its last step."""
    from mlir import ir
    from mlir.dialects import arith

    loop = find(module.operation, lambda op: op.name == "scf.for")[-1]
    with ir.InsertionPoint(loop), loop.location:
        step = arith.ConstantOp(ir.IndexType.get(), 3).result
        loop.operands[1] = arith.SubIOp(loop.operands[1], step).result


def negated(module) -> None:
    """The last SPIR-V sum of floats is a difference."""
    from mlir import ir

    op = find(module.operation, lambda one: one.name == "spirv.FAdd")[-1]
    with ir.InsertionPoint(op):
        made = ir.Operation.create(
            "spirv.FSub", results=[op.results[0].type], operands=list(op.operands), loc=op.location
        )
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()


@pytest.mark.parametrize(
    ("device", "kind", "harm"),
    [
        ("cpu", TightenBounds, one_less),
        ("opencl:0", FlattenMemory, last_sum_becomes_a_difference),
        ("vulkan:0", FlattenMemory, last_sum_becomes_a_difference),
        ("opencl:0", FinishSpirv, negated),
        ("vulkan:0", FinishSpirv, negated),
    ],
    indirect=["device"],
)
def test_a_broken_built_in_pass(device, kind, harm, rng, monkeypatch, compiled_here):
    broken(kind, harm, monkeypatch)
    kernel, args, launch = cases(rng)["heat"]
    fault = bisect(kernel, *args, device=device, **launch)
    assert fault is not None
    assert fault.name.partition("{")[0] == kind.name
    assert fault.suspects == (fault.stage,)
    assert fault.before != fault.stage


def test_what_is_right_has_no_fault(rng):
    kernel, args, launch = cases(rng)["sums"]
    before = [a.copy() for a in args]
    assert bisect(kernel, *args, **launch) is None
    assert all(np.array_equal(a, b) for a, b in zip(args, before, strict=True))


def test_programs_are_refused():
    with pytest.raises(pk.KernelTypeError, match="takes a kernel"):
        bisect(pk.jit(one_less), np.zeros(3), ndrange=3)


# -- the command ----------------------------------------------------------------------------------

SAXPY = """
import pykern as pk

@pk.kernel
def saxpy(z, x, a):
    i = pk.index()
    z[i] = a * x[i]
"""


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("saxpy_here.py").write_text(SAXPY)
    call = ["bisect", "saxpy_here.py::saxpy", "--args", "f32[9] f32[9] f64", "--ndrange", "9"]
    assert main(call) == 0
    assert "gives what plain Python gives (seed 0)" in capsys.readouterr().out
    monkeypatch.setattr("pykern.tools.bisect_command.bisect", faulty(bisect))
    assert main([*call, "--seed", "3", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["fault"] == "stores_are_lost"
    assert Path(told["reproducer"]).read_text().startswith('"""A pass of pykern that changes')
    assert main([*call, "--value", "2=0", "--value", "9=1"]) == 1
    assert "names no argument" in capsys.readouterr().err
    assert main(["bisect", "saxpy_here.py::saxpy", "--args", "f32[9] f32[9] f64"]) == 1


def faulty(search):
    return lambda *args, passes=(), **keywords: search(*args, passes=(stores_are_lost,), **keywords)
