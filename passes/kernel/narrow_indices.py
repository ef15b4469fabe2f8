"""64-bit index arithmetic becomes 32-bit where static facts prove that nothing is lost.

Comes in: loops over index with static bounds. Goes out: the same values, computed in i32.
Machines without AVX-512 have no vector conversion of 64-bit integers to floats, and GPUs make a
64-bit integer of two registers. Upstream's `arith-int-range-narrowing` is not used: in LLVM 22 it
shifts an i32 by 40, and compares and divides what has 32 bits unsigned as if it were signed.
Read next: `integer_ranges` (the proofs), `narrow_versions` (sizes that are known at launch).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, scf

from pykern.passes.analysis.carried_ranges import CarriedRanges
from pykern.passes.analysis.integer_ranges import I32, Interval, Ranges, width
from pykern.passes.framework import Pass
from pykern.passes.ir.effects import erase_dead
from pykern.passes.ir.values import defining, is_argument, is_inside, made_by
from pykern.passes.kernel.narrow_versions import branch, is_candidate, limited
from pykern.passes.kernels import find, is_constant
from pykern.passes.module_facts import ModuleFacts
from pykern.passes.remarks import remark

_ANY_SIGN = {"addi", "subi", "muli", "divsi", "remsi", "floordivsi", "ceildivsi", "maxsi", "minsi",
             "andi", "ori", "xori"}  # fmt: skip
_NO_SIGN = {"divui", "remui", "ceildivui", "maxui", "minui"}
_SHIFTS = {"shli", "shrsi", "shrui"}
_CASTS = {"index_cast", "index_castui", "extsi", "extui"}
_MAY_WRAP = {"addi", "subi", "muli", "shli"}
_U32 = Interval(0, (1 << 32) - 1)
_SHIFTABLE, _HALVING = Interval(0, 31), Interval(1, 31)


@dataclass(frozen=True)
class NarrowIndices(Pass):
    """Compute in 32 bits what becomes a float, where value ranges are proved to fit.

    In:  arith on index and i64, with scf loops around it.
    Out: conversions of 64-bit integers to floats, and comparisons of what conditions have counted, take an i32 where
         the operand fits, and what leads to it is i32 as far as it fits. With `versions`, loops whose sizes are known
         at launch only come in two versions. With `everywhere`, compares, addresses and the counters of loops are
         narrow as well.
    """

    name: ClassVar[str] = "kern-narrow-indices"
    only_speed: ClassVar[bool] = True
    versions: bool = True
    everywhere: bool = False  # CPUs address with 64 bits: a narrow address only costs an extension there

    def is_idle(self, facts: ModuleFacts) -> bool:
        return not self.everywhere and not facts.has(_CONVERSIONS) and not facts.has(("arith.select",))

    def run(self, module: ir.Module) -> bool:
        narrowing = Narrowing()
        conversions = find(module.operation, _is_conversion)
        for op in conversions:
            narrowing.convert(op)
        if self.versions and conversions:
            for loop in find(module.operation, is_candidate):
                _version(loop, narrowing)
        for op in find(module.operation, lambda op: op.name == "arith.cmpi"):
            if self.everywhere or _is_of_a_choice(op):
                narrowing.compare(op)
        if self.everywhere:
            for op in find(module.operation, lambda op: op.name.startswith("arith.")):
                narrowing.extend(op)
            for op in reversed(find(module.operation, lambda op: op.name in _LOOPS)):
                _LOOPS[op.name](narrowing, op)
        for loop in narrowing.replaced:
            loop.erase()
        if not narrowing.has_changed:
            return False
        for function in module.body.operations:
            for region in function.operation.regions:
                for block in region.blocks:
                    erase_dead(block)
        return True


_CONVERSIONS = ("arith.sitofp", "arith.uitofp")


def _is_conversion(op: ir.Operation) -> bool:
    return op.name in _CONVERSIONS


def _is_of_a_choice(compare: ir.Operation) -> bool:
    """Whether a number is compared that conditions on data have counted: in vectors that takes half the registers."""
    return any(made_by(value, "arith.select") is not None for value in compare.operands)


def _version(loop: ir.Operation, narrowing: Narrowing) -> None:
    """A version in 32 bits for launches whose sizes allow it."""
    conversions = find(loop, lambda op: _is_conversion(op) and width(op.operands[0].type) == 64)
    ranges = limited(loop, [op.operands[0] for op in conversions], narrowing.ranges) if conversions else None
    if ranges is None or not ranges.assumed:
        return
    branch(loop, ranges)
    within = Narrowing(ranges, loop)
    for op in conversions:
        within.convert(op)
    narrowing.has_changed = True


class Narrowing:
    """32-bit twins of 64-bit values. A twin stands right behind its value: good wherever that is.

    Within a `loop`, what comes from outside gets its twin in front of the loop: outside nothing is sure.
    """

    def __init__(self, ranges: Ranges | None = None, loop: ir.Operation | None = None) -> None:
        self.ranges = CarriedRanges() if ranges is None else ranges
        self.loop = loop
        self.twins: dict[ir.Value, ir.Value] = {}
        self.replaced: list[ir.Operation] = []
        """Loops without a body; erased at the end, because values are known by their place in memory."""
        self.has_changed = False

    def convert(self, op: ir.Operation) -> None:
        """Integer to float: a value that fits is rounded the same from 32 bits."""
        operand = op.operands[0]
        if not self._fits(operand) or (op.name == "arith.uitofp" and not self._is_nonnegative(operand)):
            return
        twin = self._twin(operand)
        remark(op, "the index becomes a float from 32 bits: its value fits")
        with ir.InsertionPoint(op), op.location:
            made = arith.SIToFPOp(op.results[0].type, twin).result
        op.results[0].replace_all_uses_with(made)
        op.erase()

    def compare(self, op: ir.Operation) -> None:
        """Sign extension keeps the order, the unsigned one included."""
        if self._fits(*op.operands):
            for number, operand in enumerate(op.operands):
                op.operands[number] = self._twin(operand)

    def extend(self, op: ir.Operation) -> None:
        """Extend values that are computed in 32 bits, for uses that need 64."""
        if not self._is_computed(op) or not self._fits(op.results[0]):
            return
        twin = self._twin(op.results[0])
        with _behind(twin.owner.operation), op.location:
            kind = op.results[0].type
            wide = _widened(twin, kind)
        self.ranges.note(wide, self.ranges.of(op.results[0]))
        op.results[0].replace_all_uses_with(wide)

    def count(self, loop: ir.Operation) -> None:
        """Count a loop in 32 bits, where its bounds fit and no step leads beyond them: of a sum that needs the bit of
        the sign, as in steps of the launch, without a sign."""
        bounds = list(loop.operands)[:3]
        if not self._fits(*bounds) or "unsignedCmp" in loop.attributes:
            return
        signed = self._counts_in(I32, *bounds)
        if not signed and not (self._is_nonnegative(bounds[0]) and self._counts_in(_U32, *bounds)):
            return
        block = loop.regions[0].blocks[0]
        lower, upper, step = map(self._twin, bounds)
        with ir.InsertionPoint(loop), loop.location:
            if not signed and not self._is_nonnegative(bounds[1]):
                upper = arith.MaxSIOp(upper, arith.ConstantOp(upper.type, 0).result).result
            made = scf.ForOp(lower, upper, step, list(loop.operands)[3:])
        for name in loop.attributes.keys():  # noqa: SIM118
            made.operation.attributes[name] = loop.attributes[name]
        if not signed:
            made.operation.attributes["unsignedCmp"] = ir.UnitAttr.get()
        with ir.InsertionPoint(made.body), loop.location:
            is_index = isinstance(bounds[0].type, ir.IndexType)
            casts = (arith.IndexCastOp, arith.IndexCastUIOp) if is_index else (arith.ExtSIOp, arith.ExtUIOp)
            counter = casts[not signed](bounds[0].type, made.induction_variable).result
        for old, new in zip(block.arguments, [counter, *made.inner_iter_args], strict=True):
            old.replace_all_uses_with(new)
        for op in list(block.operations):
            made.body.append(op)
        for old, new in zip(loop.results, made.results, strict=True):
            old.replace_all_uses_with(new)
        self.replaced.append(loop)
        self.has_changed = True

    def carry(self, loop: ir.Operation) -> None:
        """Carry in 32 bits what fits from one iteration of an `scf.while` to the next, and out of it."""
        before, after = (region.blocks[0] for region in loop.regions)
        carried = [self._fits_carried(argument) for argument in before.arguments]
        handed = [self._fits_carried(argument) for argument in after.arguments]
        if not any(carried + handed):
            return
        i32 = ir.IntegerType.get_signless(32)
        kinds = [i32 if fits else r.type for fits, r in zip(handed, loop.results, strict=True)]
        with ir.InsertionPoint(loop), loop.location:
            made = scf.WhileOp(kinds, self._twins(list(loop.operands), carried))
        for old, region, fits in ((before, made.before, carried), (after, made.after, handed)):
            types = [i32 if f else a.type for f, a in zip(fits, old.arguments, strict=True)]
            new = ir.Block.create_at_start(region, types, [loop.location] * len(types))
            for op in list(old.operations):
                new.append(op)
            with ir.InsertionPoint.at_block_begin(new), loop.location:
                for argument, narrow in zip(old.arguments, new.arguments, strict=True):
                    argument.replace_all_uses_with(_widened(narrow, argument.type))
            last = list(new.operations)[-1].operation
            first = len(last.operands) - len(
                carried if region is made.after else handed
            )  # behind a condition
            passed = self._twins(list(last.operands)[first:], carried if region is made.after else handed)
            for number, value in enumerate(passed, first):
                last.operands[number] = value
        with ir.InsertionPoint.after(made.operation), loop.location:
            for old_result, narrow in zip(loop.results, made.results, strict=True):
                old_result.replace_all_uses_with(_widened(narrow, old_result.type))
        self.replaced.append(loop)
        self.has_changed = True

    def _fits_carried(self, value: ir.Value) -> bool:
        return width(value.type) == 64 and self._fits(value)

    def _twins(self, values: list[ir.Value], fits: list[bool]) -> list[ir.Value]:
        return [self._twin(value) if fit else value for value, fit in zip(values, fits, strict=True)]

    # -- what may be narrowed -------------------------------------------------------------------

    def _fits(self, *values: ir.Value) -> bool:
        return all(width(v.type) == 64 and self.ranges.of(v).inside(I32) for v in values)

    def _counts_in(self, whole: Interval, lower: ir.Value, upper: ir.Value, step: ir.Value) -> bool:
        """Whether the sum that ends the loop is in the range, too."""
        steps, last = self.ranges.of(step), self.ranges.of(upper).high - 1
        return steps.is_nonnegative and last + steps.high <= whole.high

    def _is_nonnegative(self, *values: ir.Value) -> bool:
        return all(self.ranges.of(v).is_nonnegative for v in values)

    def _is_computed(self, op: ir.Operation) -> bool:
        """Whether the op on the twins of its operands, which fit as does its result, gives the twin of that."""
        dialect, _, name = op.name.partition(".")
        if dialect != "arith":
            return False
        operands = list(op.operands)
        if name == "select":
            return self._fits(*operands[1:])
        if self._is_part_of_sum(op):
            return True
        if name not in _ANY_SIGN | _NO_SIGN | _SHIFTS or not self._fits(*operands, op.results[0]):
            return False
        left, right = (self.ranges.of(operand) for operand in operands)
        if name in _SHIFTS:  # from 32 on an i32 gives poison where an i64 does not
            return right.inside(_SHIFTABLE) and (name != "shrui" or left.is_nonnegative)
        if name in (
            "divsi",
            "remsi",
        ):  # -2**31 by -1 traps in 32 bits, also where only the remainder is wanted
            return left.low > I32.low or right.low > -1 or right.high < -1
        return name in _ANY_SIGN or self._is_nonnegative(*operands)

    def _is_part_of_sum(self, op: ir.Operation) -> bool:
        """Whether the op is the sum of two numbers of 31 bits, shifted right: it has 32 bits before that."""
        sum_ = defining(op.operands[0]) if op.name in ("arith.shrsi", "arith.shrui") else None
        if sum_ is None or sum_.name != "arith.addi" or not self.ranges.of(op.operands[1]).inside(_HALVING):
            return False
        return self._fits(*sum_.operands) and self._is_nonnegative(*sum_.operands)

    # -- twins ----------------------------------------------------------------------------------

    def _twin(self, value: ir.Value) -> ir.Value:
        """`value`, which fits, in 32 bits."""
        if value not in self.twins:
            self.twins[value] = self._make(value)
            self.has_changed = True
        return self.twins[value]

    def _make(self, value: ir.Value) -> ir.Value:
        i32 = ir.IntegerType.get_signless(32)
        if self.loop is not None and not is_inside(value, self.loop):
            with ir.InsertionPoint(self.loop), value.location:
                return _truncated(value, i32)
        if is_argument(value):
            with ir.InsertionPoint.at_block_begin(value.owner), value.location:
                return _truncated(value, i32)
        op = value.owner.operation
        if self._is_computed(op):
            return self._computed(op, i32)
        if (source := self._source(op)) is not None:
            return source
        with _behind(op), op.location:
            return _truncated(value, i32)

    def _computed(self, op: ir.Operation, i32: ir.Type) -> ir.Value:
        if self._is_part_of_sum(op):
            sum_, by = op.operands[0].owner.operation, self._twin(op.operands[1])
            left, right = map(self._twin, sum_.operands)
            with _behind(op), op.location:
                return arith.ShRUIOp(arith.AddIOp(left, right).result, by).result
        keep = 1 if op.name == "arith.select" else 0
        operands = [*list(op.operands)[:keep], *map(self._twin, list(op.operands)[keep:])]
        name = op.name.removeprefix("arith.")
        flags = {"overflowFlags": ir.Attribute.parse("#arith.overflow<nsw>")} if name in _MAY_WRAP else {}
        with _behind(op), op.location:
            return ir.Operation.create(op.name, results=[i32], operands=operands, attributes=flags).result

    def _source(self, op: ir.Operation) -> ir.Value | None:
        """What a cast was made of, in 32 bits; narrower sources are left to canonicalization."""
        if op.name.removeprefix("arith.") not in _CASTS:
            return None
        source = op.operands[0]
        if width(source.type) == 64:
            return self._twin(source)
        unsigned = op.name in ("arith.extui", "arith.index_castui")
        whole = width(source.type) == 32 and not (unsigned and not self._is_nonnegative(source))
        return source if whole else None


def _truncated(value: ir.Value, i32: ir.Type) -> ir.Value:
    if (number := is_constant(value)) is not None:
        return arith.ConstantOp(i32, number).result
    if isinstance(value.type, ir.IndexType):
        return arith.IndexCastOp(i32, value).result
    return arith.TruncIOp(i32, value).result


def _widened(narrow: ir.Value, kind: ir.Type) -> ir.Value:
    if narrow.type == kind:
        return narrow
    cast = arith.IndexCastOp if isinstance(kind, ir.IndexType) else arith.ExtSIOp
    return cast(kind, narrow).result


_LOOPS = {"scf.for": Narrowing.count, "scf.while": Narrowing.carry}


def _behind(op: ir.Operation) -> ir.InsertionPoint:
    return ir.InsertionPoint.after(op)
