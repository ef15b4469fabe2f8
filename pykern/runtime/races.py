"""Who has touched an element, and whether that was in order: what ``debug="races"`` looks for on the reference device.

Comes in: each access of a work-item to memory. Goes out: `DataRace` at the second of two accesses that nothing orders:
of two work-items, at least one of them a write and not both atomic, in two groups or in one group without a barrier
between. Work-items run one after the other here, so that every such pair is seen, whatever the machine would do. Two
writes of one value are no race: the result is the same in either order. For each element one access of a kind is kept
from groups before, and those of two work-items from this one since its last barrier, as more tell nothing new.
"""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass, field
from typing import Any, Protocol

from pykern.data.locations import SourceSpan
from pykern.errors import DataRace
from pykern.runtime.reference_place import is_ours

READ, WRITE, ATOMIC = "reads", "writes", "updates"
_AGAINST = {READ: (WRITE, ATOMIC), WRITE: (READ, WRITE, ATOMIC), ATOMIC: (READ, WRITE)}


class Item(Protocol):
    """What is asked of a work-item."""

    index: tuple[int, ...]
    group: tuple[int, ...]
    epoch: int


@dataclass(frozen=True)
class Access:
    """One access: whose, and where in the user's code."""

    item: tuple[int, ...]
    file: str
    line: int


@dataclass
class _Element:
    """The accesses to one element: of groups before, of this group before its last barrier, and since then."""

    group: tuple[int, ...]
    epoch: int
    others: dict[str, Access] = field(default_factory=dict)
    earlier: dict[str, Access] = field(default_factory=dict)
    now: dict[str, list[Access]] = field(default_factory=dict)

    def enter(self, item: Item) -> None:
        """`item` is about to access it."""
        if (self.group, self.epoch) == (item.group, item.epoch):
            return
        for kind, found in self.now.items():
            self.earlier.setdefault(kind, found[0])
        self.now = {}
        if self.group != item.group:
            self.others = self.earlier | self.others
            self.earlier = {}
        self.group, self.epoch = item.group, item.epoch

    def unordered(self, item: Item, kind: str) -> Access | None:
        """An access of that kind by another work-item that nothing puts before this one."""
        near = [access for access in self.now.get(kind, ()) if access.item != item.index]
        return near[0] if near else self.others.get(kind)

    def add(self, item: Item, kind: str) -> None:
        kept = self.now.setdefault(kind, [])
        if len(kept) < 2 and all(access.item != item.index for access in kept):
            kept.append(Access(item.index, *_place()))


class Races:
    """The elements of one launch."""

    def __init__(self) -> None:
        self._elements: dict[object, _Element] = {}

    def touch(self, item: Item, kind: str, element: object, shown: str, changes: bool = True) -> None:
        """Note an access to `element`, whatever names it. `changes`: whether a write makes it another one.

        Raises `DataRace`.
        """
        known = self._elements.get(element)
        if known is None:
            known = self._elements[element] = _Element(item.group, item.epoch)
        known.enter(item)
        for other in _AGAINST[kind]:
            if kind == other == WRITE and not changes:
                continue
            found = known.unordered(item, other)
            if found is not None:
                _refuse(item, kind, other, found, shown)
        known.add(item, kind)


def _place() -> tuple[str, int]:
    frame: Any = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code):
        frame = frame.f_back
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _refuse(item: Item, kind: str, other: str, access: Access, shown: str) -> None:
    here, there = (f"work-item {i[0] if len(i) == 1 else i}" for i in (item.index, access.item))
    text = linecache.getline(access.file, access.line).rstrip("\n")
    span = SourceSpan(access.file, access.line, len(text) - len(text.lstrip()), len(text), text=text)
    raise DataRace(
        f"{here} {kind} {shown}, which {there} {other} as well, and nothing orders the two",
        hint="give each work-item an element of its own, use pk.atomic_add and the like, "
        "or put pk.barrier() between, within a group",
        notes=((f"{there} {other} it here", span),),
    )
