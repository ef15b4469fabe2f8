"""Random programs on every GPU-like device found, against the reference device.

``PYKERN_FUZZ=N`` runs N / 60 modules of three programs and as many kernels with groups and barriers, on each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.cases.count import PROGRAMS
from tests.cases.texts import load
from tests.fuzz.groups import GroupKernel
from tests.fuzz.modules import module

KINDS = ["opencl", "vulkan", "webgpu", "cuda", "rocm"]
"""Not Metal, which has no floats of 64 bits: most random programs compute with some."""
SEEDS = range(max(4, PROGRAMS // 60))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_programs(kind: str, seed: int, tmp_path: Path, need_device: Callable[[str], str]) -> None:
    device = need_device(kind)
    fuzzed = module(Random(seed), 3)
    run = load(fuzzed.text, tmp_path).run
    there, python = (fuzzed.launch(run, where) for where in (device, "python"))
    for got, wanted in zip(there, python, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_groups_with_barriers(
    kind: str, seed: int, tmp_path: Path, need_device: Callable[[str], str]
) -> None:
    device = need_device(kind)
    kernel = GroupKernel(Random(seed))
    run = load(kernel.text(), tmp_path).run
    n = int(np.prod(kernel.ndrange))
    outs = []
    for where in (device, "python"):
        out = np.zeros(n, np.int64)
        run(out, np.arange(n) * 5 % 31, 5, 37, ndrange=kernel.ndrange, device=where)
        outs.append(out)
    np.testing.assert_array_equal(*outs)
