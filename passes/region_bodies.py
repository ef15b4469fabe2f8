"""Ops with regions that differ in their bodies alone, told apart by an attribute while upstream's `cse` runs.

Comes in: a module. Goes out: the same; in between, where very many ops have the same name, each has the
number of its body as `kern.body`.

Why: `cse` looks an op up by its name, operands and attributes, in which bodies have no part, and compares the bodies of
all that it finds, in time that grows with the square of their number: an array program with 2,000 terms ``x * c`` has
as many ops over `x`.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.code_size import COMPARED_OPS, FEWEST_ALIKE
from pykern.passes.kernels import find


@contextmanager
def told_apart(module: ir.Module) -> Iterator[None]:
    """Inside, alike ops with regions have the same `kern.body` where their bodies are the same, else another one."""
    _mark_bodies(module)
    try:
        yield
    finally:
        for op in _with_regions(module):
            if kern.BODY in op.attributes:
                del op.attributes[kern.BODY]


def is_long(op: ir.Operation) -> bool:
    """Whether a block in it is so long that there may be as many ops of one name. A look that costs next to nothing."""
    for block in (block for region in op.regions for block in region.blocks):
        if len(block.operations) >= FEWEST_ALIKE or any(
            is_long(inner.operation) for inner in block.operations
        ):
            return True
    return False


def _mark_bodies(module: ir.Module) -> None:
    """Mark ops. Operands tell nothing yet: `cse` may find that they are the same."""
    alike: dict[str, list[ir.Operation]] = {}
    for op in _with_regions(module):
        alike.setdefault(op.name, []).append(op)
    many = [same for same in alike.values() if len(same) >= FEWEST_ALIKE]
    number = ir.IntegerType.get_signless(64, module.context)
    for same in many:
        bodies: dict[Hashable, int] = {}
        for op in same:
            mark = bodies.setdefault(_body(op), len(bodies))
            op.attributes[kern.BODY] = ir.IntegerAttr.get(number, mark)


def _with_regions(module: ir.Module) -> list[ir.Operation]:
    return find(module.operation, lambda op: bool(op.results) and bool(op.regions))


def _body(op: ir.Operation) -> Hashable:
    """What bodies that are the same have in common: their first ops, with values of their own by number."""
    return tuple(itertools.islice(_said(op, {}), COMPARED_OPS))


def _said(op: ir.Operation, own: dict[ir.Value, int]) -> Iterator[Hashable]:
    for block in (block for region in op.regions for block in region.blocks):
        for argument in block.arguments:
            own[argument] = len(own)
            yield argument.type
        for each in block.operations:
            step = each.operation
            yield (step.name, *(own.get(value, value) for value in step.operands))
            for name in step.attributes.keys():  # noqa: SIM118
                yield name, step.attributes[name]
            for result in step.results:
                own[result] = len(own)
                yield result.type
            yield from _said(step, own)
        yield None
