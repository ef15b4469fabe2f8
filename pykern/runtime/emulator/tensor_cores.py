"""Products of matrices by a warp, `mma.sync`: D = A B + C, whose elements lie in registers of all 32 lanes.

Comes in: a waiting `Instruction`. Goes out: LLVM IR that stores each lane's elements into whole matrices before the
wait (`bring_matrices`), and sums the lane's elements of the result behind it (`take_product`). Both follow the
fragments of the PTX ISA, section "Matrix Fragments for mma". Products are exact; sums begin with C and go by rising k,
each rounded to f32 (f64, 32 bits of an integer). The order that hardware takes, and what it rounds in between, is
unspecified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pykern.runtime.emulator.emit import Emitter
from pykern.runtime.emulator.operands import SHORT, Values, elements
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx

LANES = 32
_COLUMNS = 8
"""Of B and of the result, in every shape."""
_FORM = re.compile(
    r"mma\.sync\.aligned\.m(?P<rows>\d+)n8k(?P<depth>\d+)\.row\.col(?P<saturates>\.satfinite)?"
    r"\.(?P<result>\w+)\.(?P<a>\w+)\.(?P<b>\w+)\.(?P<c>\w+)"
)
_BYTES = ("s8", "u8")
_FLOATS = frozenset(
    {("f16", "f16", "f16"), ("f16", "f32", "f32"), ("bf16", "f32", "f32"), ("tf32", "f32", "f32")}
)
"""The type of A and B, that of the result, and that of C."""
_SHAPES = {
    "f16": {(16, 8), (16, 16)},
    "bf16": {(16, 8), (16, 16)},
    "tf32": {(16, 4), (16, 8)},
    "f64": {(8, 4), (16, 4), (16, 8), (16, 16)},
    "s8": {(8, 16), (16, 16), (16, 32)},
}
"""Rows and depths of the products of each type."""
_HELD = {"f64": ("double", 8), "s32": ("i32", 4)}
"""The LLVM type that elements of a result are summed in, and its bytes; f32 otherwise."""
_TF32_BITS = -1 << 13
"""The bits of an f32 that count."""


@dataclass(frozen=True)
class Product:
    """The shape and types of one instruction; `packed` is how many elements of A or B a register has."""

    rows: int
    depth: int
    types: tuple[str, str]
    result: str
    saturates: bool

    @property
    def packed(self) -> int:
        return {"f16": 2, "bf16": 2, "s8": 4, "u8": 4}.get(self.types[0], 1)

    @property
    def held(self) -> tuple[str, int]:
        return _HELD.get(self.result, ("float", 4))

    @property
    def words(self) -> int:
        """8-byte words of A, B and C, for each lane."""
        cells = self.rows * self.depth + _COLUMNS * self.depth + self.rows * _COLUMNS
        return -(-cells * self.held[1] // (8 * LANES))

    def begin(self, matrix: str) -> int:
        """The byte at which A, B (by columns) or C begins."""
        return self.held[1] * {
            "a": 0, "b": self.rows * self.depth, "c": (self.rows + _COLUMNS) * self.depth,
        }[matrix]  # fmt: skip


def product_of(one: Instruction) -> Product:
    """Raises `UnknownPtx` for forms that are not emulated."""
    found = _FORM.fullmatch(one.name)
    if found is None:
        raise UnknownPtx(f"the instruction {one.name}")
    a, b, result, c = (found[name] for name in ("a", "b", "result", "c"))
    shape, saturates = (int(found["rows"]), int(found["depth"])), bool(found["saturates"])
    is_integer = a in _BYTES and b in _BYTES and result == c == "s32"
    is_float = a == b and not saturates and ((a, result, c) in _FLOATS or (a, result, c) == ("f64",) * 3)
    if not (is_integer or is_float) or shape not in _SHAPES["s8" if is_integer else a]:
        raise UnknownPtx(f"the instruction {one.name}")
    return Product(*shape, (a, b), result, saturates)


def bring_matrices(t: Values, one: Instruction) -> None:
    """Store the lane's elements of A, B and C where their matrices are: A by rows, B by columns, C by rows."""
    this = product_of(one)
    group, member = _groups(t)
    row = t.value(f"mul i64 {group}, {this.depth}")
    corner = t.value(f"add i64 {row}, {t.value(f'mul i64 {member}, {this.packed}')}")
    for register, operand in enumerate(elements(one.operands[1])):
        below, right = (register & 1, register >> 1) if this.rows == 16 else (0, register)
        for number, value in enumerate(_unpacked(t, operand, this.types[0])):
            apart = 8 * below * this.depth + 4 * this.packed * right + number
            t.store(this.held[0], value, _cell(t, this, "given", "a", corner, apart))
    for register, operand in enumerate(elements(one.operands[2])):
        for number, value in enumerate(_unpacked(t, operand, this.types[1])):
            apart = 4 * this.packed * register + number
            t.store(this.held[0], value, _cell(t, this, "given", "b", corner, apart))
    own = _own_corner(t, group, member)
    for (row_below, column), value in zip(
        _own_elements(this), _summands(t, this, one.operands[3]), strict=True
    ):
        t.store(this.held[0], value, _cell(t, this, "given", "c", own, row_below * _COLUMNS + column))


