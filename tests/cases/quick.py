"""Which tests of a product (case, device, dtype ...) are quick: `make test` runs these, `make test-slow` the others.

The rule: of a test that takes `device`, each case runs on one device at least, and each device runs one case at least.
A case is a combination of the other parameters. Which device a case gets is chosen so that each device sees as many
values of each parameter as there is room for. A device that this machine lacks is given no case but that one, and so is
the emulated Metal, whose code is printed as that of other devices is; it has quick cases in `tests/parity` alone.
``@pytest.mark.sweep("dtype", "device")`` says the same of other parameters, each of which plays the device's part.

What takes long is slow as well: the tests of `long_tests.txt`, which `processor_time` measures. Each file keeps a quick
test.

Comes in: the collected tests. Goes out: the mark `slow` on those that repeat a case, or take long.
Read next: `tests.conftest`, which calls it; `docs/design/testing.md`.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from pykern.testing.device_needs import kinds, missing_device

LONG = 0.25
"""Seconds of the processors from which a test is slow."""
TIMES = Path(__file__).with_name("long_tests.txt")
REPEATS, SHOWN_BY = "metal:emulated", "tests/parity"
"""A device that stands for no case, and where its quick ones are."""
Row = Mapping[str, int]
"""Of each parameter of one test, a number that stands for its value."""


def mark_repeated(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what repeats a case on another device."""
    functions: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            functions[item.nodeid.partition("[")[0]].append(item)
    for tests in functions.values():
        swept = _swept(tests[0])
        if swept:
            _mark([test for test in tests if not _is_left_out(test)], swept)


class Test(Protocol):
    """What the rule asks of a test."""

    @property
    def nodeid(self) -> str: ...

    def get_closest_marker(self, name: str) -> object: ...

    def add_marker(self, marker: pytest.MarkDecorator, /) -> None: ...


def mark_long(items: Iterable[Test]) -> None:
    """Mark as slow what takes long, but for the quickest test of a file."""
    taken = times(TIMES.read_text())
    files: dict[str, list[Test]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None:
            files[item.nodeid.partition("::")[0]].append(item)
    for tests in files.values():
        quickest = min(tests, key=lambda test: taken.get(test.nodeid, 0.0))
        for test in tests:
            if test is not quickest and taken.get(test.nodeid, 0.0) > LONG:
                test.add_marker(pytest.mark.slow)


def times(text: str) -> dict[str, float]:
    """Seconds by the names of tests, of lines such as ``0.7 tests/test_it.py::test_it``."""
    rows = (line.split(" ", 1) for line in text.splitlines())
    return {name: float(seconds) for seconds, name in rows}


def _swept(item: pytest.Function) -> tuple[str, ...]:
    mark = item.get_closest_marker("sweep")
    if mark is not None:
        return mark.args
    return ("device",) if "device" in item.callspec.params else ()


def _is_left_out(item: pytest.Function) -> bool:
    """Whether a case repeats others and is none of those that show the device; it is marked slow then."""
    devices = [mark.args[1] for mark in item.iter_markers("parametrize") if mark.args[0] == "device"]
    alone = len({str(value) for values in devices for value in values}) == 1  # a test of this device
    left = _repeats(item.callspec.params.get("device")) and SHOWN_BY not in item.nodeid and not alone
    if left:
        item.add_marker(pytest.mark.slow)
    return left


def _repeats(device: object) -> bool:
    return str(device).startswith(REPEATS)


def _kind(device: object) -> str:
    return device.partition(":")[0] if isinstance(device, str) else ""


def _is_absent(device: object) -> bool:
    return _kind(device) in kinds() and missing_device(str(device)) is not None


def _mark(tests: Sequence[pytest.Function], swept: tuple[str, ...]) -> None:
    devices = [test.callspec.params.get("device") for test in tests]
    absent = [
        _is_absent(device) or _repeats(device) or test.get_closest_marker("slow") is not None
        for device, test in zip(devices, tests, strict=True)
    ]
    rows = [{name: id(value) for name, value in test.callspec.params.items()} for test in tests]
    chosen = choose(rows, swept, absent)
    for number, test in enumerate(tests):
        if number not in chosen:
            test.add_marker(pytest.mark.slow)


def choose(rows: Sequence[Row], swept: Sequence[str], absent: Sequence[bool]) -> set[int]:
    """The numbers of the `rows` that stay quick: each case once, each value of a swept parameter once.

    Where ``absent[n]``, row `n` cannot run here, or is slow anyway, and stands for its case only if no other row can.
    """
    chosen: set[int] = set()
    seen: Counter[object] = Counter()

    def take(candidates: Iterable[int]) -> None:
        number = min(candidates, key=lambda n: (absent[n], _repetition(rows[n], swept, seen), n))
        chosen.add(number)
        seen.update(_facts(rows[number], swept))

    cases: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        cases[tuple(value for name, value in row.items() if name not in swept)].append(number)
    for candidates in cases.values():
        take(candidates)
    for name in swept:
        for value in dict.fromkeys(row[name] for row in rows if name in row):
            if not seen[name, value]:
                take(number for number, row in enumerate(rows) if row.get(name) == value)
    return chosen


def _repetition(row: Row, swept: Sequence[str], seen: Counter[object]) -> tuple[int, int]:
    """How often was seen what the row would show: values of swept parameters, then pairs with others."""
    counts = [seen[fact] for fact in _facts(row, swept)]
    return sum(counts[: len(swept)]), sum(counts[len(swept) :])


def _facts(row: Row, swept: Sequence[str]) -> list[object]:
    alone = [(name, row.get(name)) for name in swept]
    pairs = [(*place, *other) for place, other in itertools.product(alone, row.items()) if place != other]
    return [*alone, *pairs]
