"""Whether two accesses can come to the same cell from different positions of a dimension.

The two run at positions of their own. Subscripts that are the same sum on both sides give equations
between the positions; solved one after the other they show which dimensions must agree.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from pykern.passes.raise_to_linalg.conditions import facts
from pykern.passes.raise_to_linalg.expressions import Expression, Load, Mask, reachable
from pykern.passes.raise_to_linalg.forms import Dim, Form
from pykern.passes.raise_to_linalg.program import Bind, Statement, Store, statements


@dataclass(eq=False)
class ArrayAccess:
    """One access of an array: where, at which positions, whether it writes."""

    array: int
    subscripts: tuple[Form, ...]
    dims: tuple[Dim, ...]
    mask: Mask
    writes: bool
    statement: Bind | Store

    @functools.cached_property
    def zeros(self) -> frozenset[Form]:
        """Sums that are zero where the access runs."""
        return frozenset(form for literal in self.mask if (f := facts(literal)) for form in f.zero)


def accesses(body: list[Statement]) -> list[ArrayAccess]:
    """Every access of the statements, in order."""
    found: list[ArrayAccess] = []
    for s in statements(body):
        if isinstance(s, Bind):
            found.append(ArrayAccess(s.load.array, s.load.subscripts, s.dims, s.load.mask, False, s))
        elif isinstance(s, Store):
            found.append(ArrayAccess(s.array, s.subscripts, s.dims, s.mask, True, s))
    return found


def conflicts(found: list[ArrayAccess]) -> Iterator[tuple[ArrayAccess, ArrayAccess]]:
    """Pairs of which one writes an array that the other reads or writes; an access pairs with itself too.

    Of accesses that are alike the first stands for all.
    """
    kinds = {(a.array, a.subscripts, a.dims, a.zeros, a.writes, _combine(a)): a for a in reversed(found)}
    distinct = list(kinds.values())[::-1]
    for number, one in enumerate(distinct):
        for other in distinct[number:]:
            if one.array == other.array and (one.writes or other.writes) and not _commute(one, other):
                yield one, other


def _combine(access: ArrayAccess) -> str | None:
    statement = access.statement
    return statement.combine if isinstance(statement, Store) and statement.atomic else None


def _commute(one: ArrayAccess, other: ArrayAccess) -> bool:
    """Atomics of one kind may come in any order."""
    return _combine(one) is not None and _combine(one) == _combine(other)


@dataclass(frozen=True)
class Proof:
    """Proofs within one kernel; `changing` are the arrays it writes."""

    changing: frozenset[int]

    def agree(
        self, one: ArrayAccess, other: ArrayAccess, wanted: Iterable[Dim], known: Iterable[Dim] = ()
    ) -> bool:
        """Whether the positions of the wanted dimensions agree wherever both touch one cell.

        `known` are dimensions taken to agree from the start.
        """
        single = {dim for dim in (*one.dims, *other.dims) if _is_single(dim)}
        wanted, known = set(wanted) - single, {*known, *single}
        if not wanted:
            return True
        pairs = list(zip(one.subscripts, other.subscripts, strict=True))
        pairs += _pinned(one, other)
        pairs = [pair for pair in pairs if not any(self._changes(form) for form in pair)]
        ends = functools.partial(_ends_of_both, one, other)
        changed = True
        while changed:
            changed = False
            for left, right in pairs:
                if _is_apart(left, right, known, ends):
                    return True
                for dim in _solved(left, right, known, ends):
                    known.add(dim)
                    changed = True
                if wanted <= known:
                    return True
        return False

    def _changes(self, form: Form) -> bool:
        """Whether a value in the sum is read from an array that the kernel writes."""
        if not form.symbols:
            return False
        loads = (value for value in reachable(list(form.symbols)) if isinstance(value, Load))
        return any(load.array in self.changing for load in loads)


def _pinned(one: ArrayAccess, other: ArrayAccess) -> list[tuple[Form, Form]]:
    """Equations both masks give: `j == 0` on both sides is one between their `j`."""
    return [(form, form) for form in one.zeros & other.zeros]


Ends = Callable[[Dim], tuple[int, int] | None]
"""First and last position of a dimension, where they are known."""


def _ends_of_both(one: ArrayAccess, other: ArrayAccess, dim: Dim) -> tuple[int, int] | None:
    """First and last position of a dimension in either of two accesses."""
    a, b = bounds_where(dim, one.mask), bounds_where(dim, other.mask)
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _solved(left: Form, right: Form, known: set[Dim], ends: Ends) -> list[Dim]:
    """Dimensions that `left == right` shows to agree."""
    unknown = [d for d in left.dims if d not in known]
    if not unknown:
        return []
    if not all(_same(symbol, known) for form in (left, right) for symbol in form.symbols):
        return []
    rest = _difference(left, right, known)
    if rest is None:
        return []
    for dim in sorted(unknown, key=lambda d: -abs(left.factor(d))):
        factor = left.factor(dim)
        if right.factor(dim) != factor:
            continue
        others = [(term, k) for term, k in rest if term is not dim]
        reach = spread(others, ends)
        if (
            reach is not None
            and -abs(factor) < reach[0] + _constant(left, right)
            and (reach[1] + _constant(left, right) < abs(factor))
        ):
            return [dim]
    return []


def _constant(left: Form, right: Form) -> int:
    return left.constant - right.constant


def _difference(left: Form, right: Form, known: set[Dim]) -> list[tuple[Dim, int]] | None:
    """Terms of `left - right` whose positions are free of each other; None where a symbol is left."""
    for symbol in {*left.symbols, *right.symbols}:
        if left.factor(symbol) != right.factor(symbol):
            return None
    terms: list[tuple[Dim, int]] = []
    for dim in dict.fromkeys((*left.dims, *right.dims)):
        if dim in known:
            if left.factor(dim) != right.factor(dim):
                terms.append((dim, left.factor(dim) - right.factor(dim)))
            continue
        terms += [(dim, k) for k in (left.factor(dim), -right.factor(dim)) if k]
    return terms


def spread(terms: Iterable[tuple[Dim, int]], ends: Ends) -> tuple[int, int] | None:
    """Least and greatest value of a sum, where the dimensions have constant bounds."""
    low = high = 0
    for dim, factor in terms:
        bounds = ends(dim)
        if bounds is None or dim.step is not None:
            return None
        values = (factor * bounds[0], factor * bounds[1])
        low, high = low + min(values), high + max(values)
    return low, high


def bounds_where(dim: Dim, mask: Mask) -> tuple[int, int] | None:
    """First and last position where a mask holds, as far as constants say; None where no bounds are known."""
    bounds = constant_bounds(dim)
    if bounds is None:
        return None
    low, high = bounds
    for form in (form for literal in mask if (known := facts(literal)) for form in known.not_negative):
        if form.dims == (dim,) and not form.symbols:
            factor = form.factor(dim)
            low = max(low, -form.constant) if factor == 1 else low
            high = min(high, form.constant) if factor == -1 else high
    return low, high


def constant_bounds(dim: Dim) -> tuple[int, int] | None:
    """First and last position, where constant bounds are known."""
    lows = [f.number for f in dim.lows if f.number is not None]
    highs = [f.number for f in dim.highs if f.number is not None]
    return (max(lows), max(max(lows), min(highs) - 1)) if lows and highs else None


def _is_single(dim: Dim) -> bool:
    """Whether there is one position at most: a launch of one work-item is a loop in sequence."""
    bounds = constant_bounds(dim)
    return bounds is not None and bounds[0] == bounds[1]


def _is_apart(left: Form, right: Form, known: set[Dim], ends: Ends) -> bool:
    """Whether the two sums can never be equal."""
    if left.constant == right.constant:
        return False
    if not left.terms and not right.terms:
        return True
    if not all(_same(symbol, known) for form in (left, right) for symbol in form.symbols):
        return False
    terms = _difference(left, right, known)
    constant = left.constant - right.constant
    if terms is None:
        return False
    if all(dim.step is None for dim, _ in terms):
        divisor = math.gcd(*(k for _, k in terms))
        if (constant % divisor if divisor else constant) != 0:
            return True
    reach = spread(terms, ends)
    return reach is not None and not reach[0] <= -constant <= reach[1]


def _same(symbol: Expression, known: set[Dim]) -> bool:
    """Whether a value is the same on both sides: it depends on dimensions that agree only."""
    return all(dim in known for value in reachable([symbol]) for dim in value.own_dims)
