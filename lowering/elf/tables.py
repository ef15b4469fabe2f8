"""Tables by which the system's loader finds what a shared object has and what it needs.

Comes in: names that are imported, functions that are exported. Goes out: `Tables`, whose sections stand at the
beginning of the file, and the dynamic table, which says where they are.
"""

from __future__ import annotations

import struct

from pykern.lowering.elf import writer
from pykern.lowering.elf.objects import ALLOC, FUNCTION
from pykern.lowering.elf.symbols import Place
from pykern.lowering.elf.writer import Strings, aligned

SEGMENTS = 4
_ORDER = (".dynsym", ".hash", ".rela.dyn", ".dynstr", ".text", ".rodata", ".eh_frame", ".data", ".dynamic")


def section_number(name: str) -> int:
    """The number of a section in the files that are written here."""
    return _ORDER.index(name) + 1


class Tables:
    """Symbols and relocations for the system's loader, at the beginning of the code."""

    DYNAMIC = 9 * 16
    """Bytes of the dynamic table."""

    def __init__(self, imports: list[str], exports: list[tuple[str, Place, int]], relocations: int) -> None:
        self.imports, self.exports = imports, exports
        self.names = [*imports, *(name for name, _, _ in exports)]
        self.strings = Strings()
        self.starts = [self.strings.add(name) for name in self.names]
        self.hash = writer.hash_table(self.names)
        at = writer.HEADER_SIZE + SEGMENTS * writer.SEGMENT_SIZE
        self.at = {}
        sizes = {
            ".dynsym": (len(self.names) + 1) * writer.SYMBOL_SIZE,
            ".hash": aligned(len(self.hash), 8),
            ".rela.dyn": relocations * writer.RELOCATION_SIZE,
            ".dynstr": len(self.strings.content),
        }
        for name, size in sizes.items():
            self.at[name] = at
            at += size
        self.size = at

    def sections(self, exports: list[tuple[str, int, int]], relocations: bytes) -> list[writer.Section]:
        """The sections, now that it is known where the functions are."""
        entries = bytes(writer.SYMBOL_SIZE)
        starts = iter(self.starts)
        for _ in self.imports:
            entries += writer.symbol(next(starts), 1, 0, 0, 0, 0, 0)
        text = section_number(".text")
        for _, address, size in exports:
            entries += writer.symbol(next(starts), 1, FUNCTION, 0, text, address, size)
        at = self.at
        return [
            writer.Section(
                ".dynsym", 11, ALLOC, entries, 8, at[".dynsym"], at[".dynsym"], ".dynstr", 1, writer.SYMBOL_SIZE
            ),
            writer.Section(".hash", 5, ALLOC, self.hash, 8, at[".hash"], at[".hash"], ".dynsym", 0, 4),
            writer.Section(
                ".rela.dyn", 4, ALLOC, relocations, 8, at[".rela.dyn"], at[".rela.dyn"], ".dynsym", 0,
                writer.RELOCATION_SIZE,
            ),
            writer.Section(".dynstr", 3, ALLOC, self.strings.content, 1, at[".dynstr"], at[".dynstr"]),
        ]  # fmt: skip

    def dynamic(self, sections: list[writer.Section]) -> bytes:
        """Tags and values of the dynamic table."""
        at = self.at
        entries = (
            (6, at[".dynsym"]), (11, writer.SYMBOL_SIZE), (5, at[".dynstr"]), (10, len(self.strings.content)),
            (4, at[".hash"]), (7, at[".rela.dyn"]), (8, len(sections[2].content)), (9, writer.RELOCATION_SIZE),
            (0, 0),
        )  # fmt: skip
        return b"".join(struct.pack("<QQ", *entry) for entry in entries)
