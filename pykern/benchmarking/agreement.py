"""Whether implementations compute the same.

Comes in: functions and inputs. Goes out: nothing, or `Disagreement`. A function's results are the arrays and
numbers it returns, or, where it returns none, the arrays among its inputs that it has changed; it gets copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pykern.benchmarking.clock import finish


class Disagreement(AssertionError):
    """Two implementations give different results."""


class Outcome:
    """What one call on copies of the inputs has left: `results`, and the arrays it was given as they are now."""

    def __init__(self, function: Callable, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        copies = [copied(value) for value in inputs]
        returned = function(*copies, **keywords)
        finish(returned)
        self.after = [array for array in map(as_numpy, copies) if array is not None and array.ndim]
        self.results = values_of(returned)
        if not self.results:
            before = [array for array in map(as_numpy, inputs) if array is not None and array.ndim]
            self.results = [
                now for now, then in zip(self.after, before, strict=True) if now.tobytes() != then.tobytes()
            ]


def check(
    functions: Mapping[str, Callable],
    inputs: Sequence[Any],
    keywords: Mapping[str, Any],
    tolerance: float | None,
) -> None:
    """Call each function once, on copies. Raises `Disagreement` where one differs from the first."""
    (first, function), *others = functions.items()
    expected = Outcome(function, inputs, keywords)
    for name, other in others:
        compare(name, Outcome(other, inputs, keywords), first, expected, tolerance)


def compare(name: str, found: Outcome, first: str, expected: Outcome, tolerance: float | None) -> None:
    """Raises `Disagreement` where two outcomes differ."""
    ours, theirs = _matched(found, expected)
    if len(ours) != len(theirs):
        raise Disagreement(
            f"`{name}` gives {_arrays(len(ours))} and `{first}` {_arrays(len(theirs))}: "
            "return the results, or write them into the inputs, in each (or say check=False)"
        )
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        place = f"result {number} of " if len(ours) > 1 else ""
        if (reason := difference(one, other, tolerance)) is not None:
            raise Disagreement(f"{place}`{name}` differs from `{first}`: {reason}")


def _matched(found: Outcome, expected: Outcome) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The two lists of results. A call that changes nothing has written what was there already."""
    ours, theirs = found.results, expected.results
    if not ours and theirs:
        ours = [_likest(array, found.after) for array in theirs if found.after]
    if not theirs and ours:
        theirs = [_likest(array, expected.after) for array in ours if expected.after]
    return ours, theirs


def _likest(wanted: np.ndarray, arrays: Sequence[np.ndarray]) -> np.ndarray:
    same = [array for array in arrays if array.shape == wanted.shape]
    return next(
        (array for array in same if difference(array, wanted, None) is None), (same or list(arrays))[0]
    )


def difference(found: Any, expected: Any, tolerance: float | None) -> str | None:
    """How two arrays differ, in words; None where they agree.

    Each element may be off by `tolerance` times its size or the largest size in `expected`; where `tolerance`
    is None it is the square root of the coarser type's epsilon, and 0 for integers.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        if found.size == expected.size == 1:
            return difference(found.reshape(()), expected.reshape(()), tolerance)
        return f"its shape is {found.shape}, not {expected.shape}"
    if tolerance is None:
        tolerance = max(_tolerance(found.dtype), _tolerance(expected.dtype))
    if found.dtype.kind in "iub" and expected.dtype.kind in "iub" and not tolerance:
        wrong = found != expected  # f64 does not hold every i64
    else:
        wrong = ~_close(found, expected, tolerance)
    if not wrong.any():
        return None
    with np.errstate(invalid="ignore"):
        distance = np.abs(found.astype(_wide(found.dtype)) - expected.astype(_wide(expected.dtype)))
        worst = np.where(wrong, np.nan_to_num(distance, nan=np.inf), -1.0)
    at = tuple(int(i) for i in np.unravel_index(np.argmax(worst), worst.shape))
    place = f" at {at}" if at else ""
    return (
        f"{found[at]} is not {expected[at]}{place}; {int(wrong.sum())} of {wrong.size} elements "
        f"are off by more than the tolerance {tolerance:.2g}"
    )


def _close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    one, other = found.astype(_wide(found.dtype)), expected.astype(_wide(expected.dtype))
    finite = np.abs(other[np.isfinite(other)])
    allowed = tolerance * (float(finite.max()) if finite.size else 0.0)
    return np.isclose(one, other, rtol=tolerance, atol=allowed, equal_nan=True)


def _tolerance(dtype: np.dtype) -> float:
    if dtype.kind in "fc":
        return float(np.sqrt(np.finfo(dtype).eps))
    return 0.1 if dtype.kind == "V" or "float" in dtype.name else 0.0  # types of ml_dtypes


def _wide(dtype: np.dtype) -> Any:
    return np.complex128 if dtype.kind == "c" else np.float64


def values_of(returned: Any) -> list[np.ndarray]:
    """The arrays and numbers in what a function returned, in order."""
    if isinstance(returned, tuple | list):
        return [array for one in returned for array in values_of(one)]
    if isinstance(returned, Mapping):
        return [array for key in sorted(returned) for array in values_of(returned[key])]
    array = as_numpy(returned)
    return [] if array is None else [array]


def as_numpy(value: Any) -> np.ndarray | None:
    """A copy that later calls do not change; None for what is neither an array nor a number."""
    if value is None or isinstance(value, str | bytes):
        return None
    if isinstance(value, bool | int | float | complex | np.generic):
        return np.asarray(value)
    if isinstance(value, np.ndarray):
        return value.copy()
    if getattr(value, "__pykern_array__", False):
        return value.numpy().copy()
    if hasattr(value, "detach") and hasattr(value, "cpu"):  # torch
        return value.detach().cpu().numpy().copy()
    if hasattr(value, "__array__"):
        return np.array(value)
    return None


def copied(value: Any) -> Any:
    """A copy of an array that a function may write to; any other value itself."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if getattr(value, "__pykern_array__", False):
        return value.copy()
    return value.clone() if hasattr(value, "detach") and hasattr(value, "clone") else value


def _arrays(count: int) -> str:
    return "no result" if count == 0 else "1 result" if count == 1 else f"{count} results"
