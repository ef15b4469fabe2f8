"""WGSL that pykern prints for people, by name: the cases of all languages, gradients, the kernels of lit tests."""

from __future__ import annotations

import functools
import subprocess
import sys

import numpy as np

import pykern as pk
from tests.exporter.program_cases import CASES as PROGRAMS
from tests.lowering.source_cases import CASES
from tests.project.tree import ROOT

LIT = (
    ("languages.py", "wgsl"), ("standard-wgsl.py", "hashed"), ("standard-wgsl.py", "added"),
    ("standard-wgsl.py", "turned"),
)  # fmt: skip
"""Files of `lit_tests/source` that print standard WGSL, and what they take."""
DIFFERENTIATED = ("stencil", "product", "early return", "functions", "atomic floats")


@functools.cache
def wgsl_samples() -> dict[str, str]:
    """The texts."""
    found = {name: _text(case.kernel, case.given(), case.ndrange) for name, case in CASES.items()}
    for name in DIFFERENTIATED:
        case = CASES[name]
        given = [pk.Dup(each, each) if isinstance(each, np.ndarray) else each for each in case.given()]
        found[f"gradient of {name}"] = _text(pk.autodiff(case.kernel), given, case.ndrange)
    for name, options in LIT:
        command = [sys.executable, ROOT / "lit_tests" / "source" / name, options]
        printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        found[f"{name} {options}"] = printed.stdout
    return found


@functools.cache
def launched_samples() -> dict[str, str]:
    """The same kernels as the device launches them where it has no feature, and the kernels of array programs."""
    found = {
        f"{name}, launched": _text(case.kernel, case.given(), case.ndrange, "source:wgsl+words")
        for name, case in CASES.items()
    }
    for name, case in PROGRAMS.items():
        if not case.decides:
            made = pk.export(case.program, *case.given(), form="wgsl")
            texts = {ending: text for ending, text in made.files.items() if ending.endswith("wgsl")}
            found |= {f"{name}, {ending}": text.decode() for ending, text in texts.items()}
    return found


def _text(kernel, arguments, ndrange, target="wgsl") -> str:
    return kernel.lower(*arguments, ndrange=ndrange, target=target).compile().source
