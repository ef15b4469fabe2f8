"""What a linalg op differentiates for: each operand or captured value that varies, at its map."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from pykern.passes.autodiff.tensor.refuse import refused
from pykern.passes.autodiff.tensor.values import affine, is_tensor
from pykern.passes.ir.accumulators import StructuredKind, accumulation
from pykern.passes.ir.structured import Structured
from pykern.passes.ir.values import defining, free_values


@dataclass(frozen=True)
class Target:
    """`value` of the primal is read at `map`, as `elements` of the body (more than one: passed twice)."""

    value: ir.Value
    map: ir.AffineMap
    elements: tuple[ir.Value, ...]

    @property
    def loops(self) -> frozenset[int]:
        """The loops its map names, where it is a projection."""
        return frozenset(e.position for e in self.map.results)


@dataclass(frozen=True)
class Lookup:
    """A captured tensor read by `tensor.extract` at places the body computes."""

    value: ir.Value
    extract: ir.Operation


def targets(op: Structured, varied: set[ir.Value]) -> list[Target]:
    """Operands that vary (an output only where its old elements are read), then captured scalars."""
    found: dict[tuple[ir.Value, str], Target] = {}

    def note(value: ir.Value, map: ir.AffineMap, element: ir.Value) -> None:
        old = found.get((value, str(map)))
        elements = (*old.elements, element) if old else (element,)
        found[(value, str(map))] = Target(value, map, elements)

    for place, (value, map) in enumerate(zip(op.operands, op.maps, strict=True)):
        if value in varied and _is_read(op, place):
            note(value, map, op.arguments[place])
    for value in op.captured:
        if value in varied and not is_tensor(value):
            note(value, affine(op.loops, []), value)
    return list(found.values())


def _is_read(op: Structured, place: int) -> bool:
    output = place - len(op.inputs)
    return output < 0 or accumulation(op, output).kind is StructuredKind.ELEMENTWISE


def lookups(op: Structured, varied: set[ir.Value]) -> list[Lookup]:
    """The reads of captured tensors that vary. Raises where one is read in another way."""
    found = []
    for value in op.captured:
        if value in varied and is_tensor(value):
            for inner in op.ops:
                if inner.name == "tensor.extract" and inner.operands[0] == value:
                    found.append(Lookup(value, inner))
                elif inner.name != "tensor.dim" and value in free_values(inner):
                    raise refused(inner, f"`{inner.name}` of a captured tensor has no rule")
    return found


def slices_of_one(op: Structured, found: list[Target]) -> dict[ir.Value, list[Target]]:
    """Source tensors of which several shifted slices are read: a stencil."""
    groups: dict[ir.Value, list[Target]] = {}
    for target in found:
        cut = defining(target.value) if is_tensor(target.value) else None
        if cut is None or cut.name != "tensor.extract_slice" or cut.block != op.op.block:
            continue
        if _is_shift(cut) and target.map == ir.AffineMap.get_identity(op.loops):
            groups.setdefault(cut.operands[0], []).append(target)
    return {source: cuts for source, cuts in groups.items() if len(cuts) > 1}


def _is_shift(cut: ir.Operation) -> bool:
    dynamic = ir.ShapedType.get_dynamic_size()
    numbers = [list(cut.attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides")]
    same_rank = cut.results[0].type.rank == cut.operands[0].type.rank
    return same_rank and not any(dynamic in one for one in numbers) and set(numbers[2]) <= {1}
