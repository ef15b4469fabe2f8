"""How the form of a schedule reads the factors of a product.

Comes in: a product, and its schedule. Goes out: `FactorReads` of left and right, by which `pykern.passes.fusion`
decides about prologues.
"""

from __future__ import annotations

from pykern.data.schedule import Schedule
from pykern.passes.codegen.cpu.contraction.nests import row_of
from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.fusion.contraction import FactorReads


def factor_reads(product: Product, schedule: Schedule) -> tuple[FactorReads, FactorReads]:
    """Of left and right. The packed form reads each element once, to copy it, whatever the order."""
    if schedule.form == "packed":
        return FactorReads(1), FactorReads(1)
    if schedule.form == "dots":
        along = product.k[0]
        return FactorReads(-(-product.lengths[product.lane] // schedule.rows), along), FactorReads(1, along)
    ascending = schedule.form == "direct"
    rows = schedule.rows if row_of(product) in product.m else 1
    return (
        FactorReads(product.size(product.n), product.lane, ascending),  # for each vector of columns again
        FactorReads(-(-product.size(product.m) // rows), product.lane, ascending),
    )
