"""Random tile kernels: compiled over the whole range against small tiles of the device `python`, and other sizes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases.seeds import seeds
from tests.fuzz.tile_kernels import Case, random_kernel


def made(path: Path, case: Case) -> Any:
    path.write_text(case.text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


def results(kernel: Any, case: Case, **where: Any) -> tuple[np.ndarray, np.ndarray]:
    o, r, *rest = case.arguments
    o, r = o.copy(), r.copy()
    kernel(o, r, *rest, ndrange=case.rows, **where)
    return o, r


@pytest.mark.parametrize("seed", seeds(30))
def test_tiles_of_any_size_give_the_same(tmp_path: Path, seed: int) -> None:
    case = random_kernel(seed)
    kernel = made(tmp_path / f"tiles_{seed}.py", case)
    expected = results(kernel, case, device="python")
    for where in ({"device": "cpu"}, {"device": "python", "tile": 4}):
        for got, right in zip(results(kernel, case, **where), expected, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9, err_msg=f"{where}\n{case.text}")
