"""Random kernels, raised to linalg and compiled, against the reference device.

``PYKERN_FUZZ_RAISED=N`` sets how many kernels run (200 unless told). A failure prints the kernel.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from pykern.errors import NotRaisable
from tests.fuzz.raised_grammar import MARGIN, raised_module
from tests.passes.raised import Raised

KERNELS = int(os.environ.get("PYKERN_FUZZ_RAISED", "200"))
BATCH = 20
REFUSED = 0.02
"""Share of kernels that may be refused; of 1000 none was."""


def data(n: int, m: int) -> tuple:
    """Arrays for `n` work-items and up to `m` columns; whole numbers, so that sums are exact in any order."""
    rng = np.random.default_rng(5)
    size = n + m + MARGIN

    def whole(*shape: int) -> np.ndarray:
        return rng.integers(-4, 5, shape).astype(float)

    index = rng.integers(0, min(3, m), size).astype(np.int32)
    arrays = whole(size, m + MARGIN), whole(size, 2), whole(size), whole(size, m + MARGIN), whole(size + m)
    return (*arrays, index, 2.0, m)


def load(text: str, folder: Path, seed: int) -> Any:
    """The kernel of a program, from a file of its own: errors then show its lines."""
    path = folder / f"raised_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded.p0


def copied(args: tuple) -> tuple:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)


@pytest.mark.parametrize("first", range(0, KERNELS, BATCH))
def test_raised_kernels(tmp_path: Path, first: int) -> None:
    refused = 0
    for seed in range(first, first + BATCH):
        text = raised_module(Random(seed), 1)
        kernel = load(text, tmp_path, seed)
        try:
            raised = Raised(kernel, data(5, 4), 5)
        except NotRaisable:
            refused += 1
            continue
        for n, m in ((5, 4), (1, 3)):
            mine, direct = copied(data(n, m)), copied(data(n, m))
            kernel(*direct, ndrange=n, device="python")
            raised.run(mine, n)
            for one, other in zip(mine[:3], direct[:3], strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=text)
    assert refused <= max(1, REFUSED * BATCH)
