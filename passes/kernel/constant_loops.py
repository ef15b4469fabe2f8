"""Plans the unrolling of loops with constant trip counts around small private arrays or index arithmetic.

Comes in: the loop over work-items, private arrays, and values that have to become constants. Goes out: a `Plan`: which
loops are unrolled, which element each access means, which elements an op changes, and how many ops there will be.
Nothing is changed yet. Read next: `unrolling`, which carries out the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mlir import ir

from pykern.passes.analysis.cost_model.lengths import LONGEST_INDEX_LOOP
from pykern.passes.ir.effects import is_speculatable
from pykern.passes.ir.values import is_argument, made_by
from pykern.passes.kernels import MEMORY_OPERAND, find

Known = dict[ir.Value, int]
"""Variables of unrolled loops, and what they are in an iteration."""
Cell = tuple[int, int]
"""An array by its number, and the place in it."""

COMPARE: tuple[Callable[[int, int], bool], ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)
"""By MLIR's numbers of signed comparisons; those of unsigned ones follow."""
_BINARY: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "arith.shrsi": lambda a, b: a >> b if 0 <= b < 64 else _FIT,
}
_DIVISIONS: dict[str, Callable[[int, int], int]] = {
    "arith.floordivsi": lambda a, b: a // b,
    "arith.divsi": lambda a, b: a // b if a >= 0 else -(-a // b),
    "arith.remsi": lambda a, b: a % b if a >= 0 else -(-a % b),
}
"""By positive numbers."""
_DECIDED_BY = {"arith.andi": 0, "arith.ori": 1}
"""Bits that decide, whatever the other one is."""
_NOTHING = ("scf.if", "scf.yield", "scf.condition")
"""Ops that do nothing but for what is in them."""
_FIT = 1 << 30
"""Numbers beyond are not followed: there types of 32 bits wrap."""


def number(value: ir.Value, known: Known) -> int | None:
    """What an index or an i1 is, as far as it is known."""
    if value in known:
        return known[value]
    maker = made_by(value, "arith.constant")
    if maker is None:
        return None
    attribute = maker.attributes["value"]
    if not isinstance(attribute, ir.BoolAttr | ir.IntegerAttr) or not _is_followed(value):
        return None
    found = int(attribute.value)
    return found if abs(found) < _FIT else None


def note(known: Known, values: Iterable[ir.Value], numbers: Iterable[int | None]) -> None:
    """Keep what is known of values from here on, and forget what was known of them in another iteration."""
    for value, one in zip(values, numbers, strict=True):
        if one is None:
            known.pop(value, None)
        else:
            known[value] = one


def evaluate(op: ir.Operation, known: Known) -> bool:
    """Take note of the result of integer arithmetic; gives whether it is known."""
    if len(op.results) != 1 or not op.name.startswith("arith."):
        return False
    found = _result(op, known) if _is_followed(op.results[0]) else None
    note(known, op.results, [found])
    return found is not None


def _result(op: ir.Operation, known: Known) -> int | None:
    if op.name == "arith.constant":
        return number(op.results[0], known)
    operands = [number(operand, known) for operand in op.operands]
    if op.name == "arith.select":
        which, yes, no = operands
        return None if which is None else yes if which else no
    if op.name in _DECIDED_BY and _DECIDED_BY[op.name] in operands and _is_bit(op.results[0]):
        return _DECIDED_BY[op.name]
    numbers = [one for one in operands if one is not None]
    if len(numbers) < 2 or None in operands:
        return None
    if op.name == "arith.cmpi":
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        return int(COMPARE[predicate](*numbers)) if predicate < len(COMPARE) else None
    if _is_bit(op.results[0]) and op.name not in ("arith.andi", "arith.ori", "arith.xori"):
        return None
    if op.name in _DIVISIONS and numbers[1] > 0:
        return _DIVISIONS[op.name](*numbers)
    found = _BINARY[op.name](*numbers) if op.name in _BINARY else _FIT
    return found if abs(found) < _FIT else None


def _is_followed(value: ir.Value) -> bool:
    return isinstance(value.type, ir.IndexType) or _is_bit(value)


def _is_bit(value: ir.Value) -> bool:
    return isinstance(value.type, ir.IntegerType) and value.type.width == 1


