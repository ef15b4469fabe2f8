"""Ops that stay within rows: reductions along rows, and what is done with their elements and results.

Comes in: a block of a program on buffers. Goes out: `chains`, runs of ops that one kernel can do, a group a row: each
op touches the row it stands in only, so a work-item sees what it wrote itself, and what the group has reduced.
Dimensions of length 1 are looked through. Read next: `row_kernels`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from mlir import ir

from pykern.passes.analysis.cost_model.devices import PART_TERMS
from pykern.passes.analysis.reductions import Combine, combines
from pykern.passes.analysis.space import space_of
from pykern.passes.codegen.device.kernel import is_pure
from pykern.passes.codegen.device.products import product_of
from pykern.passes.codegen.device.reductions import KINDS
from pykern.passes.ir.memory import outputs_of, root_of, users, writes
from pykern.passes.ir.structured import indexing_maps, loop_lengths, reduction_loops
from pykern.passes.kernels import find, identity

Key = tuple[ir.Value, tuple[int, ...]]
"""An array, and which coordinates its index has: numbers of dimensions, those of rows first."""

_RESHAPES = ("memref.expand_shape", "memref.collapse_shape", "memref.cast")
_BETWEEN = (*_RESHAPES, "memref.alloc", "memref.alloca", "memref.subview", "memref.dealloc")


@dataclass
class Member:
    """One op of a chain. `numbers` are those of its dimensions among the coordinates of a row's element, -1 for
    dimensions of length 1; `full` ops have one along the row. `joins` are those of a reduction."""

    op: ir.Operation
    lengths: tuple[int, ...]
    numbers: list[int]
    maps: list[ir.AffineMap]
    joins: list[Combine] = field(default_factory=list)
    full: bool = True

    @property
    def inputs(self) -> int:
        return len(self.op.operands) - outputs_of(self.op)

    @property
    def outputs(self) -> range:
        return range(self.inputs, len(self.op.operands))

    def key(self, operand: int) -> Key | None:
        """What an operand is; None where its index is no plain choice of coordinates."""
        value = self.op.operands[operand]
        if not isinstance(value.type, ir.MemRefType):
            return None
        shape, found = ir.MemRefType(value.type).shape, []
        for length, expression in zip(shape, self.maps[operand].results, strict=True):
            if length == 1:
                continue
            if not isinstance(expression, ir.AffineDimExpr):
                return None
            found.append(self.numbers[expression.position])
        return base_of(value), tuple(found)


@dataclass
class Chain:
    """Ops of one kernel, in order. `rows` are lengths; a row has `length` elements."""

    rows: tuple[int, ...]
    length: int
    members: list[Member]

    @property
    def count(self) -> int:
        return math.prod(self.rows)

    def is_kept(self, root: ir.Value) -> bool:
        """Whether somebody else sees what the chain writes there."""
        if isinstance(root.owner, ir.Block) or root.owner.operation.name not in ("memref.alloc",):
            return True
        mine = {identity(m.op) for m in self.members}
        return any(identity(op) not in mine and op.name != "memref.dealloc" for op, _ in users(root))


def base_of(value: ir.Value) -> ir.Value:
    """The array with all elements of `value` in the same order."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in _RESHAPES:
        value = value.owner.operation.operands[0]
    return value


def chains(block: ir.Block) -> list[Chain]:
    """The chains of a block that are worth a kernel of their own."""
    found: list[Chain] = []
    pending: list[ir.Operation] = []
    for op in [o.operation for o in block.operations]:
        if op.name in ("linalg.generic", "memref.copy"):
            pending.append(op)
        elif op.name not in _BETWEEN and not is_pure(op):
            found += _split(pending)
            pending = []
    return found + _split(pending)


def _split(ops: list[ir.Operation]) -> list[Chain]:
    """The chains among ops that follow one another: each begins where the one before cannot go on."""
    found = []
    begin = 0
    while begin < len(ops):
        chain = _longest(ops[begin:])
        if chain is not None and _is_worth(chain):
            found.append(chain)
            begin += len(chain.members)
        else:
            begin += 1
    return found


