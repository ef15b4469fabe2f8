"""``pykern test``: lit tests in any folder, and CHECK lines that it writes."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pykern.environment.installation import install_extra
from pykern.testing.filecheck import problems
from pykern.testing.generated_checks import check_lines
from pykern.testing.lit import FEATURES, llvm_tools
from pykern.testing.lit_run import find

RUN = "// RUN: %pykern-opt %s --canonicalize | FileCheck %s\n"
FUNCTION = """\
func.func @f(%x: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %x, %0 : i32
  %2 = arith.muli %1, %1 : i32
  return %2 : i32
}
"""
GOOD = RUN + "// CHECK: arith.muli\n// CHECK-NOT: arith.addi\n" + FUNCTION
BAD = RUN + "// CHECK: arith.subi\n" + FUNCTION


@pytest.fixture
def command(tmp_path):
    """``command({name: text}, *arguments)`` writes tests, runs ``pykern test`` there: exit code and output."""

    def run(tests: dict[str, str], *arguments: str) -> tuple[int, str]:
        for name, text in tests.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "pykern.tools.cli", "test", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_runs_what_has_run_lines_and_leaves_nothing_behind(command, tmp_path):
    tests = {
        "a/good.mlir": GOOD,
        "a/names.py": "# A script.\n# RUN: %python %s | FileCheck %s\n# CHECK: 42\nprint(6 * 7)\n",
        "a/no_test.py": "print('no RUN line')\n",
        "a/test_text.py": 'TEXT = """\n# RUN: false\n"""\n',
        "a/Inputs/input.mlir": BAD,
        ".hidden/bad.mlir": BAD,
    }
    status, output = command(tests, "-v")
    assert status == 0, output
    assert "2 passed" in output
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(tests)


def test_a_failure_is_told_with_its_place(command, tmp_path):
    status, output = command(
        {"good.mlir": GOOD, "bad.mlir": BAD, "not_here.mlir": "// REQUIRES: magic\n" + GOOD}
    )
    assert status == 1
    assert f"{tmp_path / 'bad.mlir'}:2:11: error: CHECK: expected string not found in input" in output
    assert "Test requires the following unavailable features: magic" in output
    assert output.rstrip().endswith("1 passed, 1 failed, 1 not run")
    assert "# |" not in output


def test_a_test_without_checks_says_how_they_are_written(command):
    status, output = command({"bare.mlir": RUN + FUNCTION})
    assert status == 1 and "`pykern test --update` writes CHECK lines" in output


def test_json(command):
    status, output = command({"good.mlir": GOOD, "bad.mlir": BAD}, "--json")
    assert status == 1
    results = {test["name"].split(" :: ")[1]: test["result"] for test in json.loads(output)["tests"]}
    assert results == {"good.mlir": "PASS", "bad.mlir": "FAIL"}


def test_paths_filters_and_parameters(command):
    slow = {
        "slow.mlir": "// REQUIRES: slow\n" + BAD,
        "good.mlir": GOOD,
        "target.mlir": "// RUN: test %target = x:1\n",
    }
    assert command(slow, "good.mlir", "slow.mlir")[0] == 0
    assert command(slow, "-D", "slow=1", "slow.mlir")[0] == 1
    assert command(slow, "--filter", "good|slow")[0] == 0
    assert command(slow, "-D", "target=x:1")[0] == 0
    assert command(slow, "target.mlir")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "there is no such file or folder"),
        (("empty",), "no file with RUN lines"),
        (("--filter", "zzz"), "no test has a name like 'zzz'"),
    ],
)
def test_nothing_to_run_is_a_usage_error(command, arguments, said):
    status, output = command({"good.mlir": GOOD, "empty/x.py": "print()\n"}, *arguments)
    assert status == 2
    assert said in output


def test_suites_with_a_configuration_are_left_to_it(command, tmp_path):
    config = (
        "from pykern.testing import lit as pykern_lit\npykern_lit.configure(config, lit_config, __file__)\n"
        "config.name = 'own'\nconfig.suffixes = ['.test']\n"
    )
    tests = {"loose.mlir": GOOD, "own/lit.cfg.py": config, "own/a.test": GOOD, "own/b.mlir": BAD}
    status, output = command(tests, "-v")
    assert status == 0, output
    assert "own :: a.test" in output
    assert "2 passed" in output
    found = find([tmp_path])
    assert found.suites == (tmp_path / "own",)
    assert found.files == (tmp_path / "loose.mlir",)
    status, output = command({"own/lit.cfg.py": "no python"}, "own")
    assert status == 3
    assert "unable to parse config file" in output


