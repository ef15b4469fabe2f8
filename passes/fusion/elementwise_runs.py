"""Long runs of elementwise ops become one op each, at once.

Comes in: a module with `linalg.generic` on tensors. Goes out: the same, where ops that go over the same elements one by
one, many of them in a row, are one. Used by `fuse_long_chains`, for what upstream does in the square of their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.ir.structured import Structured, generic, reduces
from pykern.passes.ir.values import has_uses
from pykern.passes.kernels import body


@dataclass
class Run:
    """Elementwise ops over one shape, in the order of their block."""

    shape: tuple[int, ...]
    members: list[ir.Operation] = field(default_factory=list)
    results: set[ir.Value] = field(default_factory=set)


def join_runs(module: ir.Module, least: int) -> None:
    """Join runs of at least so many ops. What stands between them reads none of their results."""
    for block in [
        b for op in module.body.operations for region in op.operation.regions for b in region.blocks
    ]:
        for run in list(_runs(block)):
            if len(run.members) >= least:
                _join(run)


def _runs(block: ir.Block) -> Iterator[Run]:
    run = Run(())
    for op in block.operations:
        shape = _elementwise_shape(op.operation)
        if shape is not None and (shape == run.shape or not run.members):
            run.shape = shape
            run.members.append(op.operation)
            run.results.update(op.operation.results)
        elif run.members and (
            op.operation.regions or any(value in run.results for value in op.operation.operands)
        ):
            yield run
            run = Run(())
            if shape is not None:
                run = Run(shape, [op.operation], set(op.operation.results))
    yield run


def _elementwise_shape(op: ir.Operation) -> tuple[int, ...] | None:
    """The lengths that an op goes over, if it computes each element of its results from those of its operands."""
    if op.name != "linalg.generic" or not op.results or reduces(op):
        return None
    types = [value.type for value in op.operands]
    if not all(isinstance(kind, ir.RankedTensorType) and kind.has_static_shape for kind in types):
        return None
    view = Structured(op)
    identity = ir.AffineMap.get_identity(view.loops, op.context)
    reads_initial = any(map(has_uses, view.arguments[len(view.inputs) :]))
    if reads_initial or any(one != identity for one in view.maps) or any(each.regions for each in view.ops):
        return None
    return tuple(ir.RankedTensorType(types[0]).shape)


def _join(run: Run) -> None:
    last = run.members[-1]
    own = run.results
    inputs: dict[ir.Value, int] = {}
    for op in run.members:
        for value in list(op.operands)[: len(op.operands) - len(op.results)]:
            if value not in own:
                inputs.setdefault(value, len(inputs))
    members = set(run.members)
    outputs = [
        r for op in run.members for r in op.results if any(u.owner.operation not in members for u in r.uses)
    ]
    with ir.InsertionPoint(last), last.location:
        empties = [ir.Operation.create("tensor.empty", results=[value.type]).results[0] for value in outputs]
        identity = ir.AffineMap.get_identity(len(run.shape))
        maps = [identity] * (len(inputs) + len(empties))
        made = generic(list(inputs), empties, maps, [False] * len(run.shape))
    _fill(made, run, inputs, outputs)
    for value, result in zip(outputs, made.results, strict=True):
        value.replace_all_uses_with(result)
    for op in reversed(run.members):
        op.erase()


def _fill(made: ir.Operation, run: Run, inputs: dict[ir.Value, int], outputs: list[ir.Value]) -> None:
    """One body after the other, into the body of the op that stands for all."""
    arguments = list(body(made).arguments)
    values: dict[ir.Value, ir.Value] = {value: arguments[number] for value, number in inputs.items()}
    with ir.InsertionPoint(body(made)):
        for op in run.members:
            inner = {
                argument: values[value]
                for argument, value in zip(
                    list(body(op).arguments)[: -len(op.results)], list(op.operands), strict=False
                )
            }
            for step in body(op):
                if step.operation.name == "linalg.yield":
                    for result, value in zip(op.results, step.operation.operands, strict=True):
                        values[result] = inner.get(value, value)
                    continue
                copy = step.operation.clone()
                for number, value in enumerate(step.operation.operands):
                    if value in inner:
                        copy.operands[number] = inner[value]
                inner.update(zip(step.operation.results, copy.results, strict=True))
        ir.Operation.create("linalg.yield", operands=[values[value] for value in outputs])
