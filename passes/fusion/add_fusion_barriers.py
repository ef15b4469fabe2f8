"""Fusion barriers in front of upstream's fusion: values that it would compute many times over stay as they are.

Comes in: linalg ops on tensors. Goes out: the same, with ops that upstream's fusion does not cross. Read next:
`remove_fusion_barriers`, which runs behind upstream's fusion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.contraction import CONVERSIONS, multiplies
from pykern.passes.framework import Pass
from pykern.passes.ir.memory import TENSOR_RESHAPES
from pykern.passes.ir.structured import indexing_maps, is_elementwise, loops_in
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body, named
from pykern.passes.remarks import remark

FUSION_BARRIER = "bufferization.dealloc_tensor"
"""The op that serves as a barrier. It uses a tensor and does nothing; upstream only fuses values with a single use."""


@dataclass(frozen=True)
class AddFusionBarriers(Pass):
    """Give a value a second use where its only reader would compute it many times over.

    That is where an elementwise op is read by a contraction, or by an op over more dimensions than it
    has (a broadcast), unless it is only a handful of cheap operations on its way to a reduction of itself.
    A transposition or a wider type joins a product of two factors: that reads them in any order, and converts them.
    What adds to its result would even be wrong there: upstream lets it add once an iteration of its reader.

    In:  linalg.generic on tensors.
    Out: the same, and `bufferization.dealloc_tensor` ops, which are removed by `kern-remove-fusion-barriers`.
    """

    name: ClassVar[str] = "kern-add-fusion-barriers"

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "linalg.generic"):
            for number, operand in enumerate(op.operands):
                producer = _producer(operand)
                if producer is None:
                    continue
                if _repeats(op, number) and not (_is_constant(producer) or _in_product(producer, op)):
                    with ir.InsertionPoint(op), op.location:
                        ir.Operation.create(FUSION_BARRIER, operands=[operand])
                    if is_elementwise(producer):
                        remark(
                            producer,
                            "computed apart from its reader, which would compute each value several times",
                        )


def _producer(value: ir.Value) -> ir.Operation | None:
    """The linalg.generic that computes a value, perhaps seen in another shape: upstream fuses past that."""
    while (view := made_by(value, *TENSOR_RESHAPES)) is not None:
        value = view.operands[0]
    return made_by(value, "linalg.generic")


def _repeats(consumer: ir.Operation, operand: int) -> bool:
    """Whether the consumer reads each element of an operand in more than one iteration."""
    reads = indexing_maps(consumer)[operand]
    return len(loops_in(reads)) < reads.n_dims


def _is_constant(producer: ir.Operation) -> bool:
    """A producer that reads nothing (a fill) costs nothing to repeat; one that changes its result reads."""
    is_read = any(list(argument.uses) for argument in body(producer).arguments)
    return len(producer.operands) == len(producer.results) and not is_read


def _in_product(producer: ir.Operation, consumer: ir.Operation) -> bool:
    """Whether the producer only transposes or widens a factor of a product, and brings nothing else with it."""
    return _moves(producer) and not any(map(_is_computed, producer.operands)) and multiplies(consumer)


def _moves(op: ir.Operation) -> bool:
    *conversions, end = [o.operation for o in body(op).operations]
    maps = indexing_maps(op)
    if len(maps) != 2 or not all(m.is_permutation for m in maps):
        return False
    value = body(op).arguments[0]
    for each in conversions:
        if each.name not in CONVERSIONS or each.operands[0] != value:
            return False
        value = each.results[0]
    return end.operands[0] == value


def _is_computed(value: ir.Value) -> bool:
    """Whether fusion would put more in front of what reads this."""
    return made_by(value, "linalg.generic") is not None
