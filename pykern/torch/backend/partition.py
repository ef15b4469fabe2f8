"""Which parts of a graph become array programs, and the graph in which they have.

Comes in: a graph of ATen operations without mutation. Goes out: the graph with one call for each part; the rest
stays as it is. PyTorch's partitioner proposes parts that make no cycle; this says which of them pay:

- Views at a part's end stay in PyTorch, where they cost nothing, and no memory is written twice.
- A part has at least two operations that compute, or one that goes over its elements more than once (a norm, a
  softmax). One operation alone costs a call either way, and PyTorch's own is as fast.
"""

from __future__ import annotations

from pykern.torch.backend.framework import (
    CapabilityBasedPartitioner,
    GraphModule,
    Node,
    Partition,
    aten,
    fuse_by_partitions,
)
from pykern.torch.backend.ops import COMPOSITE, FREE, VIEWS
from pykern.torch.backend.support import Support

PREFIX = "pykern_"
LEAST = 2
"""Operations that compute, from which on a part is a program."""


def partitioned(graph: GraphModule, support: Support) -> tuple[GraphModule, list[str]]:
    """The graph with its parts as submodules, and their names."""
    partitioner = CapabilityBasedPartitioner(graph, support, allows_single_node_partition=True)
    parts = [part for part in map(_without_last_views, partitioner.propose_partitions()) if _pays(part)]
    fused = fuse_by_partitions(
        graph, [dict.fromkeys(part) for part in parts], PREFIX, always_return_tuple=True
    )
    _write_last(fused)
    names = [
        str(n.target) for n in fused.graph.nodes if n.op == "call_module" and str(n.target).startswith(PREFIX)
    ]
    return fused, names


def _without_last_views(part: Partition) -> list[Node]:
    """The nodes of a part without views that only others use."""
    kept = dict.fromkeys(part.nodes)
    for node in sorted(kept, reverse=True):
        if node.target in VIEWS and not any(user in kept for user in node.users):
            del kept[node]
    return sorted(kept)


def _pays(part: list[Node]) -> bool:
    work = sum(LEAST if node.target in COMPOSITE else node.target not in FREE for node in part)
    return work >= LEAST


def writes_elsewhere(graph: GraphModule) -> bool:
    """Whether something is written but arguments at the end, so that the order of operations means something."""
    return any(_writes(n) and (n.target is not aten.copy_.default or n.users) for n in graph.graph.nodes)


def _writes(node: Node) -> bool:
    return node.op == "call_function" and bool(
        getattr(getattr(node.target, "_schema", None), "is_mutable", False)
    )


def _write_last(graph: GraphModule) -> None:
    """Put what writes into arguments behind everything that may read them."""
    [output] = [n for n in graph.graph.nodes if n.op == "output"]
    for node in [n for n in graph.graph.nodes if _writes(n)]:
        output.prepend(node)
    graph.graph.lint()
    graph.recompile()
