"""The numbers of a launch by which its accesses are checked: see `pykern.data.launch_bounds`."""

from __future__ import annotations

from collections.abc import Iterable

from pykern.data.abi import array_slots
from pykern.data.index_space import LaunchShape
from pykern.data.source import ArraySpec, leaves
from pykern.launching.arguments import Passed


def given_numbers(passed: Iterable[Passed], shape: LaunchShape) -> list[int]:
    """Lengths of arrays and bits of scalars in the order of the flattened arguments, then the index space."""
    numbers: list[int] = []
    for item in passed:
        arrays, slots = iter(item.arrays), iter(item.slots)
        for spec in leaves(item.parameter.spec):
            if not isinstance(spec, ArraySpec):
                numbers.append(next(slots))
                continue
            numbers += next(arrays).shape
            for _ in range(array_slots(spec.rank, spec.strided)):
                next(slots)
    return [*numbers, *launch_numbers(shape)]


def launch_numbers(shape: LaunchShape) -> list[int]:
    """Those behind the arguments."""
    shared = [] if shape.shared is None else [shape.shared]
    return [*shared, *(number for e in shape.space for number in (e.count, e.start, e.step))]
