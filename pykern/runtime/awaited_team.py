"""Until the team of threads is there: who gets it, once somebody launches something long.

Comes in: a function that loads it (`pykern.runtime.team`), or tells that nobody waits for it any more. Goes out: its
call before the first long launch. A word of the table tells compiled entries, which leave such launches to Python.
"""

from __future__ import annotations

from collections.abc import Callable

from pykern.data.abi import TABLE_INDEX
from pykern.runtime.cpu_table import table

_AWAITED = TABLE_INDEX["team_awaited"]
_obtain: list[Callable[[], object]] = []


def await_team(obtain: Callable[[], object]) -> None:
    """Let long launches call this first."""
    _obtain[:] = [obtain]
    table()[_AWAITED] = 1


def await_no_more() -> None:
    """Let long launches go on as they can: with the team, or without."""
    table()[_AWAITED] = 0


def is_awaited() -> bool:
    """Whether the next long launch is going to ask for it."""
    return bool(table()[_AWAITED])


def before_long_launch() -> None:
    """Get it, where it is awaited. Raises what a signal handler raises meanwhile."""
    if is_awaited():
        _obtain[0]()
