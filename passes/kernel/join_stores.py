"""A cell that both sides of a branch store to last is stored to once, behind the branch.

Comes in: kernels with branches. Goes out: `if c: o[i] = a` and `else: o[i] = b` as one store of a choice. Read next:
`promote_cells`, `speculate_loads`: a branch that stores keeps work-items out of lanes, and one that gives a value does
not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref, scf

from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.ir.clone import attributes_of
from pykern.passes.ir.values import is_inside
from pykern.passes.kernels import named, terminator

_QUIET = ("arith.", "math.", "memref.dim")
"""Beginnings of names of ops that a store may move across."""


@dataclass(frozen=True)
class JoinStores(Pass):
    """Store behind a branch what both of its sides store to one cell.

    In:  kernels with scf.if. Out: where both sides store to the same place, known in front of the branch, and nothing
         behind these stores touches memory, the branch gives what is stored, and one store follows it.
    """

    name: ClassVar[str] = "kern-join-stores"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.if",)

    def run(self, module: ir.Module) -> bool:
        changed = False
        for kernel in kernels.kernels(module):
            for branch in named(kernel, "scf.if"):  # a walk comes to the inner branch first
                now = branch
                while (joined := _joined(now)) is not None:
                    now, changed = joined, True
        return changed


def _joined(branch: ir.Operation) -> ir.Operation | None:
    """The branch without the pair of stores that came last; None where there is none."""
    if not all(len(region.blocks) for region in branch.regions):
        return None
    sides = [region.blocks[0] for region in branch.regions]
    pairs = [
        (first, second)
        for first in _last_stores(sides[0], branch)
        for second in _last_stores(sides[1], branch)
        if list(first.operands)[1:] == list(second.operands)[1:]
        and attributes_of(first) == attributes_of(second)
    ]
    return _join(branch, *pairs[0]) if pairs else None


def _last_stores(block: ir.Block, branch: ir.Operation) -> list[ir.Operation]:
    """Stores to places known in front of the branch behind which nothing but stores to other arrays touches memory."""
    found: list[ir.Operation] = []
    written: set[ir.Value] = set()
    for op in reversed([o.operation for o in block.operations][:-1]):
        if op.name == "memref.store":
            memory = op.operands[1]
            if memory not in written and not any(is_inside(v, branch) for v in list(op.operands)[1:]):
                found.append(op)
            written.add(memory)
        elif not op.name.startswith(_QUIET):
            break
    return found


def _join(branch: ir.Operation, first: ir.Operation, second: ir.Operation) -> ir.Operation:
    _, memory, *indices = first.operands
    kind = first.operands[0].type
    with ir.InsertionPoint(branch), branch.location:
        made = ir.Operation.create(
            branch.name,
            results=[*(r.type for r in branch.results), kind],
            operands=list(branch.operands),
            attributes=attributes_of(branch),
            regions=2,
        )
        with first.location:
            stored = memref.StoreOp(made.results[len(branch.results)], memory, indices).operation
    for name, attribute in attributes_of(first).items():
        stored.attributes[name] = attribute
    for region, new, store in zip(branch.regions, made.regions, (first, second), strict=True):
        end = terminator(region.blocks[0])
        with ir.InsertionPoint(end), end.location:
            scf.YieldOp([*end.operands, store.operands[0]])
        end.erase()
        store.erase()
        region.blocks[0].append_to(new)
    for old, value in zip(branch.results, made.results, strict=False):
        old.replace_all_uses_with(value)
    branch.erase()
    return made
