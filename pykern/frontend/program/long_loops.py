"""Whether a long loop over Python's `range` may stay one loop, with the results that its copies would have.

Comes in: the loop and what names mean in front of it. Goes out: a yes or no. Read next: `loops`.

Why: a copy of the body for each number takes as long to compile as there are copies. Short loops are copied, because
their copies are fused and may use the number for shapes. The number of a loop that stays is one of the run time: it
may index arrays within their bounds, and be computed with; it gives no shape, no bound of a slice and no branch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pykern.frontend.control import assigned_names, target_names
from pykern.frontend.mathematics import NAMES
from pykern.frontend.program import reductions
from pykern.frontend.program.values import Cell
from pykern.frontend.values import RangeValue, Scalar, Value

LONG = 192
"""Operations in all copies from which a loop is long. A function that is called counts as `OF_A_CALL`."""
FEWEST = 16
"""Iterations from which it may be."""
OF_A_CALL = 16
_COUNTED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.AugAssign, ast.Call)
_UNCLEAR = (ast.Lambda, ast.NamedExpr, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Starred)
_FUNCTIONS = {*NAMES, *reductions.NAMES, "where"}
_COMPUTING = (ast.BinOp, ast.UnaryOp, ast.Compare)

Bounds = tuple[int, int]
"""The least and the largest that an integer may be."""


def may_stay(node: ast.For, r: RangeValue, names: Mapping[str, Value]) -> set[str]:
    """The names of numbers, its own and what is computed from it, of a loop that is long, and whose number is only used
    to index arrays, within their bounds, and to compute with; none where it may not stay."""
    numbers = range(*(b.const for b in (r.start, r.stop, r.step)))  # type: ignore[arg-type]
    if len(numbers) < FEWEST or not isinstance(node.target, ast.Name):
        return set()
    ends = sorted((numbers[0], numbers[-1]))
    counters: dict[str, Bounds | None] = {node.target.id: (ends[0], ends[1])}
    if len(numbers) < LONG and len(numbers) * _work(node.body, names, counters) < LONG:
        return set()
    if not _Uses(names, counters).are_clear(node):
        return set()
    inner = [n for n in ast.walk(node) if isinstance(n, ast.For)]
    return {*counters, *(name for loop in inner for name in target_names(loop))}


def _work(body: list[ast.stmt], names: Mapping[str, Value], counters: Mapping[str, Bounds | None]) -> int:
    """How many operations statements have; those of inner loops count as often as they may run."""
    total = 0
    for statement in body:
        if isinstance(statement, ast.For):
            bounds = _Integers(names, counters).of_range(statement.iter)
            inner = {**counters, **dict.fromkeys(target_names(statement), bounds)}
            times = 1 if bounds is None else max(bounds[1] - bounds[0] + 1, 0)
            total += times * _work(statement.body, names, inner)
        else:
            counted = [n for n in ast.walk(statement) if isinstance(n, _COUNTED)]
            total += sum(OF_A_CALL if _calls_another(n) else 1 for n in counted)
    return total


def _calls_another(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


class _Integers:
    """Bounds of integers that are known in front of a loop, and of its number."""

    def __init__(self, names: Mapping[str, Value], counters: Mapping[str, Bounds | None]) -> None:
        self.names, self.counters = names, counters

    def of_range(self, node: ast.expr) -> Bounds | None:
        """The numbers of ``range(...)``, whose step is 1."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"):
            return None
        if not 1 <= len(node.args) <= 2 or node.keywords:
            return None
        start = (0, 0) if len(node.args) == 1 else self.of(node.args[0])
        stop = self.of(node.args[-1])
        return None if start is None or stop is None else (start[0], stop[1] - 1)

    def of(self, node: ast.expr) -> Bounds | None:
        if isinstance(node, ast.Constant):
            return (node.value, node.value) if type(node.value) is int else None
        if isinstance(node, ast.Name):
            if node.id in self.counters:
                return self.counters[node.id]
            return self._known(self.names.get(node.id))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            bounds = self.of(node.operand)
            return None if bounds is None else (-bounds[1], -bounds[0])
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            a, b = self.of(node.left), self.of(node.right)
            if a is None or b is None:
                return None
            return (a[0] + b[0], a[1] + b[1]) if isinstance(node.op, ast.Add) else (a[0] - b[1], a[1] - b[0])
        return self._length(node)

    @staticmethod
    def _known(value: Value | None) -> Bounds | None:
        if isinstance(value, Scalar) and type(value.const) is int:
            return value.const, value.const
        return None

    def _length(self, node: ast.expr) -> Bounds | None:
        """``x.shape[1]``."""
        if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)):
            return None
        of, axis = node.value.value, node.slice
        array = self.names.get(of.id) if isinstance(of, ast.Name) else None
        if not isinstance(array, Cell) or node.value.attr != "shape" or not isinstance(axis, ast.Constant):
            return None
        if type(axis.value) is not int or not 0 <= axis.value < len(array.shape):
            return None
        return array.shape[axis.value], array.shape[axis.value]


