"""What is known of a kernel's accesses before it runs: for which launches one of them lies outside of its array.

Comes in: `LaunchBounds` of the compiler (`pykern.passes.kernel.launch_bounds`), plain data in the artifact, and the
numbers of a launch: for each flattened argument an array gives its lengths and a scalar its bits, then come the bytes
of shared memory where the launch sizes it, then of each dimension of the index space its count, start and step. Goes
out: `OutOfBounds`, or `AssertionFailed` where that comes first, before anything has run.

A check follows one work-item that is there, at an end of the index space, along conditions that the numbers decide:
where it says "outside", that work-item does touch what is outside. What it cannot follow it says nothing of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pykern.data.integer_expressions import Node, evaluated
from pykern.data.locations import SourceSpan
from pykern.data.records import record
from pykern.errors import CALLED_FROM, AssertionFailed, KernelError, KernelTypeError, OutOfBounds

LENGTHS = "rows have as many elements as each other"
"""What is asserted of rows that go together."""


ANNOTATED = "annotated: "
"""How asserts of annotated lengths begin."""


@record
class LaunchCheck:
    """One access by one work-item. Numbers are those of nodes: `fails` is 1 where it lies outside.

    `work_item` is where the work-item stands. An assert has no `indices`, and its message as `array`; of rows that
    differ (`LENGTHS`), `lengths` are those of both; of an index of values, `lengths` has it first, the length last.
    """

    fails: int
    array: str
    span: SourceSpan
    indices: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()
    work_item: tuple[int, ...] = ()
    callers: tuple[SourceSpan, ...] = ()


@record
class LaunchBounds:
    """The checks of a kernel, in its order, and the expressions they are numbers of."""

    nodes: tuple[Node, ...] = ()
    checks: tuple[LaunchCheck, ...] = ()
    several: int = -1
    """The node that is 1 where there is more than one work-item, of a kernel whose work-items all do the same: such
    launches go through Python, which warns."""

    @property
    def accesses(self) -> tuple[LaunchCheck, ...]:
        """Those of accesses. What only asserts say is left to the launch, which may print before."""
        return tuple(check for check in self.checks if check.lengths)


NO_BOUNDS = LaunchBounds()
"""Of code that checks each access itself, and of what is no kernel."""


def joined(first: LaunchBounds, second: LaunchBounds) -> LaunchBounds:
    """The checks of both, the first's first."""
    if not first.checks:
        return second
    count = len(first.nodes)

    def moved(node: Node) -> Node:
        name, bits, *rest = node
        return (name, bits, *(rest if name in ("const", "given") else (n + count for n in rest)))

    checks = tuple(
        replace(
            check,
            fails=check.fails + count,
            indices=tuple(n + count for n in check.indices),
            lengths=tuple(n + count for n in check.lengths),
            work_item=tuple(n + count for n in check.work_item),
        )
        for check in second.checks
    )
    several = second.several + count if second.several >= 0 else -1
    return LaunchBounds((*first.nodes, *map(moved, second.nodes)), (*first.checks, *checks), several)


def refuse_outside(bounds: LaunchBounds, given: Sequence[int]) -> None:
    """Raise what the first failing check says of a launch with these numbers."""
    if not bounds.checks:
        return
    values = evaluated(bounds.nodes, given)
    if any(values[check.fails] for check in bounds.accesses):
        raise failure(next(check for check in bounds.checks if values[check.fails]), values)


def failure(check: LaunchCheck, values: Sequence[int]) -> KernelError:
    """The error of a check that fails, from the values of all nodes."""
    calls = tuple((f"{CALLED_FROM}`{span.function}`", span) for span in check.callers)
    item = _tuple([values[n] for n in check.work_item])
    if not check.lengths:
        reason = f"assertion failed: {check.array}" if check.array else "assertion failed"
        return AssertionFailed(reason, check.span, notes=calls)
    what = "make this access" if check.array != LENGTHS else "do this"
    notes = ((f"work-item {item} would {what}: the launch was refused before it began", None), *calls)
    if check.array == LENGTHS:
        a, b = (values[n] for n in check.lengths)
        reason = f"rows of {a} and of {b} elements do not go together"
        return KernelTypeError(reason, check.span, "give both the same length", notes)
    if check.array.startswith(ANNOTATED):
        given, want = (values[n] for n in check.lengths)
        reason = f"{check.array.removeprefix(ANNOTATED)}, and one of its lengths is {given} instead of {want}"
        return KernelTypeError(
            reason, check.span, "pass an array of that shape, or change the annotation", calls
        )
    guard = "guard the access, or launch with a smaller ndrange"
    if not check.indices:
        index, length = values[check.lengths[0]], values[check.lengths[-1]]
        return OutOfBounds(
            f"index {index} is outside of `{check.array}`, whose length is {length}", check.span, guard, notes
        )
    index, shape = ([values[n] for n in numbers] for numbers in (check.indices, check.lengths))
    return OutOfBounds(
        f"index {_tuple(index)} is outside of `{check.array}`, whose shape is {_tuple(shape)}",
        check.span,
        guard,
        notes,
    )


def _tuple(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else str(tuple(numbers))
