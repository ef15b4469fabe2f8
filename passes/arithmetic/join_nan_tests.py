"""One test for NaN serves a whole tree of minima and maxima, in place of one test for each of them.

Comes in: `arith.maximumf` and `arith.minimumf`, which return NaN where an operand is NaN. Goes out: the same ops with
the flag `nnan` (no test), one test whether any leaf of the tree is NaN, and a select for each result. For
``min(max(a, b), c)``:

    before                          after
    %m = arith.maximumf %a, %b      %m = arith.maximumf %a, %b fastmath<nnan,nsz>
    %r = arith.minimumf %m, %c      %n = arith.minimumf %m, %c fastmath<nnan,nsz>
                                    %r = select(a, b and c are ordered, %n, NaN)

Why: on x86, a minimum or maximum is one instruction, and two more are needed for NaN. A median of nine by a sorting
network has 36 pairs of minima and maxima, but only nine leaves. Read next: `call_extremes`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes.analysis.cost_model.code_size import TESTED_TOGETHER
from pykern.passes.analysis.cost_model.operations import TESTS_OF_EXTREME
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import arguments_behind, defining, made_by
from pykern.passes.kernels import identity, named

EXTREMES = ("arith.maximumf", "arith.minimumf")
_OF_INTEGERS = ("arith.sitofp", "arith.uitofp")
_LOOPS = ("scf.for", "scf.while")
_WITHOUT_NAN = "#arith.fastmath<nnan,nsz>"

Leaves = dict[ir.Value, None]
"""Values that may be NaN, in the order in which they are met."""


@dataclass(frozen=True)
class JoinNanTests(Pass):
    """Test the leaves of a tree of minima and maxima for NaN, two of them by one comparison, instead of every node.

    In:  arith.maximumf and arith.minimumf of scalars or vectors.
    Out: the same ops with `nnan`, and a select for each result that other ops use: NaN, unless all leaves below it are
         ordered. This is done for trees within one block where it makes fewer tests. A value that depends on the
         previous iteration of a loop stays as it is, because the select would lengthen the chain from one iteration to
         the next.
    """

    name: ClassVar[str] = "kern-join-nan-tests"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = EXTREMES

    def run(self, module: ir.Module) -> bool:
        changed, done = False, set[int]()
        extremes = named(module.operation, *EXTREMES)
        places = {identity(op): place for place, op in enumerate(extremes)}
        for op in extremes:
            if identity(op) not in done:
                group = _connected(op)
                done |= set(group)
                if len(group) > 1:
                    changed |= _join([group[one] for one in sorted(group, key=places.__getitem__)])
        return changed


def _connected(first: ir.Operation) -> dict[int, ir.Operation]:
    """The minima and maxima of one block that are connected with an op: results of some are operands of others."""
    found, waiting = {identity(first): first}, [first]
    while waiting:
        op = waiting.pop()
        near = [maker for value in op.operands if (maker := made_by(value, *EXTREMES)) is not None]
        near += [use.owner.operation for use in op.results[0].uses]
        for each in near:
            if each.name in EXTREMES and each.block == first.block and identity(each) not in found:
                found[identity(each)] = each
                waiting.append(each)
    return found


def _join(group: list[ir.Operation]) -> bool:
    """Replace the tests of a group, given in the order of the block, by common ones where these are fewer."""
    behind: dict[ir.Value, Leaves] = {}
    tests = 0
    for op in group:
        sides = [behind[v] if v in behind else _leaf(v) for v in op.operands]
        behind[op.results[0]] = {**sides[0], **sides[1]}
        tests += all(sides)
        if len(behind[op.results[0]]) > TESTED_TOGETHER:
            return False
    inside = set(map(identity, group))
    read = [op.results[0] for op in group if _readers(op.results[0], inside)]
    sets = {frozenset(behind[value]): behind[value] for value in read}
    joined = sum((len(leaves) + 1) // 2 for leaves in sets.values())
    if joined + len(read) >= TESTS_OF_EXTREME * tests or _waits(group[0], sets.values()):
        return False
    ordered: dict[frozenset[ir.Value], ir.Value] = {}
    for op in group:
        op.attributes["fastmath"] = ir.Attribute.parse(_WITHOUT_NAN)
    for value in read:
        readers, op = _readers(value, inside), value.owner.operation
        with ir.InsertionPoint.after(op), op.location:
            key = frozenset(behind[value])
            if key not in ordered:
                ordered[key] = _all_ordered(list(behind[value]))
            nan = constant(value.type, math.nan)
            chosen = arith.SelectOp(ordered[key], value, nan).result
        for use in readers:
            use.owner.operation.operands[use.operand_number] = chosen
    return True


def _readers(value: ir.Value, inside: set[int]) -> list[ir.OpOperand]:
    return [use for use in value.uses if identity(use.owner.operation) not in inside]


def _all_ordered(leaves: list[ir.Value]) -> ir.Value:
    """Whether none of the values is NaN."""
    pairs = zip(leaves[::2], [*leaves[1::2], *leaves[-1:]], strict=False)
    first, *others = [arith.CmpFOp(arith.CmpFPredicate.ORD, one, other).result for one, other in pairs]
    for test in others:
        first = arith.AndIOp(first, test).result
    return first


def _leaf(value: ir.Value) -> Leaves:
    return {} if _is_never_nan(value) else {value: None}


def _is_never_nan(value: ir.Value) -> bool:
    maker = defining(value)
    if maker is not None and maker.name == "vector.broadcast":
        return _is_never_nan(maker.operands[0])
    if maker is None or maker.name != "arith.constant":
        return maker is not None and maker.name in _OF_INTEGERS
    return not any(math.isnan(one) for one in _numbers(maker.attributes["value"]))


def _numbers(attribute: ir.Attribute) -> Iterable[float]:
    if isinstance(attribute, ir.FloatAttr):
        return [attribute.value]
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        return _numbers(attribute.get_splat_value())
    return [math.nan]  # which nobody has to know


def _waits(op: ir.Operation, sets: Iterable[Leaves]) -> bool:
    """Whether one of the values comes from the previous iteration."""
    carried: set[ir.Value] = set()
    while op.parent is not None and op.parent.name != "func.func":
        op = op.parent.operation
        if op.name in _LOOPS:
            arguments = list(op.regions[0].blocks[0].arguments)
            carried |= {a for a in arguments if not isinstance(a.type, ir.IndexType)}
    return bool(carried) and any(carried & arguments_behind(leaf) for leaves in sets for leaf in leaves)
