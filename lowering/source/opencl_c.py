"""OpenCL C 1.2, which drivers without SPIR-V take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from pykern.lowering.source.expressions import Expression, call
from pykern.lowering.source.language import Language, Memory, Word

_TYPES = {
    "i1": "bool", "i8": "char", "i16": "short", "i32": "int", "i64": "long", "f16": "half", "f32": "float", "f64": "double",
}  # fmt: skip
_UNSIGNED = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}
_ATOMICS = {"add": "add", "sub": "sub", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor", "exchange": "xchg"}
_RESERVED = frozenset(
    "kernel global local constant private half int long short char float double uint ulong ushort uchar bool if else for while do "
    "return break continue const void size_t image2d_t sampler_t event_t as_int as_float vector pipe generic NAN INFINITY".split()
)


@dataclass
class OpenClC(Language):
    """OpenCL C."""

    name: str = "OpenCL C"
    types: dict[str, str] = field(default_factory=lambda: dict(_TYPES))
    reserved: frozenset[str] = _RESERVED

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

    def atomic(self, kind: str, cell: str, value: str, memory: Memory | None) -> str:
        return f"atomic_{_ATOMICS[kind]}(&{cell}, {value})"

    def exchange_if(self, cell: str, expected: str, desired: str, memory: Memory | None) -> str:
        return f"atomic_cmpxchg(&{cell}, {expected}, {desired})"

    def kernel(
        self, name: str, memories: Sequence[Memory], words: Sequence[Word], block: tuple[int, ...], shared: Sequence[str], body: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        used = {str(each.element) for each in memories} | {str(each.type) for each in words}
        pragmas = ["#pragma OPENCL FP_CONTRACT OFF"]
        for kind, extension in (("f16", "cl_khr_fp16"), ("f64", "cl_khr_fp64")):
            text = " ".join(body)
            if kind in used or f"{self.types[kind]} " in text or f"({self.types[kind]})" in text:
                pragmas.append(f"#pragma OPENCL EXTENSION {extension} : enable")
        parameters = [
            f"__global {'volatile ' if each.atomic else '' if each.written else 'const '}{self.type(each.element)} *{each.name}"
            for each in memories
        ]
        parameters += [f"{self.type(each.type)} {each.name}" for each in words]
        sizes = ", ".join(map(str, (*block, 1, 1)[:3]))
        head = [*pragmas, "", f"__kernel __attribute__((reqd_work_group_size({sizes})))", f"void {name}("]
        head += [f"    {each}," for each in parameters[:-1]] + [f"    {each}" for each in parameters[-1:]] + [") {"]
        return [*head, *(f"    {each}" for each in shared)], ["}"]
