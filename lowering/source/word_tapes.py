"""Tapes of derivatives in C: everything on them is a word of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect.diagnostics import span_of
from pykern.dialect.tape import PopOp, PushOp
from pykern.errors import TargetError
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.word_conversions import from_word, to_word
from pykern.passes.kernels import GROUP_OPS, named, replace


@dataclass(frozen=True)
class WordTapes(Pass):
    """Turn numbers that are pushed into words of 64 bits, and words that are popped into numbers.

    In:  kernels at the work-item level, with `kern.push` and `kern.pop` of numbers.
    Out: the same with both of `i64` alone. Kernels that know groups are refused: their work-items run in turns, each
         with a tape of its own.
    """

    name: ClassVar[str] = "kern-word-tapes"
    looks_for: ClassVar[tuple[str, ...]] = ("kern.push", "kern.pop")

    def run(self, module: ir.Module) -> None:
        word = ir.IntegerType.get_signless(64)
        for kernel in kernels.kernels(module):
            found = named(kernel, "kern.push", "kern.pop")
            if found and named(kernel, *GROUP_OPS):
                raise TargetError(
                    "this derivative keeps values of each work-item of a group on a tape, for which C has no form",
                    span_of(found[0].location),
                    hint='export an object, form="object", or differentiate an array program instead',
                )
            for op in found:
                with ir.InsertionPoint(op), op.location:
                    if op.name == "kern.push":
                        PushOp.create(to_word(op.operands[0]))
                        op.erase()
                    else:
                        replace(op, [from_word(PopOp.create(word), op.results[0].type)])
