"""The front door: whether an op is a contraction worth a schedule, and its functions.

Comes in: a `Space`. Goes out: calls in its place, or nothing. Read next: `product`, `cost_model`, `nests`.
"""

from __future__ import annotations

from mlir import ir

from pykern.machine import cpu
from pykern.passes.array_programs.nests.function import Place
from pykern.passes.array_programs.nests.space import Space
from pykern.passes.schedules.cost_model import schedule_for
from pykern.passes.schedules.direct import Direct
from pykern.passes.schedules.nests import Job, problem_of
from pykern.passes.schedules.packed import Packed
from pykern.passes.schedules.product import Product, product_of

FEWEST = 4
"""Columns below which vectors stay too empty."""


def scheduled_product(space: Space) -> Product | None:
    """The op as a contraction with a schedule; None where loops do as well."""
    product = product_of(space)
    if product is None or not product.k or not space.iterations > 0 or not _is_known(product):
        return None
    problem = problem_of(product)
    if not (problem.unit_right or problem.packable) or problem.lane < FEWEST:
        return None
    return product


def build(place: Place, product: Product, start: ir.Value | None, team: bool, machine: str) -> None:
    """Functions for the product, and their calls before the op."""
    target = cpu(machine)
    schedule = schedule_for(problem_of(product), target)
    job = Job(place, product, schedule, target, start, team)
    if schedule.form == "packed":
        Packed(job).build()
    else:
        Direct(job).build()


def _is_known(product: Product) -> bool:
    return product.bits in (32, 64)
