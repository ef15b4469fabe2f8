"""Comparisons of integers by name: what `arith.cmpi` asks, and the same with the sides exchanged, or denied.

Comes in: an `arith.cmpi`. Goes out: the name of its predicate, such as "slt".
"""

from __future__ import annotations

from mlir import ir

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""By the numbers of `arith.cmpi`."""
NEGATED = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "ult": "uge", "uge": "ult",
    "ugt": "ule", "ule": "ugt",
}  # fmt: skip
"""What holds exactly where a predicate does not."""
MIRRORED = {
    "eq": "eq", "ne": "ne", "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle", "ult": "ugt", "ugt": "ult",
    "ule": "uge", "uge": "ule",
}  # fmt: skip
"""The same with left and right exchanged."""


def predicate_of(compare: ir.Operation) -> str:
    """The predicate of an `arith.cmpi`."""
    return PREDICATES[ir.IntegerAttr(compare.attributes["predicate"]).value]