class Plan:
    """One loop over work-items with these arrays in values; `refused` are those that cannot be. Loops whose variables
    `wanted` values depend on are unrolled, too, where they have at most `longest` iterations. Which of up to
    `looked_up` cells an access means may be known at run time alone."""

    def __init__(
        self,
        loop: ir.Operation,
        arrays: list[ir.Value],
        most: int,
        wanted: Iterable[ir.Value] = (),
        longest: int | None = None,
        looked_up: int = 0,
    ) -> None:
        self.loop, self.arrays, self.most = loop, arrays, most
        self.wanted, self.longest, self.looked_up = tuple(wanted), longest, looked_up
        self.unrolls = False
        """Whether any loop is unrolled."""
        self.keeps_loops = False
        """Whether some loop stays."""
        self.numbers = {array: place for place, array in enumerate(arrays)}
        self.refused: set[ir.Value] = set()
        self.count = 0
        self._counting = self._counting_variables()
        self._changed: set[Cell] = set()
        self._block(loop.regions[0].blocks[0], {})
        self.is_too_long = self.count > most
        if self.is_too_long:
            self.refused |= set(arrays)

    # -- questions -----------------------------------------------------------------------------

    def cells(self, op: ir.Operation, known: Known) -> list[Cell]:
        """The cells of which an access may mean one: all in which the known indices are those, in order; none where an
        index lies outside of the array."""
        array, *indices = list(op.operands)[MEMORY_OPERAND[op.name] :]
        places = [0]
        for index, length in zip(indices, ir.MemRefType(array.type).shape, strict=True):
            at = number(index, known)
            if at is not None and not 0 <= at < length:
                return []
            each = range(length) if at is None else [at]
            places = [place * length + one for place in places for one in each]
        return [(self.numbers[array], place) for place in places]

    def accesses(self, op: ir.Operation) -> bool:
        """Whether the op is a load or store of one of the arrays."""
        return op.name in ("memref.load", "memref.store") and (
            op.operands[MEMORY_OPERAND[op.name]] in self.numbers
        )

    def iterations(self, op: ir.Operation, known: Known) -> range | None:
        """Those of a loop that is to be unrolled."""
        if op.name != "scf.for" or op.regions[0].blocks[0].arguments[0] not in self._counting:
            return None
        lower, upper, step = (number(value, known) for value in list(op.operands)[:3])
        if lower is None or upper is None or not step or step < 0:
            return None
        found = range(lower, upper, step)
        return None if self.longest is not None and len(found) > self.longest else found

    def while_iterations(self, op: ir.Operation, known: Known) -> int:
        """How often a `while` loop runs at most, that counts from a known number to one that ends it, and that only
        computes and accesses the arrays; 0 for others."""
        if op.name != "scf.while" or not self.arrays or not all(map(self._may_be_left_out, _all_inside(op))):
            return 0
        before, after = (region.blocks[0] for region in op.regions)
        known = dict(known)
        given = [number(value, known) for value in op.operands]
        for count in range(LONGEST_INDEX_LOOP + 1):
            note(known, before.arguments, given)
            runs, *passed = numbers_of(before, known)
            if runs == 0:
                return count
            note(known, after.arguments, passed)
            given = numbers_of(after, known)
        return 0

    def _may_be_left_out(self, op: ir.Operation) -> bool:
        """Whether an op may also run where its work-item would not have come to it."""
        return op.name in _NOTHING or is_speculatable(op) or self.accesses(op)

    def changed(self, op: ir.Operation, known: Known) -> list[Cell]:
        """The cells that stores inside of the op mean."""
        self._changed, self.count = set(), 0
        self._inside(op, known)
        return sorted(self._changed)

    # -- the way through the kernel ------------------------------------------------------------

    def _block(self, block: ir.Block, known: Known) -> list[int | None]:
        """Go through a block; gives what its terminator is given, if that is known."""
        for op in [op.operation for op in block.operations][:-1]:
            if self.count > self.most:
                break
            self._operation(op, known)
        return [number(value, known) for value in ends(block)]

    def _operation(self, op: ir.Operation, known: Known) -> None:
        if self.accesses(op):
            self._access(op, known)
            return
        self.count += not evaluate(op, known)
        iterations = self.iterations(op, known)
        which = number(op.operands[0], known) if op.name == "scf.if" else None
        if iterations is not None:
            self.unrolls = True
            given = [number(value, known) for value in list(op.operands)[3:]]
            for at in iterations:
                self.count += 1
                note(known, op.regions[0].blocks[0].arguments, [at, *given])
                given = self._block(op.regions[0].blocks[0], known)
                if self.count > self.most:
                    return
            note(known, op.results, given)
        elif which is not None:
            for block in op.regions[0 if which else 1].blocks:
                note(known, op.results, self._block(block, known))
        elif iterations_of_while := self.while_iterations(op, known):
            self._while(op, iterations_of_while, known)
        else:
            self._inside(op, known)

    def _while(self, op: ir.Operation, iterations: int, known: Known) -> None:
        self.unrolls = True
        before, after = (region.blocks[0] for region in op.regions)
        given = [number(value, known) for value in op.operands]
        for at in range(iterations + 1):
            note(known, before.arguments, given)
            _, *passed = self._block(before, known)
            self.count += len(op.results)
            if at < iterations:
                note(known, after.arguments, passed)
                given = self._block(after, known)
        note(known, op.results, [None] * len(op.results))

    def _access(self, op: ir.Operation, known: Known) -> None:
        cells = self.cells(op, known)
        if not cells or (len(cells) > 1 and len(cells) > self.looked_up):
            self.refused.add(op.operands[MEMORY_OPERAND[op.name]])
            return
        self.count += 2 * (len(cells) - 1)  # comparisons and choices
        if op.name == "memref.store":
            self._changed |= set(cells)

    def _inside(self, op: ir.Operation, known: Known) -> None:
        """What is within an op that stays. Ops whose regions are not of loops and branches keep their memory."""
        if op.name not in ("scf.for", "scf.if", "scf.while"):
            inner = find(op, self.accesses) if len(op.regions) else []
            self.refused |= {access.operands[MEMORY_OPERAND[access.name]] for access in inner}
            return
        self.keeps_loops = self.keeps_loops or op.name != "scf.if"
        for region in op.regions:
            for block in region.blocks:
                note(known, block.arguments, [None] * len(block.arguments))
                self._block(block, known)
        note(known, op.results, [None] * len(op.results))

    def _counting_variables(self) -> set[ir.Value]:
        """Values behind those wanted and the indices of the arrays, also by the length of a loop; among them variables
        of loops."""
        waiting = list(self.wanted)
        waiting += [
            index
            for op in find(self.loop, self.accesses)
            for index in list(op.operands)[MEMORY_OPERAND[op.name] + 1 :]
        ]
        seen: set[ir.Value] = set()
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting.extend(_behind(one))
        return seen


