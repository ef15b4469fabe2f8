"""The compiled CPython entry of a launch on a device: what is left of it on the host, without Python.

Comes in: a `KernelSource` whose target is ``entry:FORM`` (`pykern.data.abi` tells the rest). Goes out: a shared
object of the host with `pk_entry`. It checks a call as the CPU's entry does (`pykern.lowering.llvm.entry`), writes
the words of `pykern.data.abi`, "Device code", and calls the driver by the addresses it is bound to. What it cannot
do, also what the driver refuses, goes on to the next entry and at last to Python, which does it again and tells why.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from pykern.data.abi import (
    ALIGNED_BIT,
    ARRAY_CELLS,
    BIND_CELLS,
    DEVICE_BIT,
    READONLY_BIT,
    SMALL_BIT,
    SMALL_COUNT,
    STREAM_CELLS,
    TABLE_INDEX,
    array_kind,
    grid_axes,
)
from pykern.data.artifact import ArgumentUse, Artifact
from pykern.data.source import ArraySpec, KernelSource, ScalarSpec
from pykern.errors import TargetError
from pykern.lowering.llvm.codegen import generate
from pykern.lowering.llvm.entry import HEAD, Entry
from pykern.lowering.llvm.launch_bounds import any_outside, declarations
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.overlap import Span, check_overlap
from pykern.lowering.record import Record
from pykern.types import NUMBERS

FORMS = ("addresses", "handles")
"""How a driver is called: as CUDA and HIP are, or as OpenCL is."""
KEYWORDS = ("ndrange", "stream", "workgroup")
FACTS = ("aligned", "small")
"""Options of a device's target that say something of all arrays."""
EXPORTS = ("pk_init", "pk_bind", "pk_entry")

_OWN = """
@pk_table = internal global ptr null
@pk_bound = internal global ptr null
declare ptr @PyObject_CallNoArgs(ptr)

define void @pk_init(ptr %table) {
  store ptr %table, ptr @pk_table
  ret void
}
define void @pk_bind(ptr %bound) {
  store ptr %bound, ptr @pk_bound
  ret void
}
"""


def lower(source: KernelSource, record: Record) -> Artifact:
    """The entry of a kind of call. `Parameter.writes` says which arrays the kernel writes."""
    form, *options = source.target.partition(":")[2].split("+")
    if form not in FORMS:
        raise TargetError(f"no entry of the form `{form}`", hint=f"there are {', '.join(FORMS)}")
    uses = tuple(ArgumentUse(p.reads, p.writes) for p in source.parameters if isinstance(p.spec, ArraySpec))
    text = DeviceEntry(source, uses, form, tuple(options)).text()
    code = generate(text, (), EXPORTS, texts=record.texts)
    started = time.perf_counter()
    binary = link_shared(*code.objects)
    record.add("link", "", started, "none")
    return Artifact("", source.function.name, source.target, "pk_entry", binary)


