"""What kind a launch is: all that its code depends on.

Comes in: the arguments as the compiler is told of them, the index space, the target. Goes out: the `KernelSource` of
the kind. Arguments that overlap change it: see `pykern.launching.launch`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from pykern.data.abi import array_slots
from pykern.data.index_space import LaunchShape, is_alone
from pykern.data.records import record
from pykern.data.source import ArraySpec, KernelSource, LaunchSpec, leaves
from pykern.data.target import CPU, Target
from pykern.launching.arguments import Passed
from pykern.launching.checks import names_in, overlapping
from pykern.launching.complex_arguments import refuse_derivatives
from pykern.launching.short_lengths import with_short_lengths

if TYPE_CHECKING:
    from pykern.launching.launched import LaunchedKernel


@record
class LaunchKind:
    """One launch, as the compiler sees it."""

    passed: list[Passed]
    shape: LaunchShape
    target: Target = CPU

    def source(self, kernel: LaunchedKernel) -> KernelSource:
        """What is compiled where the arguments do not overlap."""
        shape = self.shape
        if kernel.derivatives:
            refuse_derivatives(p.parameter for p in self.passed)
        static = shape.plain and (kernel.ndrange is not None or is_alone(kernel.derivatives, shape.space))
        counts = shape.counts if static else None
        launch = LaunchSpec(
            len(shape.space), shape.plain, counts, shape.workgroup, shape.shared is not None, shape.unit
        )
        return KernelSource(
            kernel.captured()[0],
            tuple(p.parameter for p in self.passed),
            launch,
            kernel.options,
            self.target,
            derivatives=kernel.derivatives,
        )

    def with_short_lengths(self, source: KernelSource) -> KernelSource:
        """The source for launches with the short lengths of this one; itself where none of its arrays is short."""
        shapes = [p.arrays[0].shape if isinstance(p.parameter.spec, ArraySpec) else None for p in self.passed]
        return with_short_lengths(source, shapes, chooses=self.target == CPU)

    @cached_property
    def overlaps(self) -> list[tuple[int, int, bool]]:
        """Pairs of arrays that share memory, by number, and whether they are one and the same view."""
        return list(overlapping(self.passed))

    @property
    def scalar_slots(self) -> set[int]:
        """The slots that hold scalars."""
        found, first = set(), 0
        for item in self.passed:
            for spec in leaves(item.parameter.spec):
                if isinstance(spec, ArraySpec):
                    first += array_slots(spec.rank, spec.strided)
                else:
                    found.add(first)
                    first += 1
        return found

    @property
    def elements(self) -> int:
        """Elements of the largest array, or work-items where there are more."""
        return max([math.prod(self.shape.counts), *(a.size for p in self.passed for a in p.arrays)])

    @property
    def names(self) -> list[str]:
        """What its arrays are called, in order."""
        return [name for p in self.passed for name in names_in(p.parameter.spec, p.parameter.name)]
