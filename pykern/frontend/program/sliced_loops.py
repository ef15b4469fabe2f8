"""Loops over slices whose lengths the loop's number decides, with loops over their elements instead.

Comes in: a loop that cannot stay one, as a slice has no length of its own in all iterations. Goes out: the same loop
without such slices, or None:

    before: for i in range(n): x[i] = (b[i] - l[i, :i] @ x[:i]) / l[i, i]
    after:  for i in range(n):
                s = 0
                for k in range(0, i): s += l[i, k] * x[k]
                x[i] = (b[i] - s) / l[i, i]

NumPy computes all that is assigned before it assigns any of it. So elements that a loop might have overwritten by then
are read from a copy. Read next: `sliced_elements`, `long_loops`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from pykern.frontend.loop_values import assigned_names
from pykern.frontend.program.linear_numbers import Linear, Spans, greatest, least, linear
from pykern.frontend.program.loop_integers import Integers
from pykern.frontend.program.sliced_elements import Elements, Read, nested, subscript
from pykern.frontend.program.sliced_lengths import Lengths, NotElements
from pykern.frontend.unrolling import target_names
from pykern.frontend.values import LanguageName, Scalar, Value


def written_out(
    node: ast.For, numbers: range, names: Mapping[str, Value]
) -> tuple[ast.For, dict[str, Scalar]] | None:
    """The loop without slices of changing length, and what names in it mean that no program has; `numbers`: those of
    the iterations. None where it has none, or where something is not known here."""
    assert isinstance(node.target, ast.Name)
    if node.orelse or node.exit_flags or not _is_of_python("range", names) or not numbers:  # type: ignore[attr-defined]
        return None
    counters = dict.fromkeys([*assigned_names(node.body), *_targets(node)])
    ends = Linear(constant=min(numbers[0], numbers[-1])), Linear(constant=max(numbers[0], numbers[-1]))
    elements = Elements(names, Integers(names, counters), {node.target.id: ends}, _bound(node))
    loops = _Loops(elements, set(counters))
    try:
        body = loops.statements(node.body)
    except NotElements:
        return None
    if not loops.has_slices:
        return None
    made = copy.copy(node)
    made.body = body
    return made, elements.zeros


def _is_of_python(name: str, names: Mapping[str, Value]) -> bool:
    return isinstance(names.get(name), LanguageName | None)


def _targets(node: ast.For) -> list[str]:
    return [name for n in ast.walk(node) if isinstance(n, ast.For) for name in target_names(n)]


def _bound(node: ast.For) -> dict[str, list[ast.expr]]:
    """What the body assigns to names, one by one."""
    found: dict[str, list[ast.expr]] = {}
    for each in ast.walk(node):
        targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        value = each.value if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign) else None
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                found.setdefault(target.id, []).append(value)
    return found


class _Loops:
    """Statements of one loop. `assigned`: names that mean something else in another iteration."""

    def __init__(self, elements: Elements, assigned: set[str]) -> None:
        self.elements, self.assigned = elements, assigned
        self.has_slices = False

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [made for statement in body for made in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.For):
            return [self._loop(node)]
        if isinstance(node, ast.If) and not self._is_sliced(node.test):
            made = copy.copy(node)
            made.body, made.orelse = self.statements(node.body), self.statements(node.orelse)
            return [made]
        if not self._is_sliced(node):
            return [node]
        self.has_slices = True
        if isinstance(node, ast.AugAssign):
            return self._assignment(node, node.target, node.value)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return self._assignment(node, node.targets[0], node.value)
        raise NotElements

    def _loop(self, node: ast.For) -> ast.For:
        if not self._is_sliced(node):
            return node
        if (
            self._is_sliced(node.iter)
            or not isinstance(node.target, ast.Name)
            or node.exit_flags
            or node.orelse
        ):  # type: ignore[attr-defined]
            raise NotElements
        made = copy.copy(node)
        spans = self.elements.spans
        span = self._span(node.iter)
        if span is not None:
            spans[node.target.id] = span
        made.body = self.statements(node.body)
        if span is not None:
            del spans[node.target.id]
        return made

    def _span(self, node: ast.expr) -> tuple[Linear, Linear] | None:
        """The first and the last number of a range of steps of 1."""
        is_range = (
            isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range" and not node.keywords
        )
        if not is_range or not 1 <= len(node.args) <= 2:  # type: ignore[attr-defined]
            return None
        given = [ast.Constant(0), *node.args][-2:]  # type: ignore[attr-defined]
        start, stop = (linear(one, self.elements.integers, self.elements.spans) for one in given)
        return None if start is None or stop is None else (start, stop.plus(Linear(constant=-1)))

    def _is_sliced(self, node: ast.AST) -> bool:
        """Whether it has a slice whose length is not the same in all iterations."""
        return any(isinstance(n, ast.Slice) and self._changes(n) for n in ast.walk(node))

    def _changes(self, node: ast.Slice) -> bool:
        given = [bound for bound in (node.lower, node.upper) if bound is not None]
        names = {n.id for bound in given for n in ast.walk(bound) if isinstance(n, ast.Name)}
        if names.isdisjoint(self.assigned):
            return False
        if len(given) < 2:
            return True
        start, stop = (linear(one, self.elements.integers, self.elements.spans) for one in given)
        return start is None or stop is None or bool(stop.plus(start, -1).terms)

    # -- assignments -----------------------------------------------------------------------------

    def _assignment(
        self, node: ast.Assign | ast.AugAssign, target: ast.expr, value: ast.expr
    ) -> list[ast.stmt]:
        elements = self.elements
        known = len(elements.spans)
        elements.before, elements.reads = [], []
        if isinstance(target, ast.Name):
            if elements.array(target) is not None or elements.lengths(value):
                raise NotElements
            made = self._assigned(node, ast.Name(target.id, ast.Store()), elements.element(value, ()))
            statements = [*elements.before, made]
        elif isinstance(target, ast.Subscript):
            statements = self._into(node, target, value)
        else:
            raise NotElements
        for name in list(elements.spans)[known:]:
            del elements.spans[name]
        if any(read.name.id in self.assigned for read in elements.reads):
            raise NotElements
        return [_placed(one, node) for one in statements]

    def _into(
        self, node: ast.Assign | ast.AugAssign, target: ast.Subscript, value: ast.expr
    ) -> list[ast.stmt]:
        elements = self.elements
        axes = elements.axes(target)
        array = elements.array(target.value)
        assert isinstance(target.value, ast.Name)
        if array is None or any(one.is_new for one in axes) or target.value.id in self.assigned:
            raise NotElements
        lengths = tuple(one.stop.plus(one.start, -1) for one in axes)
        loops, place = elements.loops(lengths, [one.start for one in axes])
        counted = [loop.target.id for loop in loops]  # type: ignore[attr-defined]
        own, written = elements.indices(target, place)
        element = self._repeated(value, lengths, place)
        base = ast.Name(target.value.id, ast.Load())
        made = self._assigned(node, subscript(base, own, written, ast.Store()), element)
        inside = nested(loops, [*elements.before, made])
        if not loops:
            return inside
        overwritten = [
            read for read in elements.reads
            if read.array.origins & array.origins
            and (read.array is not array or not _is_intact(read, own, counted, elements.spans))
        ]  # fmt: skip
        copies: list[ast.stmt] = []
        kept: dict[str, str] = {}
        for read in overwritten:
            if read.name.id not in kept:
                kept[read.name.id] = name = elements.fresh("before")
                call = ast.Call(ast.Attribute(ast.Name(read.name.id, ast.Load()), "copy", ast.Load()), [], [])
                copies.append(ast.Assign([ast.Name(name, ast.Store())], call))
            read.name.id = kept[read.name.id]
        return [*copies, *inside]

    def _repeated(self, value: ast.expr, lengths: Lengths, place: Lengths) -> ast.expr:
        """The element of what is assigned, repeated along axes that it has not."""
        own = self.elements.lengths(value)
        if len(own) > len(lengths):
            raise NotElements
        one = Linear(constant=1)
        for length, wanted in zip(own, lengths[len(lengths) - len(own) :], strict=True):
            if length not in (wanted, one):
                raise NotElements
        at = place[len(place) - len(own) :]
        places = (Linear() if n == one else each for n, each in zip(own, at, strict=True))
        return self.elements.element(value, tuple(places))

    @staticmethod
    def _assigned(node: ast.Assign | ast.AugAssign, target: ast.expr, value: ast.expr) -> ast.stmt:
        if isinstance(node, ast.AugAssign):
            return ast.AugAssign(target, node.op, value)  # type: ignore[arg-type]
        return ast.Assign([target], value)


def _is_intact(read: Read, own: list[Linear | None], counted: list[str], spans: Spans) -> bool:
    """Whether no earlier iteration of the loops `counted` has written the element that is read, of the array that they
    write: it is the one that this iteration writes, or one that none writes."""
    if None not in read.place and list(read.place) == own and len(read.place) == len(own):
        return True
    others = {name: f"{name}.other" for name in counted}
    both = dict(spans)
    both.update({others[name]: spans[name] for name in counted})
    for a, b in zip(read.place, own, strict=False):
        if a is None or b is None:
            continue
        apart = a.plus(b.renamed(others), -1)
        low, high = least(apart, both), greatest(apart, both)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return True
    return False


def _placed(made: ast.stmt, node: ast.stmt) -> ast.stmt:
    for part in ast.walk(made):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return made
