"""``pykern bench`` as a user types it."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path

import pytest

from pykern.benchmarking import records
from tests.tools.warm_tools import pykern

FILE = """
import numpy as np
import pykern as pk

@pk.kernel
def double(z, x):
    i = pk.index()
    z[i] = FACTOR * x[i]

@pk.benchmark(
    x="n", values=[64, 4096], metric="GB/s", bytes=lambda n: 8 * n, flops=lambda n: n, warmup=1, repeat=3,
    lines={
        "pykern": lambda z, x: double(z, x, ndrange=len(z)),
        "numpy": lambda z, x: np.multiply(x, 2, out=z),
        "ghost": "not installed",
    },
)
def doubling(n):
    return np.zeros(n, np.float32), np.arange(n, dtype=np.float32)
"""


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return pykern("bench", *arguments)


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "doubling.py"
    path.write_text(FILE.replace("FACTOR", "2.0"))
    return path


@pytest.fixture(scope="module")
def run(file) -> tuple[subprocess.CompletedProcess[str], Path]:
    """One run with all kinds of files."""
    folder = file.parent
    out = [f"--{kind}={folder / f'out.{kind}'}" for kind in ("json", "csv", "html")]
    return bench(file, "--threads", "1", *out), folder


def test_table_files_and_what_is_missing(run):
    done, folder = run
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("doubling", "pykern", "numpy", "GB/s", "of limit", "█"))
    assert "ghost: not installed" in done.stdout
    assert "measured" in done.stdout
    found = records.read(str(folder / "out.json"))
    assert [(r["line"], r["config"]["n"]) for r in found] == [
        (line, n) for n in (64, 4096) for line in ("pykern", "numpy")
    ]
    assert not [problem for r in found for problem in records.problems(r)]
    ours = found[0]
    assert (ours["kernel"], ours["threads"], ours["n"], ours["bytes"]) == ("double", 1, 3, 512)
    assert len(ours["key"]) >= 32
    assert ours["compile_ms_cold"] > ours["compile_ms_warm"] > 0
    assert ours["limits"]["gb_per_s"] > 0.1
    with open(folder / "out.csv") as file:
        assert [row["config.n"] for row in csv.DictReader(file)] == ["64", "64", "4096", "4096"]
    assert "<svg" in (folder / "out.html").read_text()


def test_json_alone_is_for_machines(file):
    done = bench(file, "--json", "--no-limits", "--no-compile", "--only", "doub")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == 4
    assert lines[0]["threads"] is None
    assert "limits" not in lines[0]


@pytest.mark.parametrize(("factor", "code"), [(1e-9, 1), (1e9, 0)])
def test_comparison_with_an_older_run(run, file, factor, code):
    """The older run is made much faster, or much slower, than any other can be."""
    older = records.read(str(run[1] / "out.json"))
    for one in older:
        for name in ("median_ns", "min_ns"):
            one[name] *= factor
    path = file.with_name("old.json")
    path.write_text(records.as_lines(older))
    quick = (file, "--threads", "1", "--no-limits", "--no-compile", "--compare", path)
    done = bench(*quick, "--fail-above", "5%")
    assert done.returncode == code, done.stdout + done.stderr
    assert ("slower" in done.stdout) is bool(code)
    assert "before" in done.stdout


def test_runs_with_nothing_in_common_fail(run, file):
    """A machine that compares the wrong runs has to hear of it."""
    path = file.with_name("old.json")
    older = records.read(str(run[1] / "out.json"))
    path.write_text(records.as_lines([one | {"threads": 7} for one in older]))
    quick = (file, "--threads", "1", "--no-limits", "--no-compile", "--only", "doub", "--compare", path)
    done = bench(*quick, "--fail-above", "5%")
    assert done.returncode == 1
    assert "no benchmark in common" in done.stdout and "threads" in done.stdout


def test_wrong_results_fail_and_say_where(file):
    wrong = file.with_name("wrong.py")
    wrong.write_text(FILE.replace("FACTOR", "3.0"))
    done = bench(wrong, "--no-limits", "--no-compile")
    assert done.returncode == 1
    assert "`numpy` differs from `pykern`" in done.stderr
    assert "results are kept" not in done.stderr + done.stdout, "there are none"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a file of benchmarks, or a suite"),
        (("nothing.py",), "there is no file `nothing.py`"),
        (("FILE", "--suite", "cpu"), "name a file of benchmarks, or a suite"),
        (("FILE", "--fail-above", "5%"), "--compare"),
        (("FILE", "--compare", "nothing.json"), "nothing.json"),
        (("FILE", "--threads", "0"), "may use 1 to"),
        (("FILE", "--fail-above", "much", "--compare", "x"), "`much` is no share"),
    ],
)
def test_usage(file, arguments, said):
    done = bench(*(file if one == "FILE" else one for one in arguments))
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [("x = 1\n", (), "declares no benchmark"), (FILE.replace("FACTOR", "2.0"), ("--only", "zebra"), "zebra")],
)
def test_files_without_what_is_asked_for(tmp_path, text, arguments, said):
    path = tmp_path / "empty.py"
    path.write_text(text)
    done = bench(path, "--no-compile", *arguments)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_suite_that_comes_with_pykern():
    done = bench("--suite", "cpu", "--only", "heat", "--no-limits", "--no-compile")
    assert done.returncode == 0, done.stderr
    assert "4096" in done.stdout
