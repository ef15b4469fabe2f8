"""OpenCL C 1.2, which drivers without SPIR-V take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from pykern.lowering.source.expressions import Expression, call
from pykern.lowering.source.language import Head, Language, Memory, Word, parameter_lines

_TYPES = {
    "i1": "bool", "i8": "char", "i16": "short", "i32": "int", "i64": "long", "f16": "half", "f32": "float",
    "f64": "double",
}  # fmt: skip
_UNSIGNED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}
_ATOMICS = {
    "add": "add",
    "sub": "sub",
    "min": "min",
    "max": "max",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "exchange": "xchg",
}
_RESERVED = """
auto break case default enum extern goto inline register restrict signed sizeof static struct switch typedef
union unsigned
volatile complex imaginary read_only write_only read_write uniform atomic_int INFINITY
kernel global local constant private half int long short char float double uint ulong ushort uchar bool if
else for while do return break continue const void size_t image2d_t sampler_t event_t as_int as_float vector
pipe generic NAN INFINITY
"""


@dataclass
class OpenClC(Language):
    """OpenCL C."""

    name: str = "OpenCL C"
    types: dict[str, str] = field(default_factory=lambda: dict(_TYPES))
    reserved: frozenset[str] = frozenset(_RESERVED.split())
    bounds_items: bool = True

    def unsigned(self, kind: ir.Type) -> str:
        return _UNSIGNED[ir.IntegerType(kind).width]

    def suffix(self, kind: ir.Type) -> str:
        return {"f16": "h", "f32": "f", "f64": ""}[str(kind)]

    def bits(self, operand: Expression, given: ir.Type, wanted: ir.Type) -> Expression:
        return call(f"as_{self.type(wanted)}", operand)

    def place(self, what: str, axis: int) -> Expression:
        return Expression(f"get_{'local' if what == 'thread' else 'group'}_id({axis})")

    @property
    def barrier(self) -> str:
        return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"

    def shared(self, name: str, kind: str, count: int, atomic: bool) -> str:
        return f"__local {kind} {name}[{count}];"

    def atomic(self, kind: str, cell: str, value: str, element: ir.Type, memory: Memory | None) -> str:
        if kind.startswith("u"):  # of numbers without a sign
            unsigned = self.unsigned(element)
            space = "__local" if memory is None or memory.shared else "__global"
            changed = f"{_prefix(element)}_{kind[1:]}((volatile {space} {unsigned} *)&{cell}, ({unsigned})({value}))"
            return f"({self.type(element)}){changed}"
        return f"{_prefix(element)}_{_ATOMICS[kind]}(&{cell}, {value})"

    def exchange_if(
        self, cell: str, expected: str, desired: str, element: ir.Type, memory: Memory | None
    ) -> str:
        return f"{_prefix(element)}_cmpxchg(&{cell}, {expected}, {desired})"

    def kernel(self, head: Head) -> list[str]:
        parameters = [self._parameter(each) for each in head.arguments]
        sizes = ", ".join(map(str, (*head.block, 1, 1)[:3]))
        first = [f"__kernel __attribute__((reqd_work_group_size({sizes})))", f"void {head.name}("]
        return [*first, *parameter_lines(parameters), *(f"    {each}" for each in head.shared)]

    def top(self, lines: Sequence[str]) -> list[str]:
        text = "\n".join(lines)
        pragmas = ["#pragma OPENCL FP_CONTRACT OFF"]
        for kind, extension in (("half", "cl_khr_fp16"), ("double", "cl_khr_fp64")):
            if re.search(rf"\b(as_)?{kind}\b", text):
                pragmas.append(f"#pragma OPENCL EXTENSION {extension} : enable")
        if "atom_" in text:
            pragmas += [
                f"#pragma OPENCL EXTENSION cl_khr_int64_{what}_atomics : enable"
                for what in ("base", "extended")
            ]
        return [*pragmas, ""]

    def _parameter(self, told: Memory | Word) -> str:
        if isinstance(told, Word):
            return f"{self.type(told.type)} {told.name}"
        access = "volatile " if told.atomic else "" if told.written else "const "
        return f"__global {access}{self.element(told)} *{told.name}"


def _prefix(element: ir.Type) -> str:
    """OpenCL 1.2 calls atomics of 64 bits otherwise."""
    return "atom" if ir.IntegerType(element).width == 64 else "atomic"
