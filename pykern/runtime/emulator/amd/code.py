"""A kernel as records: for each instruction the function of its form, and where its operands lie.

Comes in: a `Kernel`. Goes out: `Code`: the records, what a wave's memory begins with, and how large it is.
Read next: `forms`, `body`; `waves`, which runs records.
"""

from __future__ import annotations

import ctypes
import re
import struct
from dataclasses import dataclass

from pykern.runtime.emulator.amd.assembly import Instruction, Kernel, UnknownAssembly
from pykern.runtime.emulator.amd.body import RECORD, Asked
from pykern.runtime.emulator.amd.forms import Form, compiled, form_of
from pykern.runtime.emulator.amd.operands import Operand, operand
from pykern.runtime.emulator.amd.state import CONSTANTS, NOWHERE, SCALARS, WORD
from pykern.runtime.emulator.ptx import rounded_up

_LINE = 64
"""Where vector registers begin is a multiple of this."""


@dataclass
class Code:
    """`template` are the first bytes of each wave's memory, and vector registers follow: `wave_bytes` in all."""

    records: ctypes.Array
    template: bytearray
    wave_bytes: int


class Assembler:
    """`symbols` are the addresses of constants; the code of one `is_traced` writes down its accesses."""

    def __init__(
        self, kernel: Kernel, lanes: int, old: bool, symbols: dict[str, int], is_traced: bool = False
    ) -> None:
        self.kernel, self.lanes, self.symbols = kernel, lanes, symbols
        self._at = {one.number: at for at, one in enumerate(kernel.instructions)}
        self.constants: dict[int, int] = {}
        self.registers = {"v": 1, "a": 0}
        """How many of each kind there are."""
        forms = [form_of(one, lanes, old, is_traced) for one in kernel.instructions]
        for one in kernel.instructions:
            self._note(one)
        words = [self._words(one, form) for one, form in zip(kernel.instructions, forms, strict=True)]
        compiled(forms)
        self.template_bytes = rounded_up(CONSTANTS + 8 * len(self.constants), _LINE)
        self.code = self._code(forms, words)

    def _code(self, forms: list[Form], words: list[list[tuple[str, int]]]) -> Code:
        data = bytearray()
        vectors = {"v": self.template_bytes, "a": self.template_bytes + self._bytes_of(self.registers["v"])}
        for one, form, held in zip(self.kernel.instructions, forms, words, strict=True):
            record = struct.pack("<Qi", form.address, one.number)
            for bank, value in held:
                record += struct.pack("<i", value + vectors.get(bank, 0))
            data += record.ljust(RECORD, b"\0")
        template = bytearray(self.template_bytes)
        for bits, number in self.constants.items():
            struct.pack_into("<Q", template, CONSTANTS + 8 * number, bits)
        nbytes = self.template_bytes + self._bytes_of(sum(self.registers.values()))
        return Code((ctypes.c_char * len(data)).from_buffer(data), template, rounded_up(nbytes, _LINE))

    def _bytes_of(self, registers: int) -> int:
        return registers * self.lanes * WORD

    def _note(self, one: Instruction) -> None:
        """How many vector registers there are."""
        for text in one.operands:
            if re.search(r"\b[va][\d\[]", text):
                this = operand(text)
                if this.is_vector:
                    self.registers[this.kind] = max(self.registers[this.kind], this.at + this.count)

    def _words(self, one: Instruction, form: Form) -> list[tuple[str, int]]:
        """The words of a record: the bank whose begin is to be added, and a number."""
        return [self._word(one, asked) for asked in form.asked]

    def _word(self, one: Instruction, asked: Asked) -> tuple[str, int]:
        what, which, kind = asked
        if what == "offset":
            return "", one.offset(str(which))
        text = one.operands[int(which)]
        if what == "label":
            if text not in self.kernel.labels:
                raise UnknownAssembly(f"the label {text}")
            return "", RECORD * (self.kernel.labels[text] - self._at[one.number])
        return self._place(operand(text), kind)

    def _place(self, this: Operand, kind: str) -> tuple[str, int]:
        if this.is_vector:
            return this.kind, self._bytes_of(this.at)
        if this.kind == "s":
            if this.at == SCALARS["null"] and kind == "result":
                return "", WORD * NOWHERE
            return "", WORD * this.at
        if this.kind == "@":
            if this.symbol not in self.symbols:
                raise UnknownAssembly(f"the name {this.symbol}")
            address = self.symbols[this.symbol]
            return self._constant(address >> 32 if this.upper else address & 0xFFFFFFFF)
        if this.kind == "#":
            return self._constant(this.bits("i32" if kind == "result" else kind))
        raise UnknownAssembly("an operand that is off")

    def _constant(self, bits: int) -> tuple[str, int]:
        number = self.constants.setdefault(bits, len(self.constants))
        return "", CONSTANTS + 8 * number
