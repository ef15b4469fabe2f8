"""The front door: whether an op is a contraction worth a schedule, and its functions.

Comes in: a `Space`. Goes out: calls in its place, or nothing. Read next: `product`, `cost_model`, `nests`.
"""

from __future__ import annotations

from dataclasses import replace

from mlir import ir

from pykern.machine import cpu
from pykern.passes.array_programs.nests.function import Place
from pykern.passes.array_programs.nests.space import Space, lengths_of
from pykern.passes.schedules.cost_model import can_take, schedule_for
from pykern.passes.schedules.direct import Direct
from pykern.passes.schedules.dots import Dots
from pykern.passes.schedules.narrow import dot_for
from pykern.passes.schedules.nests import Job, problem_of
from pykern.passes.schedules.packed import Packed
from pykern.passes.schedules.product import Product, product_of
from pykern.passes.schedules.readers import Reader, reader_of
from pykern.schedule import parse

FEWEST = 4
"""Columns below which vectors stay too empty."""


def scheduled_product(space: Space) -> Product | None:
    """The op as a contraction with a schedule; None where loops do as well."""
    product = product_of(space)
    if product is None or not product.k or not space.iterations > 0 or not _is_known(product):
        return None
    return product if _fits(product) else None


def _fits(product: Product) -> bool:
    """Whether there is a form for it: lanes that lie side by side, or can be laid so, or rows of terms."""
    problem = problem_of(product)
    return (problem.unit_right or problem.packable or problem.dots) and problem.lane >= FEWEST


def build(
    place: Place, product: Product, start: ir.Value | None, team: bool, machine: str, asked: str = ""
) -> Reader | None:
    """Functions for the product, and their calls before the op. Gives what was computed with it, to be erased.

    `asked` is a schedule to take instead of the cost model's, where it can be.
    """
    target = cpu(machine)
    reader = None if start is None or product.turn else reader_of(product.space)
    if reader is not None and any(len(group) > 1 for group in product.space.groups):
        apart = replace(product.space, groups=[[d] for group in product.space.groups for d in group])
        again = product_of(_ungrouped(apart))
        assert again is not None
        if _fits(again):
            product = again
        else:  # rows that lie as one are not a vector each
            reader = None
    dot = dot_for(product, target)
    problem = replace(problem_of(product), group=1 if dot is None else dot.terms)
    schedule = schedule_for(problem, target)
    if asked and can_take(problem, wanted := parse(asked), target):
        schedule = wanted
    if schedule.form == "dots" or (schedule.form == "direct" and schedule.depth):
        reader = None  # sums go through memory: there is no tile in which they are finished
    job = Job(place, product, schedule, target, start, team, reader)
    if reader is not None:  # from here on the sums belong to where they are read
        product.op.move_before(reader.op)
    if schedule.form == "packed":
        Packed(job).build()
    elif schedule.form == "dots":
        Dots(job).build()
    else:
        Direct(job).build()
    return reader


def _ungrouped(space: Space) -> Space:
    """Every dimension a loop of its own, so that readers can tell them apart."""
    count = len(space.groups)
    kinds = ["reduction" in str(kind) for kind in ir.ArrayAttr(space.op.attributes["iterator_types"])]
    return replace(space, lengths=lengths_of(space.op, space.maps, count), reduction=kinds)


def _is_known(product: Product) -> bool:
    return product.bits in (32, 64)
