"""Writes into arguments: the only mutation that a graph of AOTAutograd has.

Comes in: a graph. Goes out: whether its order of operations means something; the same graph with its writes at the
end, with those operations in place whose results are an argument's new value, and with results that no write changes.
"""

from __future__ import annotations

from typing import Any

from pykern.torch.backend.framework import GraphModule, Node, aten
from pykern.torch.backend.ops import VIEWS


def writes_elsewhere(graph: GraphModule) -> bool:
    """Whether something is written but arguments at the end, so that the order of operations means something."""
    return any(_writes(n) and (n.target is not aten.copy_.default or n.users) for n in graph.graph.nodes)


def give_what_is_written(graph: GraphModule) -> None:
    """Let results that are a write give the argument that is written: it is the same tensor."""
    [output] = [n for n in graph.graph.nodes if n.op == "output"]
    for node in output.all_input_nodes:
        if node.target is aten.copy_.default:
            output.replace_input_with(node, node.args[0])
    graph.recompile()


def write_last(graph: GraphModule) -> None:
    """Put what writes into arguments behind everything that may read them."""
    [output] = [n for n in graph.graph.nodes if n.op == "output"]
    for node in [n for n in graph.graph.nodes if _writes(n)]:
        output.prepend(node)
    graph.graph.lint()
    graph.recompile()


def forget_what_is_overwritten(graph: GraphModule) -> None:
    """Replace copies into the form of another tensor by what is copied, where it has that form: the other tensor, an
    argument's part that becomes new, need not be read. A result stays memory of its own, and so does a copy of an
    argument that is written, perhaps before the copy is used."""
    written = _written(graph)
    for node in [n for n in graph.graph.nodes if n.target is aten.copy.default]:
        old, new = node.args[:2]
        if not isinstance(new, Node) or not _is_like(new, old) or memory_of(new) in written or is_given(node):
            continue
        if _lie_alike(new, old) or _is_put_elsewhere(node):
            node.replace_all_uses_with(new)
            graph.graph.erase_node(node)
            while not old.users and old.target in VIEWS:
                unused, old = old, old.args[0]
                graph.graph.erase_node(unused)
    graph.recompile()


def update_in_place(graph: GraphModule) -> None:
    """Compute an argument's new value where the argument lies, if nothing else reads the argument: one row of a cache
    is written, and the cache is not copied twice."""
    for copy in [n for n in graph.graph.nodes if n.target is aten.copy_.default]:
        argument, made = copy.args[:2]
        if argument.op != "placeholder" or not isinstance(made, Node) or made.op != "call_function":
            continue
        if {*argument.users} != {made, copy} or not _is_like(made, argument) or is_given(made):
            continue
        if len(made.users) > 1 and not _lie_alike(made, argument):
            continue
        if made.args[0] is argument and argument not in _inputs(made.args[1:]) and _write_there(made):
            copy.graph.erase_node(copy)
            made.replace_all_uses_with(argument)
            copy.graph.erase_node(made)
    graph.graph.lint()
    graph.recompile()


def _write_there(node: Node) -> bool:
    """Put what writes the first argument before an operation; whether there is such a thing."""
    graph = node.graph
    with graph.inserting_before(node):
        if node.target in _PARTS:
            whole, new, *place = node.args
            part = graph.call_function(_PARTS[node.target], (whole, *place), node.kwargs)
            graph.call_function(aten.copy_.default, (part, new))
            return True
        there = _in_place(node.target)
        if there is not None:
            graph.call_function(there, node.args, node.kwargs)
        return there is not None


def _in_place(op: Any) -> Any | None:
    """The operation that writes its result into its first argument; None for views, which would become other views."""
    schema = getattr(op, "_schema", None)
    if schema is None or op in VIEWS or any(r.alias_info is not None for r in schema.returns):
        return None
    packet = getattr(aten, f"{op.overloadpacket.__name__}_", None)
    if packet is None or op._overloadname not in packet.overloads():
        return None
    return getattr(packet, op._overloadname)


_PARTS = {
    aten.slice_scatter.default: aten.slice.Tensor,
    aten.select_scatter.default: aten.select.int,
}
"""A tensor with another part, and how the part is looked at."""


def _is_like(one: Node, other: Node) -> bool:
    """Whether values have one type and the same known lengths."""
    a, b = one.meta["val"], other.meta["val"]
    is_known = all(isinstance(n, int) for n in (*a.shape, *b.shape))
    return is_known and (a.shape, a.dtype, a.device) == (b.shape, b.dtype, b.device)


def _lie_alike(one: Node, other: Node) -> bool:
    """Whether values have the same strides, by which some operations find elements."""
    return one.meta["val"].stride() == other.meta["val"].stride()


def _is_put_elsewhere(node: Node) -> bool:
    """Whether a value is only written into parts of others, for which its own strides are no matter."""
    return all(user.target in _PARTS and user.args[0] is not node for user in node.users)


def is_given(node: Node) -> bool:
    """Whether a value, or a view of it, is a result of the graph."""
    return any(u.op == "output" or (u.target in VIEWS and is_given(u)) for u in node.users)


def _inputs(args: Any) -> set[Node]:
    """The nodes in arguments, which may be lists."""
    found: set[Node] = set()
    for each in args:
        found |= (
            {each} if isinstance(each, Node) else _inputs(each) if isinstance(each, list | tuple) else set()
        )
    return found


def keep_what_is_saved(graph: GraphModule) -> None:
    """Copy the results of a forward graph that lie in arguments which it writes.

    A backward graph may compute a value again from an argument; it has to find what the argument was.
    """
    written = _written(graph)
    [output] = [n for n in graph.graph.nodes if n.op == "output"]
    last_argument = [n for n in graph.graph.nodes if n.op == "placeholder"][-1:]
    for node in output.all_input_nodes:
        if memory_of(node) in written:
            [place] = last_argument if node.op == "placeholder" else [node]
            with graph.graph.inserting_after(place):
                copied = graph.graph.call_function(aten.clone.default, (node,))
            copied.meta = dict(node.meta)
            output.replace_input_with(node, copied)
    graph.recompile()


def _written(graph: GraphModule) -> set[Any]:
    """The arguments that are written."""
    return {n.args[0] for n in graph.graph.nodes if n.target is aten.copy_.default}


def memory_of(node: Node) -> Node:
    """The node whose memory a view looks at."""
    while node.target in VIEWS:
        node = node.args[0]
    return node


def _writes(node: Node) -> bool:
    return node.op == "call_function" and bool(
        getattr(getattr(node.target, "_schema", None), "is_mutable", False)
    )
