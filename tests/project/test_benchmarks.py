"""The commands of ``benchmarks/`` run, on small arrays: every contender's result is checked by themselves."""

from __future__ import annotations

import json
import os
import sys

import pytest

from pykern.benchmarking import records
from tests.project.programs import attempt
from tests.project.tree import ROOT

SMALL = os.environ | {"PYKERN_BENCHMARKS_SMALL": "1", "PYTHONPATH": str(ROOT)}


def run(tmp_path, command: str, *arguments: str) -> tuple[list[records.Record], str, str]:
    """Records, standard output and standard error of a command that succeeds."""
    path, out = ROOT / "benchmarks" / command, tmp_path / "out.json"
    status, output, errors = attempt(
        sys.executable, path, "--json", out, "--no-plots", *arguments, cwd=tmp_path, environment=SMALL
    )
    assert status == 0, output + errors
    return records.read(str(out)), output, errors


@pytest.mark.slow
def test_the_table_beside_numpy(tmp_path):
    found, output, _ = run(tmp_path, "cpu.py", "--threads", "1", "--peers", "numpy")
    assert {r["benchmark"] for r in found} == {
        "launch", "saxpy", "heat", "softmax", "layernorm", "swiglu", "residual_layernorm", "matmul", "attention",
    }  # fmt: skip
    assert {(r["line"], r["allocates"]) for r in found if r["benchmark"] == "saxpy"} == {
        (line, allocates) for line in ("pykern", "numpy") for allocates in (False, True)
    }
    assert all(r["share_of_limit"] > 0 for r in found if r["benchmark"] != "launch")
    assert "into given arrays" in output
    assert "results allocated by every call" in output


@pytest.mark.slow
def test_polybench_is_right(tmp_path):
    found, _, errors = run(tmp_path, "polybench.py", "--threads", "1", "--peers", "numpy")
    assert "WRONG" not in errors
    assert len({r["benchmark"] for r in found}) == 17
    lines = {name: {r["line"] for r in found if r["benchmark"] == name} for name in ("syrk", "fdtd-2d")}
    assert {"pykern", "pykern kernels", "numpy"} <= lines["syrk"]
    assert "numpy, a tenth" in lines["fdtd-2d"]


@pytest.mark.slow
def test_ported_kernels_are_right(tmp_path):
    found, _, errors = run(tmp_path, "kernels.py", "--threads", "1")
    assert "WRONG" not in errors
    assert len({r["benchmark"] for r in found}) == 23
    assert {r["line"] for r in found} <= {"pykern", "numba"}


