"""Reductions: sums, means, extremes, where these lie, variances, norms."""

from __future__ import annotations

import math

from pykern.torch.backend.framework import Node, aten, torch
from pykern.torch.backend.writer import TYPES, NotTaken, Rule, Writer, argument, axes

_WIDENED = (torch.int32, torch.int16, torch.int8, torch.uint8)
"""Types whose sums and products are wider in array programs than PyTorch was asked for."""


def along(dims: tuple[int, ...], rank: int, keepdim: bool) -> str:
    """The arguments of a reduction over these axes."""
    axis = "None" if len(dims) == rank and not keepdim else repr(dims)
    return f"axis={axis}, keepdims={keepdim}"


def _arguments(w: Writer, node: Node, has_dims: bool) -> str:
    x = node.args[0]
    rank = len(w.shape(x))
    dims = axes(argument(node, 1, "dim"), rank) if has_dims else tuple(range(rank))
    if rank == 0:
        raise NotTaken("a reduction of one number")
    keepdim = bool(argument(node, 2, "keepdim", False)) if has_dims else False
    return along(dims, rank, keepdim)


def _reduction(name: str, has_dims: bool) -> Rule:
    def rule(w: Writer, node: Node) -> str:
        x = node.args[0]
        dtype = w.computed_in(node)
        made = f"pk.{name}({w.operand(x, dtype)}, {_arguments(w, node, has_dims)})"
        if dtype in _WIDENED:
            return f"{made}.astype(pk.{TYPES[dtype]})"
        return w.rounded(made, node)

    return rule


def _extreme(name: str, has_dims: bool) -> Rule:
    """Of the elements as they are: no type is wider."""

    def rule(w: Writer, node: Node) -> str:
        if w.dtype(node) == torch.bool:
            raise NotTaken("an order of bools")
        return f"pk.{name}({w.operand(node.args[0], w.dtype(node))}, {_arguments(w, node, has_dims)})"

    return rule


def _place(name: str) -> Rule:
    """Where the extreme lies: along an axis, or in the flattened tensor."""

    def rule(w: Writer, node: Node) -> str:
        x, dim = node.args[0], argument(node, 1, "dim")
        keepdim = bool(argument(node, 2, "keepdim", False))
        if w.dtype(x) == torch.bool or not w.shape(x):
            raise NotTaken("an order of bools, or of one number")
        if dim is None and keepdim:
            raise NotTaken("the place in a flattened tensor with its dimensions kept")
        axis = None if dim is None else dim % len(w.shape(x))
        return f"pk.{name}({w.name(x)}, axis={axis}, keepdims={keepdim})"

    return rule


def _extreme_and_place(name: str) -> Rule:
    def rule(w: Writer, node: Node) -> tuple[str, str]:
        x, dim = node.args[:2]
        keepdim = bool(argument(node, 2, "keepdim", False))
        if w.dtype(x) == torch.bool or not w.shape(x):
            raise NotTaken("an order of bools, or of one number")
        of = f"{w.name(x)}, axis={dim % len(w.shape(x))}, keepdims={keepdim}"
        return f"pk.{name}({of})", f"pk.arg{name}({of})"

    return rule


def _spread(w: Writer, node: Node) -> tuple[str, str]:
    """The variance along axes and the mean, in the type they are computed in."""
    x = node.args[0]
    first = w.value(node)
    made = first[0] if isinstance(first, tuple | list) else first
    dtype = torch.float64 if made.dtype == torch.float64 else torch.float32
    if not made.dtype.is_floating_point:
        raise NotTaken(f"a variance of {made.dtype}")
    rank = len(w.shape(x))
    dims = axes(argument(node, 1, "dim"), rank)
    correction = node.kwargs.get("correction", 1)
    correction = 1 if correction is None else correction
    count = math.prod(w.shape(x)[d] for d in dims)
    if not rank or correction != int(correction) or count <= correction:
        raise NotTaken("a variance of too few elements")
    keepdim = bool(node.kwargs.get("keepdim", False))
    given = w.operand(x, dtype)
    how = along(dims, rank, keepdim)
    return f"pk.var({given}, {how}, ddof={int(correction)})", f"pk.mean({given}, {how})"


def _variance(w: Writer, node: Node) -> str:
    return w.rounded(_spread(w, node)[0], node)


def _norm(w: Writer, node: Node) -> str:
    """A norm of vectors."""
    x, order = node.args[0], argument(node, 1, "ord", 2)
    rank = len(w.shape(x))
    dtype = w.computed_in(node)
    if order not in (1, 2, math.inf) or not rank or not w.dtype(x).is_floating_point:
        raise NotTaken(f"a norm of order {order}")
    how = along(axes(argument(node, 2, "dim"), rank), rank, bool(argument(node, 3, "keepdim", False)))
    given = w.let("x", w.operand(x, dtype))
    made = {
        1: f"pk.sum(pk.abs({given}), {how})",
        2: f"pk.sqrt(pk.sum({given} * {given}, {how}))",
        math.inf: f"pk.max(pk.abs({given}), {how})",
    }[order]
    return w.rounded(made, node)


RULES: dict[object, Rule] = {
    aten.sum.dim_IntList: _reduction("sum", True), aten.sum.default: _reduction("sum", False),
    aten.mean.dim: _reduction("mean", True), aten.mean.default: _reduction("mean", False),
    aten.prod.dim_int: _reduction("prod", True), aten.prod.default: _reduction("prod", False),
    aten.any.default: _reduction("any", False), aten.any.dim: _reduction("any", True),
    aten.any.dims: _reduction("any", True), aten.all.default: _reduction("all", False),
    aten.all.dim: _reduction("all", True), aten.all.dims: _reduction("all", True),
    aten.amax.default: _extreme("max", True), aten.amin.default: _extreme("min", True),
    aten.max.default: _extreme("max", False), aten.min.default: _extreme("min", False),
    aten.argmax.default: _place("argmax"), aten.argmin.default: _place("argmin"),
    aten.max.dim: _extreme_and_place("max"), aten.min.dim: _extreme_and_place("min"),
    aten.var.correction: _variance, aten.var_mean.correction: _spread,
    aten.linalg_vector_norm.default: _norm,
}  # fmt: skip
