"""A contraction as functions of loops: what a program calls where its op stood.

Comes in: a `Product`, its `Schedule`, what the sums start from. Goes out: a function that holds contractions, one for
the full tiles and one each for those that the last row or column cuts off, and the transform script that tiles
them. Read next: `direct` and `packed`, the two forms; `apply_schedules`, `register_tile`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mlir import ir

from pykern.data.schedule import Schedule
from pykern.dialect import attributes as kern
from pykern.environment.machine import Cpu
from pykern.passes.codegen.cpu.contraction.apply_schedules import script
from pykern.passes.codegen.cpu.contraction.cost_model import Problem
from pykern.passes.codegen.cpu.contraction.edges import roomy
from pykern.passes.codegen.cpu.contraction.product import Product, width
from pykern.passes.codegen.cpu.contraction.schedule import attribute
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.fusion.readers import SumReader
from pykern.passes.ir.affine import Access, window
from pykern.passes.ir.lengths import Number

Range = tuple[Number, Number]
"""The start and the length of a range of a dimension."""


@dataclass
class Job:
    """One contraction to be built: what both forms need."""

    place: NestContext
    product: Product
    schedule: Schedule
    cpu: Cpu
    start: ir.Value | None
    """The values that sums start from, where memory is not read for them."""
    team: bool
    reader: SumReader | None = None
    """The op that is computed from finished sums inside the tile."""
    parts: list[list[list[int]]] = field(default_factory=list)
    """Tilings of each contraction that was made."""

    @property
    def lanes(self) -> int:
        """Elements of a vector of sums."""
        return self.cpu.lanes(self.product.bits)

    @property
    def columns(self) -> int:
        """Columns of a register tile."""
        return self.schedule.vectors * self.lanes

    def marks(self, row: int, lane: int, whole: bool) -> dict[str, int]:
        """What `register_tile` needs to know; tiles that are cut off are few, and not unrolled."""
        return {
            "row": row,
            "lane": lane,
            "unroll": self.schedule.unroll if whole else 1,
            "width": self.lanes,
            "prefetch": int(whole and self.schedule.form == "packed"),
            "ordered": int(self.product.ordered),
        }

    @property
    def passed(self) -> list[ir.Value]:
        """The values that a function is passed for the start of its sums and for the reader."""
        found = [] if self.start is None else [self.start]
        if self.reader is not None:
            found += [v for v, _ in self.reader.operands] + [*self.reader.captured, self.reader.out]
        return found

    def finish(self, nest: Nest) -> None:
        """The function's schedule, as data and as the script that applies it."""
        nest.function.attributes[kern.SCHEDULE] = attribute(self.schedule)
        with self.product.op.location:
            script(self.place.module, nest.symbol, self.parts)


Extras = dict[str, Any]


def reading(
    job: Job,
    nest: Nest,
    ranges: dict[int, Range],
    dimensions: int,
    translate: Callable[[Access], Access],
    room: Mapping[int, int] = MappingProxyType({}),
) -> Extras:
    """What a contraction is told of the reader: its operands, cut down to the part, and what it writes.

    `room` has the lengths of dimensions in which tiles may reach beyond what is there.
    """
    reader = job.reader
    if reader is None:
        return {}
    identity = {d: d for d in range(dimensions)}
    nothing = ir.AffineMap.get(dimensions, 0, [])
    reads = []
    for value, access in reader.operands:
        if access is None:
            reads.append((nest.value(value), nothing))
        else:
            part = window(roomy(nest.value(value), access, room), access, ranges)
            reads.append((part, translate(access).map(identity)))
    reads += [(nest.value(v), nothing) for v in reader.captured]
    out = window(roomy(nest.value(reader.out), reader.access, room), reader.access, ranges)
    return {
        "reader": reader,
        "reads": tuple(reads),
        "result": (out, translate(reader.access).map(identity)),
    }


def feeding(job: Job, nest: Nest, ranges: dict[int, Range], dimensions: int) -> Extras:
    """What a contraction is told of the prologues of its factors: what they read beside the factors themselves."""
    identity = {d: d for d in range(dimensions)}
    nothing = ir.AffineMap.get(dimensions, 0, [])
    feeds = []
    for prologue in job.product.prologues:
        found = []
        for value, access in [] if prologue is None else prologue.others:
            inside = nest.value(value)
            if access is None:
                found.append((inside, nothing))
            else:
                found.append((window(inside, access, ranges), access.map(identity)))
        feeds.append(found)
    return {"feeds": tuple(feeds)} if any(feeds) else {}


def row_of(product: Product) -> int | None:
    """The dimension that tiles have rows of: the left factor's own; where it has none, one of the right's."""
    own = product.m or tuple(d for d in product.n if d != product.lane)
    return max(own, key=lambda d: (product.lengths[d] > 4, d)) if own else None


def problem_of(product: Product) -> Problem:
    """The facts about a contraction that the cost model asks for."""
    row = row_of(product)
    right = product.strides(1)
    left, last = product.strides(0), product.k[-1] if product.k else None
    return Problem(
        m=product.size(product.m),
        n=product.size(product.n),
        k=product.size(product.k),
        batch=product.size(product.batch),
        bits=product.bits,
        factor_bits=max(width(ir.MemRefType(product.operand(n).type).element_type) for n in (0, 1)),
        is_float=isinstance(product.element, ir.FloatType),
        row=1 if row is None else product.lengths[row],
        lane=product.lengths[product.lane],
        unit_right=right[product.lane] == 1
        and left[product.lane] in (0, 1)
        and not any(
            a.descends for a, p in zip(product.accesses, product.prologues, strict=False) if p is None
        ),
        simple=len(product.m) <= 1
        and product.n == (product.lane,)
        and len(product.k) == 1
        and not product.batch,
        term_stride=0 if last is None else left[last] * product.bits // 8,
        is_matvec=_is_matvec(product),
        packable=bool(product.m) and product.lane in product.n and bool(product.k),
    )


def _is_matvec(product: Product) -> bool:
    """Whether it is a matrix times a vector, rows of the matrix along the terms."""
    others = product.size(product.m) * product.size(product.batch)
    one = len(product.k) == 1 and product.n == (product.lane,) and others == 1
    is_float = isinstance(product.element, ir.FloatType)
    return one and is_float and product.strides(0)[product.k[0]] == 1 == product.strides(1)[product.k[0]]


def cut(length: int, size: int) -> list[Range]:
    """Full tiles, and what is left."""
    whole = length - length % size
    return [r for r in ((0, whole), (whole, length - whole)) if r[1]]
