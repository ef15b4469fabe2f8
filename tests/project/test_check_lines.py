"""No lit test says less than it looks like: its directives are spelt right, and every prefix is used."""

from __future__ import annotations

import subprocess

import pytest

from pykern.testing.filecheck import problems
from pykern.testing.lit import FEATURES, llvm_tools
from pykern.testing.run_lines import filecheck_runs
from tests.project.tree import ROOT

LIT_TESTS = sorted(
    path
    for path in (ROOT / "lit_tests").rglob("*")
    if path.suffix in (".mlir", ".py") and path.name != "lit.cfg.py" and "Output" not in path.parts
)


def test_directives():
    found = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in LIT_TESTS
        for problem in problems(path.read_text(), path.suffix, FEATURES)
    ]
    assert not found, "\n".join(found)


RUN = "// RUN: %pykern-opt %s | FileCheck %s\n"


def messages(body: str, run: str = RUN, suffix: str = ".mlir") -> list[str]:
    return [problem.message for problem in problems(run + body, suffix, {"openmp", "slow"})]


@pytest.mark.parametrize(
    "line",
    [
        "// CHCEK: kern.load",
        "// CHEKC-NEXT: kern.load",
        "// CHECK_NEXT: kern.load",
        "// CHECK-NXET: kern.load",
        "// CHECKNEXT: kern.load",
        "// CHECK NEXT: kern.load",
        "// CHECK : kern.load",
        "// CHECK-NEXT kern.load",
        "// check: kern.load",
        "// Check-Next: kern.load",
        "// check_not: kern.load",
        "// CHECK-NOT-NEXT: kern.load",
        "// CHECK-COUNT: kern.load",
        "// CHECK-COUNT-0: kern.load",
        "// CHECK-GPU: kern.load",
        "// CHECK{LITERALLY}: kern.load",
        "// GPU-CHECK: kern.load",
        "//   CHCK: kern.load",
        "//CHCEK: kern.load",
        "kern.load  // CHCEK: kern.load",
        "// RNU: %pykern-opt %s",
        "// RUN : %pykern-opt %s",
        "// REQURIES: slow",
        "// REQUIRES: opnemp",
        "// REQUIRES: slow && !opnemp",
        "// XFIAL: *",
    ],
)
def test_malformed_lines_are_found(line):
    assert len(messages("// CHECK: module\n" + line)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "// CHECK: kern.load",
        "//CHECK: kern.load",
        "    // CHECK-NEXT: kern.load",
        "// CHECK-SAME: {some = attribute}",
        "// CHECK-NOT: kern.load",
        "// CHECK-DAG: kern.load",
        "// CHECK-LABEL: func @f",
        "// CHECK-EMPTY:",
        "// CHECK-COUNT-12: kern.load",
        "// CHECK{LITERAL}: [[0, 1]]",
        "// CHECK-NEXT{LITERAL}: [[0, 1]]",
        "// COM: CHCEK: is a comment, says FileCheck's COM",
        "// Check that the load is gone.",
        "// This checks: nothing.",
        "// The CHECK lines below were written by hand.",
        "// NOTE: a sentence.",
        "// TODO: a sentence.",
        "// REQUIRES: slow && !openmp",
        "// UNSUPPORTED: openmp",
        "// XFAIL: *",
        "#map = affine_map<(d0) -> (d0)>",
        "%0 = arith.constant 1 : i32",
    ],
)
def test_good_lines_and_prose_are_left_alone(line):
    assert messages("// CHECK: module\n" + line) == []


def test_filecheck_without_check_lines():
    assert messages("func.func @f()\n") == ["FileCheck looks for `CHECK:`, which stands nowhere in this file"]


def test_every_prefix_is_used():
    run = "// RUN: %pykern-opt %s | FileCheck %s --check-prefixes=CPU,GPU\n"
    assert messages("// CPU: a\n// GPU-NEXT: b\n", run) == []
    assert messages("// CPU: a\n", run) == ["FileCheck looks for `GPU:`, which stands nowhere in this file"]
    assert messages("// CPU: a\n// GPU: b\n// CHECK: c\n", run) == [
        "`CHECK:` is a comment: no RUN line has FileCheck look for CHECK"
    ]
    assert messages("// CPU: a\n// GPU: b\n// GPU-ALL: c\n", run) == [
        "`GPU-ALL:` is a comment: FileCheck has no such suffix, and no RUN line names this prefix"
    ]


def test_check_lines_without_filecheck():
    assert len(messages("// CHECK: a\n", "// RUN: %pykern-opt %s\n")) == 1


def test_python_tests():
    run = "# RUN: %python %s | FileCheck %s\n"
    assert messages("# CHECK: a\n", run, ".py") == []
    assert len(messages("# CHECK: a\n# CHCEK: a\n", run, ".py")) == 1
    assert len(messages('# CHECK: a\ntext = """\n// CHCEK: a\n"""\n', run, ".py")) == 1


def test_runs_are_read_from_continued_lines():
    lines = [
        "// RUN: %pykern-opt %s --a='x | y' \\",
        "// RUN:   | FileCheck -check-prefix A --check-prefix=B %s && %pykern-opt %s 2>&1 \\",
        "// RUN:   | not FileCheck %s --comment-prefixes=SAY",
        "// RUN: FileCheck %S/Inputs/other.txt < %t",
    ]
    runs = filecheck_runs(lines)
    assert [(run.line, run.prefixes, run.comment_prefixes) for run in runs] == [
        (1, ("A", "B"), ()),
        (1, ("CHECK",), ("SAY",)),
    ]


def test_filecheck_itself_passes_over_a_misspelling(tmp_path):
    """The reason for this file."""
    test = tmp_path / "a.mlir"
    test.write_text("// CHECK: one\n// CHCEK: two\n")
    command = [llvm_tools() / "FileCheck", test]
    assert subprocess.run(command, input="one\nthree\n", text=True, check=False).returncode == 0
