"""Which dimensions of a program's arguments and results may be cut among devices: a rule as JAX writes it.

Comes in: a program on tensors, kernels raised. Goes out: a letter for each dimension of arguments and results; those of
one letter are cut alike. A dimension may be cut where every operation does the same for each of its places: the maps
of linalg tell. One that is summed, read in windows or counted has a letter that is never cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from pykern.passes.ir.structured import (
    Structured,
    dimensions_in,
    is_fill,
    loop_lengths,
    reduction_loops,
)
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body

LETTERS = "ijklmnopqrstuvwxyzabcdefgh"
Node = tuple[object, int]


@dataclass(frozen=True)
class Rule:
    """``i j, j -> i j``; of the letters in `whole` no dimension is cut."""

    text: str
    whole: tuple[str, ...]


class _Dimensions:
    """Sets of dimensions that are cut alike."""

    def __init__(self) -> None:
        self.above: dict[Node, Node] = {}
        self.whole: set[Node] = set()

    def root(self, node: Node) -> Node:
        while (above := self.above.get(node, node)) != node:
            node = above
        return node

    def tie(self, a: Node, b: Node) -> None:
        a, b = self.root(a), self.root(b)
        if a != b:
            self.above[a] = b
            if a in self.whole:
                self.whole.add(b)

    def keep(self, node: Node) -> None:
        self.whole.add(self.root(node))


def sharding_rule(program: ir.Operation) -> Rule | None:
    """The rule of a program; None where there are more dimensions than letters."""
    block = body(program)
    found = _Dimensions()
    _walk(found, block)
    end = block.operations[len(block.operations) - 1].operation
    roots: dict[Node, str] = {}
    for value in (*block.arguments, *end.operands):
        for d in range(_rank(value)):
            root = found.root((value, d))
            if root not in roots and len(roots) == len(LETTERS):
                return None
            roots.setdefault(root, LETTERS[len(roots) % len(LETTERS)])
    listed = [
        ", ".join(" ".join(roots[found.root((v, d))] for d in range(_rank(v))) for v in values)
        for values in (block.arguments, end.operands)
    ]
    whole = tuple(letter for root, letter in roots.items() if root in found.whole)
    return Rule(" -> ".join(listed), whole)


def _rank(value: ir.Value) -> int:
    return ir.ShapedType(value.type).rank if isinstance(value.type, ir.ShapedType) else 0


def _shape(value: ir.Value) -> list[int]:
    return list(ir.ShapedType(value.type).shape)


def _walk(found: _Dimensions, block: ir.Block) -> None:
    for op in (each.operation for each in block.operations):
        if op.name in ("linalg.generic", "linalg.fill"):
            _structured(found, op)
        elif op.name in ("tensor.extract_slice", "tensor.insert_slice"):
            _part(found, op)
        elif op.name in ("tensor.expand_shape", "tensor.collapse_shape"):
            _reshaped(found, op)
        elif op.name.startswith(("arith.", "math.")) or op.name == "tensor.cast":
            for value in op.operands:
                if _rank(value):
                    _alike(found, value, op.results[0])
        elif op.name not in ("tensor.empty", "func.return"):
            for value in (*op.operands, *op.results):
                _keep(found, value)
            for region in op.regions:
                for inner in region.blocks:
                    for value in (v for each in inner.operations for v in each.operation.operands):
                        _keep(found, value)


def _alike(found: _Dimensions, a: ir.Value, b: ir.Value) -> None:
    for d in range(_rank(a)):
        found.tie((a, d), (b, d))


def _is_constant(value: ir.Value) -> bool:
    """Whether all elements are the same, whatever is computed: ops that share such an array need not be cut alike."""
    if made_by(value, "tensor.empty", "linalg.fill") is not None:
        return True
    op = made_by(value, "linalg.generic")
    return op is not None and is_fill(op)


def _keep(found: _Dimensions, value: ir.Value) -> None:
    for d in range(_rank(value)):
        found.keep((value, d))


def _structured(found: _Dimensions, op: ir.Operation) -> None:
    view, lengths = Structured(op), loop_lengths(op)
    count = len(view.operands) - len(op.results)
    named = [None if _is_constant(v) else v for v in view.operands[:count]] + list(op.results)
    for value, one in zip(named, view.maps, strict=True):
        if value is None or not _rank(value):
            continue
        for d, (index, length) in enumerate(zip(one.results, _shape(value), strict=True)):
            if isinstance(index, ir.AffineDimExpr) and length == lengths[index.position]:
                found.tie((value, d), (op, index.position))
                continue
            found.keep((value, d))
            for loop in dimensions_in(index):
                found.keep((op, loop))
    if op.name == "linalg.generic":
        for loop, reduced in enumerate(reduction_loops(op)):
            if reduced:
                found.keep((op, loop))
    for each in view.ops:
        if each.name == "linalg.index":
            found.keep((op, ir.IntegerAttr(each.attributes["dim"]).value))
        elif each.name == "tensor.extract":
            _keep(found, each.operands[0])
    for value, result in zip(view.outputs, op.results, strict=True):
        if not _is_constant(value):
            _alike(found, value, result)


def _part(found: _Dimensions, op: ir.Operation) -> None:
    """A part: whole dimensions are as in the whole array."""
    small, large = op.results[0], op.operands[0]
    if op.name == "tensor.insert_slice":
        small, large = op.operands[0], op.results[0]
        if not _is_constant(op.operands[1]):
            _alike(found, op.operands[1], large)
    if _rank(small) != _rank(large):
        _keep(found, small)
        _keep(found, large)
        return
    for d, (a, b) in enumerate(zip(_shape(small), _shape(large), strict=True)):
        if a == b:
            found.tie((small, d), (large, d))
        else:
            found.keep((small, d))
            found.keep((large, d))


def _reshaped(found: _Dimensions, op: ir.Operation) -> None:
    """A group of dimensions that are one: the same where all others are 1."""
    small, large = op.results[0], op.operands[0]
    if op.name == "tensor.expand_shape":
        small, large = large, small
    groups: Sequence[Sequence[int]] = [
        [int(n) for n in ir.ArrayAttr(g)] for g in ir.ArrayAttr(op.attributes["reassociation"])
    ]
    for d, group in enumerate(groups):
        long = [e for e in group if _shape(large)[e] != 1]
        if len(long) == 1:
            found.tie((small, d), (large, long[0]))
            continue
        found.keep((small, d))
        for e in group:
            found.keep((large, e))
