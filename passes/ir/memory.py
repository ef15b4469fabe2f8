"""Which values may be the same memory, and when it is touched.

Comes in: memrefs of a function after bufferization. Goes out: `aliases` (every value a buffer may reach),
`Positions` (a number for each op, in program order), and what an op does with a buffer.
"""

from __future__ import annotations

import math

from mlir import ir

from pykern.passes.ir.argument_uses import written_arguments
from pykern.passes.ir.values import defining, home, is_argument, made_by
from pykern.passes.kernels import find, identity

RESHAPES = ("memref.collapse_shape", "memref.expand_shape")
"""Ops whose result is their operand with other dimensions: all elements, in the same order."""
SAME_ELEMENTS = (*RESHAPES, "memref.cast")
"""The same, and those that change what is known of the type."""
TENSOR_RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape")
"""`RESHAPES` of tensors."""
VIEWS = {
    *SAME_ELEMENTS,
    "memref.subview",
    "memref.reinterpret_cast",
    "memref.transpose",
    "memref.view",
    "memref.reshape",
    "memref.assume_alignment",
    "arith.select",
}
"""Ops whose result is (a part of) one of their operands."""


def aliases(root: ir.Value, until: ir.Operation | None = None) -> list[ir.Value]:
    """`root` and every value that may be it or a part of it, through views, branches and loops.

    With `until`, the terminator of a loop, only what is the same memory within one iteration.
    """
    found, waiting = {root: None}, [root]
    while waiting:
        for use in waiting.pop().uses:
            if until is not None and use.owner.operation == until:
                continue
            for value in _reached(use.owner.operation, use.operand_number):
                if value not in found:
                    found[value] = None
                    waiting.append(value)
    return list(found)


def _reached(op: ir.Operation, operand: int) -> list[ir.Value]:
    """The values that may refer to the memory of this operand of `op`."""
    if op.name in VIEWS:
        return [op.results[0]] if isinstance(op.results[0].type, ir.MemRefType) else []
    if op.name == "scf.for" and operand >= 3:
        return [_arguments(op)[operand - 2], op.results[operand - 3]]
    if op.name == "scf.while":
        return [op.regions[0].blocks[0].arguments[operand]]
    parent = op.parent.operation if op.parent is not None else None
    if op.name == "scf.condition" and parent is not None and operand >= 1:
        return [parent.regions[1].blocks[0].arguments[operand - 1], parent.results[operand - 1]]
    if op.name == "scf.yield" and parent is not None:
        if parent.name == "scf.for":
            return [_arguments(parent)[operand + 1], parent.results[operand]]
        if parent.name == "scf.while":
            return [parent.regions[0].blocks[0].arguments[operand]]
        return [parent.results[operand]]
    return []


def _arguments(op: ir.Operation) -> list[ir.Value]:
    return list(op.regions[0].blocks[0].arguments)


def users(root: ir.Value, until: ir.Operation | None = None) -> list[tuple[ir.Operation, int]]:
    """Ops that touch the memory of `root`, with the operand; views and terminators of regions are none."""
    carriers = (*VIEWS, "scf.yield", "scf.condition", "scf.for", "scf.while")
    return [
        (use.owner.operation, use.operand_number)
        for value in aliases(root, until)
        for use in value.uses
        if use.owner.operation.name not in carriers
    ]


def writes(op: ir.Operation, operand: int) -> bool:
    """Whether `op` may write through its operand."""
    if op.name.startswith("linalg."):
        return operand >= len(op.operands) - outputs_of(op)
    if op.name == "memref.copy":
        return operand == 1
    if op.name == "func.call":
        callee = _callee(op)
        return callee is None or callee.regions[0].blocks[0].arguments[operand] in written_arguments(callee)
    return op.name not in ("memref.load", "memref.dim", "func.return", "vector.load")


def _callee(call: ir.Operation) -> ir.Operation | None:
    """The kernel a program calls; None for a function without a body."""
    symbol = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    root = call
    while root.name != "builtin.module":
        assert root.parent is not None
        root = root.parent.operation
    for each in root.regions[0].blocks[0].operations:
        attributes = each.operation.attributes
        if "sym_name" in attributes and ir.StringAttr(attributes["sym_name"]).value == symbol:
            return each.operation if len(each.operation.regions[0].blocks) else None
    return None


def outputs_of(op: ir.Operation) -> int:
    """The number of outputs of a linalg op, which are its last operands."""
    if "operandSegmentSizes" in op.attributes:
        return list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))[1]
    return 1


