"""What the collectives of a subgroup or group give each work-item, from what each has brought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.errors import KernelError, KernelTypeError
from pykern.runtime import reference

_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b,
    "min": lambda a, b: reference.extremum((a, b), "minimum"),
    "max": lambda a, b: reference.extremum((a, b), "maximum"),
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What a work-item waits for: a barrier, or a collective with its value and its op or lane."""

    name: str
    value: Any = None
    detail: Any = None


def reduction(name: str, value: Any, op: Any) -> Request:
    """A checked request for a reduction or scan; bool counts as an integer."""
    if op not in _COMBINE:
        raise KernelTypeError(f"a reduction is one of {', '.join(_COMBINE)}, not {op!r}")
    if isinstance(value, bool | np.bool_):
        value = int(value)
    if op in ("and", "or", "xor") and not isinstance(value, int | np.integer):
        raise KernelTypeError(f"`{op}` combines integers, not {value!r}")
    return Request(name, value, op)


def answers(requests: dict[int, Request], lanes: dict[int, int]) -> dict[int, Any]:
    """The result of one collective for each of its work-items; `lanes` says who is who in a shuffle."""
    name = next(iter(requests.values())).name
    with np.errstate(all="ignore"):
        if name == "subgroup_shuffle":
            values = {lanes[n]: r.value for n, r in requests.items()}
            return {n: values.get(int(r.detail), r.value) for n, r in requests.items()}
        ops = {r.detail for r in requests.values()}
        if len(ops) > 1:
            raise KernelError(f"work-items come to pk.{name} with different ops: {', '.join(sorted(ops))}")
        return _fold(requests, ops.pop(), name)


def _fold(requests: dict[int, Request], op: str, name: str) -> dict[int, Any]:
    before: dict[int, Any] = {}
    after: dict[int, Any] = {}
    total: Any = None
    for n in sorted(requests):
        value = requests[n].value
        before[n] = neutral(op, value) if total is None else total
        total = value if total is None else _COMBINE[op](total, value)
        after[n] = total
    if name == "subgroup_scan":
        return after
    return before if name == "subgroup_exclusive_scan" else dict.fromkeys(requests, total)


def neutral(op: str, value: Any) -> Any:
    """What leaves every number of the value's type as it is."""
    kind: Any = type(value)
    if not isinstance(value, int | np.integer):
        return kind({"add": 0.0, "mul": 1.0, "min": np.inf, "max": -np.inf}[op])
    info = np.iinfo(np.int64 if isinstance(value, int) else kind)
    ones = info.max if info.min == 0 else -1
    return kind({"add": 0, "mul": 1, "min": info.max, "max": info.min, "or": 0, "xor": 0, "and": ones}[op])
