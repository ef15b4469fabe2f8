"""Random programs, compiled against the reference device: no difference, no crash, no hang.

``PYKERN_FUZZ=N`` sets how many programs run (50 unless told), ``PYKERN_FUZZ_SEED=S`` which ones:
a failure prints the program, and the two settings that run it again.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from tests.cases.count import PROGRAMS
from tests.cases.texts import load
from tests.fuzz.groups import GroupKernel
from tests.fuzz.modules import module

SEED = int(os.environ.get("PYKERN_FUZZ_SEED") or Random().getrandbits(32))
AGAIN = f"to run it again: PYKERN_FUZZ={PROGRAMS} PYKERN_FUZZ_SEED={SEED}"
BATCH = 10
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


def random_numbers() -> st.SearchStrategy[Random]:
    """Each choice is drawn by Hypothesis, so that a failing program shrinks; or the larger programs of a seed."""
    return st.randoms(use_true_random=False) | st.integers(0, 2**32).map(Random)


@seed(SEED)
@settings(relaxed, max_examples=max(1, PROGRAMS // BATCH))
@given(random=random_numbers())
def test_programs(folder: Path, random: Random) -> None:
    fuzzed = module(random, BATCH)
    note(AGAIN)
    note(fuzzed.text)  # also for a crash, a hang or an exception
    run = load(fuzzed.text, folder).run
    cpu, python = (fuzzed.launch(run, device) for device in ("cpu", "python"))
    for k, program in enumerate(fuzzed.programs):
        if not all(np.array_equal(c[k], p[k]) for c, p in zip(cpu[:2], python[:2], strict=True)):
            note(program)
            note(f"cpu    {cpu[0][k].tolist()} {cpu[1][k].tolist()}")
            note(f"python {python[0][k].tolist()} {python[1][k].tolist()}")
    for c, p in zip(cpu, python, strict=True):
        np.testing.assert_array_equal(c, p)


@seed(SEED)
@settings(relaxed, max_examples=max(1, PROGRAMS // BATCH // 4))
@given(random=random_numbers())
def test_groups_with_barriers(folder: Path, random: Random) -> None:
    kernel = GroupKernel(random)
    text = kernel.text()
    note(AGAIN)
    note(text)
    run = load(text, folder).run
    n = int(np.prod(kernel.ndrange))
    outs = []
    for device in ("cpu", "python"):
        out = np.zeros(n, np.int64)
        run(out, np.arange(n) * 5 % 31, 5, 37, ndrange=kernel.ndrange, device=device)
        outs.append(out)
    np.testing.assert_array_equal(*outs)