def take_product(t: Values, one: Instruction) -> None:
    """Sum the lane's elements of the result."""
    this = product_of(one)
    group, member = _groups(t)
    own = _own_corner(t, group, member)
    row = t.value(f"mul i64 {group}, {this.depth}")
    column = t.value(f"mul i64 {member}, {2 * this.depth}")
    kind = this.held[0]
    name = f"pk_dot_{'saturated' if this.saturates else kind}"
    sums = []
    for row_below, right in _own_elements(this):
        places = (
            ("ptr", _cell(t, this, "taken", "a", row, row_below * this.depth)),
            ("ptr", _cell(t, this, "taken", "b", column, right * this.depth)),
        )
        begun = t.load(kind, _cell(t, this, "taken", "c", own, row_below * _COLUMNS + right))
        sums.append(t.call(kind, name, *places, ("i64", str(this.depth)), (kind, begun)))
    registers = elements(one.operands[0])
    if this.result == "f16":
        sums = [t.narrowed(value, "f16") for value in sums]
        sums = [t.pair(low, high) for low, high in zip(sums[::2], sums[1::2], strict=True)]
    for register, value in zip(registers, sums, strict=True):
        t.write(register, value, "b32" if this.result == "f16" else this.result)


def _groups(t: Values) -> tuple[str, str]:
    """Four lanes each hold a row of A, and a column of B: the number of the lane's group, and its own in there."""
    lane = t.slot("lane")
    return t.value(f"lshr i64 {lane}, 2"), t.value(f"and i64 {lane}, 3")


def _own_corner(t: Values, group: str, member: str) -> str:
    """The number of the lane's first element of C."""
    row = t.value(f"mul i64 {group}, {_COLUMNS}")
    return t.value(f"add i64 {row}, {t.value(f'mul i64 {member}, 2')}")


def _own_elements(this: Product) -> Iterator[tuple[int, int]]:
    """The rows and columns of a lane's elements of C, from its first one on."""
    return ((below, column) for below in range(0, this.rows, 8) for column in range(2))


def _cell(t: Values, this: Product, area: str, matrix: str, number: str, apart: int) -> str:
    size = this.held[1]
    base = t.value(f"add i64 {t.slot(area)}, {this.begin(matrix) + apart * size}")
    return t.cell(base, number, size)


def _unpacked(t: Values, operand: str, kind: str) -> list[str]:
    """The elements of A or B in a register, as the type that products are summed in."""
    if kind == "f64":
        return [t.read(operand, kind)]
    word = t.read(operand, "b32")
    if kind == "tf32":
        return [t.value(f"bitcast i32 {t.value(f'and i32 {word}, {_TF32_BITS}')} to float")]
    if kind in SHORT:
        return [t.widened(t.half(word, shift), kind) for shift in (0, 16)]
    pieces = [t.value(f"trunc i32 {t.value(f'lshr i32 {word}, {shift}')} to i8") for shift in range(0, 32, 8)]
    return [t.resized(piece, 8, 32, kind == "s8") for piece in pieces]


def _summands(t: Values, this: Product, operand: str) -> list[str]:
    """The lane's elements of C."""
    if this.result == "f16":
        words = [t.read(register, "b32") for register in elements(operand)]
        return [t.widened(t.half(word, shift), "f16") for word in words for shift in (0, 16)]
    return [t.read(register, this.result) for register in elements(operand)]


def write_dot_products() -> tuple[list[str], dict[str, str]]:
    """Functions that add the products of a row and a column to a sum."""
    lines: list[str] = []
    declared: dict[str, str] = {}
    for name, kind in (("float", "float"), ("double", "double"), ("i32", "i32"), ("saturated", "i32")):
        e = Emitter()
        e.lines.append(f"define {kind} @pk_dot_{name}(ptr %row, ptr %column, i64 %depth, {kind} %begin) {{")
        e.do(f"ret {kind} {_dot(e, name, kind)}")
        e.lines.append("}")
        lines += e.lines
        declared |= e.declared
    return lines, declared


def _dot(e: Emitter, name: str, kind: str) -> str:
    wide = "i64" if name == "saturated" else kind
    total = e.local(wide)
    e.store(wide, e.resized("%begin", 32, 64, signed=True) if wide == "i64" else "%begin", total)
    with e.loop("%depth") as k:
        factors = [
            e.load(kind, e.value(f"getelementptr {kind}, ptr {side}, i64 {k}"))
            for side in ("%row", "%column")
        ]
        before = e.load(wide, total)
        if kind in ("float", "double"):
            suffix = "f32" if kind == "float" else "f64"
            now = e.call(kind, f"llvm.fma.{suffix}", *((kind, value) for value in (*factors, before)))
        else:
            factors = [e.resized(value, 32, 64, signed=True) if wide == "i64" else value for value in factors]
            now = e.value(f"add {wide} {before}, {e.value(f'mul {wide} {factors[0]}, {factors[1]}')}")
        e.store(wide, now, total)
    found = e.load(wide, total)
    if wide != "i64":
        return found
    above = e.call("i64", "llvm.smax.i64", ("i64", found), ("i64", str(-(2**31))))
    return e.resized(e.call("i64", "llvm.smin.i64", ("i64", above), ("i64", str(2**31 - 1))), 64, 32)
