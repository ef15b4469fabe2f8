"""The same elements in another form, parts of tensors, tensors put together, and new ones."""

from __future__ import annotations

from pykern.torch.backend.framework import Node, aten, prims
from pykern.torch.backend.writer import TYPES, NotTaken, Rule, Writer, argument, number

RESHAPES = (
    aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.unsqueeze.default,
    aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims, aten._reshape_alias.default,
)  # fmt: skip
PERMUTATIONS = (aten.permute.default, aten.t.default, aten.transpose.int)
SAME = (aten.clone.default, aten.alias.default, aten.detach.default, aten.lift_fresh_copy.default)
PARTS = (aten.slice.Tensor, aten.select.int)
NEW = frozenset(
    (
        aten.full.default,
        aten.full_like.default,
        aten.scalar_tensor.default,
        aten.arange.start_step,
        prims.iota.default,
    )
)
VIEWS = frozenset(
    (*RESHAPES, *PERMUTATIONS, *PARTS, aten.alias.default, aten.detach.default, aten.expand.default)
)
"""Operations that cost PyTorch nothing: what they give is another look at the same memory."""


def _same(w: Writer, node: Node) -> str:
    return w.name(node.args[0])


def _reshaped(w: Writer, node: Node) -> str:
    return f"pk.reshape({w.name(node.args[0])}, {w.shape(node)!r})"


def _permuted(w: Writer, node: Node) -> str:
    x = node.args[0]
    rank = len(w.shape(x))
    order = list(range(rank))
    if node.target is aten.permute.default:
        order = [d % rank for d in node.args[1]]
    elif rank >= 2:
        a, b = (0, 1) if node.target is aten.t.default else (d % rank for d in node.args[1:3])
        order[a], order[b] = order[b], order[a]
    return f"pk.transpose({w.name(x)}, {tuple(order)!r})" if order != sorted(order) else w.name(x)


def _expanded(w: Writer, node: Node) -> str:
    return f"pk.broadcast_to({w.name(node.args[0])}, {w.shape(node)!r})"


def _sliced(w: Writer, node: Node) -> str:
    x, dim = node.args[0], argument(node, 1, "dim", 0) % len(w.shape(node))
    bounds = [argument(node, place, name) for place, name in ((2, "start"), (3, "end"), (4, "step"))]
    if any(isinstance(b, Node) for b in bounds):
        raise NotTaken("a slice with bounds of run time")
    start, stop, step = slice(*bounds).indices(w.shape(x)[dim])
    return f"{w.name(x)}[{':, ' * dim}{start}:{stop}:{step}]"


def _selected(w: Writer, node: Node) -> str:
    x, dim, index = node.args
    if isinstance(index, Node):
        raise NotTaken("an index of run time")
    rank = len(w.shape(x))
    return f"{w.name(x)}[{':, ' * (dim % rank)}{index % w.shape(x)[dim]}]"


def _flipped(w: Writer, node: Node) -> str:
    x, dims = node.args
    rank = len(w.shape(x))
    return f"pk.flip({w.name(x)}, axis={tuple(d % rank for d in dims)!r})" if dims and rank else w.name(x)


def _concatenated(w: Writer, node: Node) -> str:
    tensors, dim = node.args[0], argument(node, 1, "dim", 0)
    if len({len(w.shape(x)) for x in tensors}) > 1:
        raise NotTaken("tensors of several ranks put together")
    parts = ", ".join(w.operand(x, w.dtype(node)) for x in tensors)
    return f"pk.concatenate(({parts},), axis={dim % len(w.shape(node))})"


def _padded(w: Writer, node: Node) -> str:
    x, pads = node.args[:2]
    value = argument(node, 2, "value", 0)
    if value != 0 or any(not isinstance(p, int) or p < 0 for p in pads):
        raise NotTaken("padding with other numbers than zero, or by less than nothing")
    rank = len(w.shape(x))
    pairs = [(pads[2 * n], pads[2 * n + 1]) for n in range(len(pads) // 2)]
    widths = [(0, 0)] * (rank - len(pairs)) + pairs[::-1]
    return f"pk.pad({w.name(x)}, {tuple(widths)!r})"


def _full(place: int) -> Rule:
    """A tensor of one number, which is argument number `place`."""

    def rule(w: Writer, node: Node) -> str:
        value = node.args[place]
        if not isinstance(value, bool | int | float):
            raise NotTaken("a tensor of a number of run time")
        dtype = w.dtype(node)
        _check(w, node)
        return f"pk.full({w.shape(node)!r}, {number(value, dtype)}, dtype=pk.{TYPES[dtype]})"

    return rule


def _counted(w: Writer, node: Node) -> str:
    """0, 1, 2 ..., or with a start and a step."""
    _check(w, node)
    if node.target is prims.iota.default:
        start, step, count = node.kwargs["start"], node.kwargs["step"], node.args[0]
    else:
        start, stop, step = (*node.args, 1)[:3]
        if not all(isinstance(n, int) for n in (start, stop, step)):
            raise NotTaken("a range of floats")
        count = w.shape(node)[0]
    if not all(isinstance(n, int) for n in (start, step, count)):
        raise NotTaken("a range with bounds of run time")
    dtype = TYPES[w.dtype(node)]
    return f"pk.arange({start}, {start + step * count}, {step}, dtype=pk.{dtype})"


def _check(w: Writer, node: Node) -> None:
    if w.dtype(node) not in TYPES:
        raise NotTaken(f"{w.dtype(node)} is no type of array programs")


RULES: dict[object, Rule] = {
    **dict.fromkeys(RESHAPES, _reshaped), **dict.fromkeys(PERMUTATIONS, _permuted), **dict.fromkeys(SAME, _same),
    aten.expand.default: _expanded, aten.slice.Tensor: _sliced, aten.select.int: _selected,
    aten.flip.default: _flipped, aten.cat.default: _concatenated, aten.constant_pad_nd.default: _padded,
    aten.full.default: _full(1), aten.full_like.default: _full(1), aten.scalar_tensor.default: _full(0),
    aten.arange.start_step: _counted, prims.iota.default: _counted,
}  # fmt: skip
