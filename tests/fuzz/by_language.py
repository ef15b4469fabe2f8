"""Random kernels through a printed language, against the device `python`: a process of its own for each language.

    python -m tests.fuzz.by_language c|opencl-c|msl|wgsl|native-wgsl SEED...

What a language lacks is counted as refused. Prints one line: how many were the same, and how many refused.
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

from pykern.errors import TargetError
from tests.cases.texts import load
from tests.fuzz.groups import GroupKernel
from tests.fuzz.modules import module

DEVICES = {
    "c": "cpu", "opencl-c": "opencl", "msl": "metal:emulated", "wgsl": "webgpu", "native-wgsl": "webgpu",
}  # fmt: skip
SETTINGS = {
    "c": {"PYKERN_LOADER": "dlopen"}, "opencl-c": {"PYKERN_OPENCL_C": "1"}, "msl": {},
    "wgsl": {"PYKERN_WEBGPU_STANDARD": "1"}, "native-wgsl": {},
}  # fmt: skip
"""What makes the device run the language."""
WITHOUT_DOUBLES = ("msl", "wgsl")
"""Languages that have no floats of 64 bits, and no atomics on integers of 64."""


def compare(language: str, seed: int, folder: Path) -> None:
    """Raise AssertionError where results differ."""
    device = DEVICES[language]
    fuzzed = module(Random(seed), 3)
    floats = np.float64
    if language in WITHOUT_DOUBLES:
        counter = fuzzed.counter.replace("64", "32")
        fuzzed, floats = replace(fuzzed, text=without_doubles(fuzzed.text), counter=counter), np.float32
    run = load(fuzzed.text, folder).run
    results = (fuzzed.launch(run, where, floats) for where in (device, "python"))
    for got, wanted in zip(*results, strict=True):
        np.testing.assert_array_equal(got, wanted)


def without_doubles(text: str) -> str:
    """The kernels with floats of 32 bits, which hold all of their numbers."""
    text = text.replace("pk.f64(", "pk.f32(").replace("math.isqrt(", "abs(")
    text = re.sub(r", (t|v0) ([/*]) ([\d.]+)$", r", pk.f32(\1) \2 \3", text, flags=re.MULTILINE)
    text = re.sub(r", h \+ t$", r", h + pk.f32(t)", text, flags=re.MULTILINE)
    return re.sub(r"(-?\d+\.\d+ [-+*/]+) (v\d)\b", r"\1 pk.f32(\2)", text)


def compare_groups(language: str, seed: int, folder: Path) -> None:
    """The same of a kernel with groups and barriers."""
    kernel = GroupKernel(Random(seed))
    run = load(kernel.text(), folder).run
    n = int(np.prod(kernel.ndrange))
    outs = []
    for where in (DEVICES[language], "python"):
        outs.append(np.zeros(n, np.int64))
        run(outs[-1], np.arange(n) * 5 % 31, 5, 37, ndrange=kernel.ndrange, device=where)
    np.testing.assert_array_equal(*outs)


def main(language: str, *seeds: str) -> None:
    if language == "c":
        from tests.lowering.c_as_cpu import pytest_configure

        pytest_configure()
    same, refused = 0, []
    for seed in map(int, seeds):
        for each in (compare, compare_groups):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    each(language, seed, Path(folder))
                    same += 1
                except TargetError as error:
                    refused.append(error.reason)
                except AssertionError as error:
                    sys.exit(f"{each.__name__}({language!r}, {seed}): {error}")
    print(same, len(refused), *refused[:3])


if __name__ == "__main__":
    main(*sys.argv[1:])
