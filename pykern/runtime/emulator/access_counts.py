"""The accesses of a launch, counted for each line of Python.

Comes in: records of `access_trace`. Goes out: `LineAccesses` (`pykern.runtime.memory_accesses`). An instruction of a
subgroup is a request. Where threads run alone (NVIDIA), the n-th access that a lane of a warp makes by an instruction
is taken together with the n-th of the others; AMD's waves number their requests. Read next: `request_costs`, the model.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from pykern.runtime.emulator.access_trace import (
    BYTES_AT,
    GLOBAL,
    KIND_AT,
    RECORD_WORDS,
    SPACE_AT,
    THREAD_AT,
)
from pykern.runtime.emulator.faults import Faulty
from pykern.runtime.emulator.request_costs import (
    BANK_BYTES,
    BANKS,
    bank_steps,
    numbered,
    occurrences,
    segments,
)
from pykern.runtime.emulator.slots import SLOTS
from pykern.runtime.memory_accesses import LineAccesses, MemoryAccesses

ROOM = 1 << 16
"""Records of the buffer."""
_PENDING = 1 << 21
"""Records from which those of groups that have ended are counted."""
_PREFIX = "kern_"
"""What the names of kernels begin with in code for GPUs."""
_FUNCTION = ctypes.CFUNCTYPE(None)
_SPACES, _KINDS = ("global", "shared"), ("read", "write", "update")


class AccessCounter:
    """Of one launch, whose `words` tell it where to write. `segment` are the bytes that global memory moves at least,
    `lanes` those of a subgroup."""

    def __init__(self, words: np.ndarray, lanes: int, segment: int) -> None:
        self.lanes, self.segment = lanes, segment
        self._words = words
        self._buffer = np.zeros((ROOM, RECORD_WORDS), np.int64)
        self._function = _FUNCTION(self._take)
        self._chunks: list[np.ndarray] = []
        self._totals: dict[tuple[int, int, int], np.ndarray] = {}
        words[SLOTS["trace"]] = self._buffer.ctypes.data
        words[SLOTS["trace_room"]] = ROOM
        words[SLOTS["trace_full"]] = ctypes.cast(self._function, ctypes.c_void_p).value

    def add_to(
        self,
        found: MemoryAccesses,
        kernel: str,
        instructions: Sequence[Faulty],
        leave_out: tuple[str, ...] = (),
    ) -> None:
        """All that the launch did. `instructions` are by the numbers that records name; those whose names begin with
        one of `leave_out` are no requests of a subgroup."""
        self._take()
        self._count(np.concatenate(self._chunks))
        for (site, space, kind), counts in self._totals.items():
            one = instructions[site]
            if one.name.startswith(leave_out):
                continue
            file, line = (one.place.file, one.place.line) if one.place else ("", 0)
            unit = self.segment if space == GLOBAL else BANKS * BANK_BYTES
            requests, nbytes, transactions, least = map(int, counts)
            found.add(
                LineAccesses(
                    kernel.removeprefix(_PREFIX),
                    file,
                    line,
                    _SPACES[space],
                    _KINDS[kind],
                    requests,
                    nbytes,
                    transactions,
                    least,
                    unit,
                )
            )

    def _take(self) -> None:
        """Empty the buffer."""
        used = int(self._words[SLOTS["trace_used"]])
        self._words[SLOTS["trace_used"]] = 0
        self._chunks.append(self._buffer[:used].copy())
        if sum(map(len, self._chunks)) >= _PENDING:
            records = np.concatenate(self._chunks)
            ended = records[:, 2] != records[-1, 2]
            self._count(records[ended])
            self._chunks = [records[~ended]]

    def _count(self, records: np.ndarray) -> None:
        """Add the requests of these records, all of which are there."""
        if not len(records):
            return
        site, what, group, address = records.T
        thread, nbytes = what >> THREAD_AT, what >> BYTES_AT & 0xFF
        space, kind = what >> SPACE_AT & 1, what >> KIND_AT & 3
        part = occurrences(group, site, what)
        request, one = numbered(group, site, space, kind, thread // self.lanes, part)
        counts = np.zeros((len(one), 4), np.int64)
        counts[:, 0] = 1
        counts[:, 1] = np.bincount(request, nbytes)
        for number in np.unique(space):
            here = space == number
            own, its_one = numbered(request[here])
            if number == GLOBAL:
                costs = segments(own, address[here], nbytes[here], self.segment)
            else:
                costs = bank_steps(own, thread[here] % self.lanes, address[here], nbytes[here])
            counts[request[here][its_one], 2:] = np.stack(costs, 1)
        rows = np.stack([site, space, kind], 1)[one]
        keys, of_key = np.unique(rows, axis=0, return_inverse=True)
        sums = np.zeros((len(keys), 4), np.int64)
        np.add.at(sums, of_key.reshape(-1), counts)
        for key, counted in zip(keys.tolist(), sums, strict=True):
            held = tuple(key)
            self._totals[held] = self._totals.get(held, 0) + counted
