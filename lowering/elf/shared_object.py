"""Objects of the CPU become a shared object in the form that `pykern.data.code_image` reads; dlopen takes it as well.

Comes in: objects of LLVM's. Goes out: one file. Its code (headers, tables, text, read-only data, frames) is one
segment, what is written another, `DISTANCE` bytes further on than it stands in the file: so all of the code may be
executed and nothing of it written, and neighbours in memory have the same rights (`pykern.runtime.code_memory`).
Inside, everything is found by its distance. What lies outside is found through cells, 8 bytes each, which the loader
fills by name: Python's C API, libm, the C library. Read next: `symbols`, `writer`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from types import ModuleType

from pykern.data.code_image import DISTANCE
from pykern.errors import TargetError
from pykern.lowering.elf import aarch64, writer, x86_64
from pykern.lowering.elf.objects import ALLOC, EXECUTE, FUNCTION, NOBITS, WRITE, Object, Section, parse
from pykern.lowering.elf.symbols import Place, Symbols, undefined
from pykern.lowering.elf.tables import Tables, section_number
from pykern.lowering.elf.writer import Strings, aligned

MACHINES: dict[int, ModuleType] = {machine.NUMBER: machine for machine in (x86_64, aarch64)}
_LINE = 64
"""Code begins at such a multiple in memory; what asks for more than a page's part cannot be placed."""


def links(file: bytes) -> bool:
    """Whether this is an object of a machine that is known here."""
    return file[:4] == b"\x7fELF" and int.from_bytes(file[18:20], "little") in MACHINES


def link(*files: bytes, supply: Callable[[frozenset[str]], Sequence[bytes]] = lambda names: ()) -> bytes:
    """Link objects, and those that `supply` has for names they lack. Raises `TargetError` for what has no place."""
    objects = [parse(file) for file in files]
    objects += [parse(file) for file in supply(undefined(objects))]
    machine = MACHINES.get(objects[0].machine)
    if machine is None or any(each.machine != machine.NUMBER for each in objects):
        raise TargetError(f"linking failed: no code of machine {objects[0].machine} is linked here")
    return _Linking(objects, machine).linked()


