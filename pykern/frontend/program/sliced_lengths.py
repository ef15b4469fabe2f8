"""Shapes of expressions over slices whose lengths loops decide: `l[i, :i] * x[:i]` has the length i.

Comes in: the syntax of an expression. Goes out: its lengths, sums of loop numbers. What is not known here raises
`NotElements`. Read next: `sliced_elements`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pykern.frontend.mathematics import NAMES, OF_NUMPY
from pykern.frontend.program.linear_numbers import Linear, Spans, greatest, least, linear
from pykern.frontend.program.loop_integers import Integers, indices_of, is_constant
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar, Undefined, Value

Lengths = tuple[Linear, ...]
ONE = Linear(constant=1)
SUMS = ("sum", "mean")
PRODUCTS = ("dot", "matmul")
_NO_ELEMENTS = ("divmod",)


class NotElements(Exception):
    """The expression has something that is not taken apart into elements."""


@dataclass(frozen=True)
class Axis:
    """What an index says of an axis: the begin and the end of a slice, or the index `item` of a single element.

    `is_new`: the array has no such axis.
    """

    start: Linear
    stop: Linear
    item: ast.expr | None = None
    is_new: bool = False


@dataclass
class SlicedLengths:
    """Lengths of expressions in a loop. `spans`: the numbers of the loops around; `bound`: what the loop's body assigns
    to names."""

    names: Mapping[str, Value]
    integers: Integers
    spans: Spans
    bound: Mapping[str, list[ast.expr]]

    def array(self, node: ast.expr) -> Cell | None:
        value = self.names.get(node.id) if isinstance(node, ast.Name) else None
        return value if isinstance(value, Cell) and value.shape else None

    def lengths(self, node: ast.expr) -> Lengths:
        """The shape of an expression."""
        if isinstance(node, ast.Name):
            array = self.array(node)
            if array is not None:
                return tuple(Linear(constant=n) for n in array.shape)
            value = self.names.get(node.id)
            if node.id in self.spans or isinstance(value, Scalar | Cell):
                return ()
            if isinstance(value, Undefined):  # it has a value in an inner loop only
                return self._of_bound(node.id)
        elif (isinstance(node, ast.Constant) and isinstance(node.value, int | float)) or self.integers.of(
            node
        ) is not None:
            return ()
        elif isinstance(node, ast.UnaryOp):
            return self.lengths(node.operand)
        elif isinstance(node, ast.BinOp):
            left, right = self.lengths(node.left), self.lengths(node.right)
            return _product(left, right) if isinstance(node.op, ast.MatMult) else _met(left, right)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            return _met(self.lengths(node.left), self.lengths(node.comparators[0]))
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            return self.lengths(node.value)[::-1]
        elif isinstance(node, ast.Subscript):
            return tuple(one.stop.plus(one.start, -1) for one in self.axes(node))
        elif isinstance(node, ast.Call):
            return self._of_call(node)
        raise NotElements

    def _of_bound(self, name: str) -> Lengths:
        """Of a name that is a number whenever it is assigned."""
        others = replace(self, bound={k: v for k, v in self.bound.items() if k != name})
        if not self.bound.get(name) or any(others.lengths(value) for value in self.bound[name]):
            raise NotElements
        return ()

    def axes(self, node: ast.Subscript) -> list[Axis]:
        """The axes that a part of an array has."""
        return [one for one in self.parts(node) if one.item is None]

    def parts(self, node: ast.Subscript) -> list[Axis]:
        """What is said of each axis of the array, and of new ones between them."""
        shape, items = self.lengths(node.value), indices_of(node)
        used = sum(not is_constant(item, None, ...) for item in items)
        if not shape or used > len(shape) or sum(is_constant(item, ...) for item in items) > 1:
            raise NotElements
        if not any(is_constant(item, ...) for item in items):
            items = [*items, ast.Constant(...)]
        found: list[Axis] = []
        lengths = iter(shape)
        for item in items:
            if is_constant(item, None):
                found.append(Axis(Linear(), ONE, is_new=True))
            for _ in range(
                len(shape) - used if is_constant(item, ...) else 0 if is_constant(item, None) else 1
            ):
                found.append(self._part(item, next(lengths)))
        if self.array(node.value) is None and any(one.item is not None for one in found):
            raise NotElements
        return found

    def _part(self, item: ast.expr, length: Linear) -> Axis:
        if is_constant(item, ...):
            return Axis(Linear(), length)
        if not isinstance(item, ast.Slice):
            if self.lengths(item):
                raise NotElements
            return Axis(Linear(), ONE, item)
        if item.step is not None and not is_constant(item.step, None, 1):
            raise NotElements
        return Axis(self._bound(item.lower, Linear(), length), self._bound(item.upper, length, length))

    def _bound(self, node: ast.expr | None, default: Linear, length: Linear) -> Linear:
        """A bound of a slice, which lies in the array in each iteration."""
        if node is None:
            return default
        found = linear(node, self.integers, self.spans)
        if found is not None and not found.terms and found.constant < 0:
            found = found.plus(length)
        low = None if found is None else least(found, self.spans)
        beyond = None if found is None else greatest(found.plus(length, -1), self.spans)
        if found is None or low is None or beyond is None or low < 0 or beyond > 0:
            raise NotElements
        return found

    def _of_call(self, node: ast.Call) -> Lengths:
        name, given = self.called(node)
        if name in SUMS:
            return ()
        shapes = [self.lengths(one) for one in given]
        if name in PRODUCTS:
            return _product(*shapes)
        if name == "outer":
            return tuple(length for (length,) in shapes)
        return _all_met(shapes)

    def called(self, node: ast.Call) -> tuple[str, list[ast.expr]]:
        """The name of a function of elements, of a sum or of a product, and what it is given."""
        function = node.func
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise NotElements
        if isinstance(function, ast.Name):
            if function.id in ("abs", "min", "max", "float") and function.id not in self.names:
                return function.id, node.args
            raise NotElements
        if not isinstance(function, ast.Attribute):
            raise NotElements
        is_module = isinstance(function.value, ast.Name) and function.value.id in (
            "np",
            "numpy",
            "pk",
            "pykern",
        )
        if not is_module:
            if function.attr in SUMS and not node.args:
                return function.attr, [function.value]
            if function.attr == "dot" and len(node.args) == 1:
                return "dot", [function.value, *node.args]
            raise NotElements
        count = 2 if function.attr in (*PRODUCTS, "outer") else 1
        if function.attr in (*SUMS, *PRODUCTS, "outer") and len(node.args) == count:
            return function.attr, node.args
        if function.attr in _NO_ELEMENTS or function.attr not in {*NAMES, *OF_NUMPY, "where"}:
            raise NotElements
        return function.attr, node.args


def _met(a: Lengths, b: Lengths) -> Lengths:
    """The shape of two that are repeated to meet."""
    count = max(len(a), len(b))
    pairs = zip((ONE,) * (count - len(a)) + a, (ONE,) * (count - len(b)) + b, strict=True)
    made = []
    for one, other in pairs:
        if one != other and ONE not in (one, other):
            raise NotElements
        made.append(other if one == ONE else one)
    return tuple(made)


def _all_met(shapes: list[Lengths]) -> Lengths:
    made: Lengths = ()
    for shape in shapes:
        made = _met(made, shape)
    return made


def _product(a: Lengths, b: Lengths) -> Lengths:
    if not 1 <= len(a) <= 2 or not 1 <= len(b) <= 2 or a[-1] != b[0]:
        raise NotElements
    return (*a[:-1], *b[1:])


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)
