"""Rules of bits: logic, shifts, fields, counts, bytes.

Comes in: an `Instruction`. Goes out: LLVM IR, written by `Values`. What PTX says of amounts beyond the width holds.
"""

from __future__ import annotations

from pykern.runtime.emulator.arithmetic import kind_of
from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import Values, bits_of, integer, is_signed
from pykern.runtime.emulator.ptx import Instruction


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
            bits = [
                v if number >> s & 1 else t.value(f"xor i32 {v}, -1") for v, s in ((a, 2), (b, 1), (c, 0))
            ]
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
    t.write(
        one.operands[0],
        t.intrinsic("fshl" if "l" in one.modifiers else "fshr", "b32", high, low, amount),
        "b32",
    )


@opcode("bfe")
def extract_bits(t: Values, one: Instruction) -> None:
    """Bits beyond the value are zeros, or the sign: that of the last bit taken."""
    kind = kind_of(one)
    n = bits_of(kind)
    value = t.resized(t.read(one.operands[1], kind), n, 128, is_signed(kind))
    begin, count = (_place(t, operand, n) for operand in one.operands[2:4])
    left = t.value(f"sub i128 128, {count}")
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
    begin, count = (_place(t, operand, n) for operand in one.operands[3:5])
    mask = t.value(f"sub i128 {t.value(f'shl i128 1, {count}')}, 1")
    source = t.value(f"shl i128 {t.value(f'and i128 {source}, {mask}')}, {begin}")
    mask = t.value(f"xor i128 {t.value(f'shl i128 {mask}, {begin}')}, -1")
    t.write(
        one.operands[0],
        t.resized(t.value(f"or i128 {source}, {t.value(f'and i128 {into}, {mask}')}"), 128, n),
        kind,
    )


def _place(t: Values, operand: str, n: int) -> str:
    """The begin or the length of a field: eight bits count, and what is beyond the width is the width."""
    value = t.value(f"and i32 {t.read(operand, 'u32')}, 255")
    return t.resized(t.intrinsic("umin", "u32", value, str(n)), 32, 128)


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


@opcode("dp4a")
def product_of_bytes(t: Values, one: Instruction) -> None:
    """The sum of four products of bytes, and of a word; it wraps."""
    found = t.read(one.operands[3], "b32")
    words = [
        (t.read(operand, "b32"), kind) for operand, kind in zip(one.operands[1:3], one.types, strict=True)
    ]
    for place in range(4):
        left, right = (
            t.resized(
                t.value(f"trunc i32 {t.value(f'lshr i32 {word}, {8 * place}')} to i8"), 8, 32, kind[0] == "s"
            )
            for word, kind in words
        )
        found = t.value(f"add i32 {found}, {t.value(f'mul i32 {left}, {right}')}")
    t.write(one.operands[0], found, "b32")
