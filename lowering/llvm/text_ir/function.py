"""A function of LLVM IR: its blocks and its instructions, each method a line of text.

Comes in: operands. Goes out: values, which have the types that LLVM gives them. Instructions go to the end of the
current block; blocks stand in the order in which they were made. Read next: `body`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from pykern.lowering.llvm.text_ir.module import Module, symbol
from pykern.lowering.llvm.text_ir.values import (
    F32,
    F64,
    I1,
    I64,
    PTR,
    VOID,
    Operand,
    Type,
    Value,
    alike,
    value,
)

SIGNS = {
    "==": "eq",
    "!=": "ne",
    "<": "slt",
    "<=": "sle",
    ">": "sgt",
    ">=": "sge",
    "u<": "ult",
    "u<=": "ule",
    "u>": "ugt",
    "u>=": "uge",
}
"""LLVM's names of comparisons; the latter are of unsigned numbers."""
LIKELY = 99
"""How often in a hundred times a test has the likely outcome."""


class Block:
    """Instructions up to the one that leaves; nothing comes behind that."""

    def __init__(self, label: str) -> None:
        self.label, self.lines, self.left = label, list[str](), False

    def __str__(self) -> str:
        return "\n".join([f"{self.label}:", *(f"  {line}" for line in self.lines)])


