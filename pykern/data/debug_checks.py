"""What ``debug=`` of a kernel asks for: which faults are looked for while it runs.

Comes in: ``True``, ``"nan"``, ``"bounds,races"``, also from ``PYKERN_DEBUG``. Goes out: `DebugChecks`.
"""

from __future__ import annotations

from difflib import get_close_matches

from pykern.data.records import record
from pykern.errors import KernelTypeError

KINDS = ("bounds", "nan", "races")


@record
class DebugChecks:
    """`bounds`: accesses outside of arrays; `nan`: operations that make a NaN of numbers; `races`: work-items that
    access an element without an order between them."""

    bounds: bool = False
    nan: bool = False
    races: bool = False


def debug_checks(debug: bool | str) -> DebugChecks:
    """``True`` is ``"bounds"``; a string names kinds, with commas. Raises `KernelTypeError` for other values."""
    if isinstance(debug, bool):
        return DebugChecks(bounds=debug)
    if not isinstance(debug, str):
        raise KernelTypeError(f"debug={debug!r} names no checks", hint=_hint())
    names = [name.strip() for name in debug.split(",") if name.strip()]
    for name in names:
        if name not in KINDS:
            near = get_close_matches(name, KINDS, 1)
            raise KernelTypeError(
                f"debug={debug!r}: there is no check {name!r}",
                hint=f"did you mean {near[0]!r}?" if near else _hint(),
            )
    return DebugChecks(**dict.fromkeys(names, True))


def _hint() -> str:
    return f"it is True, False, or a string of {', '.join(map(repr, KINDS))} with commas between"
