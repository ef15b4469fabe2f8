"""How the memory accesses of kernels fit the memory of a GPU, counted where an emulated one runs them.

Comes in: launches inside of `memory_accesses`. Goes out: `MemoryAccesses`, counts of each line of Python. Nothing is
counted elsewhere, and launches cost no more then. Read next: `pykern.runtime.emulator.access_counts`, how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from pykern.data.locations import SourceSpan

GLOBAL, SHARED = "global", "shared"


@dataclass(frozen=True)
class LineAccesses:
    """Accesses of one kind that a line of a kernel has made. A request is one instruction of one subgroup.

    In global memory `transactions` are segments of `unit` bytes that requests touch, and `least` is how many would hold
    the same bytes side by side. In shared memory, whose 32 banks give 4 bytes each at a time, `transactions` are the
    times that the banks are asked, and `least` is how many there would be without bank conflicts.
    """

    kernel: str
    file: str
    line: int
    space: str
    """``global`` or ``shared``."""
    kind: str
    """``read``, ``write`` or ``update`` (an atomic operation)."""
    requests: int
    bytes: int
    transactions: int
    least: int
    unit: int

    @property
    def wasted(self) -> int:
        """Transactions that a better order of accesses would save: 0 where there are none."""
        return self.transactions - self.least

    @property
    def per_request(self) -> float:
        """Transactions of a request, on average."""
        return self.transactions / self.requests

    @property
    def source(self) -> str:
        """The text of the line; "" where it is not known."""
        return SourceSpan(self.file, self.line, 0, 1).source_line().strip() if self.line else ""

    def __str__(self) -> str:
        requests = f"{self.requests} request{'s' * (self.requests != 1)}"
        verb = self.kind + "s" * (self.requests == 1)
        begin = f"{requests} {verb} {self.space} memory"
        least = f"{self.least / self.requests:.3g}"
        several = "s" * (self.transactions != self.requests)
        if self.space == GLOBAL:
            text = f"{begin} in {self.per_request:.3g} segment{several} of {self.unit} bytes each"
            return text + (f", where {least} would do: not coalesced" if self.wasted else ": coalesced")
        text = f"{begin} in {self.per_request:.3g} step{several} each"
        return text + (f", where {least} would do: bank conflicts" if self.wasted else ": no bank conflicts")

    def plus(self, other: LineAccesses) -> LineAccesses:
        """Both together, of one line."""
        added = ("requests", "bytes", "transactions", "least")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in added})


class MemoryAccesses:
    """What `memory_accesses` has counted so far."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, int, str, str, int], LineAccesses] = {}

    @property
    def lines(self) -> tuple[LineAccesses, ...]:
        """By kernel and line; accesses of a line to global and to shared memory are rows of their own."""
        return tuple(self._lines[key] for key in sorted(self._lines))

    def add(self, row: LineAccesses) -> None:
        key = (row.kernel, row.file, row.line, row.space, row.kind, row.unit)
        self._lines[key] = self._lines[key].plus(row) if key in self._lines else row

    def by_line(self) -> Mapping[tuple[str, int], tuple[LineAccesses, ...]]:
        """The rows of each file and line."""
        found: dict[tuple[str, int], tuple[LineAccesses, ...]] = {}
        for row in self.lines:
            at = row.file, row.line
            found[at] = (*found.get(at, ()), row)
        return found

    def __str__(self) -> str:
        """Each line of Python with what was counted there."""
        rows = []
        for (file, line), counted in self.by_line().items():
            place = f"{file}:{line}: {counted[0].source}" if line else "no line"
            rows += [f"{counted[0].kernel}, {place}", *(f"    {one}" for one in counted)]
        return "\n".join(rows) or "no memory accesses were counted: no kernel ran on an emulated GPU"

    def __repr__(self) -> str:
        return f"<pykern.MemoryAccesses of {len(self._lines)} lines>"


_COLLECTED: ContextVar[MemoryAccesses | None] = ContextVar("memory_accesses", default=None)


def collected() -> MemoryAccesses | None:
    """Where launches of this thread add what they count; None where nobody asks."""
    return _COLLECTED.get()


@contextmanager
def memory_accesses() -> Iterator[MemoryAccesses]:
    """Count the memory accesses of the kernels that are launched inside, on ``cuda:emulated`` and ``rocm:emulated``.

    ``with pk.memory_accesses() as found: k(y, x, ndrange=n, device="cuda:emulated")``, then ``print(found)``, or
    ``found.lines``, whose rows are `LineAccesses`: for each line of Python how many requests its subgroups made, in how
    many segments of global memory or steps of the banks of shared memory, and how many would do. Launches on other
    devices run as ever and are not counted.

    On NVIDIA's GPUs a segment has 32 bytes, on AMD's 64. What is counted is the addresses that the compiled code asks
    for: caches are not emulated, and neither are copies by tensor maps, products of warpgroups, private memory, and
    AMD's loads to scalar registers, which are one access for a whole subgroup.
    """
    found = MemoryAccesses()
    token = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(token)
