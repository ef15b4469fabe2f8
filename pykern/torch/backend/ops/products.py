"""Products of matrices."""

from __future__ import annotations

from pykern.torch.backend.framework import Node, aten, torch
from pykern.torch.backend.writer import NotTaken, Rule, Writer, number


def _product(w: Writer, node: Node) -> str:
    a, b = node.args
    _check(w, node)
    return f"{w.name(a)} @ {w.name(b)}"


def _sum_and_product(w: Writer, node: Node) -> str:
    """``beta * c + alpha * a @ b``."""
    c, a, b = node.args
    _check(w, node)
    dtype = w.dtype(node)
    alpha, beta = node.kwargs.get("alpha", 1), node.kwargs.get("beta", 1)
    product = f"{w.name(a)} @ {w.name(b)}"
    product = product if alpha == 1 else f"({product}) * {number(alpha, dtype)}"
    if beta == 0:
        return product
    added = w.name(c) if beta == 1 else f"{w.name(c)} * {number(beta, dtype)}"
    return f"{product} + {added}"


def _check(w: Writer, node: Node) -> None:
    if w.dtype(node) not in (torch.float32, torch.float64):
        raise NotTaken(f"products of {w.dtype(node)}")


RULES: dict[object, Rule] = {
    aten.mm.default: _product, aten.bmm.default: _product, aten.addmm.default: _sum_and_product,
}  # fmt: skip
