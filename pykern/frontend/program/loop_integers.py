"""Bounds of integers in a loop of an array program: its number, those of loops in it, and what is computed from them.

Comes in: the loop's syntax and what names mean. Goes out: the least and the largest that an expression may be, or None.
Read next: `long_loops`, which asks whether an index lies in its array.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pykern.frontend.liveness import read_first
from pykern.frontend.program.values import Cell
from pykern.frontend.values import ComplexValue, Scalar, TupleValue, Value

Bounds = tuple[int, int]
"""The least and the largest that an integer may be."""
Shape = tuple[int, ...]


class Integers:
    """Integers that are known in front of a loop, and those that are counted in it, `counters`."""

    def __init__(self, names: Mapping[str, Value], counters: Mapping[str, Bounds | None]) -> None:
        self.names, self.counters = names, counters

    def of_range(self, node: ast.expr) -> Bounds | None:
        """The numbers of ``range(...)``, whose step is known."""
        if not _is_call(node, "range") or not 1 <= len(node.args) <= 3:  # type: ignore[attr-defined]
            return None
        given = [self.of(one) for one in node.args]  # type: ignore[attr-defined]
        if len(given) == 1:
            given.insert(0, (0, 0))
        start, stop, step = (*given, (1, 1))[:3]
        if start is None or stop is None or step is None or step[0] != step[1] or not step[0]:
            return None
        return (start[0], stop[1] - 1) if step[0] > 0 else (stop[0] + 1, start[1])

    def of_items(self, target: ast.expr, node: ast.expr) -> dict[str, Bounds]:
        """What the target of a loop is, by name, where it runs over integers that are known, or counts items."""
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "enumerate" and len(node.args) == 1:
            length = self._number_of(node.args[0])
            if length is None or not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                return {}
            counted = {target.elts[0].id: (0, length - 1)} if isinstance(target.elts[0], ast.Name) else {}
            return {**self.of_items(target.elts[1], node.args[0]), **counted}
        if (bounds := self.of_range(node)) is not None:
            return {target.id: bounds} if isinstance(target, ast.Name) else {}
        value = self.names.get(node.id) if isinstance(node, ast.Name) else None
        items: tuple[Value | ast.expr, ...] = tuple(getattr(node, "elts", ()))
        if isinstance(value, TupleValue) and not isinstance(value, ComplexValue):
            items = value.items
        return self._of_each(target, items)

    def _of_each(self, target: ast.expr, items: tuple[Value | ast.expr, ...]) -> dict[str, Bounds]:
        if isinstance(target, ast.Name):
            one = union([self.of(i) if isinstance(i, ast.expr) else _constant(i) for i in items])
            return {} if one is None else {target.id: one}
        found: dict[str, Bounds] = {}
        for n, part in enumerate(getattr(target, "elts", ())):
            columns = [i.items if isinstance(i, TupleValue) else getattr(i, "elts", ()) for i in items]
            if all(len(column) == len(target.elts) for column in columns):  # type: ignore[attr-defined]
                found.update(self._of_each(part, tuple(column[n] for column in columns)))
        return found

    def _number_of(self, node: ast.expr) -> int | None:
        value = self.names.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(value, TupleValue) and not isinstance(value, ComplexValue):
            return len(value.items)
        if isinstance(node, ast.Tuple | ast.List):
            return len(node.elts)
        return (self.shape(node) or (None,))[0]

    def of(self, node: ast.expr) -> Bounds | None:
        if isinstance(node, ast.Constant):
            return (node.value, node.value) if type(node.value) is int else None
        if isinstance(node, ast.Name):
            return self.counters[node.id] if node.id in self.counters else self._known(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            bounds = self.of(node.operand)
            return None if bounds is None else (-bounds[1], -bounds[0])
        if isinstance(node, ast.BinOp):
            return _combined(node.op, self.of(node.left), self.of(node.right))
        if isinstance(node, ast.IfExp):
            return union([self.of(node.body), self.of(node.orelse)])
        if _is_call(node, "min", "max"):
            return self._extreme(node)  # type: ignore[arg-type]
        return self._length(node)

    def _known(self, name: str) -> Bounds | None:
        return _constant(self.names.get(name))

    def _extreme(self, node: ast.Call) -> Bounds | None:
        given = [self.of(one) for one in node.args]
        if not given or None in given:
            return None
        choose = min if node.func.id == "min" else max  # type: ignore[attr-defined]
        return choose(b[0] for b in given), choose(b[1] for b in given)  # type: ignore[index]

    def _length(self, node: ast.expr) -> Bounds | None:
        """``len(x)``, ``x.shape[1]``, ``x.size``."""
        length = None
        if _is_call(node, "len") and len(node.args) == 1:  # type: ignore[attr-defined]
            length = (self.shape(node.args[0]) or (None,))[0]  # type: ignore[attr-defined]
        elif isinstance(node, ast.Attribute) and node.attr == "size":
            array = self._array(node.value)
            length = None if array is None else array.size
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            shape = self.shape(node.value.value) if node.value.attr == "shape" else None
            axis = self.of(node.slice)
            if shape is not None and axis is not None and axis[0] == axis[1]:
                length = shape[axis[0]] if -len(shape) <= axis[0] < len(shape) else None
        return None if length is None else (length, length)

    def _array(self, node: ast.expr) -> Cell | None:
        """The array that a name means; of complex numbers that of their real parts."""
        value = self.names.get(node.id) if isinstance(node, ast.Name) else None
        value = value.real if isinstance(value, ComplexValue) else value
        return value if isinstance(value, Cell) else None

    def shape(self, node: ast.expr) -> Shape | None:
        """The lengths of an array, or of what integers choose of its first axes."""
        if isinstance(node, ast.Name):
            array = self._array(node)
            return None if array is None else array.shape
        if isinstance(node, ast.Attribute) and node.attr == "T":
            shape = self.shape(node.value)
            return None if shape is None else shape[::-1]
        if not isinstance(node, ast.Subscript):
            return None
        shape = self.shape(node.value)
        indices = indices_of(node)
        if shape is None or len(indices) > len(shape) or any(self.of(one) is None for one in indices):
            return None
        return shape[len(indices) :]


def indices_of(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_constant(node: ast.expr, *values: object) -> bool:
    """Whether an expression is written as one of the values: ``None``, ``...`` or 1."""
    return isinstance(node, ast.Constant) and any(node.value is value for value in values)


def union(found: list[Bounds | None]) -> Bounds | None:
    """Bounds of what is one of these."""
    if not found or None in found:
        return None
    return min(b[0] for b in found), max(b[1] for b in found)  # type: ignore[index]


def _constant(value: Value | None) -> Bounds | None:
    if isinstance(value, Scalar) and type(value.const) is int:
        return value.const, value.const
    return None


def _is_call(node: ast.expr, *names: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in names
        and not node.keywords
        and not any(isinstance(one, ast.Starred) for one in node.args)
    )


def _combined(op: ast.operator, a: Bounds | None, b: Bounds | None) -> Bounds | None:
    if a is None or b is None:
        return None
    if isinstance(op, ast.Add):
        return a[0] + b[0], a[1] + b[1]
    if isinstance(op, ast.Sub):
        return a[0] - b[1], a[1] - b[0]
    if isinstance(op, ast.Mult):
        products = [p * q for p in a for q in b]
        return min(products), max(products)
    if b[0] != b[1] or b[0] <= 0:
        return None
    if isinstance(op, ast.FloorDiv):
        return a[0] // b[0], a[1] // b[0]
    if isinstance(op, ast.Mod):
        return a if a[0] // b[0] == a[1] // b[0] == 0 else (0, b[0] - 1)
    return None


# -- names that a loop assigns -------------------------------------------------------------------


def assigned_bounds(
    node: ast.For, name: str, iterations: int, first: Value | None, integers: Integers
) -> Bounds | None:
    """Bounds of a name that the loop's body assigns: of all that it is assigned, or of what is counted by hand.

    `first`: what it means in front of the loop, which an iteration may read where it does not assign it before.
    """
    begun = _constant(first)
    places = [(block, at) for block, at in _statements(node.body) if _assigns(block[at], name)]
    values = [block[at] for block, at in places]
    if len(values) == 1 and places[0][0] is node.body and (step := _step(values[0], name)) is not None:
        return _counted(node.body, places[0][1], name, iterations, begun, integers.of(step))
    found = [integers.of(value) if (value := _given(one, name)) is not None else None for one in values]
    if read_first(node.body, name):
        found.append(begun)
    return union(found)


def _given(statement: ast.stmt, name: str) -> ast.expr | None:
    """What an assignment gives to a name, also as one of several."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    while isinstance(target, ast.Tuple | ast.List):
        if not isinstance(value, ast.Tuple | ast.List) or len(target.elts) != len(value.elts):
            return None
        pairs = zip(target.elts, value.elts, strict=True)
        target, value = next(pair for pair in pairs if _stores(pair[0], name))
    return value if isinstance(target, ast.Name) else None


