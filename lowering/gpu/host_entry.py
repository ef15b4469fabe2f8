"""The compiled CPython entry of a launch on a device: what is left of it on the host, without Python.

Comes in: a `DeviceEntrySource` (`pykern.data.abi` tells the rest). Goes out: a shared
object of the host with `pk_entry`. It checks a call as the CPU's entry does (`pykern.lowering.llvm.entry`), fills
the slots of `pykern.data.abi`, "Device code", and calls the driver by the addresses it is bound to. What it cannot
do, also what the driver refuses, goes on to the next entry and at last to Python, which does it again and tells why.
"""

from __future__ import annotations

import functools
import time

from pykern.data.abi import (
    ALIGNED_BIT,
    ARRAY_CELLS,
    BIND_CELLS,
    DEVICE_BIT,
    READONLY_BIT,
    SMALL_BIT,
    SMALL_COUNT,
    STREAM_CELLS,
    array_kind,
    grid_axes,
)
from pykern.data.artifact import ArgumentUse, Artifact
from pykern.data.runtime_source import DeviceEntrySource
from pykern.data.source import ArraySpec, ScalarSpec
from pykern.lowering.llvm.codegen import generate
from pykern.lowering.llvm.entry import Entry
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.launch_bounds import any_outside
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.overlap import Span, check_overlap
from pykern.lowering.llvm.python_objects import (
    SIZE,
    array_cell,
    cells_of,
    item_of,
    need_type,
    table,
)
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.function import Block
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, PTR, VOID, Type, Value
from pykern.lowering.record import Record
from pykern.types import NUMBERS

KEYWORDS = ("ndrange", "stream", "workgroup")
EXPORTS = ("pk_init", "pk_bind", "pk_entry")


def lower(source: DeviceEntrySource, record: Record) -> Artifact:
    """The entry of a kind of call. `Parameter.writes` says which arrays the kernel writes."""
    parameters = source.kernel.parameters
    uses = tuple(ArgumentUse(p.reads, p.writes) for p in parameters if isinstance(p.spec, ArraySpec))
    module = Module()
    for function, held in (("pk_init", "pk_table"), ("pk_bind", "pk_bound")):
        f = Body(module, function, VOID, [PTR])
        f.store(f.arguments[0], module.define(held, "internal global ptr null"))
        f.ret()
    DeviceEntry(module, source, uses).write()
    code = generate(str(module), (), EXPORTS, texts=record.texts)
    started = time.perf_counter()
    binary = link_shared(*code.objects)
    record.add("link", "", started, "none")
    return Artifact("", source.function.name, source.target, "pk_entry", binary)


