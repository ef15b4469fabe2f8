"""What the text of an operand means: registers, numbers, names; with the modifiers that stand at it.

Comes in: ``-|v[2:3]|``, ``0x3f800000``, ``v1.h``, ``sext(v0)``. Goes out: `Operand`. What it is none of raises
`UnknownAssembly`.
"""

from __future__ import annotations

import functools
import re
import struct
from dataclasses import dataclass

from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.amd.state import PRIVATE_APERTURE, SCALARS, SHARED_APERTURE

_REGISTER = re.compile(r"([vas]|ttmp)(?:(\d+)|\[(\d+)(?::(\d+))?\])(?:\.([lh]))?")
_NUMBER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)")
_FLOAT = re.compile(r"-?\d+\.\d*(?:[eE][-+]?\d+)?")
_SYMBOL = re.compile(r"([\w.$]+)@(rel32|abs32)@(lo|hi)(?:\+\d+)?")
_APERTURES = {
    "src_shared_base": SHARED_APERTURE << 32,
    "src_private_base": PRIVATE_APERTURE << 32,
}
_FORMATS = {16: "<e", 32: "<f", 64: "<d"}


@dataclass(frozen=True)
class Operand:
    """`kind`: "v" and "a" vector registers, "s" scalar ones, "#" a number, "@" a part of an address, "off" nothing.
    `at` is the first register's number, `count` how many there are."""

    kind: str
    at: int = 0
    count: int = 1
    negated: bool = False
    absolute: bool = False
    half: str = ""
    """"l" or "h": the half of a register that is meant."""
    extended: bool = False
    number: int | float = 0
    symbol: str = ""
    upper: bool = False

    @property
    def is_vector(self) -> bool:
        return self.kind in "va"

    def bits(self, kind: str) -> int:
        """A number as an instruction takes it that reads `kind`: ``f64``, ``i16`` ... ."""
        width = int(kind.lstrip("ifb")) if kind != "bf16" else 16
        if isinstance(self.number, float):
            if kind == "bf16":
                return struct.unpack("<I", struct.pack("<f", self.number))[0] >> 16
            return int.from_bytes(struct.pack(_FORMATS[width], self.number), "little")
        if kind == "f64" and not -16 <= self.number <= 64:
            return (self.number << 32) % (1 << 64)  # a literal is the upper word
        return self.number % (1 << width)


@functools.lru_cache(4096)
def operand(text: str) -> Operand:
    plain, negated, absolute, extended = text, False, False, False
    if plain.startswith("neg("):
        plain, negated = plain[4:-1], True
    if plain.startswith("sext("):
        plain, extended = plain[5:-1], True
    if plain.startswith("-") and not (_NUMBER.fullmatch(plain) or _FLOAT.fullmatch(plain)):
        plain, negated = plain[1:], True
    if plain.startswith("|") and plain.endswith("|"):
        plain, absolute = plain[1:-1], True
    elif plain.startswith("abs("):
        plain, absolute = plain[4:-1], True
    found = _REGISTER.fullmatch(plain)
    if found is not None:
        bank, alone, first, last, half = found.groups()
        at = int(alone or first)
        count = 1 if alone or not last else int(last) - at + 1
        if bank in "va":
            return Operand(
                bank, at, count, half=half or "", negated=negated, absolute=absolute, extended=extended
            )
        return Operand(
            "s",
            SCALARS[f"{bank}{at}"],
            count,
            half=half or "",
            negated=negated,
            absolute=absolute,
            extended=extended,
        )
    name, _, half = plain.partition(".")
    if name in SCALARS and half in ("", "l", "h"):
        pair = name in ("vcc", "exec", "flat_scratch", "xnack_mask")
        return Operand(
            "s", SCALARS[name], 1 + pair, half=half, negated=negated, absolute=absolute, extended=extended
        )
    if plain in _APERTURES:
        return Operand("#", number=_APERTURES[plain], negated=negated, absolute=absolute, extended=extended)
    if plain == "off":
        return Operand("off")
    if _NUMBER.fullmatch(plain):
        return Operand("#", number=int(plain, 0), negated=negated, absolute=absolute, extended=extended)
    if _FLOAT.fullmatch(plain):
        return Operand("#", number=float(plain), negated=negated, absolute=absolute, extended=extended)
    symbol = _SYMBOL.fullmatch(plain)
    if symbol is not None:
        return Operand("@", symbol=symbol[1], upper=symbol[3] == "hi")
    raise UnknownAssembly(f"the operand {text}")
