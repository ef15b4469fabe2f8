"""`pk.check_grads`: derivatives against finite differences, and against each other.

Comes in: a kernel and the arguments of a launch, or an array program and its arguments. Goes out:
`GradientCheck`, or an AssertionError that names the worst entry. Everything runs in float64 on copies: the
caller's arrays keep their values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from pykern.derivatives.autodiff import Autodiff, Dup
from pykern.derivatives.gradients import floats, jvp, vjp
from pykern.derivatives.trees import leaves, rebuilt
from pykern.errors import KernelTypeError
from pykern.kernel import KernelBase

STEP = float(np.finfo(np.float64).eps) ** (1 / 3)
"""Relative step of the central difference: balances truncation (h^2) and rounding (eps / h)."""


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


def check_grads(
    f: Any,
    args: tuple,
    *,
    rtol: float = 1e-6,
    dot_rtol: float = 1e-12,
    entries: int = 64,
    seed: int = 0,
    level: str = "auto",
    **launch: Any,
) -> GradientCheck:
    """Check the reverse and forward derivative of a kernel or program by all its float arguments.

    ``pk.check_grads(heat, (T2, T, c), ndrange=T.shape)``, ``pk.check_grads(loss, (x, y))``. `entries`: how
    many entries of each argument are compared with central differences (all of them where there are no
    more), chosen at random. Raises `AssertionError` where the derivatives differ by more than `rtol`,
    `NotDifferentiable` where there is none.
    """
    random = np.random.default_rng(seed)
    named = list(zip(f.signature.parameters, args, strict=False))
    checked: _Kernel | _Program = _Kernel(f, level, launch)
    if not isinstance(f, KernelBase):
        checked = _Program(f, args)
        named = [leaf for name, value in named for leaf in leaves(value, name)]
    values = [_double(v) for _, v in named]
    active = [n for n, v in enumerate(values) if _is_real(v)]
    if not active:
        raise KernelTypeError(
            f"no argument of `{f.__name__}` holds floats: there is nothing to check",
            hint="pass arrays of floats; those of a kernel one by one, not in a tuple",
        )
    tangents = {n: random.standard_normal(np.shape(values[n])) for n in active}
    cotangents = [random.standard_normal(np.shape(v)) for v in checked.results(values)]

    pushed = checked.forward(values, tangents)
    pulled = checked.reverse(values, cotangents, active)
    left = sum(float(np.vdot(w, p)) for w, p in zip(cotangents, pushed, strict=True))
    right = sum(float(np.vdot(pulled[n], tangents[n])) for n in active)
    scale = sum(float(np.abs(w).ravel() @ np.abs(p).ravel()) for w, p in zip(cotangents, pushed, strict=True))
    dot = abs(left - right) / (scale or 1.0)

    def objective(moved: list[Any]) -> float:
        return sum(float(np.vdot(w, r)) for w, r in zip(cotangents, checked.results(moved), strict=True))

    worst = GradientCheck(dot, 0.0, "", 0.0, 0.0)
    for n in active:
        largest = float(np.abs(pulled[n]).max(initial=0.0)) or 1.0
        for index in _chosen(random, np.shape(values[n]), entries):
            expected = _central(objective, values, n, index)
            found = float(pulled[n][index])
            error = abs(found - expected) / max(largest, abs(expected))
            if not error <= worst.difference:  # NaN counts as the worst
                worst = GradientCheck(dot, error, _entry(named[n][0], index), found, expected)
    if not worst.difference <= rtol:
        raise AssertionError(
            f"the gradient by {worst.worst} is {worst.reverse!r}, central differences give "
            f"{worst.finite_difference!r} (relative error {worst.difference:.1e}, allowed {rtol:.1e})"
        )
    if not dot <= dot_rtol:
        raise AssertionError(
            f"forward and reverse mode differ: <w, J v> = {left!r}, <J^T w, v> = {right!r} "
            f"(relative error {dot:.1e}, allowed {dot_rtol:.1e})"
        )
    return worst


@dataclass(frozen=True)
class _Kernel:
    """A kernel seen as a function: from its arguments to the float arrays after the launch."""

    kernel: Any
    level: str
    launch: dict[str, Any]

    def results(self, values: list[Any]) -> list[np.ndarray]:
        copies = [_copy(v) for v in values]
        self.kernel(*copies, **self.launch)
        return [v for v in copies if _is_array(v)]

    def forward(self, values: list[Any], tangents: dict[int, np.ndarray]) -> list[np.ndarray]:
        shadows = {n: np.array(t) for n, t in tangents.items()}
        passed = [Dup(_copy(v), shadows[n]) if n in shadows else _copy(v) for n, v in enumerate(values)]
        Autodiff(self.kernel, "forward", self.level)(*passed, **self.launch)
        return [shadows[n] for n, v in enumerate(values) if _is_array(v)]

    def reverse(
        self, values: list[Any], cotangents: list[np.ndarray], active: list[int]
    ) -> dict[int, np.ndarray]:
        given = iter(cotangents)
        shadows = {n: np.array(next(given)) if _is_array(values[n]) else np.zeros(()) for n in active}
        copies = [_copy(v) for v in values]
        passed = [Dup(v, shadows[n]) if n in shadows else v for n, v in enumerate(copies)]
        Autodiff(self.kernel, "reverse", self.level)(*passed, **self.launch)
        for before, after in zip(values, copies, strict=True):
            if _is_array(before) and not np.array_equal(before, after, equal_nan=True):
                raise AssertionError("the reverse launch changed an array other than a shadow")
        return shadows


@dataclass(frozen=True)
class _Program:
    """An array program: from the leaves of its arguments to the float leaves of its value."""

    program: Any
    args: tuple

    def results(self, values: list[Any]) -> list[Any]:
        return list(floats(self.program(*self._formed(values))))

    def forward(self, values: list[Any], tangents: dict[int, np.ndarray]) -> list[Any]:
        given = self._formed([tangents.get(n, v) for n, v in enumerate(values)])
        moved = [any(n in tangents for n in inside) for inside in self._places()]
        given = tuple(g if moves else None for g, moves in zip(given, moved, strict=True))
        return list(floats(jvp(self.program, self._formed(values), given)[1]))

    def reverse(self, values: list[Any], cotangents: list[Any], active: list[int]) -> dict[int, Any]:
        _, pull = vjp(self.program, *self._formed(values))
        found: dict[int, Any] = {}
        for part, inside in zip(pull(tuple(cotangents)), self._places(), strict=True):
            if part is not None:
                found |= dict(zip(inside, (leaf for _, leaf in leaves(part)), strict=True))
        return {n: np.asarray(found[n]) for n in active}

    def _formed(self, values: list[Any]) -> tuple:
        """The arguments with other leaves."""
        others = iter(map(_copy, values))
        return tuple(rebuilt(arg, others) for arg in self.args)

    def _places(self) -> list[range]:
        """For each argument the numbers of its leaves."""
        ends = list(accumulate((len(list(leaves(arg))) for arg in self.args), initial=0))
        return [range(*pair) for pair in pairwise(ends)]


def _central(objective: Callable[[list[Any]], float], values: list, n: int, index: tuple) -> float:
    """The derivative of the objective by one entry."""
    at = float(np.asarray(values[n])[index])
    step = STEP * max(1.0, abs(at))
    results = []
    for moved in (at + step, at - step):
        copies = [_copy(v) for v in values]
        if _is_array(copies[n]):
            copies[n][index] = moved
        else:
            copies[n] = moved
        results.append(objective(copies))
    return (results[0] - results[1]) / ((at + step) - (at - step))


def _chosen(random: np.random.Generator, shape: tuple[int, ...], entries: int) -> list[tuple[int, ...]]:
    size = int(np.prod(shape, dtype=np.int64))
    flat = np.arange(size) if size <= entries else random.choice(size, entries, replace=False)
    return [tuple(int(i) for i in np.unravel_index(f, shape)) for f in flat] if shape else [()]


def _entry(name: str, index: tuple) -> str:
    return f"`{name}{list(index)}`" if index else f"`{name}`"


def _double(value: Any) -> Any:
    if isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating):
        return value.astype(np.float64)
    return float(value) if isinstance(value, np.floating) else value


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64


def _is_real(value: Any) -> bool:
    return _is_array(value) or type(value) is float
