"""Loops that work-items run unequally often, in lanes: `for j in range(i)`, and `while x * x + y * y < 4`.

In: a loop in the body of the loop over work-items. Out: one that runs as often as the lane that runs it longest, in
which lanes that have ended keep what they carry. What each lane computes is what its work-item did. Read next: `emit`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith, scf, vector

from pykern.passes.ir.clone import terminator_operands
from pykern.passes.kernels import find, is_constant
from pykern.passes.vectorize.lanes import VARYING

if TYPE_CHECKING:
    from pykern.passes.vectorize.items.emit import ItemEmitter
    from pykern.passes.vectorize.items.lanes import Lanes

Values = list[ir.Value]


# -- which loops --------------------------------------------------------------------------------------


def is_unequal(lanes: Lanes, loop: ir.Operation) -> bool:
    """Whether lanes have other bounds of an scf.for."""
    return any(lanes.stride(v) != 0 for v in list(loop.operands)[:3])


def refusal_of_unequal(lanes: Lanes, loop: ir.Operation) -> str:
    """Why an scf.for with unequal bounds is not run in lanes; empty where it is. Lanes that have ended read what the
    others read, for where all begin or all end together some lane is there; or neighbours, under a mask."""
    lower, upper, step = list(loop.operands)[:3]
    if is_constant(step) != 1 or "unsignedCmp" in loop.attributes:
        return "work-items run a loop unequally often, in steps that are not 1"
    if lanes.stride(lower) != 0 and lanes.stride(upper) != 0:
        return (
            "work-items begin and end a loop at different numbers; those that all begin, or all end, at the same one "
            "have lanes"
        )
    for op in find(loop, lambda o: True):
        if op.name == "memref.load":
            is_one = not any(lanes.stride(i) != 0 for i in lanes.indices(op))
            kind = op.results[0].type
            has_masks = isinstance(kind, ir.FloatType) or (
                isinstance(kind, ir.IntegerType) and kind.width > 1
            )
            if not is_one and not (has_masks and lanes.is_contiguous(op)):
                return "work-items run a loop unequally often, and what they read in it does not lie side by side"
        elif not op.name.startswith(("arith.", "math.", "memref.dim", "scf.if", "scf.yield")):
            return f"work-items run a loop unequally often, with `{op.name}` in it"
    return ""


def refusal_of_while(loop: ir.Operation) -> str:
    """Why an scf.while is not run in lanes; empty where it is: lanes that have ended go on computing."""
    for op in find(loop, lambda o: True):
        if not op.name.startswith(("arith.", "math.", "scf.if", "scf.yield", "scf.condition", "memref.dim")):
            return f"a loop ends by a condition, with `{op.name}` in it"
    return ""


# -- their forms in lanes -----------------------------------------------------------------------------


def emit_while(emitter: ItemEmitter, op: ir.Operation) -> None:
    """A loop that runs while a lane's condition holds; the others keep what they carry, for which it stays false."""
    before, after = (region.blocks[0] for region in op.regions)
    starts = [emitter.vector(v) for v in op.operands]
    passed = [emitter.type_of(v.type) for v in after.arguments]
    kinds = [*passed, *(v.type for v in starts), emitter.type_of(ir.IntegerType.get_signless(1))]
    made = ir.Operation.create("scf.while", results=kinds, operands=starts, regions=2)
    block = _block(made.regions[0], [v.type for v in starts], op.location)
    with ir.InsertionPoint(block):
        _keep(emitter, before.arguments, block.arguments)
        emitter.block(before)
        condition, *given = [emitter.vector(v) for v in terminator_operands(before)]
        is_any = vector.ReductionOp(ir.IntegerType.get_signless(1), vector.CombiningKind.OR, condition).result
        scf.ConditionOp(is_any, [*given, *block.arguments, condition])
    block = _block(made.regions[1], kinds, op.location)
    with ir.InsertionPoint(block):
        arguments = list(block.arguments)
        _keep(emitter, after.arguments, arguments[: len(passed)])
        emitter.block(after)
        given = [emitter.vector(v) for v in terminator_operands(after)]
        held, active = arguments[len(passed) : -1], arguments[-1]
        scf.YieldOp([arith.SelectOp(active, new, old).result for new, old in zip(given, held, strict=True)])
    _keep(emitter, op.results, list(made.results)[: len(passed)])


