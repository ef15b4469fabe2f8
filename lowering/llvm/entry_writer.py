"""What writes a compiled entry line by line: LLVM IR text, whose checks go on at a new label or to `miss`.

Comes in: names of LLVM values. Goes out: `lines`. Read next: `entry`, and `pykern.lowering.gpu.host_entry`.
"""

from __future__ import annotations

from pykern.data.abi import TABLE_INDEX


class EntryWriter:
    """The lines so far, and how many cells are filled."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.counter = 0
        self.slot = 0

    def name(self) -> str:
        self.counter += 1
        return f"%v{self.counter}"

    def emit(self, text: str) -> str:
        """A line that gives a value; returns its name."""
        made = self.name()
        self.lines.append(f"  {made} = {text}")
        return made

    def need(self, condition: str) -> None:
        """Go on where `condition` holds."""
        self.counter += 1
        label = f"ok{self.counter}"
        self.lines += [f"  br i1 {condition}, label %{label}, label %miss, !prof !0", f"{label}:"]

    def field(self, pointer: str, offset: int, kind: str) -> str:
        """A field of an object, at a byte offset."""
        place = self.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        return self.emit(f"load {kind}, ptr {place}")

    def item(self, items: str, number: int) -> str:
        """Of a tuple."""
        offset = self.table("tuple_items", "i64")
        return self.field(self.emit(f"getelementptr i8, ptr {items}, i64 {offset}"), 8 * number, "ptr")

    def table(self, name: str, kind: str = "ptr") -> str:
        return self.field("%table", 8 * TABLE_INDEX[name], kind)

    def same(self, kind: str, a: str, b: str) -> None:
        self.need(self.emit(f"icmp eq {kind} {a}, {b}"))

    def put(self, kind: str, value: str) -> None:
        """Fill the next cell."""
        place = self.emit(f"getelementptr i64, ptr %slots, i64 {self.slot}")
        self.lines.append(f"  store {kind} {value}, ptr {place}")
        self.slot += 1

    def emit_lines(self, *lines: str) -> None:
        self.lines += lines

    # -- Python's objects ----------------------------------------------------------------------

    def _type_is(self, value: str, expected: str) -> None:
        self.same("ptr", self.field(value, 8, "ptr"), expected)

    def _integer(self, value: str) -> str:
        """The value of an exact int of at most 64 bits; -1 may be an error, which is looked at."""
        self._type_is(value, "@PyLong_Type")
        number = self.emit(f"call i64 @PyLong_AsLongLong(ptr {value})")
        plain = self.emit(f"icmp ne i64 {number}, -1")
        self.counter += 1
        check, good = f"check{self.counter}", f"good{self.counter}"
        self.lines += [f"  br i1 {plain}, label %{good}, label %{check}", f"{check}:"]
        error = self.emit("call ptr @PyErr_Occurred()")
        none = self.emit(f"icmp eq ptr {error}, null")
        self.lines += [f"  br i1 {none}, label %{good}, label %clear", f"{good}:"]
        return number

    def _only_item(self, value: str) -> str:
        """The item of a tuple of one, as in ``ndrange=x.shape``; anything else as it is."""
        self.counter += 1
        n = self.counter
        is_tuple = self.emit(f"icmp eq ptr {self.field(value, 8, 'ptr')}, @PyTuple_Type")
        self.lines += [f"  br i1 {is_tuple}, label %tuple{n}, label %single{n}", f"tuple{n}:"]
        is_one = self.emit(f"icmp eq i64 {self.field(value, 16, 'i64')}, 1")
        self.lines += [f"  br i1 {is_one}, label %take{n}, label %miss", f"take{n}:"]
        inner = self.item(value, 0)
        self.lines += [f"  br label %item{n}", f"single{n}:", f"  br label %item{n}", f"item{n}:"]
        return self.emit(f"phi ptr [ {inner}, %take{n} ], [ {value}, %single{n} ]")