class _Linking:
    """One link: where everything goes, then what is written there."""

    def __init__(self, objects: Sequence[Object], machine: ModuleType) -> None:
        self.objects, self.machine = objects, machine
        self.symbols = Symbols(objects)
        self.cells: dict[str | Place, int] = {}
        self.stubs: dict[str, int] = {}
        self.words: list[tuple[Place, str | Place, int]] = []  # in data: where, what, how much further
        self.places: dict[tuple[int, int], int] = {}
        self.code = bytearray()

    def linked(self) -> bytes:
        self._look_through()
        exports = self.symbols.exports()
        imports = [n for n in (*self.cells, *(w[1] for w in self.words)) if isinstance(n, str)]
        imports = list(dict.fromkeys(imports))
        tables = Tables(imports, exports, len(self.cells) + len(self.words))
        frames = self._place_code(tables.size)
        data, data_start, size = self._place_data()
        self._relocate(data, data_start)
        return self._file(tables, data, data_start, size, frames)

    # -- what is needed ---------------------------------------------------------------------------

    def _look_through(self) -> None:
        """Cells, stubs and addresses that relocations ask for."""
        machine = self.machine
        for number, each in enumerate(self.objects):
            found = self.symbols.targets[number]
            for place, offset, kind, symbol, addend in each.relocations:
                target = found[symbol]
                if kind == machine.WORD:
                    self._word(number, place, offset, target, addend)
                elif isinstance(target, str):
                    if kind in machine.CALLS:
                        self.stubs.setdefault(target, 0)
                    elif kind not in machine.CELLS:
                        raise TargetError(f"linking failed: `{target}` is nowhere near")
                    self.cells.setdefault(target, 0)
                elif kind in machine.CELLS and machine.needs_cell(kind, each.sections[place].content, offset):
                    self.cells.setdefault(target, 0)

    def _word(self, number: int, section: int, offset: int, target: str | Place, addend: int) -> None:
        found = self.objects[number].sections[section]
        if not found.flags & WRITE or (isinstance(target, str) and addend):
            raise TargetError(f"linking failed: `{found.name}` holds an address, and cannot be written")
        self.words.append((Place(number, section, offset), target, addend))

    # -- places -----------------------------------------------------------------------------------

    def _place_code(self, start: int) -> tuple[int, int]:
        """Text, then what is only read, then frames, one after the other; where frames begin and end."""
        self.code = bytearray(start)
        for kind in ("text", "const", "frames"):
            self.code += bytes(-len(self.code) % (8 if kind == "frames" else _LINE))
            before = len(self.code)
            for key, section in self._of(kind):
                if kind != "frames":
                    self.code += bytes(-len(self.code) % section.alignment)
                self.places[key] = len(self.code)
                self.code += section.content
            if kind == "text":
                self.code += bytes(-len(self.code) % 16)
                for name in self.stubs:
                    self.stubs[name] = len(self.code)
                    self.code += bytes(self.machine.STUB_SIZE)
                self.text = before, len(self.code)
        frames = before, len(self.code)
        self.code += bytes(8)  # which ends the frames
        self.distance = aligned(len(self.code), DISTANCE)
        return frames

    def _place_data(self) -> tuple[bytearray, int, int]:
        """Data that is stored, cells, then zeros: the content, where it begins in the file, the size of all."""
        sections = self._of("data")
        start = aligned(len(self.code), max([_LINE, *(s.alignment for _, s in sections)]))
        data = bytearray()
        for key, section in sections:
            if section.kind != NOBITS:
                data += bytes(-len(data) % section.alignment)
                self.places[key] = self.distance + start + len(data)
                data += section.content
        data += bytes(-len(data) % 8)
        for target in self.cells:
            self.cells[target] = self.distance + start + len(data)
            data += bytes(8)
        size = len(data) + Tables.DYNAMIC
        for key, section in sections:
            if section.kind == NOBITS:
                size = aligned(size, section.alignment)
                self.places[key] = self.distance + start + size
                size += section.size
        return data, start, size

    def _of(self, kind: str) -> list[tuple[tuple[int, int], Section]]:
        return [
            ((number, place), section)
            for number, each in enumerate(self.objects)
            for place, section in enumerate(each.sections)
            if section.flags & ALLOC and _kind(section) == kind
        ]

    def _address(self, place: Place) -> int:
        where = self.places.get((place.object, place.section))
        if where is None:
            raise TargetError("linking failed: a symbol is in a section that is not loaded")
        return where + place.offset

    # -- content ----------------------------------------------------------------------------------

    def _relocate(self, data: bytearray, start: int) -> None:
        machine, code = self.machine, self.code
        for name, at in self.stubs.items():
            code[at : at + machine.STUB_SIZE] = machine.stub(at, self.cells[name])
        for number, each in enumerate(self.objects):
            found = self.symbols.targets[number]
            for section, offset, kind, symbol, addend in each.relocations:
                if kind == machine.WORD:
                    continue
                target = found[symbol]
                direct = False
                if kind in machine.CELLS:
                    direct = not isinstance(target, str) and target not in self.cells
                    where = self._address(target) if direct else self.cells[target]  # type: ignore[arg-type]
                else:
                    where = self.stubs[target] if isinstance(target, str) else self._address(target)
                at = self.places[number, section] + offset
                if at < self.distance:
                    machine.apply(code, at, at, kind, where, addend, direct)
                else:
                    machine.apply(data, at - self.distance - start, at, kind, where, addend, direct)

    def _dynamic_relocations(self, names: dict[str, int]) -> bytes:
        """What the loader does: for each cell and address in data."""
        wanted = [(cell, target, 0) for target, cell in self.cells.items()]
        wanted += [(self._address(place), target, addend) for place, target, addend in self.words]
        made = b""
        for at, target, addend in wanted:
            if isinstance(target, str):
                made += struct.pack("<QQq", at, names[target] << 32 | self.machine.IMPORTED, 0)
            else:
                made += struct.pack("<QQq", at, self.machine.RELATIVE, self._address(target) + addend)
        return made

    def _file(self, tables: Tables, data: bytearray, start: int, size: int, frames: tuple[int, int]) -> bytes:
        relocations = self._dynamic_relocations({name: n for n, name in enumerate(tables.imports, 1)})
        exports = [(name, self._address(place), s) for name, place, s in tables.exports]
        sections = tables.sections(exports, relocations)
        dynamic_at = start + len(data)
        dynamic = tables.dynamic(sections)
        page, code_end = self.machine.PAGE, len(self.code)
        segments = [
            writer.Segment(writer.LOAD, writer.READABLE | writer.EXECUTABLE, 0, 0, code_end, code_end, page),
            writer.Segment(
                writer.LOAD, writer.READABLE | writer.WRITABLE, start, self.distance + start,
                len(data) + len(dynamic), size, page,
            ),
            writer.Segment(
                writer.DYNAMIC, writer.READABLE | writer.WRITABLE, dynamic_at, self.distance + dynamic_at,
                len(dynamic), len(dynamic), 8,
            ),
            writer.Segment(writer.STACK, writer.READABLE | writer.WRITABLE, 0, 0, 0, 0, 16),
        ]  # fmt: skip
        begin, end = self.text
        sections += [
            writer.Section(".text", 1, ALLOC | EXECUTE, self.code[begin:end], _LINE, begin, begin),
            writer.Section(".rodata", 1, ALLOC, self.code[end : frames[0]], 1, end, end),
            writer.Section(".eh_frame", 1, ALLOC, self.code[frames[0] :], 8, frames[0], frames[0]),
            writer.Section(".data", 1, ALLOC | WRITE, bytes(data), _LINE, start, self.distance + start),
            writer.Section(
                ".dynamic", 6, ALLOC | WRITE, dynamic, 8, dynamic_at, self.distance + dynamic_at, ".dynstr",
                entry_size=16,
            ),
            *self._names(),
        ]  # fmt: skip
        return writer.write(self.machine.NUMBER, b"\0\0", 0, segments, sections)

    def _names(self) -> list[writer.Section]:
        """Functions that are not exported, for debuggers and profilers."""
        strings, entries = Strings(), bytes(writer.SYMBOL_SIZE)
        number = section_number(".text")
        for name, place, size in self.symbols.functions():
            at = strings.add(name)
            entries += writer.symbol(at, 0, FUNCTION, 0, number, self._address(place), size)
        count = len(entries) // writer.SYMBOL_SIZE
        return [
            writer.Section(
                ".symtab", 2, 0, entries, 8, link=".strtab", info=count, entry_size=writer.SYMBOL_SIZE
            ),
            writer.Section(".strtab", 3, 0, strings.content),
        ]


def _kind(section: Section) -> str:
    if section.flags & WRITE:
        return "data"
    if section.flags & EXECUTE:
        return "text"
    return "frames" if section.name == ".eh_frame" else "const"
