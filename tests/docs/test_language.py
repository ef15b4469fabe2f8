"""Every row of the language table runs, and means what it means in plain Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases.texts import imported
from tests.docs.constructs import CONSTRUCTS, PRELUDE, Construct
from tests.project.tree import ROOT

ALL = [construct for group in CONSTRUCTS.values() for construct in group]


def module_of(construct: Construct, folder: Path):
    return imported(
        folder / "construct.py", PRELUDE + "".join(f"    {line}\n" for line in construct.body.splitlines())
    )


def results(construct: Construct, folder: Path, device: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    module = module_of(construct, folder)
    out, n = np.full(8, -99.0), np.arange(8, dtype=np.int32)
    launch = eval(f"dict({construct.launch})")
    module.k(out, x, n, module.Pair(2.0, 0.5), ndrange=8, device=device, **launch)
    return out, n


@pytest.mark.parametrize("construct", ALL, ids=lambda c: c.name)
def test_construct(construct, tmp_path, rng):
    x = rng.random(8)
    found, expected = (results(construct, tmp_path, device, x) for device in ("cpu", "python"))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-14)
    np.testing.assert_array_equal(found[1], expected[1])
    assert (found[0] != -99).any(), "the body writes nothing"


def test_each_row_names_a_suite_that_is_there():
    assert not {c.more for c in ALL if not (ROOT / c.more).is_file()}
