"""The text of a kernel that transforms rows: Stockham's autosort algorithm, written out for one length.

Comes in: a length whose prime factors are small. Goes out: the text of a function of one work-item, which transforms
one row. Each stage is a loop of its own with constant bounds: it takes `radix` elements, transforms them in registers,
multiplies by roots of unity and writes them beside each other, so that no stage reorders (C. Van Loan, Computational
Frameworks for the Fast Fourier Transform, 1992, section 1.7). Real and imaginary parts are arrays of their own.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from pykern.passes.analysis.cost_model.fourier import GREATEST_RADIX, RADICES

Pair = tuple[str, str]
"""The names of a real and an imaginary part."""


@dataclass(frozen=True)
class Stage:
    """One pass over a row of `length * stride` elements: `length` is `radix * parts`."""

    radix: int
    parts: int
    stride: int


def stages(n: int) -> list[Stage] | None:
    """The stages of a length; None where a prime factor is too large for registers."""
    found, left, stride = [], n, 1
    while left > 1:
        radix = next((r for r in RADICES if left % r == 0), None) or _least_factor(left)
        if radix > GREATEST_RADIX:
            return None
        found.append(Stage(radix, left // radix, stride))
        left, stride = left // radix, stride * radix
    return found


def _least_factor(n: int) -> int:
    return next((p for p in range(2, math.isqrt(n) + 1) if n % p == 0), n)


def text(n: int, name: str) -> str:
    """A function over rows of `given`, through `spare`, to `found`."""
    passes = stages(n)
    assert passes
    lines = [f"def {name}(xr, xi, yr, yi, zr, zi, wr, wi):", "    row = index()"]
    first = 0
    for k, stage in enumerate(passes):
        is_last_in_found = (len(passes) - k) % 2 == 1
        source = "x" if k == 0 else "z" if is_last_in_found else "y"
        target = "y" if is_last_in_found else "z"
        lines += [f"    {line}" for line in _stage(stage, source, target, first)]
        first += (stage.radix - 1) * stage.parts
    return "\n".join(lines) + "\n"


def roots(n: int) -> list[tuple[int, int, int]]:
    """The tables that the stages read, one behind the other: radix, parts and the order of the root of each stage."""
    return [(s.radix, s.parts, s.radix * s.parts) for s in stages(n) or ()]


def _stage(stage: Stage, source: str, target: str, first: int) -> Iterator[str]:
    r, m, s = stage.radix, stage.parts, stage.stride
    writer = _Writer()
    given = [(f"ar{k}", f"ai{k}") for k in range(r)]
    reads = [
        f"a{part}{k} = {source}{part}[row, {_sum(f'{s} * p' if m > 1 else '', 'q' if s > 1 else '', s * m * k)}]"
        for k in range(r)
        for part in "ri"
    ]
    results = writer.transform(given)
    weights = [f"u{part}{j} = w{part}[{first + (j - 1) * m} + p]" for j in range(1, r) for part in "ri"]
    writes = []
    for j, (real, imag) in enumerate(results):
        place = _sum(f"{s * r} * p" if m > 1 else "", "q" if s > 1 else "", s * j)
        if j == 0 or m == 1:
            writes += [f"{target}r[row, {place}] = {real}", f"{target}i[row, {place}] = {imag}"]
            continue
        writes += [
            f"{target}r[row, {place}] = {real} * ur{j} - {imag} * ui{j}",
            f"{target}i[row, {place}] = {real} * ui{j} + {imag} * ur{j}",
        ]
    body = [*reads, *writer.lines, *writes]
    indent = ""
    if m > 1:
        yield f"for p in range({m}):"
        indent = "    "
        yield from (f"    {line}" for line in weights)
    if s > 1:
        yield f"{indent}for q in range({s}):"
        indent += "    "
    yield from (indent + line for line in body)


def _sum(*terms: str | int) -> str:
    kept = [str(term) for term in terms if term not in ("", 0)]
    return " + ".join(kept) or "0"


@dataclass
class _Writer:
    """Writes the arithmetic of one short transform."""

    lines: list[str] = field(default_factory=list)
    counter: Iterator[int] = field(default_factory=itertools.count)

    def made(self, expression: str) -> str:
        name = f"t{next(self.counter)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def transform(self, given: list[Pair]) -> list[Pair]:
        """The transform of as many numbers: by factors, primes directly."""
        n = len(given)
        if n == 1:
            return given
        if n == 2:
            return [self.plus(*given), self.minus(*given)]
        factor = 4 if n % 4 == 0 and n > 4 else _least_factor(n)
        if factor == n:
            return self.prime(given)
        m = n // factor
        rows = [self.transform(given[k::factor]) for k in range(factor)]
        found: list[Pair] = [("", "")] * n
        for j in range(m):
            column = [self.rotated(rows[k][j], k * j, n) for k in range(factor)]
            for i, value in enumerate(self.transform(column)):
                found[j + m * i] = value
        return found

    def prime(self, given: list[Pair]) -> list[Pair]:
        """Sums and differences of elements that mirror each other: half as many products."""
        n, half = len(given), len(given) // 2
        sums = [self.plus(given[k], given[n - k]) for k in range(1, half + 1)]
        differences = [self.minus(given[k], given[n - k]) for k in range(1, half + 1)]
        found: list[Pair] = [("", "")] * n
        found[0] = (self._added(given[0][0], sums, 0), self._added(given[0][1], sums, 1))
        for j in range(1, half + 1):
            angles = [2 * math.pi * (j * k % n) / n for k in range(1, half + 1)]
            c, s = [math.cos(a) for a in angles], [math.sin(a) for a in angles]
            real = self.made(
                " + ".join([given[0][0], *(f"{w!r} * {v[0]}" for w, v in zip(c, sums, strict=True))])
            )
            imag = self.made(
                " + ".join([given[0][1], *(f"{w!r} * {v[1]}" for w, v in zip(c, sums, strict=True))])
            )
            across = self.made(" + ".join(f"{w!r} * {v[1]}" for w, v in zip(s, differences, strict=True)))
            along = self.made(" + ".join(f"{w!r} * {v[0]}" for w, v in zip(s, differences, strict=True)))
            found[j] = (self.made(f"{real} + {across}"), self.made(f"{imag} - {along}"))
            found[n - j] = (self.made(f"{real} - {across}"), self.made(f"{imag} + {along}"))
        return found

    def _added(self, first: str, more: list[Pair], part: int) -> str:
        return self.made(" + ".join([first, *(pair[part] for pair in more)]))

    def plus(self, a: Pair, b: Pair) -> Pair:
        return self.made(f"{a[0]} + {b[0]}"), self.made(f"{a[1]} + {b[1]}")

    def minus(self, a: Pair, b: Pair) -> Pair:
        return self.made(f"{a[0]} - {b[0]}"), self.made(f"{a[1]} - {b[1]}")

    def rotated(self, a: Pair, k: int, n: int) -> Pair:
        """``a * exp(-2 pi i k / n)``: without a product by quarters, with two of one constant by eighths."""
        k %= n
        if k == 0:
            return a
        if 4 * k % n == 0:
            turn = 4 * k // n
            if turn == 1:
                return a[1], self.made(f"-{a[0]}")
            if turn == 2:
                return self.made(f"-{a[0]}"), self.made(f"-{a[1]}")
            return self.made(f"-{a[1]}"), a[0]
        if 8 * k % n == 0:
            root = math.sqrt(0.5)
            plus, minus = self.made(f"{a[0]} + {a[1]}"), self.made(f"{a[1]} - {a[0]}")
            signs = {1: (plus, root, minus, root), 3: (minus, root, plus, -root), 5: (plus, -root, minus, -root),
                     7: (minus, -root, plus, root)}[8 * k // n]  # fmt: skip
            return self.made(f"{signs[1]!r} * {signs[0]}"), self.made(f"{signs[3]!r} * {signs[2]}")
        w = cmath.exp(-2j * math.pi * k / n)
        return (
            self.made(f"{w.real!r} * {a[0]} - {w.imag!r} * {a[1]}"),
            self.made(f"{w.imag!r} * {a[0]} + {w.real!r} * {a[1]}"),
        )
