"""Single elements of expressions over slices whose lengths loops decide: of ``l[i, :i] * x[:i]``, ``l[i, k] * x[k]``.

Comes in: the syntax of an expression, and the place of an element. Goes out: the syntax of that element, and before it
loops for the sums that it has. Read next: `sliced_loops`, which makes statements of them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import dataclass, field

from pykern.frontend.program.linear_numbers import Linear, greatest, least, linear
from pykern.frontend.program.sliced_lengths import ONE, PRODUCTS, SUMS, Lengths, NotElements, SlicedLengths
from pykern.frontend.program.values import Cell
from pykern.frontend.values import Scalar


@dataclass(frozen=True)
class Read:
    """An element that is read; an index that is no sum of loop numbers is None."""

    array: Cell
    place: tuple[Linear | None, ...]
    name: ast.Name
    """The syntax that names the array: one object for each read."""


@dataclass
class Elements(SlicedLengths):
    """Elements of expressions in a loop. `before`: statements that have to run before what is made next."""

    before: list[ast.stmt] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    zeros: dict[str, Scalar] = field(default_factory=dict)
    """What sums start from, by name."""
    made: int = 0

    def fresh(self, what: str) -> str:
        """A name that no program can write."""
        self.made += 1
        return f"{what}.{self.made}"

    def element(self, node: ast.expr, place: Lengths) -> ast.expr:
        """The element at a place, which counts from the begin of each axis."""
        if isinstance(node, ast.Name) and self.array(node) is not None:
            return self._read(node, list(place), [None] * len(place))
        if isinstance(node, ast.UnaryOp):
            return ast.UnaryOp(node.op, self.element(node.operand, place))
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.MatMult):
                return self._sum_of_products(node.left, node.right, place)
            return ast.BinOp(self._among(node.left, place), node.op, self._among(node.right, place))
        if isinstance(node, ast.Compare):
            return ast.Compare(
                self._among(node.left, place), node.ops, [self._among(node.comparators[0], place)]
            )
        if isinstance(node, ast.Attribute) and node.attr == "T":
            return self.element(node.value, place[::-1])
        if isinstance(node, ast.Subscript) and self.integers.of(node) is None:
            return self._part_of(node, place)
        if isinstance(node, ast.Call) and self.integers.of(node) is None:
            return self._call(node, place)
        return copy.deepcopy(node)

    def _among(self, node: ast.expr, place: Lengths) -> ast.expr:
        """The element that stands at a place when the expression is repeated along axes that it has not."""
        lengths = self.lengths(node)
        own = place[len(place) - len(lengths) :]
        return self.element(
            node, tuple(Linear() if n == ONE else at for n, at in zip(lengths, own, strict=True))
        )

    def _part_of(self, node: ast.Subscript, place: Lengths) -> ast.expr:
        found, written = self.indices(node, place)
        if isinstance(node.value, ast.Name):
            return self._read(node.value, found, written)
        return self.element(node.value, tuple(one or Linear() for one in found))  # has no single elements

    def indices(
        self, node: ast.Subscript, place: Lengths
    ) -> tuple[list[Linear | None], list[ast.expr | None]]:
        """The indices of an element of a part of an array: as sums of loop numbers, and as they are written where the
        part has a single element along an axis that is not proved to lie in it."""
        shape, left = self.lengths(node.value), iter(place)
        found: list[Linear | None] = []
        written: list[ast.expr | None] = []
        for one in self.parts(node):
            if one.item is None:
                at = next(left)
                found += [] if one.is_new else [one.start.plus(at)]
                written += [] if one.is_new else [None]
                continue
            index = linear(one.item, self.integers, self.spans)
            if index is not None and not index.terms and index.constant < 0:
                index = index.plus(shape[len(found)])
            written.append(None if self._is_inside(index, shape[len(found)]) else self.element(one.item, ()))
            found.append(index)
        return found, written

    def _is_inside(self, index: Linear | None, length: Linear) -> bool:
        low = None if index is None else least(index, self.spans)
        beyond = None if index is None else greatest(index.plus(length, -1), self.spans)
        return low is not None and beyond is not None and low >= 0 > beyond

    def _read(self, name: ast.Name, place: list[Linear | None], written: list[ast.expr | None]) -> ast.expr:
        array = self.array(name)
        assert array is not None
        base = ast.Name(name.id, ast.Load())
        self.reads.append(Read(array, tuple(place), base))
        return subscript(base, place, written, ast.Load())

    def _call(self, node: ast.Call, place: Lengths) -> ast.expr:
        name, given = self.called(node)
        if name in SUMS:
            total = self._sum(given[0])
            if name == "sum":
                return total
            count: ast.expr = ast.Constant(1)
            for length in self.lengths(given[0]):
                count = ast.BinOp(count, ast.Mult(), length.syntax())
            return ast.BinOp(total, ast.Div(), count)
        if name in PRODUCTS:
            return self._sum_of_products(*given, place)
        if name == "outer":
            both = [self.element(one, (at,)) for one, at in zip(given, place, strict=True)]
            return ast.BinOp(both[0], ast.Mult(), both[1])
        return ast.Call(copy.deepcopy(node.func), [self._among(one, place) for one in given], [])

    # -- sums ------------------------------------------------------------------------------------

    def _sum(self, node: ast.expr) -> ast.expr:
        lengths = self.lengths(node)
        starts = [self._start(node, axis - len(lengths)) for axis in range(len(lengths))]
        return self._summed(node, lengths, starts, lambda place: self.element(node, place))

    def _sum_of_products(self, left: ast.expr, right: ast.expr, place: Lengths) -> ast.expr:
        count = len(self.lengths(left))
        rows, columns = place[: count - 1], place[count - 1 :]
        inner = self.lengths(left)[-1]

        def product(at: Lengths) -> ast.expr:
            first = self.element(left, (*rows, *at))
            return ast.BinOp(first, ast.Mult(), self.element(right, (*at, *columns)))

        return self._summed(ast.BinOp(left, ast.Mult(), right), (inner,), [self._start(left, -1)], product)

    def _summed(
        self, node: ast.expr, lengths: Lengths, starts: list[Linear], element: Callable[[Lengths], ast.expr]
    ) -> ast.expr:
        """Loops that add up elements, before all else; the name of the sum."""
        total, zero = self.fresh("sum"), self._zero(node)
        outside, self.before = self.before, []
        loops, place = self.loops(lengths, starts)
        value = element(place)
        added = ast.AugAssign(ast.Name(total, ast.Store()), ast.Add(), value)
        added.reorders = True  # type: ignore[attr-defined]
        inside, self.before = [*self.before, added], outside
        self.before.append(ast.Assign([ast.Name(total, ast.Store())], ast.Name(zero, ast.Load())))
        self.before += nested(loops, inside)
        return ast.Name(total, ast.Load())

    def loops(self, lengths: Lengths, starts: list[Linear]) -> tuple[list[ast.For], Lengths]:
        """Loops over axes, whose numbers count from `starts`, and the place in them, which counts from 0."""
        loops, place = [], []
        for length, start in zip(lengths, starts, strict=True):
            name = self.fresh("at")
            self.spans[name] = (start, start.plus(length).plus(ONE, -1))
            bounds = [start.syntax(), start.plus(length).syntax()]
            call = ast.Call(ast.Name("range", ast.Load()), bounds, [])
            made = ast.For(ast.Name(name, ast.Store()), call, [], [])
            made.exit_flags = []  # type: ignore[attr-defined]
            loops.append(made)
            place.append(Linear(((name, 1),)).plus(start, -1))
        return loops, tuple(place)

    def _start(self, node: ast.expr, axis: int) -> Linear:
        """Where the first slice begins that has this axis: numbers of loops that are indices need no arithmetic."""
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            return self._start(node.left if self.lengths(node.left) else node.right, axis)
        if isinstance(node, ast.Subscript) and len(axes := self.axes(node)) >= -axis:
            return axes[axis].start
        return Linear()

    def _zero(self, node: ast.expr) -> str:
        """The name of a zero of the type of an expression, which all of its arrays have."""
        if isinstance(node, ast.Compare):
            raise NotElements
        found = {self.names[n.id] for n in _outside_of_indices(node) if self.names.get(n.id) is not None}
        types = {v.dtype for v in found if isinstance(v, Cell)}
        numbers = {v.dtype for v in found if isinstance(v, Scalar) and not v.dtype.weak}
        if len(types | numbers) != 1 or not types or not (dtype := types.pop()).is_float or dtype.bits < 32:
            raise NotElements
        name = f"zero.{dtype.name}"
        self.zeros[name] = Scalar(dtype, const=0.0)
        return name


def nested(loops: list[ast.For], inside: list[ast.stmt]) -> list[ast.stmt]:
    for loop in reversed(loops):
        loop.body, inside = inside, [loop]
    return inside


def subscript(
    base: ast.expr, place: list[Linear | None], written: list[ast.expr | None], context: ast.expr_context
) -> ast.Subscript:
    """An element of an array, in which it surely lies where all indices are of loops over slices of it."""
    parts = [w if w is not None else (p or Linear()).syntax() for p, w in zip(place, written, strict=True)]
    made = ast.Subscript(base, parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load()), context)
    made.sliced = [w is None for w in written]  # type: ignore[attr-defined]
    return made


def _outside_of_indices(node: ast.AST) -> list[ast.Name]:
    """The names whose values are computed with."""
    if isinstance(node, ast.Name):
        return [node]
    if isinstance(node, ast.Subscript):
        return _outside_of_indices(node.value)
    if isinstance(node, ast.Call):
        given = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
        return [name for one in given for name in _outside_of_indices(one)]
    return [name for one in ast.iter_child_nodes(node) for name in _outside_of_indices(one)]