class _Uses:
    """Whether the numbers of loops, `counters`, are used as those of the run time may be. Numbers that are computed
    from them are among `counters`, without bounds: they index nothing."""

    def __init__(self, names: Mapping[str, Value], counters: dict[str, Bounds | None]) -> None:
        self.names, self.counters = names, counters
        self.integers = _Integers(names, counters)

    def are_clear(self, node: ast.For) -> bool:
        numbers = {name for name, bounds in self.counters.items() if bounds is not None}
        if node.orelse or not numbers.isdisjoint(assigned_names(node.body)):
            return False
        while computed := [name for name in self._computed(node) if name not in self.counters]:
            self.counters.update(dict.fromkeys(computed))
        return all(self._statement(statement) for statement in node.body)

    def _computed(self, node: ast.For) -> Iterator[str]:
        """Names that are assigned what a number is computed into, not what it indexes."""
        for statement in ast.walk(node):
            if isinstance(statement, ast.Assign | ast.AugAssign) and self._computes(statement.value):
                yield from assigned_names([statement])

    def _computes(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.counters
        return not isinstance(node, ast.Subscript) and any(
            self._computes(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)
        )

    def _statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.For):
            return self._loop(statement)
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Pass):
            return False
        if any(isinstance(n, _UNCLEAR) for n in ast.walk(statement)):
            return False
        if isinstance(statement, ast.Assign) and not all(
            isinstance(target, ast.Name | ast.Subscript) for target in statement.targets
        ):
            return not self._names_one(statement)
        return all(self._expression(n) for n in ast.iter_child_nodes(statement) if isinstance(n, ast.expr))

    def _loop(self, node: ast.For) -> bool:
        """A loop in the loop, over numbers that are known but for those around it."""
        bounds = self.integers.of_range(node.iter)
        if getattr(node, "exit_flags", ()) or not isinstance(node.target, ast.Name):
            return False
        if bounds is None:  # whatever it runs over, it has nothing to do with the numbers
            return not self._names_one(node)
        if bounds[1] < bounds[0] or node.target.id in self.counters:
            return False
        return _Uses(self.names, {**self.counters, node.target.id: bounds}).are_clear(node)

    def _expression(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Name) or not self._names_one(node):
            return True
        if isinstance(node, ast.Call):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if function not in _FUNCTIONS or any(self._names_one(keyword) for keyword in node.keywords):
                return False
            return all(self._expression(n) for n in (node.func.value, *node.args))  # type: ignore[attr-defined]
        inside = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        return isinstance(node, _COMPUTING) and all(map(self._expression, inside))

    def _subscript(self, node: ast.Subscript) -> bool:
        """An array, each of whose indices names no number, or stays within the array."""
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not self._expression(node.value):
            return False
        array = self.names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        for place, index in enumerate(indices):
            if not self._names_one(index):
                if isinstance(index, ast.Constant) and (index.value is None or index.value is ...):
                    array = None  # what follows is of another dimension
                continue
            bounds = self.integers.of(index)
            if bounds is None or not isinstance(array, Cell) or place >= len(array.shape):
                return False
            if bounds[0] < 0 or bounds[1] >= array.shape[place]:
                return False
        return True

    def _names_one(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.counters for n in ast.walk(node))


def keeps_numbers_open(node: ast.For, names: Mapping[str, Value], numbers: set[str]) -> bool:
    """Whether, after the first iteration, all that the loop assigns is of the run time, but for `numbers`, which differ
    in each: what is known is computed as Python does, one iteration after the other."""
    assigned = (names.get(name) for name in assigned_names(node.body) if name not in numbers)
    return not any(isinstance(one, Scalar) and one.is_const for one in assigned)
