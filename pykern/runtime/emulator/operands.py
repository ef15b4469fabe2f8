"""Operands of instructions as LLVM values, and results as registers; f16 and bf16 by way of f32.

Comes in: the text of an operand and a PTX type. Goes out: an LLVM value. Registers are stack slots, which LLVM makes
values of. Values of f16 and bf16 are their bits: `widened` and `narrowed` are exact, and round once.
"""

from __future__ import annotations

import re
import struct

from pykern.runtime.emulator.emit import Emitter
from pykern.runtime.emulator.ptx import BYTES, Function, Module, UnknownPtx, rounded_up

FLOATS = {"f32": "float", "f64": "double"}
SHORT = ("f16", "bf16")
_SPECIAL = re.compile(r"%(n?tid|n?ctaid)\.([xyz])")
_HEX_FLOAT = re.compile(r"0[fFdD]([0-9A-Fa-f]+)")
_INTEGER = re.compile(r"(-?)(0x[0-9A-Fa-f]+|\d+)U?")


def bits_of(kind: str) -> int:
    return 1 if kind == "pred" else 8 * BYTES[kind]


def integer(kind: str) -> str:
    """LLVM's integer of the width of a PTX type."""
    return f"i{bits_of(kind)}"


def llvm_type(kind: str) -> str:
    return FLOATS.get(kind) or integer(kind)


def is_float(kind: str) -> bool:
    return kind in FLOATS or kind in SHORT


def computed_in(kind: str) -> str:
    """The PTX type that operations on a float are done in."""
    return "f64" if kind == "f64" else "f32"


def is_signed(kind: str) -> bool:
    return kind[0] == "s"


def elements(operand: str) -> list[str]:
    """Of a vector ``{a, b}``; of anything else, itself."""
    return [part.strip() for part in operand[1:-1].split(",")] if operand.startswith("{") else [operand]


class Values(Emitter):
    """Reads and writes the operands of one function's instructions."""

    def __init__(self, module: Module, function: Function) -> None:
        super().__init__()
        self.module, self.function = module, function

    def place(self, register: str) -> str:
        """The register's stack slot."""
        return f'%"{register}"'

    def bits(self, operand: str, width: int) -> str:
        """An operand as an integer of `width` bits."""
        if operand in self.function.registers:
            own = self.function.registers[operand]
            return self.resized(self.load(f"i{own}", self.place(operand)), own, width)
        special = _SPECIAL.fullmatch(operand)
        if special or operand in ("%laneid", "%warpid"):
            return self.resized(self._special(operand, special), 64, width)
        if operand in self.module.symbols:
            return self.resized(self._symbol(operand), 64, width)
        if self.function.is_kernel and operand in (name for name, _ in self.function.parameters):
            address = self.value(f"add i64 {self.slot('parameters')}, {self.parameter_offset(operand)}")
            return self.resized(address, 64, width)
        found = _HEX_FLOAT.fullmatch(operand)
        if found:
            return str(int(found[1], 16))
        found = _INTEGER.fullmatch(operand)
        if found:
            number = int(found[2], 0) * (-1 if found[1] else 1)
            return str(number % (1 << width)) if width > 1 else str(number & 1)
        raise UnknownPtx(f"the operand {operand}")

    def parameter_offset(self, name: str) -> int:
        """Where one of the kernel's parameters begins."""
        at = 0
        for known, nbytes in self.function.parameters:
            if known == name:
                break
            at += rounded_up(nbytes, 8)
        return at

    def _special(self, operand: str, found: re.Match[str] | None) -> str:
        if found:
            return self.slot(f"{found[1]}.{found[2]}")
        return self.slot("lane") if operand == "%laneid" else self.value(f"lshr i64 {self.slot('thread')}, 5")

    def _symbol(self, name: str) -> str:
        """Shared memory is counted from its begin, as the hardware does; other addresses are the host's."""
        symbol = self.module.symbols[name]
        if symbol.space == "shared":
            return str(symbol.offset)
        if symbol.space == "local":
            return self.value(f"add i64 {self.slot('local')}, {symbol.offset}")
        return self.value(f"add i64 {self.slot('constants')}, {symbol.offset}")

    def read(self, operand: str, kind: str) -> str:
        """An operand as a value of a PTX type."""
        value = self.bits(operand, bits_of(kind))
        return self.value(f"bitcast {integer(kind)} {value} to {FLOATS[kind]}") if kind in FLOATS else value

    def write(self, register: str, value: str, kind: str) -> None:
        """A value of a PTX type into a register, which may be wider."""
        if register == "_":
            return
        if kind in FLOATS:
            value = self.value(f"bitcast {FLOATS[kind]} {value} to {integer(kind)}")
        if register not in self.function.registers:
            raise UnknownPtx(f"the register {register}")
        own = self.function.registers[register]
        self.store(f"i{own}", self.resized(value, bits_of(kind), own, is_signed(kind)), self.place(register))

    # -- floats ------------------------------------------------------------------------------------

    def number(self, operand: str, kind: str) -> str:
        """An operand of any float type, widened to f32 where it is shorter."""
        value = self.read(operand, kind)
        return self.widened(value, kind) if kind in SHORT else value

    def widened(self, value: str, kind: str) -> str:
        return self.call("float", f"pk_f32_of_{kind}", ("i16", value))

    def narrowed(self, value: str, kind: str, of: str = "f32") -> str:
        """Rounded to the nearest, ties to even; of f64 too it is rounded once."""
        return self.call("i16", f"pk_{kind}_of_{of}", (FLOATS[of], value))

    def write_number(self, register: str, value: str, kind: str) -> None:
        """A float of `kind`; a short one comes as f32."""
        self.write(register, self.narrowed(value, kind) if kind in SHORT else value, kind)

    def half(self, word: str, shift: int) -> str:
        """The bits of one of the two short floats in 32 bits."""
        return self.value(f"trunc i32 {self.value(f'lshr i32 {word}, {shift}')} to i16")

    def pair(self, low: str, high: str) -> str:
        """Two short floats in 32 bits."""
        low, high = (self.value(f"zext i16 {half} to i32") for half in (low, high))
        return self.value(f"or i32 {low}, {self.value(f'shl i32 {high}, 16')}")

    def saturated(self, value: str, kind: str) -> str:
        """A float between 0 and 1; a NaN becomes 0."""
        return self.intrinsic("minimumnum", kind, self.intrinsic("maximumnum", kind, value, "0.0"), "1.0")

    def flushed(self, value: str) -> str:
        """A subnormal f32 is a zero of its sign, as instructions with ``.ftz`` take and give them."""
        return self.call("float", "pk_flushed", ("float", value))

    def intrinsic(self, name: str, kind: str, *values: str) -> str:
        """An intrinsic of LLVM on f32, f64 or integers."""
        held = llvm_type(kind)
        suffix = kind if kind in FLOATS else held
        return self.call(held, f"llvm.{name}.{suffix}", *((held, value) for value in values))


def float_constant(number: float) -> str:
    """As LLVM writes it: the bits of an f64."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
