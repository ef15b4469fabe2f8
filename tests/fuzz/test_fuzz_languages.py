"""Random kernels printed in C, OpenCL C, MSL and WGSL, against the device `python`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.seeds import seeds
from tests.fuzz.by_language import DEVICES, SETTINGS
from tests.lowering.source_runs import c_compiler
from tests.project.tree import ROOT


@pytest.mark.sweep("language")
@pytest.mark.parametrize("language", ["wgsl", "c", "opencl-c", "native-wgsl", "msl"])
def test_random_kernels(language: str, tmp_path: Path, need_device: Callable[[str], str]) -> None:
    need_device(DEVICES[language])
    if language == "c" and c_compiler() is None:
        pytest.skip("no compiler of C: cc, gcc or clang")
    settings = {**SETTINGS[language], "PYKERN_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "tests.fuzz.by_language", language, *map(str, seeds(18))]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    same, refused, *_ = run.stdout.split("\n")[-2].split(" ")
    assert int(same) >= 2, run.stdout
    assert language in ("wgsl", "msl") or int(refused) == 0, run.stdout  # which have no f64
