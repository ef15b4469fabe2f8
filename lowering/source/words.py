"""Numbers of a launch get their own types: source takes `float dt`, not eight bytes that hold it.

Comes in: a flat kernel whose numbers are words of 64 bits (`pykern.data.abi`). Goes out: the same with an argument of
the type that the kernel makes of each word, and the names of all arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.lowering.gpu.grid import Grid
from pykern.passes import kernels
from pykern.passes.framework import Pass
from pykern.passes.kernels import find, named, replace, update_type

MOST = 1 << 30
"""Lengths, counts and places of elements are below this."""


@dataclass(frozen=True)
class TypeWords(Pass):
    """Give each word the type that it is used in.

    In:  func.func whose numbers are i64, each turned into a float, an integer or an index.
    Out: the same with arguments of those types. A float that is only used rounded to 32 bits is one of 32 bits, an
         index an integer of 32 bits below `MOST`.
    """

    name: ClassVar[str] = "kern-type-words"
    plain: bool = False
    """Whether words stay words: only the places of work-items get their ranges."""
    wide: bool = False
    """Whether lengths and counts have 64 bits."""

    def run(self, module: ir.Module) -> None:
        for kernel in kernels.kernels(module):
            _place(kernel)
            if not self.plain:
                for argument in list(kernels.body(kernel).arguments):
                    if str(argument.type) == "i64":
                        _typed(argument, self.wide)
                if not self.wide:
                    _limit(kernel)
                update_type(kernel)


def _limit(kernel: ir.Operation) -> None:
    """Numbers that are known to fit in 32 bits are said to leave room for sums of two of them."""
    for op in find(kernel, lambda op: kern.RANGE in op.attributes):
        low, high = ir.DenseI64ArrayAttr(op.attributes[kern.RANGE])
        op.attributes[kern.RANGE] = ir.DenseI64ArrayAttr.get([max(low, -MOST), min(high, MOST - 1)])
    for op in named(kernel, "gpu.block_id"):
        op.attributes[kern.RANGE] = ir.DenseI64ArrayAttr.get([0, MOST - 1])


def _place(kernel: ir.Operation) -> None:
    """A work-item's place in its group is below the size of the group."""
    places = named(kernel, "gpu.thread_id")
    block = Grid(kernels.group(kernel)).block if places else ()
    for op in places:
        axis = "xyz".index(str(op.attributes["dimension"])[-2])
        most = block[axis] if axis < len(block) else 1
        op.attributes[kern.RANGE] = ir.DenseI64ArrayAttr.get([0, most - 1])


def _typed(word: ir.Value, wide: bool) -> None:
    users = _users(word)
    for name, kind in (("arith.bitcast", ir.FloatType), ("arith.trunci", ir.IntegerType)):
        if users and all(op.name == name and isinstance(op.results[0].type, kind) for op in users):
            if name == "arith.trunci" and not _agree(users):
                return
            if name == "arith.trunci" and all(
                op.name == "arith.bitcast" for user in users for op in _users(user.results[0])
            ):
                _become(word, [op for user in users for op in _users(user.results[0])], users)
            else:
                _become(word, users, [])
            return
    if not wide and all(op.name == "arith.index_cast" for op in users):
        word.set_type(ir.IntegerType.get_signless(32))


def _become(word: ir.Value, casts: list[ir.Operation], between: list[ir.Operation]) -> None:
    """The argument is what `casts` make of it."""
    if not casts or not _agree(casts):
        return
    kind = casts[0].results[0].type
    rounded = [op for cast in casts for op in _users(cast.results[0])]
    if (
        str(kind) == "f64"
        and rounded
        and all(op.name == "arith.truncf" and str(op.results[0].type) == "f32" for op in rounded)
    ):
        word.set_type(rounded[0].results[0].type)
        for op in rounded:
            replace(op, [word])
        for op in (*casts, *between):
            op.erase()
        return
    word.set_type(kind)
    for op in casts:
        replace(op, [word])
    for op in between:
        op.erase()


def _users(value: ir.Value) -> list[ir.Operation]:
    return [use.owner.operation for use in value.uses]


def _agree(ops: list[ir.Operation]) -> bool:
    return len({str(op.results[0].type) for op in ops}) == 1