def test_forms_of_a_computation_give_the_same(tmp_path):
    out = tmp_path / "out.json"
    path = ROOT / "benchmarks" / "forms.py"
    given = ("--no-numba", "--quick", "--only", "clamped", "--scale", "0.1", "--seconds", "0", "--json", out)
    status, output, errors = attempt(sys.executable, path, *given, cwd=tmp_path, environment=SMALL)
    assert status == 0, output + errors
    (found,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert set(found["ms"]) == {"max", "ternary", "ifs", "scalars", "flat"}
    assert found["wrong"] == []
    assert found["ratio"] >= 1


@pytest.mark.slow
def test_forms_of_npbench_beside_a_checkout(tmp_path):
    """A checkout of one program, whose version for Numba is wrong and whose version for JAX fails."""
    folder = tmp_path / "npbench" / "benchmarks" / "pythran" / "arc_distance"
    folder.mkdir(parents=True)
    (tmp_path / "bench_info").mkdir()
    names = ["t", "p", "u", "q"]
    described = {
        "relative_path": "pythran/arc_distance", "module_name": "arc_distance", "func_name": "arcs",
        "parameters": {"S": {"N": 999}}, "input_args": names,
        "init": {"func_name": "initialize", "input_args": ["N"], "output_args": names},
    }  # fmt: skip
    (tmp_path / "bench_info" / "arc_distance.json").write_text(json.dumps({"benchmark": described}))
    for ending, text in {
        "": "import numpy as np\ndef initialize(N): return tuple(np.random.default_rng(1).random((4, N)))\n",
        "_numpy": "import numpy as np\ndef arcs(t, p, u, q):\n"
        "    h = np.sin((u - t) / 2) ** 2 + np.cos(t) * np.cos(u) * np.sin((q - p) / 2) ** 2\n"
        "    return 2 * np.arcsin(np.sqrt(h))\n",
        "_numba_n": "def arcs(t, p, u, q): return t\n",
        "_jax": "def arcs(t, p, u, q): raise ValueError('not today')\n",
    }.items():
        (folder / f"arc_distance{ending}.py").write_text(text)
    out = tmp_path / "out.json"
    given = (tmp_path, "--only", "arc", "--seconds", "0.01", "--busy", "--json", out)
    path = ROOT / "benchmarks" / "npbench.py"
    status, output, errors = attempt(sys.executable, path, *given, cwd=tmp_path, environment=SMALL)
    assert status == 0, output + errors
    (found,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert set(found["ms"]) == {"numpy", "pykern program", "pykern kernel", "pykern kernel, one loop"}
    assert found["failed"]["numba n"] == "wrong"
    assert "jax" in found["failed"]
    assert "slowest over fastest form" in output


@pytest.mark.slow
def test_products_behind_those_of_other_libraries(tmp_path):
    out = tmp_path / "out.json"
    status, output, errors = attempt(
        sys.executable, ROOT / "benchmarks" / "behind.py", "--size", "67", "--rounds", "1", "--calls", "2",
        "--json", out, cwd=tmp_path, environment=SMALL,
    )  # fmt: skip
    assert status == 0, output + errors
    rates = json.loads(out.read_text())["gflop_per_s"]
    assert {"pykern", "numpy", "pykern behind numpy", "numpy behind pykern"} <= set(rates)
    assert all(rate > 0 for rate in rates.values())


@pytest.mark.slow
def test_peers_that_are_not_there_or_end_the_process_are_named(tmp_path):
    """A peer that is not installed; and one that raises, is wrong, and ends the process."""
    (tmp_path / "peers_of_test.py").write_text(
        "import os\n"
        "from pykern.benchmarking.workload import Contender\n"
        "def one(case):\n"
        "    kind = case.workload.config['kind']\n"
        "    yield Contender('other', lambda: KINDS[kind](case['x']))\n"
        "def leave(x): os._exit(3)\n"
        "def fail(x): raise ValueError('not today')\n"
        "KINDS = {'raises': fail, 'wrong': lambda x: x, 'leaves': leave, 'right': lambda x: x + 1}\n"
    )
    (tmp_path / "suite_of_test.py").write_text(
        "import numpy as np\n"
        "from pykern.benchmarking.harness import Suite\n"
        "from pykern.benchmarking.interleaved import Effort\n"
        "from pykern.benchmarking.workload import Contender, Peer, Workload\n"
        "def workload(kind):\n"
        "    return Workload('one', {'kind': kind}, lambda: {'x': np.ones(4)},\n"
        "        lambda case: [Contender('pykern', lambda: case['x'] + 1)], lambda a: a['x'] + 1, 64, 4)\n"
        "PEERS = [Peer('other', 'peers_of_test', 'numpy'), Peer('ghost', 'ghost', 'no_such_package')]\n"
        "KINDS = ('right', 'raises', 'wrong', 'leaves', 'right again')\n"
        "SUITE = Suite('t', __file__, [workload(kind) for kind in KINDS], PEERS, Effort(2, 0.01))\n"
        "raise SystemExit(SUITE.main())\n"
    )
    out = tmp_path / "out.json"
    status, output, errors = attempt(
        sys.executable,
        tmp_path / "suite_of_test.py",
        "--json",
        out,
        "--threads",
        "1",
        cwd=tmp_path,
        environment=SMALL,
    )
    assert status == 0, output + errors
    assert "ghost: not installed (pip install no_such_package)" in output
    assert "other: ValueError: not today (one raises)" in output
    assert "other: wrong result: 1.0 is not 2.0" in output
    assert "other: it ended with status 3" in output
    lines = [(r["config"]["kind"], r["line"]) for r in records.read(str(out))]
    assert lines == [
        ("right", "pykern"), ("right", "other"), ("raises", "pykern"), ("wrong", "pykern"),
        ("leaves", "pykern"), ("right again", "pykern"),
    ]  # fmt: skip


@pytest.mark.slow
def test_growth_is_fitted(tmp_path):
    program = ROOT / "benchmarks" / "growth.py"
    asked = ("--skip-sizes", "--lines", "pykern", "--statements", "10,100,130", "--out", tmp_path)
    status, output, errors = attempt(sys.executable, program, *asked, cwd=tmp_path, environment=SMALL)
    assert status == 0, output + errors
    assert "exponent" in output
    found = records.read(str(tmp_path / "growth-compile.json"))
    lines = {
        "kernel",
        "kernel, memory",
        "program",
        "sum",
        "sum, gradient",
        "array sum",
        "array sum, gradient",
    }
    assert {f"pykern {line}" for line in lines} <= {r["line"] for r in found}
    assert {r["config"]["statements"] for r in found} == {10, 100, 130}
