"""The reference device: the kernel's own Python function, one work-item at a time.

Breakpoints, prints and exceptions are where the user wrote them. A kernel that meets (a barrier or a
collective) runs each work-item of a group in a thread of its own, handed on strictly so that only one
runs and the order is always the same. A work-item that has returned counts as having reached every
further barrier.
"""

from __future__ import annotations

import contextvars
import itertools
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pykern.errors import KernelError
from pykern.runtime import reference
from pykern.runtime.reference import Launch
from pykern.runtime.reference_array import ReferenceArray
from pykern.types import DType

MEETING_NAMES = frozenset(
    {
        "barrier",
        "shared",
        "subgroup_reduce",
        "subgroup_scan",
        "subgroup_shuffle",
        "subgroup_broadcast",
        "group_reduce",
    }
)
DEFAULT_GROUPS = {1: (64,), 2: (8, 8), 3: (4, 4, 4)}


def run(
    function: Callable,
    args: list[Any],
    *,
    ndrange: tuple[tuple[int, int, int], ...],
    workgroup: tuple[int, ...] = (),
    debug: bool = False,
    subgroup_size: int = 32,
) -> None:
    """Run a launch. `ndrange` holds (start, step, count) per dimension.

    Raises what the kernel raises; an access outside of an array is `OutOfBounds`.
    """
    rank = len(ndrange)
    counts = tuple(count for _, _, count in ndrange)
    size = workgroup or DEFAULT_GROUPS.get(rank, (1,) * (rank - 1) + (64,))
    launch = Launch(counts, size, subgroup_size)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    wrapped = [_wrap(value, name) for value, name in zip(args, names, strict=True)]
    meets = _meets(function, set())
    for group_id in itertools.product(*(range(n) for n in launch.groups)):
        items = [WorkItem(launch, ndrange, group_id, local) for local in _locals(launch, group_id)]
        if meets:
            _Group(function, wrapped, items).run()
        else:
            for item in items:
                _call(function, wrapped, item)


