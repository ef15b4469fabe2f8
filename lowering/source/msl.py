"""Metal Shading Language."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from pykern.lowering.source.expressions import Expression, call
from pykern.lowering.source.language import FUNCTIONS, Head, Language, Memory, Word, parameter_lines
from pykern.lowering.source.msl_fragments import Moved, cleared, declared, loaded, multiplied, stored
from pykern.passes.arithmetic.vector_math.expand_math import RULES

_TYPES = {
    "i1": "bool",
    "i8": "char",
    "i16": "short",
    "i32": "int",
    "i64": "long",
    "f16": "half",
    "f32": "float",
}
_UNSIGNED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}
_ATOMICS = {
    "add": "fetch_add", "sub": "fetch_sub", "min": "fetch_min", "max": "fetch_max", "and": "fetch_and",
    "or": "fetch_or", "xor": "fetch_xor", "exchange": "exchange",
}  # fmt: skip
_RESERVED = """
kernel device constant thread threadgroup vertex fragment half int long short char float uint ulong ushort
uchar bool if else for while do return break continue const void class struct union template typename this new
delete operator private public protected static extern inline auto register volatile switch case default goto
sizeof namespace using true false and or not xor metal words local_id group_id precise fast INFINITY NAN
access main bfloat double signed unsigned enum typedef try catch throw explicit friend mutable virtual nullptr
constexpr decltype noexcept alignas alignof asm const_cast static_cast dynamic_cast reinterpret_cast typeid
static_assert thread_local export bitand bitor compl and_eq or_eq xor_eq not_eq size_t ptrdiff_t vec matrix
sampler texture atomic packed visible object_data mesh object ray_data threadgroup_imageblock as_type
"""
_LACKING = ("cbrt", "erf", "erfc", "expm1", "log1p")
"""Functions of C that Metal's library does not have."""
_EXACT = ("absf", "floor", "ceil", "trunc", "roundeven", "fma", "sqrt", "copysign", "ctlz", "ctpop", "absi")
_EXCHANGE = """\
static int NAME(SPACE atomic_int *cell, int expected, int desired) {
    int found = expected;
    while (!atomic_compare_exchange_weak_explicit(cell, &found, desired, memory_order_relaxed, memory_order_relaxed)) {
        if (found != expected) { return found; }  // else it failed for no reason, as the weak form may
    }
    return expected;
}
"""


@dataclass
class Metal(Language):
    """MSL: numbers come in a struct of constants; atomics are memory of a type of its own."""

    name: str = "MSL"
    types: dict[str, str] = field(default_factory=lambda: dict(_TYPES))
    reserved: frozenset[str] = frozenset(_RESERVED.split())
    native: tuple[str, ...] = tuple(name for name in RULES if name.partition(".")[2] not in _LACKING)
    atomic_bits: int = 32

    def argument(self, told: Memory | Word) -> str:
        return told.name if isinstance(told, Memory) else f"words.{told.name}"

    def unsigned(self, kind: ir.Type) -> str:
        return _UNSIGNED[ir.IntegerType(kind).width]

    def suffix(self, kind: ir.Type) -> str:
        return "h" if str(kind) == "f16" else "f"

    def special(self, number: float, kind: ir.Type) -> Expression:
        found = super().special(number, kind)
        return call("half", found) if str(kind) == "f16" else found

    def bits(self, operand: Expression, given: ir.Type, wanted: ir.Type) -> Expression:
        return call(f"as_type<{self.type(wanted)}>", operand)

    def function(self, name: str, kind: ir.Type, operands: Sequence[Expression]) -> Expression:
        plain = FUNCTIONS.get(name, name)
        return call(plain if name in _EXACT else f"precise::{plain}", *operands)

    def place(self, what: str, axis: int) -> Expression:
        return Expression(f"{'local' if what == 'thread' else 'group'}_id.{'xyz'[axis]}")

    @property
    def barrier(self) -> str:
        return "threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);"

    def shared(self, name: str, kind: str, count: int, atomic: bool) -> str:
        return f"threadgroup {'atomic_' if atomic else ''}{kind} {name}[{count}];"

    def load(self, cell: str, memory: Memory | None) -> str:
        return (
            f"atomic_load_explicit(&{cell}, memory_order_relaxed)"
            if memory is not None and memory.atomic
            else super().load(cell, memory)
        )

    def store(self, cell: str, value: str, memory: Memory | None) -> str:
        if memory is not None and memory.atomic:
            return f"atomic_store_explicit(&{cell}, {value}, memory_order_relaxed);"
        return super().store(cell, value, memory)

    def atomic(self, kind: str, cell: str, value: str, element: ir.Type, memory: Memory | None) -> str:
        if kind.startswith("u"):
            space = "threadgroup" if memory is None or memory.shared else "device"
            changed = f"({space} atomic_uint *)&{cell}, uint({value}), memory_order_relaxed"
            return f"int(atomic_fetch_{kind[1:]}_explicit({changed}))"
        return f"atomic_{_ATOMICS[kind]}_explicit(&{cell}, {value}, memory_order_relaxed)"

    def exchange_if(
        self, cell: str, expected: str, desired: str, element: ir.Type, memory: Memory | None
    ) -> str:
        shared = memory is None or memory.shared
        name, space = ("exchange_shared", "threadgroup") if shared else ("compare_exchange", "device")
        self.helpers[name] = _EXCHANGE.replace("NAME", name).replace("SPACE", space)
        return f"{name}(&{cell}, {expected}, {desired})"

    def fragment_type(self, kind: ir.Type) -> str:
        return "bfloat" if isinstance(kind, ir.BF16Type) else super().fragment_type(kind)

    def fragments(self, name: str, kind: str, count: int) -> list[str]:
        return declared(name, kind, count)

    def clear_fragments(self, name: str, kind: str, count: int) -> list[str]:
        return cleared(name, kind, count)

    def move_fragments(self, moved: Moved, is_load: bool) -> list[str]:
        return loaded(moved) if is_load else stored(moved)

    def multiply_fragments(self, sums: str, left: tuple[str, int], right: tuple[str, int]) -> list[str]:
        return multiplied(sums, left, right)

    def kernel(self, head: Head) -> list[str]:
        memories, words = head.memories, head.words
        struct = "Words" if self.alone else f"Words_{head.name}"
        lines = (
            [f"struct {struct} {{", *(f"    {self.type(each.type)} {each.name};" for each in words), "};", ""]
            if words
            else []
        )
        lines += [
            f"[[max_total_threads_per_threadgroup({math.prod(head.block)})]]",
            f"kernel void {head.name}(",
        ]
        parameters = [f"{self._pointer(each)} [[buffer({n})]]" for n, each in enumerate(memories)]
        parameters += [f"constant {struct} &words [[buffer({len(memories)})]]"] if words else []
        parameters += [
            "uint3 local_id [[thread_position_in_threadgroup]]",
            "uint3 group_id [[threadgroup_position_in_grid]]",
        ]
        return [*lines, *parameter_lines(parameters), *(f"    {each}" for each in head.shared)]

    def top(self, lines: Sequence[str]) -> list[str]:
        return ["#include <metal_stdlib>", "using namespace metal;", "", *self.helper_lines()]

    def _pointer(self, memory: Memory) -> str:
        kind = f"atomic_{self.type(memory.element)}" if memory.atomic else self.element(memory)
        return f"device {'' if memory.written else 'const '}{kind} *{memory.name}"
