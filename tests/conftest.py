"""What all tests share: a cache of their own, random numbers that repeat, Hypothesis's settings."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile(
    "pykern",
    deadline=None,  # the first example of a test compiles
    derandomize="CI" in os.environ,
    print_blob=True,
)
hypothesis.settings.load_profile("pykern")


@pytest.fixture(scope="session", autouse=True)
def _environment_of_this_run() -> Iterator[None]:
    """For the tests and the programs they start: these sources, and a cache that is new and their own.

    So nothing an earlier version compiled is tested by mistake, and the user's cache is left alone.
    """
    with tempfile.TemporaryDirectory(prefix="pykern-tests-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYKERN_CACHE_DIR", folder)
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
        yield


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are the same in every run of a test, and others in every test."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