def is_never_written(memory: ir.Value) -> bool:
    """Whether a function only loads from an array that it is given, under one name, and asks for its lengths."""
    uses = [use.owner.operation for use in memory.uses]
    return (
        is_argument(memory)
        and has_one_name(memory)
        and all(op.name in ("memref.load", "memref.dim") for op in uses)
    )


def root_of(value: ir.Value) -> ir.Value:
    """The buffer a chain of views looks at."""
    while (view := made_by(value, *VIEWS)) is not None and view.name != "arith.select":
        value = view.operands[0]
    return value


def whole(value: ir.Value) -> ir.Value:
    """The buffer behind views that show all of it, in order."""
    while (view := made_by(value, *SAME_ELEMENTS)) is not None:
        value = view.operands[0]
    return value


def has_one_name(memory: ir.Value) -> bool:
    """Whether no op makes a view of the memory."""
    return not any(
        isinstance(r.type, ir.MemRefType) for use in memory.uses for r in use.owner.operation.results
    )


def is_dense(value: ir.Value) -> bool:
    """Whether elements lie one behind the other, the last index fastest; a scalar does."""
    if not isinstance(value.type, ir.MemRefType):
        return True
    kind = ir.MemRefType(value.type)
    return kind.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(kind.rank))


def is_distinct(root: ir.Value) -> bool:
    """Whether memory is an argument of the program, an allocation or a constant: no two of those are the same."""
    maker = defining(root)
    if maker is None:
        return root.owner.owner.operation.name == "func.func"
    return maker.name in ("memref.alloc", "memref.get_global")


CHOICES = ("arith.select", "scf.for", "scf.if", "scf.while")
"""Ops whose results and arguments are one of several buffers."""


def may_alias(first: ir.Value, second: ir.Value) -> bool:
    """Whether two buffers that are no views may be the same memory."""
    if first == second:
        return True
    if is_distinct(first) and is_distinct(second):
        return False
    if _is_newer(first, second) or _is_newer(second, first):
        return False
    for one, other in ((first, second), (second, first)):
        if is_distinct(one) and _maker(other).name in CHOICES:
            return other in aliases(one)
    return True


def _maker(value: ir.Value) -> ir.Operation:
    """The op whose result or argument a value is."""
    return value.owner.owner.operation if isinstance(value.owner, ir.Block) else value.owner.operation


def _is_newer(root: ir.Value, other: ir.Value) -> bool:
    """Whether memory is allocated where `other` is known already."""
    allocation, maker = made_by(root, "memref.alloc"), defining(other)
    after = None if allocation is None else ancestor_in(allocation, home(other))
    return after is not None and (maker is None or maker.is_before_in_block(after))


def is_allocated_in(root: ir.Value, block: ir.Block) -> bool:
    """Whether memory is an allocation of this very block: no loop around it carries it on."""
    return home(root) == block and made_by(root, "memref.alloc") is not None


def bytes_of(kind: ir.MemRefType) -> int:
    """Bytes a dense buffer of this type takes."""
    element = kind.element_type
    if isinstance(element, ir.IndexType):
        width = 64
    elif isinstance(element, ir.IntegerType):
        width = element.width
    else:
        width = ir.FloatType(element).width
    return math.prod(kind.shape) * max(1, width // 8)


class Positions:
    """Program order: an op stands before another where its whole interval does."""

    def __init__(self, function: ir.Operation) -> None:
        self.first: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self._number(function)

    def _number(self, op: ir.Operation) -> None:
        self.first[identity(op)] = len(self.first)
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    self._number(inner.operation)
        self.last[identity(op)] = len(self.first) - 1

    def interval(self, root: ir.Value, home: ir.Block) -> tuple[int, int] | None:
        """From the first to the last op of `home` that uses the memory; None where nothing does.

        Memory that leaves `home` (a loop carries it on) lives from beginning to end.
        """
        at = []
        for value in aliases(root):
            for use in value.uses:
                if use.owner.operation.name in VIEWS:
                    continue
                ancestor = ancestor_in(use.owner.operation, home)
                if ancestor is None:
                    return 0, len(self.first)
                at.append(identity(ancestor))
        return (min(self.first[i] for i in at), max(self.last[i] for i in at)) if at else None


def ancestor_in(op: ir.Operation, home: ir.Block) -> ir.Operation | None:
    """The op of block `home` that `op` is, or is inside of; None where it is outside of it."""
    while op.name != "func.func":
        if op.block == home:
            return op
        assert op.parent is not None
        op = op.parent.operation
    return None


def allocations(function: ir.Operation) -> list[ir.Operation]:
    """Every `memref.alloc`, in order."""
    return find(function, lambda op: op.name == "memref.alloc")
