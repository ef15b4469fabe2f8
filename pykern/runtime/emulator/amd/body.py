"""LLVM IR of what one form of an instruction does: all lanes of a wave at once, as vectors.

Comes in: an `Instruction`. Goes out: a function ``ptr (launch, wave, record)`` that gives the next record, or null
where the wave stops. A form is an instruction without its register numbers and constants: those are words of the
record, in the order in which the rule asks for them (`asked`), so that each form is compiled once. Values are vectors
of an element for each lane, or single ones in rules of scalar instructions (`lanes` is 1).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pykern.runtime.emulator.amd.assembly import Instruction, UnknownAssembly
from pykern.runtime.emulator.amd.operands import Operand, operand
from pykern.runtime.emulator.amd.state import SCALARS, WORD
from pykern.runtime.emulator.emit import Emitter

RECORD = 64
"""Bytes of a record: the function's address, the instruction's number, and the words that the function asks for."""
FIRST_WORD = 12
MOST_WORDS = (RECORD - FIRST_WORD) // 4
FLOATS = {"f32": "float", "f64": "double"}
Asked = tuple[str, int | str, str]
"""What a word of a record holds: ("operand", its number, the type it is read as), ("offset", the modifier's name, ""),
("label", the operand's number, "")."""


def width_of(kind: str) -> int:
    return int(kind.removeprefix("b").lstrip("ifu"))


class Body(Emitter):
    """One form under way."""

    def __init__(self, one: Instruction, symbol: str, wave_lanes: int, lanes: int, old: bool) -> None:
        super().__init__()
        self.one, self.symbol = one, symbol
        self.wave_lanes, self.lanes = wave_lanes, lanes
        self.old = old
        """CDNA: instructions of 16 bits clear the upper half of what they write."""
        self.asked: list[Asked] = []
        self.used: set[str] = set()
        """Modifiers that the rule has taken into account."""
        self._places: dict[Asked, str] = {}
        self.write_lanes: str | None = None
        """Lanes that a modifier lets write, beside EXEC."""
        self.lines += [f"define ptr @{symbol}(ptr %launch, ptr %wave, ptr %record) {{"]

    # -- the record --------------------------------------------------------------------------------

    def word(self, asked: Asked) -> str:
        """A word of the record, as i64."""
        if asked not in self._places:
            if len(self.asked) == MOST_WORDS:
                raise UnknownAssembly(f"so many operands of {self.one.name}")
            at = self.offset("%record", FIRST_WORD + 4 * len(self.asked))
            self.asked.append(asked)
            self._places[asked] = self.value(f"sext i32 {self.load('i32', at)} to i64")
        return self._places[asked]

    def modifier(self, name: str) -> str | None:
        """See `Instruction.modifier`; the rule takes it into account."""
        self.used.add(name)
        return self.one.modifier(name)

    def added(self, name: str = "offset") -> str:
        """The value of a modifier that is a number."""
        self.used.add(name)
        return self.word(("offset", name, ""))

    def place(self, number: int, kind: str = "i32", part: int = 0) -> str:
        """Where an operand lies; `part` counts its registers."""
        this = self.operand(number)
        at = self.offset("%wave", self.word(("operand", number, kind)))
        return self.offset(at, part * WORD * (self.wave_lanes if this.is_vector else 1)) if part else at

    def operand(self, number: int) -> Operand:
        if number >= len(self.one.operands):
            raise UnknownAssembly(f"{self.one.name} with {len(self.one.operands)} operands")
        return operand(self.one.operands[number])

    def given(self, number: int) -> bool:
        return number < len(self.one.operands)

    def next(self) -> None:
        self.do(f"ret ptr {self.offset('%record', RECORD)}")

    # -- types and constants -----------------------------------------------------------------------

    def type(self, kind: str) -> str:
        """The LLVM type of a value: ``f32`` and ``i32`` in each lane."""
        kind = FLOATS.get(kind, kind)
        return kind if self.lanes == 1 else f"<{self.lanes} x {kind}>"

    def constant(self, number: float | str, kind: str) -> str:
        if isinstance(number, str):
            return number
        if kind in FLOATS:
            text = f"0x{struct.unpack('<Q', struct.pack('<d', float(number)))[0]:016X}"
        else:
            width = int(kind[1:])
            text = str((int(number) + (1 << width - 1)) % (1 << width) - (1 << width - 1))
        return text if self.lanes == 1 else f"splat ({FLOATS.get(kind, kind)} {text})"

    def op(self, name: str, kind: str, *values: int | float | str) -> str:
        """An operation of LLVM whose values have one type."""
        return self.value(
            f"{name} {self.type(kind)} {', '.join(self.constant(value, kind) for value in values)}"
        )

    def intrinsic(self, name: str, kind: str, *values: int | float | str, result: str = "") -> str:
        suffix = kind if self.lanes == 1 else f"v{self.lanes}{kind}"
        arguments = [(self.type(kind), self.constant(value, kind)) for value in values]
        return self.call(self.type(result or kind), f"llvm.{name}.{suffix}", *arguments)

    def cast(self, how: str, value: str, of: str, to: str) -> str:
        return self.value(f"{how} {self.type(of)} {value} to {self.type(to)}")

    def compare(self, how: str, kind: str, x: int | float | str, y: int | float | str) -> str:
        name = "fcmp" if kind in FLOATS else "icmp"
        return self.op(f"{name} {how}", kind, x, y)

    def select(self, condition: str, kind: str, x: int | float | str, y: int | float | str) -> str:
        kind_text = self.type(kind)
        return self.value(
            f"select {self.type('i1')} {condition}, {kind_text} {self.constant(x, kind)}, "
            f"{kind_text} {self.constant(y, kind)}"
        )

    def resize(self, value: str, of: int, to: int, signed: bool = False) -> str:
        if of == to:
            return value
        how = "trunc" if of > to else "sext" if signed else "zext"
        return self.cast(how, value, f"i{of}", f"i{to}")

    def splatted(self, value: str, kind: str) -> str:
        """A single value in every lane."""
        if self.lanes == 1:
            return value
        kind = FLOATS.get(kind, kind)
        vector = f"<{self.lanes} x {kind}>"
        one = self.value(f"insertelement {vector} poison, {kind} {value}, i32 0")
        return self.value(
            f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer"
        )

    def vector(self, kind: str, numbers: list[int]) -> str:
        """A constant with a number for each lane."""
        return "<" + ", ".join(f"{kind} {number}" for number in numbers) + ">"

    # -- lanes -------------------------------------------------------------------------------------

    @property
    def mask_kind(self) -> str:
        return f"i{self.wave_lanes}"

    def scalar(self, name: str, kind: str = "i32") -> str:
        return self.load(kind, self.offset("%wave", WORD * SCALARS[name]))

    def set_scalar(self, name: str, value: str, kind: str = "i32") -> None:
        self.store(kind, value, self.offset("%wave", WORD * SCALARS[name]))

    def exec(self) -> str:
        """Lanes that are active, a bit each."""
        return self.scalar("exec", self.mask_kind)

    def bits_of_lanes(self, lanes: str) -> str:
        """A truth value of each lane as bits."""
        return self.value(f"bitcast <{self.wave_lanes} x i1> {lanes} to {self.mask_kind}")

    def lanes_of_bits(self, bits: str) -> str:
        return self.value(f"bitcast {self.mask_kind} {bits} to <{self.wave_lanes} x i1>")

    def writing(self) -> str:
        """Lanes that are written."""
        lanes = self.lanes_of_bits(self.exec())
        if self.write_lanes is not None:
            lanes = self.value(f"and <{self.lanes} x i1> {lanes}, {self.write_lanes}")
        return lanes

    @contextmanager
    def each_lane(self) -> Iterator[str]:
        """What is written meanwhile runs for each active lane, whose number it is given."""
        kind = self.mask_kind
        held = self.local(kind)
        self.store(kind, self.exec(), held)
        head, body, behind = self.label("head"), self.label("body"), self.label("behind")
        self.jump(head)
        self.begin(head)
        left = self.load(kind, held)
        self.branch(self.value(f"icmp ne {kind} {left}, 0"), body, behind)
        self.begin(body)
        lane = self.call(kind, f"llvm.cttz.{kind}", (kind, left), ("i1", "true"))
        yield self.resized(lane, self.wave_lanes, 64)
        rest = self.value(f"and {kind} {left}, {self.value(f'sub {kind} {left}, 1')}")
        self.store(kind, rest, held)
        self.jump(head)
        self.begin(behind)

    def lane_place(self, number: int, lane: str, part: int = 0, kind: str = "i32") -> str:
        """Where an operand of one lane lies."""
        at = self.place(number, kind, part)
        if not self.operand(number).is_vector:
            return at
        return self.offset(at, self.value(f"mul i64 {lane}, {WORD}"))

    # -- registers ---------------------------------------------------------------------------------

    def register(self, number: int, kind: str = "i32") -> str:
        """The bits of an operand: i16 (the lower half of a register), i32 or i64."""
        this, width = self.operand(number), width_of(kind)
        if not this.is_vector:
            held = self.load(f"i{width}", self.place(number, kind))
            if this.half == "h":
                held = self.load(f"i{width}", self.offset(self.place(number, kind), 2))
            return self.splatted(held, f"i{width}")
        if self.lanes == 1:
            raise UnknownAssembly(f"a vector register of {self.one.name}")
        words = self.load(self.type("i32"), self.place(number, kind))
        if width == 64:
            upper = self.load(self.type("i32"), self.place(number, kind, 1))
            upper = self.op("shl", "i64", self.cast("zext", upper, "i32", "i64"), 32)
            return self.op("or", "i64", self.cast("zext", words, "i32", "i64"), upper)
        if this.half == "h":
            words = self.op("lshr", "i32", words, 16)
        return self.resize(words, 32, width)

    def set_register(self, number: int, value: str, width: int, lanes: str | None = None) -> None:
        """Write i32 or i64 to a vector register, in lanes that are active, or to a scalar one."""
        this = self.operand(number)
        if not this.is_vector:
            if self.lanes != 1:
                raise UnknownAssembly(f"a scalar result of {self.one.name}")
            self.store(f"i{width}", value, self.place(number, "result"))
            return
        lanes = lanes or self.writing()
        for part in range(width // 32):
            word = value if part == 0 else self.op("lshr", f"i{width}", value, 32 * part)
            place = self.place(number, "result", part)
            old = self.load(self.type("i32"), place)
            self.store(self.type("i32"), self.select(lanes, "i32", self.resize(word, width, 32), old), place)

    def set_lanes(self, number: int, lanes: str) -> None:
        """Write a bit for each lane to scalar registers; those of lanes that are not active are 0."""
        bits = self.value(f"and {self.mask_kind} {self.bits_of_lanes(lanes)}, {self.exec()}")
        self.store(self.mask_kind, bits, self.place(number, "result"))

    def lanes_in(self, number: int) -> str:
        """The bits for each lane that scalar registers hold."""
        return self.lanes_of_bits(self.load(self.mask_kind, self.place(number, self.mask_kind)))


Rule = Callable[[Body], None]
