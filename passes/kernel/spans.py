"""What the variables of a work-item's own loops lie between.

Comes in: a loop over work-items. Goes out: `Spans`, and the least and the greatest that an affine index has over the
iterations of the loops inside. Read next: `edges`.
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.ir.index_arithmetic import Affine, affine_of
from pykern.passes.ir.values import parent_of
from pykern.passes.kernels import find, is_constant

Spans = dict[ir.Value, tuple[Affine, Affine]]
"""Variables of loops inside, each with its first and its last value, which do not change in the loop around."""


def spans_of(loop: ir.Operation) -> Spans:
    """Of the loops of work-items that count upwards between bounds that are the same for all work-items."""
    found: Spans = {}
    for inner in find(loop, lambda op: op.name == "scf.for" and _is_own(op, loop)):
        variable = inner.opview.induction_variable
        step = is_constant(inner.operands[2])
        if not isinstance(variable.type, ir.IndexType) or step is None or step < 1:
            continue
        first, end = (affine_of(bound, loop) for bound in list(inner.operands)[:2])
        if first is not None and end is not None and not first.coefficient and not end.coefficient:
            found[variable] = first, end - Affine(constant=1)
    return found


def _is_own(op: ir.Operation, loop: ir.Operation) -> bool:
    """Whether a loop is one of a work-item."""
    around = op
    while around != loop:
        around = parent_of(around)
        if kern.ITEMS in around.attributes:
            return True
    return False


def extremes(form: Affine, spans: Spans) -> tuple[Affine, Affine, Affine]:
    """A form without the variables of `spans`, and the least and the greatest of what these add."""
    fixed = Affine(form.coefficient, tuple(t for t in form.terms if t[1] not in spans), form.constant)
    least = most = Affine()
    for factor, variable in form.terms:
        if variable in spans:
            first, last = spans[variable][:: 1 if factor > 0 else -1]
            least, most = least + first * factor, most + last * factor
    return fixed, least, most
