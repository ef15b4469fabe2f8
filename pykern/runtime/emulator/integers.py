"""Rules of bits, comparisons, selections, moves and conversions.

Comes in: an `Instruction`. Goes out: LLVM IR, written by `Values`. What PTX says of amounts beyond the width holds.
"""

from __future__ import annotations

from pykern.runtime.emulator.arithmetic import DIRECTED, PAIRS, kind_of
from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import FLOATS, SHORT, Values, bits_of, elements, integer, is_signed
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx

_SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"} | {
    "lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge",
}  # fmt: skip
_FLOAT = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord", "nan": "uno"} | {
    "equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge",
}  # fmt: skip
_TO_INTEGER = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


@opcode("and or xor")
def logic(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    x, y = (t.read(operand, kind) for operand in one.operands[1:3])
    t.write(one.operands[0], t.value(f"{one.stem} {integer(kind)} {x}, {y}"), kind)


@opcode("not cnot")
def inverse(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    value = t.read(one.operands[1], kind)
    if one.stem == "not":
        t.write(one.operands[0], t.value(f"xor {integer(kind)} {value}, -1"), kind)
    else:
        is_zero = t.value(f"icmp eq {integer(kind)} {value}, 0")
        t.write(one.operands[0], t.resized(is_zero, 1, bits_of(kind)), kind)


@opcode("lop3", "b32")
def lookup(t: Values, one: Instruction) -> None:
    """Any function of three bits: the last operand is its table."""
    a, b, c = (t.read(operand, "b32") for operand in one.operands[1:4])
    table, found = int(one.operands[4], 0), "0"
    for number in range(8):
        if table >> number & 1:
            bits = [v if number >> s & 1 else t.value(f"xor i32 {v}, -1") for v, s in ((a, 2), (b, 1), (c, 0))]
            term = t.value(f"and i32 {bits[0]}, {t.value(f'and i32 {bits[1]}, {bits[2]}')}")
            found = t.value(f"or i32 {found}, {term}")
    t.write(one.operands[0], found, "b32")


@opcode("shl shr")
def shift(t: Values, one: Instruction) -> None:
    """Amounts beyond the width are the width."""
    kind = kind_of(one)
    n, held = bits_of(kind), integer(kind)
    value, amount = t.read(one.operands[1], kind), t.read(one.operands[2], "u32")
    beyond = t.value(f"icmp ugt i32 {amount}, {n - 1}")
    amount = t.resized(t.value(f"select i1 {beyond}, i32 {n - 1}, i32 {amount}"), 32, n)
    name = "shl" if one.stem == "shl" else "ashr" if is_signed(kind) else "lshr"
    moved = t.value(f"{name} {held} {value}, {amount}")
    if name != "ashr":
        moved = t.value(f"select i1 {beyond}, {held} 0, {held} {moved}")
    t.write(one.operands[0], moved, kind)


@opcode("shf", "l r wrap clamp")
def funnel_shift(t: Values, one: Instruction) -> None:
    low, high, amount = (t.read(operand, "b32") for operand in one.operands[1:4])
    if "clamp" in one.modifiers:
        wide = t.value(f"zext i32 {high} to i64")
        wide = t.value(f"or i64 {t.value(f'shl i64 {wide}, 32')}, {t.value(f'zext i32 {low} to i64')}")
        amount = t.value(f"zext i32 {t.intrinsic('umin', 'u32', amount, '32')} to i64")
        if "l" in one.modifiers:
            wide = t.value(f"lshr i64 {t.value(f'shl i64 {wide}, {amount}')}, 32")
        else:
            wide = t.value(f"lshr i64 {wide}, {amount}")
        t.write(one.operands[0], t.value(f"trunc i64 {wide} to i32"), "b32")
        return
    t.write(one.operands[0], t.intrinsic("fshl" if "l" in one.modifiers else "fshr", "b32", high, low, amount), "b32")


@opcode("bfe")
def extract_bits(t: Values, one: Instruction) -> None:
    """Bits beyond the value are zeros, or the sign: that of the last bit taken."""
    kind = kind_of(one)
    n = bits_of(kind)
    value = t.resized(t.read(one.operands[1], kind), n, 128, is_signed(kind))
    begin, count = (t.value(f"and i32 {t.read(operand, 'u32')}, 255") for operand in one.operands[2:4])
    begin = t.resized(t.intrinsic("umin", "u32", begin, str(n)), 32, 128)
    count = t.resized(t.intrinsic("umin", "u32", count, str(n)), 32, 128)
    left = t.value(f"sub i128 127, {count}")
    left = t.value(f"add i128 {left}, 1")
    nothing = t.value(f"icmp eq i128 {count}, 0")
    left = t.value(f"select i1 {nothing}, i128 0, i128 {left}")
    value = t.value(f"shl i128 {t.value(f'lshr i128 {value}, {begin}')}, {left}")
    value = t.value(f"{'a' if is_signed(kind) else 'l'}shr i128 {value}, {left}")
    value = t.value(f"select i1 {nothing}, i128 0, i128 {value}")
    t.write(one.operands[0], t.resized(value, 128, n), kind)


@opcode("bfi")
def insert_bits(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    n = bits_of(kind)
    source, into = (t.resized(t.read(operand, kind), n, 128) for operand in one.operands[1:3])
    begin, count = (t.value(f"and i32 {t.read(operand, 'u32')}, 255") for operand in one.operands[3:5])
    begin = t.resized(t.intrinsic("umin", "u32", begin, str(n)), 32, 128)
    count = t.resized(t.intrinsic("umin", "u32", count, str(n)), 32, 128)
    mask = t.value(f"sub i128 {t.value(f'shl i128 1, {count}')}, 1")
    source = t.value(f"shl i128 {t.value(f'and i128 {source}, {mask}')}, {begin}")
    mask = t.value(f"xor i128 {t.value(f'shl i128 {mask}, {begin}')}, -1")
    t.write(one.operands[0], t.resized(t.value(f"or i128 {source}, {t.value(f'and i128 {into}, {mask}')}"), 128, n), kind)


@opcode("clz popc brev bfind", "shiftamt")
def count_bits(t: Values, one: Instruction) -> None:
    """Counts are 32 bits wide, whatever is counted."""
    kind = kind_of(one)
    n, held = bits_of(kind), integer(kind)
    value = t.read(one.operands[1], kind)
    if one.stem == "brev":
        t.write(one.operands[0], t.intrinsic("bitreverse", kind, value), kind)
        return
    if one.stem == "popc":
        t.write(one.operands[0], t.resized(t.intrinsic("ctpop", kind, value), n, 32), "u32")
        return
    if one.stem == "bfind" and is_signed(kind):
        value = t.value(f"xor {held} {value}, {t.value(f'ashr {held} {value}, {n - 1}')}")
    zeros = t.resized(t.call(held, f"llvm.ctlz.{held}", (held, value), ("i1", "false")), n, 32)
    if one.stem == "bfind":
        nothing = t.value(f"icmp eq i32 {zeros}, {n}")
        if "shiftamt" not in one.modifiers:
            zeros = t.value(f"sub i32 {n - 1}, {zeros}")
        zeros = t.value(f"select i1 {nothing}, i32 -1, i32 {zeros}")
    t.write(one.operands[0], zeros, "u32")


@opcode("prmt")
def permute_bytes(t: Values, one: Instruction) -> None:
    """Each nibble of the selector takes one of eight bytes; its upper bit takes that byte's sign instead."""
    low, high, selector = (t.resized(t.read(operand, "b32"), 32, 64) for operand in one.operands[1:4])
    both, found = t.value(f"or i64 {low}, {t.value(f'shl i64 {high}, 32')}"), "0"
    for number in range(4):
        nibble = t.value(f"lshr i64 {selector}, {4 * number}")
        at = t.value(f"shl i64 {t.value(f'and i64 {nibble}, 7')}, 3")
        byte = t.value(f"trunc i64 {t.value(f'lshr i64 {both}, {at}')} to i8")
        sign = t.value(f"icmp ne i64 {t.value(f'and i64 {nibble}, 8')}, 0")
        byte = t.value(f"select i1 {sign}, i8 {t.value(f'ashr i8 {byte}, 7')}, i8 {byte}")
        wide = t.value(f"shl i32 {t.value(f'zext i8 {byte} to i32')}, {8 * number}")
        found = t.value(f"or i32 {found}, {wide}")
    t.write(one.operands[0], found, "b32")


@opcode("setp", " ".join({*_SIGNED, *_UNSIGNED, *_FLOAT}) + " ftz")
def compare(t: Values, one: Instruction) -> None:
    kind, name = kind_of(one), one.modifiers[0]
    if len(one.operands) != 3 or "|" in one.operands[0]:
        raise UnknownPtx(f"the operands of {one.name}")
    if kind in FLOATS or kind in SHORT:
        x, y = (t.number(operand, kind) for operand in one.operands[1:3])
        if "ftz" in one.modifiers and kind == "f32":
            x, y = t.flushed(x), t.flushed(y)
        found = t.value(f"fcmp {_FLOAT[name]} {'double' if kind == 'f64' else 'float'} {x}, {y}")
    else:
        x, y = (t.read(operand, kind) for operand in one.operands[1:3])
        table = _SIGNED if is_signed(kind) else _UNSIGNED
        found = t.value(f"icmp {table[name]} {integer(kind)} {x}, {y}")
    t.write(one.operands[0], found, "pred")


@opcode("selp")
def select(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    x, y = (t.bits(operand, bits_of(kind)) for operand in one.operands[1:3])
    held = integer(kind)
    chosen = t.value(f"select i1 {t.read(one.operands[3], 'pred')}, {held} {x}, {held} {y}")
    t.write(one.operands[0], chosen, f"b{bits_of(kind)}")


@opcode("mov")
def move(t: Values, one: Instruction) -> None:
    """Also packs ``{a, b}`` into a register, and unpacks one."""
    kind = kind_of(one)
    to, source = map(elements, one.operands)
    if len(to) == len(source) == 1:
        t.write(to[0], t.bits(source[0], bits_of(kind)), "pred" if kind == "pred" else f"b{bits_of(kind)}")
        return
    n = bits_of(kind)
    part = n // max(len(to), len(source))
    if len(source) == 1:
        whole = t.bits(source[0], n)
        for number, register in enumerate(to):
            piece = t.value(f"trunc i{n} {t.value(f'lshr i{n} {whole}, {number * part}')} to i{part}")
            t.write(register, piece, f"b{part}")
        return
    whole = "0"
    for number, operand in enumerate(source):
        piece = t.value(f"zext i{part} {t.bits(operand, part)} to i{n}")
        whole = t.value(f"or i{n} {whole}, {t.value(f'shl i{n} {piece}, {number * part}')}")
    t.write(to[0], whole, f"b{n}")


@opcode("cvt", "rn rz rm rp rni rzi rmi rpi sat ftz relu")
def convert(t: Values, one: Instruction) -> None:
    if len(one.types) != 2 or "relu" in one.modifiers:
        raise UnknownPtx(f"the instruction {one.name}")
    to, of = one.types
    if to in PAIRS:
        _convert_pair(t, one, PAIRS[to])
    elif of in FLOATS or of in SHORT:
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
    high, low = (t.value(f"zext i16 {half} to i32") for half in (high, low))
    t.write(one.operands[0], t.value(f"or i32 {low}, {t.value(f'shl i32 {high}, 16')}"), "b32")


def _convert_float(t: Values, one: Instruction, to: str, of: str) -> None:
    way, value = _way(one), t.number(one.operands[1], of)
    if "ftz" in one.modifiers and of == "f32":
        value = t.flushed(value)
    held = "f64" if of == "f64" else "f32"
    if way in _TO_INTEGER:
        value = t.intrinsic(_TO_INTEGER[way], held, value)
    if to not in FLOATS and to not in SHORT:
        if way not in _TO_INTEGER:
            raise UnknownPtx(f"the instruction {one.name}")
        name = f"llvm.fpto{'s' if is_signed(to) else 'u'}i.sat.{integer(to)}.{held}"  # a NaN becomes 0
        t.write(one.operands[0], t.call(integer(to), name, (FLOATS[held], value)), to)
        return
    if way in DIRECTED:
        if (to, of) != ("f32", "f64"):
            raise UnknownPtx(f"the instruction {one.name}")
        t.write(one.operands[0], t.call("float", "pk_cvt_f32", ("i32", str(DIRECTED[way])), ("double", value)), to)
        return
    if "sat" in one.modifiers:
        value = t.intrinsic("minimumnum", held, t.intrinsic("maximumnum", held, value, "0.0"), "1.0")
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
    if to in FLOATS or to in SHORT:
        if _way(one):
            raise UnknownPtx(f"the instruction {one.name}")
        name = "sitofp" if signed else "uitofp"
        if to in FLOATS:
            t.write(one.operands[0], t.value(f"{name} {integer(of)} {value} to {FLOATS[to]}"), to)
            return
        # Larger integers than an f64 holds are cut such that the last rounding is right.
        wide = t.call("float", f"pk_f32_to_odd_of_{'i' if signed else 'u'}64", ("i64", t.resized(value, bits_of(of), 64, signed)))
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


