"""Contractions that linalg has names for."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import linalg

from pykern.passes.raise_to_linalg.bodies import IndexedTensor
from pykern.passes.raise_to_linalg.expressions import Apply, Expression
from pykern.passes.raise_to_linalg.forms import Dim

_PRODUCTS = {"arith.addf": "arith.mulf", "arith.addi": "arith.muli"}
_NAMED = {
    ("m k", "k n", "m n"): linalg.matmul,
    ("b m k", "b k n", "b m n"): linalg.batch_matmul,
    ("m k", "k", "m"): linalg.matvec,
    ("k", "k n", "n"): linalg.vecmat,
    ("k", "k", ""): linalg.dot,
    ("m+k", "k", "m"): linalg.conv_1d,
    ("m+k n+l", "k l", "m n"): linalg.conv_2d,
}


def named_op(
    combine: str | None, value: Expression, inputs: dict[Expression, IndexedTensor], out: IndexedTensor
) -> ir.Value | None:
    """The product of two operands, collected over a dimension, under its name; None where it has none."""
    if combine not in _PRODUCTS or not isinstance(value, Apply) or value.name != _PRODUCTS[combine]:
        return None
    if len(inputs) != 2 or set(value.operands) != set(inputs):
        return None
    left, right = (inputs[operand] for operand in value.operands)
    for one, other in ((left, right), (right, left)):
        for pattern, op in _NAMED.items():
            if _fits(pattern, [one, other, out]):
                return op(one.tensor, other.tensor, outs=[out.tensor])
    return None


def _fits(pattern: tuple[str, ...], operands: list[IndexedTensor]) -> bool:
    """Whether the operands are indexed as the pattern's letters are, one letter a dimension."""
    letters: dict[str, Dim] = {}
    for text, operand in zip(pattern, operands, strict=True):
        axes = [axis.split("+") for axis in text.split()]
        if len(axes) != len(operand.maps):
            return False
        for names, terms in zip(axes, operand.maps, strict=True):
            if len(names) != len(terms) or any(factor != 1 for _, factor in terms):
                return False
            if len(names) == 1 and letters.setdefault(names[0], terms[0][0]) is not terms[0][0]:
                return False
    for text, operand in zip(pattern, operands, strict=True):  # sums: their letters are known by now
        for axis, terms in zip(text.split(), operand.maps, strict=True):
            if {letters.get(name) for name in axis.split("+")} != {dim for dim, _ in terms}:
                return False
    return len(set(letters.values())) == len(letters)
