"""Results that are memory of their own are no views to PyTorch, as they are none where nothing is compiled.

``torch.stack`` becomes a concatenation that is looked at in another form. What it gives would be a view that was made
without a gradient, in which the caller may change nothing. Comes in: a graph. Goes out: the same graph, in which a view
that is given to the caller, of memory that the caller has in no other way, is a tensor by itself.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from pykern.torch.backend.framework import GraphModule, Tensor, aten
from pykern.torch.backend.writes import memory_of


def give_own_results(graph: GraphModule) -> None:
    [output] = [node for node in graph.graph.nodes if node.op == "output"]
    given = output.all_input_nodes
    holders = Counter(memory_of(node) for node in given)
    for node in given:
        memory = memory_of(node)
        if memory is not node and memory.op not in ("placeholder", "get_attr") and holders[memory] == 1:
            with graph.graph.inserting_before(output):
                own = graph.graph.call_function(_own, (node,))
            output.replace_input_with(node, own)
    graph.recompile()


def _own(view: Any) -> Tensor:
    """The same elements, where they lie, as a tensor that is no view."""
    return aten._unsafe_view.default(view, view.shape)