def _locals(launch: Launch, group: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Local coordinates of a group's work-items that are inside of the ndrange."""
    active = (
        range(min(w, n - g * w)) for n, w, g in zip(launch.counts, launch.workgroup, group, strict=True)
    )
    return itertools.product(*active)


def _wrap(value: Any, name: str) -> Any:
    if isinstance(value, np.ndarray):
        return ReferenceArray(value, name)
    if hasattr(value, "__dlpack__") and not isinstance(value, np.generic):
        return ReferenceArray(np.from_dlpack(value), name)
    return value


def _meets(function: Any, seen: set[int]) -> bool:
    """Whether the function, or one it calls, names something that work-items do together."""
    code = function.__code__
    if id(code) in seen:
        return False
    seen.add(id(code))
    for name in (*code.co_names, *code.co_freevars):
        if name in MEETING_NAMES:
            return True
        found: Any = _lookup(function, name)
        if getattr(found, "__pykern_builtin__", None) in MEETING_NAMES:
            return True
        inner = getattr(found, "__pykern_function__", None)
        if inner is None and isinstance(found, types.ModuleType):
            called = (getattr(getattr(found, n, None), "__pykern_function__", None) for n in code.co_names)
            if any(_meets(f, seen) for f in called if f is not None):
                return True
        if inner is not None and _meets(inner, seen):
            return True
    return False


def _lookup(function: Any, name: str) -> Any:
    if name in function.__code__.co_freevars:
        try:
            return function.__closure__[function.__code__.co_freevars.index(name)].cell_contents
        except ValueError:
            return None
    return function.__globals__.get(name)


def _call(function: Callable, args: list[Any], item: WorkItem) -> None:
    token = reference.enter(item)
    try:
        with np.errstate(all="ignore"):
            function(*args)
    finally:
        reference.leave(token)


@dataclass
class WorkItem:
    """A running work-item; `pykern.language` asks it."""

    launch: Launch
    ranges: tuple[tuple[int, int, int], ...]
    group: tuple[int, ...]
    local: tuple[int, ...]
    meeting_place: _Group | None = None
    made: int = 0
    index: tuple[int, ...] = field(init=False)
    linear: int = field(init=False)

    def __post_init__(self) -> None:
        numbers = (g * w + c for g, w, c in zip(self.group, self.launch.workgroup, self.local, strict=True))
        self.index = tuple(start + n * step for n, (start, step, _) in zip(numbers, self.ranges, strict=True))
        linear = 0
        for width, coordinate in zip(self.launch.workgroup, self.local, strict=True):
            linear = linear * width + coordinate
        self.linear = linear

    def shared(self, shape: Any, dtype: DType) -> ReferenceArray:
        assert self.meeting_place is not None
        self.made += 1
        return self.meeting_place.shared(self.made, shape, dtype)

    def private(self, shape: Any, dtype: DType) -> ReferenceArray:
        return ReferenceArray(np.zeros(shape, dtype.numpy), "pk.private memory")

    def barrier(self) -> None:
        assert self.meeting_place is not None
        self.meeting_place.meet(self, None)

    def collective(self, name: str, value: Any, detail: Any) -> Any:
        assert self.meeting_place is not None
        return self.meeting_place.meet(self, (name, value, detail))


class _Stopped(BaseException):
    """Unwinds the other work-items of a group after one has raised."""


class _Group:
    """The work-items of a group, each in a thread; a baton says whose turn it is."""

    def __init__(self, function: Callable, args: list[Any], items: list[WorkItem]) -> None:
        self.function, self.args, self.items = function, args, items
        self.batons = [threading.Semaphore(0) for _ in items]
        self.back = threading.Semaphore(0)
        self.waiting: dict[int, Any] = {}
        self.answers: dict[int, Any] = {}
        self.buffers: dict[int, ReferenceArray] = {}
        self.error: BaseException | None = None
        self.stopped = False
        self.number = {id(item): n for n, item in enumerate(items)}
        for item in items:
            item.meeting_place = self

    def run(self) -> None:
        """Each round runs every work-item that is left up to its next meeting, in order."""
        context = contextvars.copy_context()
        threads = [
            threading.Thread(target=context.copy().run, args=(self._item, n), daemon=True)
            for n in range(len(self.items))
        ]
        for thread in threads:
            thread.start()
        running = list(range(len(self.items)))
        while running:
            self.waiting.clear()
            for n in running:
                self.batons[n].release()
                self.back.acquire()
                if self.error is not None:
                    self._stop(threads)
                    raise self.error
            running = sorted(self.waiting)
            try:
                self._answer(running)
            except KernelError as error:
                self.error = error
                self._stop(threads)
                raise
        for thread in threads:
            thread.join()

    def _item(self, n: int) -> None:
        self.batons[n].acquire()
        try:
            if not self.stopped:
                _call(self.function, self.args, self.items[n])
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller of the launch
            self.error = error
        finally:
            self.back.release()

    def _stop(self, threads: list[threading.Thread]) -> None:
        self.stopped = True
        for baton in self.batons:
            baton.release()
        for thread in threads:
            thread.join()

    def meet(self, item: WorkItem, request: Any) -> Any:
        """Called by a work-item: wait until all that are left have come."""
        n = self.number[id(item)]
        self.waiting[n] = request
        self.back.release()
        self.batons[n].acquire()
        if self.stopped:
            raise _Stopped
        return self.answers.pop(n, None)

    def shared(self, number: int, shape: Any, dtype: DType) -> ReferenceArray:
        """The number-th shared buffer that a work-item asks for is the same for all of the group."""
        if number not in self.buffers:
            self.buffers[number] = ReferenceArray(np.zeros(shape, dtype.numpy), "pk.shared memory")
        return self.buffers[number]

    def _answer(self, waiting: list[int]) -> None:
        kinds = {None if self.waiting[n] is None else self.waiting[n][0] for n in waiting}
        if len(kinds) > 1:
            names = " and ".join(sorted(k or "barrier" for k in kinds))
            raise KernelError(
                f"work-items of a group wait at different places: {names}",
                hint="every work-item of the group has to come to the same barrier or collective",
            )
        kind = kinds.pop() if kinds else None
        if kind is not None:
            self.answers = _collect({n: (self.items[n], *self.waiting[n][1:]) for n in waiting}, kind)


_COMBINE = {
    "add": lambda a, b: a + b, "mul": lambda a, b: a * b,
    "min": lambda a, b: reference.extremum((a, b), "minimum"),
    "max": lambda a, b: reference.extremum((a, b), "maximum"),
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
}  # fmt: skip


def _collect(requests: dict[int, tuple[WorkItem, Any, Any]], name: str) -> dict[int, Any]:
    """The results of a collective, by work-item."""
    groups: dict[int, list[int]] = {}
    for n, (item, _, _) in requests.items():
        size = item.launch.subgroup_size
        groups.setdefault(0 if name == "group_reduce" else item.linear // size, []).append(n)
    answers: dict[int, Any] = {}
    for members in groups.values():
        if name == "subgroup_shuffle":
            size = requests[members[0]][0].launch.subgroup_size
            lanes = {requests[n][0].linear % size: requests[n][1] for n in members}
            answers.update({n: lanes.get(int(requests[n][2]) % size, requests[n][1]) for n in members})
            continue
        op = requests[members[0]][2]
        total: Any = None
        for n in members:
            before, value = total, _number(requests[n][1])
            with np.errstate(all="ignore"):
                total = value if total is None else _COMBINE[op](total, value)
            answers[n] = (
                total
                if name != "subgroup_exclusive_scan"
                else _neutral(op, value)
                if before is None
                else before
            )
        if name in ("group_reduce", "subgroup_reduce"):
            answers.update(dict.fromkeys(members, total))
    return answers


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, bool | np.bool_) else value


def _neutral(op: str, value: Any) -> Any:
    typed: Any = value
    if isinstance(value, float | np.floating):
        number: Any = {"add": 0.0, "mul": 1.0, "min": np.inf, "max": -np.inf}[op]
    else:
        info = np.iinfo(typed.dtype if hasattr(value, "dtype") else np.int64)
        number = {"add": 0, "mul": 1, "min": info.max, "max": info.min, "or": 0, "xor": 0, "and": -1}[op]
        if op == "and" and info.min == 0:
            number = info.max
    return typed.dtype.type(number) if hasattr(value, "dtype") else number
