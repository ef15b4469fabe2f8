"""``pykern explore`` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pykern.explorer import text
from tests.explorer.samples import SAMPLES

KERNELS = Path(__file__).with_name("samples.py")
CALL = (f"{KERNELS}::saxpy", "--args", "f32[?] f32[?] f32[?] f32", "--ndrange", "?")


def explore(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pykern.tools.cli", "explore", *CALL, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


def test_writes_a_page(tmp_path):
    done = explore("-o", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_text_lists_stages():
    shown = explore("--text", "--target", "nvvm:sm_80").stdout
    assert "saxpy(z: f32[?], x: f32[?], y: f32[?], a: f32) for nvvm:sm_80" in shown
    assert " ptx " in shown


def test_json_is_the_data():
    read = json.loads(explore("--json").stdout)
    assert read["kernel"]["name"] == "saxpy"
    assert read["stages"][0]["ops"]["memref.store"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--line", "1"), "no line 1; there are"),
        (("--stage", "nothing"), "no stage 'nothing'; there are kern"),
        (("--stage", "99"), "no stage 99; there are"),
    ],
)
def test_refuses(arguments, said):
    done = explore(*arguments)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_line_in_all_stages():
    sample = SAMPLES["saxpy"]
    data = sample.look("llvm")
    line = sample.line("z[i] = a")
    shown = list(text.lines_of(data, line))
    assert shown[1].strip() == "z[i] = a * x[i] + y[i]"
    assert shown[2] == "0 kern"
    assert "memref.load" in shown[3]
    assert any("mulf" in row for row in shown)
    one = list(text.lines_of(data, line, "llvm-emit"))
    assert len(one) < len(shown)
    assert one[2].endswith("llvm-emit")
    assert all(row.startswith(f"{line:>5} ") for row in one[3:])


def test_a_stage_with_its_python_beside():
    data = SAMPLES["saxpy"].look("llvm")
    rows = list(text.stage_with_lines(data, "kern"))
    assert len(rows) == len(data.stages[0].text.splitlines())
    stored = next(row for row in rows if "memref.store" in row)
    assert stored.split()[0] == str(SAMPLES["saxpy"].line("z[i] = a"))


def test_difference_of_stages():
    rows = list(SAMPLES["saxpy"].look("llvm").diff("kern", "kern-expand-ndrange"))
    assert rows[:2] == ["--- kern", "+++ kern-expand-ndrange"]
    assert any(row.startswith("+") and "scf.for" in row for row in rows)