def _step(statement: ast.stmt, name: str) -> ast.expr | None:
    """What ``k += 2``, ``k -= 2`` and ``k = k + 2`` add."""
    value = statement.value if isinstance(statement, ast.AugAssign | ast.Assign) else None
    if isinstance(statement, ast.AugAssign):
        op = statement.op
    elif isinstance(value, ast.BinOp) and isinstance(value.left, ast.Name) and value.left.id == name:
        op, value = value.op, value.right
    else:
        return None
    if isinstance(op, ast.Sub):
        return ast.UnaryOp(ast.USub(), value)  # type: ignore[arg-type]
    return value if isinstance(op, ast.Add) else None


def _counted(
    body: list[ast.stmt], at: int, name: str, iterations: int, begun: Bounds | None, step: Bounds | None
) -> Bounds | None:
    """Counted by hand, once in an iteration: what is read in front of it and behind it."""
    if begun is None or step is None or step[0] != step[1]:
        return None
    low = 0 if any(_mentions(one, name) for one in body[:at]) else 1
    high = iterations if any(_mentions(one, name) for one in body[at + 1 :]) else iterations - 1
    ends = [begun[0] + step[0] * times for times in (min(low, high), high)]
    return min(ends), max(ends)


def _statements(body: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int]]:
    for at, statement in enumerate(body):
        yield body, at
        for inner in ("body", "orelse"):
            yield from _statements(getattr(statement, inner, []))


def _assigns(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name) and statement.target.id == name
    if not isinstance(statement, ast.Assign):
        return False
    return any(_stores(target, name) for target in statement.targets)


def _stores(target: ast.expr, name: str) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(target)
    )


def _mentions(node: ast.AST, name: str) -> bool:
    return _count(node, name) > 0


def _count(node: ast.AST, name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
