"""Several `linalg.generic` over one iteration space become one, which stands where the last of them stood.

Comes in: ops of one block that may run in one loop nest; `fuse_siblings` and `elementwise_runs` have checked that. Goes
out: one op with a result for each value that other ops read. Values that only the fused ops read are never in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.ir.structured import Structured, generic, reduces, reduction_loops
from pykern.passes.ir.values import has_uses
from pykern.passes.kernels import body, identity


@dataclass
class _Operands:
    """Operands of the op that is made."""

    inputs: dict[tuple[ir.Value, ir.AffineMap], int] = field(default_factory=dict)
    outputs: list[ir.Value] = field(default_factory=list)
    maps: tuple[list[ir.AffineMap], list[ir.AffineMap]] = field(default_factory=lambda: ([], []))
    """Of inputs and of outputs."""

    def read(self, value: ir.Value, access: ir.AffineMap) -> tuple[str, int]:
        """The argument for what an op reads."""
        key = value, access
        if key not in self.inputs:
            self.inputs[key] = len(self.inputs)
            self.maps[0].append(access)
        return "input", self.inputs[key]

    def write(self, target: ir.Value, access: ir.AffineMap) -> tuple[str, int]:
        """The argument for what a result is written to."""
        self.outputs.append(target)
        self.maps[1].append(access)
        return "output", len(self.outputs) - 1


def join_ops(members: Sequence[ir.Operation]) -> ir.Operation:
    """The op that stands for all. Where one reads a result of another one, both do so in the same iteration."""
    views = [Structured(op) for op in members]
    inside = {identity(op) for op in members}
    own = {result: n for n, result in enumerate(r for op in members for r in op.results)}
    operands, places, kept = _Operands(), [], []
    sums = reduces(members[0])  # a sum goes on with what it holds, even if nobody else reads it
    targets: dict[ir.Value, ir.Value] = {}
    for view in views:
        count = len(view.inputs)
        place = [
            ("own", own[value]) if value in own else operands.read(value, access)
            for value, access in zip(view.inputs, view.maps, strict=False)
        ]
        for n, (target, result) in enumerate(zip(view.outputs, view.op.results, strict=True)):
            access, argument = view.maps[count + n], view.arguments[count + n]
            leaves = sums or any(identity(use.owner.operation) not in inside for use in result.uses)
            targets[result] = real = targets.get(target, target)
            if leaves:
                kept.append(result)
                written = operands.write(
                    real if _is_free(target, own, inside) else _empty(members[-1], target), access
                )
            if target in own:
                place.append(("own", own[target]))
            elif leaves:
                place.append(written)
            else:
                place.append(operands.read(target, access) if has_uses(argument) else ("none", 0))
        places.append(place)
    last = members[-1]
    with ir.InsertionPoint(last), last.location:
        made = generic(
            [value for value, _ in operands.inputs], operands.outputs, [*operands.maps[0], *operands.maps[1]],
            reduction_loops(last),
        )  # fmt: skip
    values = _move(views, places, made, len(operands.inputs))
    with ir.InsertionPoint(body(made)), made.location:
        ir.Operation.create("linalg.yield", operands=[values[own[result]] for result in kept])
    for result, new in zip(kept, made.results, strict=True):
        result.replace_all_uses_with(new)
    for op in reversed(members):
        op.erase()
    return made


def _is_free(target: ir.Value, own: dict[ir.Value, int], inside: set[int]) -> bool:
    """Whether a result may go where it went: to memory from outside, or to that of a result which nobody else reads."""
    return target not in own or all(identity(use.owner.operation) in inside for use in target.uses)


def _empty(last: ir.Operation, like: ir.Value) -> ir.Value:
    with ir.InsertionPoint(last), last.location:
        return ir.Operation.create("tensor.empty", results=[like.type]).results[0]


def _move(
    views: list[Structured], places: list[list[tuple[str, int]]], made: ir.Operation, count: int
) -> list[ir.Value]:
    """One body after the other; the value of each result."""
    arguments = list(body(made).arguments)
    found: list[ir.Value] = []
    place = ir.InsertionPoint(body(made))
    for view, where in zip(views, places, strict=True):
        for argument, (kind, number) in zip(view.arguments, where, strict=True):
            if kind == "own":
                argument.replace_all_uses_with(found[number])
            elif kind != "none":
                argument.replace_all_uses_with(arguments[number + (count if kind == "output" else 0)])
        found += list(view.terminator.operands)
        view.terminator.erase()
        for op in view.ops:
            op.detach_from_parent()
            place.insert(op)
    return found
