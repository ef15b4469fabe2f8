"""`pk.check_grads`: derivatives against finite differences, and against each other.

Comes in: a kernel and the arguments of a launch, or an array program and its arguments. Goes out:
`GradientCheck`, or an AssertionError that names the worst entry. Differences are taken in float64 on copies: the
caller's arrays keep their values. Where the arguments have other types, their own derivatives are compared with those.
Read next: `checked_functions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.api.kernel import KernelBase
from pykern.data.synthetic_frame import at_users_line
from pykern.derivatives.checked_functions import (
    Checked,
    CheckedKernel,
    CheckedProgram,
    is_float_array,
    is_real,
    like,
    wide,
)
from pykern.derivatives.directions import Difference, Directions, sizes
from pykern.derivatives.gradients import floats
from pykern.derivatives.plain_functions import as_program
from pykern.derivatives.trees import leaves
from pykern.errors import KernelTypeError
from pykern.types import DType, f64, from_numpy

MANTISSA = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7, "f8e4m3": 3, "f8e5m2": 2}
LOOSEST = 0.5
"""No derivative may be off by more than this part of the largest, however coarse the types are."""
NOISE = 1e-9
"""What differences that disagree with each other may be off by, as a part of the largest result."""


@dataclass(frozen=True)
class GradientCheck:
    """What was found. Errors are relative to the largest magnitude in their gradient.

    `dot`: ``|<w, J v> - <J^T w, v>|``, forward against reverse; `difference`: reverse against central
    differences, at `worst`, the entry that is furthest off, with both values.
    """

    dot: float
    difference: float
    worst: str
    reverse: float
    finite_difference: float


@at_users_line
def check_grads(
    f: Any,
    args: tuple,
    *,
    rtol: float = 1e-6,
    dot_rtol: float = 1e-12,
    entries: int = 64,
    directions: int = 3,
    seed: int = 0,
    level: str = "auto",
    **launch: Any,
) -> GradientCheck:
    """Check the reverse and forward derivative of a kernel or program by all its float arguments.

    ``pk.check_grads(heat, (T2, T, c), ndrange=T.shape)``, ``pk.check_grads(loss, (x, y))``. `entries`: how
    many entries of each argument are compared with central differences (all of them where there are no
    more), chosen at random. Then all entries of all arguments are moved at once, along so many random
    `directions`; what does not fit is narrowed down to one entry. Tangents are compared along one direction, result
    by result. Arguments are taken as float64; where they have other types, the derivatives in these are compared with
    those in float64. Where numbers are rounded to a type with fewer bits, steps are as long as that type needs, `rtol`
    and `dot_rtol` at least what it can hold, and entries alone are moved.

    Raises `AssertionError` where the derivatives differ by more than `rtol`, or are NaN, `NotDifferentiable` where
    there is none, `KernelTypeError` where there is nothing to compare, or for floats that it cannot move: arrays of
    other libraries, or in a tuple that a kernel takes.
    """
    if not isinstance(args, tuple | list):
        raise KernelTypeError(
            f"pk.check_grads takes a tuple of arguments, not {type(args).__name__}",
            hint="write pk.check_grads(f, (x, y)), and (x,) for one",
        )
    random = np.random.default_rng(seed)
    checked, names, given = _function(f, args, level, launch)
    values = [wide(v) for v in given]
    active = [n for n, v in enumerate(values) if is_real(v)]
    results = checked.results(values)
    if not any(np.size(values[n]) for n in active) or not any(np.size(r) for r in results):
        raise KernelTypeError(
            f"no {'result' if active else 'argument'} of `{f.__name__}` holds floats: there is nothing to check",
            hint="pass arrays of floats; those of a kernel one by one, not in a tuple",
        )
    if entries < 1:
        raise KernelTypeError("`entries` has to be at least one: there is nothing to check")
    own = [n for n in active if _dtype(given[n]) != f64]
    own_results = checked.results(given) if own else results
    tangents = {n: _rounded(_tangent(random, values[n], given[n]), given[n]) for n in active}
    cotangents = [_rounded(random.standard_normal(np.shape(r)), r) for r in own_results]
    if isinstance(checked, CheckedKernel):
        cotangents = _of_written(checked, values, results, tangents, cotangents)

    narrow = _epsilon(checked.narrowest(values))
    probe = _Probe(checked, values, cotangents, active, tangents)
    probe.check_modes(max(dot_rtol, min(LOOSEST, 32 * narrow) if narrow > _EPSILON else 0.0))
    found = probe.check_differences(names, random, entries, narrow, _allowed(rtol, narrow))
    if narrow <= _EPSILON:  # steps along all entries of a coarser type would be too long
        probe.check_directions(names, random, directions, rtol)
    probe.raise_if_modes_differ()
    if own:
        kinds = [_dtype(v) for v in (*(given[n] for n in active), *own_results)]
        coarse = _epsilon([*checked.narrowest(given), *kinds])
        _check_own(checked, given, probe, names, max(rtol, min(LOOSEST, 4 * coarse**0.5)))
    return found


_EPSILON = 2.0 ** -MANTISSA["f64"]


def _function(
    f: Any, args: tuple, level: str, launch: dict[str, Any]
) -> tuple[Checked, list[str], list[Any]]:
    """The function, and the names and values of what it is a function of. Raises for floats that cannot be moved."""
    f = f if isinstance(f, KernelBase) else as_program(f)
    pairs = list(zip(f.signature.parameters, args, strict=False))
    checked: Checked = CheckedKernel(f, level, launch)
    if isinstance(f, KernelBase):
        late = next((name for name in launch if name in f.signature.parameters), None)
        if late is not None:
            raise KernelTypeError(f"`{late}` is passed by name", hint="pass the kernel's arguments in `args`")
    else:
        checked = CheckedProgram(f, args)
        pairs = [leaf for name, value in pairs for leaf in leaves(value, name)]
    for name, value in pairs:
        if not is_real(value) and next(floats(value), None) is not None:
            raise KernelTypeError(
                f"`{name}` holds floats that check_grads cannot move",
                hint="pass NumPy arrays and floats, those of a kernel one by one, not in a tuple; of a complex array "
                "z.real and z.imag, and compute with x + 1j * y",
            )
    return checked, [name for name, _ in pairs], [value for _, value in pairs]


def _of_written(
    checked: Checked, values: list[Any], results: list[Any], tangents: dict[int, Any], cotangents: list[Any]
) -> list[Any]:
    """Cotangents without those of arrays that the kernel leaves alone: beside them others would look small."""
    moved = [v + 1e-3 * tangents[n] if n in tangents else v for n, v in enumerate(values)]
    arrays = [n for n, v in enumerate(values) if is_float_array(v)]
    after = checked.results(moved)
    same = [
        np.array_equal(values[n], r, equal_nan=True) and np.array_equal(moved[n], m, equal_nan=True)
        for n, r, m in zip(arrays, results, after, strict=True)
    ]
    if all(same):
        return cotangents
    return [np.zeros_like(c) if kept else c for c, kept in zip(cotangents, same, strict=True)]


class _Probe:
    """The derivatives of one function at one place, in float64."""

    def __init__(
        self,
        checked: Checked,
        values: list[Any],
        cotangents: list[Any],
        active: list[int],
        tangents: dict[int, Any],
    ) -> None:
        self.checked, self.values, self.cotangents = checked, values, cotangents
        self.active, self.tangents = active, tangents
        self.pushed = [wide(p) for p in checked.forward(values, tangents)]
        self.pulled = {n: wide(np.asarray(p)) for n, p in checked.reverse(values, cotangents, active).items()}
        self.dot = 0.0

    def check_modes(self, rtol: float) -> None:
        """Forward against reverse mode."""
        pairs = list(zip(self.cotangents, self.pushed, strict=True))
        left = sum(float(np.vdot(w, p)) for w, p in pairs)
        right = sum(float(np.vdot(self.pulled[n], self.tangents[n])) for n in self.active)
        scale = sum(float(np.abs(w).ravel() @ np.abs(p).ravel()) for w, p in pairs)
        self.dot = abs(left - right) / (scale or 1.0)
        self._modes = (left, right, rtol)

    def check_differences(
        self, names: list[str], random: np.random.Generator, entries: int, narrow: float, rtol: float
    ) -> GradientCheck:
        """Reverse mode against central differences, entry by entry."""
        worst = wrong = GradientCheck(self.dot, 0.0, "", 0.0, 0.0)
        for n in self.active:
            largest = float(np.abs(self.pulled[n]).max(initial=0.0))
            for index in _chosen(random, np.shape(self.values[n]), entries):
                found = float(self.pulled[n][index])
                expected, unsure = self._central(n, index, narrow, found)
                scale = max(largest, abs(expected)) or 1.0
                error = abs(found - expected) / scale
                here = GradientCheck(self.dot, error, _entry(names[n], index), found, expected)
                if not error <= worst.difference:  # NaN counts as the worst
                    worst = here
                apart = narrow <= _EPSILON and self._is_apart(n, index, narrow, found, expected, rtol)
                if (apart or not error - unsure / scale <= rtol) and not error <= wrong.difference:
                    wrong = here
        if wrong.worst:
            raise AssertionError(
                f"the gradient by {wrong.worst} is {wrong.reverse!r}, central differences give "
                f"{wrong.finite_difference!r} (relative error {wrong.difference:.1e}, allowed {rtol:.1e})"
            )
        return worst

    def check_directions(
        self, names: list[str], random: np.random.Generator, count: int, rtol: float
    ) -> None:
        """Both modes against differences along random directions."""
        along = Directions(self.checked.results, self.values, self.active, rtol)
        for _ in range(count):
            wrong = along.wrong_in_reverse(self.pulled, self.cotangents, random)
            if wrong is not None:
                raise AssertionError(
                    _unequal(f"gradient by {_entry(names[wrong.number], wrong.index)}", wrong, rtol)
                )
        wrong = along.wrong_in_forward(self.pushed, self.tangents)
        if wrong is not None:
            place = _entry(self.checked.name_of(wrong.number, names, self.values), wrong.index)
            raise AssertionError(_unequal(f"tangent of {place}", wrong, rtol))

    def raise_if_modes_differ(self) -> None:
        """What `check_modes` found."""
        left, right, allowed = self._modes
        if not self.dot <= allowed:
            raise AssertionError(
                f"forward and reverse mode differ: <w, J v> = {left!r}, <J^T w, v> = {right!r} "
                f"(relative error {self.dot:.1e}, allowed {allowed:.1e})"
            )

    def _central(self, n: int, index: tuple, narrow: float, found: float) -> tuple[float, float]:
        """The difference at the step that is best for types as coarse as `narrow`, and how far it may be trusted.

        The step balances truncation (h^2) and rounding (narrow / h). A coarse type needs steps so long that a curve
        bends: shorter ones are tried too, and the nearest to `found` counts. Two steps in float64 show what rounding
        does.
        """
        step = narrow ** (1 / 3)
        if narrow > _EPSILON:
            tried = [self._difference(n, index, step / part) for part in (1, 2, 4)]
            return min(tried, key=lambda d: abs(d - found)), 0.0
        expected, size = self._difference(n, index, step), self._size
        if abs(found - expected) > NOISE * size:  # no noise, or not noise alone
            return expected, 0.0
        return expected, abs(expected - self._difference(n, index, 2 * step))

    def _is_apart(
        self, n: int, index: tuple, narrow: float, found: float, expected: float, rtol: float
    ) -> bool:
        """Whether an entry that may be small beside others is off by more than steps of several lengths disagree."""
        terms = sum(float(np.abs(p * np.asarray(self.values[k])).sum()) for k, p in self.pulled.items())
        noise = NOISE * max(self._size, terms)  # what is added up, which the result may be small beside
        error = abs(found - expected) - rtol * max(abs(found), abs(expected)) - noise
        if not error > 0:
            return False
        others = [self._difference(n, index, longer * narrow ** (1 / 3)) for longer in (2, 4)]
        return error > 10 * (max(expected, *others) - min(expected, *others))

    def _difference(self, n: int, index: tuple, step: float) -> float:
        """The central difference of <w, results> by one entry."""
        at = float(np.asarray(self.values[n])[index])
        step *= max(1.0, abs(at))
        ends = [self._objective(self._moved(n, index, to)) for to in (at + step, at - step)]
        return (ends[0] - ends[1]) / ((at + step) - (at - step))

    def _moved(self, n: int, index: tuple, to: float) -> list[Any]:
        moved = list(self.values)
        if is_float_array(moved[n]):
            moved[n] = moved[n].copy()
            moved[n][index] = to
        else:
            moved[n] = to
        return moved

    def _objective(self, moved: Sequence[Any]) -> float:
        results = [wide(r) for r in self.checked.results(moved)]
        parts = list(zip(self.cotangents, results, strict=True))
        self._size = 1.0 + sum(float(np.abs(w).ravel() @ np.abs(np.asarray(r)).ravel()) for w, r in parts)
        return sum(float(np.vdot(w, r)) for w, r in parts)


def _check_own(checked: Checked, given: list[Any], probe: _Probe, names: list[str], rtol: float) -> None:
    """The derivatives in the arguments' own types, against those in float64."""
    results = checked.results(given)
    tangents = {n: like(t, given[n]) for n, t in probe.tangents.items()}
    cotangents = [like(c, r) for c, r in zip(probe.cotangents, results, strict=True)]
    pushed = checked.forward(given, tangents)
    pulled = checked.reverse(given, cotangents, probe.active)
    pairs = [(f"by `{names[n]}`", wide(np.asarray(pulled[n])), probe.pulled[n]) for n in probe.active]
    pairs += [("in forward mode", wide(a), b) for a, b in zip(pushed, probe.pushed, strict=True)]
    for name, found, expected in pairs:
        largest = float(np.abs(expected).max(initial=0.0)) or 1.0
        error = float(np.abs(np.asarray(found) - expected).max(initial=0.0)) / largest
        if not error <= rtol:
            raise AssertionError(
                f"the gradient {name} in the types that are given differs from the one in float64 "
                f"(relative error {error:.1e}, allowed {rtol:.1e})"
            )


