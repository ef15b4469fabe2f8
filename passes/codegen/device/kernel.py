"""A kernel in the making, in place of an op of the program.

Comes in: the op, and how many work-items there are. Goes out: a `func.func` marked `kern.kernel` whose arguments
are what it needs from outside, and a `kern.launch` of it before the op. Scalars that the host would compute for
the kernel alone are computed in it; a number read from a buffer is read there, where nobody writes it in between.
"""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.index_space import GlobalIdOp
from pykern.dialect.launch import LaunchOp
from pykern.passes.ir.clone import clone
from pykern.passes.ir.memory import Positions, ancestor_in, is_distinct, root_of, users, writes
from pykern.passes.ir.values import defining
from pykern.passes.kernels import function_around, identity, index_constant, update_type

PURE = ("arith.", "math.", "index.")
"""Dialects whose ops on scalars a kernel may do again."""
PREFIX = re.compile(r"^program\.|\W")


@dataclass
class KernelContext:
    """The program that kernels are made for, and the number of the next one."""

    module: ir.Module
    program: ir.Operation
    numbers: itertools.count = field(default_factory=itertools.count)
    suffix: str = ""
    matrix_unit: str = ""
    """The instruction of the target that multiplies small matrices of 16-bit floats; empty: there is none."""
    aligned: bool = False
    """Whether the program's arguments begin at multiples of 16 bytes."""
    warpgroup_unit: str = ""
    """The instruction that four subgroups multiply matrices with; empty: there is none."""

    @functools.cached_property
    def _taken(self) -> frozenset[str]:
        """The symbols that were there before: a program may launch a kernel that is called as it is."""
        named = (op.operation.attributes for op in self.module.body.operations)
        return frozenset(ir.StringAttr(found["sym_name"]).value for found in named if "sym_name" in found)

    def next_symbol(self) -> str:
        program = ir.StringAttr(self.program.attributes["sym_name"]).value
        names = (f"{PREFIX.sub('', program)}_{self.suffix}{n}" for n in self.numbers)
        return next(name for name in names if name not in self._taken)


class Kernel:
    """One kernel. As a context, ops are made at its end; `value` gives what a value of the program is in it."""

    def __init__(
        self, place: KernelContext, op: ir.Operation, ndrange: tuple[int, ...], workgroup: tuple[int, ...]
    ) -> None:
        self.place, self.op = place, op
        self.ndrange, self.workgroup = ndrange, workgroup
        self.passed: list[ir.Value] = []
        self.known: dict[ir.Value, ir.Value] = {}
        self.symbol = place.next_symbol()
        attributes = {
            "sym_name": ir.StringAttr.get(self.symbol),
            "sym_visibility": ir.StringAttr.get("private"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [])),
            kern.KERNEL: ir.UnitAttr.get(),
            kern.PLAIN: ir.UnitAttr.get(),
            kern.NOALIAS: ir.UnitAttr.get(),  # no iteration of a linalg op reads what another one writes
            kern.RANK: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(ndrange)),
            kern.NDRANGE: ir.DenseI64ArrayAttr.get(list(ndrange)),
            kern.WORKGROUP: ir.DenseI64ArrayAttr.get(list(workgroup)),
        }
        if ndrange == (1,):  # its number stays unknown to compilers, see `zero`
            del attributes[kern.NDRANGE]
        with ir.InsertionPoint(place.module.body), op.location:
            self.function = ir.Operation.create("func.func", attributes=attributes, regions=1)
        self.block = self.function.regions[0].blocks.append()

    def __enter__(self) -> Kernel:
        self._location = self.op.location
        self._location.__enter__()
        self._point = ir.InsertionPoint(self.block)
        self._point.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            ir.Operation.create("func.return")
        self._point.__exit__(*error)
        self._location.__exit__(*error)
        if error[0] is not None:
            return
        self._drop_unused()
        self._pass_once()
        update_type(self.function)
        with ir.InsertionPoint(self.op), self.op.location:
            LaunchOp.create(self.symbol, self.passed, self.ndrange, workgroup=self.workgroup)

    def _drop_unused(self) -> None:
        for number in reversed(range(len(self.passed))):
            if not list(self.block.arguments[number].uses):
                self.block.erase_argument(number)
                del self.passed[number]

    def _pass_once(self) -> None:
        """Arrays of which the kernel takes several parts are passed whole: devices bind few buffers."""
        parts: dict[ir.Value, list[int]] = {}
        for number, value in enumerate(self.passed):
            owner = defining(value)
            if owner is not None and owner.name == "memref.subview" and len(owner.operands) == 1:
                parts.setdefault(owner.operands[0], []).append(number)
        several = {
            whole: numbers for whole, numbers in parts.items() if len(numbers) > 1 or whole in self.passed
        }
        for whole, numbers in several.items():
            inside = self.known.get(whole) or self.block.add_argument(whole.type, self.op.location)
            if whole not in self.passed:
                self.passed.append(whole)
            with ir.InsertionPoint.at_block_begin(self.block), self.op.location:
                for number in numbers:
                    made = clone(self.passed[number].owner, lambda _, inside=inside: inside)
                    self.block.arguments[number].replace_all_uses_with(made.results[0])
        self._drop_unused()

    def zero(self) -> ir.Value:
        """Where loops begin. In a kernel of one work-item it is the work-item's number: where nothing depends on
        that, Intel's compiler for OpenCL vectorises the loops, and dies of those that have loops inside."""
        return GlobalIdOp.create(0) if self.ndrange == (1,) else index_constant(0)

    def value(self, value: ir.Value) -> ir.Value:
        """The value inside the kernel that stands for a value of the program. Ask for it at the top, before any op
        that reads it."""
        if value in self.known:
            return self.known[value]
        owner = defining(value)
        if owner is not None and (
            is_pure(owner) or (owner.name == "memref.load" and is_steady(owner, self.op))
        ):
            for operand in owner.operands:
                self.value(operand)
            made = clone(owner, self.value)
            self.known.update(zip(owner.results, made.results, strict=True))
        else:
            self.passed.append(value)
            self.known[value] = self.block.add_argument(value.type, self.op.location)
        return self.known[value]


def is_pure(op: ir.Operation) -> bool:
    """Whether an op only computes scalars from scalars."""
    values = [*op.operands, *op.results]
    return op.name.startswith(PURE) and not any(isinstance(v.type, ir.ShapedType) for v in values)


def is_steady(load: ir.Operation, op: ir.Operation) -> bool:
    """Whether nobody, `op` included, writes what a load has read until `op` is done."""
    root = root_of(load.operands[0])
    if not is_distinct(root):
        return False
    ancestor = ancestor_in(op, load.block)
    if ancestor is None:
        return False
    positions = Positions(function_around(load))
    begin = positions.first[identity(load)]
    end = positions.last[identity(ancestor)] if ancestor != op else positions.last[identity(op)]
    return not any(
        begin < positions.first[identity(user)] <= end
        for user, operand in users(root)
        if writes(user, operand)
    )
