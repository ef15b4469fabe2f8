"""Operands and results with their modifiers: signs, halves, lanes that are moved (DPP), bytes (SDWA), saturation.

Comes in: the number of an operand, the type that it is read as. Goes out: a value of each lane. Floats of 16 bits are
values of f32, which hold them exactly; a result is rounded once. Read next: `short_floats`, how.
"""

from __future__ import annotations

from pykern.runtime.emulator.amd import lane_moves
from pykern.runtime.emulator.amd.assembly import UnknownAssembly
from pykern.runtime.emulator.amd.body import FLOATS, Body, width_of
from pykern.runtime.emulator.amd.short_floats import narrowed, widened

SHORT = ("f16", "bf16")
_SELECTED = {
    "DWORD": (0, 32), "WORD_0": (0, 16), "WORD_1": (16, 16),
    "BYTE_0": (0, 8), "BYTE_1": (8, 8), "BYTE_2": (16, 8), "BYTE_3": (24, 8),
}  # fmt: skip
"""Of SDWA: the first bit, and how many."""
_SCALES = {("mul", "2"): 2.0, ("mul", "4"): 4.0, ("div", "2"): 0.5}


class Values(Body):
    def source(self, number: int, kind: str, at: int | None = None) -> str:
        """An operand as a value of each lane. `at` is its place among the sources, where modifiers name that."""
        at = number - 1 if at is None else at
        width = 16 if kind == "bf16" else width_of(kind)
        bits = self._signed(number, self._bits(number, kind, width, at), width)
        if kind in SHORT:
            return widened(self, bits, kind)
        return self.cast("bitcast", bits, f"i{width}", kind) if kind in FLOATS else bits

    def _bits(self, number: int, kind: str, width: int, at: int) -> str:
        selected = self.modifier(f"src{at}_sel") if at < 2 else None
        if selected is not None:
            begin, count = _SELECTED[selected]
            words = self._moved(self.register(number, "i32"), at)
            if begin:
                words = self.op("lshr", "i32", words, begin)
            words = self.resize(
                self.resize(words, 32, count), count, 32, signed=self.operand(number).extended
            )
            return self.resize(words, 32, width)
        if self.operand(number).extended:
            raise UnknownAssembly(f"sext of {self.one.name}")
        if width == 16 and self._upper(at) and not self.operand(number).half:
            words = self.op("lshr", "i32", self.register(number, "i32"), 16)
            return self.resize(words, 32, 16)
        return self._moved(self.register(number, kind), at, width)

    def _upper(self, at: int) -> bool:
        """Whether an operand of 16 bits is the upper half of its register."""
        chosen = self.modifier("op_sel")
        return chosen is not None and chosen.strip("[]").split(",")[at] == "1"

    def _moved(self, bits: str, at: int, width: int = 32) -> str:
        """The first source comes from other lanes where there is a modifier that says so."""
        if at != 0:
            return bits
        return lane_moves.moved(self, bits, width)

    def _signed(self, number: int, bits: str, width: int) -> str:
        this, sign = self.operand(number), 1 << (width - 1)
        if this.absolute:
            bits = self.op("and", f"i{width}", bits, sign - 1)
        return self.op("xor", f"i{width}", bits, -sign) if this.negated else bits

    # -- results -----------------------------------------------------------------------------------

    def result(self, value: str, kind: str, number: int = 0) -> None:
        """Write operand `number`, as the modifiers of the instruction say."""
        if kind in FLOATS or kind in SHORT:
            value = self._scaled(value, kind)
            if kind in SHORT:
                value = narrowed(self, value, kind)
            else:
                value = self.cast("bitcast", value, kind, f"i{width_of(kind)}")
        width = 16 if kind == "bf16" else width_of(kind)
        if self.modifier("dst_sel") is not None:
            self._select(number, self.resize(value, width, 32))
        elif width == 16:
            self._set_half(number, value)
        else:
            self.set_register(number, value, width)

    def _scaled(self, value: str, kind: str) -> str:
        held = "f32" if kind in SHORT else kind
        for (name, by), factor in _SCALES.items():
            if self.modifier(name) == by:
                value = self.op("fmul", held, value, factor)
        return clamped(self, value, held) if self.modifier("clamp") is not None else value

    def _set_half(self, number: int, value: str) -> None:
        """A result of 16 bits: the other half stays, but in the older chips."""
        this = self.operand(number)
        if not this.is_vector:
            self.set_register(number, self.resize(value, 16, 32), 32)
            return
        sources = len(self.one.operands) - 1
        upper = this.half == "h" or self._upper(sources)
        word = self.resize(value, 16, 32)
        keeps = not self.old or upper or self.one.name.removesuffix("_e64") in _KEEPING
        if upper:
            word = self.op("shl", "i32", word, 16)
        if keeps:
            other = self.op(
                "and",
                "i32",
                self.load(self.type("i32"), self.place(number, "result")),
                65535 if upper else -65536,
            )
            word = self.op("or", "i32", word, other)
        self.set_register(number, word, 32)

    def _select(self, number: int, word: str) -> None:
        """SDWA: a part of the register is written."""
        begin, count = _SELECTED[self.modifier("dst_sel") or ""]
        rest = self.modifier("dst_unused")
        if count == 32:
            self.set_register(number, word, 32)
            return
        mask = ((1 << count) - 1) << begin
        part = self.op(
            "and", "i32", self.op("shl", "i32", word, begin), mask - (1 << 32) if mask >> 31 else mask
        )
        if rest == "UNUSED_PRESERVE":
            old = self.load(self.type("i32"), self.place(number, "result"))
            part = self.op(
                "or", "i32", part, self.op("and", "i32", old, ~mask if mask >> 31 == 0 else ~mask + (1 << 32))
            )
        elif rest == "UNUSED_SEXT":
            moved = self.op("shl", "i32", part, 32 - begin - count)
            part = self.op("shl", "i32", self.op("ashr", "i32", moved, 32 - count), begin)
        elif rest != "UNUSED_PAD":
            raise UnknownAssembly(f"dst_unused:{rest}")
        self.set_register(number, part, 32)


_KEEPING = frozenset({"v_mad_u16", "v_mad_i16", "v_mad_f16", "v_fma_f16", "v_div_fixup_f16"})
"""Instructions of 16 bits that keep the other half on all chips."""


def clamped(t: Body, value: str, kind: str) -> str:
    """Between 0 and 1; NaN becomes 0."""
    above = t.select(t.compare("ogt", kind, value, 0.0), kind, value, 0.0)
    return t.select(t.compare("olt", kind, above, 1.0), kind, above, 1.0)
