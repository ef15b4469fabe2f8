"""Single elements of tensors in loops are numbers: read by `tensor.extract`, written by `tensor.insert`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import tensor

from pykern.passes.framework import Pass
from pykern.passes.ir.clone import clone_block
from pykern.passes.ir.loops import is_in_loop
from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.structured import loop_count
from pykern.passes.ir.values import made_by, parent_of
from pykern.passes.kernels import body, index_constant, named, programs, replace
from pykern.passes.tensor.carried_numbers import carry_numbers


@dataclass(frozen=True)
class ScalariseElements(Pass):
    """Compute single elements of tensors as numbers where a loop goes over them.

    ``x[k] = 0.5 * x[k - 1] + x[k]`` in a loop makes tensors of rank 0, which would be a buffer and a function each.

    In:  linalg.generics without loops, slices that are one element, inside of loops of array programs, and loops that
         carry tensors of rank 0.
    Out: their arithmetic on numbers, which loops carry; a slice that is read or written as a number becomes an access
         of an element, and so does one that is moved to another place (``x[j + 1] = x[j]``).
    """

    name: ClassVar[str] = "kern-scalarise-elements"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for", "scf.while")

    def run(self, module: ir.Module) -> None:
        for function in programs(module):
            carry_numbers(function)
            for generic in named(function, "linalg.generic"):
                if (
                    loop_count(generic) == 0
                    and outputs_of(generic) == len(generic.results)
                    and (is_in_loop(generic) or _is_wanted_as_number(generic))
                ):
                    _compute(generic)
            for part in named(function, "tensor.extract_slice"):
                if is_in_loop(part) and ir.RankedTensorType(part.results[0].type).rank == 0:
                    _read(part)
            for insert in named(function, "tensor.insert_slice"):
                if is_in_loop(insert):
                    _insert(insert)
            for extract in named(function, "tensor.extract"):
                if is_in_loop(extract):
                    _extract(extract)


def _compute(generic: ir.Operation) -> None:
    """The body in the place of the op; results are tensors of one element for whoever still wants such."""
    with ir.InsertionPoint(generic), generic.location:
        block = body(generic)
        elements = [_element(value) for value in generic.operands]
        results = clone_block(block, dict(zip(block.arguments, elements, strict=True)))
        made = [
            tensor.FromElementsOp(r.type, [v]).result for r, v in zip(generic.results, results, strict=True)
        ]
    replace(generic, made)


def _element(value: ir.Value) -> ir.Value:
    """The number that a tensor of rank 0 holds, or a number itself."""
    return tensor.extract(value, []) if isinstance(value.type, ir.RankedTensorType) else value


def _read(part: ir.Operation) -> None:
    """An element that is moved to another place, or used as a number, is read where the slice is taken."""
    if not all(_wants_number(use.owner.operation, use.operand_number) for use in part.results[0].uses):
        return
    with ir.InsertionPoint(part), part.location:
        number = tensor.extract(part.operands[0], _place(part, 1))
        made = tensor.FromElementsOp(part.results[0].type, [number]).result
    replace(part, [made])


def _is_wanted_as_number(generic: ir.Operation) -> bool:
    """Whether an op in front of a loop computes what a loop puts into elements, begins with or computes with."""
    users = [(use.owner.operation, use.operand_number) for r in generic.results for use in r.uses]
    return any(
        user.name == "tensor.extract" or (_wants_number(user, operand) and is_in_loop(user))
        for user, operand in users
    )


def _wants_number(op: ir.Operation, operand: int) -> bool:
    return op.name == "tensor.extract" or (op.name == "tensor.insert_slice" and operand == 0)


def _insert(insert: ir.Operation) -> None:
    """A number, put into a slice of one element."""
    single, into = insert.operands[0], insert.operands[1]
    made = made_by(single, "tensor.from_elements")
    if made is None or ir.RankedTensorType(single.type).rank != 0:
        return
    with ir.InsertionPoint(insert), insert.location:
        found = tensor.insert(made.operands[0], into, _place(insert, 2))
    replace(insert, [found])


def _extract(extract: ir.Operation) -> None:
    """The number in a slice of one element, or in a tensor made of one."""
    source = extract.operands[0]
    if ir.RankedTensorType(source.type).rank != 0:
        return
    if (made := made_by(source, "tensor.from_elements")) is not None:
        replace(extract, [made.operands[0]])
        return
    if (part := made_by(source, "tensor.extract_slice")) is None or parent_of(part) != parent_of(extract):
        return
    with ir.InsertionPoint(extract), extract.location:
        found = tensor.extract(part.operands[0], _place(part, 1))
    replace(extract, [found])


def _place(op: ir.Operation, first: int) -> list[ir.Value]:
    """Where a slice begins; the offsets of run time begin with the operand `first`."""
    dynamic = iter(list(op.operands)[first:])
    offsets = ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    return [next(dynamic) if offset == unknown else index_constant(offset) for offset in offsets]
