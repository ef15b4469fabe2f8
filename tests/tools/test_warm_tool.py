"""pykern-opt in forks of one process, as lit runs it: what it prints and its status are those of the tool itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pykern.tools import warm_server
from tests.tools.warm_tools import ALONE, CLI_ALONE, cli, in_place

KERNELS = Path(__file__).with_name("kernels_for_tools.py")
FUNCTION = b"func.func @f() -> i32 {\n  %0 = arith.constant 1 : i32\n  return %0 : i32\n}\n"


@pytest.fixture(scope="module")
def warm():
    """The command that stands for the tool; its server ends with the tests of this file."""
    command = warm_server.client_command(os.environ)
    if not command:
        pytest.skip("this system has no forks")
    server = warm_server.servers[-1]
    yield command
    warm_server.servers.remove(server)
    server.stdin.close()
    assert server.wait(timeout=60) == 0
    assert not Path(command[-2]).parent.exists()


def outcome(command, arguments, data=FUNCTION, **options):
    done = subprocess.run([*command, *arguments], input=data, capture_output=True, timeout=300, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "data", "status"),
    [
        (["--canonicalize", "--mlir-print-op-generic"], FUNCTION, 0),
        (["--mlir-print-ir-after-all", "--cse"], FUNCTION, 0),
        ([], b"func.func @f(", 1),
        (["--no-such-pass"], FUNCTION, 2),
        (["--split-input-file=3"], FUNCTION, 2),
        (["missing.mlir"], b"", 2),
    ],
)
def test_the_same_as_the_tool(warm, tmp_path, arguments, data, status):
    expected = outcome(ALONE, arguments, data, cwd=tmp_path)
    assert expected[0] == status
    assert outcome(warm, arguments, data, cwd=tmp_path) == expected


def test_a_client_with_other_variables_of_python_starts_the_tool(warm):
    variables = {**os.environ, "PYTHONOPTIMIZE": "1"}
    assert outcome(warm, ["--cse"], env=variables) == outcome(ALONE, ["--cse"])


def test_without_a_server_the_tool_starts(tmp_path):
    client = [sys.executable, "-I", "-S", warm_server.warm_client.__file__, str(tmp_path / "none"), ALONE[-1]]
    assert outcome(client, ["--cse"]) == outcome(ALONE, ["--cse"])


def test_pykern_compiles_in_a_fork_as_it_does_in_a_process_of_its_own():
    call = ["compile", f"{KERNELS}::saxpy", "--args", "f32[?] f32[?] f32[?] f32", "--ndrange", "?", "--asm"]
    status, printed, errors = outcome(cli(), call, env=in_place())
    assert (status, printed) == outcome(CLI_ALONE, call)[:2]  # the latter may say that it compiles
    assert (status, errors) == (0, b"") and b"pk_run:" in printed
