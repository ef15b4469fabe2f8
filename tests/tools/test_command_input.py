"""``pykern compile`` and its siblings on what is no kernel, or no command: one message, and an exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pykern.tools.cli import main

KERNELS = Path(__file__).with_name("kernels_for_tools.py")
SAXPY = f"{KERNELS}::saxpy"
TYPES = "f32[?] f32[?] f32[?] f32"
WRONG_KERNEL, USAGE, NO_DEVICE, STOPPED = 1, 2, 3, 130

FILES: dict[str, tuple[bytes, str]] = {
    "syntax": (b"x = (\n", "is no Python: '(' was never closed"),
    "null": (b"x = 1\0", "is no Python: source code string cannot contain null bytes"),
    "binary": (bytes(range(256)), "is no Python: "),
    "latin": (b"x = 1\nname = '\xe9'\n", "is no Python: "),
    "exits": (b"import sys\nsys.exit(3)\n", "ends the process while it is imported (exit status 3)"),
    "raises": (
        b"def f():\n    return 1 / 0\n\nf()\n",
        "raises ZeroDivisionError: division by zero while it is",
    ),
    "lacks": (b"import there_is_no_such_module\n", "raises ModuleNotFoundError: No module named"),
    "recursive": (b"def f(): f()\nf()\n", "raises RecursionError: maximum recursion depth exceeded"),
    "library": (b"import json\njson.loads('{')\n", "raises JSONDecodeError: "),
    "empty": (b"", "has no kernel `saxpy`"),
}
PLACES = {"syntax": 1, "exits": 2, "raises": 2, "lacks": 1, "recursive": 1, "library": 2}
"""The lines that are named."""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int | str | None, str]:
    try:
        status = main(list(arguments))
    except SystemExit as ended:  # argparse's
        status = ended.code
    return status, capsys.readouterr().err


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """What files add to Python's path goes again."""
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("command", ["compile", "explore", "bisect", "repro"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_module(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, expected = FILES[name]
    file = tmp_path / f"{name}_file.py"
    file.write_bytes(data)
    status, said = run(capsys, command, f"{file}::saxpy", "--args", TYPES, "--ndrange", "4")
    assert status == WRONG_KERNEL
    assert expected in said and "Traceback" not in said
    assert said.count("\n") < 45
    if name in PLACES:
        assert f'File "{file}", line {PLACES[name]}' in said


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("command", ["compile", "explore", "bisect", "repro"])
def test_a_file_that_is_not_there(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "kernels.txt"
    text.write_bytes(KERNELS.read_bytes())
    for file, expected in (
        (tmp_path / "none.py", "there is no file"),
        (tmp_path, "is a folder, and a Python file is expected"),
        (text, "is no Python file: the name of one ends in `.py`"),
    ):
        status, said = run(capsys, command, f"{file}::saxpy", "--args", TYPES, "--ndrange", "4")
        assert status == USAGE
        assert expected in said


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(
    ("status", "expected", "arguments"),
    [
        (1, "`abc` is no length", ["--args", TYPES, "--ndrange", "abc"]),
        (1, "`` is no length", ["--args", TYPES, "--ndrange", "4,"]),
        (1, "`-4` is no length", ["--args", TYPES, "--ndrange=-4"]),
        (1, "`99999999999999999999` is no length", ["--args", TYPES, "--ndrange", "99999999999999999999"]),
        (1, "has 9 dimensions", ["--args", TYPES, "--ndrange", "1,1,1,1,1,1,1,1,1"]),
        (1, "say its index space", ["--args", TYPES]),
        (1, "`x` is no length", ["--args", TYPES, "--ndrange", "4", "--workgroup", "x"]),
        (1, "every length of a workgroup is known", ["--args", TYPES, "--ndrange", "4", "--workgroup", "?"]),
        (1, "integers of at least 1", ["--args", TYPES, "--ndrange", "4", "--workgroup", "0"]),
        (1, "`` is no length", ["--args", "f32[] f32[?] f32[?] f32", "--ndrange", "4"]),
        (1, "`-4` is no length", ["--args", "f32[-4] f32[?] f32[?] f32", "--ndrange", "4"]),
        (
            1,
            "a length is an integer in 0..",
            ["--args", "f32[9999999999999999999] f32[?] f32[?] f32", "--ndrange", "4"],
        ),
        (1, "`f33` is no type", ["--args", "f33 f32[?] f32[?] f32", "--ndrange", "4"]),
        (1, "no stage 'krn'", ["--args", TYPES, "--ndrange", "4", "--stage", "krn"]),
        (
            1,
            "did you mean 'kern-expand-ndrange'",
            ["--args", TYPES, "--ndrange", "4", "--stage", "kern-expnd-ndrange"],
        ),
        (1, "no stage ''", ["--args", TYPES, "--ndrange", "4", "--stage="]),
        (1, "no stage '\u00b2'", ["--args", TYPES, "--ndrange", "4", "--stage", "\u00b2"]),
        (1, "no stage -99", ["--args", TYPES, "--ndrange", "4", "--stage=-99"]),
        (1, "no stage 'nothing'", ["--args", TYPES, "--ndrange", "4", "--diff", "kern", "nothing"]),
        (2, "no target `llvm:foo`", ["--args", TYPES, "--ndrange", "4", "--target", "llvm:foo"]),
        (2, "no target `z80`", ["--args", TYPES, "--ndrange", "4", "--target", "z80"]),
        (2, "no target `entry:program`", ["--args", TYPES, "--ndrange", "4", "--target", "entry:program"]),
        (
            2,
            "cannot be written: No such file",
            ["--args", TYPES, "--ndrange", "4", "-o", "/no/such/folder/x"],
        ),
        (2, "cannot be written: Is a directory", ["--args", TYPES, "--ndrange", "4", "-o", os.curdir]),
    ],
)
def test_a_wrong_call(
    status: int, expected: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found, said = run(capsys, "compile", SAXPY, *arguments)
    assert (found, expected in said, "Traceback" in said) == (status, True, False), said


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(
    ("status", "expected", "arguments"),
    [
        (1, "did you mean `saxpy`?", ["compile", f"{KERNELS}::saxpi"]),
        (1, "which kernel of", ["compile", str(KERNELS)]),
        (1, "no stage '--1'", ["explore", SAXPY, "--args", TYPES, "--ndrange", "4", "--stage=--1"]),
        (1, "no stage ''", ["explore", SAXPY, "--args", TYPES, "--ndrange", "4", "--stage="]),
        (1, "no line 99", ["explore", SAXPY, "--args", TYPES, "--ndrange", "4", "--line", "99"]),
        (
            2,
            "cannot be written",
            ["explore", SAXPY, "--args", TYPES, "--ndrange", "4", "-o", "/no/such/folder/x"],
        ),
        (
            2,
            "there is no file",
            ["explore", SAXPY, "--args", TYPES, "--ndrange", "4", "--against", "none.py::k"],
        ),
        (
            2,
            "cannot be written",
            ["repro", SAXPY, "--args", TYPES, "--ndrange", "4", "-o", "/no/such/folder/x"],
        ),
        (1, "names no argument", ["repro", SAXPY, "--args", TYPES, "--ndrange", "4", "--value", "\u00b2=1"]),
        (1, "is no number", ["repro", SAXPY, "--args", TYPES, "--ndrange", "4", "--value", "3=--1"]),
        (2, "invalid _seed value", ["bisect", SAXPY, "--args", TYPES, "--ndrange", "4", "--seed=-1"]),
        (2, "invalid _tolerance value", ["bisect", SAXPY, "--args", TYPES, "--ndrange", "4", "--rtol=nan"]),
        (1, "no pass `nothing`", ["bisect", SAXPY, "--args", TYPES, "--ndrange", "4", "--pass", "nothing"]),
        (
            3,
            "no device 'nothing'",
            ["bisect", SAXPY, "--args", TYPES, "--ndrange", "4", "--device", "nothing"],
        ),
        (
            1,
            "arrays of these lengths cannot be made",
            ["bisect", SAXPY, "--args", "f32[99999999999999] f32[4] f32[4] f32", "--ndrange", "4"],
        ),
        (
            1,
            "`z`: int cannot be indexed",
            ["bisect", SAXPY, "--args", TYPES, "--ndrange", "4", "--value", "0=1"],
        ),
        (2, "there is no file", ["bench", "none.py"]),
        (2, "this process may use", ["bench", str(KERNELS), "--threads", "x"]),
        (2, "holds no results: it is no text", ["bench", str(KERNELS), "--compare", "BINARY"]),
    ],
)
def test_siblings(
    status: int, expected: str, arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    arguments = [str(tmp_path / "binary") if a == "BINARY" else a for a in arguments]
    found, said = run(capsys, *arguments)
    assert (found, expected in said, "Traceback" in said) == (status, True, False), said


@pytest.mark.usefixtures("path")
def test_ctrl_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "interrupted.py"
    file.write_text("raise KeyboardInterrupt\n")
    assert run(capsys, "compile", f"{file}::k") == (STOPPED, "pykern: stopped\n")


def test_a_failing_benchmark_file(tmp_path: Path) -> None:
    file = tmp_path / "raising.py"
    file.write_text("x = 1 / 0\n")
    command = [sys.executable, "-m", "pykern", "bench", str(file), "--no-compile", "--no-limits"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == WRONG_KERNEL
    assert (
        "raises ZeroDivisionError: division by zero" in done.stderr
        and f'File "{file}", line 1' in done.stderr
    )
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_output_that_goes_nowhere() -> None:
    command = [sys.executable, "-m", "pykern", "explain"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    assert (done.returncode, done.stderr) == (
        WRONG_KERNEL, "pykern: the output cannot be written: No space left on device\n",
    )  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
