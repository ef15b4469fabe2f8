"""The benchmarks of devices run, on small arrays: what they time is checked against NumPy by themselves."""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import pytest

from pykern.lowering.nvvm.disassembly import disassembler
from pykern.lowering.nvvm.ptxas import ptxas
from pykern.pytest_plugin import need_package
from tests.cases.texts import imported
from tests.project.programs import attempt, run
from tests.project.tree import ROOT

GPU = ROOT / "benchmarks" / "gpu.py"


@pytest.mark.slow
def test_every_device(tmp_path):
    program, file = ROOT / "benchmarks" / "devices.py", tmp_path / "out.json"
    run(sys.executable, program, "--small", "--only", "copy", "--json", file, cwd=tmp_path)
    found = json.loads(file.read_text())
    assert [row["name"] for row in found["rows"]] == ["copy, the driver's", "copy"]
    assert all(set(row["times"]) == set(found["devices"]) for row in found["rows"])
    assert all(seconds > 0 for row in found["rows"] for seconds in row["times"].values())


@pytest.mark.slow
def test_two_trees_by_turns(tmp_path):
    """A tree beside itself: rows of each device, and a mean."""
    program = ROOT / "benchmarks" / "devices_by_turns.py"
    output = run(sys.executable, program, ROOT, "--quick", "--turns", "1", "--only", "copy", cwd=tmp_path)
    rows = [line.split() for line in output.splitlines()]
    assert ["copy", "cpu"] in [row[:2] for row in rows]
    assert ["geometric", "mean", "cpu"] in [row[:3] for row in rows]
    assert "in one tree alone" not in output


def test_times_of_two_trees_are_compared():
    turns = imported(ROOT / "benchmarks" / "devices_by_turns.py")
    before = {("copy", "cpu"): 2e-3, ("sum", "cpu"): 1e-3, ("old", "cpu"): 1.0}
    lines = turns.compared(before, {("copy", "cpu"): 1e-3, ("sum", "cpu"): 2e-3})
    assert lines[1].split() == ["copy", "cpu", "2.000", "1.000", "0.50"]
    assert lines[3].split() == ["geometric", "mean", "cpu", "1.00"]
    assert lines[4] == "in one tree alone: old"


@pytest.mark.slow
@pytest.mark.parametrize("device", ["opencl:0", "cuda:emulated", "rocm:emulated"], indirect=True)
def test_a_gpu_by_its_own_clock(device, tmp_path):
    """The whole way on a device that is here: its tests, times by events, rates."""
    test, file = "tests/parity/test_kernels.py::test_early_return", tmp_path / "out.json"
    options = ("--device", device, "--small", "--only", "matmul", "--json", file, "--tests", test)
    output = run(sys.executable, GPU, *options, cwd=tmp_path)
    assert "1 passed" in output
    assert "GFLOP/s" in output
    rows = json.loads(file.read_text())["rows"]
    assert [row["name"] for row in rows] == ["matmul, naive", "matmul, shared"]
    assert all(row["times"]["pykern"] > 0 and row["compile_ms"] > 0 for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["opencl:0", "cuda:emulated", "rocm:emulated"], indirect=True)
@pytest.mark.parametrize(
    ("only", "names"),
    [
        ("library", ["causal attention of the library, float16", "residual and RMS norm of the library"]),
        ("gradient", ["gradient of heat", "gradient of a softmax program"]),
        ("graph", ["9 steps of heat in a graph"]),
    ],
)
def test_the_library_gradients_and_graphs(only, names, device, tmp_path):
    """Each is compared with NumPy before it is timed."""
    file = tmp_path / "out.json"
    run(
        sys.executable,
        GPU,
        "--device",
        device,
        "--small",
        "--only",
        only,
        "--json",
        file,
        "--tests",
        cwd=tmp_path,
    )
    rows = json.loads(file.read_text())["rows"]
    assert [row["name"] for row in rows] == names
    assert all(row["times"]["pykern"] > 0 and row["compile_ms"] > 0 for row in rows)


def test_functions_of_numpys_interface(monkeypatch):
    """What CuPy is asked for on a GPU, asked of NumPy."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    peers, named = (importlib.import_module(name) for name in ("gpu_peers", "device_workloads"))
    compared = []
    for workload in named.workloads(n=1000, side=40, cube=12, product=32, rows=8):
        arrays = tuple(x.copy() for x in workload.arrays)
        function = peers.array_peer(np, workload.name, arrays)
        if function is not None:
            function()
            np.testing.assert_allclose(
                arrays[0], workload.expected(), rtol=1e-4, atol=1e-4, err_msg=workload.name
            )
            compared.append(workload.name)
    assert len(compared) == 12


@pytest.mark.slow
@pytest.mark.parametrize("device", ["opencl:0"], indirect=True)
def test_nothing_is_timed_where_no_test_passes(device, tmp_path):
    status, output, errors = attempt(
        sys.executable, GPU, "--device", device, "--small", "--tests", "tests/project/tree.py", cwd=tmp_path
    )
    assert status == 1
    assert "nothing is timed" in errors
    assert "GB/s" not in output


@pytest.mark.slow
def test_instructions_beside_cuda(tmp_path):
    """A whole kernel, and a loop that is found by its line in both sources."""
    need_package("cuda.bindings")
    if ptxas() is None or disassembler() is None:
        pytest.skip("ptxas or nvdisasm: not installed (the extra cuda)")
    program = ROOT / "benchmarks" / "gpu_code.py"
    for row, loops in (("saxpy", [""]), ("rmsnorm", ["squares", "write"])):
        file = tmp_path / f"{row}.json"
        run(sys.executable, program, "--only", row, "--json", file, cwd=tmp_path)
        found = json.loads(file.read_text())["rows"]
        assert [each["loop"] for each in found] == loops
        assert all(2 < each[who] < 40 for each in found for who in ("pykern", "cuda"))


@pytest.mark.slow
def test_instructions_of_tensor_cores(tmp_path):
    """A product's main loop on Hopper: twice the multiply-adds of an instruction before, no spills."""
    if ptxas() is None or disassembler() is None:
        pytest.skip("ptxas or nvdisasm: not installed (the extra cuda)")
    program = ROOT / "benchmarks" / "gpu_code.py"
    given = "--tensor-cores", "--only", "product", "--chip"
    rows = [run(sys.executable, program, *given, chip, cwd=tmp_path) for chip in ("sm_80", "sm_90a")]
    (before, *_), (now, *rest) = (map(int, row.split("product")[1].split()) for row in rows)
    assert now > 2 * before
    assert rest[-1] == 0


@pytest.mark.slow
def test_instructions_for_amd(tmp_path):
    """The main loop of a product is one of matrix cores, and nothing is spilled."""
    need_package("llvmlite")
    file = tmp_path / "rows.json"
    program = ROOT / "benchmarks" / "amd_code.py"
    run(sys.executable, program, "--chip", "gfx942", "--only", "product f16", "--json", file, cwd=tmp_path)
    (row,) = json.loads(file.read_text())["rows"]
    assert row["matrices"] == 32 and row["reads"] == 8
    assert row["spills"] == row["stack"] == 0
    assert row["multiply-adds"] > 15
