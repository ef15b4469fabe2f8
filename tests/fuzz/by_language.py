"""Random kernels through a printed language, against the device `python`: a process of its own for each language.

    python -m tests.fuzz.by_language c|opencl-c|wgsl SEED...

What a language lacks is counted as refused. Prints one line: how many were the same, and how many refused.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

import numpy as np

from pykern.errors import DeviceError, TargetError
from tests.cases.texts import load
from tests.fuzz.groups import GroupKernel
from tests.fuzz.modules import module

DEVICES = {"c": "cpu", "opencl-c": "opencl", "wgsl": "webgpu"}
SETTINGS = {
    "c": {"PYKERN_LOADER": "dlopen"}, "opencl-c": {"PYKERN_OPENCL_C": "1"}, "wgsl": {"PYKERN_WEBGPU_STANDARD": "1"},
}  # fmt: skip
"""What makes the device run the language."""


def compare(language: str, seed: int, folder: Path) -> None:
    """Raise AssertionError where results differ."""
    device = DEVICES[language]
    fuzzed = module(Random(seed), 3)
    run = load(fuzzed.text, folder).run
    for got, wanted in zip(fuzzed.launch(run, device), fuzzed.launch(run, "python"), strict=True):
        np.testing.assert_array_equal(got, wanted)


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
                except (TargetError, DeviceError) as error:
                    refused.append(error.reason)
                except AssertionError as error:
                    sys.exit(f"{each.__name__}({language!r}, {seed}): {error}")
    print(same, len(refused), *refused[:3])


if __name__ == "__main__":
    main(*sys.argv[1:])
