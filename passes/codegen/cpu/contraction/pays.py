"""Whether a prologue is computed where its factor is read, or apart.

Comes in: a product with the prologue, and its schedule. Goes out: yes, where each element is computed once (the packed
form, a factor that goes by once), or a cheap one twice; and where it can be read in the vectors of the form.
"""

from __future__ import annotations

from mlir import ir

from pykern.data.schedule import Schedule
from pykern.passes.analysis.cost_model.operations import CHEAP_REPEATS
from pykern.passes.codegen.cpu.contraction.nests import row_of
from pykern.passes.codegen.cpu.contraction.product import Product
from pykern.passes.ir.affine import Access


def pays(product: Product, number: int, schedule: Schedule) -> bool:
    """Whether computing the prologue of the left (0) or right (1) factor where the factor is read is profitable."""
    prologue = product.prologues[number]
    if prologue is None:
        return False
    if schedule.form == "packed":
        return True
    if schedule.form == "direct" and any(a is not None and a.descends for _, a in prologue.operands):
        return False
    along = product.k[0] if schedule.form == "dots" else product.lane
    if not all(_stride(v, a, along) in (0, 1) for v, a in prologue.operands if a is not None):
        return False
    return _times(product, number, schedule) <= (CHEAP_REPEATS if prologue.is_cheap else 1)


def _times(product: Product, number: int, schedule: Schedule) -> int:
    """The number of times that an element of the factor is read."""
    if schedule.form == "dots":
        return 1 if number == 1 else -(-product.lengths[product.lane] // schedule.rows)
    if number == 0:  # for each vector of columns again
        return product.size(product.n)
    return -(-product.size(product.m) // (schedule.rows if row_of(product) in product.m else 1))


def _stride(value: ir.Value, access: Access, dimension: int) -> int:
    strides, _ = ir.MemRefType(value.type).get_strides_and_offset()
    return access.stride(dimension, strides)
