"""Checkpoints of every k-th trip: a loop of n trips as a loop over strips of k.

What the rule of loops stores then is the state at the start of each strip, and, while a strip is
reversed, the states in it: n / k + k instead of n, for one more forward run.
"""

from __future__ import annotations

import re

from mlir import ir
from mlir.dialects import func, scf

from pykern.dialect import attributes as kern
from pykern.errors import PassError
from pykern.passes.autodiff.tensor.trips import Trips
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.lengths import as_value, divided, least, plus, times
from pykern.passes.ir.loops import is_in_loop
from pykern.passes.kernels import body, find


def split_loops(function: func.FuncOp, checkpoint: str) -> None:
    """Split loops with ``every(k)``; give those with ``binomial(s)`` their attribute. Outer loops only,
    except where a loop has the attribute itself."""
    # inner loops come first: splitting a loop copies its body
    for op in find(function.operation, lambda op: op.name == "scf.for"):
        asked = kern.CHECKPOINT in op.attributes
        text = op.attributes[kern.CHECKPOINT].value if asked else "all" if is_in_loop(op) else checkpoint
        kind, number = parse(text)
        if kind == "every" and number > 1:
            _split(op, number)
        elif kind == "binomial":
            op.attributes[kern.CHECKPOINT] = ir.StringAttr.get(text)
        elif asked:
            del op.attributes[kern.CHECKPOINT]


def parse(text: str) -> tuple[str, int]:
    """``all``, ``every(k)`` or ``binomial(s)``, and its number."""
    match = re.fullmatch(r"(every|binomial)\((\d+)\)", text)
    if text == "all":
        return "all", 0
    if match is None or int(match[2]) < 1:
        raise PassError(f"checkpoint `{text}` is none of all, every(k), binomial(s)")
    return match[1], int(match[2])


def _split(op: ir.Operation, strip: int) -> None:
    block, inits = body(op), list(op.operands)[3:]
    with ir.InsertionPoint(op), op.location:
        trips = Trips.of(*list(op.operands)[:3])
        if isinstance(trips.count, int) and trips.count <= strip:
            return  # one strip: the state at its start is there anyhow
        strips = divided(plus(trips.count, strip - 1), strip)
        outer = scf.ForOp(as_value(0), as_value(strips), as_value(1), inits)
        if kern.TRIPS_AT_MOST in op.attributes:
            most = -(-ir.IntegerAttr(op.attributes[kern.TRIPS_AT_MOST]).value // strip)
            outer.operation.attributes[kern.TRIPS_AT_MOST] = ir.IntegerAttr.get(ir.IndexType.get(), most)
        with ir.InsertionPoint(outer.body):
            first = times(outer.induction_variable, strip)
            last = least(plus(first, strip), trips.count)
            inner = scf.ForOp(as_value(first), as_value(last), as_value(1), list(outer.inner_iter_args))
            with ir.InsertionPoint(inner.body):
                variable = trips.variable(inner.induction_variable)
                known = dict(zip(block.arguments, [variable, *inner.inner_iter_args], strict=True))
                scf.YieldOp(clone_block(block, known))
            inner.operation.attributes[kern.TRIPS_AT_MOST] = ir.IntegerAttr.get(ir.IndexType.get(), strip)
            scf.YieldOp(list(inner.results))
    for old, new in zip(op.results, outer.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
