"""How many groups of a kernel a GPU's unit holds at once.

Comes in: how many fit by each resource, which a family's `occupancy` computes from its chips' limits. Goes out: what
reports say of a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Occupancy:
    """The groups that fit, by each resource: "registers", "shared memory", "the number of groups", "subgroups"."""

    limits: Mapping[str, int]
    subgroups: int
    """Of one group."""
    most: int
    """Subgroups that the unit holds at most."""

    @property
    def groups(self) -> int:
        """Groups that run side by side."""
        return max(0, min(self.limits.values()))

    @property
    def limit(self) -> str:
        """The resource that stands against more of them; of several that do so the first."""
        return min(self.limits, key=lambda name: self.limits[name])

    @property
    def part(self) -> float:
        """Subgroups that run side by side, as a part of the most there may be: 0 … 1."""
        return self.groups * self.subgroups / self.most

    def resources(self) -> dict[str, int | float | str]:
        """What a compiled kernel's `resources` say of it."""
        return {"resident_groups": self.groups, "occupancy": self.part, "occupancy_limit": self.limit}


def units_of(number: int, unit: int) -> int:
    """`number` rounded up to a multiple of `unit`, in which a resource is given."""
    return -(-number // unit) * unit
