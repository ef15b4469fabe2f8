"""How a reduction joins two values, and what joins without a trace."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.ir.clone import remake
from pykern.passes.ir.constants import constant
from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.values import defining, made_by

FLOAT_NEUTRAL = {
    "arith.addf": -0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": float("-inf"),
    "arith.minimumf": float("inf"),
    "arith.maxnumf": float("-inf"),
    "arith.minnumf": float("inf"),
}
INTEGER_NEUTRAL = {
    "arith.addi": lambda bits: 0,
    "arith.muli": lambda bits: 1,
    "arith.andi": lambda bits: -1,
    "arith.ori": lambda bits: 0,
    "arith.xori": lambda bits: 0,
    "arith.maxsi": lambda bits: -(1 << (bits - 1)),
    "arith.minsi": lambda bits: (1 << (bits - 1)) - 1,
    "arith.maxui": lambda bits: 0,
    "arith.minui": lambda bits: -1,
}


@dataclass(frozen=True)
class Combine:
    """The op that joins what an output holds with what an iteration adds to it."""

    op: ir.Operation

    @property
    def kind(self) -> ir.Type:
        return self.op.results[0].type

    @property
    def is_float_sum(self) -> bool:
        return self.op.name == "arith.addf"

    def neutral(self) -> ir.Value:
        """A value that changes nothing, at the insertion point."""
        if self.op.name in FLOAT_NEUTRAL:
            return constant(self.kind, FLOAT_NEUTRAL[self.op.name])
        bits = 64 if isinstance(self.kind, ir.IndexType) else ir.IntegerType(self.kind).width
        return constant(self.kind, INTEGER_NEUTRAL[self.op.name](bits))

    def join(self, held: ir.Value, added: ir.Value) -> ir.Value:
        """The op once more."""
        return remake(self.op, [held, added], [self.kind]).result


def combines(generic: ir.Operation) -> list[Combine] | None:
    """One for each output of a reduction; None where an output is not a plain reduction of one value."""
    block = generic.regions[0].blocks[0]
    results = list(list(block.operations)[-1].operation.operands)
    held = list(block.arguments)[-outputs_of(generic) :]
    found = []
    for value, argument in zip(results, held, strict=True):
        op = defining(value)
        if op is None:
            return None
        known = op.name in FLOAT_NEUTRAL or op.name in INTEGER_NEUTRAL
        uses = [use.owner.operation for use in argument.uses]
        if not known or uses != [op] or len(op.operands) != 2:
            return None
        found.append(Combine(op))
    return found


def allow_reordering(generic: ir.Operation) -> None:
    """Sums of a reduction may be added in any order, as NumPy does; products may go into them unrounded."""
    for combine in combines(generic) or []:
        if combine.op.name in ("arith.addf", "arith.mulf"):
            add_fastmath(combine.op, "reassoc", "contract")
            for value in combine.op.operands:
                if (product := made_by(value, "arith.mulf")) is not None:
                    add_fastmath(product, "contract")


def add_fastmath(op: ir.Operation, *flags: str) -> None:
    """Add flags to those an op has."""
    given = (
        str(op.attributes["fastmath"]).split("<")[1].rstrip(">") if "fastmath" in op.attributes else "none"
    )
    if given == "fast":
        return
    known = [f for f in given.split(",") if f != "none"]
    every = ",".join(dict.fromkeys([*known, *flags]))
    op.attributes["fastmath"] = ir.Attribute.parse(f"#arith.fastmath<{every}>")
