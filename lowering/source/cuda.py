"""CUDA C++ and HIP C++, as NVRTC and hipRTC take them: no header but that of 16-bit floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from pykern.lowering.source.expressions import Expression, call
from pykern.lowering.source.language import FUNCTIONS, Head, Language, Memory, Word, parameter_lines
from pykern.passes.analysis.integer_ranges import width

_TYPES = {
    "i1": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "f16": "__half",
    "f32": "float", "f64": "double",
}  # fmt: skip
_UNSIGNED = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}
_ATOMICS = {
    "add": "Add", "sub": "Sub", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor", "exchange": "Exch",
}  # fmt: skip
_BITS = {
    ("f32", "i32"): "__float_as_int", ("i32", "f32"): "__int_as_float", ("f64", "i64"): "__double_as_longlong",
    ("i64", "f64"): "__longlong_as_double", ("f16", "i16"): "__half_as_short", ("i16", "f16"): "__short_as_half",
}  # fmt: skip
_RESERVED = """
int long short char float double unsigned signed bool if else for while do return break continue const void
class struct union template typename this new delete operator private public protected static extern inline
auto register volatile switch case default goto sizeof namespace using try catch throw true false and or not
xor threadIdx blockIdx blockDim gridDim warpSize INFINITY NAN
"""


@dataclass
class Cuda(Language):
    """CUDA C++."""

    name: str = "CUDA C++"
    types: dict[str, str] = field(default_factory=lambda: dict(_TYPES))
    reserved: frozenset[str] = frozenset(_RESERVED.split())
    half_header: str = "#include <cuda_fp16.h>"

    def unsigned(self, kind: ir.Type) -> str:
        return _UNSIGNED[ir.IntegerType(kind).width]

    def _integer(self, number: int, kind: ir.Type) -> Expression:
        found = super()._integer(number, kind)
        return Expression(found.text.replace("L", "LL"), found.level)

    def _float(self, number: float, kind: ir.Type) -> Expression:
        found = super()._float(number, kind)
        return Expression(f"__half({found.text})") if str(kind) == "f16" else found

    def special(self, number: float, kind: ir.Type) -> Expression:
        """NVRTC knows no macros of the C library."""
        if number != number:
            return Expression(
                "__int_as_float(0x7fffffff)"
                if str(kind) != "f64"
                else "__longlong_as_double(0x7fffffffffffffffLL)"
            )
        bits = {"f64": "0x7ff0000000000000LL"}.get(str(kind), "0x7f800000")
        text = f"{'__longlong_as_double' if str(kind) == 'f64' else '__int_as_float'}({bits})"
        return Expression(f"-{text}", 9) if number < 0 else Expression(text)

    def bits(self, operand: Expression, given: ir.Type, wanted: ir.Type) -> Expression:
        return call(_BITS[str(given), str(wanted)], operand)

    def function(self, name: str, kind: ir.Type, operands: Sequence[Expression]) -> Expression:
        if name in ("ctlz", "ctpop"):
            wide = "ll" if str(kind) == "i64" else ""
            return call({"ctlz": f"__clz{wide}", "ctpop": f"__popc{wide}"}[name], *operands)
        plain = FUNCTIONS.get(name, name)
        return call(f"{plain}f" if str(kind) == "f32" and name != "absi" else plain, *operands)

    def place(self, what: str, axis: int) -> Expression:
        return Expression(f"{what}Idx.{'xyz'[axis]}")

    @property
    def barrier(self) -> str:
        return "__syncthreads();"

    def shared(self, name: str, kind: str, count: int, atomic: bool) -> str:
        return f"__shared__ {kind} {name}[{count}];"

    def atomic(self, kind: str, cell: str, value: str, element: ir.Type, memory: Memory | None) -> str:
        name = _ATOMICS[kind.removeprefix("u")]
        if kind.startswith("u") or (width(element) == 64 and kind not in ("min", "max")):
            unsigned = self.unsigned(element)
            changed = f"atomic{name}(({unsigned} *)&{cell}, ({unsigned})({value}))"
            return f"({self.type(element)}){changed}"
        return f"atomic{name}(&{cell}, {value})"

    def exchange_if(
        self, cell: str, expected: str, desired: str, element: ir.Type, memory: Memory | None
    ) -> str:
        if width(element) == 64:
            unsigned = self.unsigned(element)
            changed = f"atomicCAS(({unsigned} *)&{cell}, ({unsigned})({expected}), ({unsigned})({desired}))"
            return f"({self.type(element)}){changed}"
        return f"atomicCAS(&{cell}, {expected}, {desired})"

    def kernel(self, head: Head) -> list[str]:
        parameters = [self._parameter(each) for each in head.arguments]
        first = f'extern "C" __global__ void __launch_bounds__({math.prod(head.block)}) {head.name}('
        return [first, *parameter_lines(parameters), *(f"    {each}" for each in head.shared)]

    def top(self, lines: Sequence[str]) -> list[str]:
        return [self.half_header, ""] if any("__half" in line for line in lines) else []

    def _parameter(self, told: Memory | Word) -> str:
        if isinstance(told, Word):
            return f"{self.type(told.type)} {told.name}"
        alone = "__restrict__ " if self.noalias else ""
        return f"{'' if told.written else 'const '}{self.element(told)} *{alone}{told.name}"


@dataclass
class Hip(Cuda):
    """HIP C++."""

    name: str = "HIP C++"
    half_header: str = "#include <hip/hip_fp16.h>"