class DeviceEntry(Entry):
    """Writes the function."""

    def __init__(self, module: Module, source: DeviceEntrySource, uses: tuple[ArgumentUse, ...]) -> None:
        self.form, self.keywords = source.form, source.keywords
        self.facts = source.facts
        self.alike_lengths: dict[int, list[Value]] = {}
        """Those of the first dense array of each rank, where all have the same."""
        self.given: list[int] = []
        """The slot of each number of the launch, in the order of `pykern.data.launch_bounds`."""
        super().__init__(module, source.kernel, uses)

    def slot_count(self) -> int:
        """At least all that are filled: arrays may have one for their offset, and the grid's axes have theirs."""
        specs = [p.spec for p in self.source.parameters]
        arguments = sum(2 + 2 * spec.rank if isinstance(spec, ArraySpec) else 1 for spec in specs)
        return arguments + 2 * self.source.launch.rank + 1

    def write(self) -> None:
        self.positional()
        given = self._keywords()
        self.stream = self._stream(given.get("stream"))
        if "workgroup" in given:
            self._workgroup(given["workgroup"])
        uses = iter(self.uses)
        for n, parameter in enumerate(self.source.parameters):
            self.argument(n, parameter, uses)
        counts = self._counts_into_slots(given.get("ndrange"))
        self._inside_arrays()
        for _ in range(grid_axes(len(counts))):
            self.fill(0)
        check_overlap(self, self.spans, False, self.miss)
        groups = self._grid(counts)
        reused = self._before()
        refused = self.new_block("refused")
        if self.form == "addresses":
            self._by_addresses(groups, refused)
        else:
            self._by_handles(groups, refused)
        self._event(reused)
        self.block = refused
        self.call("Py_DecRef", VOID, reused)
        self.branch(self.miss)
        self.go_on()

    # -- what is called ----------------------------------------------------------------------------

    def bound(self, name: str, kind: Type = I64) -> Value:
        return self.load(kind, self.loaded("pk_bound"), 8 * BIND_CELLS.index(name))

    def stream_cell(self, name: str, kind: Type = I64) -> Value:
        return self.load(kind, self.stream, 8 * STREAM_CELLS.index(name))

    def _keywords(self) -> dict[str, Value]:
        """The values of the keywords, all of them there and no other."""
        if not self.keywords:
            self.check(self.is_(self.names, "==", NULL))
            return {}
        self.check(self.is_(self.names, "!=", NULL))
        self.check(self.is_(self.load(I64, self.names, SIZE), "==", len(self.keywords)))
        places = range(len(self.keywords))
        names = [item_of(self, self.names, n) for n in places]
        values = [self.load(PTR, self.values, 8 * (len(self.source.parameters) + n)) for n in places]
        given = {}
        for keyword in self.keywords:
            wanted, found = table(self, keyword), NULL
            for name, value in zip(names, values, strict=True):
                found = self.select(self.is_(name, "==", wanted), value, found)
            self.check(self.is_(found, "!=", NULL))
            given[keyword] = found
        return given

    def _stream(self, value: Value | None) -> Value:
        """The cells of the stream, which is on the device of the code."""
        if value is None:
            cells = self.bound("stream", PTR)
        else:
            need_type(self, value, table(self, "stream_type"), self.miss)
            cells = self.load(PTR, cells_of(self, value, "stream_launch", self.miss))
        device = self.load(I64, cells, 8 * STREAM_CELLS.index("device"))
        self.check(self.is_(device, "==", self.bound("device")))
        return cells

    def _workgroup(self, value: Value) -> None:
        wanted = self.source.launch.workgroup
        for item, size in zip(self.items(value, len(wanted)), wanted, strict=True):
            self.check(self.is_(self.integer(item), "==", size))

    def _counts_into_slots(self, value: Value | None) -> list[Value]:
        """Work-items in each dimension, at least one."""
        rank, known = self.source.launch.rank, self.source.launch.ndrange
        if value is None:
            assert known is not None, "a launch without an ndrange is of a kernel that has one"
            counts = [I64(n) for n in known]
        else:
            counts = [self.integer(item) for item in self.items(value, rank)]
        for d, count in enumerate(counts):
            if known is not None and value is not None:
                self.check(self.is_(count, "==", known[d]))
            self.check(self.is_(count, ">", 0))
            if "small" in self.facts:
                self.check(self.is_(count, "<=", SMALL_COUNT))
            self.given += [self.filled, -1, -1]  # a plain launch has no start and step
            self.fill(count)
        return counts

    def _inside_arrays(self) -> None:
        """No access that the launch decides lies outside of its array."""
        if self.source.bounds.nodes:

            def given(number: int) -> Value:
                return self.load(I64, self.slots, 8 * self.given[number])

            self.check(self.not_(any_outside(self, self.source.bounds, given)))

    # -- arrays ------------------------------------------------------------------------------------

    def _array(self, value: Value, spec: ArraySpec, use: ArgumentUse) -> None:
        need_type(self, value, table(self, "array"), self.miss)
        cells = cells_of(self, value, "array_launch", self.miss)
        users = self.load(I64, array_cell(self, cells, "users", PTR))
        self.check(self.is_(self.and_(users, self.stream_cell("bit")), "!=", 0))
        aligned, small = "aligned" in self.facts, "small" in self.facts
        ignored = (not use.writes) << READONLY_BIT | (not aligned) << ALIGNED_BIT | (not small) << SMALL_BIT
        kind = self.and_(array_cell(self, cells, "kind"), ~ignored)
        wanted = array_kind(NUMBERS[spec.dtype], spec.rank, spec.strided, 0, False, aligned, small)
        self.check(self.is_(kind, "==", self.or_(self.shl(self.bound("device"), DEVICE_BIT), wanted)))
        self.fill(array_cell(self, cells, "memory"))
        if self.form == "handles":
            self.fill(array_cell(self, cells, "offset"))
        same = self.alike_lengths.get(spec.rank) if "alike" in self.facts and not spec.strided else None
        lengths = []
        for n in range(spec.rank * (2 if spec.strided else 1)):
            number = self.load(I64, cells, 8 * (len(ARRAY_CELLS) + n))
            lengths.append(number)
            if same is not None and spec.rank > 1:
                self.check(self.is_(number, "==", same[n]))
            if n < spec.rank:
                self.given.append(self.filled)
                known = spec.shape[n]
                if known is not None:
                    self.check(self.is_(number, "==", known))
            self.fill(number)
        if not spec.strided:
            self.alike_lengths.setdefault(spec.rank, lengths)
        low, high = array_cell(self, cells, "low"), array_cell(self, cells, "high")
        self.spans.append(Span(low, high, use.writes))

    def _scalar(self, value: Value, spec: ScalarSpec, converts: bool) -> None:
        self.given.append(self.filled)
        super()._scalar(value, spec, converts)

    # -- the launch --------------------------------------------------------------------------------

    def _grid(self, counts: list[Value]) -> list[Value]:
        """Groups along x, y and z, none of them more than the device takes: what is launched here is one grid."""
        axes: list[list[Value]] = [[], [], []]
        for d, count in enumerate(reversed(counts)):
            axes[min(d, 2)].append(count)
        groups = []
        rank = len(counts)
        items = functools.reduce(self.mul, counts)
        self.check(self.is_(items, ">=", self.bound("least")))
        self.check(self.is_(items, "<=", self.bound("most")))
        for axis, (letter, along) in enumerate(zip("xyz", axes, strict=True)):
            total = I64(1)
            for position, count in enumerate(along):
                size = self._covered(rank - 1 - axis - position)
                part = self.udiv(self.add(count, self.sub(size, 1)), size)
                total = part if position == 0 else self.mul(total, part)
            self.check(self.is_(total, "u<=", self.bound(f"grid_{letter}")))
            groups.append(total)
        return groups

    def _covered(self, dimension: int) -> Value:
        """The work-items of a launch that a group does along a dimension: told behind the bound cells."""
        return self.load(I64, self.loaded("pk_bound"), 8 * (len(BIND_CELLS) + dimension))

    def _before(self) -> Value:
        """The event of the launch before, which nobody else has and this launch takes, or null. Where somebody has kept
        it, it is recorded."""
        previous = self.stream_cell("last", PTR)
        reused = self.variable(previous)
        with (
            self.if_then(self.is_(previous, "!=", NULL)),
            self.if_then(self.is_(self.load(I32, previous), "!=", 1)),
        ):
            settled = self.call("PyObject_CallNoArgs", PTR, self.stream_cell("settle", PTR))
            with self.if_then(self.is_(settled, "==", NULL)):  # Python's way meets and tells it again
                clear(self)
                self.branch(self.miss)
            self.call("Py_DecRef", VOID, settled)
            self.store(NULL, reused)
        event = self.load(PTR, reused)
        self.call("Py_IncRef", VOID, event)  # of null, as the next: nothing
        return event

    def _by_addresses(self, groups: list[Value], refused: Block) -> None:
        """As CUDA and HIP are called. The driver's answer: anything but 0 is told by Python's way."""
        places = self.stack(f"[{max(self.filled, 1)} x ptr], align 16")
        for n in range(self.filled):
            self.store(self.place(self.slots, 8 * n), places, 8 * n)
        current, select = self.bound("enter", PTR), self.bound("flush", PTR)
        launch, context = self.bound("launch", PTR), self.bound("context", PTR)
        own = self.variable(NULL)
        self._succeed(self.call_pointer(current, I32, own), refused)
        before = self.load(PTR, own)
        is_other = self.is_(before, "!=", context)
        with self.if_then(is_other):
            self._succeed(self.call_pointer(select, I32, context), refused)
        sizes = [*groups, *(self.bound(f"group_{letter}") for letter in "xyz")]
        numbers = [self.cast("trunc", size, I32) for size in sizes]
        code, native = self.bound("code", PTR), self.stream_cell("native", PTR)
        thread = self.call("PyEval_SaveThread", PTR)  # it waits where the queue is full
        done = self.call_pointer(launch, I32, code, *numbers, I32(0), native, places, NULL)
        self.call("PyEval_RestoreThread", VOID, thread)
        with self.if_then(is_other):  # others find the thread as they left it
            self.call_pointer(select, I32, before)
        self._succeed(done, refused)

    def _by_handles(self, groups: list[Value], refused: Block) -> None:
        """As OpenCL is called."""
        code, put, native = self.bound("code", PTR), self.bound("enter", PTR), self.stream_cell("native", PTR)
        failed = I32(0)
        for n in range(self.filled):
            failed = self.or_(
                failed, self.call_pointer(put, I32, code, I32(n), 8, self.place(self.slots, 8 * n))
            )
        self._succeed(failed, refused)
        items, local = self.stack("[3 x i64], align 16"), self.stack("[3 x i64], align 16")
        for axis, (letter, count) in enumerate(zip("xyz", groups, strict=True)):
            size = self.bound(f"group_{letter}")
            self.store(self.mul(count, size), items, 8 * axis)
            self.store(size, local, 8 * axis)
        launch, flush = self.bound("launch", PTR), self.bound("flush", PTR)
        queued = (native, code, I32(3), NULL, items, local, I32(0), NULL, NULL)
        self._succeed(self.call_pointer(launch, I32, *queued), refused)
        self.call_pointer(flush, I32, native)

    def _succeed(self, result: Value, refused: Block) -> None:
        self.need(self.is_(result, "==", 0), refused)

    def _event(self, reused: Value) -> None:
        """The event of the launch before, where nobody knows it any more; else another one.

        Another thread may have launched meanwhile: then the event is that thread's.
        """
        still = self.is_(self.stream_cell("last", PTR), "==", reused)
        with self.if_then(self.and_(still, self.is_(reused, "!=", NULL))):
            self.ret(reused)
        self.call("Py_DecRef", VOID, reused)
        self.ret(self.call("PyObject_CallNoArgs", PTR, self.stream_cell("fresh", PTR)))
