"""Launches of kernels that are products of matrices or convolutions: in tiles, as array programs of their own.

Comes in: a kernel whose raised form is such a product (`pykern.artifact`, resource "product"), and a launch that is
large. Goes out: whether it has run. Code in tiles knows the lengths, so there is one program for each kind of
arrays, made once their loops over work-items have taken as long as compiling does; small launches and those beyond
`MOST_SHAPES` stay loops. Sums keep their order, except with `fastmath`.
"""

from __future__ import annotations

import linecache
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.capture import function_source, function_text
from pykern.errors import KernelError
from pykern.index_space import Extent
from pykern.launch_graph import current_graph
from pykern.program_arguments import describe
from pykern.program_plan import Plan
from pykern.program_source import ProgramSource
from pykern.schedule import SCHEDULES
from pykern.source import KernelOptions
from pykern.variants import loaded

if TYPE_CHECKING:
    from pykern.kernel import KernelBase

MOST_SHAPES = 16
FEWEST_PRODUCTS = 1 << 19
"""Multiplications, about, of a launch from which the longer way to its code pays: 50 us of loops."""
MANY_PRODUCTS = 1 << 28
"""Multiplications, about, of all launches of a kind from which compiling them pays: 0.1 s of loops at least."""


class ProductLaunches:
    """The programs of one kernel's launches."""

    def __init__(self, kernel: KernelBase) -> None:
        self.kernel = kernel
        self._plans: dict[Any, Plan | None] = {}
        self._spent: dict[Any, float] = {}
        """Multiplications of each kind of launch so far."""

    def run(self, values: list[tuple[str, Any]], space: tuple[Extent, ...]) -> bool:
        """Run the launch in tiles; false where it is not for them. Arrays do not overlap."""
        arrays = [v for _, v in values if isinstance(v, np.ndarray)]
        if len(arrays) != len(values) or not all(a.flags.c_contiguous and a.flags.aligned for a in arrays):
            return False
        products = math.sqrt(math.prod(sorted((a.size for a in arrays), reverse=True)[:3]))
        if products < FEWEST_PRODUCTS or current_graph() is not None:
            return False
        arguments = describe(values, self.kernel.annotations)
        counts = tuple(e.count for e in space)
        key = self.kernel.captured()[0], counts, tuple(arguments.parameters)
        with self.kernel._lock:
            if key not in self._plans:
                self._spent[key] = self._spent.get(key, 0) + products
                if self._spent[key] < MANY_PRODUCTS or len(self._plans) >= MOST_SHAPES:
                    return False
                self._plans[key] = self._plan(counts, arguments)
            plan = self._plans[key]
        if plan is None:
            return False
        plan.run(arguments.values)
        return True

    def _plan(self, counts: tuple[int, ...], arguments: Any) -> Plan | None:
        """The program of one launch; None where it has no tiles."""
        function = _launching(self.kernel, arguments.names, counts)
        fastmath = self.kernel.options.fastmath
        options = KernelOptions(fastmath=fastmath, ordered=not fastmath)
        captured, _ = function_source(function, function_text(function), program=True)
        source = ProgramSource(captured, tuple(arguments.parameters), options)
        try:
            plan = Plan(*loaded(source), tuple(arguments.names), source)
        except KernelError:  # loops say themselves what they refuse
            return None
        return plan if SCHEDULES in plan.artifact.resources else None


def _launching(kernel: KernelBase, names: list[str], counts: tuple[int, ...]) -> Any:
    """A program's function that launches the kernel."""
    listed = ", ".join(names)
    text = f"def launch({listed}):\n    launched({listed}, ndrange={counts})\n"
    file = f"<launch of {kernel.__name__} over {counts}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"launched": kernel}
    exec(compile(text, file, "exec"), namespace)
    return namespace["launch"]
