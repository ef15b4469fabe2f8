"""Lengths of rows that a branch chose: what they are behind the branch, and which of them a launch is checked for.

Comes in: the lengths of both rows, computed where the branch took them. Goes out: one number, chosen as the rows are. A
launch is checked for both where memory decides the branch, for the one that is chosen where the launch does.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from pykern.dialect import index_space
from pykern.frontend import mathematics
from pykern.frontend.values import Scalar

_OF_THE_LAUNCH = {
    op.OPERATION_NAME
    for op in (
        index_space.GlobalIdOp, index_space.LocalIdOp, index_space.GroupIdOp, index_space.GroupSizeOp,
        index_space.NumGroupsOp, index_space.NdrangeOp,
    )
}  # fmt: skip


def chosen(condition: Scalar, a: Scalar, b: Scalar, before: tuple[Scalar, Scalar]) -> Scalar:
    """The length behind the branch. `before`: the two as the paths computed them, which hold nothing on the other."""
    if a.is_const and b.is_const and a.const == b.const:
        return a
    a, b = (_outside(first, flowed) for first, flowed in zip(before, (a, b), strict=True))
    found = mathematics.apply("where", [condition, a, b], False)
    assert isinstance(found, Scalar)
    return found


def alternatives(length: Scalar) -> Iterator[Scalar]:
    """The lengths that one may be, of which memory chooses: each has to fit."""
    op = _owner(length.ssa)
    if op is None or op.name != "arith.select" or is_known_before_launch(op.operands[0]):
        yield length
        return
    for side in list(op.operands)[1:]:
        yield from alternatives(Scalar(length.dtype, side))


def is_known_before_launch(value: ir.Value) -> bool:
    """Whether arguments and indices alone decide a value."""
    op = _owner(value)
    if op is None:
        return _is_argument(value)
    is_plain = op.name.startswith("arith.") or op.name == "memref.dim" or op.name in _OF_THE_LAUNCH
    return is_plain and all(map(is_known_before_launch, op.operands))


def _outside(first: Scalar, flowed: Scalar) -> Scalar:
    """A length computed once more behind the branch, where lengths of arguments alone decide it."""
    if first.is_const or first.ssa is None or not is_known_before_launch(first.ssa):
        return flowed
    return Scalar(first.dtype, _copied(first.ssa, {}))


def _copied(value: ir.Value, done: dict[ir.Value, ir.Value]) -> ir.Value:
    op = _owner(value)
    if op is None:
        return value
    if value not in done:
        operands = [_copied(operand, done) for operand in op.operands]  # they stand in front of it
        made = op.clone()
        for number, operand in enumerate(operands):
            made.operation.operands[number] = operand
        done[value] = made.operation.results[0]
    return done[value]


def _owner(value: ir.Value | None) -> ir.Operation | None:
    return None if value is None or isinstance(value.owner, ir.Block) else value.owner.operation  # type: ignore[union-attr]


def _is_argument(value: ir.Value) -> bool:
    """Of the kernel: counters of loops are none."""
    block = value.owner
    return isinstance(block, ir.Block) and block.owner.operation.name == "func.func"
