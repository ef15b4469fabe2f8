"""The front door: whether an op is a contraction worth a schedule, and its functions.

Comes in: a `Space`. Goes out: calls in its place, or nothing. Read next: `product`, `cost_model`, `nests`.
"""

from __future__ import annotations

from dataclasses import replace

from mlir import ir

from pykern.data.schedule import Schedule, parse
from pykern.environment.machine import Cpu, cpu
from pykern.passes.analysis.cost_model.caches import LINE_BYTES
from pykern.passes.analysis.cost_model.lengths import FEWEST_LANES, SHORT_ROW
from pykern.passes.analysis.masks import needed
from pykern.passes.analysis.space import Space, ungrouped
from pykern.passes.codegen.cpu.contraction.cost_model import Problem, can_take, schedule_for, shares
from pykern.passes.codegen.cpu.contraction.direct import Direct
from pykern.passes.codegen.cpu.contraction.factor_reads import factor_reads
from pykern.passes.codegen.cpu.contraction.matvec import MatrixVector
from pykern.passes.codegen.cpu.contraction.narrow import dot_for
from pykern.passes.codegen.cpu.contraction.nests import Job, problem_of
from pykern.passes.codegen.cpu.contraction.packed import Packed
from pykern.passes.codegen.cpu.contraction.product import Product, product_of
from pykern.passes.codegen.cpu.contraction.streamed import Streamed
from pykern.passes.codegen.cpu.loop_nest.function import NestContext
from pykern.passes.fusion.contraction import ContractionGroup, FactorReads, Prologues, profitable_prologues
from pykern.passes.fusion.readers import SumReader, reader_of
from pykern.passes.ir.memory import VIEWS


def scheduled_product(space: Space, ordered: bool = False) -> Product | None:
    """The op as a contraction with a schedule; None where loops do as well. `ordered`: sums keep their order."""
    product = product_of(space)
    if product is not None and ordered:
        product = replace(product, ordered=True)
    if product is None or not product.k or not space.iterations > 0 or not _is_known(product):
        return None
    return product if _fits(product) else None


def _fits(product: Product) -> bool:
    """Whether there is a form for it: lanes that lie side by side, or can be laid so, or rows of terms."""
    problem = problem_of(product)
    if problem.is_matvec and (product.ordered or _has_short_rows(problem)):
        return False
    return (problem.unit_right or problem.packable or problem.is_matvec) and problem.lane >= FEWEST_LANES


def _has_short_rows(problem: Problem) -> bool:
    """Whether a vector along the terms would be almost empty: loops have whole vectors of rows, and take them apart."""
    is_short = problem.k <= SHORT_ROW and problem.k * problem.bits < 8 * LINE_BYTES
    return is_short and not problem.unit_right


def build(
    place: NestContext, product: Product, start: ir.Value | None, team: bool, machine: str, asked: str = ""
) -> list[ir.Operation]:
    """Functions for the product, and their calls before the op. Gives what was computed with it, to be erased.

    `asked` is a schedule to take instead of the cost model's, where it can be.
    """
    target = cpu(machine)
    reader = None if start is None or product.permutation else reader_of(product.space)
    if (wanted := needed(product.op)) and (again := _apart(product)) is not None:
        product, reader = replace(again, needed=wanted), None
    if reader is not None:
        again = _apart(product)  # rows that lie as one are not a vector each
        if again is not None and reader.is_in_vectors(again.lane):
            product = again
        else:
            reader = None
    product, schedule = _scheduled(product, target, asked, reader)
    if schedule.form == "dots" or (schedule.form == "direct" and schedule.depth):
        reader = None  # sums go through memory: there is no tile in which they are finished
    team = team and schedule.threads and shares(problem_of(product), target)
    job = Job(place, product, schedule, target, start, team, reader)
    group = ContractionGroup(product.prologues, reader)
    group.remark_on(product.op)
    if reader is not None:  # from here on the sums belong to where they are read
        product.op.move_before(reader.op)
    if schedule.form == "packed":
        Packed(job).build()
    elif schedule.form == "dots":
        MatrixVector(job).build()
    elif schedule.depth:
        Streamed(job).build()
    else:
        Direct(job).build()
    _forget_views(product)
    return group.operations


def _forget_views(product: Product) -> None:
    """Nothing looks at factors any more that are made where they are read."""
    for number, prologue in zip(product.numbers, product.prologues, strict=False):
        view = product.op.operands[number].owner
        if prologue is not None and view.name in VIEWS:
            product.op.operands[number] = view.operands[0]
            view.erase()


def _scheduled(
    product: Product, target: Cpu, asked: str, reader: SumReader | None
) -> tuple[Product, Schedule]:
    """The schedule, and the product with those prologues that pay in it."""
    if dot_for(product, target) is not None or (again := _apart(product)) is None:
        return product, _schedule(product, target, asked)

    def reads(prologues: Prologues) -> tuple[FactorReads, FactorReads] | None:
        made = again.made_by(prologues)
        return factor_reads(made, _schedule(made, target, asked)) if _fits(made) else None

    kept = profitable_prologues(product.op, product.numbers[:2], reader, reads)
    if any(kept):
        product = again.made_by(kept)
    return product, _schedule(product, target, asked)


def _schedule(product: Product, target: Cpu, asked: str) -> Schedule:
    dot = dot_for(product, target)
    problem = replace(problem_of(product), group=1 if dot is None else dot.terms)
    if asked and can_take(problem, wanted := parse(asked), target):
        return wanted
    return schedule_for(problem, target)


def _apart(product: Product) -> Product | None:
    """The product with every dimension by itself; None where there is no form for it."""
    if all(len(group) == 1 for group in product.space.groups):
        return product
    again = product_of(ungrouped(product.space))
    if again is None:
        return None
    again = replace(again, ordered=product.ordered)
    return again if _fits(again) else None


def _is_known(product: Product) -> bool:
    return product.bits in (32, 64)
