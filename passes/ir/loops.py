"""Loops and branches, written as the code inside of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import scf

from pykern.passes.kernels import index_constant

_ALONE = "#llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"


def leave_alone(loop: ir.Operation) -> None:
    """Tell LLVM that a loop is what it is to be: neither unrolled nor vectorised."""
    loop.attributes["llvm.loop_annotation"] = ir.Attribute.parse(_ALONE)


def is_in_loop(op: ir.Operation) -> bool:
    """Whether an op stands in an scf.for or scf.while."""
    parent = op.parent
    while parent is not None:
        if parent.operation.name in ("scf.for", "scf.while"):
            return True
        parent = parent.operation.parent
    return False


def unroll(loop: ir.Operation, count: int) -> None:
    """Tell LLVM to write so many iterations of a loop one after the other."""
    loop.attributes["llvm.loop_annotation"] = ir.Attribute.parse(
        f"#llvm.loop_annotation<unroll = <count = {count} : i32>>"
    )


class _InsideLoop:
    """`point` is where code is emitted inside of the `with`; the block ends behind it."""

    point: ir.InsertionPoint

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            scf.YieldOp([])
        self.point.__exit__(*error)


class Counted(_InsideLoop):
    """`with Counted(lower, upper, step) as i`: an scf.for whose body is what is emitted inside."""

    def __init__(self, lower: ir.Value, upper: ir.Value, step: int, alone: bool = False) -> None:
        self.loop = scf.ForOp(lower, upper, index_constant(step))
        if alone:
            leave_alone(self.loop.operation)
        self.point = ir.InsertionPoint(self.loop.body)

    def __enter__(self) -> ir.Value:
        self.point.__enter__()
        return self.loop.induction_variable


def over_cells(
    lengths: Sequence[ir.Value | int],
    innermost: Callable[[list[ir.Value]], object],
    at: Sequence[ir.Value] = (),
) -> None:
    """A nest of loops over all cells of an array; `innermost` is called once, inside, with the indices behind `at`."""
    if not lengths:
        innermost([*at])
        return
    first = lengths[0]
    upper = index_constant(first) if isinstance(first, int) else first
    with Counted(index_constant(0), upper, 1) as index:
        over_cells(lengths[1:], innermost, [*at, index])


class When(_InsideLoop):
    """`with When(condition)`: an scf.if around what is emitted inside."""

    def __init__(self, condition: ir.Value) -> None:
        self.point = ir.InsertionPoint(scf.IfOp(condition).then_block)

    def __enter__(self) -> None:
        self.point.__enter__()
