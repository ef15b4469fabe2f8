"""AMD's assembly as data: kernels of instructions, what their descriptors say, and the constants beside them.

Comes in: nothing. Goes out: `Module`, which `parse` makes. A statement of an unknown form raises `UnknownAssembly`.
Read next: `operands`, what the text of an operand means; `code`, which makes what runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pykern.runtime.emulator.ptx import Place


class UnknownAssembly(Exception):
    """Assembly that the emulator does not know; the text names it."""


@dataclass(frozen=True)
class Instruction:
    """One instruction. `modifiers` stand behind its operands: ``offset:16``, ``sc0``, each with its value or ""."""

    name: str
    operands: tuple[str, ...]
    number: int
    modifiers: tuple[tuple[str, str], ...] = ()
    place: Place | None = None

    def modifier(self, name: str) -> str | None:
        """Its value, "" where it has none; None where the instruction has not got the modifier."""
        return next((value for known, value in self.modifiers if known == name), None)

    def offset(self, name: str = "offset") -> int:
        """What is added to an address."""
        return int(self.modifier(name) or "0", 0)


@dataclass
class Kernel:
    """`labels` name the instruction that stands behind them; `described` is what ``.amdhsa_kernel`` says."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    described: dict[str, int] = field(default_factory=dict)
    arguments: list[tuple[int, int]] = field(default_factory=list)
    """Where each lies in the memory of arguments, and its bytes."""


@dataclass
class Module:
    """All of a text. `constants` are the bytes of its sections of data, `symbols` where names lie in them."""

    chip: str
    kernels: dict[str, Kernel] = field(default_factory=dict)
    constants: bytes = b""
    symbols: dict[str, int] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    """By their number."""
