"""Slices of what is computed element by element are taken before: ``y = x.astype(pk.f64); y[1:] - y[:-1]``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.analysis.contraction import multiplies
from pykern.passes.analysis.cost_model.lengths import SLICED_ANEW
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import attributes_of
from pykern.passes.ir.structured import Structured, generic, is_elementwise
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import named

_DEAR = (
    "arith.divf",
    "arith.divsi",
    "arith.divui",
    "arith.remf",
    "arith.remsi",
    "arith.remui",
    "arith.floordivsi",
)


@dataclass(frozen=True)
class SliceFirst(Pass):
    """Compute what is only read in slices for each of the slices, where that is cheap.

    The array would be written to memory and read again by each reader, because fusion does not look through slices.
    What costs little for each element is computed where it is read, for each slice anew; nothing of a product, which
    computes what reads it along with itself.

    In:  linalg.generic and tensor.extract_slice on tensors.
    Out: the same.
    """

    name: ClassVar[str] = "kern-slice-first"
    looks_for: ClassVar[tuple[str, ...]] = ("tensor.extract_slice",)

    def run(self, module: ir.Module) -> None:
        for op in reversed(
            named(module.operation, "linalg.generic")
        ):  # readers first: they slice what they read
            if not _is_read_in_slices(op) or not _is_cheap(op):
                continue
            slices = _only_slices(op.results[0])
            if slices and _is_worth_it(op, slices):
                for alike in slices.values():
                    made = _sliced(op, alike[0])
                    for one in alike:
                        one.results[0].replace_all_uses_with(made)
                        one.erase()
                op.erase()


def _is_read_in_slices(op: ir.Operation) -> bool:
    first = next((use.owner.operation.name for result in op.results for use in result.uses), "")
    return first == "tensor.extract_slice"


def _weight(op: ir.Operation, most: int) -> int:
    """Operations for an element, with those of what is computed along with it, as far as they are less than `most`."""
    view = Structured(op)
    weight = max(len(view.ops), 1)
    for value in view.inputs:
        producer = made_by(value, "linalg.generic")
        if weight < most and producer is not None and is_elementwise(producer):
            weight += _weight(producer, most - weight)
    return weight


def _is_cheap(op: ir.Operation) -> bool:
    """Whether it is elementwise, each index a loop, without functions, and made of nothing that a product gives."""
    if not is_elementwise(op) or not isinstance(op.results[0].type, ir.RankedTensorType):
        return False
    view = Structured(op)
    if any(inner.name.startswith("math.") or inner.name in _DEAR for inner in view.ops):
        return False
    if any(made_by(value, "arith.constant") is None for value in view.captured):
        return False
    kinds = [v.type for v in view.operands if isinstance(v.type, ir.RankedTensorType)]
    if not all(ir.RankedTensorType(kind).has_static_shape for kind in kinds):
        return False
    if view.maps[-1] != ir.AffineMap.get_identity(view.loops):
        return False
    if not all(isinstance(e, ir.AffineDimExpr) for one in view.maps for e in one.results):
        return False
    return all(made_by(v, "linalg.generic") is None or is_elementwise(v.owner.operation) for v in view.inputs)


def _only_slices(value: ir.Value) -> dict[str, list[ir.Operation]]:
    """The slices that read a value, with bounds known when compiling, those alike together, the first one first; none
    where anything else reads it."""
    users = [use.owner.operation for use in value.uses]
    if not all(user.name == "tensor.extract_slice" and len(user.operands) == 1 for user in users):
        return {}
    if any(user.block != users[0].block for user in users):
        return {}
    readers = [use.owner.operation for user in users for use in user.results[0].uses]
    if not all(reader.name == "linalg.generic" and not multiplies(reader) for reader in readers):
        return {}
    found: dict[str, list[ir.Operation]] = {}
    for user in users:
        found.setdefault(f"{_numbers(user)} {user.results[0].type}", []).append(user)
    return {text: sorted(alike, key=_place) for text, alike in found.items()}


def _place(op: ir.Operation) -> int:
    return next(n for n, each in enumerate(op.block.operations) if each.operation == op)


def _numbers(one: ir.Operation) -> list[list[int]]:
    """Offsets, sizes and strides of a slice."""
    return [
        list(ir.DenseI64ArrayAttr(one.attributes[f"static_{n}"])) for n in ("offsets", "sizes", "strides")
    ]


def _is_worth_it(op: ir.Operation, slices: Mapping[str, Sequence[ir.Operation]]) -> bool:
    """Whether the operations of all slices are few for each element of the array."""
    read = sum(math.prod(ir.RankedTensorType(alike[0].results[0].type).shape) for alike in slices.values())
    elements = math.prod(ir.RankedTensorType(op.results[0].type).shape)
    most = SLICED_ANEW * elements // max(read, 1)
    return _weight(op, most + 1) <= most


def _sliced(op: ir.Operation, one: ir.Operation) -> ir.Value:
    """The op on slices of its inputs, in front of the slice of its result."""
    view = Structured(op)
    offsets, sizes, strides = _numbers(one)
    kind = ir.RankedTensorType(one.results[0].type)
    with ir.InsertionPoint(one), op.location:
        inputs = [
            _slice(value, [e.position for e in indexed.results], offsets, sizes, strides)
            for value, indexed in zip(view.inputs, view.maps, strict=False)
        ]
        target = ir.Operation.create(
            "tensor.empty", results=[ir.RankedTensorType.get(sizes, kind.element_type)]
        ).results[0]
        made = generic(inputs, [target], view.maps, [False] * view.loops)
        block = made.regions[0].blocks[0]
        known = dict(zip(view.arguments, block.arguments, strict=True))
        with ir.InsertionPoint(block):
            for inner in [*view.ops, view.terminator]:
                copy = inner.clone().operation
                for number, operand in enumerate(inner.operands):
                    copy.operands[number] = known.get(operand, operand)
                known |= dict(zip(inner.results, copy.results, strict=True))
        if list(kind.shape) == sizes:
            return made.results[0]
        nothing = [0] * len(sizes)  # axes of length 1 that the slice has dropped
        attributes = attributes_of(one) | _bounds(nothing, sizes, [1] * len(sizes))
        return ir.Operation.create(
            "tensor.extract_slice", results=[kind], operands=[made.results[0]], attributes=attributes
        ).results[0]


def _slice(
    value: ir.Value,
    loops: Sequence[int],
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
) -> ir.Value:
    if not isinstance(value.type, ir.RankedTensorType) or not loops:
        return value
    kind = ir.RankedTensorType(value.type)
    chosen = [[bounds[loop] for loop in loops] for bounds in (offsets, sizes, strides)]
    attributes = {
        **_bounds(*chosen),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
    }
    made = ir.RankedTensorType.get(chosen[1], kind.element_type)
    return ir.Operation.create(
        "tensor.extract_slice", results=[made], operands=[value], attributes=attributes
    ).results[0]


def _bounds(offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> dict[str, ir.Attribute]:
    named_bounds = {"static_offsets": offsets, "static_sizes": sizes, "static_strides": strides}
    return {name: ir.DenseI64ArrayAttr.get(list(bounds)) for name, bounds in named_bounds.items()}
