"""Loops of a few iterations are written out where their numbers make something of an index that is no plain sum.

Comes in: a kernel as loops over work-items. Goes out: constants in place of `q // 3` and `q % 3` of a window that is
walked in one loop, of `(j + 1) % 3` and of comparisons of two such numbers; constant exponents in place of `x ** k`;
and, side by side, the accesses to `x[2 * i + a, 2 * j + b]`, of which LLVM takes a vector apart. Read next:
`constant_loops`, `unrolling`.

Why: LLVM unrolls such loops after edges, lanes and memory have been decided on, and an index that is divided is no sum
to any of these. A power with a small exponent that is known is a few products, any other one a logarithm and an
exponential.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.passes.analysis.cost_model.code_size import UNROLLED_INDEX_OPS
from pykern.passes.analysis.cost_model.lengths import LONGEST_INDEX_LOOP, SHORT_ROW
from pykern.passes.framework import Pass
from pykern.passes.ir.index_arithmetic import affine_of
from pykern.passes.ir.values import arguments_behind, is_inside, made_by, parent_of
from pykern.passes.kernel.constant_loops import Plan
from pykern.passes.kernel.tables_read import added_tables
from pykern.passes.kernel.unrolling import Unrolling
from pykern.passes.kernels import MEMORY_OPERAND, find, is_constant, named
from pykern.passes.remarks import remark

_DIVISIONS = ("arith.floordivsi", "arith.divsi", "arith.remsi")
_CASTS = ("arith.index_cast", "arith.trunci", "arith.extsi")
_KEPT = ("kern.push", "kern.pop", "scf.while")


@dataclass(frozen=True)
class UnrollIndexLoops(Pass):
    """Write out loops of constant length whose numbers are divided, compared, exponents, or added to a stride.

    In:  kernels as loops over work-items, the innermost marked `kern.items`; nests of programs, for exponents.
    Out: loops of at most `longest` iterations are gone, if such an index depends on their variable and a work-item has
         at most `ops` ops then. Kernels with `scf.while` or tapes stay as they are, and those that store to one cell in
         all iterations, until `kern-promote-cells` has made a number of it.
    """

    name: ClassVar[str] = "kern-unroll-index-loops"
    only_speed: ClassVar[bool] = True
    looks_for: ClassVar[tuple[str, ...]] = ("scf.for",)
    ops: int = UNROLLED_INDEX_OPS
    longest: int = LONGEST_INDEX_LOOP

    def run(self, module: ir.Module) -> bool:
        changed = False
        for function in [o.operation for o in module.body.operations if o.operation.name == "func.func"]:
            for items in find(function, lambda op: op.name == "scf.for" and kern.ITEMS in op.attributes):
                if _counters(items) and not named(items, *_KEPT):
                    changed = self._items(items, kern.KERNEL in function.attributes) or changed
        return changed

    def _items(self, items: ir.Operation, of_kernel: bool) -> bool:
        counters = _counters(items)
        if _has_cells(items):
            return False
        wanted = _exponents(items, counters)
        if of_kernel:
            wanted += [*_divided(items, counters), *_compared(items, counters), *_strided(items, counters)]
            wanted += _tables(items)
        if not wanted:
            return False
        plan = Plan(items, [], self.ops, wanted, self.longest)
        if plan.is_too_long:
            remark(
                items, f"loops over divided indices stay: written out the work-item has over {self.ops} ops"
            )
            return False
        if not plan.unrolls:
            return False
        remark(
            items, "loops whose numbers are divided, compared, exponents or added to a stride are written out"
        )
        Unrolling(plan).replace()
        return True


def _counters(items: ir.Operation) -> list[ir.Value]:
    """Variables of loops of the work-item."""
    return [loop.regions[0].blocks[0].arguments[0] for loop in named(items, "scf.for") if loop != items]


def _has_cells(items: ir.Operation) -> bool:
    """Whether iterations of a loop store to one cell of an array, which nothing but a loop keeps in a register."""
    for store in named(items, "memref.store"):
        loop = parent_of(store)
        while loop.name != "scf.for":
            loop = parent_of(loop)
        places = list(store.operands)[2:]
        is_own = loop == items or made_by(store.operands[1], "memref.alloca") is not None
        if not is_own and not any(is_inside(index, loop) for index in places):
            return True
    return False


def _divided(items: ir.Operation, counters: list[ir.Value]) -> list[ir.Value]:
    """What is divided by a number and depends on such variables alone."""
    found = [op for op in named(items, *_DIVISIONS) if is_constant(op.operands[1]) is not None]
    return [op.operands[0] for op in found if _is_counted(op.operands[0], counters)]


def _compared(items: ir.Operation, counters: list[ir.Value]) -> list[ir.Value]:
    """Variables that are compared with each other or with a number."""
    return [
        value
        for op in named(items, "arith.cmpi")
        if all(_is_counted(v, counters) or is_constant(v) is not None for v in op.operands)
        for value in op.operands
    ]


def _exponents(items: ir.Operation, counters: list[ir.Value]) -> list[ir.Value]:
    """What is the exponent of a power and depends on such variables alone."""
    found: list[ir.Value] = []
    for op in named(items, "math.powf"):
        exponent = made_by(op.operands[1], "arith.sitofp", "arith.uitofp")
        while exponent is not None:
            value = exponent.operands[0]
            found += [value] if _is_counted(value, counters) else []
            exponent = made_by(value, *_CASTS)
    return found


def _tables(items: ir.Operation) -> list[ir.Value]:
    """Places in tables of numbers that are added to an index which is tested, clamped or wraps around: each number has
    edges of its own."""
    loops = [loop for loop in named(items, "scf.for") if loop != items]
    return [index for loop in loops for op in added_tables(loop, items) for index in list(op.operands)[1:]]


def _is_counted(value: ir.Value, counters: list[ir.Value]) -> bool:
    behind = arguments_behind(value)
    return isinstance(value.type, ir.IndexType) and bool(behind) and behind <= set(counters)


def _strided(items: ir.Operation, counters: list[ir.Value]) -> list[ir.Value]:
    """Indices of loads of which each work-item is a few elements from the one before it."""
    found: list[ir.Value] = []
    for op in named(items, "memref.load"):
        indices = list(op.operands)[MEMORY_OPERAND[op.name] + 1 :]
        if not indices or not is_inside(indices[-1], items):
            continue
        form = affine_of(indices[-1], items, counters)
        if form is not None and 2 <= abs(form.coefficient) <= SHORT_ROW and form.terms:
            found += indices
    return found