class Function:
    """A function in the making, the current block its first."""

    def __init__(self, module: Module, name: str, result: Type, parameters: Sequence[Type]) -> None:
        assert name not in module.functions, f"@{name} is written twice"
        module.functions[name] = self
        module.function(name, (result, tuple(parameters)))
        self.module, self.name, self.result = module, name, result
        self.arguments = [Value(kind, f"%a{n}") for n, kind in enumerate(parameters)]
        self.attributes: list[str] = []
        self._stack: list[str] = []
        self._loaded: dict[str, Value] = {}
        self._names = 0
        self._blocks: list[Block] = []
        self.block = self.new_block("entry")

    def __str__(self) -> str:
        parameters = ", ".join(map(str, self.arguments))
        linkage = self.module.linkage.get(self.name, "")
        start = " ".join(
            filter(None, ["define", linkage, f"{self.result} {symbol(self.name)}({parameters})"])
        )
        head = " ".join([start, *self.attributes, "{"])
        first, *others = self._blocks
        stack = [f"{first.label}:", *(f"  {line}" for line in self._stack), *(f"  {x}" for x in first.lines)]
        return "\n".join([head, *stack, *map(str, others), "}"])

    # -- blocks --------------------------------------------------------------------------------------

    def new_block(self, name: str = "block") -> Block:
        """A block behind all others; the current one stays."""
        self._blocks.append(Block(f"{name}{len(self._blocks)}"))
        return self._blocks[-1]

    def branch(self, to: Block) -> None:
        self._leave(f"br label %{to.label}")

    def branch_if(self, condition: Value, then: Block, other: Block, likely: bool | None = None) -> None:
        weights = ""
        if likely is not None:
            taken, not_taken = (LIKELY, 100 - LIKELY) if likely else (100 - LIKELY, LIKELY)
            weights = f', !prof !{{!"branch_weights", i32 {taken}, i32 {not_taken}}}'
        self._leave(f"br {self._a(I1, condition)}, label %{then.label}, label %{other.label}{weights}")

    def switch(self, number: Value, cases: Mapping[int, Block], otherwise: Block) -> None:
        listed = " ".join(f"{number.type(case)}, label %{block.label}" for case, block in cases.items())
        self._leave(f"switch {number}, label %{otherwise.label} [{listed}]")

    def ret(self, result: Operand | None = None) -> None:
        self._leave("ret void" if result is None else f"ret {self._a(self.result, result)}")

    def unreachable(self) -> None:
        self._leave("unreachable")

    @contextmanager
    def if_then(self, condition: Value, likely: bool | None = None) -> Iterator[None]:
        """What is written inside runs where the condition holds."""
        then, after = self.new_block("then"), self.new_block("after")
        self.branch_if(condition, then, after, likely)
        with self._within(then, after):
            yield
        self.block = after

    @contextmanager
    def if_else(
        self, condition: Value, likely: bool | None = None
    ) -> Iterator[tuple[AbstractContextManager[None], AbstractContextManager[None]]]:
        """Two blocks, each entered with `with` inside: ``with f.if_else(c) as (then, other):``, ``with then:`` ..."""
        then, other, after = self.new_block("then"), self.new_block("else"), self.new_block("after")
        self.branch_if(condition, then, other, likely)
        yield self._within(then, after), self._within(other, after)
        self.block = after

    @contextmanager
    def _within(self, block: Block, after: Block) -> Iterator[None]:
        self.block = block
        yield
        if not self.block.left:
            self.branch(after)

    # -- numbers -------------------------------------------------------------------------------------

    def binary(self, op: str, a: Operand, b: Operand) -> Value:
        """The instruction of two operands that LLVM calls so."""
        a, b = alike(a, b)
        return self._new(a.type, f"{op} {a}, {b.name}")

    def add(self, a: Operand, b: Operand) -> Value:
        return self.binary("add", a, b)

    def sub(self, a: Operand, b: Operand) -> Value:
        return self.binary("sub", a, b)

    def mul(self, a: Operand, b: Operand) -> Value:
        return self.binary("mul", a, b)

    def fmul(self, a: Operand, b: Operand) -> Value:
        return self.binary("fmul", a, b)

    def sdiv(self, a: Operand, b: Operand) -> Value:
        return self.binary("sdiv", a, b)

    def udiv(self, a: Operand, b: Operand) -> Value:
        return self.binary("udiv", a, b)

    def srem(self, a: Operand, b: Operand) -> Value:
        return self.binary("srem", a, b)

    def and_(self, a: Operand, b: Operand) -> Value:
        return self.binary("and", a, b)

    def or_(self, a: Operand, b: Operand) -> Value:
        return self.binary("or", a, b)

    def xor(self, a: Operand, b: Operand) -> Value:
        return self.binary("xor", a, b)

    def shl(self, a: Operand, b: Operand) -> Value:
        return self.binary("shl", a, b)

    def lshr(self, a: Operand, b: Operand) -> Value:
        return self.binary("lshr", a, b)

    def ashr(self, a: Operand, b: Operand) -> Value:
        return self.binary("ashr", a, b)

    def neg(self, a: Value) -> Value:
        return self.sub(0, a)

    def not_(self, a: Value) -> Value:
        return self.xor(a, -1)

    def is_(self, a: Operand, sign: str, b: Operand) -> Value:
        """A comparison with a sign of Python's, of signed numbers, with ``u<`` and the like of unsigned ones; of
        pointers with ``==`` and ``!=``. Of floats it is false where one of them is no number."""
        return self.compare(SIGNS[sign], a, b)

    def compare(self, predicate: str, a: Operand, b: Operand) -> Value:
        """A comparison that LLVM calls so."""
        a, b = alike(a, b)
        if a.type in (F32, F64):
            return self._new(I1, f"fcmp o{predicate.removeprefix('s')} {a}, {b.name}")
        return self._new(I1, f"icmp {predicate} {a}, {b.name}")

    def select(self, condition: Value, a: Operand, b: Operand) -> Value:
        a, b = alike(a, b)
        return self._new(a.type, f"select {self._a(I1, condition)}, {a}, {b}")

    def cast(self, how: str, a: Value, kind: Type) -> Value:
        """The conversion that LLVM calls so: ``zext``, ``trunc``, ``ptrtoint`` ..."""
        return self._new(kind, f"{how} {a} to {kind}")

    # -- calls ---------------------------------------------------------------------------------------

    def call(self, name: str, result: Type, *arguments: Operand, tail: bool = False) -> Value:
        """A function of this module, or of the process. `tail`: it may have this function's place on the stack, since
        the result is returned at once."""
        values = [value(a) for a in arguments]
        callee = self.module.function(name, (result, tuple(v.type for v in values)))
        return self.call_pointer(callee, result, *values, tail=tail)

    def call_pointer(self, pointer: Value, result: Type, *arguments: Operand, tail: bool = False) -> Value:
        values = ", ".join(str(value(a)) for a in arguments)
        return self._new(result, f"{'tail ' if tail else ''}call {result} {pointer.name}({values})")

    # -- memory --------------------------------------------------------------------------------------

    def stack(self, what: str) -> Value:
        """Memory of the whole call, wherever it is asked for: ``[4 x i64], align 16`` for example."""
        self._names += 1
        self._stack.insert(0, f"%v{self._names} = alloca {what}")
        return Value(PTR, f"%v{self._names}")

    def loaded(self, name: str) -> Value:
        """The pointer that a global variable holds, read once a call."""
        if name not in self._loaded:
            self._names += 1
            self._loaded[name] = Value(PTR, f"%v{self._names}")
            self._stack.append(f"%v{self._names} = load ptr, {self.module.globals[name]}")
        return self._loaded[name]

    def place(self, pointer: Value, offset: Operand) -> Value:
        """`offset` bytes behind a pointer."""
        if offset == 0:
            return pointer
        return self._new(PTR, f"getelementptr i8, {self._a(PTR, pointer)}, {self._a(I64, offset)}")

    def load(self, kind: Type, pointer: Value, offset: Operand = 0) -> Value:
        return self._new(kind, f"load {kind}, {self.place(pointer, offset)}")

    def store(self, what: Operand, pointer: Value, offset: Operand = 0) -> None:
        self._line(f"store {value(what)}, {self.place(pointer, offset)}")

    def load_atomic(self, kind: Type, pointer: Value, order: str) -> Value:
        return self._new(kind, f"load atomic {kind}, {pointer} {order}, align {kind.bits // 8}")

    def store_atomic(self, what: Value, pointer: Value, order: str) -> None:
        self._line(f"store atomic {what}, {pointer} {order}, align {what.type.bits // 8}")

    def atomic_rmw(self, op: str, pointer: Value, what: Operand, order: str) -> Value:
        """What was there before."""
        what = value(what)
        return self._new(what.type, f"atomicrmw {op} {pointer}, {what} {order}")

    def cmpxchg(
        self, pointer: Value, before: Operand, after: Operand, good: str, bad: str
    ) -> tuple[Value, Value]:
        """Put `after` where `before` is; what was there, and whether it was. Two orders: of success and of failure."""
        before, after = alike(before, after)
        pair = Type(f"{{ {before.type}, i1 }}", 0)
        made = self._new(pair, f"cmpxchg {pointer}, {before}, {after} {good} {bad}")
        found = self._new(before.type, f"extractvalue {made}, 0")
        return found, self._new(I1, f"extractvalue {made}, 1")

    # -- lines ---------------------------------------------------------------------------------------

    def _a(self, kind: Type, operand: Operand) -> Value:
        """An operand that has to be of a type."""
        made = value(operand, kind)
        assert made.type == kind, f"{made} for {kind}"
        return made

    def _new(self, kind: Type, text: str) -> Value:
        if kind == VOID:
            self._line(text)
            return Value(VOID, "")
        self._names += 1
        self._line(f"%v{self._names} = {text}")
        return Value(kind, f"%v{self._names}")

    def _line(self, text: str) -> None:
        assert not self.block.left, f"@{self.name}: behind the end of {self.block.label}: {text}"
        self.block.lines.append(text)

    def _leave(self, text: str) -> None:
        self._line(text)
        self.block.left = True
