"""The assembly that LLVM prints for AMD's chips, read as data.

Comes in: text of `pykern.lowering.rocdl`. Goes out: a `Module`. A dual instruction becomes two. What LLVM tells in
comments is skipped but for barriers of groups that are one wave, which need no instruction.
"""

from __future__ import annotations

import re
import struct

from pykern.runtime.emulator.amd.assembly import Instruction, Kernel, Module, UnknownAssembly
from pykern.runtime.emulator.amd.exchange_loops import with_relaxed_loads
from pykern.runtime.emulator.ptx import Place, rounded_up
from pykern.runtime.emulator.statements import split_operands

WAVE_BARRIER = "wave_barrier"
"""The name that the barrier of a group of one wave gets."""
_DATA = {".byte": "B", ".short": "H", ".long": "I", ".quad": "Q"}
_TEXT_OPERANDS = ("s_waitcnt", "s_delay_alu", "s_wait_", "s_sendmsg")
"""Instructions whose operands are no registers: beginnings of their names."""
_SPARE = "v256"
"""A register that the chips have not got."""
_LABEL = re.compile(r"^([\w.$]+):$")
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)")


def parsed(text: str) -> Module:
    return _Reader(text).module


class _Reader:
    def __init__(self, text: str) -> None:
        found = re.search(r'\.amdgcn_target\s+"[^"]*--(\w+)', text)
        if found is None:
            raise UnknownAssembly("a text without its chip")
        self.module = Module(found[1])
        self.files: dict[int, str] = {}
        self.place: Place | None = None
        self.kernel: Kernel | None = None
        self.described: dict[str, int] | None = None
        self.in_code = self.in_data = False
        self.data = bytearray()
        code, _, metadata = text.partition("\n\t.amdgpu_metadata")
        for line in code.split("\n"):
            self._line(line.strip())
        self._arguments(metadata)
        self.module.constants = bytes(self.data)
        self.module.kernels = {name: one for name, one in self.module.kernels.items() if one.described}
        for kernel in self.module.kernels.values():
            kernel.instructions = with_relaxed_loads(kernel.instructions)

    def _arguments(self, metadata: str) -> None:
        """The arguments of each kernel, in the order of its list."""
        for part in re.split(r"^  - (?=\.)", metadata, flags=re.MULTILINE)[1:]:
            name = re.search(r"^    \.name: +(\S+)", part, re.MULTILINE)
            if name is None or name[1] not in self.module.kernels:
                raise UnknownAssembly("metadata of a kernel that there is not")
            listed = re.split(r"^    \.", part.partition(".args:")[2], maxsplit=1, flags=re.MULTILINE)[0]
            for one in re.split(r"^      - ", listed, flags=re.MULTILINE)[1:]:
                begin, nbytes, kind = (
                    re.search(rf"^ *\.{key}: +(\S+)", one, re.MULTILINE)
                    for key in ("offset", "size", "value_kind")
                )
                assert begin is not None and nbytes is not None and kind is not None
                if kind[1].startswith("hidden"):
                    raise UnknownAssembly(f"a kernel that asks for {kind[1]}")
                self.module.kernels[name[1]].arguments.append((int(begin[1]), int(nbytes[1])))

    def _line(self, line: str) -> None:
        line, _, comment = line.partition(";")
        line = line.strip()
        if self.in_code and comment.strip() == "wave barrier":
            self._add(WAVE_BARRIER, "")
        if not line:
            return
        label = _LABEL.match(line)
        if label:
            self._label(label[1])
        elif line.startswith("."):
            self._directive(*line.split(None, 1))
        elif self.in_code and self.kernel is not None:
            self._instruction(line)
        else:
            raise UnknownAssembly(f"the line {line!r}")

    def _label(self, name: str) -> None:
        if self.in_data:
            self.module.symbols[name] = len(self.data)
        elif self.in_code:
            if not name.startswith(".L"):
                self.kernel = self.module.kernels.setdefault(name, Kernel(name))
            if self.kernel is not None:
                self.kernel.labels[name] = len(self.kernel.instructions)

    def _directive(self, name: str, rest: str = "") -> None:
        if name in (".text", ".section", ".data", ".bss"):
            self.in_code = name == ".text" or rest.startswith(".text")
            self.in_data = rest.startswith((".rodata", ".data", ".bss")) or name in (".data", ".bss")
        elif name == ".loc":
            found = _LOC.match(f"{name} {rest}")
            assert found is not None
            file, line, column = (int(part) for part in found.groups())
            self.place = Place(self.files.get(file, ""), line, column) if line else self.place
        elif name == ".file":
            found = _FILE.match(f"{name} {rest}")
            if found is not None:
                folder, file = (found[2], found[3]) if found[3] else ("", found[2])
                self.files[int(found[1])] = file if file.startswith("/") or not folder else f"{folder}/{file}"
        elif name == ".amdhsa_kernel":
            self.described = self.module.kernels.setdefault(rest, Kernel(rest)).described
        elif name == ".end_amdhsa_kernel":
            self.described = None
        elif self.described is not None:
            value = rest.strip()
            self.described[name.removeprefix(".amdhsa_")] = int(value, 0) if value.isdecimal() else 0
        elif self.in_data:
            self._constant(name, rest)

    def _constant(self, name: str, rest: str) -> None:
        if name == ".p2align":
            self.data += bytes(rounded_up(len(self.data), 1 << int(rest.split(",")[0])) - len(self.data))
        elif name in _DATA:
            size = struct.calcsize(_DATA[name])
            for part in rest.split(","):
                self.data += (int(part, 0) % (1 << 8 * size)).to_bytes(size, "little")
        elif name == ".zero":
            self.data += bytes(int(rest.split(",")[0], 0))
        elif name in (".ascii", ".asciz"):
            octal = re.sub(r"\\([0-7]{1,3})", lambda found: f"\\x{int(found[1], 8):02x}", rest.strip()[1:-1])
            self.data += octal.encode("latin-1").decode("unicode_escape").encode("latin-1")
            self.data += b"\0" * (name == ".asciz")
        elif name not in (".type", ".size", ".globl", ".protected", ".hidden", ".weak", ".set"):
            raise UnknownAssembly(f"the data {name} {rest}")

    def _instruction(self, line: str) -> None:
        if "::" in line:
            for part in _dual(*(part.strip().replace("v_dual_", "v_", 1) for part in line.split("::"))):
                self._instruction(part)
            return
        name, _, rest = line.partition(" ")
        self._add(name, rest.strip())

    def _add(self, name: str, rest: str) -> None:
        assert self.kernel is not None
        if name.startswith(_TEXT_OPERANDS):
            operands, modifiers = (rest,) if rest else (), ()
        else:
            operands, modifiers = _operands(rest)
        one = Instruction(name, operands, len(self.module.instructions), modifiers, self.place)
        self.module.instructions.append(one)
        self.kernel.instructions.append(one)


def _dual(first: str, second: str) -> tuple[str, ...]:
    """Two instructions that read their operands at the same time, one after the other: what the first one writes, and
    the second reads, is kept before."""
    written = first.split(None, 1)[1].partition(",")[0]
    result, _, sources = second.partition(",")
    moved, times = re.subn(rf"\b{written}\b", _SPARE, sources)
    if times == 0:
        return first, second
    return f"v_mov_b32_e32 {_SPARE}, {written}", first, f"{result},{moved}"


def _operands(text: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Operands, and the modifiers that stand behind the last one."""
    parts = split_operands(text)
    if not parts:
        return (), ()
    words = re.findall(r"(?:[^\s\[(]|\[[^\]]*\]|\([^)]*\))+", parts[-1])
    first = 0 if ":" in re.sub(r"\[[^\]]*\]", "", words[0]) else 1
    modifiers = []
    for word in words[first:]:
        name, _, value = word.partition(":")
        modifiers.append((name, value))
    last = words[:first]
    return (*parts[:-1], *last), tuple(modifiers)
