"""What asserts, checks and prints of a launch on the CPU leave behind.

Comes in: the sites of a kernel or program. Goes out: cells for its code to write (`pykern.data.abi`), and the error of
the first failure.
"""

from __future__ import annotations

import numpy as np

from pykern.data.abi import REPORT_CELLS, STOP_CELL
from pykern.data.artifact import Site
from pykern.errors import (
    CALLED_FROM,
    NAN_HINT,
    TIME_HINT,
    AssertionFailed,
    DeviceError,
    KernelError,
    NotANumber,
    OutOfBounds,
    TimedOut,
)
from pykern.runtime.text import Printer

PRINT_CELL = REPORT_CELLS - 1


class LaunchReport:
    """The cells of one launch; what is printed meanwhile goes to standard output."""

    def __init__(self, sites: tuple[Site, ...]) -> None:
        self._sites = sites
        self._prints = Printer(sites)
        self._cells = np.zeros(REPORT_CELLS, np.int64)
        self._cells[PRINT_CELL] = self._prints.address

    @property
    def address(self) -> int:
        """What the code is given."""
        return self._cells.ctypes.data

    def stop(self) -> None:
        """End the launch: its time is over."""
        self._cells[STOP_CELL] = 1

    def check(self) -> None:
        """Raise what a print has raised, or what the launch reports."""
        self._prints.check()
        if self._cells[0]:
            raise failure(self._sites[int(self._cells[0]) - 1], self._cells)


def failure(site: Site, report: np.ndarray) -> KernelError:
    """The error a report describes."""
    calls = tuple((f"{CALLED_FROM}`{span.function}`", span) for span in site.callers)
    if site.kind == "bounds":
        rank = int(report[1])
        index = tuple(int(n) for n in report[2 : 2 + rank])
        shape = tuple(int(n) for n in report[2 + rank : 2 + 2 * rank])
        return OutOfBounds(
            f"index {_tuple(index)} is outside of `{site.template}`, whose shape is {_tuple(shape)}",
            site.span,
            "guard the access, or launch with a smaller ndrange",
            calls,
        )
    if site.kind == "nan":
        rank = int(site.template)
        items = tuple(int(n) for n in report[1 : 1 + rank])
        numbers = report[1 + rank : 4 + rank].view(np.float64)
        given = ", ".join(f"{number:.9g}" for number in numbers[: int(site.dtypes[0])])
        reason = f"this operation makes a NaN of numbers ({given}) in work-item {_tuple(items)}"
        return NotANumber(reason, site.span, NAN_HINT, calls)
    if site.kind == "timeout":
        return TimedOut("the launch took longer than its timeout=", site.span, TIME_HINT, calls)
    if site.kind == "loop":
        return DeviceError(site.template, site.span, notes=calls)
    reason = f"assertion failed: {site.template}" if site.template else "assertion failed"
    return AssertionFailed(reason, site.span, notes=calls)


def _tuple(numbers: tuple[int, ...]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else str(numbers)
