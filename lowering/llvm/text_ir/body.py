"""A function written in order: 8-byte words, variables, loops, tests that return.

Comes in: a module and functions of it. Goes out: their bodies. For code that is more loops than text: see
`pykern.lowering.llvm.program.entry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pykern.lowering.llvm.text_ir.function import Block, Function
from pykern.lowering.llvm.text_ir.values import I64, Operand, Type, Value, value


class Body(Function):
    """The body of a function."""

    # -- memory ------------------------------------------------------------------------------------

    def word(self, pointer: Value, number: Operand, kind: Type = I64) -> Value:
        """The 8-byte word of that number."""
        return self.load(kind, pointer, self.mul(number, 8))

    def put(self, what: Operand, pointer: Value, number: Operand) -> None:
        self.store(what, pointer, self.mul(number, 8))

    def variable(self, first: Operand) -> Value:
        """A place on the stack for values of this type; `load` and `store` it."""
        first = value(first)
        made = self.stack(first.type.name)
        self.store(first, made)
        return made

    def increase(self, variable: Value, by: Operand) -> None:
        self.store(self.add(self.load(I64, variable), by), variable)

    # -- what comes next ---------------------------------------------------------------------------

    def need(self, condition: Value, otherwise: Operand | Block) -> None:
        """Go on where the condition holds; else at a block, or return a value."""
        good = self.new_block("good")
        bad = otherwise if isinstance(otherwise, Block) else self.new_block("bad")
        self.branch_if(condition, good, bad, likely=True)
        if not isinstance(otherwise, Block):
            self.block = bad
            self.ret(otherwise)
        self.block = good

    def leave(self, otherwise: Operand | Block) -> None:
        """Go on at a block, or return a value."""
        if isinstance(otherwise, Block):
            self.branch(otherwise)
        else:
            self.ret(otherwise)

    @contextmanager
    def loop(self, count: Operand) -> Iterator[Value]:
        """For each number below `count`."""
        number = self.variable(0)
        with self.while_(lambda: self.is_(self.load(I64, number), "<", count)):
            yield self.load(I64, number)
            self.increase(number, 1)

    @contextmanager
    def while_(self, condition: Callable[[], Value]) -> Iterator[None]:
        """As long as what is computed anew each time holds."""
        head, inside, behind = self.new_block("head"), self.new_block("inside"), self.new_block("behind")
        self.branch(head)
        self.block = head
        self.branch_if(condition(), inside, behind)
        self.block = inside
        yield
        self.branch(head)
        self.block = behind

    @contextmanager
    def forever(self) -> Iterator[None]:
        """Until the body returns."""
        inside = self.new_block("inside")
        self.branch(inside)
        self.block = inside
        yield
        self.branch(inside)

    def outside(self, name: str) -> Value:
        """The address of an object of the process."""
        return self.module.outside(name)
