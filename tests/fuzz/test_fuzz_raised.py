"""Random kernels, raised to linalg and compiled, against the reference device.

``PYKERN_FUZZ_RAISED=N`` sets how many kernels run (``PYKERN_FUZZ`` / 5 unless told). A failure prints the kernel.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import numpy as np
import pytest

from pykern.errors import NotRaisable
from tests.cases.count import PROGRAMS
from tests.cases.raised import Raised
from tests.cases.texts import load
from tests.fuzz.raised_grammar import SIZE, raised_program

KERNELS = int(os.environ.get("PYKERN_FUZZ_RAISED", max(1, PROGRAMS // 5)))
BATCH = 20
REFUSED = 0.02
"""Share of kernels that may be refused; of 1000 none was."""


def data(rank: int, m: int) -> tuple:
    """Arrays for kernels over `rank` dimensions; whole numbers, so that sums are exact in any order."""
    rng = np.random.default_rng(5)

    def whole(*shape: int) -> np.ndarray:
        return rng.integers(-4, 5, shape).astype(float)

    index = rng.integers(0, 3, SIZE).astype(np.int32)
    arrays = whole(*[SIZE] * (rank + 1)), whole(SIZE, SIZE), whole(SIZE), whole(SIZE, SIZE), whole(2 * SIZE)
    return (*arrays, index, 2.0, m)


def copied(args: tuple) -> tuple:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)


@pytest.mark.parametrize("first", range(0, KERNELS, BATCH))
def test_raised_kernels(tmp_path: Path, first: int) -> None:
    refused = 0
    for seed in range(first, first + BATCH):
        text, ndrange, rank = raised_program(Random(seed))
        text += f"\n# ndrange={ndrange}\n"
        kernel, space = load(text, tmp_path).p0, eval(ndrange)
        try:
            raised = Raised(kernel, data(rank, 4), space)
        except NotRaisable:
            refused += 1
            continue
        for m in (4, 2):
            mine, direct = copied(data(rank, m)), copied(data(rank, m))
            kernel(*direct, ndrange=space, device="python")
            raised.run(mine, space)
            for one, other in zip(mine[:3], direct[:3], strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=text)
    assert refused <= max(1, REFUSED * BATCH)
