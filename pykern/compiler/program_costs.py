"""Counting what a call of an array program computes, and the least it has to move.

Comes in: a module whose program is on tensors, nothing fused yet. Goes out: `Costs` of rank 0, whose one item is the
whole call: lengths are known. Every operation is counted as often as it is done; memory only where it has to be touched
however well the program is fused: arguments that are read, results that are made, and, in a loop of unknown length,
what an iteration reads of the arguments and hands on. Read next: `costs`, the same for kernels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from mlir import ir

from pykern.compiler.costs import executions_of, flops_of
from pykern.data.costs import Access, Costs, Executions, Work
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.passes import kernels
from pykern.passes.ir.structured import loop_lengths
from pykern.passes.ir.values import is_nested_in
from pykern.passes.kernels import programs

COUNTED = "func.func(linalg-generalize-named-ops)"
"""The stage that is counted: every operation on arrays says its loops, and none was fused."""
_CALLS = ("kern.launch", "func.call")
_LOOPS = ("scf.for", "scf.while")


def program_costs(module: ir.Module) -> Costs | None:
    """What one call does; None where a launch stays a launch, whose work nobody knows."""
    found = programs(module)
    if len(found) != 1 or kernels.named(found[0], *_CALLS):
        return None
    program = found[0]
    block = kernels.body(program)
    names = _argument_names(program)
    work = [
        w
        for op in kernels.find(program, lambda op: flops_of(op) > 0)
        if (w := _work(op, program)) is not None
    ]
    accesses = [*_arguments(block, names), *_results(block), *_loop_accesses(program, names)]
    return Costs(tuple(accesses), tuple(work), 0, tuple(names.values()))


def _work(op: ir.Operation, program: ir.Operation) -> Work | None:
    times, stands, above = 1, op, op.parent
    if above is not None and above.operation.name == "linalg.generic":
        stands = above.operation  # a product's own operations have no line
        times = math.prod(loop_lengths(stands))
    around = executions_of(op, program)
    if times * around.times == 0:
        return None
    file, line = _place(stands)
    name, dtype = op.name.split(".")[1].removesuffix("f"), str(op.results[0].type)
    return Work(name, dtype, flops_of(op), file, line, Executions(times * around.times, around.loops))


def _arguments(block: ir.Block, names: dict[ir.Value, str]) -> Iterator[Access]:
    for argument in block.arguments:
        users = [use.owner.operation for use in argument.uses]
        if isinstance(argument.type, ir.RankedTensorType) and users:
            yield _whole(names[argument], "load", argument, min(_place(user) for user in users))


def _results(block: ir.Block) -> Iterator[Access]:
    end = block.operations[len(block.operations) - 1].operation
    for number, value in enumerate(end.operands):
        if isinstance(value.type, ir.RankedTensorType):
            owner = value.owner
            place = _place(end if isinstance(owner, ir.Block) else owner.operation)
            yield _whole(f"result {number}", "store", value, place)


def _loop_accesses(program: ir.Operation, names: dict[ir.Value, str]) -> Iterator[Access]:
    """What an iteration of the innermost loop of unknown length touches."""
    for loop in kernels.named(program, *_LOOPS):
        body = kernels.body(loop).operations
        inside = executions_of(body[len(body) - 1].operation, program)
        file, line = _place(loop)
        if not inside.loops or inside.loops[-1] != line:
            continue
        for n, value in enumerate(v for v in loop.results if isinstance(v.type, ir.RankedTensorType)):
            for kind in ("load", "store"):
                yield _whole(f"carried {n}", kind, value, (file, line), inside)
        for value, name in names.items():
            read = any(is_nested_in(use.owner.operation, loop) for use in value.uses)
            if read and isinstance(value.type, ir.RankedTensorType):
                yield _whole(name, "load", value, (file, line), inside)


def _whole(
    name: str, kind: str, value: ir.Value, place: tuple[str, int], around: Executions | None = None
) -> Access:
    around = around or Executions()
    shaped = ir.ShapedType(value.type)
    element = shaped.element_type
    size = 8 if isinstance(element, ir.IndexType) else max(1, element.width // 8)  # type: ignore[attr-defined]
    return Access(
        name,
        kind,
        size,
        *place,
        Executions(math.prod(shaped.shape) * around.times, around.loops),
        "neighbours",
    )


def _argument_names(program: ir.Operation) -> dict[ir.Value, str]:
    marks = list(ir.ArrayAttr(program.attributes["arg_attrs"])) if "arg_attrs" in program.attributes else []
    named = {}
    for number, argument in enumerate(kernels.body(program).arguments):
        mark = ir.DictAttr(marks[number]) if number < len(marks) else {}
        named[argument] = ir.StringAttr(mark[kern.NAME]).value if kern.NAME in mark else f"%arg{number}"
    return named


def _place(op: ir.Operation) -> tuple[str, int]:
    span = span_of(op.location)
    return ("", 0) if span is None else (span.file, span.line)