def emit_unequal(emitter: ItemEmitter, op: ir.Operation) -> None:
    """The iterations that all lanes run, and those that some run, before or behind them."""
    lower, upper = list(op.operands)[:2]
    carried = [emitter.vector(v) for v in list(op.operands)[3:]]
    if emitter.stride(lower) == 0:
        first, bounds = emitter.scalar(lower), emitter.vector(upper)
        shortest, longest = _extremes(emitter, upper)
        middle = arith.MaxSIOp(first, shortest).result
        carried = _loop(emitter, op, first, middle, carried)
        carried = _loop(emitter, op, middle, longest, carried, lambda at: _compared("slt", at, bounds))
    else:
        last, bounds = emitter.scalar(upper), emitter.vector(lower)
        earliest, latest = _extremes(emitter, lower)
        middle = arith.MinSIOp(latest, last).result
        carried = _loop(emitter, op, earliest, middle, carried, lambda at: _compared("sge", at, bounds))
        carried = _loop(emitter, op, arith.MaxSIOp(earliest, middle).result, last, carried)
    _keep(emitter, op.results, carried)


def _loop(
    emitter: ItemEmitter,
    op: ir.Operation,
    first: ir.Value,
    end: ir.Value,
    carried: Values,
    active: Callable[[ir.Value], ir.Value] | None = None,
) -> Values:
    """The loop from `first` to `end`; only lanes that are `active` at a number take what it computes. Gives what it
    carries."""
    body = op.regions[0].blocks[0]
    made = scf.ForOp(first, end, emitter.scalar(op.operands[2]), carried)
    emitter.keep(body.arguments[0], made.induction_variable, 0)
    with ir.InsertionPoint(made.body):
        _keep(emitter, list(body.arguments)[1:], made.inner_iter_args)
        mask = None if active is None else active(made.induction_variable)
        emitter.active = mask
        emitter.block(body)
        emitter.active = None
        given = [emitter.vector(v) for v in terminator_operands(body)]
        if mask is not None:
            given = [
                arith.SelectOp(mask, new, old).result
                for new, old in zip(given, made.inner_iter_args, strict=True)
            ]
        scf.YieldOp(given)
    return list(made.results)


def _extremes(emitter: ItemEmitter, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The least and the greatest of the lanes' numbers."""
    stride = emitter.stride(value)
    if isinstance(stride, int):
        ends = emitter.lane(value, 0), emitter.lane(value, emitter.width - 1)
        return ends if stride > 0 else (ends[1], ends[0])
    wide = ir.IntegerType.get_signless(64)
    vectors = arith.IndexCastOp(emitter.type_of(wide), emitter.vector(value)).result
    kinds = vector.CombiningKind.MINSI, vector.CombiningKind.MAXSI
    least, greatest = (
        arith.IndexCastOp(ir.IndexType.get(), vector.ReductionOp(wide, kind, vectors).result).result
        for kind in kinds
    )
    return least, greatest


def _compared(predicate: str, at: ir.Value, bounds: ir.Value) -> ir.Value:
    spread = vector.BroadcastOp(bounds.type, at).result
    return arith.CmpIOp(getattr(arith.CmpIPredicate, predicate), spread, bounds).result


def _block(region: ir.Region, kinds: list[ir.Type], location: ir.Location) -> ir.Block:
    return region.blocks.append(*kinds, arg_locs=[location] * len(kinds))


def _keep(emitter: ItemEmitter, old: ir.OpResultList | Values, new: Values) -> None:
    for value, made in zip(old, new, strict=True):
        emitter.keep(value, made, VARYING)
