"""Work-items, and how those of a group that meet take turns.

Each work-item of such a group is a thread; a baton is handed on strictly, so that only one runs and the
order is always the same. A round runs everyone that can go on up to the next barrier or collective. A barrier opens
when all that have not returned wait at one; a collective of a subgroup when all of the subgroup do.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pykern.errors import KernelError, KernelSyntaxError, LaunchError
from pykern.runtime.reference import Launch
from pykern.runtime.reference_array import ALONE, ReferenceArray
from pykern.runtime.reference_collectives import Request, answers, reduction
from pykern.runtime.reference_place import users_place
from pykern.types import DType

REDUCTIONS = ("subgroup_reduce", "subgroup_scan", "subgroup_exclusive_scan", "group_reduce")


@dataclass
class WorkItem:
    """A running work-item; `pykern.language` asks it."""

    launch: Launch
    ranges: tuple[tuple[int, int, int], ...]
    group: tuple[int, ...]
    local: tuple[int, ...]
    number: int = 0
    peers: Group | None = None
    made: int = 0
    epoch: int = 0
    """Barriers of the group that it has passed."""
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
        if shape in (None, (None,), -1, (-1,)):
            return self._place("shared").shared(0, self._length_of_launch(dtype), dtype)
        self.made += 1
        return self._place("shared").shared(self.made, shape, dtype)

    def _length_of_launch(self, dtype: DType) -> int:
        """Elements of ``pk.shared(None, dtype)``: one place in the kernel asks for it."""
        if self.launch.shared_bytes is None:
            raise LaunchError(
                "the kernel has a shared array without a length, and is launched without shared_bytes",
                hint=f"say how many bytes: shared_bytes=64 * {dtype.itemsize}",
            )
        asked = (users_place(), dtype)
        if not self.launch.sized:
            self.launch.sized.append(asked)
        elif self.launch.sized[0] != asked:
            raise KernelSyntaxError(
                "a kernel has one shared array that is sized at launch, and this is another",
                hint="take parts of one array, or give this one a shape",
            )
        return self.launch.shared_bytes // dtype.itemsize

    def private(self, shape: Any, dtype: DType) -> ReferenceArray:
        return memory(shape, dtype, "pk.private memory", self.launch.debug, ALONE)

    def barrier(self) -> None:
        self._place("barrier").meet(self.number, Request("barrier"))
        self.epoch += 1

    def collective(self, name: str, value: Any, detail: Any) -> Any:
        request = reduction(name, value, detail) if name in REDUCTIONS else Request(name, value, detail)
        answer = self._place(name).meet(self.number, request)
        self.epoch += not name.startswith("subgroup")
        return answer

    def _place(self, name: str) -> Group:
        if self.peers is None:
            raise KernelError(
                f"pk.{name} is reached through a name that the reference device does not see",
                hint="call it by a global name, or in a function with @pk.func",
            )
        return self.peers


def memory(shape: Any, dtype: DType, name: str, debug: bool, shared_by: Any) -> ReferenceArray:
    """Fresh memory: zeros; with `debug` NaN or 0xA5 bytes, for nothing may be read before it is written."""
    array = np.zeros(shape, dtype.numpy)
    if debug and dtype.is_float:
        array[...] = np.nan
    elif debug and dtype.is_integer:
        array.view(np.uint8)[...] = 0xA5
    return ReferenceArray(array, name, shared_by=shared_by)


class _Stopped(BaseException):
    """Unwinds the other work-items of a group after one has raised."""


class Group:
    """The work-items of one group that has barriers or collectives."""

    def __init__(self, items: list[WorkItem], call: Callable[[WorkItem], None]) -> None:
        self.items, self.call = items, call
        self.batons = [threading.Semaphore(0) for _ in items]
        self.back = threading.Semaphore(0)
        self.waiting: dict[int, Request] = {}
        self.answers: dict[int, Any] = {}
        self.thrown: dict[int, KernelError] = {}
        self.buffers: dict[int, ReferenceArray] = {}
        self.error: BaseException | None = None
        self.stopped = False
        for number, item in enumerate(items):
            item.peers, item.number = self, number

    def run(self) -> None:
        """Run all to their end. Raises what a work-item raises; no thread is left in any case."""
        context = contextvars.copy_context()
        threads = [
            threading.Thread(target=context.copy().run, args=(self._item, n), daemon=True)
            for n in range(len(self.items))
        ]
        started: list[threading.Thread] = []
        try:
            for thread in threads:
                _start(thread, len(started), len(threads))
                started.append(thread)
            self._rounds()
        finally:
            self.stopped = True
            for baton in self.batons:
                baton.release()
            for thread in started:
                thread.join()

    def _rounds(self) -> None:
        able = list(range(len(self.items)))
        while able:
            for n in able:
                self.batons[n].release()
                self.back.acquire()
                if self.error is not None:
                    raise self.error
            able = self._released() if self.waiting else []

    def _released(self) -> list[int]:
        """Who can go on: whole subgroups at a collective, or else everybody at a barrier."""
        subgroups: dict[int, dict[int, Request]] = {}
        size = self.items[0].launch.subgroup_size
        for n, request in sorted(self.waiting.items()):
            subgroups.setdefault(self.items[n].linear // size, {})[n] = request
        ready = [m for m in subgroups.values() if self._agree(m) and _first(m).name.startswith("subgroup")]
        if not ready:
            if not self._agree(self.waiting):
                return self._refuse(self._mismatch())
            ready = [dict(self.waiting)]
        for members in ready:
            if _first(members).name != "barrier":
                try:
                    lanes = {n: self.items[n].linear % size for n in members}
                    self.answers.update(answers(members, lanes))
                except KernelError as error:
                    return self._refuse(error)
        released = sorted(n for members in ready for n in members)
        for n in released:
            del self.waiting[n]
        return released

    def _agree(self, requests: dict[int, Request]) -> bool:
        return len({r.name for r in requests.values()}) == 1

    def _mismatch(self) -> KernelError:
        names = " and ".join(sorted({f"pk.{r.name}" for r in self.waiting.values()}))
        return KernelError(
            f"work-items of a group wait at different places: {names}",
            hint="every work-item of the group has to come to the same barrier or collective",
        )

    def _refuse(self, error: KernelError) -> list[int]:
        """Raise in a work-item that waits at a collective, so that the error stands at its line."""
        chosen = min(self.waiting, key=lambda n: (self.waiting[n].name == "barrier", n))
        self.thrown[chosen] = error
        return [chosen]

    def _item(self, n: int) -> None:
        self.batons[n].acquire()
        try:
            if not self.stopped:
                self.call(self.items[n])
        except _Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller of the launch
            self.error = error
        finally:
            self.back.release()

    def meet(self, n: int, request: Request) -> Any:
        """Called by a work-item: wait until it may go on, with the answer of its collective."""
        if self.stopped:
            raise _Stopped
        self.waiting[n] = request
        self.back.release()
        self.batons[n].acquire()
        if self.stopped:
            raise _Stopped
        if n in self.thrown:
            raise self.thrown.pop(n)
        return self.answers.pop(n, None)

    def shared(self, number: int, shape: Any, dtype: DType) -> ReferenceArray:
        """The number-th shared buffer that a work-item asks for is the same for all of the group."""
        if number not in self.buffers:
            debug = self.items[0].launch.debug
            group = self.items[0].group
            self.buffers[number] = memory(shape, dtype, "pk.shared memory", debug, group)
        return self.buffers[number]


def _start(thread: threading.Thread, started: int, wanted: int) -> None:
    try:
        thread.start()
    except RuntimeError as error:
        raise LaunchError(
            f"the device python runs each of the {wanted} work-items of a group that meets in a thread, and after "
            f"{started} the system gives no more: {error}",
            hint="launch with a smaller workgroup=, or raise the limit of threads or memory (`ulimit -u`, `-v`)",
        ) from None


def _first(requests: dict[int, Request]) -> Request:
    return next(iter(requests.values()))
