"""`Costs`: what one work-item of a kernel, or one call of an array program, reads, writes and computes, as plain data.

Comes in: `pykern.compiler.costs` counts it on the simplified kern stage. Goes out: `Artifact.costs`, which
the explorer shows. Branches count as taken; a loop of unknown length counts one iteration, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from pykern.data.records import record


@record
class Executions:
    """How often something happens for one work-item: `times` for each iteration of the `loops` around it.

    `loops` are the lines of loops whose length only the launch tells, outermost first; () is `times` in all.
    """

    times: int = 1
    loops: tuple[int, ...] = ()


@record
class Access:
    """An access to memory: `array` is the parameter, or "shared" or "private" memory of a work-item.

    `kind` is "load", "store" or "atomic", `size` bytes of an element. `pattern` tells what neighbouring
    work-items touch: "neighbours" (side by side in memory), "same" (one element), "strided" (a fixed step
    apart, `step` elements or 0 for a length known at launch) or "scattered".
    """

    array: str
    kind: str
    size: int
    file: str
    line: int
    executions: Executions
    pattern: str = "scattered"
    step: int = 0


@record
class Work:
    """Floating-point operations of a line: `name` is add, mul, ... or a function such as exp."""

    name: str
    dtype: str
    flops: int
    file: str
    line: int
    executions: Executions


@record
class Costs:
    """All of a kernel; see `Access` and `Work`. `rank` 0: of an array program, whose one item is a call."""

    accesses: tuple[Access, ...] = ()
    work: tuple[Work, ...] = ()
    rank: int = 1
    argument_names: tuple[str, ...] = field(default=())

    @property
    def loops(self) -> tuple[int, ...]:
        """The innermost loop of unknown length with the most accesses: its iterations decide; () for none."""
        return max((x.executions.loops for x in (*self.accesses, *self.work)), key=len, default=())


def total(costs: Costs, loops: tuple[int, ...] = ()) -> tuple[int, int, int]:
    """Bytes read, bytes written and flops of an iteration of `loops`, () for what is outside of all loops."""
    read = sum(a.size * a.executions.times for a in _of(costs, loops) if a.kind != "store")
    written = sum(a.size * a.executions.times for a in _of(costs, loops) if a.kind != "load")
    return read, written, sum(w.flops * w.executions.times for w in costs.work if w.executions.loops == loops)


def least_bytes(costs: Costs, loops: tuple[int, ...] = ()) -> int:
    """Bytes where each array is moved once and each way: what a cache that keeps neighbours leaves."""
    if costs.rank == 0:  # that is all that is counted of programs
        return sum(total(costs, loops)[:2])
    once = {(a.array, a.kind == "store") for a in _of(costs, loops) if a.pattern != "same"}
    size = {a.array: a.size for a in costs.accesses}
    return sum(size[array] for array, _ in once)


def _of(costs: Costs, loops: tuple[int, ...]) -> Iterable[Access]:
    """Accesses to arrays in global memory, of one depth of loops."""
    own = {"shared", "private"}
    return [a for a in costs.accesses if a.executions.loops == loops and a.array not in own]
