"""Random products of matrices against NumPy in f64.

``PYKERN_FUZZ_PRODUCTS=N`` sets how many programs run (``PYKERN_FUZZ`` / 8 unless told). A failure prints the program.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.cases.count import PROGRAMS
from tests.cases.texts import imported
from tests.fuzz.products import random_product

PRODUCTS = int(os.environ.get("PYKERN_FUZZ_PRODUCTS", max(1, PROGRAMS // 8)))
BATCH = 10


@pytest.mark.parametrize("first", range(0, PRODUCTS, BATCH))
def test_random_products(tmp_path: Path, first: int) -> None:
    for seed in range(first, first + BATCH):
        case = random_product(seed)
        path = tmp_path / f"product_{seed}.py"
        module = imported(path, case.text)
        got = np.asarray(module.f(*case.arguments))
        shapes = [a.shape for a in case.arguments]
        assert got.shape == case.expected.shape, f"seed {seed}, {shapes}\n{case.text}"
        wrong = ~(np.abs(got - case.expected) <= case.bound)
        assert not wrong.any(), f"seed {seed}, {shapes}, {int(wrong.sum())} wrong\n{case.text}"
