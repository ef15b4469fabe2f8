"""Runs of up to four ranks, under MPI's launcher and over torch.distributed; and what goes wrong in them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pykern.environment.machine import processors
from pykern.pytest_plugin import need_device, need_package
from tests.project.tree import ROOT

HERE = Path(__file__).parent
CASES = [
    line[4:].partition("(")[0]
    for line in (HERE / "cases.py").read_text().splitlines()
    if line.startswith("def case_")
]
TIMEOUT = 240


def launcher() -> str:
    """The launcher beside mpi4py's MPI: it stands in the folder of Python's own, of an environment that this one
    uses."""
    need_package("mpi4py")
    import mpi4py

    folders = [Path(sys.executable).parent, *(p / "bin" for p in Path(mpi4py.__file__).parents)]
    found = next((folder / "mpiexec" for folder in folders if (folder / "mpiexec").exists()), None)
    return str(found.resolve()) if found is not None else "mpiexec"


def command(size: int, *program: str) -> list[str]:
    return [launcher(), "-n", str(size), sys.executable, *program]


def environment() -> dict[str, str]:
    """Of Open MPI: more ranks than processors, and root, are allowed. Each rank has one thread."""
    allowed = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "PYKERN_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(allowed, "1"), "OMPI_MCA_rmaps_base_oversubscribe": "true"}


def finished(arguments: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT, env=environment())


# -- what holds in any number of ranks -------------------------------------------------------------


@pytest.fixture(scope="module", params=[1, 2, pytest.param(3, marks=pytest.mark.slow), 4])
def held(request, tmp_path_factory):
    """The cases that held in a run of so many ranks, and what the run printed."""
    results = tmp_path_factory.mktemp("ranks") / "held"
    run = finished(command(request.param, str(HERE / "cases.py"), str(results)))
    return results.read_text().split() if results.exists() else [], run


@pytest.mark.timeout(TIMEOUT)
@pytest.mark.parametrize("case", CASES)
def test_ranks(held, case):
    names, run = held
    assert case in names, run.stderr[-4000:]


def test_progress_is_printed_by_the_first_rank_alone(held):
    assert held[1].stderr.count("pykern: compiling") <= 1


@pytest.mark.timeout(TIMEOUT)
@pytest.mark.slow
def test_messages_in_the_memory_of_a_device():
    need_device("cuda:emulated")
    run = finished(command(2, str(HERE / "device_cases.py")))
    assert run.stdout.split() == ["held"] * 2, run.stderr[-4000:]


@pytest.mark.timeout(TIMEOUT)
def test_over_torch_distributed(tmp_path):
    need_package("torch")
    results = tmp_path / "held"
    program = [sys.executable, str(HERE / "cases.py"), str(results), "gloo"]
    ranks = [
        subprocess.Popen(
            [*program, str(rank), "2", str(tmp_path / "store")], stderr=subprocess.PIPE, env=environment()
        )
        for rank in range(2)
    ]
    errors = [rank.communicate(timeout=TIMEOUT)[1].decode() for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], errors
    assert results.read_text().split() == CASES


@pytest.mark.timeout(TIMEOUT)
def test_the_example_has_the_same_bits_on_any_number_of_ranks(tmp_path):
    files = [tmp_path / f"heights{size}.npy" for size in (1, 2, 4)]
    for size, file in zip((1, 2, 4), files, strict=True):
        program = (str(ROOT / "examples" / "shallow_water.py"), "--shape", "60", "50", "--steps", "40")
        run = finished(command(size, *program, "--output", str(file)))
        assert run.returncode == 0, run.stderr
    assert len({file.read_bytes() for file in files}) == 1


# -- what goes wrong -----------------------------------------------------------------------------

HEAD = """
import os, signal, sys, numpy as np, pykern as pk
grid = pk.mpi.Grid((16, 16), halo=1, timeout=3)
x = grid.zeros(pk.f32)
for step in range(1000000):
    grid.exchange(x)
    if grid.rank == 1 and step == 20:
        {}
"""


def run_that_fails(tmp_path, what):
    program = tmp_path / "program.py"
    program.write_text(HEAD.format(what))
    begun = time.monotonic()
    run = finished(command(2, str(program)))
    assert run.returncode != 0
    assert time.monotonic() - begun < 60
    return run.stdout + run.stderr


def test_a_rank_that_raises_ends_the_run(tmp_path):
    told = run_that_fails(tmp_path, "raise ValueError('the reason')")
    assert "ValueError: the reason" in told and "rank 1 of 2 ends the run" in told


def test_a_rank_that_is_killed_ends_the_run(tmp_path):
    assert "signal 9" in run_that_fails(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)").lower()


def test_a_rank_that_leaves_by_force_ends_the_run(tmp_path):
    told = run_that_fails(tmp_path, "os._exit(0)")
    assert "rank 1 of 2 called os._exit(0) before MPI was finalised" in told


def test_a_rank_that_leaves_ends_the_run(tmp_path):
    told = run_that_fails(tmp_path, "sys.exit(0)")
    assert "rank 0 of 2 waited in vain for the halos of its neighbours" in told
    assert "another rank has ended, or does something else" in told


def test_ranks_that_call_different_things_end(tmp_path):
    told = run_that_fails(tmp_path, "grid.allreduce(1)")
    assert "waited in vain for" in told


def test_the_launcher_of_another_mpi_is_noticed(tmp_path):
    """One that starts ranks of which mpi4py's MPI knows nothing, as Open MPI's does with MPICH."""
    need_package("mpi4py")
    program = "import pykern as pk; pk.mpi.Grid(8, halo=1)"
    told = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**environment(), **told},
        timeout=60,
    )
    assert "the launcher started 2 ranks, and mpi4py's MPI knows one" in run.stderr


def test_ranks_share_the_processors_of_their_machine(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import pathlib, sys, pykern as pk\n"
        "grid = pk.mpi.Grid(8, halo=1)\n"
        "pathlib.Path(sys.argv[1], str(grid.rank)).write_text(str(pk.get_num_threads()))\n"
    )
    everything = {k: v for k, v in environment().items() if k != "PYKERN_NUM_THREADS"}
    run = subprocess.run(
        command(2, str(program), str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=everything,
    )
    assert run.returncode == 0, run.stderr
    threads = [(tmp_path / str(rank)).read_text() for rank in range(2)]
    assert threads == [str(max(1, processors() // 2))] * 2


def test_ctrl_c_ends_a_wait(tmp_path):
    """In a rank that waits for another one, which computes something long."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, signal, threading, time, pykern as pk\n"
        "grid = pk.mpi.Grid(8, halo=1)\n"
        "x = grid.zeros(pk.f32)\n"
        "if grid.rank == 1: time.sleep(30)\n"
        "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "grid.exchange(x)\n"
    )
    begun = time.monotonic()
    run = finished(command(2, str(program)))
    assert "KeyboardInterrupt" in run.stderr and time.monotonic() - begun < 25
