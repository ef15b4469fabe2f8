"""Which values wait for a later pass in a result rather than in scratch.

Comes in: the `RowSchedule` of a group whose arrays fit the cache. Goes out: for such values the write whose place they
have meanwhile. Why: scratch is one row more in the first caches, and the lines of the result are waited for in the
last pass, which does little else (kernels have the same: `pykern.passes.vectorize.scratch_rows`). Arrays that do not
fit are written once, and past the cache.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.analysis.rows import BufferKind
from pykern.passes.codegen.cpu.rows.schedule import RowSchedule
from pykern.passes.codegen.cpu.rows.values import Computed, Graph, Loaded, Value, Write


def hosts_of(graph: Graph, schedule: RowSchedule) -> dict[Value, Write]:
    """One write for a value, one value for a write."""
    read = [v.access.root for v in graph.needed() if isinstance(v, Loaded)]
    free = [w for w in graph.writes if w.access.kind is BufferKind.CELL and w.combine is None]
    free = [w for w in free if w.access.root not in read]
    found: dict[Value, Write] = {}
    for value, made in schedule.stored.items():
        loads = [n for n, each in enumerate(schedule.passes) if n > made and value in each.values]
        for write in free:
            if _element(write) == _type(value) and _waits_for(write, value, made, loads, schedule):
                found[value] = write
                free.remove(write)
                break
    return found


def _waits_for(write: Write, value: Value, made: int, loads: list[int], schedule: RowSchedule) -> bool:
    """Whether nobody loads the value any more when its place is written; the value may be what is written."""
    at = next(n for n, each in enumerate(schedule.passes) if any(w is write for w in each.writes))
    return at == made if write.value is value else made < at and max(loads, default=made) <= at


def _element(write: Write) -> ir.Type:
    return ir.MemRefType(write.access.root.type).element_type


def _type(value: Value) -> ir.Type:
    assert isinstance(value, Computed)
    return value.op.results[0].type
