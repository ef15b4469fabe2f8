"""Which symbol of which object is what: a place in a section, or a name that is found elsewhere.

Comes in: objects that are linked together. Goes out: `Symbols`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pykern.errors import TargetError
from pykern.lowering.elf.objects import (
    DEFAULT,
    FIRST_RESERVED,
    FUNCTION,
    GLOBAL,
    LOCAL,
    PROTECTED,
    UNDEFINED,
    Object,
    Symbol,
)


class Place(NamedTuple):
    """Bytes into a section of an object, by their numbers."""

    object: int
    section: int
    offset: int


class Symbols:
    """`targets[object][symbol]` is the place of a symbol, or its name where no object has it."""

    def __init__(self, objects: Sequence[Object]) -> None:
        self.objects = objects
        self._definitions: dict[str, tuple[Place, Symbol]] = {}
        for number, each in enumerate(objects):
            for symbol in each.symbols:
                if symbol.binding != LOCAL and symbol.section != UNDEFINED:
                    self._define(number, symbol)
        self.targets = [[self._target(n, s) for s in each.symbols] for n, each in enumerate(objects)]

    def exports(self) -> list[tuple[str, Place, int]]:
        """Functions that are found by name from outside: name, place, bytes."""
        return [
            (name, place, symbol.size)
            for name, (place, symbol) in self._definitions.items()
            if symbol.kind == FUNCTION and symbol.visibility in (DEFAULT, PROTECTED)
        ]

    def functions(self) -> Iterator[tuple[str, Place, int]]:
        """Every function."""
        for number, each in enumerate(self.objects):
            for symbol in each.symbols:
                if symbol.kind == FUNCTION and UNDEFINED < symbol.section < FIRST_RESERVED:
                    yield symbol.name, Place(number, symbol.section, symbol.value), symbol.size

    def _define(self, number: int, symbol: Symbol) -> None:
        if symbol.section >= FIRST_RESERVED:
            raise TargetError(f"linking failed: `{symbol.name}` has no section")
        known = self._definitions.get(symbol.name)
        if known is not None and known[1].binding == symbol.binding == GLOBAL:
            raise TargetError(f"linking failed: `{symbol.name}` is defined twice")
        if known is None or symbol.binding == GLOBAL:
            place = Place(number, symbol.section, symbol.value)
            self._definitions[symbol.name] = place, symbol

    def _target(self, number: int, symbol: Symbol) -> str | Place:
        if symbol.binding != LOCAL:
            known = self._definitions.get(symbol.name)
            return symbol.name if known is None else known[0]
        if symbol.section >= FIRST_RESERVED or symbol.section == UNDEFINED:
            return symbol.name
        return Place(number, symbol.section, symbol.value)


def undefined(objects: Sequence[Object]) -> frozenset[str]:
    """Names that are found in none of the objects."""
    there = {s.name for each in objects for s in each.symbols if s.section != UNDEFINED}
    return (
        frozenset(s.name for each in objects for s in each.symbols if s.section == UNDEFINED and s.name)
        - there
    )
