"""Where the results of parts go: into memory that nothing else looks at any more, where there is some.

Comes in: a graph in which parts are calls of modules, with its writes at the end. Goes out: for each part which of its
arguments it may write over, and which of its results are the new values of arguments of the graph, such as running
statistics; these are no longer copied. A result that takes the memory of the convolution before it needs no fresh
memory, each page of which the system would have to clear. Read next: `program`, which writes the text.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from pykern.torch.backend.framework import GraphModule, Node, Tensor, aten, prims
from pykern.torch.backend.ops import VIEWS
from pykern.torch.backend.ops.forms import SAME

MAKES_NEW_MEMORY = frozenset(
    (
        aten.convolution.default, aten.convolution_backward.default, aten.mm.default, aten.addmm.default,
        aten.bmm.default, aten.baddbmm.default, aten.embedding.default, aten.index.Tensor, aten.cat.default,
        aten._adaptive_avg_pool2d.default, aten.avg_pool2d.default, aten.max_pool2d_with_indices.default,
        aten.upsample_nearest2d.vec, aten.upsample_bilinear2d.vec,
    )
)  # fmt: skip
"""Operations of which it is known that no result shares memory with an argument or another result."""


@dataclass(frozen=True)
class Destinations:
    """What a part may write, beside memory of its own."""

    donated: tuple[int, ...] = ()
    """Arguments, by number, that nothing reads afterwards."""
    updated: tuple[tuple[int, int], ...] = ()
    """Results, and the arguments that they are the new values of."""


def destinations(graph: GraphModule, names: list[str]) -> dict[str, Destinations]:
    """Those of each part, by its name. Copies of results into arguments that a part updates itself are gone from the
    graph."""
    calls = {str(n.target): n for n in graph.graph.nodes if n.op == "call_module" and str(n.target) in names}
    found = {}
    for name, call in calls.items():
        part = graph.get_submodule(name)
        assert isinstance(part, GraphModule)
        updated = tuple(_updated(call, part))
        donated = tuple(n for n, node in enumerate(call.args) if _is_left(node, call, calls))
        found[name] = Destinations(donated, updated)
    graph.recompile()
    return found


def _is_left(node: Any, call: Node, calls: dict[str, Node]) -> bool:
    """Whether the memory of an argument belongs to nobody once the part has read it."""
    if not isinstance(node, Node) or [*node.users] != [call] or list(call.args).count(node) > 1:
        return False
    made_by = node.args[0] if node.target is operator.getitem else node
    return made_by.target in MAKES_NEW_MEMORY or made_by in calls.values()


def _updated(call: Node, part: GraphModule) -> list[tuple[int, int]]:
    """The results that are only copied into an argument that only the part reads."""
    inside = [n for n in part.graph.nodes if n.op == "placeholder"]
    [output] = [n for n in part.graph.nodes if n.op == "output"]
    given = {_looked_at(n) for n in output.args[0]}
    found = []
    for item in [n for n in call.users if n.target is operator.getitem]:
        place = item.args[1]
        [copy, *others] = item.users or (item,)
        if others or copy.target is not aten.copy_.default or copy.users or copy.args[1] is not item:
            continue
        argument = copy.args[0]
        if argument.op != "placeholder" or {*argument.users} != {call, copy}:
            continue
        number = list(call.args).index(argument)
        if inside[number] not in given and _lie_alike(output.args[0][place], inside[number]):
            found.append((place, number))
            call.graph.erase_node(copy)
    return found


def _looked_at(node: Node) -> Node:
    """The node whose elements another look, or a copy, has: in the text of a program they may be one array."""
    while node.target in VIEWS or node.target in SAME or node.target in _LOOKS:
        node = node.args[_LOOKS.get(node.target, 0)]
    return node


_LOOKS = {
    aten.copy.default: 1, aten.flip.default: 0, aten._to_copy.default: 0, prims.convert_element_type.default: 0,
}  # fmt: skip
"""Operations that a program may write as a look, or as nothing, and which argument that has."""


def _lie_alike(*nodes: Node) -> bool:
    """Whether values are of one type, of the same known lengths, and dense in the order of their axes."""
    values = [n.meta.get("val") for n in nodes]
    if not all(isinstance(v, Tensor) and all(isinstance(n, int) for n in v.shape) for v in values):
        return False
    return len({(v.shape, v.dtype) for v in values}) == 1 and all(v.is_contiguous() for v in values)
