"""LLVM IR as text, written value by value.

Comes in: operations. Goes out: the lines of one function, in `lines`, and in `declared` the functions that it calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

from pykern.runtime.emulator.slots import SLOTS

_numbers = itertools.count()


class Emitter:
    """One function under way. Its first argument is ``%launch``, the address of the launch's words."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def value(self, text: str) -> str:
        """The name of a value."""
        name = f"%v{next(_numbers)}"
        self.do(f"{name} = {text}")
        return name

    def label(self, hint: str = "next") -> str:
        return f"{hint}.{next(_numbers)}"

    def begin(self, label: str) -> None:
        self.lines.append(f'"{label}":')

    def jump(self, label: str) -> None:
        self.do(f'br label %"{label}"')

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.do(f'br i1 {condition}, label %"{yes}", label %"{no}"')

    def call(self, result: str, name: str, *arguments: tuple[str, str]) -> str:
        """The result of a function that is declared so; "" where it has none."""
        self.declared[name] = f"declare {result} @{name}({', '.join(kind for kind, _ in arguments)})"
        text = f"call {result} @{name}({', '.join(f'{kind} {value}' for kind, value in arguments)})"
        if result == "void":
            self.do(text)
            return ""
        return self.value(text)

    def load(self, kind: str, address: str) -> str:
        return self.value(f"load {kind}, ptr {address}, align 1")

    def store(self, kind: str, value: str, address: str) -> None:
        self.do(f"store {kind} {value}, ptr {address}, align 1")

    def offset(self, address: str, nbytes: str | int) -> str:
        return self.value(f"getelementptr i8, ptr {address}, i64 {nbytes}")

    def pointer(self, number: str) -> str:
        return self.value(f"inttoptr i64 {number} to ptr")

    def slot(self, name: str) -> str:
        """A word of the launch."""
        return self.load("i64", self.offset("%launch", 8 * SLOTS[name]))

    def set_slot(self, name: str, value: str | int) -> None:
        self.store("i64", str(value), self.offset("%launch", 8 * SLOTS[name]))

    def fault(self, kind: int, address: str, site: str) -> str:
        """Keep what is wrong, if nothing was before; gives a pointer that may be read and written."""
        arguments = ("i64", str(kind)), ("i64", address), ("i64", site)
        return self.call("ptr", "pk_fault", ("ptr", "%launch"), *arguments)

    def cell(self, address: str, index: str | int, nbytes: int = 8) -> str:
        """The address of an element; `address` is a number."""
        at = self.value(f"mul i64 {index}, {nbytes}")
        return self.pointer(self.value(f"add i64 {address}, {at}"))

    def local(self, kind: str) -> str:
        """A stack slot of the function; its head is the first line."""
        name = f"%v{next(_numbers)}"
        self.lines.insert(1, f"  {name} = alloca {kind}")
        return name

    def resized(self, value: str, width: int, wanted: int, signed: bool = False) -> str:
        if width == wanted:
            return value
        how = "trunc" if width > wanted else "sext" if signed else "zext"
        return self.value(f"{how} i{width} {value} to i{wanted}")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """What is written meanwhile runs where the condition holds."""
        yes, behind = self.label("then"), self.label("behind")
        self.branch(condition, yes, behind)
        self.begin(yes)
        yield
        self.jump(behind)
        self.begin(behind)

    @contextmanager
    def loop(self, count: str) -> Iterator[str]:
        """What is written meanwhile runs for each number below `count`, which it is given."""
        held = self.local("i64")
        self.store("i64", "0", held)
        head, body, behind = self.label("head"), self.label("body"), self.label("behind")
        self.jump(head)
        self.begin(head)
        number = self.load("i64", held)
        self.branch(self.value(f"icmp ult i64 {number}, {count}"), body, behind)
        self.begin(body)
        yield number
        self.store("i64", self.value(f"add i64 {number}, 1"), held)
        self.jump(head)
        self.begin(behind)


def splat(byte: int, nbytes: int) -> int:
    """A number all of whose bytes are the same."""
    return int.from_bytes(bytes([byte]) * nbytes, "little")