def _behind(value: ir.Value) -> list[ir.Value]:
    """What an integer directly depends on."""
    if is_argument(value):
        loop = value.owner.owner.operation
        if loop.name == "scf.while":  # only what it starts with: nothing else is known of it in an iteration
            place = value.arg_number
            return [loop.operands[place]] if place < len(loop.operands) else []
        if loop.name != "scf.for":
            return []
        arguments = list(value.owner.arguments)
        place = arguments.index(value)
        lengths = [arguments[0], *list(loop.operands)[:3]]
        return [*lengths, loop.operands[2 + place], ends(value.owner)[place - 1]] if place else lengths
    op = value.owner.operation
    if op.name == "scf.for":
        carried = list(op.regions[0].blocks[0].arguments)[1:]
        return [carried[list(op.results).index(value)]]
    if op.name == "scf.while":
        place = list(op.results).index(value)
        return list(op.operands)[place : place + 1]
    if op.name == "scf.if":
        place = list(op.results).index(value)
        return [op.operands[0], *(ends(region.blocks[0])[place] for region in op.regions)]
    return list(op.operands) if op.name.startswith("arith.") else []


def numbers_of(block: ir.Block, known: Known) -> list[int | None]:
    """What the terminator of a block is given, as far as it is known, for what is known where it begins."""
    for op in [op.operation for op in block.operations][:-1]:
        which = number(op.operands[0], known) if op.name == "scf.if" else None
        if which is not None and len(op.regions[0 if which else 1].blocks):
            note(known, op.results, numbers_of(op.regions[0 if which else 1].blocks[0], known))
        elif not evaluate(op, known):
            note(known, op.results, [None] * len(op.results))
    return [number(value, known) for value in ends(block)]


def _all_inside(op: ir.Operation) -> list[ir.Operation]:
    return find(op, lambda _: True)


def ends(block: ir.Block) -> list[ir.Value]:
    """What the terminator is given."""
    return list(block.operations[len(block.operations) - 1].operation.operands)