def test_lit_that_is_missing_is_named(monkeypatch, capsys, tmp_path):
    import importlib.util

    from pykern.tools.cli import main

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "lit" else real(name))
    (tmp_path / "a.mlir").write_text(GOOD)
    assert main(["test", str(tmp_path)]) == 3
    assert install_extra("test") in capsys.readouterr().err


# -- --update --------------------------------------------------------------------------------------


def test_update_writes_lines_that_pass_and_can_fail(command, tmp_path):
    test = tmp_path / "f.mlir"
    status, output = command({"f.mlir": RUN + FUNCTION}, "--update")
    assert status == 0, output
    assert "f.mlir: CHECK lines written" in output
    written = test.read_text()
    assert written.startswith(RUN + FUNCTION)
    assert "// CHECK-LABEL: func.func @f(\n" in written
    assert "// CHECK-NEXT: %[[V1:.*]] = arith.muli %[[V0]], %[[V0]] : i32\n" in written
    assert problems(written, ".mlir", FEATURES) == []

    assert command({}, "--update")[0] == 0
    assert test.read_text() == written  # idempotent
    assert "CHECK lines up to date" in command({}, "--update")[1]

    changed = written.replace("arith.muli %1, %1", "arith.muli %1, %x")  # folds to the same
    assert command({"f.mlir": changed})[0] == 0
    changed = written.replace("arith.muli %1, %1 : i32\n  return", "arith.subi %1, %1 : i32\n  return")
    assert command({"f.mlir": changed})[0] == 1
    assert command({}, "--update")[0] == 0
    assert "muli" not in test.read_text().split("Generated by")[1]


def test_update_keeps_what_stands_outside_of_the_block(command, tmp_path):
    test = tmp_path / "f.mlir"
    command({"f.mlir": RUN + FUNCTION}, "--update")
    start = test.read_text().replace(FUNCTION, "// CHECK: module\n// CHECK-NOT: addi\n" + FUNCTION)
    start = start.replace("// CHECK: module {\n", "") + "// The end.\n"
    command({"f.mlir": start.replace("arith.muli %[[V0]]", "arith.nothing %[[V0]]")}, "--update")
    text = test.read_text()
    assert "// CHECK: module\n// CHECK-NOT: addi\n" in text
    assert text.endswith("// The end.\n")
    assert "nothing" not in text


def test_update_leaves_tests_written_by_hand_alone(command, tmp_path):
    status, output = command({"good.mlir": GOOD}, "--update")
    assert status == 0
    assert "written by hand, kept" in output
    assert (tmp_path / "good.mlir").read_text() == GOOD


def test_update_with_prefixes_scripts_and_input_files(command, tmp_path):
    two = "// RUN: %pykern-opt %s | FileCheck %s --check-prefix=ALL\n" + RUN + FUNCTION
    script = "# RUN: %python %s > %t\n# RUN: FileCheck %s --input-file %t --check-prefixes SAID,X\n"
    script += "print('a [[b]]\\n\\nc')\n"
    status, output = command({"two.mlir": two, "say.py": script}, "--update")
    assert (
        (tmp_path / "say.py")
        .read_text()
        .endswith(
            "# SAID: a {{\\[\\[}}b]]\n# SAID-EMPTY:\n# SAID-NEXT: c\n# End of the generated lines (prefix SAID).\n"
        )
    )
    assert "ALL-NEXT: %[[V2:.*]] = arith.addi" in (tmp_path / "two.mlir").read_text()
    assert output.count("lines written") == 3
    assert status == 1  # the prefix X stands nowhere: FileCheck says so, no update hides it


