"""What each test takes of the processors, its own process and those that it starts: the times in `long_tests.txt`.

``pytest -p tests.cases.processor_time --processor-times FILE`` writes a line for each test that takes `LEAST` seconds:
how many, and its name. Clocks on the wall would tell how busy the machine is.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

LEAST = 0.3
"""Seconds below which a test is not worth a line."""
_KEY = "processor seconds"
_TICKS = os.sysconf("SC_CLK_TCK")
_TIMES = slice(11, 15)
"""Behind the name of a process in its `stat`: its own ticks in programs and in the system, and those of children."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processor-times", metavar="FILE", help="write what tests take of the processors")


def ticks(process: int | str) -> int:
    """Of a process and all that it has started; 0 where it has ended meanwhile."""
    folder = Path("/proc", str(process))
    try:
        found = sum(map(int, (folder / "stat").read_text().rpartition(")")[2].split()[_TIMES]))
        threads = list((folder / "task").iterdir())
        children = [child for each in threads for child in (each / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return found + sum(map(ticks, children))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    item.stash[_BEFORE] = ticks(os.getpid())
    return (yield)


_BEFORE = pytest.StashKey[int]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Generator[None, Any, Any]:
    """The last report of a test takes the time along, to the process that writes the file."""
    report = yield
    if call.when == "teardown":
        seconds = (ticks(os.getpid()) - item.stash[_BEFORE]) / _TICKS
        report.user_properties.append((_KEY, seconds))
    return report


class Times:
    """Of the process that writes the file: what the reports bring."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        taken = dict(report.user_properties).get(_KEY)
        if report.when == "teardown" and isinstance(taken, float) and taken >= LEAST:
            self.seconds[report.nodeid] = taken

    def pytest_sessionfinish(self) -> None:
        lines = [f"{seconds:.1f} {name}\n" for name, seconds in sorted(self.seconds.items())]
        self.file.write_text("".join(lines))


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--processor-times")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times(Path(file)))
