"""What a code object says of its kernels: the note `NT_AMDGPU_METADATA`, MessagePack in an ELF file.

Formats: LLVM, "User Guide for AMDGPU Backend", section "Code Object V5 Metadata"; the MessagePack specification.
"""

from __future__ import annotations

import struct
from typing import Any

_PT_NOTE = 4
_NT_AMDGPU_METADATA = 32
_SIZED = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I",
          0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}  # fmt: skip
_NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
            0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}  # fmt: skip


def kernel_metadata(code_object: bytes, symbol: str) -> dict[str, Any]:
    """The entry of a kernel, its keys without the dot. Raises ValueError where there is none."""
    for kernel in _note(code_object)["amdhsa.kernels"]:
        if kernel[".name"] == symbol:
            return {key.lstrip("."): value for key, value in kernel.items()}
    raise ValueError(f"the code object has no kernel {symbol}")


def _note(elf: bytes) -> dict[str, Any]:
    if elf[:5] != b"\x7fELF\x02":
        raise ValueError("not an ELF file of 64 bits")
    start, = struct.unpack_from("<Q", elf, 32)  # fmt: skip
    size, count = struct.unpack_from("<HH", elf, 54)
    for number in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", elf, start + number * size)
        if kind == _PT_NOTE:
            found = _described(elf[offset : offset + length])
            if found is not None:
                return _Reader(found).value()
    raise ValueError("the code object has no metadata")


def _described(notes: bytes) -> bytes | None:
    """The content of the note that is ours."""
    at = 0
    while at < len(notes):
        name, content, kind = struct.unpack_from("<III", notes, at)
        begin = at + 12 + _padded(name)
        if kind == _NT_AMDGPU_METADATA:
            return notes[begin : begin + content]
        at = begin + _padded(content)
    return None


def _padded(size: int) -> int:
    return -(-size // 4) * 4


class _Reader:
    """MessagePack, as much of it as metadata has."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def value(self) -> Any:
        first = self._number(">B")
        if first < 0x80:
            return first
        if first < 0x90:
            return self._map(first & 15)
        if first < 0xA0:
            return self._array(first & 15)
        if first < 0xC0:
            return self._text(first & 31)
        if first >= 0xE0:
            return first - 256
        if first in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[first]
        if first in _NUMBERS:
            return self._number(_NUMBERS[first])
        size = self._number(_SIZED[first])
        if first in (0xDC, 0xDD):
            return self._array(size)
        return self._map(size) if first in (0xDE, 0xDF) else self._text(size)

    def _number(self, format: str) -> Any:
        (number,) = struct.unpack_from(format, self.data, self.at)
        self.at += struct.calcsize(format)
        return number

    def _text(self, size: int) -> str:
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def _array(self, count: int) -> list[Any]:
        return [self.value() for _ in range(count)]

    def _map(self, count: int) -> dict[Any, Any]:
        return {self.value(): self.value() for _ in range(count)}
