"""Rules of arithmetic, on integers and floats.

Directed rounding sets the processor's rounding for one operation. Approximate instructions give what the exact ones
do, rounded to the nearest: within their documented errors. f16 and bf16 are computed in f32 and rounded: twice the
digits and two more are enough for sums, products, quotients and roots to be as if they were rounded once.
"""

from __future__ import annotations

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

PAIRS = {"f16x2": "f16", "bf16x2": "bf16"}
DIRECTED = {"rz": 0, "rp": 2, "rm": 3}
"""Directions, as `llvm.set.rounding` numbers them; 1 is the nearest."""


def held(kind: str) -> str:
    """The LLVM type that a float is computed in."""
    return FLOATS[computed_in(kind)]


def number(t: Values, one: Instruction, at: int, kind: str) -> str:
    """A float operand, as the instruction takes it."""
    value = t.number(one.operands[at], kind)
    return t.flushed(value) if "ftz" in one.modifiers and kind == "f32" else value


def result(t: Values, one: Instruction, value: str, kind: str) -> None:
    """The float result of an instruction."""
    if "sat" in one.modifiers:
        value = t.saturated(value, "f32")
    if "ftz" in one.modifiers and kind == "f32":
        value = t.flushed(value)
    t.write_number(one.operands[0], value, kind)


def kind_of(one: Instruction) -> str:
    if not one.types:
        raise UnknownPtx(f"the instruction {one.name}")
    return one.types[-1]


def paired(t: Values, one: Instruction, kind: str, compute) -> None:
    """Each half of a pair of short floats on its own."""
    short, halves = PAIRS[kind], []
    words = [t.read(operand, "b32") for operand in one.operands[1:]]
    for shift in (0, 16):
        values = [t.widened(t.half(word, shift), short) for word in words]
        halves.append(t.narrowed(compute(values), short))
    t.write(one.operands[0], t.pair(*halves), "b32")


