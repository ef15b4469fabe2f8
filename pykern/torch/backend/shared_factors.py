"""Products of few rows with one factor in common, such as a layer's weights in the time steps of an unrolled loop.

Comes in: a graph of ATen operations without mutation. Goes out: the same graph, in which products that do not depend on
each other are one product of all their rows, and each user has its rows of it: the factor is read once, and less has to
be compiled. `costs` says what pays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from pykern.torch.backend.costs import is_worth_joining
from pykern.torch.backend.framework import GraphModule, Node, Tensor, aten, torch
from pykern.torch.backend.ops import VIEWS
from pykern.torch.backend.writes import is_given

PRODUCTS = {aten.mm.default: 0, aten.addmm.default: 1}
"""Where the left factor stands among the arguments."""


def join_products(graph: GraphModule) -> None:
    """Join what can be joined."""
    by_factor: dict[Hashable, list[Node]] = {}
    for node in graph.graph.nodes:
        if node.target in PRODUCTS and _is_joinable(node):
            by_factor.setdefault(_key(node), []).append(node)
    for products in by_factor.values():
        if is_worth_joining(products):
            for independent in _independent(graph.graph.nodes, products):
                if is_worth_joining(independent) and not _keeps_order(graph.graph.nodes, independent):
                    _join(graph, independent)
    graph.graph.lint()
    graph.recompile()


def _is_joinable(node: Node) -> bool:
    """Whether lengths are known, a bias is the same for all rows, and no result is given to the caller: results are
    memory of their own."""
    values = [each.meta["val"] for each in node.all_input_nodes]
    is_known = all(isinstance(n, int) for v in values for n in (*v.shape, *v.stride()))
    has_row = node.target is aten.mm.default or node.args[0].meta["val"].dim() == 1
    return is_known and has_row and not node.kwargs and not is_given(node)


def _key(node: Node) -> Hashable:
    """Equal for products whose arguments are the same, but for the left factor."""
    place = PRODUCTS[node.target]
    others = [_same(each) for n, each in enumerate(node.args) if n != place]
    return (node.target, node.args[place].meta["val"].shape[1], *others)


def _same(value: Any) -> Hashable:
    """Equal for values that are the same: views of one tensor are, where they are made alike."""
    if not isinstance(value, Node):
        return repr(value)
    if value.target in VIEWS and value.all_input_nodes == [value.args[0]]:
        return value.target, _same(value.args[0]), repr(value.args[1:]), repr(value.kwargs)
    return value


def _independent(nodes: Iterable[Node], products: Sequence[Node]) -> list[list[Node]]:
    """The products in groups, none of which depends on another one of its group: those behind as many others."""
    chosen, behind = {*products}, dict[Node, int]()
    groups: dict[int, list[Node]] = {}
    for node in nodes:
        count = max((behind[each] for each in node.all_input_nodes), default=0)
        if node in chosen:
            groups.setdefault(count, []).append(node)
            count += 1
        behind[node] = count
    return list(groups.values())


def _between(nodes: Iterable[Node], products: Sequence[Node]) -> list[Node]:
    """From the first of the products to the last one."""
    order = list(nodes)
    return order[order.index(products[0]) : order.index(products[-1]) + 1]


def _keeps_order(nodes: Iterable[Node], products: Sequence[Node]) -> bool:
    """Whether something stands between them that writes, or gives random numbers, or that is not known."""
    for node in _between(nodes, products):
        if node.op not in ("call_function", "get_attr", "placeholder"):
            return True
        if node.op == "call_function" and node.target not in PRODUCTS and not _is_pure(node.target):
            return True
    return False


def _is_pure(target: Any) -> bool:
    if not isinstance(target, torch._ops.OpOverload):
        return target.__module__ == "_operator"
    return not target._schema.is_mutable and torch.Tag.nondeterministic_seeded not in target.tags


def _join(graph: GraphModule, products: list[Node]) -> None:
    """Compute the rows of all of them at the last one's place; what depends on one of them comes behind it."""
    last, place = products[-1], PRODUCTS[products[0].target]
    late, waiting = {*products}, []
    for node in _between(graph.graph.nodes, products):
        if node not in late and not late.isdisjoint(node.all_input_nodes):
            late.add(node)
            waiting.append(node)
    rows = [node.args[place].meta["val"].shape[0] for node in products]
    with graph.graph.inserting_before(last):
        left = _call(graph, aten.cat.default, [node.args[place] for node in products])
        arguments = [left if n == place else each for n, each in enumerate(last.args)]
        joined = _call(graph, last.target, *arguments)
        starts = [sum(rows[:n]) for n in range(len(rows))]
        own = [
            _call(graph, aten.slice.Tensor, joined, 0, start, start + count)
            for start, count in zip(starts, rows, strict=True)
        ]
    anchor = last
    for node in waiting:
        anchor.append(node)
        anchor = node
    for node, part in zip(products, own, strict=True):
        node.replace_all_uses_with(part)
        graph.graph.erase_node(node)
    _put_together(graph, joined, own)


def _put_together(graph: GraphModule, joined: Node, own: list[Node]) -> None:
    """Where all parts are only put one behind the other or stacked, in order, nothing has to be copied for that."""
    users = [[*part.users] for part in own]
    if all(len(each) == 1 for each in users) and users[0][0].target is aten.unsqueeze.default:
        stacked = [each for [each] in users]
        axis = stacked[0].args[1]
        if _only_user(stacked, axis) is not None and axis in (0, 1):
            _stack(graph, joined, _only_user(stacked, axis), len(own), axis)
    elif (user := _only_user(own, 0)) is not None:
        user.replace_all_uses_with(joined)
        graph.graph.erase_node(user)
    for node in [*(each for some in users for each in some), *own]:
        if node.target in VIEWS and not node._erased and not node.users:
            graph.graph.erase_node(node)


def _only_user(parts: list[Node], axis: Any) -> Node | None:
    """What puts these parts together along an axis, in order, if nothing else uses any of them."""
    users = list({user: None for part in parts for user in part.users})
    if len(users) != 1 or users[0].target is not aten.cat.default or users[0].args[0] != parts:
        return None
    [first] = users
    alike = all(part.target is parts[0].target and part.args[1:] == parts[0].args[1:] for part in parts)
    is_stack = parts[0].target is aten.unsqueeze.default
    return (
        first if (first.args[1] if len(first.args) > 1 else 0) == axis and (alike or not is_stack) else None
    )


def _stack(graph: GraphModule, joined: Node, user: Node, count: int, axis: int) -> None:
    """Let a product's rows be the result of a stack. It is no view to PyTorch: the caller may get it."""
    rows, columns = joined.meta["val"].shape
    with graph.graph.inserting_before(user):
        made = _call(graph, aten._unsafe_view.default, joined, [count, rows // count, columns])
        if axis == 1:
            made = _call(graph, aten.permute.default, made, [1, 0, 2])
            made = _call(graph, aten.clone.default, made, memory_format=torch.contiguous_format)
    user.replace_all_uses_with(made)
    graph.graph.erase_node(user)


def _call(graph: GraphModule, target: Callable[..., Any], *args: Any, **options: Any) -> Node:
    """A call in the graph, whose value is known as those of the other nodes are."""
    node = graph.graph.call_function(target, args, options)
    node.meta["val"] = target(*torch.fx.node.map_arg(args, lambda n: n.meta["val"]), **options)
    assert isinstance(node.meta["val"], Tensor)
    return node
