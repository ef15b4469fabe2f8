"""A stage of a kernel run as Python, on the arguments of a launch.

Comes in: the text of a stage, the arguments as `pass_value` describes them, the index space. Goes out: nothing;
the arrays hold what the stage says. What a function of the module takes tells how far it has been lowered:
work-items that ask where they are, groups of them behind `gpu.thread_id`, or a loop over all of them.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mlir import ir

from pykern.data.abi import REPORT_CELLS, REPORT_WORDS, array_slots, grid_axes
from pykern.data.index_space import Extent
from pykern.data.source import ArraySpec, ScalarSpec, leaves
from pykern.dialect import attributes as kern
from pykern.dialect.context import new_context
from pykern.interpreter.collectives import run_group
from pykern.interpreter.emit import NoReading, dtype_of, integers
from pykern.interpreter.memory import Memory, View, bytes_at, extent
from pykern.interpreter.rules_arith import Aggregate
from pykern.interpreter.rules_spirv import built_in
from pykern.interpreter.translate import Program, python_of
from pykern.launching.arguments import Passed
from pykern.runtime.python_device import DEFAULT_GROUPS

SUBGROUP = 32


@dataclass(frozen=True)
class Call:
    """The arguments of a launch, and its index space."""

    passed: tuple[Passed, ...]
    space: tuple[Extent, ...]
    plain: bool
    workgroup: tuple[int, ...] = ()
    shared: int | None = None


@dataclass
class Report:
    """What the work-items of a launch have reported, while reports are ops of their own."""

    failures: int = 0


@dataclass
class Item:
    """A work-item: what the emitted Python asks for. Buffers of a group are kept in `group`."""

    memory: Memory
    group: dict[Any, View]
    counts: tuple[int, ...] = ()
    global_id: tuple[int, ...] = ()
    local_id: tuple[int, ...] = ()
    group_id: tuple[int, ...] = ()
    group_size: tuple[int, ...] = ()
    num_groups: tuple[int, ...] = ()
    number: int = 0
    subgroup_size: int = SUBGROUP
    report: Report = field(default_factory=Report)
    tape: list[Any] = field(default_factory=list)
    own: dict[Any, View] = field(default_factory=dict)
    bound: tuple[int, ...] = ()

    @property
    def lane_id(self) -> int:
        return self.number % self.subgroup_size

    @property
    def subgroup_id(self) -> int:
        return self.number // self.subgroup_size

    @property
    def grid(self) -> tuple[int, ...]:
        return self.num_groups

    def along_axis(self, values: tuple[int, ...], axis: int) -> int:
        """x is the last dimension, all before the last two lie along z."""
        if axis < 2:
            return values[-1 - axis] if axis < len(values) else 0
        sizes = self.group_size if values is self.local_id else self.num_groups
        found = 0
        for value, size in zip(values[:-2], sizes[:-2], strict=True):
            found = found * size + value
        return found

    def shared(self, key: Any, sizes: tuple[int, ...], dtype: np.dtype) -> View:
        return self._buffer(self.group, key, sizes, dtype)

    def private(self, key: Any, sizes: tuple[int, ...], dtype: np.dtype) -> View:
        return self._buffer(self.own, key, sizes, dtype)

    def raw(self, key: Any, size: int) -> int:
        return self._buffer(self.own, key, (size,), np.dtype(np.uint8)).address

    def built_in(self, name: str, dtype: np.dtype) -> int:
        return built_in(self, name, dtype)

    def constant(self, values: np.ndarray) -> View:
        address = self.memory.know(values.reshape(-1).view(np.uint8))
        return View(self.memory, address, values.dtype, values.shape, _dense(values.shape))

    def view(self, descriptor: Aggregate, dtype: np.dtype, rank: int) -> View:
        """A memref of its descriptor."""
        sizes = tuple(int(descriptor.take(3, n)) for n in range(rank))
        strides = tuple(int(descriptor.take(4, n)) for n in range(rank))
        first = int(descriptor.take(1)) + int(descriptor.take(2)) * dtype.itemsize
        return View(self.memory, first, dtype, sizes, strides)

    def descriptor(self, view: View) -> Aggregate:
        parts: dict = {(0,): np.int64(view.address), (1,): np.int64(view.address), (2,): np.int64(0)}
        parts |= {(3, n): np.int64(size) for n, size in enumerate(view.sizes)}
        parts |= {(4, n): np.int64(stride) for n, stride in enumerate(view.strides)}
        return Aggregate(parts)

    def _buffer(self, kept: dict[Any, View], key: Any, sizes: tuple[int, ...], dtype: np.dtype) -> View:
        if key not in kept:
            address = self.memory.make(math.prod(sizes) * dtype.itemsize)
            kept[key] = View(self.memory, address, dtype, sizes, _dense(sizes))
        return kept[key]


def run_stage(text: str, call: Call) -> None:
    """Run the stage. Raises `NoReading` for what has none, `OutsideMemory` where the kernel reaches too far."""
    if not all(e.count for e in call.space):
        return
    with new_context(), ir.Location.unknown(), np.errstate(all="ignore"):
        module = ir.Module.parse(text)  # kept: its ops are asked below
        program = python_of(module)
        symbol, op = _entry(program)
        _Run(program, symbol, op, call).run()


def _entry(program: Program) -> tuple[str, ir.Operation]:
    for symbol, op in program.ops.items():
        if kern.KERNEL in op.attributes:
            return symbol, op
    raise NoReading("no function of this stage is a kernel")


@dataclass
class _Run:
    program: Program
    symbol: str
    op: ir.Operation
    call: Call

    def __post_init__(self) -> None:
        self.memory = Memory()
        self.report = Report()
        self.bound: tuple[int, ...] = ()
        self.kinds = [a.type for a in self.op.regions[0].blocks[0].arguments]
        for item in self.call.passed:
            for array in item.arrays:
                self._know(array)

    def _know(self, array: np.ndarray) -> None:
        low, high = extent(array)
        if high > low and low not in self.memory._starts:
            self.memory.know(bytes_at(low, high - low))

    def run(self) -> None:
        function = self.program.functions[self.symbol]
        if f"{self.symbol}.extent" in self.program.functions:
            self._run_all(function)
        elif kern.ARGUMENTS in self.op.attributes:
            self._run_groups(function, self._flat_arguments())
        elif "gpu.thread_id" in str(self.op) or self._has_slots():
            self._run_groups(function, self._arguments() + self._launch_slots(device=True))
        else:
            self._run_groups(function, self._arguments())

    def _has_slots(self) -> bool:
        return len(self.kinds) > sum(1 for p in self.call.passed for _ in leaves(p.parameter.spec)) + (
            self.call.shared is not None
        )

    # -- one loop over all work-items ------------------------------------------------------------

    def _run_all(self, function: Any) -> None:
        flat = str(self.kinds[0]) == "!llvm.ptr" if self.kinds else False
        passed = self._all_slots() if flat else self._arguments()
        given = passed + self._launch_slots(device=False)
        report = np.zeros(REPORT_CELLS, np.int64)
        address = self.memory.know(report.view(np.uint8))
        item = Item(self.memory, {}, report=self.report)
        nothing = [np.int64(0)] * 3
        extent = _finish(self.program.functions[f"{self.symbol}.extent"](item, *given, *nothing))
        _finish(function(item, *given, np.int64(0), np.int64(extent[0]), np.int64(address)))

    # -- groups ----------------------------------------------------------------------------------

    def _run_groups(self, function: Any, given: list[Any]) -> None:
        counts = tuple(e.count for e in self.call.space)
        rank = len(counts)
        named = kern.WORKGROUP in self.op.attributes and integers(self.op, kern.WORKGROUP)
        size = tuple(named or self.call.workgroup or DEFAULT_GROUPS.get(rank, (1,) * (rank - 1) + (64,)))
        groups = tuple(-(-n // g) for n, g in zip(counts, size, strict=True))
        whole = self._has_slots() or kern.ARGUMENTS in self.op.attributes
        for group in itertools.product(*map(range, groups)):
            shared: dict[Any, View] = {}
            items = [
                self._item(counts, size, groups, group, local, number, shared)
                for number, local in enumerate(itertools.product(*map(range, size)))
            ]
            inside = [
                i
                for i in items
                if whole or all(g < e.start + e.step * e.count if e.step > 0 else g > e.start + e.step * e.count
                                for g, e in zip(i.global_id, self.call.space, strict=True))
            ]  # fmt: skip
            run_group([(i, function(i, *given)) for i in inside], SUBGROUP)
            for item in items:
                for view in item.own.values():
                    self.memory.forget(view.address)
            for view in shared.values():
                self.memory.forget(view.address)

    def _item(self, counts, size, groups, group, local, number, shared) -> Item:
        places = [g * s + n for g, s, n in zip(group, size, local, strict=True)]
        ids = tuple(e.start + e.step * p for e, p in zip(self.call.space, places, strict=True))
        where = (counts, ids, local, group, size, groups, number)
        return Item(self.memory, shared, *where, report=self.report, bound=self.bound)

    # -- arguments -------------------------------------------------------------------------------

    def _arguments(self) -> list[Any]:
        """Memrefs and numbers, as the kernel's own function takes them."""
        kinds, given = iter(self.kinds), []
        for item in self.call.passed:
            passed, arrays = iter(item.slots), iter(item.arrays)
            for spec in leaves(item.parameter.spec):
                kind = next(kinds)
                if isinstance(spec, ScalarSpec):
                    given.append(_number(next(passed), dtype_of(kind)))
                else:
                    given.append(
                        self._view(spec, next(arrays), [next(passed) for _ in range(_slots(spec))], kind)
                    )
        return given + ([] if self.call.shared is None else [np.int64(self.call.shared)])

    def _view(self, spec: ArraySpec, array: np.ndarray, passed: list[int], kind: ir.Type) -> View:
        address, *rest = passed
        sizes = tuple(rest[: spec.rank])
        strides = tuple(rest[spec.rank :]) if spec.strided else _dense(sizes)
        return View(self.memory, address, dtype_of(kind), sizes, strides)

    def _all_slots(self) -> list[Any]:
        """Pointers, lengths and numbers."""
        passed = [slot for item in self.call.passed for slot in item.slots]
        passed += [] if self.call.shared is None else [self.call.shared]
        return [_number(slot, dtype_of(kind)) for slot, kind in zip(passed, self.kinds, strict=False)]

    def _launch_slots(self, device: bool) -> list[Any]:
        slots: list[Any] = []
        for e in self.call.space:
            slots += [np.int64(e.count)]
            slots += [] if self.call.plain else [np.int64(e.start), np.int64(e.step)]
        if device:
            slots += [np.int64(0)] * grid_axes(len(self.call.space))
            if kern.REPORT in self.op.attributes:
                slots.append(self._report())
            if len(slots) + len(self._arguments()) != len(self.kinds):
                raise NoReading("a launch with a tape has no reading at this stage")
        return slots

    def _report(self) -> View:
        address = self.memory.know(np.zeros(REPORT_WORDS * 4 + (1 << 16), np.uint8))
        return View(self.memory, address, np.dtype(np.int32), (REPORT_WORDS,), (1,))

    def _flat_arguments(self) -> list[Any]:
        """What the driver would pass: memories and slots, the slots as arguments or in a memory of their own."""
        names = [ir.StringAttr(a).value for a in ir.ArrayAttr(self.op.attributes[kern.ARGUMENTS])]
        offsets = "offsets" in str(names) or names.count("slot") > 0
        memories: list[int] = []
        slots: list[int] = []
        order: list[Any] = []

        def memory(address: int) -> None:
            memories.append(address)
            order.append(("memory", address))

        def slot(value: int) -> None:
            slots.append(value)
            order.append(("slot", value))

        for item in self.call.passed:
            passed = iter(item.slots)
            for spec in leaves(item.parameter.spec):
                first = next(passed)
                if isinstance(spec, ScalarSpec):
                    slot(first)
                    continue
                memory(first)
                if offsets:
                    slot(0)
                for _ in range(_slots(spec) - 1):
                    slot(next(passed))
        if self.call.shared is not None:
            slot(self.call.shared)
        for e in self.call.space:
            for value in (e.count,) if self.call.plain else (e.count, e.start, e.step):
                slot(value)
        for _ in range(grid_axes(len(self.call.space))):
            slot(0)
        if kern.REPORT in self.op.attributes:
            memory(self._report().address)
            slot(0)
        if [kind for kind, _ in order] != names:
            raise NoReading("the arguments of this stage have no reading")
        return self._by_kind(order, memories, slots)

    def _by_kind(self, order: list[Any], memories: list[int], slots: list[int]) -> list[Any]:
        given: list[Any] = []
        if len(self.kinds) == len(order):
            for (_, value), kind in zip(order, self.kinds, strict=True):
                memref = isinstance(kind, ir.MemRefType)
                given.append(self._open(value, kind) if memref else _number(value, dtype_of(kind)))
            return given
        table = np.array([w & (2**64 - 1) for w in slots], np.uint64)
        addresses = [*memories, self.memory.know(table.view(np.uint8))]
        if not self.kinds:
            self.bound = tuple(addresses)
            return []
        return [self._open(address, kind) for address, kind in zip(addresses, self.kinds, strict=True)]

    def _open(self, address: int, kind: ir.Type) -> Any:
        if not isinstance(kind, ir.MemRefType):
            return np.int64(address)
        return View(self.memory, address, dtype_of(kind), (1 << 60,), (1,))


def _finish(generator: Any) -> Any:
    """What a function without barriers or collectives returns."""
    try:
        next(generator)
    except StopIteration as done:
        return done.value
    raise NoReading("work-items meet outside of groups")


def _slots(spec: ArraySpec) -> int:
    return array_slots(spec.rank, spec.strided)


def _dense(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1] * len(sizes)
    for n in range(len(sizes) - 2, -1, -1):
        strides[n] = strides[n + 1] * sizes[n + 1]
    return tuple(strides)


def _number(slot: int, dtype: np.dtype) -> Any:
    """The number in a slot: its low bytes."""
    raw = np.array([slot & (2**64 - 1)], np.uint64).view(np.uint8)[: dtype.itemsize]
    return raw.copy().view(dtype)[0]
