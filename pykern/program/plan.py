"""A compiled array program, ready to be called: memory for its results and its scratch, checks, the call.

Comes in: an `Artifact` and its loaded code; per call the flattened arguments. Goes out: result arrays.
Results are fresh arrays, the caller's own (`out=`), or donated arguments. Any number of threads may call.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pykern.arrays.foreign import several_places
from pykern.data.abi import KEPT_LEAST
from pykern.data.artifact import Artifact
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, leaves
from pykern.errors import LaunchError
from pykern.program.kinds import order_of
from pykern.program.results import Builder, builder, is_flat
from pykern.runtime.caching_allocator import caching_allocator
from pykern.runtime.launch_report import LaunchReport
from pykern.runtime.loader import LoadedKernel, run_slots
from pykern.runtime.written import note_write, overlaps_itself
from pykern.types import BY_NAME

ALIGNMENT = 64
_NONE = (ctypes.c_char * ALIGNMENT)()
_NO_SCRATCH = ctypes.addressof(_NONE)
"""What code is given that needs no scratch memory."""
KEPT_BYTES = 1 << 30
"""Scratch memory up to this size is kept for the next call: fresh memory costs a page fault per 4 KiB."""


@dataclass
class Plan:
    """One kind of call. `names` are the parameters of the flattened arguments, `source` is what it was made of.

    `pool` holds arrays of bytes that no call uses as scratch memory, unless that is kept memory; `calls` counts those
    that went through Python, by how many arguments have no names, and the names of the others.
    """

    artifact: Artifact
    code: LoadedKernel
    names: tuple[str, ...]
    source: ProgramSource | None = None
    dtypes: list[np.dtype] = field(init=False)
    build: Builder = field(init=False)

    def __post_init__(self) -> None:
        layout = self.artifact.program
        assert layout is not None
        self.layout = layout
        self.returned = len(layout.results) - len(layout.updated)
        self.dtypes = [BY_NAME[r.dtype].numpy for r in layout.results]
        self.build = builder(layout.tree)
        self.is_flat = is_flat(layout.tree)
        """Whether the returned value is an array, or a tuple of arrays and numbers."""
        self.fresh = [(n, r.shape, self.dtypes[n]) for n, r in enumerate(layout.results) if r.argument < 0]
        self.taken = [
            (n, r.argument) for n, r in enumerate(layout.results[: self.returned]) if r.argument >= 0
        ]
        self.written = frozenset(r.argument for r in layout.results if r.argument >= 0)
        self.needs_scratch = layout.scratch_bytes > 1
        """Memory of one byte stands for none."""
        self.is_large = any(math.prod(s) * d.itemsize >= KEPT_LEAST for _, s, d in self.fresh)
        """Whether a result is worth kept memory."""
        self.keeps_scratch = layout.scratch_bytes <= KEPT_BYTES
        parameters = () if self.source is None else self.source.parameters
        passed = enumerate(leaf for p in parameters for leaf in leaves(p.spec))
        self.orders = {n: s.order for n, s in passed if isinstance(s, ArraySpec) and s.axes}
        """Axes of the flattened arguments that are dense in another order than C's."""
        self.pool: list[np.ndarray] = []
        self.calls: dict[tuple[int | str, ...], int] = {}
        self._slots = ctypes.c_int64 * (len(self.names) + len(self.fresh) + 2)

    # -- a call ------------------------------------------------------------------------------

    def run(self, values: list[Any], out: list[np.ndarray] | None = None) -> list[Any]:
        """Run with flattened arguments (arrays, bits of scalars); gives the arrays of the results."""
        slots, kept, copied_back = self._arguments(values)
        results: list[Any] = [None] * len(self.layout.results)
        copied_out = []
        for n, shape, dtype in self.fresh:
            array = caching_allocator.made(math.prod(shape) * dtype.itemsize, np.empty, shape, dtype)
            if out is not None and n < self.returned:
                others = [o for o in out if o is not None and o is not out[n]]
                if is_dense(out[n]) and not _overlaps(out[n], kept, others):
                    array = out[n]
                else:
                    copied_out.append((out[n], array))
            results[n] = array
            slots.append(array.ctypes.data)
        for n, argument in self.taken:
            results[n] = kept[argument]
        self.run_at(slots)
        for target, source in (*copied_back, *copied_out):
            np.copyto(target, source)
        for target, _ in copied_out:
            results[next(n for n, o in enumerate(out or ()) if o is target)] = target
        return results[: self.returned]

    def _arguments(
        self, values: list[Any]
    ) -> tuple[list[int], list[Any], list[tuple[np.ndarray, np.ndarray]]]:
        """Slots of the arguments, the arrays they point to, and what has to be copied back."""
        slots: list[int] = []
        kept: list[Any] = []
        copied_back = []
        for n, value in enumerate(values):
            if not isinstance(value, np.ndarray):
                slots.append(value)
                kept.append(None)
                continue
            array = value
            if n in self.written:
                self._check_written(n, value, values)
                note_write(value)
            order = self.orders.get(n)
            if not is_dense(value) if order is None else order_of(value) != order:
                array = _copied(value, order or range(value.ndim))
                if n in self.layout.updated:
                    copied_back.append((value, array))
            kept.append(array)
            slots.append(array.ctypes.data)
        return slots, kept, copied_back

    def check(self, values: list[Any]) -> None:
        """Refuse what cannot be written."""
        for n in self.written:
            self._check_written(n, values[n], values)

    def _check_written(self, n: int, array: np.ndarray, values: list[Any]) -> None:
        """Refuse to write what is read-only, or what another argument looks at."""
        name = self.names[n]
        how = "is written by" if n in self.layout.updated else "is donated to"
        if not array.flags.writeable:
            raise LaunchError(
                f"`{name}` is read-only, and {how} `{self.artifact.kernel}`",
                hint=f"pass a copy: np.array({name})",
            )
        if overlaps_itself(array):
            raise several_places(name, array, f"it {how} `{self.artifact.kernel}`")
        for other, value in enumerate(values):
            if other != n and isinstance(value, np.ndarray) and np.may_share_memory(array, value):
                raise LaunchError(
                    f"`{name}` {how} `{self.artifact.kernel}`, and `{self.names[other]}` overlaps it",
                    hint=f"pass a copy: {self.names[other]}.copy()",
                )

    def run_at(self, slots: Sequence[int]) -> None:
        """Run with an address for each array (the bits of each number): the arguments', then those of the fresh
        results, in order. The memory is dense in the order of axes that the plan was made for; nothing is checked."""
        if not self.needs_scratch and not self.artifact.sites:
            run_slots(self.code.run_address, self._slots(*slots, 0, _NO_SCRATCH), self.layout.long)
            return
        scratch = self._take()
        try:
            if not self.artifact.sites:
                run_slots(
                    self.code.run_address, self._slots(*slots, 0, scratch.ctypes.data), self.layout.long
                )
                return
            report = LaunchReport(self.artifact.sites)
            run_slots(self.code.run_address, self._slots(*slots, report.address, scratch.ctypes.data))
        finally:
            self._give(scratch)
        report.check()

    def _take(self) -> np.ndarray:
        """Scratch memory no other call is using."""
        if self._is_kept():
            self.pool.clear()  # from before it was loaded
        try:
            return self.pool.pop()
        except IndexError:
            size = self.layout.scratch_bytes
            memory = caching_allocator.made(size, np.empty, size + ALIGNMENT, np.uint8)
            first = -memory.ctypes.data % ALIGNMENT
            return memory[first : first + size]

    def _give(self, scratch: np.ndarray) -> None:
        if self.keeps_scratch and not self._is_kept():
            self.pool.append(scratch)

    def _is_kept(self) -> bool:
        return caching_allocator.loaded and self.layout.scratch_bytes >= KEPT_LEAST


def _copied(array: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """The same elements, dense with the axes in `order`, the fastest last."""
    made = caching_allocator.made(array.nbytes, np.array, array.transpose(order), order="C")
    return made.transpose(np.argsort(order))


def is_dense(array: np.ndarray) -> bool:
    """Whether the code can take the array as it is."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned


def _overlaps(array: np.ndarray, arguments: list[Any], others: list[np.ndarray]) -> bool:
    """Whether writing `array` could change something that is read or written elsewhere."""
    arrays = [*(a for a in arguments if a is not None), *others]
    return any(np.may_share_memory(array, other) for other in arrays)
