"""Random programs, compiled against the reference device: no difference, no crash, no hang.

``PYKERN_FUZZ=N`` sets how many programs run (2000 unless told). A failure prints the program.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.fuzz.grammar import Program, group_module, module

PROGRAMS = int(os.environ.get("PYKERN_FUZZ", "2000"))
BATCH = 20
"""Programs in one kernel: compiling is what takes the time."""

relaxed = settings(
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def load(text: str, folder: Path, seed: int) -> ModuleType:
    """Import a program from a file of its own: errors then show its lines."""
    path = folder / f"fuzzed_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    small = rng.integers(0, 100, 7).astype(np.int32)
    return rng.integers(-50, 50, 13), small, rng.integers(-9, 9, 5).astype(np.float64)


@settings(relaxed, max_examples=max(1, PROGRAMS // BATCH))
@given(seed=st.integers(0, 2**32))
def test_programs(folder: Path, seed: int) -> None:
    text = module(Random(seed), BATCH)
    note(text)  # also for a crash, a hang or an exception
    run = load(text, folder, seed).run
    items = 9
    outs = []
    for device in ("cpu", "python"):
        out = np.zeros((BATCH, items), np.int64)
        run(out, *data(), 6, ndrange=items, device=device)
        outs.append(out)
    wrong = np.nonzero((outs[0] != outs[1]).any(1))[0]
    if wrong.size:
        random = Random(seed)
        programs = [Program(random, f"p{k}").text() for k in range(BATCH)]
        note(programs[wrong[0]])
        note(f"cpu    {outs[0][wrong[0]].tolist()}\npython {outs[1][wrong[0]].tolist()}")
    assert not wrong.size


@settings(relaxed, max_examples=max(1, PROGRAMS // BATCH // 2))
@given(seed=st.integers(0, 2**32))
def test_groups_with_barriers(folder: Path, seed: int) -> None:
    text = group_module(Random(seed))
    note(text)
    run = load(text, folder, seed).run
    n = 48
    outs = []
    for device in ("cpu", "python"):
        out = np.zeros(n, np.int64)
        run(out, np.arange(n) * 5 % 31, 5, 37, ndrange=n, device=device)
        outs.append(out)
    np.testing.assert_array_equal(*outs)
