"""Which parts of a graph become array programs, and the graph in which they have.

Comes in: a graph of ATen operations without mutation. Goes out: the graph with one call for each part; the rest
stays as it is. PyTorch's partitioner proposes parts that make no cycle; this says which of them pay:

- Views at a part's end stay in PyTorch, where they cost nothing, and no memory is written twice.
- A part has at least two operations that compute, or one that goes over its elements more than once (a norm, a
  softmax, pooling), or one function or reduction of a large tensor. Another operation alone costs a call either way,
  and PyTorch's own is as fast; so is its product of matrices.
"""

from __future__ import annotations

import math

from pykern.torch.backend.framework import (
    CapabilityBasedPartitioner,
    GraphModule,
    Node,
    Partition,
    Tensor,
    fuse_by_partitions,
)
from pykern.torch.backend.ops import COMPOSITE, FREE, LONG, VIEWS
from pykern.torch.backend.support import Support, hinted
from pykern.torch.backend.writes import write_last

PREFIX = "pykern_"
LEAST = 2
"""Operations that compute, from which on a part is a program."""
LARGE = 1 << 18
"""Elements of a tensor from which on a single function or reduction is one."""


def partitioned(graph: GraphModule, support: Support) -> tuple[GraphModule, list[str]]:
    """The graph with its parts as submodules, and their names."""
    partitioner = CapabilityBasedPartitioner(graph, support, allows_single_node_partition=True)
    parts = [
        part for part in map(_without_last_views, partitioner.propose_partitions()) if _is_profitable(part)
    ]
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


def _is_profitable(part: list[Node]) -> bool:
    computing = [node for node in part if node.target not in FREE]
    if len(computing) != 1:
        return len(computing) >= LEAST
    [only] = computing
    if LEAST <= 1 or only.target in COMPOSITE:
        return True
    return only.target in LONG and max(map(_elements, (only, *only.all_input_nodes))) >= LARGE


def _elements(node: Node) -> int:
    value = hinted(node)
    tensors = value if isinstance(value, list) else [value]
    return max(math.prod(t.shape) if isinstance(t, Tensor) else 0 for t in tensors)
