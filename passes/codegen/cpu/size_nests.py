"""Small loops beside large ones are compiled quickly rather than well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.code_size import SMALL_LOOP_FACTOR
from pykern.passes.framework import Pass
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import body, find, identity, is_constant, programs

SMALL = ("minsize", "optsize")


@dataclass(frozen=True)
class SizeNests(Pass):
    """Mark the nests that take no time beside others, such as those for the rim of a stencil.

    In:  programs that call nests.
    Out: a nest of which every call stands in one block with a nest of 64 times its iterations is `minsize`:
         LLVM neither unrolls nor vectorises it.
    """

    name: ClassVar[str] = "kern-size-nests"

    def run(self, module: ir.Module) -> None:
        nests = {
            _symbol(o.operation): o.operation for o in module.body.operations if kern.NEST in o.attributes
        }
        sizes = {symbol: _iterations(body(nest)) for symbol, nest in nests.items()}
        for program in programs(module):
            calls = [op for op in find(program, lambda op: op.name == "func.call") if sizes.get(_callee(op))]
            largest: dict[int, int] = {}
            for call in calls:
                largest[_block(call)] = max(largest.get(_block(call), 0), sizes[_callee(call)] or 0)
            called = {_callee(call) for call in calls}
            for call in calls:
                if (sizes[_callee(call)] or 0) * SMALL_LOOP_FACTOR > largest[_block(call)]:
                    called.discard(_callee(call))
            for symbol in called:
                words = [
                    *ir.ArrayAttr(nests[symbol].attributes["passthrough"]),
                    *map(ir.StringAttr.get, SMALL),
                ]
                nests[symbol].attributes["passthrough"] = ir.ArrayAttr.get(words)


def _symbol(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else ""


def _callee(call: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value.removesuffix(".team")


def _block(call: ir.Operation) -> int:
    parent = call.parent
    assert parent is not None
    return identity(parent.operation)


def _iterations(block: ir.Block) -> int | None:
    """How often the loops' bodies run at most; None where that is not known."""
    total = 1
    for op in block.operations:
        if op.operation.name == "scf.for":
            length, inner = _length(op.operation), _iterations(body(op.operation))
            if length is None or inner is None:
                return None
            total += length * inner
    return total


def _length(loop: ir.Operation) -> int | None:
    lower, upper, step = list(loop.operands)[:3]
    bounds = [upper]
    if (least := made_by(upper, "arith.minsi")) is not None:
        bounds = list(least.operands)
    lengths = [number for bound in bounds if (number := _distance(lower, bound)) is not None]
    by = is_constant(step)
    return None if not lengths or not by else max(-(-min(lengths) // by), 0)


def _distance(lower: ir.Value, upper: ir.Value) -> int | None:
    """From one bound to the other, at most: of a block that begins anywhere, its length."""
    if (end := made_by(upper, "arith.addi")) is not None:
        begin, length = end.operands
        return is_constant(length) if begin == lower else None
    number = is_constant(upper)
    return None if number is None else number - (is_constant(lower) or 0)
