"""Barriers and collectives inside of branches and loops: which ops hold them, and what is refused.

Comes in: a kernel one work-item each. Used where groups become loops (`segments`) and where devices need
every work-item at every barrier (`pykern.lowering.gpu.split_guards`).
"""

from __future__ import annotations

from mlir import ir

from pykern.dialect.collectives import MEETINGS
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.passes.kernels import identity, named


def holding_meetings(kernel: ir.Operation) -> set[int]:
    """Ops with a meeting somewhere inside, by `identity`."""
    holding: set[int] = set()
    for op in named(kernel, *MEETINGS):
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
    """The refusal of a meeting inside of `op`, which is `what`: "a loop whose bounds differ"."""
    meeting = named(op, *MEETINGS)[0]
    name = "barrier" if meeting.name == "kern.barrier" else meeting.name.removeprefix("kern.")
    return TargetError(
        f"a {name} inside {what} between the work-items of a group",
        span_of(meeting.location),
        "every work-item of the group has to reach it: move it out of the branch or loop",
        ((f"{what} here", span_of(op.location)),),
    )
