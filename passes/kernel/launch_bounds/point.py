"""One work-item on its way to an access: which it is, which iterations of loops it takes, and what its integers are.

Comes in: the way there (loops and branches, the outermost first), and at which ends of them to look. Goes out: nodes of
`pykern.data.integer_expressions` for any integer of the kernel, and the conditions under which the work-item exists and
comes by. What a value of memory decides has no node, and a way that depends on it is not followed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mlir import ir

from pykern.data.integer_expressions import Expressions
from pykern.dialect import attributes as kern
from pykern.dialect.index_space import NdrangeOp
from pykern.passes.analysis.integer_ranges import width
from pykern.passes.ir.predicates import NEGATED, predicate_of
from pykern.passes.ir.values import defining, is_argument
from pykern.passes.kernel.launch_bounds.slopes import SlopeReader, Slopes, Variable, is_counter
from pykern.passes.kernel.work_groups.slots import element_bytes
from pykern.passes.kernels import body, integers, is_constant, rank

Step = tuple[ir.Operation, int]
"""A loop or branch, and the number of the region that is entered."""
Space = tuple[tuple[int, int, int], ...]
"""Start, step and count of each dimension."""

_PLAIN = {
    "arith.addi": "add", "arith.subi": "sub", "arith.muli": "mul", "arith.andi": "and", "arith.ori": "or",
    "arith.xori": "xor", "arith.minsi": "smin", "arith.maxsi": "smax", "arith.select": "select",
}  # fmt: skip
_DIVISIONS = {
    "arith.floordivsi": "floordiv", "arith.divsi": "sdiv", "arith.divui": "sdiv", "arith.remsi": "srem",
    "arith.remui": "srem",
}  # fmt: skip
_SHIFTS = {"arith.shli": "shl", "arith.shrsi": "ashr"}


class Launch:
    """The numbers of a launch, as nodes: see `pykern.data.launch_bounds`."""

    def __init__(
        self,
        kernel: ir.Operation,
        expressions: Expressions,
        group: tuple[int, ...] | None,
        space: Space | None = None,
    ) -> None:
        self.e = expressions
        self.rank = rank(kernel)
        self.numbers: dict[ir.Value, int] = {}
        self.group = integers(kernel, kern.WORKGROUP) or group
        first = 0
        for argument in body(kernel).arguments:
            self.numbers[argument] = first
            first += ir.MemRefType(argument.type).rank if isinstance(argument.type, ir.MemRefType) else 1
        known = integers(kernel, kern.NDRANGE)
        plain = kern.PLAIN in kernel.attributes
        self.plain = plain
        if space is not None:
            known = tuple(count for _, _, count in space)
        ranges = [(start, step) for start, step, _ in space or ()] if not plain else [(0, 1)] * self.rank
        self.counts, self.starts, self.steps = [], [], []
        for d in range(self.rank):
            at = first + 3 * d
            self.counts.append(self.e.given(at) if known is None else self.e.const(known[d]))
            self.starts.append(self.e.const(ranges[d][0]) if ranges else self.e.given(at + 1))
            self.steps.append(self.e.const(ranges[d][1]) if ranges else self.e.given(at + 2))

        self.rising = [self._rising(*dim) for dim in zip(self.counts, self.starts, self.steps, strict=True)]

    def _rising(self, count: int, start: int, step: int) -> tuple[int, int, int, int, int]:
        """Of a dimension: whether it has work-items, the last one's number, whether it falls; then its least coordinate
        and how far they are apart, as if it rose."""
        e = self.e
        last = e.op("sub", count, e.const(1))
        falls = e.op("slt", step, e.const(0))
        low = e.op("select", falls, e.op("add", start, e.op("mul", last, step)), start)
        apart = e.op("select", falls, e.op("sub", e.const(0), step), step)
        return e.op("sge", count, e.const(1)), last, falls, low, apart

    def several(self) -> int:
        """Whether there is more than one work-item."""
        result = self.e.const(0, 1)
        for count in self.counts:
            result = self.e.op("or", result, self.e.op("sgt", count, self.e.const(1)))
        return result

    def length(self, array: ir.Value, dim: int) -> int | None:
        """The length of an array in a dimension, where the array is an argument or has a static shape."""
        kind = ir.MemRefType(array.type)
        if not kind.is_dynamic_dim(dim):
            return self.e.const(kind.shape[dim])
        if array in self.numbers:
            return self.e.given(self.numbers[array] + dim)
        made = defining(array)
        if made is not None and made.name == "kern.dynamic_shared" and made.operands[0] in self.numbers:
            size = self.e.given(self.numbers[made.operands[0]])
            return self.e.op("floordiv", size, self.e.const(element_bytes(kind.element_type)))
        return None


@dataclass
class Point:
    """A work-item and an iteration of each loop around an access; `ends` above 0 means the last iterations."""

    launch: Launch
    slopes: SlopeReader
    way: list[Step]
    ends: Slopes
    otherwise: float
    conditions: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    _at: dict[Variable, int] = field(default_factory=dict)
    _known: dict[ir.Value, int | None] = field(default_factory=dict)

    @property
    def e(self) -> Expressions:
        return self.launch.e

    def follow(self) -> bool:
        """Choose the work-item and go the way; false where it cannot be followed."""
        literals = [
            found for op, region in self.way if op.name == "scf.if" for found in _literals(op, region)
        ]
        for d in range(self.launch.rank):
            self._choose_item(d, literals)
        for op, region in self.way:
            if op.name == "scf.if":
                taken = self.value(op.operands[0])
                if taken is None:
                    return False
                self.conditions.append(self.e.negated(taken) if region else taken)
            elif not self._choose_iteration(op, literals):
                return False
        return True

    def copy(self) -> Point:
        """One that stands there too; what it looks at adds no conditions to this one."""
        other = Point(self.launch, self.slopes, self.way, self.ends, self.otherwise)
        other.conditions, other.numbers = [*self.conditions], self.numbers
        other._at, other._known = self._at, dict(self._known)
        return other

    # -- who it is -----------------------------------------------------------------------------

    def _choose_item(self, d: int, literals: list[Literal]) -> None:
        e, count, one = self.e, self.launch.counts[d], self.e.const(1)
        start, step = self.launch.starts[d], self.launch.steps[d]
        some, last, falls, low, apart = self.launch.rising[d]
        self.conditions.append(some)
        group, local = self.launch.group, self.ends.get(("local", d), 0.0)
        if group is not None and local and not self.ends.get(("id", d)):
            at = e.op("sub", e.op("smin", count, e.const(group[d])), one) if local > 0 else e.const(0)
        else:
            end = self.ends.get(("id", d)) or self.otherwise
            place = self._end(("id", d), low, apart, last, end, literals)
            at = e.op("select", falls, e.op("sub", last, place), place)
        self.numbers.append(at)
        self._at["id", d] = e.op("add", start, e.op("mul", at, step))

    def _choose_iteration(self, loop: ir.Operation, literals: list[Literal]) -> bool:
        lower, upper = (self.value(v) for v in list(loop.operands)[:2])
        step = is_constant(loop.operands[2])
        index = loop.regions[0].blocks[0].arguments[0]
        if lower is None or upper is None or step is None or step < 1 or "unsignedCmp" in loop.attributes:
            return False
        e, bits = self.e, self.e.bits(upper)
        self.conditions.append(e.op("slt", lower, upper))
        distance = e.op("sub", e.op("sub", upper, lower), e.const(1, bits))
        apart = e.const(step, bits)
        last = e.op("floordiv", distance, apart)
        iteration = self._end(index, lower, apart, last, self.ends.get(index) or self.otherwise, literals)
        self._at[index] = e.op("add", lower, e.op("mul", iteration, apart))
        return True

    def _end(
        self, variable: Variable, low: int, apart: int, last: int, end: float, literals: list[Literal]
    ) -> int:
        """The least or the largest value of a variable that the branches on the way let through, as far as they are
        understood. It is ``low + n * apart`` with n in 0..last: gives n."""
        e = self.e
        zero = e.const(0, e.bits(last))
        at = last if end > 0 else zero
        for left, predicate, right in literals:
            bound = self._bound(variable, left, predicate, right, end > 0)
            if bound is None or e.bits(bound) != e.bits(at):
                continue
            if end > 0:
                at = e.op("smin", at, e.op("floordiv", e.op("sub", bound, low), apart))
            else:
                at = e.op("smax", at, e.op("sub", zero, e.op("floordiv", e.op("sub", low, bound), apart)))
        if at not in (zero, last):
            self.conditions.append(e.op("sge", at, zero) if end > 0 else e.op("sle", at, last))
        return at

    def _bound(
        self, variable: Variable, left: ir.Value, predicate: str, right: ir.Value, upper: bool
    ) -> int | None:
        """What ``left predicate right`` says of a variable, all others on which it depends having been chosen."""
        forms = [self.slopes.coefficients(v) for v in (left, right)]
        if None in forms:
            return None
        a, b = (form or {} for form in forms)
        factor = a.get(variable, 0) - b.get(variable, 0)
        others = {v for v in a | b if a.get(v, 0) != b.get(v, 0)} - {variable}
        if not factor or any(v not in self._at for v in others) or predicate == "ne":
            return None
        e, memo = self.e, self._known
        self._at[variable], self._known = e.const(0), {}
        sides = [self.value(v) for v in (left, right)]
        del self._at[variable]
        self._known = memo
        if sides[0] is None or sides[1] is None or e.bits(sides[0]) != 64:
            return None
        rest = e.op("sub", *sides)  # factor * variable + rest, compared with 0
        if factor < 0:
            factor, rest = -factor, e.op("sub", e.const(0), rest)
            predicate = {"slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle"}.get(predicate, predicate)
        if upper != (predicate in ("slt", "sle")) and predicate != "eq":
            return None
        least = e.op("sub", e.const(0), rest)
        one, by = e.const(1), e.const(factor)
        if predicate == "slt":
            return e.op("floordiv", e.op("sub", least, one), by)
        if predicate == "sgt":
            return e.op("add", e.op("floordiv", least, by), one)
        if predicate == "sge":
            return e.op("sub", e.const(0), e.op("floordiv", rest, by))
        return e.op("floordiv", least, by)

    # -- its integers --------------------------------------------------------------------------

    def value(self, wanted: ir.Value) -> int | None:
        """The node of an integer; None where something else than the launch decides it."""
        if wanted not in self._known:
            self._known[wanted] = None
            self._known[wanted] = self._found(wanted)
        return self._known[wanted]

    def _found(self, wanted: ir.Value) -> int | None:
        bits = width(wanted.type)
        if not bits:
            return None
        if is_argument(wanted):
            if wanted in self.launch.numbers:
                return self.e.given(self.launch.numbers[wanted], bits)
            return self._at.get(wanted) if is_counter(wanted) else None
        op = wanted.owner.operation
        if op.name == "arith.constant":
            return self.e.const(int(ir.IntegerAttr(op.attributes["value"]).value), bits)
        if op.name.startswith("kern."):
            return self._of_launch(op)
        if op.name == "memref.dim":
            dim = is_constant(op.operands[1])
            return None if dim is None else self.launch.length(op.operands[0], dim)
        if op.name == "scf.if":
            return self._of_branches(op, list(op.results).index(wanted))
        return self._of_arith(op, bits) if op.name.startswith("arith.") else None

    def _of_launch(self, op: ir.Operation) -> int | None:
        find = _LAUNCH.get(op.name)
        return None if find is None else find(self, ir.IntegerAttr(op.attributes["dim"]).value)

    def _of_branches(self, op: ir.Operation, number: int) -> int | None:
        condition = self.value(op.operands[0])
        ends = [list(region.blocks[0].operations)[-1].operation for region in op.regions]
        values = [self.value(end.operands[number]) for end in ends]
        if condition is None or values[0] is None or values[1] is None:
            return None
        return self.e.op("select", condition, values[0], values[1])

    def _of_arith(self, op: ir.Operation, bits: int) -> int | None:
        if not all(width(v.type) for v in op.operands):
            return None
        found = [self.value(v) for v in op.operands]
        operands = [n for n in found if n is not None]
        if len(operands) < len(found):
            return None
        if op.name == "arith.cmpi":
            return self._compared(op, operands)
        if op.name in _PLAIN:
            return self.e.op(_PLAIN[op.name], *operands)
        if op.name in _DIVISIONS:
            return self._divided(op.name, operands, bits)
        if (
            op.name in _SHIFTS
            and 0 <= (self.e.value(operands[1]) or 0) < bits
            and self._is_known(operands[1])
        ):
            return self.e.op(_SHIFTS[op.name], *operands)
        return self._cast(op.name, operands[0], bits)

    def _is_known(self, number: int) -> bool:
        return self.e.value(number) is not None

    def _compared(self, op: ir.Operation, operands: list[int]) -> int:
        predicate = predicate_of(op)
        if predicate[0] != "u":
            return self.e.op(predicate, *operands)
        zero = self.e.const(0, self.e.bits(operands[0]))
        for operand in operands:  # the same where neither is negative
            self.conditions.append(self.e.op("sge", operand, zero))
        return self.e.op("s" + predicate[1:], *operands)

    def _divided(self, name: str, operands: list[int], bits: int) -> int:
        self.conditions.append(self.e.op("sgt", operands[1], self.e.const(0, bits)))
        if name.endswith("ui"):
            self.conditions.append(self.e.op("sge", operands[0], self.e.const(0, bits)))
        return self.e.op(_DIVISIONS[name], *operands)

    def _cast(self, name: str, operand: int, bits: int) -> int | None:
        before = self.e.bits(operand)
        if name in ("arith.index_cast", "arith.extsi", "arith.trunci", "arith.index_castui", "arith.extui"):
            if bits == before:
                return operand
            if bits < before:
                return self.e.op("trunc", operand, bits=bits)
            signed = name in ("arith.index_cast", "arith.extsi")
            if before == 1 and signed:
                return None
            if not signed:
                self.conditions.append(self.e.op("sge", operand, self.e.const(0, before)))
            return self.e.op("sext" if before > 1 else "zext", operand, bits=bits)
        return None

    # -- where it stands -----------------------------------------------------------------------

    def group_id(self, d: int) -> int | None:
        size = self._group_size(d)
        return None if size is None else self.e.op("floordiv", self.numbers[d], size)

    def local_id(self, d: int) -> int | None:
        size = self._group_size(d)
        return None if size is None else self.e.op("srem", self.numbers[d], size)

    def num_groups(self, d: int) -> int | None:
        size = self._group_size(d)
        if size is None:
            return None
        more = self.e.op("add", self.launch.counts[d], self.e.op("sub", size, self.e.const(1)))
        return self.e.op("floordiv", more, size)

    def _group_size(self, d: int) -> int | None:
        return None if self.launch.group is None else self.e.const(self.launch.group[d])

    def coordinate(self, d: int) -> int | None:
        return self._at.get(("id", d))


_LAUNCH: dict[str, Callable[[Point, int], int | None]] = {
    "kern.global_id": Point.coordinate,
    NdrangeOp.OPERATION_NAME: lambda point, d: point.launch.counts[d],
    "kern.group_id": Point.group_id,
    "kern.local_id": Point.local_id,
    "kern.num_groups": Point.num_groups,
    "kern.group_size": Point._group_size,
}

Literal = tuple[ir.Value, str, ir.Value]
"""A comparison that holds: left side, predicate, right side."""


def _literals(branch: ir.Operation, region: int) -> list[Literal]:
    """Signed comparisons that all hold where a branch takes this region."""
    return list(_conjuncts(branch.operands[0], region == 0, 0))


def _conjuncts(value: ir.Value, wanted: bool, depth: int) -> list[Literal]:
    if is_argument(value) or depth > 16:
        return []
    op = value.owner.operation
    if op.name == ("arith.andi" if wanted else "arith.ori"):
        return [found for v in op.operands for found in _conjuncts(v, wanted, depth + 1)]
    if op.name == "arith.xori" and is_constant(op.operands[1]) is not None:
        return _conjuncts(op.operands[0], not wanted, depth + 1)
    if op.name == "scf.if":  # `a and b`: one side is a constant
        number = list(op.results).index(value)
        ends = [list(r.blocks[0].operations)[-1].operation.operands[number] for r in op.regions]
        for live, closed in ((0, 1), (1, 0)):
            constant = is_constant(ends[closed])
            if constant is not None and bool(constant) is not wanted:
                first = _conjuncts(op.operands[0], live == 0, depth + 1)
                return first + _conjuncts(ends[live], wanted, depth + 1)
        return []
    if op.name != "arith.cmpi" or width(op.operands[0].type) == 1:
        return []
    predicate = predicate_of(op)
    if predicate[0] == "u":
        return []
    return [(op.operands[0], predicate if wanted else NEGATED[predicate], op.operands[1])]
