"""Where values come from, and who reads them."""

from __future__ import annotations

from collections.abc import Container

from mlir import ir


def defining(value: ir.Value) -> ir.Operation | None:
    """The op whose result the value is; None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def is_argument(value: ir.Value) -> bool:
    """Whether the value is an argument of a block rather than the result of an op."""
    return isinstance(value.owner, ir.Block)


def made_by(value: ir.Value, *names: str) -> ir.Operation | None:
    """The op whose result the value is, where it has one of these names."""
    maker = defining(value)
    return maker if maker is not None and maker.name in names else None


def home(value: ir.Value) -> ir.Block:
    """The block the value belongs to."""
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def arguments_behind(value: ir.Value, known: Container[ir.Value] = ()) -> set[ir.Value]:
    """The block arguments that a value is computed from; what is behind `known` values does not count."""
    seen, waiting = set(), [value]
    while waiting:
        one = waiting.pop()
        if one not in known and one not in seen:
            seen.add(one)
            maker = defining(one)
            waiting += [] if maker is None else maker.operands
    return {one for one in seen if defining(one) is None}


def is_inside(value: ir.Value, outer: ir.Operation) -> bool:
    """Whether a value comes to be within the regions of `outer`."""
    place = value.owner
    return _is_or_lies_in(place.owner if isinstance(place, ir.Block) else place.operation.parent, outer)


def is_nested_in(op: ir.Operation, outer: ir.Operation) -> bool:
    """Whether `op` stands in a region of `outer`, at any depth."""
    return _is_or_lies_in(op.parent, outer)


def _is_or_lies_in(op: ir.Operation | None, outer: ir.Operation) -> bool:
    while op is not None:
        if op.operation == outer:
            return True
        op = op.operation.parent
    return False


def has_uses(value: ir.Value) -> bool:
    return next(iter(value.uses), None) is not None


def free_values(op: ir.Operation, nested_only: bool = False) -> list[ir.Value]:
    """Values from outside that the regions of `op` read, in order; and its operands, unless `nested_only`."""
    inside: set[ir.Value] = set()
    read: dict[ir.Value, None] = {} if nested_only else dict.fromkeys(op.operands)
    regions = list(op.regions)
    if not regions:
        return list(read)

    def visit(inner: ir.Operation) -> None:
        for operand in inner.operands:
            read.setdefault(operand)
        inside.update(inner.results)
        for region in inner.regions:
            blocks(region)

    def blocks(region: ir.Region) -> None:
        for block in region.blocks:
            inside.update(block.arguments)
            for inner in block.operations:
                visit(inner.operation)

    for region in regions:
        blocks(region)
    return [value for value in read if value not in inside]


def parent_of(op: ir.Operation) -> ir.Operation:
    """The op in whose region an op stands."""
    assert op.parent is not None
    return op.parent.operation
