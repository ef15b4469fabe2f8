"""Launches of kernels that are products of matrices or convolutions: in tiles, as array programs of their own.

Comes in: a kernel whose raised form is such a product (`pykern.data.artifact`, resource "product"), and a launch that
is large. Goes out: whether it has run. Code in tiles knows the lengths, and integers that are passed, so there is one
program for each kind of launch, made once its loops over work-items have taken as long as compiling does; small
launches and those beyond `MOST_SHAPES` stay loops. Sums keep their order, except with `fastmath`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.data.index_space import Extent
from pykern.data.program_source import ProgramSource
from pykern.data.schedule import FEWEST_PRODUCTS, SCHEDULES, SHORTEST_SIDE
from pykern.data.source import KernelOptions
from pykern.errors import KernelError
from pykern.launching.scalar_arguments import scalar
from pykern.obtain.code import loaded
from pykern.obtain.schedules import tuned
from pykern.program.arguments import describe
from pykern.program.launch_source import launch_source
from pykern.program.plan import Plan
from pykern.runtime.devices import current_device
from pykern.runtime.graph import current_graph
from pykern.types import static

if TYPE_CHECKING:
    from pykern.launching.launched import LaunchedKernel

MOST_SHAPES = 16
MOST_KINDS = 1000
"""Kinds of launches that are counted."""
MOST_NUMBERS = 4
"""Integers of launches that are else alike for which there is code: one that counts steps is another one each time."""
MANY_PRODUCTS = 1 << 28
"""Multiplications, about, of all launches of a kind from which compiling them pays."""
LONG_LOOPS = 0.03
"""Seconds of all launches of a kind from which compiling them pays, also if there are fewer multiplications."""


@dataclass(frozen=True)
class _Passed:
    """What a plan is given, arrays and the bits of numbers, and for each what code in tiles depends on."""

    flattened: list[Any]
    kinds: list[Any]
    numbers: list[tuple[str, int]]
    """Integers, which the code knows: most are lengths of loops and of rows of flat arrays."""


class ProductLaunches:
    """The programs of one kernel's launches."""

    def __init__(self, kernel: LaunchedKernel) -> None:
        self.kernel = kernel
        self._captured: Any = None
        self._plans: dict[Any, Plan | None] = {}
        self._spent: dict[Any, float] = {}
        """What the launches of each kind did so far of what makes compiling them pay: 1 is enough."""
        self._names: tuple[str, ...] = ()
        self._numbers: dict[Any, set[tuple[tuple[str, int], ...]]] = {}
        """Integers that launches of a kind were given so far."""

    def repeat_launch(self, args: tuple, keywords: dict[str, Any]) -> bool:
        """Run a launch of a kind that ran in tiles before; false where it has to be looked at."""
        counts = _counts(keywords.get("ndrange")) if len(keywords) == 1 else None
        if counts is None or current_device() != "cpu" or len(args) != len(self._names):
            return False
        passed = self._passed(list(zip(self._names, args, strict=True)))
        plan = None if passed is None else self._plans.get(self._kind(passed, counts))
        if passed is None or plan is None or current_graph() is not None:
            return False
        values = passed.flattened
        if not _fit(values, plan.written):
            return False
        others = [(m, a) for m, a in enumerate(values) if type(a) is np.ndarray]
        if any(np.may_share_memory(values[n], a) for n in plan.written for m, a in others if m != n):
            return False
        if not all(values[n].flags.writeable for n in plan.written):
            return False  # the long way says so
        plan.run(values)
        return True

    def run(
        self,
        values: list[tuple[str, Any]],
        counts: tuple[int, ...],
        written: Container[int],
        loops: Callable[[], None],
    ) -> bool:
        """Run the launch over so many work-items in tiles, or by `loops` where those do not pay; false where it
        is not for them. Arrays do not overlap; `written` are the numbers, among arrays, of those that it writes to."""
        passed = None if current_graph() is not None else self._passed(values)
        arrays = [v for _, v in values if type(v) is np.ndarray]
        if passed is None or not _fit(arrays, written):
            return False
        sizes = [a.size for a in arrays]
        if len(sizes) == 2:  # both factors are the one that is read: a Gram matrix
            sizes += [size for n, size in enumerate(sizes) if n not in written]
        products = math.sqrt(math.prod(sizes))
        of_matrices = all(a.ndim < 3 for a in arrays)
        if products < FEWEST_PRODUCTS or (of_matrices and min(min(a.shape) for a in arrays) < SHORTEST_SIDE):
            return False
        self._names = tuple(name for name, _ in values)
        kind = self._kind(passed, counts)
        if passed.numbers and kind not in self._plans and self._changes_numbers(passed, counts):
            return False
        with self.kernel._lock:
            plan = self._known(kind, products / MANY_PRODUCTS, values, passed, counts)
        if plan is not None:
            plan.run(passed.flattened)
            return True
        started = time.perf_counter()
        loops()
        self._add(kind, (time.perf_counter() - started) / LONG_LOOPS)
        return True

    def _known(
        self,
        kind: Any,
        share: float,
        values: list[tuple[str, Any]],
        passed: _Passed,
        counts: tuple[int, ...],
    ) -> Plan | None:
        """The plan of a kind of launch, made where this launch does the last `share` of what makes that pay."""
        if kind not in self._plans:
            self._add(kind, share)
            if self._spent[kind] < 1 or len(self._plans) >= MOST_SHAPES:
                return None
            annotations = {**self.kernel.annotations, **{name: static for name, _ in passed.numbers}}
            arguments = describe(values, annotations, permuted=[name for name, _ in values])
            self._plans[kind] = self._plan(counts, arguments)
        return self._plans[kind]

    def _add(self, kind: Any, share: float) -> None:
        if len(self._spent) > MOST_KINDS:
            self._spent.clear()
        self._spent[kind] = self._spent.get(kind, 0) + share

    def _passed(self, values: Sequence[tuple[str, Any]]) -> _Passed | None:
        """The values of a launch as a plan takes them; None where one is neither an array nor a number.

        Raises `LaunchError` where a number does not fit its annotation.
        """
        passed = _Passed([], [], [])
        for name, value in values:
            annotation = self.kernel.annotations.get(name)
            if type(value) is int and annotation in (None, int):
                passed.numbers.append((name, value))
                continue
            if type(value) is np.ndarray:
                passed.flattened.append(value)
                passed.kinds.append((value.shape, value.dtype, value.flags.c_contiguous))
                continue
            number = None if annotation is static else scalar(name, value, annotation)
            if number is None:
                return None
            passed.flattened.append(number[1])
            passed.kinds.append(number[0])
        return passed

    def _changes_numbers(self, passed: _Passed, counts: tuple[int, ...]) -> bool:
        """Whether launches that are alike but for their integers have more of these than code is made for."""
        if len(self._numbers) > MOST_KINDS:
            self._numbers.clear()
        seen = self._numbers.setdefault((counts, *passed.kinds), set())
        if len(seen) <= MOST_NUMBERS:
            seen.add(tuple(passed.numbers))
        return len(seen) > MOST_NUMBERS

    def _kind(self, passed: _Passed, counts: tuple[int, ...]) -> Any:
        """What code in tiles depends on."""
        captured = self.kernel.captured()[0]
        if captured is not self._captured:  # names mean something else now
            self._captured, self._plans, self._spent = captured, {}, {}
        return counts, *passed.kinds, *passed.numbers

    def _plan(self, counts: tuple[int, ...], arguments: Any) -> Plan | None:
        """The program of one launch; None where it has no tiles."""
        source = product_source(self.kernel, counts, arguments)
        try:
            plan = Plan(*loaded(tuned(source)), tuple(arguments.names), source)
        except KernelError:  # loops say themselves what they refuse
            return None
        return plan if SCHEDULES in plan.artifact.resources else None


def product_source(kernel: LaunchedKernel, counts: tuple[int, ...], arguments: Any) -> ProgramSource:
    """The program of a launch over so many work-items, with these arguments (`pykern.program.arguments.describe`)."""
    fastmath = kernel.options.fastmath
    options = KernelOptions(fastmath=fastmath, ordered=not fastmath)
    space = tuple(Extent(0, 1, count) for count in counts)
    return launch_source(kernel, tuple(arguments.parameters), space, options)


def _counts(ndrange: Any) -> tuple[int, ...] | None:
    """The lengths of a launch from 0 in steps of 1, as a kind has them; None where it is not one of plain numbers."""
    lengths = []
    for n in ndrange if type(ndrange) is tuple else (ndrange,):
        if type(n) is range and n.start == 0 and n.step == 1:
            n = len(n)
        if type(n) is not int:
            return None
        lengths.append(n)
    return tuple(lengths)


def _fit(values: Sequence[Any], written: Container[int]) -> bool:
    """Whether arrays lie in memory as a plan reads them: row by row, or those that are only read as `x.T` does."""
    return all(
        a.flags.aligned and (a.flags.c_contiguous or (a.flags.f_contiguous and n not in written))
        for n, a in enumerate(values)
        if type(a) is np.ndarray
    )
