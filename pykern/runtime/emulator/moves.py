"""Rules of comparisons, selections and moves.

Comes in: an `Instruction`. Goes out: LLVM IR, written by `Values`.
"""

from __future__ import annotations

from pykern.runtime.emulator.arithmetic import PAIRS, held, kind_of
from pykern.runtime.emulator.opcodes import opcode
from pykern.runtime.emulator.operands import Values, bits_of, elements, integer, is_float, is_signed
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx

_SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"} | {
    "lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge",
}  # fmt: skip
_FLOAT = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord", "nan": "uno"} | {
    "equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge",
}  # fmt: skip


@opcode("setp", " ".join({*_SIGNED, *_UNSIGNED, *_FLOAT}) + " ftz")
def compare(t: Values, one: Instruction) -> None:
    kind, name = kind_of(one), one.modifiers[0]
    if kind in PAIRS:
        _compare_pair(t, one, PAIRS[kind])
        return
    if len(one.operands) != 3 or "|" in one.operands[0]:
        raise UnknownPtx(f"the operands of {one.name}")
    if is_float(kind):
        x, y = (t.number(operand, kind) for operand in one.operands[1:3])
        if "ftz" in one.modifiers and kind == "f32":
            x, y = t.flushed(x), t.flushed(y)
        found = t.value(f"fcmp {_FLOAT[name]} {held(kind)} {x}, {y}")
    else:
        x, y = (t.read(operand, kind) for operand in one.operands[1:3])
        table = _SIGNED if is_signed(kind) else _UNSIGNED
        found = t.value(f"icmp {table[name]} {integer(kind)} {x}, {y}")
    t.write(one.operands[0], found, "pred")


def _compare_pair(t: Values, one: Instruction, short: str) -> None:
    """``p|q``: the lower halves give the first predicate, the upper ones the second."""
    words = [t.read(operand, "b32") for operand in one.operands[1:3]]
    for predicate, shift in zip(one.operands[0].split("|"), (0, 16), strict=True):
        x, y = (t.widened(t.half(word, shift), short) for word in words)
        t.write(predicate, t.value(f"fcmp {_FLOAT[one.modifiers[0]]} float {x}, {y}"), "pred")


@opcode("selp")
def select(t: Values, one: Instruction) -> None:
    kind = kind_of(one)
    x, y = (t.bits(operand, bits_of(kind)) for operand in one.operands[1:3])
    chosen = t.value(f"select i1 {t.read(one.operands[3], 'pred')}, {integer(kind)} {x}, {integer(kind)} {y}")
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
