"""Broken and strange MLIR through random passes: a documented exit status and a message, never more than that.

Each case is a module of the lit tests, changed, and some passes with options. It runs in a child, as ``pykern-opt``
does. Where MLIR itself dies, the message of `guarded` is what is expected; a pass of pykern's never fails other than
by an error that says where and why.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.seeds import seeds
from tests.fuzz.broken_ir import broken
from tests.project.tree import ROOT

CASES = 25
"""Of a seed."""
SECONDS = 60
"""Of the processor, for a case: what takes longer hangs."""
MEMORY = 8 << 30
"""Bytes of addresses, for a case."""
_RUN = re.compile(r"RUN: .*?%pykern-opt +(.*?) *(?:\||$)", re.MULTILINE)
UPSTREAM_FLAGS = ("--canonicalize", "--cse")
UPSTREAM = (
    "canonicalize",
    "cse",
    "canonicalize,cse",
    "convert-scf-to-cf",
    "loop-invariant-code-motion",
    "symbol-dce",
)
OPTIONS = (
    "-1",
    "0",
    "1",
    "2",
    "3",
    "8",
    "16",
    "64",
    "100",
    "4096",
    "1000000",
    "4611686018427387905",
    "x",
    "",
    "true",
    "0,1",
    "1,0,7",
)
TARGETS = ("llvm", "nvvm:sm_90a", "rocdl:gfx942", "llvm:foo", "nvvm", "")


def texts() -> dict[str, list[str]]:
    """Every module of the lit tests, kernels and programs at many stages, with the passes of its test."""
    from pykern.tools.opt import SPLIT

    found = {}
    for file in sorted((ROOT / "lit_tests").rglob("*.mlir")):
        text = file.read_text()
        own = [
            f
            for run in _RUN.findall(text)
            for f in shlex.split(run)
            if f.startswith("--kern-") or f in UPSTREAM_FLAGS
        ]
        found |= {part: own for part in SPLIT.split(text) if part.strip()}
    return found


def flags(rng: random.Random, own: list[str]) -> list[str]:
    """Passes, some with an option, in any order; half of the time those of the module's own test."""
    import dataclasses

    from pykern.passes.registry import known

    if own and rng.random() < 0.5:
        return own[: rng.randrange(len(own)) + 1]
    if rng.random() < 0.1:
        return [f"--target={rng.choice(TARGETS)}"]
    made = []
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))):
        if rng.random() < 0.15:
            made.append(f"--pass-pipeline=builtin.module({rng.choice(UPSTREAM)})")
            continue
        kind = known()[rng.choice(sorted(known()))]
        fields = [f.name.replace("_", "-") for f in dataclasses.fields(kind)]
        option = f"={rng.choice(fields)}={rng.choice(OPTIONS)}" if fields and rng.random() < 0.4 else ""
        made.append(f"--{kind.name}{option}")
    return made


def with_limits(fork: Callable[[], int]) -> Callable[[], int]:
    """`os.fork` whose children end where they take too much."""
    import resource

    def limited() -> int:
        child = fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return child

    return limited


def wrong(status: int, said: str) -> str:
    """What is wrong with an outcome; "" for nothing."""
    if status not in (0, 1, 2, 4):
        return f"the exit status is {status}"
    if status and "error: " not in said and "pykern-opt: " not in said:
        return "there is no message"
    if "Traceback" in said:
        return "there is a traceback"
    if "This is a fault of pass" in said or "This is a fault of the tool" in said:
        return "a pass failed in Python"
    if "CPU time limit" in said:
        return "it hangs"
    return ""


def explore(seed: int, folder: Path) -> str:
    """Run a seed's cases, each in a child of this process; what is wrong with the first that is, "" for nothing."""
    from pykern.tools import opt

    os.fork = with_limits(os.fork)
    known = texts()
    names = list(known)
    file, said_in = folder / "input.mlir", folder / "said.txt"
    outcome, said_there = os.dup(2), os.open(said_in, os.O_RDWR | os.O_CREAT, 0o600)
    for case in range(CASES):
        rng = random.Random(f"{seed}/{case}")
        start = rng.choice(names)
        text, chosen = broken(start, names, rng), flags(rng, known[start])
        file.write_text(text, encoding="utf-8", newline="")
        os.truncate(said_in, 0)
        os.lseek(said_there, 0, os.SEEK_SET)
        os.dup2(said_there, 2)
        try:
            status = opt.main([str(file), *chosen])
        finally:
            sys.stderr.flush()
            os.dup2(outcome, 2)
        said = said_in.read_text(errors="replace")
        if fault := wrong(status, said):
            return f"case {case}: {fault}: {' '.join(chosen)}\n{said}\n{text}"
    return ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("seed", seeds(4))
def test_a_documented_status_and_a_message(seed: int, tmp_path: Path) -> None:
    """In a process of its own: a child of one with several threads may wait for a lock of another thread for ever."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.test_fuzz_opt", str(seed), str(tmp_path)],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=800,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    sys.exit(explore(int(sys.argv[1]), Path(sys.argv[2])) or None)
