"""Writes into arguments: the only mutation that a graph of AOTAutograd has.

Comes in: a graph. Goes out: whether its order of operations means something; the same graph with its writes at the
end, and with results that no write changes.
"""

from __future__ import annotations

from pykern.torch.backend.framework import GraphModule, Node, aten
from pykern.torch.backend.ops import VIEWS


def writes_elsewhere(graph: GraphModule) -> bool:
    """Whether something is written but arguments at the end, so that the order of operations means something."""
    return any(_writes(n) and (n.target is not aten.copy_.default or n.users) for n in graph.graph.nodes)


def write_last(graph: GraphModule) -> None:
    """Put what writes into arguments behind everything that may read them."""
    [output] = [n for n in graph.graph.nodes if n.op == "output"]
    for node in [n for n in graph.graph.nodes if _writes(n)]:
        output.prepend(node)
    graph.graph.lint()
    graph.recompile()


def keep_what_is_saved(graph: GraphModule) -> None:
    """Copy the results of a forward graph that lie in arguments which it writes.

    A backward graph may compute a value again from an argument; it has to find what the argument was.
    """
    written = {n.args[0] for n in graph.graph.nodes if n.target is aten.copy_.default}
    [output] = [n for n in graph.graph.nodes if n.op == "output"]
    last_argument = [n for n in graph.graph.nodes if n.op == "placeholder"][-1:]
    for node in output.all_input_nodes:
        if _memory_of(node) in written:
            [place] = last_argument if node.op == "placeholder" else [node]
            with graph.graph.inserting_after(place):
                copied = graph.graph.call_function(aten.clone.default, (node,))
            copied.meta = dict(node.meta)
            output.replace_input_with(node, copied)
    graph.recompile()


def _memory_of(node: Node) -> Node:
    """The node whose memory a view looks at."""
    while node.target in VIEWS:
        node = node.args[0]
    return node


def _writes(node: Node) -> bool:
    return node.op == "call_function" and bool(
        getattr(getattr(node.target, "_schema", None), "is_mutable", False)
    )
