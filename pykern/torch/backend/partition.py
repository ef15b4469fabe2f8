"""Which parts of a graph become array programs, and the graph in which they have.

Comes in: a graph of ATen operations without mutation. Goes out: the graph with one call for each part; the rest
stays as it is. PyTorch's partitioner proposes parts that make no cycle; this says which of them pay:

- Views at a part's end stay in PyTorch, where they cost nothing, and no memory is written twice. A view whose elements
  do not lie side by side, such as one of stride 0, is in the part for what the part computes of it, and in PyTorch for
  the others.
- Where many parts begin with a selection from one tensor, as the time steps of an unrolled loop do, it is made in
  PyTorch: the parts are the same program then, which is compiled once.
- A part has to pay (`costs`).
"""

from __future__ import annotations

from collections import Counter

from pykern.torch.backend.costs import ALIKE, is_profitable
from pykern.torch.backend.framework import (
    CapabilityBasedPartitioner,
    GraphModule,
    Node,
    Partition,
    fuse_by_partitions,
)
from pykern.torch.backend.ops import SELECTIONS, VIEWS
from pykern.torch.backend.program import Form
from pykern.torch.backend.support import Support, hinted
from pykern.torch.backend.writes import write_last

PREFIX = "pykern_"


def partitioned(graph: GraphModule, support: Support) -> tuple[GraphModule, list[str]]:
    """The graph with its parts as submodules, and their names."""
    partitioner = CapabilityBasedPartitioner(graph, support, allows_single_node_partition=True)
    proposed = map(_without_last_views, partitioner.propose_partitions())
    parts = _without_first_selections([part for part in proposed if is_profitable(part, hinted)])
    for part in parts:
        _repeat_views(graph, part)
    fused = fuse_by_partitions(
        graph, [dict.fromkeys(part) for part in parts], PREFIX, always_return_tuple=True
    )
    write_last(fused)
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


def _without_first_selections(parts: list[list[Node]]) -> list[list[Node]]:
    """The parts without selections, of dense elements, from a tensor from which many parts begin with one."""
    found = [
        [node for node in part if node.target in SELECTIONS and node.args[0] not in {*part}] for part in parts
    ]
    counts = Counter(source for firsts in found for source in {node.args[0] for node in firsts})
    dropped = {
        node
        for firsts in found
        for node in firsts
        if counts[node.args[0]] >= ALIKE and Form.of(hinted(node)).order is not None
    }
    return [[node for node in part if node not in dropped] for part in parts]


def _repeat_views(graph: GraphModule, part: list[Node]) -> None:
    """Give users outside of a part views of their own, where a part's result could not lie as the view does."""
    inside = {*part}
    for node in reversed(part):
        others = [user for user in node.users if user not in inside]
        if node.target not in VIEWS or not others or Form.of(hinted(node)).order is not None:
            continue
        with graph.graph.inserting_after(node):
            view = graph.graph.node_copy(node)
        for user in others:
            user.replace_input_with(node, view)