def _longest(ops: list[ir.Operation]) -> Chain | None:
    """As many ops as go together, from the first on. The first reduction tells what a row is."""
    shape = next((s for s in map(_row_shape, ops) if s is not None), None)
    if shape is None:
        return None
    chain = Chain(*shape, [])
    seen: dict[ir.Value, set[Key | None]] = {}
    written: set[ir.Value] = set()
    for op in ops:
        member = _member(op, chain)
        if member is None or not _fits(member, seen, written):
            break
        chain.members.append(member)
    while chain.members and _is_fill(chain.members[-1]):  # of the op behind the chain
        chain.members.pop()
    return chain if chain.members else None


def _is_worth(chain: Chain) -> bool:
    if chain.count * 4 < chain.length // PART_TERMS:
        return False  # too few groups
    work = [m for m in chain.members if not _is_fill(m)]
    return len(work) > 1 and any(m.joins for m in work)


def _is_fill(member: Member) -> bool:
    return member.op.name == "linalg.generic" and len(member.op.operands) == 1


def _dimensions(op: ir.Operation) -> tuple[list[ir.AffineMap], list[bool], list[int]]:
    if op.name == "memref.copy":
        rank = ir.MemRefType(op.operands[1].type).rank
        identity_map = ir.AffineMap.get_identity(rank)
        return [identity_map] * 2, [False] * rank, list(ir.MemRefType(op.operands[1].type).shape)
    return indexing_maps(op), reduction_loops(op), loop_lengths(op)


def _is_static(op: ir.Operation) -> bool:
    kinds = [v.type for v in op.operands if isinstance(v.type, ir.MemRefType)]
    return all(ir.MemRefType(kind).has_static_shape for kind in kinds)


def _row_shape(op: ir.Operation) -> tuple[tuple[int, ...], int] | None:
    """Rows and the length of one, of a reduction along them."""
    if op.name != "linalg.generic" or not _is_static(op):
        return None
    _, kinds, lengths = _dimensions(op)
    real = [(n, k) for n, k in zip(lengths, kinds, strict=True) if n != 1]
    if not real or [k for _, k in real] != [False] * (len(real) - 1) + [True] or 0 in lengths:
        return None
    if product_of(space_of(op)) is not None:
        return None
    return tuple(n for n, _ in real[:-1]), real[-1][0]


def _member(op: ir.Operation, chain: Chain) -> Member | None:
    if not _is_static(op):
        return None
    maps, kinds, lengths = _dimensions(op)
    real = tuple(n for n in lengths if n != 1)
    full = real == (*chain.rows, chain.length)
    if not full and real != chain.rows:
        return None
    count = iter(range(len(real)))
    member = Member(op, tuple(lengths), [next(count) if n != 1 else -1 for n in lengths], maps, full=full)
    if any(k and n != 1 for k, n in zip(kinds, lengths, strict=True)):
        joins = combines(op)
        if _row_shape(op) is None or joins is None or not all(j.op.name in KINDS for j in joins):
            return None
        member.joins = joins
    elif any(kinds):
        return None
    rows = tuple(range(len(chain.rows)))
    wanted = rows if member.joins or not full else (*rows, len(rows))
    keys = [member.key(n) for n in member.outputs]
    return member if all(key is not None and key[1] == wanted for key in keys) else None


def _fits(member: Member, seen: dict[ir.Value, set[Key | None]], written: set[ir.Value]) -> bool:
    """Whether what is written is seen in one way only: at the place in the row where it is written."""
    mine: dict[ir.Value, set[Key | None]] = {}
    writing = set()
    for n, value in enumerate(member.op.operands):
        if isinstance(value.type, ir.MemRefType):
            root = root_of(value)
            mine.setdefault(root, set()).add(member.key(n))
            if writes(member.op, n):
                writing.add(root)
    for root, keys in mine.items():
        together = seen.get(root, set()) | keys
        if (root in written or root in writing) and (len(together) > 1 or None in together):
            return False
    for root, keys in mine.items():
        seen.setdefault(root, set()).update(keys)
    written |= writing
    return not find(member.op, lambda op: op.name == "memref.load" and root_of(op.operands[0]) in written)