def _dtype(value: Any) -> DType:
    known = from_numpy(value.dtype) if isinstance(value, np.ndarray | np.generic) else None
    return known if known is not None else f64


def _rounded(number: np.ndarray, other: Any) -> Any:
    """A derivative as the type of its value can hold it, in float64."""
    return wide(like(number, other))


def _tangent(random: np.random.Generator, value: Any, other: Any) -> np.ndarray:
    """A random tangent, as large as the value where its type has room for that."""
    made = np.asarray(random.standard_normal(np.shape(value)))
    return made * sizes(value) if MANTISSA.get(_dtype(other).name, 0) > 10 else made


def _epsilon(types: Iterable[DType]) -> float:
    """The spacing at 1 of the coarsest of some float types."""
    return max((2.0 ** -MANTISSA[d.name] for d in types if d.name in MANTISSA), default=_EPSILON)


def _allowed(rtol: float, narrow: float) -> float:
    return rtol if narrow <= _EPSILON else max(rtol, min(LOOSEST, 10 * narrow ** (2 / 3)))


def _chosen(random: np.random.Generator, shape: tuple[int, ...], entries: int) -> list[tuple[int, ...]]:
    size = int(np.prod(shape, dtype=np.int64))
    flat = np.arange(size) if size <= entries else random.choice(size, entries, replace=False)
    return [tuple(int(i) for i in np.unravel_index(f, shape)) for f in flat] if shape else [()]


def _unequal(what: str, wrong: Difference, rtol: float) -> str:
    return (
        f"the {what} is {wrong.found!r}, central differences give {wrong.expected!r} "
        f"(relative error {wrong.error:.1e}, allowed {rtol:.1e})"
    )


def _entry(name: str, index: tuple) -> str:
    return f"`{name}{list(index)}`" if index else f"`{name}`"
