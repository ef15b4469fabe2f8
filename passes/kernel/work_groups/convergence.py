"""Barriers and collectives inside of branches and loops: which ops hold them, and what is refused.

Comes in: a kernel one work-item each. Used where groups become loops (`segments`) and where devices need
every work-item at every barrier (`pykern.lowering.gpu.split_guards`).
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect.collectives import CONVERGENT
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.passes.kernels import identity, named


def holding_convergent(kernel: ir.Operation) -> set[int]:
    """Ops with a barrier or collective somewhere inside, by `identity`."""
    holding: set[int] = set()
    for op in named(kernel, *CONVERGENT):
        parent = op.parent
        while parent is not None and parent.operation != kernel:
            holding.add(identity(parent.operation))
            parent = parent.operation.parent
    return holding


def is_guard(op: ir.Operation) -> bool:
    """Whether a branch was made by an early exit."""
    firsts = [block.operations[0].operation.name for region in op.regions for block in region.blocks]
    return "kern.guard" in firsts


def diverges(op: ir.Operation, what: str) -> TargetError:
    """The error for a barrier or collective inside of `op`, which is `what`: "a loop whose bounds differ"."""
    inner = named(op, *CONVERGENT)[0]
    name = "barrier" if inner.name == "kern.barrier" else inner.name.removeprefix("kern.")
    return TargetError(
        f"a {name} inside {what} between the work-items of a group",
        span_of(inner.location),
        "every work-item of the group has to reach it: move it out of the branch or loop",
        ((f"{what} here", span_of(op.location)),),
    )
