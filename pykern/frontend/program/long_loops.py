"""Whether a long loop over Python's `range` may stay one loop, with the results that its copies would have.

Comes in: the loop, what names mean in front of it, and what they mean after its first iteration. Goes out: a yes or no.
Read next: `loop_integers`, `loops`.

Why: a copy of the body for each number takes as long to compile as there are copies. Short loops are copied, because
their copies are fused and may use the number for shapes. The number of a loop that stays is one of the run time: it
may index arrays within their bounds, and be computed with. Where something else is needed, as a shape, translating the
loop fails, and all loops are copied.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from pykern.frontend.loop_values import assigned_names
from pykern.frontend.mathematics import NAMES, OF_NUMPY
from pykern.frontend.program import reductions
from pykern.frontend.program.loop_integers import (
    Bounds,
    Integers,
    assigned_bounds,
    indices_of,
    is_constant,
    union,
)
from pykern.frontend.unrolling import target_names
from pykern.frontend.values import Scalar, Value
from pykern.passes.analysis.cost_model.code_size import (
    BRANCH_OPS,
    CALL_OPS,
    DECIDING_LOOP_OPS,
    FEWEST_COPIES,
    LONG_LOOP_OPS,
)
from pykern.types import weak_int

_COUNTED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.AugAssign, ast.Call)
_FUNCTIONS = {*NAMES, *OF_NUMPY, *reductions.NAMES, "where"}
_OF_PYTHON = {"abs", "float", "max", "min"}
_COMPUTING = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp)
_CHANGES = {"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "reverse", "sort"}


def is_long(node: ast.For, numbers: range, names: Mapping[str, Value], copies: int = 1) -> bool:
    """Whether copies of the body would be many, or have many operations; `copies`: of the loop itself."""
    if len(numbers) < FEWEST_COPIES // 2 or not isinstance(node.target, ast.Name):
        return False
    count = copies * len(numbers)
    least = LONG_LOOP_OPS if count >= FEWEST_COPIES else DECIDING_LOOP_OPS
    return len(numbers) >= LONG_LOOP_OPS or copies * _operations(node, numbers, names) >= least


def may_stay(node: ast.For, numbers: range, before: Mapping[str, Value], after: Mapping[str, Value]) -> bool:
    """Whether a long loop is the same if its number, and what is computed from it, are of the run time."""
    assert isinstance(node.target, ast.Name)
    assigned = set(assigned_names(node.body)) - set(getattr(node, "exit_flags", ()))
    if node.orelse or node.target.id in assigned:
        return False
    counters: dict[str, Bounds | None] = {node.target.id: _ends(numbers)}
    integers = Integers(after, counters)
    _count_inner(node, integers, counters)
    known = {name: after[name] for name in assigned if _is_number(after.get(name))}
    counters.update(dict.fromkeys(name for name in known if name not in counters))
    for name in [name for name in known if counters[name] is None] * 2:  # twice: in whatever order
        counters[name] = assigned_bounds(node, name, len(numbers), before.get(name), integers)
    for name, value in known.items():
        if counters[name] is None and value.is_const and type(value.const) is not float:
            return False  # it may grow beyond the integers of the run time
        if counters[name] is None and not value.is_const:
            del counters[name]  # data decides it
    decides = _operations(node, numbers, after) >= DECIDING_LOOP_OPS
    return _Uses(integers, decides).are_clear(node.body)


def _ends(numbers: range) -> Bounds:
    return min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1])


def _is_number(value: Value | None) -> bool:
    """What is known in each copy, or was until a loop in the loop stayed."""
    return isinstance(value, Scalar) and (value.is_const or value.dtype == weak_int)


def _count_inner(node: ast.For, integers: Integers, counters: dict[str, Bounds | None]) -> None:
    """The numbers of the loops in a loop, also where a name is that of several."""
    for loop in (n for n in ast.walk(node) if isinstance(n, ast.For) and n is not node):
        for name, bounds in integers.of_items(loop.target, loop.iter).items():
            both = union([counters[name], bounds]) if name in counters else bounds
            counters[name] = None if bounds[1] < bounds[0] else both


def _operations(node: ast.For, numbers: range, names: Mapping[str, Value]) -> int:
    """In all copies."""
    return len(numbers) * _work(node.body, names, {node.target.id: _ends(numbers)})  # type: ignore[attr-defined]


def _work(body: list[ast.stmt], names: Mapping[str, Value], counters: Mapping[str, Bounds | None]) -> int:
    """How many operations statements have; those of inner loops count as often as they may run."""
    total = 0
    for statement in body:
        if isinstance(statement, ast.For):
            bounds = Integers(names, counters).of_range(statement.iter)
            inner = {**counters, **dict.fromkeys(target_names(statement), bounds)}
            times = 1 if bounds is None else max(bounds[1] - bounds[0] + 1, 0)
            total += times * _work(statement.body, names, inner)
        else:
            counted = [n for n in ast.walk(statement) if isinstance(n, _COUNTED)]
            total += sum(CALL_OPS if _calls_another(n) else 1 for n in counted)
            total += BRANCH_OPS * sum(map(_asks_data, ast.walk(statement)))
    return total


def _asks_data(node: ast.AST) -> bool:
    """Whether it is a branch that elements of arrays decide, or what a function makes of them."""
    asked = ast.walk(node.test) if isinstance(node, ast.If) else ()
    return any(isinstance(n, ast.Subscript | ast.Call) for n in asked)


def _calls_another(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


class _Uses:
    """Whether the numbers of loops, `counters`, are used as those of the run time may be, `decides`: in branches."""

    def __init__(self, integers: Integers, decides: bool) -> None:
        self.integers, self.names, self.counters = integers, integers.names, integers.counters
        self.decides = decides

    def are_clear(self, body: list[ast.stmt]) -> bool:
        return all(map(self._statement, body))

    def _statement(self, statement: ast.stmt) -> bool:
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(statement)):
            return False
        if isinstance(statement, ast.For):
            counted = self.integers.of_range(statement.iter) is not None
            head = counted or not self._varies(statement.iter)
            return head and self._expression(statement.iter, counted) and self.are_clear(statement.body)
        if isinstance(statement, ast.If | ast.While):
            inner = [*statement.body, *statement.orelse]
            return self._decides(statement.test) and self.are_clear(inner)
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.Pass):
            return False
        if isinstance(statement, ast.Expr) and _changes_a_structure(statement.value):
            return False
        return all(self._expression(n) for n in ast.iter_child_nodes(statement) if isinstance(n, ast.expr))

    def _decides(self, test: ast.expr) -> bool:
        return self._expression(test) and (self.decides or not self._varies(test))

    def _expression(self, node: ast.expr, counted: bool = False) -> bool:
        """`counted`: it gives the numbers of a loop, whose bounds are known."""
        if isinstance(node, ast.Name) or not self._names_one(node):
            return True
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Call):
            return counted or self._call(node)
        if isinstance(node, ast.IfExp):
            return self._decides(node.test) and self._all((node.body, node.orelse))
        if self._varies(node) and not isinstance(node, (*_COMPUTING, ast.Tuple)):
            return False
        known = isinstance(node, (*_COMPUTING, ast.Attribute, ast.Tuple, ast.List, ast.Starred))
        return known and self._all(n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))

    def _all(self, nodes: Iterable[ast.expr]) -> bool:
        return all(map(self._expression, nodes))

    def _call(self, node: ast.Call) -> bool:
        """What numbers are passed to: a function that computes, or any if they are no integers."""
        function = node.func
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(function, ast.Attribute) and not self._expression(function.value):
            return False
        if isinstance(function, ast.Attribute) and self._varies(function.value):
            return False
        if not self._all(given):
            return False
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        computes = name in (_FUNCTIONS if isinstance(function, ast.Attribute) else _OF_PYTHON)
        loose = [keyword.value for keyword in node.keywords] if computes else given
        return not any(self._varies(one) and not self._is_float(one) for one in loose)

    def _subscript(self, node: ast.Subscript) -> bool:
        """An array, each of whose indices names no number, or stays within the array."""
        if not self._expression(node.value):
            return False
        indices, shape = indices_of(node), self.integers.shape(node.value)
        taken = sum(not is_constant(index, None, ...) for index in indices)
        axis = 0
        sliced = getattr(node, "sliced", ())
        for number, index in enumerate(indices):
            if sliced and sliced[number]:  # within the bounds of a slice
                axis += 1
                continue
            if is_constant(index, None):
                continue
            if is_constant(index, ...):
                axis += 0 if shape is None else len(shape) - taken
                continue
            length = shape[axis] if shape is not None and axis < len(shape) else None
            axis += 1
            if self._names_one(index) and not self._lies_inside(index, length):
                return False
        return True

    def _lies_inside(self, index: ast.expr, length: int | None) -> bool:
        if isinstance(index, ast.Slice):
            return self._slice(index, length)
        if not self._varies(index):
            return self._expression(index)  # data decides it, in copies, too
        bounds = self.integers.of(index)
        return length is not None and bounds is not None and -length <= bounds[0] and bounds[1] < length

    def _slice(self, index: ast.Slice, length: int | None) -> bool:
        """A part between two numbers. That they lie a constant apart is told when it is translated."""
        if index.lower is None or index.upper is None or length is None:
            return False
        if index.step is not None and self._names_one(index.step):
            return False
        low, high = self.integers.of(index.lower), self.integers.of(index.upper)
        moves = self._names_one(index.lower) and self._names_one(index.upper)
        return moves and low is not None and high is not None and low[0] >= 0 and high[1] <= length

    def _names_one(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.counters for n in ast.walk(node))

    def _varies(self, node: ast.expr) -> bool:
        """Whether this is known in a copy of the body, and another one in the next."""
        return self._names_one(node) and self._is_known(node)

    def _is_known(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            value = self.names.get(node.id)
            return node.id in self.counters or (isinstance(value, Scalar) and value.is_const)
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Subscript):
            return self.integers.of(node) is not None
        if isinstance(node, ast.Attribute):
            return self.integers.of(node) is not None or self._is_known(node.value)
        if isinstance(node, ast.Call):
            return not self._is_of_data(node.func) and all(map(self._is_known, node.args))
        return all(self._is_known(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))

    def _is_of_data(self, function: ast.expr) -> bool:
        """Whether it is a method of an array, as ``x[i].sum``."""
        owner = function.value if isinstance(function, ast.Attribute) else None
        is_name = isinstance(owner, ast.Name) and owner.id in self.names
        return (is_name or isinstance(owner, ast.Subscript | ast.Call)) and not self._is_known(owner)

    def _is_float(self, node: ast.expr) -> bool:
        """Whether a number that is known in a copy is surely no integer, which a shape or an index is."""
        if isinstance(node, ast.Constant):
            return isinstance(node.value, float)
        if isinstance(node, ast.Name):
            value = self.names.get(node.id)
            return isinstance(value, Scalar) and isinstance(value.const, float)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.Div) or self._is_float(node.left) or self._is_float(node.right)
        if isinstance(node, ast.UnaryOp):
            return self._is_float(node.operand)
        return isinstance(node, ast.Call) and any(map(self._is_float, node.args))


def _changes_a_structure(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES
