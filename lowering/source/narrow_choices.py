"""Floats of 64 bits that are only chosen among, for languages that have none.

Python's floats are of 64 bits, so `1.0 if x[i] > 0 else -1.0` is, too, until an element of 32 bits takes it. Rounding
what is chosen gives the same as choosing among what is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.constants import constant
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import find, identity, terminator

_SIGNS = ("arith.negf", "math.absf")
"""Rounding to nearest does not ask for the sign."""
_CHOOSING = ("arith.select", "scf.if", "scf.for", "scf.while", *_SIGNS)


@dataclass(frozen=True)
class NarrowChoices(Pass):
    """Let values be floats of 32 bits from the beginning where that is what becomes of them.

    In:  kernels with structured control flow, where floats of 64 bits go through choices, branches, loops and changes
         of sign, and all that leaves these is rounded to f32.
    Out: the same with floats of 32 bits there; what goes into them is rounded.
    """

    name: ClassVar[str] = "kern-narrow-choices"
    looks_for: ClassVar[tuple[str, ...]] = ("arith.truncf",)

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            groups = _Groups()
            found = [each for op in find(kernel, lambda op: op.name in _CHOOSING) for each in _joined(op)]
            for joined in (*found, *found):  # again, as a loop may carry what is chosen later in it
                groups.join(joined)
            for group in groups.all():
                if _only_rounded(group):
                    _narrow(group)


_Operands = dict[tuple[int, int], ir.Operation]
"""Users by their identity and the number of the operand: the hash of a user changes with its operands."""


@dataclass
class _Group:
    """Values that are one at different times, and the operands that go into them."""

    values: set[ir.Value]
    operands: _Operands


def _operands(*given: tuple[ir.Operation, int]) -> _Operands:
    return {(identity(user), number): user for user, number in given}


class _Groups:
    def __init__(self) -> None:
        self._of: dict[ir.Value, _Group] = {}

    def join(self, joined: _Group) -> None:
        """Put values into one group, with all those that they are in a group with."""
        others = {id(self._of[v]): self._of[v] for v in joined.values if v in self._of}
        for (_, number), user in joined.operands.items():
            value = user.operands[number]
            if value in self._of:
                others[id(self._of[value])] = self._of[value]
        for other in others.values():
            joined.values |= other.values
            joined.operands |= other.operands
        for value in joined.values:
            self._of[value] = joined

    def all(self) -> list[_Group]:
        return list({id(group): group for group in self._of.values()}.values())


def _joined(op: ir.Operation) -> Iterator[_Group]:
    """What each result of an op is one with, if it is a float of 64 bits."""
    for number, result in enumerate(op.results):
        if not isinstance(result.type, ir.F64Type):
            continue
        if op.name == "arith.select":
            yield _Group({result}, _operands((op, 1), (op, 2)))
        elif op.name in _SIGNS:
            yield _Group({result}, _operands((op, 0)))
        elif op.name == "scf.if":
            yield _Group(
                {result}, _operands(*((terminator(region.blocks[0]), number) for region in op.regions))
            )
        elif op.name == "scf.for":
            block = op.regions[0].blocks[0]
            carried = block.arguments[number + 1]
            yield _Group({result, carried}, _operands((op, number + 3), (terminator(block), number)))
    if op.name == "scf.while":
        before, after = (region.blocks[0] for region in op.regions)
        for number, argument in enumerate(before.arguments):
            if isinstance(argument.type, ir.F64Type):
                yield _Group({argument}, _operands((op, number), (terminator(after), number)))
        for number, (result, argument) in enumerate(zip(op.results, after.arguments, strict=True)):
            if isinstance(result.type, ir.F64Type):
                yield _Group({result, argument}, _operands((terminator(before), number + 1)))


def _only_rounded(group: _Group) -> bool:
    """Whether all that is done with the values of a group is to round them to f32, or happens in the group."""
    rounded = 0
    for value in group.values:
        for use in value.uses:
            user = use.owner.operation
            if user.name == "arith.truncf" and isinstance(user.results[0].type, ir.F32Type):
                rounded += 1
            elif (identity(user), use.operand_number) not in group.operands:
                return False
    return rounded > 0


def _rounded(value: ir.Value) -> ir.Value:
    """A value as f32. Upstream folds constants only where that is exact."""
    number = made_by(value, "arith.constant")
    if number is None:
        return arith.TruncFOp(ir.F32Type.get(), value).result
    return constant(ir.F32Type.get(), ir.FloatAttr(number.attributes["value"]).value)


def _narrow(group: _Group) -> None:
    for (_, number), user in group.operands.items():
        value = user.operands[number]
        if value not in group.values:
            with ir.InsertionPoint(user), user.location:
                user.operands[number] = _rounded(value)
    for value in group.values:
        rounded = [use.owner.operation for use in value.uses if use.owner.operation.name == "arith.truncf"]
        value.set_type(ir.F32Type.get())
        for op in rounded:
            op.results[0].replace_all_uses_with(value)
            op.erase()
