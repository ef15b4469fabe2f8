"""Which accesses of a kernel a launch is checked for, and where.

Comes in: a kernel on the kern stage, one work-item. Goes out: `LaunchBounds`. Only accesses count that a
work-item makes whatever memory holds: those in loops and branches that lengths, scalars and indices decide. Each is
looked at where its indices are largest and where they are least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.data.integer_expressions import Expressions, pruned
from pykern.data.launch_bounds import NO_BOUNDS, LaunchBounds, LaunchCheck
from pykern.data.locations import SourceSpan
from pykern.dialect.diagnostics import calls_of, span_of
from pykern.dialect.reports import BEFORE_LAUNCH
from pykern.passes.analysis.cost_model.code_size import BOUNDED_ACCESSES
from pykern.passes.ir.values import made_by
from pykern.passes.kernel.check_bounds import ACCESSES, array_names
from pykern.passes.kernel.launch_bounds.point import Launch, Point, Space, Step
from pykern.passes.kernel.launch_bounds.slopes import SlopeReader, Slopes
from pykern.passes.kernel.work_item_warnings import is_alike
from pykern.passes.kernels import body, identity, named

_ENTERED = ("scf.if", "scf.for")


def launch_bounds(
    kernel: ir.Operation, group: tuple[int, ...] | None = None, space: Space | None = None
) -> LaunchBounds:
    """The checks of a kernel. `group`: the size of groups where the launch leaves it open, if that is known here;
    `space`: the launch, where it is."""
    expressions = Expressions()
    launch = Launch(kernel, expressions, group, space)
    finder = _Finder(launch, array_names(kernel))
    finder.block(body(kernel), [])
    checks = finder.checks if any(check.lengths for check in finder.checks) else []
    return _made(launch, checks, launch.several() if is_alike(kernel) else None)


def length_checks(kernel: ir.Operation) -> LaunchBounds:
    """Of rows that go together, whether they have as many elements as each other. What the frontend left for this in
    the kernel is gone afterwards."""
    left = [op for op in named(kernel, "kern.assert") if BEFORE_LAUNCH in op.attributes]
    if not left:
        return NO_BOUNDS
    launch = Launch(kernel, Expressions(), None)
    finder = _Finder(launch, {}, of_lengths=True)
    finder.block(body(kernel), [])
    for op in left:
        op.erase()
    return _made(launch, finder.checks, None)


def _made(launch: Launch, checks: list[LaunchCheck], several: int | None) -> LaunchBounds:
    if not checks and several is None:
        return NO_BOUNDS
    wanted = [] if several is None else [several]
    wanted += [n for c in checks for n in (c.fails, *c.indices, *c.lengths, *c.work_item)]
    nodes, order = pruned(launch.e.nodes, wanted)
    numbered = tuple(_renumbered(check, order) for check in checks)
    return LaunchBounds(nodes, numbered, -1 if several is None else order[several])


def certain(bounds: LaunchBounds) -> tuple[LaunchCheck, list[int]] | None:
    """The first access that lies outside whatever is still open, and the values of all nodes that are not."""
    values = [node[2] if node[0] == "const" else 0 for node in bounds.nodes]
    for check in bounds.accesses:
        if bounds.nodes[check.fails] == ("const", 1, 1):
            return check, values
    return None


def _renumbered(check: LaunchCheck, order: dict[int, int]) -> LaunchCheck:
    new = {
        name: tuple(order[n] for n in getattr(check, name)) for name in ("indices", "lengths", "work_item")
    }
    return replace(check, fails=order[check.fails], **new)


@dataclass
class _Finder:
    launch: Launch
    names: dict[ir.Value, str]
    of_lengths: bool = False
    """Whether only lengths of rows are looked at."""
    checks: list[LaunchCheck] = field(default_factory=list)
    slopes: SlopeReader = field(default_factory=SlopeReader)
    _seen: set[object] = field(default_factory=set)
    _followed: dict[object, Point | None] = field(default_factory=dict)
    """Points that have gone their way, None where they cannot: accesses beside each other have them in common."""
    _looked_at: int = 0

    def block(self, block: ir.Block, way: list[Step]) -> None:
        for op in (o.operation for o in block.operations):
            if self._looked_at >= BOUNDED_ACCESSES:
                return
            if op.name in ACCESSES and not self.of_lengths:
                self._access(op, way)
            elif op.name == "kern.assert" and (BEFORE_LAUNCH in op.attributes) == self.of_lengths:
                self._assert(op, way)
            elif op.name in _ENTERED:
                for number, region in enumerate(op.regions):
                    for inner in region.blocks:
                        self.block(inner, [*way, (op, number)])

    def _access(self, op: ir.Operation, way: list[Step]) -> None:
        at, first = ACCESSES[op.name]
        array, indices = op.operands[at], list(op.operands)[first:]
        lengths = [self.launch.length(array, d) for d in range(len(indices))]
        known = [n for n in lengths if n is not None]
        key = array, *indices, *_way(way)
        if not indices or len(known) < len(lengths) or key in self._seen:
            return
        self._seen.add(key)
        self._looked_at += 1
        e = self.launch.e
        before: list[list[int]] = []
        for point in self._points(indices, way):
            found = [point.value(index) for index in indices]
            numbers = [n for n in found if n is not None]
            if len(numbers) < len(found):
                return
            if before and all(e.value(n) == 0 for n in numbers) and set(point.conditions) <= set(before[0]):
                continue  # only an empty array has no first element, and no last one either
            before.append(point.conditions)
            outside = e.const(0, 1)
            for number, length in zip(numbers, known, strict=True):
                outside = e.op("or", outside, e.op("uge", number, length))  # also below 0
            name = self.names.get(array, "an array")
            self._add(op, point, outside, name, tuple(numbers), tuple(known))

    def _assert(self, op: ir.Operation, way: list[Step]) -> None:
        condition = op.operands[0]
        self._looked_at += 1
        for point in self._points(_sides(condition), way):
            holds = point.value(condition)
            if holds is None:
                return
            sides = [point.value(side) for side in _sides(condition)] if self.of_lengths else []
            lengths = tuple(n for n in sides if n is not None)
            message = ir.StringAttr(op.attributes["message"]).value
            self._add(op, point, self.launch.e.negated(holds), message, (), lengths)

    def _add(
        self, op: ir.Operation, point: Point, wrong: int, array: str, indices: tuple[int, ...] = (),
        lengths: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        e = self.launch.e
        fails = e.all([*dict.fromkeys(point.conditions), wrong])
        if e.value(fails) == 0 or any(check.fails == fails for check in self.checks):
            return
        span = span_of(op.location) or SourceSpan("", 0, 0, 1)
        item = tuple(n for n in map(point.coordinate, range(self.launch.rank)) if n is not None)
        callers = tuple(calls_of(op.location))
        self.checks.append(LaunchCheck(fails, array, span, indices, lengths, item, callers))

    def _points(self, indices: list[ir.Value], way: list[Step]) -> Iterator[Point]:
        """Work-items that are followed to an access: for each index where it is largest, and least."""
        tried: list[tuple[Slopes, float]] = []
        for index in indices or [None]:
            slopes = {} if index is None else self.slopes.of(index)
            for sign in (1.0, -1.0):
                ends = self._ends(slopes, sign, way)
                kind = ({v: s > 0 for v, s in ends.items() if s}, sign if not ends else 0.0)
                if kind in tried:
                    continue
                tried.append(kind)
                point = self._point(way, ends, sign)
                if point is not None:
                    yield point

    def _point(self, way: list[Step], ends: Slopes, sign: float) -> Point | None:
        """One that has gone its way; where it goes depends on the signs of `ends` alone."""
        signs = frozenset((variable, slope > 0) for variable, slope in ends.items() if slope)
        key = _way(way), signs, sign
        if key not in self._followed:
            point = Point(self.launch, self.slopes, way, ends, sign)
            self._followed[key] = point if point.follow() else None
        followed = self._followed[key]
        return None if followed is None else followed.copy()

    def _ends(self, slopes: Slopes, sign: float, way: list[Step]) -> Slopes:
        """At which end of each variable to look: loops' own bounds vary, too."""
        ends = {variable: sign * slope for variable, slope in slopes.items()}
        for op, _ in reversed(way):
            if op.name != "scf.for":
                continue
            index = op.regions[0].blocks[0].arguments[0]
            slope = ends.get(index, 0.0)
            bound = op.operands[1 if slope > 0 else 0]
            for variable, more in self.slopes.of(bound).items():
                ends[variable] = ends.get(variable, 0.0) + slope * more
        return ends


def _way(way: list[Step]) -> tuple[tuple[object, int], ...]:
    """What tells ways apart."""
    return tuple((identity(step), number) for step, number in way)


def _sides(condition: ir.Value) -> list[ir.Value]:
    """What an assert compares: its ends are where it fails, if anywhere."""
    op = made_by(condition, "arith.cmpi", "arith.andi")
    if op is None:
        return []
    if op.name == "arith.andi":
        return [side for operand in op.operands for side in _sides(operand)]
    return list(op.operands)
