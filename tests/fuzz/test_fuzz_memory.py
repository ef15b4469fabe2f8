"""Random kernels over private arrays and histograms, with all threads, against the reference device.

``PYKERN_FUZZ=N`` scales how many run as in `test_fuzz`: N // 15, so 3 unless told. A failure prints the kernel.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases.count import PROGRAMS
from tests.cases.texts import load
from tests.fuzz.memory import MemoryKernel

BATCH = 5


@pytest.mark.parametrize("first", range(0, max(1, PROGRAMS // 15), BATCH))
def test_memory(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + BATCH):
        made = MemoryKernel(seed)
        run = load(made.text, tmp_path).run
        rooms = []
        for device in ("cpu", "python"):
            arrays = MemoryKernel(seed).arrays
            run(*arrays, 6, 2, ndrange=made.ndrange, device=device)
            rooms.append([_room(array) for array in arrays])
        for number, (one, other) in enumerate(zip(*rooms, strict=True)):
            said = f"argument {number}, seed {seed}, ndrange {made.ndrange}\n{made.text}"
            np.testing.assert_array_equal(one.astype(np.float64), other.astype(np.float64), err_msg=said)


def _room(array: np.ndarray) -> np.ndarray:
    """What lies around it, too."""
    return array if array.base is None else array.base
