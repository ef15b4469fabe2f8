"""LLVM IR written with llvmlite's builder: memory at byte offsets, loops, tests that return.

Comes in: a module and functions of it. Goes out: their bodies. For code that is more loops than text: see `entry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

I1, I8, I32, I64, F32, F64 = (
    ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType(),
)  # fmt: skip
PTR = ir.PointerType()
NULL = ir.Constant(PTR, None)

Value = Any
"""A value of llvmlite; a Python int stands for an i64."""


class Body:
    """The body of a function, written in order."""

    def __init__(self, module: ir.Module, name: str, result: ir.Type, parameters: Sequence[ir.Type]) -> None:
        self.module = module
        self.function = ir.Function(module, ir.FunctionType(result, parameters), name)
        self.entry = self.function.append_basic_block()
        self.at = ir.IRBuilder(self.entry)
        self.arguments = self.function.args

    # -- memory ------------------------------------------------------------------------------------

    def place(self, pointer: Value, offset: Value) -> Value:
        """`offset` bytes behind a pointer."""
        return self.at.gep(pointer, [_number(offset)], source_etype=I8)

    def load(self, kind: ir.Type, pointer: Value, offset: Value = 0) -> Value:
        return self.at.load(self.place(pointer, offset), typ=kind)

    def store(self, value: Value, pointer: Value, offset: Value = 0) -> None:
        self.at.store(_number(value), self.place(pointer, offset))

    def word(self, pointer: Value, number: Value, kind: ir.Type = I64) -> Value:
        """The 8-byte word of that number."""
        return self.load(kind, pointer, self.at.mul(_number(number), _number(8)))

    def put(self, value: Value, pointer: Value, number: Value) -> None:
        self.store(value, pointer, self.at.mul(_number(number), _number(8)))

    def variable(self, first: Value, kind: ir.Type = I64) -> Value:
        """A place on the stack; `load` and `store` it."""
        with self.at.goto_block(self.entry):
            self.at.position_at_start(self.entry)
            made = self.at.alloca(kind)
        self.store(first, made)
        return made

    def add(self, variable: Value, more: Value) -> None:
        self.store(self.at.add(self.load(I64, variable), _number(more)), variable)

    # -- what comes next ---------------------------------------------------------------------------

    def is_(self, a: Value, sign: str, b: Value) -> Value:
        """A signed comparison; of pointers with ``==`` and ``!=``."""
        return self.at.icmp_signed(sign, _number(a), _number(b))

    def need(self, condition: Value, otherwise: Value) -> None:
        """Return `otherwise` unless the condition holds."""
        with self.at.if_then(self.at.not_(condition), likely=False):
            self.at.ret(otherwise)

    @contextmanager
    def loop(self, count: Value) -> Iterator[Value]:
        """For each number below `count`."""
        number = self.variable(0)
        head, inside, behind = (self.function.append_basic_block() for _ in range(3))
        self.at.branch(head)
        self.at.position_at_end(head)
        self.at.cbranch(self.is_(self.load(I64, number), "<", count), inside, behind)
        self.at.position_at_end(inside)
        yield self.load(I64, number)
        self.add(number, 1)
        self.at.branch(head)
        self.at.position_at_end(behind)

    @contextmanager
    def while_(self, condition: Callable[[], Value]) -> Iterator[None]:
        """As long as what is computed anew each time holds."""
        head, inside, behind = (self.function.append_basic_block() for _ in range(3))
        self.at.branch(head)
        self.at.position_at_end(head)
        self.at.cbranch(condition(), inside, behind)
        self.at.position_at_end(inside)
        yield
        self.at.branch(head)
        self.at.position_at_end(behind)

    @contextmanager
    def forever(self) -> Iterator[None]:
        """Until the body returns."""
        inside = self.function.append_basic_block()
        self.at.branch(inside)
        self.at.position_at_end(inside)
        yield
        self.at.branch(inside)

    def call(self, name: str, result: ir.Type, *arguments: Value) -> Value:
        """A function of this module, or of the process."""
        values = [_number(a) for a in arguments]
        known = self.module.globals.get(name)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(result, [v.type for v in values]), name)
        return self.at.call(known, values)

    def call_pointer(self, pointer: Value, result: ir.Type, *arguments: Value) -> Value:
        values = [_number(a) for a in arguments]
        kind = ir.FunctionType(result, [v.type for v in values])
        return self.at.call(_Typed(pointer, kind), values)

    def outside(self, name: str) -> Value:
        """The address of an object of the process."""
        known = self.module.globals.get(name)
        if known is None:
            known = ir.GlobalVariable(self.module, I8, name)
        return known


class _Typed:
    """A pointer that is called: llvmlite wants to know its function's type."""

    def __init__(self, pointer: Value, kind: ir.FunctionType) -> None:
        self.pointer, self.function_type, self.type = pointer, kind, PTR

    def get_reference(self) -> str:
        return self.pointer.get_reference()


def _number(value: Value) -> Value:
    return ir.Constant(I64, value) if isinstance(value, int) else value
