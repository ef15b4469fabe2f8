"""The recipe: a transform script that tiles contractions down to register tiles, built from Python.

Comes in: a function that holds contractions marked `kern.tile`, and tile sizes. Goes out: a
`transform.named_sequence` in the module, `@<function>.schedule`, to be read in the stage's IR;
`ApplySchedules` interprets and erases it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import transform
from mlir.dialects.transform import interpreter, structured

from pykern.dialect import attributes as kern
from pykern.passes.framework import Pass

SUFFIX = ".schedule"
SEQUENCES = "transform.with_named_sequence"


def script(module: ir.Module, symbol: str, parts: Sequence[Sequence[Sequence[int]]]) -> None:
    """`@<symbol>.schedule`: for each part of the function its tilings, the outermost first.

    A tiling is a size for each dimension, 0 where it is left whole.
    """
    module.operation.attributes[SEQUENCES] = ir.UnitAttr.get()
    any_op = transform.AnyOpType.get()
    readonly = {"transform.readonly": ir.UnitAttr.get()}
    with ir.InsertionPoint(module.body):
        made = transform.NamedSequenceOp(symbol + SUFFIX, [any_op], [], arg_attrs=[readonly])
    with ir.InsertionPoint(made.body):
        i64 = ir.IntegerType.get_signless(64)
        for number, tilings in enumerate(parts):
            matched = structured.MatchOp(
                any_op,
                made.body.arguments[0],
                ops=["linalg.generic"],
                op_attrs=ir.DictAttr.get({kern.PART: ir.IntegerAttr.get(i64, number)}),
            )
            handle = matched.results_ if hasattr(matched, "results_") else matched.result
            for sizes in tilings:
                loops = sum(size > 0 for size in sizes)
                if loops:
                    tiled = structured.TileUsingForOp([any_op] * loops, handle, sizes=list(sizes))
                    handle = tiled.tiled_linalg_op
        transform.YieldOp([])


@dataclass(frozen=True)
class ApplySchedules(Pass):
    """Run the transform scripts of a module, each on its function.

    In:  functions of contractions, and `@<function>.schedule` for each.
    Out: loops around contractions of known lengths; the scripts are gone.
    """

    name: ClassVar[str] = "kern-apply-schedules"

    def run(self, module: ir.Module) -> None:
        functions: dict[str, ir.Operation] = {}
        scripts: list[tuple[str, ir.Operation]] = []
        for op in [o.operation for o in module.body.operations]:
            if "sym_name" not in op.attributes:
                continue
            symbol = ir.StringAttr(op.attributes["sym_name"]).value
            if op.name == "transform.named_sequence":
                scripts.append((symbol.removesuffix(SUFFIX), op))
            else:
                functions[symbol] = op
        for symbol, sequence in scripts:
            if symbol in functions:
                interpreter.apply_named_sequence(functions[symbol], sequence, module.operation)
                sequence.erase()
        if scripts and SEQUENCES in module.operation.attributes:
            del module.operation.attributes[SEQUENCES]
