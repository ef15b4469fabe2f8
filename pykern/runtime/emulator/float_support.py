"""LLVM IR of what floats need beside LLVM's own operations: short floats, directed rounding, subnormals.

Goes out: `TEXT`. Short floats are made by integer operations: processors without them would call functions that no
library of the process has. Rounding to odd (towards zero, with the last bit set where anything was cut) makes a
rounding that follows as if it were the only one, where the result has two digits less.
"""

from __future__ import annotations

_DIRECTED = """
define {kind} @pk_{name}_{of}(i32 %way, {parameters}) noinline strictfp {{
  call void @llvm.set.rounding(i32 %way) strictfp
  %result = call {kind} @llvm.experimental.constrained.{function}(
    {arguments}, metadata !"round.dynamic", metadata !"fpexcept.strict") strictfp
  call void @llvm.set.rounding(i32 1) strictfp
  ret {kind} %result
}}
declare {kind} @llvm.experimental.constrained.{function}({types}, metadata, metadata)
"""


def _directed(name: str, of: str, function: str, count: int, source: str = "") -> str:
    kind = {"f32": "float", "f64": "double"}[of]
    values = [f"{source or kind} %x{n}" for n in range(count)]
    types = ", ".join([source or kind] * count)
    return _DIRECTED.format(
        kind=kind,
        name=name,
        of=of,
        function=function,
        parameters=", ".join(values),
        arguments=", ".join(values),
        types=types,
    )


_OPERATIONS = {
    "add": ("fadd", 2),
    "sub": ("fsub", 2),
    "mul": ("fmul", 2),
    "div": ("fdiv", 2),
    "fma": ("fma", 3),
    "sqrt": ("sqrt", 1),
}

TEXT = (
    """
define float @pk_f32_of_bf16(i16 %x) alwaysinline {
  %wide = zext i16 %x to i32
  %bits = shl i32 %wide, 16
  %f = bitcast i32 %bits to float
  ret float %f
}
define i16 @pk_bf16_of_f32(float %x) {
  %bits = bitcast float %x to i32
  %nan = fcmp uno float %x, 0.0
  %cut = lshr i32 %bits, 16
  %odd = and i32 %cut, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %bits, %half
  %up = lshr i32 %sum, 16
  %short = trunc i32 %up to i16
  %result = select i1 %nan, i16 32767, i16 %short
  ret i16 %result
}
define float @pk_f32_of_f16(i16 %x) {
  %wide = zext i16 %x to i32
  %magnitude = and i32 %wide, 32767
  %moved = shl i32 %magnitude, 13
  %f = bitcast i32 %moved to float
  %scaled = fmul float %f, 0x46F0000000000000 ; 2 ** 112 makes up for the other bias, of subnormals too
  %number = bitcast float %scaled to i32
  %infinite = or i32 %moved, 2139095040
  %big = icmp uge i32 %magnitude, 31744
  %bits = select i1 %big, i32 %infinite, i32 %number
  %signs = and i32 %wide, 32768
  %sign = shl i32 %signs, 16
  %all = or i32 %bits, %sign
  %result = bitcast i32 %all to float
  ret float %result
}
define i16 @pk_f16_of_f32(float %x) {
  %bits = bitcast float %x to i32
  %signs = lshr i32 %bits, 16
  %sign = and i32 %signs, 32768
  %magnitude = and i32 %bits, 2147483647
  %f = bitcast i32 %magnitude to float
  %cut = lshr i32 %magnitude, 13
  %odd = and i32 %cut, 1
  %half = add i32 %odd, 4095
  %sum = add i32 %magnitude, %half
  %rebiased = sub i32 %sum, 939524096 ; 112 in the exponent
  %normal = lshr i32 %rebiased, 13
  %shifted = fadd float %f, 0.5 ; the last digit of 0.5 is that of subnormals
  %last = bitcast float %shifted to i32
  %subnormal = sub i32 %last, 1056964608
  %small = fcmp olt float %f, 0x3F10000000000000 ; 2 ** -14
  %finite = select i1 %small, i32 %subnormal, i32 %normal
  %over = fcmp oge float %f, 6.552000e+04
  %number = select i1 %over, i32 31744, i32 %finite
  %signed = or i32 %number, %sign
  %nan = fcmp uno float %x, 0.0
  %result = select i1 %nan, i32 32767, i32 %signed
  %short = trunc i32 %result to i16
  ret i16 %short
}
define float @pk_f32_to_odd(double %x) {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %inexact = fcmp one double %back, %x
  %bits = bitcast float %near to i32
  %size = call double @llvm.fabs.f64(double %x)
  %back_size = call double @llvm.fabs.f64(double %back)
  %away = fcmp ogt double %back_size, %size
  %step = zext i1 %away to i32
  %cut = sub i32 %bits, %step
  %odd = or i32 %cut, 1
  %chosen = select i1 %inexact, i32 %odd, i32 %bits
  %result = bitcast i32 %chosen to float
  ret float %result
}
define i16 @pk_f16_of_f64(double %x) {
  %odd = call float @pk_f32_to_odd(double %x)
  %result = call i16 @pk_f16_of_f32(float %odd)
  ret i16 %result
}
define i16 @pk_bf16_of_f64(double %x) {
  %odd = call float @pk_f32_to_odd(double %x)
  %result = call i16 @pk_bf16_of_f32(float %odd)
  ret i16 %result
}
define float @pk_flushed(float %x) {
  %bits = bitcast float %x to i32
  %exponent = and i32 %bits, 2139095040
  %zero = icmp eq i32 %exponent, 0
  %sign = and i32 %bits, -2147483648
  %chosen = select i1 %zero, i32 %sign, i32 %bits
  %result = bitcast i32 %chosen to float
  ret float %result
}
declare double @llvm.fabs.f64(double)
declare void @llvm.set.rounding(i32)
"""
    + "".join(
        f"""
define float @pk_f32_to_odd_of_{letter}64(i64 %x) {{
  %near = {"s" if letter == "i" else "u"}itofp i64 %x to double
  %back = call i64 @llvm.fpto{"s" if letter == "i" else "u"}i.sat.i64.f64(double %near)
  %inexact = icmp ne i64 %back, %x
  %above = icmp {"sgt" if letter == "i" else "ugt"} i64 %back, %x
  %negative = fcmp olt double %near, 0.0
  %away = xor i1 %above, %negative
  %bits = bitcast double %near to i64
  %step = zext i1 %away to i64
  %cut = sub i64 %bits, %step
  %odd = or i64 %cut, 1
  %chosen = select i1 %inexact, i64 %odd, i64 %bits
  %whole = bitcast i64 %chosen to double
  %result = call float @pk_f32_to_odd(double %whole)
  ret float %result
}}
declare i64 @llvm.fpto{"s" if letter == "i" else "u"}i.sat.i64.f64(double)
"""
        for letter in "iu"
    )
    + "".join(
        _directed(name, of, f"{function}.{of}", count)
        for name, (function, count) in _OPERATIONS.items()
        for of in ("f32", "f64")
    )
    + _directed("cvt", "f32", "fptrunc.f32.f64", 1, "double")
)
"""Functions that generated code calls by their names."""
