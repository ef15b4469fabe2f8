"""A plan is called, or written into the graph that is captured.

Comes in: a plan, its flattened arguments, and where its results go. Goes out: what the program returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pykern.runtime.graph import current_graph
from pykern.runtime.stream import Stream

if TYPE_CHECKING:
    from pykern.program.device import DevicePlan
    from pykern.program.plan import Plan


def call_here(plan: Plan, values: list[Any], given: list[Any] | None) -> Any:
    """On the CPU."""
    captured = current_graph()
    if captured is None:
        return plan.build(plan.run(values, given))
    from pykern.program.graph import capture_here  # here: most calls are no part of a graph

    return capture_here(captured, plan, values, given)


def call_on(plan: DevicePlan, values: list[Any], given: list[Any] | None, stream: Stream) -> Any:
    """On a device with a driver."""
    captured = current_graph()
    if captured is None:
        return plan.build(plan.run(values, given, stream))
    from pykern.program.graph import capture_on  # as above

    return capture_on(captured, plan, values, given, stream)
