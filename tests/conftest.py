"""What all tests share: a cache of their own, random numbers that repeat, Hypothesis's settings."""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterator

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
def _cache_of_this_run() -> Iterator[None]:
    """Compiled kernels go to a new folder, also those of programs that tests start.

    So nothing an earlier version compiled is tested by mistake, and the user's cache is left alone.
    """
    with tempfile.TemporaryDirectory(prefix="pykern-tests-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYKERN_CACHE_DIR", folder)
        yield


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are the same in every run of a test, and others in every test."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
