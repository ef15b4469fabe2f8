"""A launch over a flat index becomes one over rows and columns, before kernels are read as operations on arrays.

Comes in: a kernel on the kern stage, whose work-items compute `k // w` and `k % w` of their one index. Goes out: the
kernel over two or three indices. Read next: `delinearise`, which does so with loops, and `raise_to_linalg`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.data.index_space import MAX_DIMENSIONS
from pykern.dialect import attributes as kern
from pykern.dialect.index_space import GlobalIdOp
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.effects import erase_dead, is_speculatable
from pykern.passes.ir.floor_division import floor_divisions
from pykern.passes.ir.monomials import ONE, Monomial, monomial_of, written
from pykern.passes.ir.values import defining, has_uses, made_by
from pykern.passes.kernels import body, find, named
from pykern.passes.remarks import remark

_QUERIES = frozenset(
    f"kern.{name}" for name in ["ndrange", "local_id", "group_id", "group_size", "num_groups"]
)


@dataclass(frozen=True)
class DelineariseLaunch(Pass):
    """Take apart the flat index of a launch.

    In:  kernels of one dimension, from 0 in steps of 1, on the kern stage; `items`, how many work-items there are, 0
         where that is not known yet.
    Out: where all that is computed of the index by division are coordinates of whole rows: a kernel of two or three
         dimensions, with the lengths of its launch (`kern.ndrange`) if `items` is known. Where it is not, the kernel is
         right for launches over whole rows alone, and has to be made again when lengths are known.
    """

    name: ClassVar[str] = "kern-delinearise-launch"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("arith.floordivsi", "arith.remsi")
    items: int = 0

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            changed = self._kernel(kernel) or changed
        return changed

    def _kernel(self, kernel: ir.Operation) -> bool:
        ids = named(kernel, "kern.global_id")
        if kernels.rank(kernel) != 1 or kern.PLAIN not in kernel.attributes or len(ids) != 1:
            return False
        if kern.WORKGROUP in kernel.attributes or find(kernel, _asks_for_launch):
            return False
        flat = _Flat(kernel, ids[0])
        cuts = flat.cuts()
        if cuts is None or not 1 < len(cuts) <= MAX_DIMENSIONS:
            return False
        lengths = self._lengths(cuts)
        if self.items and lengths is None:
            return False
        remark(ids[0], "flat index: taken apart into rows and columns, as in a launch over them")
        flat.replace(cuts)
        kernel.attributes[kern.RANK] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(cuts))
        if lengths is not None:
            kernel.attributes[kern.NDRANGE] = ir.DenseI64ArrayAttr.get(lengths)
        return True

    def _lengths(self, cuts: list[Monomial]) -> list[int] | None:
        """How long the dimensions are, the outermost first; None where the work-items are no whole rows."""
        ends = [*cuts[1:], Monomial(self.items)]
        ratios = [end.divided_by(cut) for cut, end in zip(cuts, ends, strict=True)]
        numbers = [ratio.number for ratio in ratios if ratio is not None and not ratio.factors]
        return numbers[::-1] if self.items and len(numbers) == len(cuts) and all(numbers) else None


def _asks_for_launch(op: ir.Operation) -> bool:
    """Whether an op asks for the index space, which becomes another one."""
    return op.name in _QUERIES


@dataclass
class _Part:
    """``(index // divisor) % modulus`` of the flat index; without a modulus the quotient."""

    divisor: Monomial = ONE
    modulus: Monomial | None = None

    def quotient(self, by: Monomial) -> _Part | None:
        if self.modulus is None:
            return _Part(self.divisor.times(by))
        rest = self.modulus.divided_by(by)
        return None if rest is None else _Part(self.divisor.times(by), rest)

    def remainder(self, by: Monomial) -> _Part | None:
        if self.modulus is None or self.modulus.divided_by(by) is not None:
            return _Part(self.divisor, by)
        return None


@dataclass
class _Flat:
    """The flat index of a kernel, and what is computed of it."""

    kernel: ir.Operation
    index: ir.Operation
    parts: dict[ir.Value, _Part] = field(default_factory=dict)

    def cuts(self) -> list[Monomial] | None:
        """The divisors of the index in order, each a multiple of the one before, from 1 on; None without an order."""
        self.parts = {self.index.results[0]: _Part()}
        for division in floor_divisions(self.kernel):
            part = self.parts.get(division.dividend)
            if part is None:
                continue
            by = monomial_of(division.divisor)
            if not by.is_positive or not all(self._move_up(value) for value in by.factors):
                return None
            found = part.remainder(by) if division.is_remainder else part.quotient(by)
            if found is None:
                return None
            self.parts[division.op.results[0]] = found
        self._rests()
        return _ordered({point: None for part in self.parts.values() for point in _ends(part)})

    def _rests(self) -> None:
        """What is left of the index by ``k - k // w * w``."""
        for op in named(self.kernel, "arith.subi"):
            whole, product = self.parts.get(op.operands[0]), made_by(op.operands[1], "arith.muli")
            if whole is None or product is None:
                continue
            for quotient, by in (list(product.operands), list(product.operands)[::-1]):
                part, factor = self.parts.get(quotient), monomial_of(by)
                if part is not None and part == whole.quotient(factor):
                    self.parts[op.results[0]] = _Part(whole.divisor, factor)

    def replace(self, cuts: list[Monomial]) -> None:
        """Let all parts be sums of coordinates, and the kernel be one over these."""
        rank = len(cuts)
        with ir.InsertionPoint(self.index), self.index.location:
            ids = [GlobalIdOp.create(rank - 1 - n) for n in range(rank)]
        for value, part in list(self.parts.items())[::-1]:
            if not has_uses(value):
                continue
            first = cuts.index(part.divisor)
            last = rank if part.modulus is None else cuts.index(part.divisor.times(part.modulus))
            with ir.InsertionPoint.after(value.owner.operation), value.owner.operation.location:
                value.replace_all_uses_with(
                    _sum([(ids[n], cuts[n].divided_by(cuts[first]) or ONE) for n in range(first, last)])
                )
        erase_dead(body(self.kernel))
        self.index.erase()

    def _move_up(self, value: ir.Value) -> bool:
        """Move what gives a divisor in front of the index; false where it depends on what cannot be moved."""
        op = defining(value)
        if op is None:
            return value.owner == body(self.kernel)
        if op.block == self.index.block and op.is_before_in_block(self.index):
            return True
        if not (op.name == "memref.dim" or is_speculatable(op)) or not all(map(self._move_up, op.operands)):
            return False
        op.move_before(self.index)
        return True


def _ends(part: _Part) -> list[Monomial]:
    if part.modulus is None:
        return [part.divisor]
    return [part.divisor, part.divisor.times(part.modulus)]


def _ordered(points: dict[Monomial, None]) -> list[Monomial] | None:
    """The points in the order in which each divides the next; None where there is none."""
    order = sorted(points, key=lambda point: (len(point.factors), point.number))
    chain = all(b.divided_by(a) is not None for a, b in itertools.pairwise(order))
    return order if chain else None


def _sum(terms: list[tuple[ir.Value, Monomial]]) -> ir.Value:
    total: ir.Value | None = None
    for value, factor in terms[::-1]:
        term = value if factor == ONE else arith.MulIOp(value, written(factor)).result
        total = term if total is None else arith.AddIOp(total, term).result
    assert total is not None
    return total