def test_update_of_what_is_no_text(command, tmp_path):
    script = tmp_path / "latin.py"
    script.write_bytes(
        b"# -*- coding: latin-1 -*-\n# RUN: %python %s | FileCheck %s\nprint('caf\xe9'.upper())\n"
    )
    before = script.read_bytes()
    status, said = command({}, "--update", "latin.py")
    assert status == 1 and "latin.py: CHECK lines not written: the test is not UTF-8 text" in said
    assert "Traceback" not in said and script.read_bytes() == before


@pytest.mark.skipif(sys.platform != "linux", reason="named pipes")
def test_a_pipe_is_no_test(command, tmp_path):
    os.mkfifo(tmp_path / "pipe.mlir")
    for path in ("pipe.mlir", "/dev/null"):
        status, said = command({}, path)
        assert status == 2 and "it is a pipe or a device, no file" in said


def test_update_tells_where_it_cannot_write(command, tmp_path):
    ambiguous = "// RUN: %pykern-opt %s | FileCheck %s\n" + RUN + FUNCTION
    status, output = command({"f.mlir": ambiguous}, "--update")
    assert status == 1
    assert "two RUN lines print different things" in output
    assert (tmp_path / "f.mlir").read_text() == ambiguous


# -- the lines themselves --------------------------------------------------------------------------


def passes(output: str, lines: list[str], folder: Path) -> bool:
    (folder / "checks").write_text("\n".join(lines) + "\n")
    command = [str(llvm_tools() / "FileCheck"), str(folder / "checks")]
    return subprocess.run(command, input=output, text=True, capture_output=True, check=False).returncode == 0


LOOPS = """\
#map = affine_map<(d0) -> (d0)>
module {
  func.func private @g(memref<?xf32>)
  func.func @f(%arg0: memref<?xf32>, %arg1: index) -> f32 {
    %c0 = arith.constant 0 : index
    %cst = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    %0:2 = scf.for %arg2 = %c0 to %arg1 step %c0 iter_args(%arg3 = %c0, %arg4 = %c0) -> (index, index) {
      scf.yield %arg3, %arg4 : index, index
    }
    %1 = scf.for %arg2 = %c0 to %0#1 step %c0 iter_args(%arg3 = %0#0) -> (index) {
      %4 = func.call @h(%arg3) : (index) -> index
      scf.yield %4 : index
    }
    scf.forall (%arg2, %arg3) in (%1, %c0) {
    }
    "x.y"() ({
    ^bb0(%arg2: index, %arg3: f32):
      "x.z"(%arg2) {a = {b = {{c}}}} : (index) -> ()
    }) : () -> ()

    return %arg3 : f32
  }
}
"""


def test_lines_match_what_they_were_made_of(tmp_path):
    lines = check_lines(LOOPS)
    assert passes(LOOPS, lines, tmp_path)
    assert len(lines) == len(LOOPS.splitlines()) + 2  # a label and the rest of its line, for two functions


def test_lines_do_not_depend_on_names(tmp_path):
    renamed = LOOPS
    for old, new in (
        ("%arg1", "%n"),
        ("%c0", "%zero"),
        ("%cst", "%c"),
        ("%4", "%11"),
        ("%1 ", "%7 "),
        ("(%1,", "(%7,"),
    ):
        renamed = renamed.replace(old, new)
    assert renamed != LOOPS
    assert passes(renamed, check_lines(LOOPS), tmp_path)


@pytest.mark.parametrize("seed", range(8))
def test_lines_fail_for_a_line_more_less_or_changed(seed, tmp_path):
    chance = random.Random(seed)
    lines = LOOPS.splitlines()
    at = chance.choice([n for n in range(4, len(lines)) if re.search("[a-z]", lines[n])])  # in the function f
    changes = {
        "more": [*lines[:at], "    more.of it", *lines[at:]],
        "less": [*lines[:at], *lines[at + 1 :]],
        "changed": [*lines[:at], re.sub("[a-z]+", "changed", lines[at], count=1), *lines[at + 1 :]],
    }
    for what, changed in changes.items():
        assert not passes("\n".join(changed) + "\n", check_lines(LOOPS), tmp_path), (what, lines[at])


def test_another_operand_fails(tmp_path):
    assert not passes(LOOPS.replace("(%1, %c0)", "(%c0, %1)"), check_lines(LOOPS), tmp_path)
    assert not passes(LOOPS.replace("%0#1", "%0#0"), check_lines(LOOPS), tmp_path)