class DeviceEntry(Entry):
    """Writes the function. `options` are the keywords of the call, in any order, and facts that the code needs."""

    def __init__(
        self, source: KernelSource, uses: tuple[ArgumentUse, ...], form: str, options: tuple[str, ...]
    ) -> None:
        super().__init__(source, uses)
        self.form = form
        self.keywords = tuple(word for word in options if word in KEYWORDS)
        self.facts = tuple(word for word in options if word in FACTS)
        self.given: list[int] = []
        """The slot of each number of the launch, in the order of `pykern.data.launch_bounds`."""

    def text(self) -> str:
        parameters = self.source.parameters
        self.emit_lines(
            "  %table = load ptr, ptr @pk_table",
            "  %bound = load ptr, ptr @pk_bound",
            f"  %offsetp = getelementptr i64, ptr %table, i64 {TABLE_INDEX['kernel_offset']}",
            "  %offset = load i64, ptr %offsetp",
            "  %cells = getelementptr i8, ptr %self, i64 %offset",
            "  %nargs = and i64 %nargsf, 9223372036854775807",
        )
        self.same("i64", "%nargs", str(len(parameters)))
        self._guards()
        given = self._keywords(len(parameters))
        self._stream(given.get("stream"))
        if "workgroup" in given:
            self._workgroup(given["workgroup"])
        numbers = iter(range(len(self.uses)))
        for n, parameter in enumerate(parameters):
            self._argument(n, parameter, numbers)
        counts = self._words_of_counts(given.get("ndrange"))
        self._within()
        for _ in range(grid_axes(len(counts))):
            self.put("i64", "0")
        check_overlap(self, self.spans, same_views=False)
        groups = self._grid(counts)
        self._before()
        self._launch(groups)
        self._event()
        self._miss()
        room = [
            "define ptr @pk_entry(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames) {",
            f"  %slots = alloca [{self.slot + 1} x i64], align 16",
            f"  %places = alloca [{max(self.slot, 6)} x ptr], align 16",
            "  %own = alloca ptr, align 8",
        ]
        whole = [*room, *self.lines, "}", '!0 = !{!"branch_weights", i32 2000, i32 1}', ""]
        return _OWN + HEAD + "\n".join([*declarations(self.source.bounds), *whole])

    # -- what is called ----------------------------------------------------------------------------

    def bound(self, name: str, kind: str = "i64") -> str:
        return self.field("%bound", 8 * BIND_CELLS.index(name), kind)

    def stream_cell(self, name: str, kind: str = "i64") -> str:
        return self.field("%stream", 8 * STREAM_CELLS.index(name), kind)

    def _keywords(self, positional: int) -> dict[str, str]:
        """The values of the keywords, all of them there and no other."""
        if not self.keywords:
            self.same("ptr", "%kwnames", "null")
            return {}
        self.need(self.emit("icmp ne ptr %kwnames, null"))
        self.same("i64", self.field("%kwnames", 16, "i64"), str(len(self.keywords)))
        places = range(len(self.keywords))
        names = [self.item("%kwnames", n) for n in places]
        values = [self.field("%args", 8 * (positional + n), "ptr") for n in places]
        given = {}
        for keyword in self.keywords:
            wanted, found = self.table(keyword), "null"
            for name, value in zip(names, values, strict=True):
                same = self.emit(f"icmp eq ptr {name}, {wanted}")
                found = self.emit(f"select i1 {same}, ptr {value}, ptr {found}")
            self.need(self.emit(f"icmp ne ptr {found}, null"))
            given[keyword] = found
        return given

    def _stream(self, value: str | None) -> None:
        """`%stream`: the cells of the stream, which is on the device of the code."""
        if value is None:
            cells = self.bound("stream", "ptr")
        else:
            self._type_is(value, self.table("stream_type"))
            cells = self.emit(f"load ptr, ptr {self.held(value, 'stream_launch')}")
        self.emit_lines(f"  %stream = getelementptr i8, ptr {cells}, i64 0")
        self.same("i64", self.stream_cell("device"), self.bound("device"))

    def _items(self, value: str, rank: int) -> list[str]:
        """The integers of a tuple; of one dimension the integer itself, or in a tuple, as in ``ndrange=x.shape``."""
        if rank == 1:
            return [self._only_item(value)]
        self._type_is(value, "@PyTuple_Type")
        self.same("i64", self.field(value, 16, "i64"), str(rank))
        return [self.item(value, d) for d in range(rank)]

    def _workgroup(self, value: str) -> None:
        wanted = self.source.launch.workgroup
        for item, size in zip(self._items(value, len(wanted)), wanted, strict=True):
            self.same("i64", self._integer(item), str(size))

    def _words_of_counts(self, value: str | None) -> list[str]:
        """Work-items in each dimension, at least one; they go into words."""
        rank, known = self.source.launch.rank, self.source.launch.ndrange
        if value is None:
            assert known is not None, "a launch without an ndrange is of a kernel that has one"
            counts = [str(n) for n in known]
        else:
            counts = [self._integer(item) for item in self._items(value, rank)]
        for d, count in enumerate(counts):
            if known is not None and value is not None:
                self.same("i64", count, str(known[d]))
            self.need(self.emit(f"icmp sgt i64 {count}, 0"))
            if "small" in self.facts:
                self.need(self.emit(f"icmp sle i64 {count}, {SMALL_COUNT}"))
            self.given += [self.slot, -1, -1]  # a plain launch has no start and step
            self.put("i64", count)
        return counts

    def _within(self) -> None:
        """No access that the launch decides lies outside of its array."""
        if not self.source.bounds.nodes:
            return

        def load(number: int) -> Iterator[str]:
            yield f"  %gp{number} = getelementptr i64, ptr %slots, i64 {self.given[number]}"
            yield f"  %g{number} = load i64, ptr %gp{number}"

        lines, outside = any_outside(self.source.bounds, load)
        self.emit_lines(*lines)
        self.need(self.emit(f"xor i1 {outside}, true"))

    # -- arrays ------------------------------------------------------------------------------------

    def _array(self, value: str, spec: ArraySpec, use: ArgumentUse) -> None:
        self._type_is(value, self.table("array"))
        cells = self.held(value, "array_launch")
        users = self.emit(f"load i64, ptr {self.array_cell(cells, 'users', 'ptr')}")
        used = self.emit(f"and i64 {users}, {self.stream_cell('bit')}")
        self.need(self.emit(f"icmp ne i64 {used}, 0"))
        ignored = (not use.writes) << READONLY_BIT
        ignored |= ("aligned" not in self.facts) << ALIGNED_BIT | ("small" not in self.facts) << SMALL_BIT
        kind = self.emit(f"and i64 {self.array_cell(cells, 'kind')}, {~ignored}")
        there = self.emit(f"shl i64 {self.bound('device')}, {DEVICE_BIT}")
        number = NUMBERS[spec.dtype]
        strided = spec.layout == "strided"
        wanted = array_kind(
            number, spec.rank, strided, 0, False, "aligned" in self.facts, "small" in self.facts
        )
        self.same("i64", kind, self.emit(f"or i64 {there}, {wanted}"))
        self.put("i64", self.array_cell(cells, "memory"))
        if self.form == "handles":
            self.put("i64", self.array_cell(cells, "offset"))
        words = spec.rank * (2 if spec.layout == "strided" else 1)
        for n in range(words):
            word = self.field(cells, 8 * (len(ARRAY_CELLS) + n), "i64")
            if n < spec.rank:
                self.given.append(self.slot)
                if spec.shape[n] is not None:
                    self.same("i64", word, str(spec.shape[n]))
            self.put("i64", word)
        self.spans.append(Span(self.array_cell(cells, "low"), self.array_cell(cells, "high"), use.writes))

    def _scalar(self, value: str, spec: ScalarSpec, converts: bool) -> None:
        self.given.append(self.slot)
        super()._scalar(value, spec, converts)

    # -- the launch --------------------------------------------------------------------------------

    def _grid(self, counts: list[str]) -> list[str]:
        """Groups along x, y and z, none of them more than the device takes."""
        axes: list[list[str]] = [[], [], []]
        for d, count in enumerate(reversed(counts)):
            axes[min(d, 2)].append(count)
        groups = []
        rank = len(counts)
        for axis, (letter, along) in enumerate(zip("xyz", axes, strict=True)):
            total = "1"
            for position, count in enumerate(along):
                size = self._group_size(rank - 1 - axis - position, letter, len(along))
                up = self.emit(f"add i64 {count}, {self.emit(f'sub i64 {size}, 1')}")
                part = self.emit(f"udiv i64 {up}, {size}")
                total = part if total == "1" else self.emit(f"mul i64 {total}, {part}")
            self.need(self.emit(f"icmp ule i64 {total}, {self.bound(f'grid_{letter}')}"))
            groups.append(total)
        return groups

    def _group_size(self, dimension: int, letter: str, dimensions: int) -> str:
        """Of one dimension: those that share an axis have their own, which are told behind the bound cells."""
        if dimensions == 1:
            return self.bound(f"group_{letter}")
        return self.field("%bound", 8 * (len(BIND_CELLS) + dimension), "i64")

    def _before(self) -> None:
        """The event of the launch before is recorded where somebody has kept it."""
        self.emit_lines("  br label %checked", "checked:")
        previous = self.stream_cell("last", "ptr")
        self.emit_lines(
            f"  %none = icmp eq ptr {previous}, null",
            "  br i1 %none, label %alone, label %before",
            "before:",
            f"  %count = load i32, ptr {previous}",
            "  %ours = icmp eq i32 %count, 1",
            "  br i1 %ours, label %alone, label %kept",
            "kept:",
        )
        told = self.emit(f"call ptr @PyObject_CallNoArgs(ptr {self.stream_cell('settle', 'ptr')})")
        self.emit_lines(
            f"  %wrong = icmp eq ptr {told}, null",
            "  br i1 %wrong, label %clear, label %settled",  # Python's way meets and tells it again
            "settled:",
            f"  call void @Py_DecRef(ptr {told})",
            "  br label %alone",
            "alone:",
            f"  %reused = phi ptr [null, %checked], [{previous}, %before], [null, %settled]",
            "  call void @Py_IncRef(ptr %reused)",  # of null, as the next: nothing
        )

    def _launch(self, groups: list[str]) -> None:
        native = self.stream_cell("native", "ptr")
        if self.form == "addresses":
            self._by_addresses(groups, native)
        else:
            self._by_handles(groups, native)

    def _zero(self, result: str) -> None:
        """The driver's answer: anything but success is told by Python's way."""
        good = self.emit(f"icmp eq i32 {result}, 0")
        self.counter += 1
        label = f"good{self.counter}"
        self.emit_lines(f"  br i1 {good}, label %{label}, label %refused, !prof !0", f"{label}:")

    def _by_addresses(self, groups: list[str], native: str) -> None:
        for n in range(self.slot):
            self.emit_lines(
                f"  %s{n} = getelementptr i64, ptr %slots, i64 {n}",
                f"  %q{n} = getelementptr ptr, ptr %places, i64 {n}",
                f"  store ptr %s{n}, ptr %q{n}",
            )
        current, select = self.bound("enter", "ptr"), self.bound("flush", "ptr")
        launch, context = self.bound("launch", "ptr"), self.bound("context", "ptr")
        self.emit_lines("  store ptr null, ptr %own")
        self._zero(self.emit(f"call i32 {current}(ptr %own)"))
        own = self.emit("load ptr, ptr %own")
        self.emit_lines(
            f"  %held = icmp eq ptr {own}, {context}",
            "  br i1 %held, label %entered, label %enter",
            "enter:",
        )
        self._zero(self.emit(f"call i32 {select}(ptr {context})"))
        self.emit_lines("  br label %entered", "entered:")
        sizes = [*groups, *(self.bound(f"group_{letter}") for letter in "xyz")]
        numbers = ", ".join(f"i32 {self.emit(f'trunc i64 {size} to i32')}" for size in sizes)
        code = self.bound("code", "ptr")
        thread = self.emit("call ptr @PyEval_SaveThread()")  # it waits where the queue is full
        done = self.emit(
            f"call i32 {launch}(ptr {code}, {numbers}, i32 0, ptr {native}, ptr %places, ptr null)"
        )
        self.emit_lines(
            f"  call void @PyEval_RestoreThread(ptr {thread})",
            "  br i1 %held, label %launched, label %leave",
            "leave:",  # others find the thread as they left it
        )
        self.emit(f"call i32 {select}(ptr {own})")
        self.emit_lines("  br label %launched", "launched:")
        self._zero(done)

    def _by_handles(self, groups: list[str], native: str) -> None:
        code, put = self.bound("code", "ptr"), self.bound("enter", "ptr")
        failed = "0"
        for n in range(self.slot):
            place = self.emit(f"getelementptr i64, ptr %slots, i64 {n}")
            one = self.emit(f"call i32 {put}(ptr {code}, i32 {n}, i64 8, ptr {place})")
            failed = self.emit(f"or i32 {failed}, {one}")
        self._zero(failed)
        for axis, (letter, count) in enumerate(zip("xyz", groups, strict=True)):
            size = self.bound(f"group_{letter}")
            for at, value in ((axis, self.emit(f"mul i64 {count}, {size}")), (3 + axis, size)):
                place = self.emit(f"getelementptr i64, ptr %places, i64 {at}")
                self.emit_lines(f"  store i64 {value}, ptr {place}")
        local = self.emit("getelementptr i64, ptr %places, i64 3")
        launch, flush = self.bound("launch", "ptr"), self.bound("flush", "ptr")
        self._zero(
            self.emit(
                f"call i32 {launch}(ptr {native}, ptr {code}, i32 3, ptr null, ptr %places, ptr {local}, "
                "i32 0, ptr null, ptr null)"
            )
        )
        self.emit(f"call i32 {flush}(ptr {native})")

    def _event(self) -> None:
        """The event of the launch before, where nobody knows it any more; else another one.

        Another thread may have launched meanwhile: then the event is that thread's.
        """
        still = self.emit(f"icmp eq ptr {self.stream_cell('last', 'ptr')}, %reused")
        self.emit_lines(
            "  %there = icmp ne ptr %reused, null",
            f"  %again = and i1 {still}, %there",
            "  br i1 %again, label %same, label %other",
            "same:",
            "  ret ptr %reused",
            "refused:",
            "  call void @Py_DecRef(ptr %reused)",
            "  br label %miss",
            "other:",
            "  call void @Py_DecRef(ptr %reused)",
        )
        made = self.emit(f"call ptr @PyObject_CallNoArgs(ptr {self.stream_cell('fresh', 'ptr')})")
        self.emit_lines(f"  ret ptr {made}")
