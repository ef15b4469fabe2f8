"""PTX as data: functions of basic blocks, what each instruction reads and writes, and where it was written in Python.

Comes in: PTX as `pykern.lowering.nvvm` writes it. Goes out: a `Module`. A statement of an unknown form raises
`UnknownPtx`. Read next: `parse`, which makes these; `translate`, which makes LLVM IR of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

BYTES = {
    "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4,
    "f32": 4, "f16x2": 4, "bf16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16,
}  # fmt: skip
"""Bytes of a value of each type in memory."""
TYPES = frozenset({*BYTES, "pred"})
NO_RESULT = frozenset(
    {
        "st",
        "bra",
        "brx",
        "bar",
        "barrier",
        "ret",
        "exit",
        "red",
        "membar",
        "fence",
        "trap",
        "call",
        "stmatrix",
        "cp",
    }
)
"""Instructions whose first operand is read, or is no register."""
LEAVING = frozenset({"bra", "brx", "ret", "exit"})
"""Instructions that end a block of their function."""
YIELDING = frozenset({"bar", "barrier", "shfl", "vote", "redux", "mma", "ldmatrix", "stmatrix"})
"""Instructions that a thread cannot finish alone: it waits there for its warp or its block."""
_WAITING_FORMS = {"mbarrier": {"try_wait", "test_wait"}, "wgmma": {"mma_async"}}
"""Modifiers of the forms that wait, of instructions that have others."""
READ_TOO = frozenset({"wgmma"})
"""Instructions that read their first operand and write it."""
_WORD = re.compile(r"[%\w$.]+")


def rounded_up(n: int, grain: int) -> int:
    """The next multiple of `grain`, by which memory is laid out."""
    return -(-n // grain) * grain


class UnknownPtx(Exception):
    """PTX that the emulator does not know; the text names it."""


@dataclass(frozen=True)
class Place:
    """A line of Python; columns count from 1, 0 where it is not known."""

    file: str
    line: int
    column: int


@dataclass(frozen=True)
class Instruction:
    """One instruction. `name` is all of ``add.rn.f32``; `guard` the predicate register that it depends on."""

    name: str
    operands: tuple[str, ...]
    number: int
    guard: str = ""
    negated: bool = False
    place: Place | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        return self.name.partition(".")[0]

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(part for part in self.name.split(".")[1:] if part in TYPES)

    @property
    def modifiers(self) -> tuple[str, ...]:
        return tuple(part for part in self.name.split(".")[1:] if part not in TYPES)

    @property
    def waits(self) -> bool:
        if self.stem in _WAITING_FORMS:
            return not _WAITING_FORMS[self.stem].isdisjoint(self.modifiers)
        return self.stem in YIELDING and "arrive" not in self.modifiers


@dataclass
class Block:
    """Instructions that run one after the other. `after` are the numbers of the blocks that may follow."""

    label: str
    instructions: list[Instruction] = field(default_factory=list)
    after: tuple[int, ...] = ()


@dataclass(frozen=True)
class Symbol:
    """A named piece of memory. `offset` is within all of its space; `data` what a constant holds."""

    space: str
    offset: int
    nbytes: int
    data: bytes = b""


@dataclass
class Function:
    """A kernel, or a function that it calls. `parameters` are names with their bytes; `registers` names with bits."""

    name: str
    is_kernel: bool
    result: str
    parameters: tuple[tuple[str, int], ...]
    blocks: list[Block] = field(default_factory=list)
    registers: dict[str, int] = field(default_factory=dict)
    arguments: dict[str, int] = field(default_factory=dict)
    """Memory that is passed to functions it calls: names with their bytes."""
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Tables of labels that it branches by."""

    def registers_in(self, text: str) -> tuple[str, ...]:
        return tuple(word for word in _WORD.findall(text) if word in self.registers)


@dataclass
class Module:
    """All of a text: its functions by name, its memory by name, and the bytes of each space."""

    functions: dict[str, Function] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("shared", "local", "global"), 0))
    instructions: list[Instruction] = field(default_factory=list)
    """By their number."""
