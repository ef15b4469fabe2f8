"""Finds the launch arguments for whose small values it pays to compile a specialised version of the kernel.

Comes in: a kernel at the work-item level. Goes out: `ShortNumbers`: argument slots in the order in which a launch asks
for them, with the largest number that counts as small. A launch with such numbers gets a version of its own
(`pykern.launching.known_numbers`).

Why: some optimisations need a constant. A loop over the 4 rows of a small matrix can be unrolled, rows of 4 elements
can be kept in registers, and a division by a step of 2 becomes a shift.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import UNROLLED_INDEX_OPS
from pykern.passes.analysis.cost_model.lengths import LONGEST_INDEX_LOOP, SHORT_DIVISOR, SHORT_ROW
from pykern.passes.analysis.launch_slots import first_slots, is_strided
from pykern.passes.ir.values import defining, made_by
from pykern.passes.kernels import find, is_constant, named

ShortNumbers = tuple[tuple[int, tuple[int, ...]], ...]
"""Slots that are asked for one after the other until one holds no small number, behind the largest such number."""

_CASTS = ("arith.index_cast", "arith.extsi", "arith.trunci", "arith.index_castui", "arith.extui")
_DIVISIONS = (
    "arith.floordivsi",
    "arith.divsi",
    "arith.remsi",
    "arith.divui",
    "arith.remui",
    "arith.ceildivsi",
)


def short_numbers(kernel: ir.Operation) -> ShortNumbers:
    """The arguments of this kernel whose small values are worth knowing, each once."""
    return tuple(_Search(kernel).found)


class _Search:
    def __init__(self, kernel: ir.Operation) -> None:
        self.kernel = kernel
        self.arguments = list(kernels.body(kernel).arguments)
        self.slots = first_slots(kernel)
        self.found: dict[tuple[int, tuple[int, ...]], None] = {}
        self._loops()
        self._indices()
        self._arrays()
        rank = kernels.rank(kernel)
        if kern.PLAIN in kernel.attributes and rank > 1:
            self._add(SHORT_ROW, [self.slots[-1] + dim for dim in range(rank - 1, 0, -1)])

    def _add(self, most: int, slots: list[int]) -> None:
        if slots:
            self.found[most, tuple(slots)] = None

    def _arrays(self) -> None:
        """Steps from one element to the next; where work-items are elements of rows, rows and rows of rows, too.

        A work-item that has a row for itself names its elements, `x[i, 0]`, or goes over it by a loop, whose bounds
        `_loops` finds.
        """
        has_rows = kernels.rank(self.kernel) > 1 or not named(self.kernel, "scf.for", "scf.while")
        for place, argument in enumerate(self.arguments):
            if not isinstance(argument.type, ir.MemRefType):
                continue
            kind, first = ir.MemRefType(argument.type), self.slots[place] + 1
            if has_rows:
                self._add(SHORT_ROW, [first + dim for dim in range(kind.rank - 1, 0, -1)])
            if is_strided(kind):
                for dim in range(kind.rank):
                    self._add(SHORT_ROW, [first + kind.rank + dim])

    def _loops(self) -> None:
        """All numbers that decide how often a loop runs, where it stays short if it is written out."""
        for loop in named(self.kernel, "scf.for"):
            most = min(LONGEST_INDEX_LOOP, UNROLLED_INDEX_OPS // len(find(loop, lambda op: True)))
            slots: dict[int, bool] = {}
            whole = [self._behind(bound, slots) for bound in list(loop.operands)[:3]]
            if all(whole):
                lengths = [slot for slot, is_length in slots.items() if is_length]
                self._add(most, [*lengths, *(slot for slot in slots if slot not in lengths)])
            else:  # windows around a work-item
                for slot in slots:
                    self._add(most, [slot])

    def _indices(self) -> None:
        """Scalars that indices are multiplied or divided with."""
        for op in named(self.kernel, "arith.muli", *_DIVISIONS):
            divides = op.name != "arith.muli"
            for operand in list(op.operands)[1 if divides else 0 :]:
                slot = self._scalar(operand)
                if slot is not None:
                    self._add(SHORT_DIVISOR if divides else SHORT_ROW, [slot])

    def _scalar(self, value: ir.Value) -> int | None:
        """The slot of a scalar argument that a value is, also behind a test for zero."""
        chosen = made_by(value, "arith.select")
        if chosen is not None:
            return self._scalar(chosen.operands[2])
        cast = made_by(value, *_CASTS)
        if cast is not None:
            return self._scalar(cast.operands[0])
        return self._slot(value)

    def _slot(self, value: ir.Value) -> int | None:
        if value not in self.arguments or not isinstance(value.type, ir.IntegerType | ir.IndexType):
            return None
        return self.slots[self.arguments.index(value)]

    def _behind(self, value: ir.Value, slots: dict[int, bool]) -> bool:
        """Collect the slots that a value depends on, and whether each is a length; gives whether it depends on nothing
        else."""
        if is_constant(value) is not None:
            return True
        slot = self._slot(value)
        if slot is not None:
            slots[slot] = False
            return True
        op = defining(value)
        if op is None:
            return False
        if op.name == "memref.dim":
            dim = is_constant(op.operands[1])
            if dim is None or op.operands[0] not in self.arguments:
                return False
            slots[self.slots[self.arguments.index(op.operands[0])] + 1 + dim] = True
            return True
        if not op.name.startswith("arith."):
            return False
        whole = [self._behind(operand, slots) for operand in op.operands]
        return all(whole)
