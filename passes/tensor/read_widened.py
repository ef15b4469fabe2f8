"""Products read narrow factors as they are, however many others read what was widened of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.framework import Pass
from pykern.passes.ir.structured import indexing_maps
from pykern.passes.kernels import body, named


@dataclass(frozen=True)
class ReadWidened(Pass):
    """Let products read the narrow floats that a factor was widened from, and widen them themselves.

    Fusion does so only where there is one reader. The cotangent of a product of 16-bit floats has two, the products of
    both gradients: they read half the bytes, and instructions for products of such floats apply.

    In:  linalg.generic on tensors.
    Out: the same; what nobody reads any more is left to canonicalization.
    """

    name: ClassVar[str] = "kern-read-widened"
    looks_for: ClassVar[tuple[str, ...]] = ("linalg.generic",)

    def run(self, module: ir.Module) -> None:
        for op in named(module.operation, "linalg.generic"):
            if not _widens(op):
                continue
            for use in list(op.results[0].uses):
                reader = use.owner.operation
                if reader.name == "linalg.generic" and multiplies(reader) and use.operand_number < 2:
                    _read_narrow(reader, use.operand_number, op)


def _widens(op: ir.Operation) -> bool:
    """Whether it makes wider floats of the elements of one tensor, and nothing else."""
    block = body(op)
    if len(op.operands) != 2 or len(op.results) != 1 or len(list(block.operations)) != 2:
        return False
    widening, end = (each.operation for each in block.operations)
    only = widening.name == "arith.extf" and end.operands[0] == widening.results[0]
    return (
        only
        and all(m.is_permutation for m in indexing_maps(op))
        and len(set(map(str, indexing_maps(op)))) == 1
    )


def _read_narrow(reader: ir.Operation, number: int, widening: ir.Operation) -> None:
    """The operand becomes the narrow one, its elements are widened in the body."""
    block = body(reader)
    argument = block.arguments[number]
    wide, narrow = argument.type, body(widening).arguments[0].type
    reader.operands[number] = widening.operands[0]
    argument.set_type(narrow)
    with ir.InsertionPoint.at_block_begin(block), widening.location:
        made = ir.Operation.create("arith.extf", results=[wide], operands=[argument]).result
    argument.replace_all_uses_except(made, made.owner.operation)
