"""A limit for the time that tests take: for continuous integration, which is ended after some time.

``PYKERN_TEST_UNTIL`` is a time in seconds since 1970, as ``date +%s`` prints it. A test that would begin later is
skipped, and the summary says how many. The files of tests begin with another one in each commit, so that what is left
out on a slow machine is something else each time.

Comes in: the collected tests. Goes out: their order, and an end of those for which no time is left.
Read next: `tests.conftest`, which calls it; `docs/design/testing.md`.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import time
import zlib
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

UNTIL = "PYKERN_TEST_UNTIL"


class Named(Protocol):
    """What the order asks of a test."""

    @property
    def nodeid(self) -> str: ...


Item = TypeVar("Item", bound=Named)


def rotated(items: list[Item], start: int) -> list[Item]:
    """The same tests, file by file, beginning with the file of number `start`, counted around."""
    files = [
        list(tests) for _, tests in itertools.groupby(items, key=lambda item: item.nodeid.partition("::")[0])
    ]
    first = start % max(len(files), 1)
    return [test for tests in files[first:] + files[:first] for test in tests]


def commit_number() -> int:
    """A number that each commit changes, and that all processes of a run agree on."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, check=False, text=True
    )
    return zlib.crc32(commit.stdout.encode())


def is_limited() -> bool:
    """Whether this run has a limit."""
    return UNTIL in os.environ


def skip_when_over() -> None:
    """End the test that is about to begin, where its time is over.

    Raises:
        pytest.skip.Exception: no time is left.
    """
    if is_limited() and time.time() > float(os.environ[UNTIL]):
        pytest.skip(f"no time was left ({UNTIL})")
