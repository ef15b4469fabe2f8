"""The loop over rows: a group of ops becomes one function.

Comes in: a `Group`. Goes out: the call of a `func.func` where the group's last op stood; the ops are gone.
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import memref

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.caches import ROW_BLOCK
from pykern.passes.analysis.cost_model.threads import PARALLEL_WORK, REDUCTION_PARTS, ROWS_PER_PART
from pykern.passes.analysis.reductions import allow_reordering
from pykern.passes.codegen.cpu.loop_nest.function import Nest, NestContext
from pykern.passes.codegen.cpu.loop_nest.parts import join_parts
from pykern.passes.codegen.cpu.rows import online
from pykern.passes.codegen.cpu.rows.chunks import make_chunks
from pykern.passes.codegen.cpu.rows.hosts import hosts_of
from pykern.passes.codegen.cpu.rows.loops import RowLoops
from pykern.passes.codegen.cpu.rows.schedule import schedule_of
from pykern.passes.codegen.cpu.rows.values import Graph, Loaded, Write, graph_of
from pykern.passes.fusion.row_groups import Group
from pykern.passes.ir.memory import SAME_ELEMENTS, bytes_of


def make_rows(place: NestContext, group: Group, threads: bool, cache_bytes: int) -> None:
    """Put a loop over rows in the place of a group's ops."""
    for each in group.ops:
        if each.reduces is not None:
            allow_reordering(each.op)
    graph, private = graph_of(group), group.private
    if group.in_chunks:
        team = threads and _work(group, graph) > PARALLEL_WORK
        make_chunks(place, group, graph, team, _bytes(graph) < cache_bytes)
    elif graph.writes:
        _make(place, group, graph, threads, cache_bytes)
    for each in reversed(group.ops):
        each.op.erase()
    for root in private:
        _erase_views(root)


def _make(place: NestContext, group: Group, graph: Graph, threads: bool, cache_bytes: int) -> None:
    last = group.ops[-1].op
    needed = graph.needed()
    roots = [v.access.root for v in needed if isinstance(v, Loaded)]
    sums = [w for w in graph.writes if w.combine is not None]
    roots += [w.access.root for w in graph.writes if w.combine is None]
    grain = max(ROWS_PER_PART, -(-group.rows // REDUCTION_PARTS)) if sums else 1
    extent = -(-group.rows // grain)
    with ir.InsertionPoint(last), last.location:
        partial = [memref.AllocOp(_kind([extent, group.columns], w), [], []).result for w in sums]
    nest = Nest(place, last, [*roots, *partial], extent, has_body=False)
    with nest.inside() as (lo, hi):
        nest.function.attributes[kern.ROWS] = ir.UnitAttr.get()
        schedule = schedule_of(graph, _pairs(group, graph))
        hosts = hosts_of(graph, schedule) if _bytes(graph) < cache_bytes else {}
        loops = RowLoops(nest, group, schedule, hosts)
        if sums:
            loops.in_parts(lo, hi, grain, sums, partial)
        else:
            loops.over(lo, hi)
        loops.free()
    nest.call(threads and extent > 1 and _work(group, graph) > PARALLEL_WORK)
    if sums:
        joins = [w.combine for w in sums]
        join_parts(place, last, joins, partial, [w.access.root for w in sums], [None] * len(sums))


def _pairs(group: Group, graph: Graph) -> list[online.OnlineSum]:
    """Those of rows that are longer than two blocks; they stay in a cache, so exponentials are kept."""
    return online.pairs_of(graph, recompute=False) if group.columns > 2 * ROW_BLOCK else []


def _work(group: Group, graph: Graph) -> int:
    return group.rows * group.columns * sum(2 if v.is_wide else 0 for v in graph.needed())


def _bytes(graph: Graph) -> int:
    """The size in bytes of all arrays of a group together."""
    roots = [v.access.root for v in graph.needed() if isinstance(v, Loaded) and v.access.is_memory]
    roots += [w.access.root for w in graph.writes]
    return sum(bytes_of(ir.MemRefType(root.type)) for root in dict.fromkeys(roots))


def _kind(shape: list[int], write: Write) -> ir.MemRefType:
    return ir.MemRefType.get(shape, ir.MemRefType(write.access.root.type).element_type)


def _erase_views(root: ir.Value) -> None:
    for use in list(root.uses):
        op = use.owner.operation
        if op.name in SAME_ELEMENTS:
            _erase_views(op.results[0])
            op.erase()
