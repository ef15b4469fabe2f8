"""WGSL that pykern prints for people, by name: the cases of all languages, gradients, the kernel of the lit test."""

from __future__ import annotations

import functools
import subprocess
import sys

import numpy as np

import pykern as pk
from tests.lowering.source_cases import CASES
from tests.project.tree import ROOT

DIFFERENTIATED = ("stencil", "product", "early return", "functions", "atomic floats")


@functools.cache
def wgsl_samples() -> dict[str, str]:
    """The texts."""
    found = {name: _text(case.kernel, case.given(), case.ndrange) for name, case in CASES.items()}
    for name in DIFFERENTIATED:
        case = CASES[name]
        given = [pk.Dup(each, each) if isinstance(each, np.ndarray) else each for each in case.given()]
        found[f"gradient of {name}"] = _text(pk.autodiff(case.kernel), given, case.ndrange)
    lit = ROOT / "lit_tests" / "source" / "languages.py"
    printed = subprocess.run(
        [sys.executable, lit, "wgsl"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return {**found, lit.stem: printed.stdout}


def _text(kernel, arguments, ndrange) -> str:
    return kernel.lower(*arguments, ndrange=ndrange, target="wgsl").compile().source