@opcode("add sub mul", "rn rz rm rp ftz sat lo hi wide cc")
def binary(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    if kind in PAIRS:
        paired(t, one, kind, lambda v: t.value(f"f{one.stem} float {v[0]}, {v[1]}"))
    elif is_float(kind):
        result(t, one, rounded(t, one, kind, one.stem, [number(t, one, n, kind) for n in (1, 2)]), kind)
    elif one.stem == "mul":
        value, width = product(t, one, kind)
        t.write(one.operands[0], value, f"{kind[0]}{width}")
    else:
        x, y = (t.read(operand, kind) for operand in one.operands[1:3])
        if "cc" in one.modifiers:
            carried(t, one, kind, one.stem, x, y, None)
        else:
            t.write(one.operands[0], t.value(f"{one.stem} {integer(kind)} {x}, {y}"), kind)


def rounded(t: Values, one: Instruction, kind: str, name: str, values: list[str]) -> str:
    """A sum, difference, product, quotient or root, or `fma`, rounded as the instruction says."""
    way = next((m for m in one.modifiers if m in DIRECTED), None)
    if way is None:
        if name in ("fma", "sqrt"):
            return t.intrinsic(name, computed_in(kind), *values)
        return t.value(f"f{name} {held(kind)} {', '.join(values)}")
    if kind in SHORT:
        raise UnknownPtx(f"the instruction {one.name}")
    arguments = [(held(kind), value) for value in values]
    return t.call(held(kind), f"pk_{name}_{kind}", ("i32", str(DIRECTED[way])), *arguments)


def product(t: Values, one: Instruction, kind: str) -> tuple[str, int]:
    """A product of integers, and its width in bits."""
    x, y = (t.read(operand, kind) for operand in one.operands[1:3])
    n = bits_of(kind)
    if "lo" in one.modifiers:
        return t.value(f"mul i{n} {x}, {y}"), n
    x, y = (t.resized(value, n, 2 * n, is_signed(kind)) for value in (x, y))
    whole = t.value(f"mul i{2 * n} {x}, {y}")
    if "wide" in one.modifiers:
        return whole, 2 * n
    if "hi" not in one.modifiers:
        raise UnknownPtx(f"the instruction {one.name}")
    return t.value(f"trunc i{2 * n} {t.value(f'lshr i{2 * n} {whole}, {n}')} to i{n}"), n


def carried(t: Values, one: Instruction, kind: str, name: str, x: str, y: str, carry: str | None) -> None:
    """A sum or difference of one digit more, whose carry is kept where the instruction says ``.cc``."""
    n = bits_of(kind)
    wide = f"i{2 * n}"
    x, y = (t.resized(value, n, 2 * n) for value in (x, y))
    whole = t.value(f"{name} {wide} {x}, {y}")
    if carry is not None:
        whole = t.value(f"{name} {wide} {whole}, {t.value(f'zext i1 {carry} to {wide}')}")
    if "cc" in one.modifiers:
        t.store("i1", t.value(f"trunc {wide} {t.value(f'lshr {wide} {whole}, {n}')} to i1"), "%carry")
    t.write(one.operands[0], t.value(f"trunc {wide} {whole} to i{n}"), kind)


@opcode("addc subc", "cc")
def with_carry(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    x, y = (t.read(operand, kind) for operand in one.operands[1:3])
    carried(t, one, kind, one.stem[:3], x, y, t.load("i1", "%carry"))


@opcode("mad madc", "lo hi wide cc")
def multiply_add(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    value, width = product(t, one, kind)
    wide = f"{kind[0]}{width}"
    added = t.read(one.operands[3], wide)
    if "cc" in one.modifiers or one.stem == "madc":
        carried(t, one, wide, "add", value, added, t.load("i1", "%carry") if one.stem == "madc" else None)
    else:
        t.write(one.operands[0], t.value(f"add i{width} {value}, {added}"), wide)


@opcode("fma", "rn rz rm rp ftz sat relu")
def fused(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    if "relu" in one.modifiers:
        raise UnknownPtx(f"the instruction {one.name}")
    if kind in PAIRS:
        paired(t, one, kind, lambda v: _short_fma(t, v))
        return
    values = [number(t, one, n, kind) for n in (1, 2, 3)]
    if kind in SHORT:
        t.write(one.operands[0], t.narrowed(_short_fma(t, values), kind), kind)
    else:
        result(t, one, rounded(t, one, kind, "fma", values), kind)


def _short_fma(t: Values, values: list[str]) -> str:
    """Of short floats, in f64, rounded to f32 such that rounding again is right."""
    wide = [t.value(f"fpext float {value} to double") for value in values]
    return t.call("float", "pk_f32_to_odd", ("double", t.intrinsic("fma", "f64", *wide)))


@opcode("div", "rn rz rm rp approx full ftz")
def divide(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    if is_float(kind):
        result(t, one, rounded(t, one, kind, "div", [number(t, one, n, kind) for n in (1, 2)]), kind)
        return
    x, y = (t.read(operand, kind) for operand in one.operands[1:3])
    held, signed = integer(kind), is_signed(kind)
    zero, minus_one, divisor = _safe_divisor(t, kind, y)
    value = t.value(f"{'s' if signed else 'u'}div {held} {x}, {divisor}")
    if signed:
        opposite = t.value(f"sub {held} 0, {x}")
        value = t.value(f"select i1 {minus_one}, {held} {opposite}, {held} {value}")
    t.write(one.operands[0], t.value(f"select i1 {zero}, {held} -1, {held} {value}"), kind)


@opcode("rem")
def remainder(t: Values, one: Instruction) -> None:
    """By zero it is unspecified: what GPUs give is the number itself."""
    kind = kind_of(one)
    x, y = (t.read(operand, kind) for operand in one.operands[1:3])
    zero, _, divisor = _safe_divisor(t, kind, y)
    value = t.value(f"{'s' if is_signed(kind) else 'u'}rem {integer(kind)} {x}, {divisor}")
    t.write(one.operands[0], t.value(f"select i1 {zero}, {integer(kind)} {x}, {integer(kind)} {value}"), kind)


def _safe_divisor(t: Values, kind: str, y: str) -> tuple[str, str, str]:
    """Whether a divisor is 0, whether it is -1, and 1 in the place of both: the host's division would trap."""
    held = integer(kind)
    zero = t.value(f"icmp eq {held} {y}, 0")
    minus_one = t.value(f"icmp eq {held} {y}, -1") if is_signed(kind) else "false"
    either = t.value(f"or i1 {zero}, {minus_one}")
    return zero, minus_one, t.value(f"select i1 {either}, {held} 1, {held} {y}")
