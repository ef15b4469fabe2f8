"""Rules of functions of one or two numbers: signs, extremes, roots, and what GPUs only approximate.

Comes in: an `Instruction`. Goes out: LLVM IR, written by `Values`. Approximate instructions give what f64 gives,
rounded: within their documented errors.
"""

from __future__ import annotations

from pykern.runtime.emulator.arithmetic import PAIRS, held, kind_of, number, paired, result, rounded
from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import (
    SHORT,
    Values,
    computed_in,
    float_constant,
    integer,
    is_float,
    is_signed,
    llvm_type,
)
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx


@opcode("neg", "ftz")
def negate(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    if kind in PAIRS:
        t.write(one.operands[0], t.value(f"xor i32 {t.read(one.operands[1], 'b32')}, {0x80008000}"), "b32")
    elif kind in SHORT:
        t.write(one.operands[0], t.value(f"xor i16 {t.read(one.operands[1], kind)}, -32768"), kind)
    elif is_float(kind):
        result(t, one, t.value(f"fneg {held(kind)} {number(t, one, 1, kind)}"), kind)
    else:
        t.write(one.operands[0], t.value(f"sub {integer(kind)} 0, {t.read(one.operands[1], kind)}"), kind)


@opcode("abs", "ftz")
def absolute(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    if kind in PAIRS:
        t.write(one.operands[0], t.value(f"and i32 {t.read(one.operands[1], 'b32')}, {0x7FFF7FFF}"), "b32")
    elif kind in SHORT:
        t.write(one.operands[0], t.value(f"and i16 {t.read(one.operands[1], kind)}, 32767"), kind)
    elif is_float(kind):
        result(t, one, t.intrinsic("fabs", kind, number(t, one, 1, kind)), kind)
    else:
        value = t.read(one.operands[1], kind)
        opposite = t.value(f"sub {integer(kind)} 0, {value}")
        below = t.value(f"icmp slt {integer(kind)} {value}, 0")
        t.write(
            one.operands[0],
            t.value(f"select i1 {below}, {integer(kind)} {opposite}, {integer(kind)} {value}"),
            kind,
        )


@opcode("min max", "NaN ftz xorsign")
def extreme(t: Values, one: Instruction) -> None:
    """A NaN gives the other number, with ``.NaN`` a NaN; -0 is less than +0."""
    kind = kind_of(one)
    name = f"{one.stem}imum" + ("" if "NaN" in one.modifiers else "num")
    if "xorsign" in one.modifiers:
        raise UnknownPtx(f"the instruction {one.name}")
    if kind in PAIRS:
        paired(t, one, kind, lambda v: t.intrinsic(name, "f32", *v))
    elif is_float(kind):
        values = [number(t, one, n, kind) for n in (1, 2)]
        result(t, one, t.intrinsic(name, computed_in(kind), *values), kind)
    else:
        values = [t.read(operand, kind) for operand in one.operands[1:3]]
        t.write(
            one.operands[0], t.intrinsic(f"{'s' if is_signed(kind) else 'u'}{one.stem}", kind, *values), kind
        )


@opcode("rcp sqrt rsqrt", "rn rz rm rp approx ftz")
def root(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    value = number(t, one, 1, kind)
    one_ = float_constant(1.0)
    if one.stem == "rcp":
        value = rounded(t, one, kind, "div", [one_, value])
    elif one.stem == "sqrt":
        value = rounded(t, one, kind, "sqrt", [value])
    else:
        value = t.value(f"fdiv {held(kind)} {one_}, {t.intrinsic('sqrt', kind, value)}")
    if kind == "f64" and "approx" in one.modifiers:  # the upper word alone is looked at, and given
        value = t.value(f"bitcast double {value} to i64")
        value = t.value(f"bitcast i64 {t.value(f'and i64 {value}, {-1 << 32}')} to double")
    result(t, one, value, kind)


@opcode("ex2 lg2 sin cos tanh", "approx ftz")
def approximate(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    if kind in PAIRS or kind == "f64":
        raise UnknownPtx(f"the instruction {one.name}")
    name = {"ex2": "exp2", "lg2": "log2"}.get(one.stem, one.stem)
    value = t.value(f"fpext float {number(t, one, 1, kind)} to double")
    value = t.call("double", name, ("double", value))
    result(t, one, t.value(f"fptrunc double {value} to float"), kind)


@opcode("copysign")
def copy_sign(t: Values, one: Instruction) -> None:
    """The sign comes first."""
    kind = kind_of(one)
    sign, value = (t.read(operand, kind) for operand in one.operands[1:3])
    t.write(one.operands[0], t.intrinsic("copysign", kind, value, sign), kind)


@opcode("testp", "finite infinite number notanumber normal subnormal")
def test_property(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    classes = {
        "finite": 0x1F8,
        "infinite": 0x204,
        "number": 0x3FC,
        "notanumber": 3,
        "normal": 0x108,
        "subnormal": 0x90,
    }
    value = t.read(one.operands[1], kind)
    test = ("i32", str(classes[one.modifiers[0]]))
    t.write(one.operands[0], t.call("i1", f"llvm.is.fpclass.{kind}", (llvm_type(kind), value), test), "pred")
