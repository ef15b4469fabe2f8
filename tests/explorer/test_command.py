"""``pykern explore`` as a user types it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pykern.explorer import text
from pykern.explorer.comparison import Comparison
from pykern.tools.cli import main
from tests.explorer.samples import SAMPLES
from tests.tools.warm_tools import pykern

KERNELS = Path(__file__).with_name("samples.py")
CALL = (f"{KERNELS}::saxpy", "--args", "f32[?] f32[?] f32[?] f32", "--ndrange", "?")


def explore(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return pykern("explore", *CALL, *arguments, cwd=cwd)


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
    (subject,) = read["subjects"]
    assert subject["kernel"]["name"] == "saxpy"
    assert subject["stages"][0]["ops"]["memref.store"] == 1


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
    data = Comparison((sample.look("llvm"),))
    line = sample.line("z[i] = a")
    shown = list(text.lines_of(data, line))
    assert shown[1].strip() == "z[i] = a * x[i] + y[i]"
    stages = shown[shown.index("0 kern") :]
    assert all(row.startswith("    # ") for row in shown[2 : -len(stages)])
    assert "memref.load" in stages[1]
    assert any("mulf" in row for row in shown)
    one = list(text.lines_of(data, line, "llvm-emit"))
    assert len(one) < len(shown)
    start = next(n for n, row in enumerate(one) if row.endswith("llvm-emit"))
    assert all(row.startswith(f"{line:>5} ") for row in one[start + 1 :])


def test_a_stage_with_its_python_beside():
    data = SAMPLES["saxpy"].look("llvm")
    rows = list(text.stage_with_lines(Comparison((data,)), "kern"))
    assert len(rows) == len(data.stages[0].text.splitlines())
    stored = next(row for row in rows if "memref.store" in row)
    assert stored.split()[0] == str(SAMPLES["saxpy"].line("z[i] = a"))


def test_difference_of_stages():
    rows = list(SAMPLES["saxpy"].look("llvm").diff("kern", "kern-expand-ndrange"))
    assert rows[:2] == ["--- kern", "+++ kern-expand-ndrange"]
    assert any(row.startswith("+") and "scf.for" in row for row in rows)


def test_two_targets_and_a_derivative_in_the_terminal():
    shown = explore("--text", "--target", "llvm,nvvm:sm_80").stdout
    assert " for llvm\n" in shown and " for nvvm:sm_80\n" in shown
    between = explore("--diff", "llvm-emit", "ptx", "--target", "llvm,nvvm:sm_80").stdout
    assert between.startswith("--- llvm-emit\n+++ ptx\n")
    derived = explore("--text", "--grad").stdout
    assert "saxpy" in derived
    assert "llvm-emit" in derived


def test_a_kernel_that_fails_shows_how_far_it_came(tmp_path):
    done = explore("--text", "--target", "nvvm:sm_80", "--workgroup", "2048")
    assert done.returncode == 1
    assert "kern-place-work-items" in done.stdout
    assert "a group of 2048 work-items" in done.stderr
    assert done.stdout.count("✕") == 1


@pytest.mark.parametrize(
    ("target", "code"), [("llvm", "llvm-emit"), ("spirv:opencl3.0", "spirv-assemble"), ("nvvm:sm_90a", "ptx")]
)
def test_a_program_for_a_target(tmp_path, capsys, target, code):
    file = tmp_path / "prog.py"
    file.write_text("import pykern as pk\n\n\n@pk.jit\ndef f(x):\n    return (x * x).sum()\n")
    assert main(["explore", f"{file}::f", "--args", "f32[64,32]", "--target", target, "--text"]) == 0
    shown = capsys.readouterr().out
    assert f"for {target}" in shown and code in shown


def test_a_program_needs_no_index_space(tmp_path):
    file = tmp_path / "prog.py"
    file.write_text("import pykern as pk\n\n\n@pk.jit\ndef f(x):\n    return pk.exp(x) * x\n")
    done = pykern("explore", f"{file}::f", "--args", "f32[8]", "--line", "6")
    assert done.returncode == 0, done.stderr
    assert "return pk.exp(x) * x" in done.stdout
    assert "linalg.generic" in done.stdout
