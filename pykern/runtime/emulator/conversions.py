"""Rules of conversions between integers and floats of all sizes.

Comes in: an `Instruction`. Goes out: LLVM IR, written by `Values`. Floats beyond an integer's range become its ends and
NaN 0, as PTX says; what becomes a short float is rounded once, whatever it was.
"""

from __future__ import annotations

from pykern.runtime.emulator.arithmetic import DIRECTED, PAIRS
from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import (
    FLOATS,
    SHORT,
    Values,
    bits_of,
    computed_in,
    integer,
    is_float,
    is_signed,
)
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx

_TO_INTEGER = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


@opcode("cvt", "rn rz rm rp rni rzi rmi rpi sat ftz relu")
def convert(t: Values, one: Instruction) -> None:
    if len(one.types) != 2 or "relu" in one.modifiers:
        raise UnknownPtx(f"the instruction {one.name}")
    to, of = one.types
    if to in PAIRS:
        _convert_pair(t, one, PAIRS[to])
    elif is_float(of):
        _convert_float(t, one, to, of)
    else:
        _convert_integer(t, one, to, of)


def _way(one: Instruction) -> str:
    return next((m for m in one.modifiers if m in DIRECTED or m in _TO_INTEGER), "")


def _convert_pair(t: Values, one: Instruction, short: str) -> None:
    """The first operand becomes the upper half."""
    if _way(one):
        raise UnknownPtx(f"the instruction {one.name}")
    high, low = (t.narrowed(t.read(operand, "f32"), short) for operand in one.operands[1:3])
    t.write(one.operands[0], t.pair(low, high), "b32")


def _convert_float(t: Values, one: Instruction, to: str, of: str) -> None:
    way, value = _way(one), t.number(one.operands[1], of)
    if "ftz" in one.modifiers and of == "f32":
        value = t.flushed(value)
    held = computed_in(of)
    if way in _TO_INTEGER:
        value = t.intrinsic(_TO_INTEGER[way], held, value)
    if not is_float(to):
        if way not in _TO_INTEGER:
            raise UnknownPtx(f"the instruction {one.name}")
        name = f"llvm.fpto{'s' if is_signed(to) else 'u'}i.sat.{integer(to)}.{held}"  # a NaN becomes 0
        t.write(one.operands[0], t.call(integer(to), name, (FLOATS[held], value)), to)
        return
    if way in DIRECTED:
        if (to, of) != ("f32", "f64"):
            raise UnknownPtx(f"the instruction {one.name}")
        t.write(
            one.operands[0], t.call("float", "pk_cvt_f32", ("i32", str(DIRECTED[way])), ("double", value)), to
        )
        return
    if "sat" in one.modifiers:
        value = t.saturated(value, held)
    if to in SHORT:
        t.write(one.operands[0], t.narrowed(value, to, held), to)
    elif to == held:
        t.write(one.operands[0], value, to)
    elif to == "f64":
        t.write(one.operands[0], t.value(f"fpext float {value} to double"), to)
    else:
        value = t.value(f"fptrunc double {value} to float")
        t.write(one.operands[0], t.flushed(value) if "ftz" in one.modifiers else value, to)


def _convert_integer(t: Values, one: Instruction, to: str, of: str) -> None:
    value, signed = t.read(one.operands[1], of), is_signed(of)
    if is_float(to):
        if _way(one):
            raise UnknownPtx(f"the instruction {one.name}")
        name = "sitofp" if signed else "uitofp"
        if to in FLOATS:
            t.write(one.operands[0], t.value(f"{name} {integer(of)} {value} to {FLOATS[to]}"), to)
            return
        # Larger integers than an f64 holds are cut such that the last rounding is right.
        wide = t.call(
            "float",
            f"pk_f32_to_odd_of_{'i' if signed else 'u'}64",
            ("i64", t.resized(value, bits_of(of), 64, signed)),
        )
        t.write(one.operands[0], t.narrowed(wide, to), to)
        return
    if "sat" in one.modifiers:
        value = _saturated(t, value, to, of)
    else:
        value = t.resized(value, bits_of(of), bits_of(to), signed)
    t.write(one.operands[0], value, to)


def _saturated(t: Values, value: str, to: str, of: str) -> str:
    wide = t.resized(value, bits_of(of), 128, is_signed(of))
    n = bits_of(to) - is_signed(to)
    low, high = (-(1 << n) if is_signed(to) else 0), (1 << n) - 1
    wide = t.intrinsic("smin", "b128", t.intrinsic("smax", "b128", wide, str(low)), str(high))
    return t.resized(wide, 128, bits_of(to))
