"""A run with a limit of time begins with other tests in each commit, and leaves out what it cannot begin in time."""

from __future__ import annotations

import time
from typing import NamedTuple

import pytest

from tests.cases import time_limit


class Item(NamedTuple):
    nodeid: str


TESTS = [
    Item(name) for name in ("a.py::one", "a.py::two", "b.py::one", "c.py::one", "c.py::two", "c.py::three")
]


def test_files_are_counted_around() -> None:
    assert time_limit.rotated(TESTS, 0) == time_limit.rotated(TESTS, 3) == TESTS
    assert time_limit.rotated(TESTS, 1) == time_limit.rotated(TESTS, 7) == TESTS[2:] + TESTS[:2]
    assert time_limit.rotated(TESTS, 5) == TESTS[3:] + TESTS[:3]
    assert time_limit.rotated([], 5) == []


def test_all_processes_of_a_run_begin_with_the_same_file() -> None:
    assert time_limit.commit_number() == time_limit.commit_number() >= 0


def test_no_test_begins_after_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(time_limit.UNTIL, raising=False)
    time_limit.skip_when_over()
    assert not time_limit.is_limited()
    monkeypatch.setenv(time_limit.UNTIL, str(time.time() + 3600))
    time_limit.skip_when_over()
    monkeypatch.setenv(time_limit.UNTIL, str(int(time.time()) - 1))
    with pytest.raises(pytest.skip.Exception, match="no time was left"):
        time_limit.skip_when_over()
