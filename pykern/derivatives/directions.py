"""Derivatives against differences along random directions: every entry of every argument moves, every result counts.

Comes in: a function as `results`, and its derivatives at a place, in float64. Goes out: the `Difference` that is too
large, at one entry, or None. A direction in which the reverse derivative is wrong is halved until one entry is left: a
derivative that is wrong at one of a million entries is found, and named. Read next: `check_grads`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

STEPS = (2.0**-17, 2.0**-19, 2.0**-23)
"""The first is near the cube root of the spacing of float64, the best; shorter ones miss kinks that it crosses."""
NOISE = 1e-9
"""What differences at the first step are off by because results are rounded, as a part of the largest result."""

Entry = tuple[int, int]
"""An argument and the number of an entry in it."""


@dataclass(frozen=True)
class Difference:
    """At entry `index` of argument or result `number`: the derivative, and the difference."""

    number: int
    index: tuple[int, ...]
    found: float
    expected: float

    @property
    def error(self) -> float:
        return abs(self.found - self.expected) / (max(abs(self.found), abs(self.expected)) or 1.0)


@dataclass(frozen=True)
class Directions:
    """Differences of `results`, a function of `values`, along directions in the arguments `active`."""

    results: Callable[[Sequence[Any]], list[Any]]
    values: list[Any]
    active: list[int]
    rtol: float

    def wrong_in_reverse(
        self, pulled: dict[int, Any], cotangents: list[Any], random: np.random.Generator
    ) -> Difference | None:
        """Along one random direction: the entry of a gradient `pulled` that is wrong."""
        way = {
            n: np.asarray(random.standard_normal(np.shape(self.values[n]))) * sizes(self.values[n])
            for n in self.active
        }
        entries = np.array([(n, k) for n in self.active for k in range(way[n].size)], dtype=np.int64)
        return self._narrowed(pulled, cotangents, way, entries)

    def _narrowed(
        self, pulled: dict[int, Any], cotangents: list[Any], way: dict[int, Any], entries: np.ndarray
    ) -> Difference | None:
        """The entry among `entries` that is wrong, if the derivative along all of them is."""
        part = {n: np.zeros(np.shape(w)) for n, w in way.items()}
        for n in self.active:
            mine = entries[entries[:, 0] == n, 1]
            part[n].reshape(-1)[mine] = way[n].reshape(-1)[mine]
        products = [(np.asarray(pulled[n]) * part[n]).ravel() for n in self.active]
        found, scale = sum(float(p.sum()) for p in products), sum(float(np.abs(p).sum()) for p in products)
        tried = [self._along(part, step, cotangents) for step in STEPS]
        for step, (expected, size) in zip(STEPS, tried, strict=True):
            noise = NOISE * size * (STEPS[0] / step)
            if abs(found - expected) <= self.rtol * max(scale, abs(expected)) + noise:
                return None
        if len(entries) == 1:
            n, k = (int(i) for i in entries[0])
            w = float(way[n].reshape(-1)[k])
            index = tuple(int(i) for i in np.unravel_index(k, np.shape(way[n])))
            return Difference(n, index, found / w, tried[0][0] / w)
        half = len(entries) // 2
        first = self._narrowed(pulled, cotangents, way, entries[:half])
        return first or self._narrowed(pulled, cotangents, way, entries[half:])

    def _along(self, way: dict[int, Any], step: float, cotangents: list[Any]) -> tuple[float, float]:
        """The central difference of <w, results>, and how large its sums are."""
        forth, back = self._ends(way, step)
        pairs = list(zip(cotangents, forth, back, strict=True))
        difference = sum(float(np.vdot(w, np.asarray(a) - np.asarray(b))) for w, a, b in pairs)
        size = sum(float(np.abs(w).ravel() @ np.abs(np.asarray(a)).ravel()) for w, a, _ in pairs)
        return difference / (2 * step), 1.0 + size

    def wrong_in_forward(self, pushed: list[Any], tangents: dict[int, Any]) -> Difference | None:
        """Along `tangents`: the entry of the results whose tangent `pushed` is furthest off, if it is wrong."""
        tried = [self._ends(tangents, step) for step in STEPS]
        worst: Difference | None = None
        for number, tangent in enumerate(np.asarray(p) for p in pushed):
            errors, first = [], None
            for step, (forth, back) in zip(STEPS, tried, strict=True):
                a, b = np.asarray(forth[number]), np.asarray(back[number])
                expected = (a - b) / (2 * step)
                first = expected if first is None else first
                noise = NOISE * (1.0 + np.abs(a).max(initial=0.0)) * (STEPS[0] / step)
                scale = np.maximum(np.abs(tangent).max(initial=0.0), np.abs(expected))
                errors.append(np.abs(tangent - expected) - self.rtol * scale - noise)
            assert first is not None
            over = np.min([np.where(np.isnan(e), np.inf, e) for e in errors], axis=0)
            if over.size and over.max() > 0:
                index = tuple(int(i) for i in np.unravel_index(int(over.argmax()), tangent.shape))
                here = Difference(number, index, float(tangent[index]), float(first[index]))
                worst = here if worst is None or here.error > worst.error else worst
        return worst

    def _ends(self, way: dict[int, Any], step: float) -> tuple[list[Any], list[Any]]:
        """The results a step forth and a step back."""
        ends = []
        for signed in (step, -step):
            moved = [
                v
                if n not in way
                else type(v)(v + signed * way[n])
                if np.ndim(v) == 0
                else v + signed * way[n]
                for n, v in enumerate(self.values)
            ]
            ends.append([np.asarray(r, np.float64) for r in self.results(moved)])
        return ends[0], ends[1]


def sizes(value: Any) -> np.ndarray:
    """How far an entry is moved at a step of 1: floats far from 0 are further apart."""
    there = np.abs(np.asarray(value, np.float64))
    return np.where(np.isfinite(there), np.maximum(1.0, there), 1.0)
