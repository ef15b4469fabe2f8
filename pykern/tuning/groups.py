"""What the tuner chooses for a kernel on a device: the workgroup, where the launch leaves it open.

Comes in: a kernel, and the arguments and keywords of a launch. Goes out: `Choices` of `pykern.tuning.search`. Groups
have 32 to 1024 work-items, as far as the device takes them; the last dimension, along which memory lies, is the
longest. A kernel that asks for its group may give other results with another one: such a group is not taken.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pykern.api.kernel import KernelBase
from pykern.arrays.creation import array
from pykern.data.index_space import Extent, LaunchShape
from pykern.launching.on_device import Places, kind_of
from pykern.runtime.driver import DeviceInfo
from pykern.runtime.event import Event
from pykern.runtime.registry import opened

FEWEST, MOST = 32, 1024
"""Work-items of a group."""
LAST, OTHERS = (32, 64, 16, 128, 8, 256, 512, 1024), (1, 2, 4, 8, 16)
"""Lengths along the last dimension of a group, and along the others."""


class GroupChoices:
    """Workgroups of a kernel that is launched with these arguments on a device."""

    def __init__(
        self,
        kernel: KernelBase,
        device: str,
        values: list[tuple[str, Any]],
        ndrange: Any,
        space: tuple[Extent, ...],
    ) -> None:
        where = opened(device)
        kind = kind_of(kernel, where, values, LaunchShape(space, (), None), Places(where.name, may_copy=True))
        launcher = kernel.launcher
        self.source, self.device, self.info = launcher.source_of(kind), where.info.tuned_as, where.info
        self.default = launcher.cache.artifact(self.source).workgroup
        self.kernel, self.where, self.values, self.ndrange = kernel, where.name, values, ndrange
        self.rank = len(space)

    def parts(self) -> list[list[str]]:
        """All groups that the device takes."""
        found = [g for g in _groups(self.rank, self.info) if g != self.default]
        return [["x".join(map(str, group)) for group in found]]

    def made(self, configuration: str) -> Callable[[list[Any]], Event]:
        """A launch with a workgroup, on arguments that are on the device."""
        group = tuple(map(int, configuration.split("x"))) if configuration else self.default
        return lambda values: self.kernel(*values, ndrange=self.ndrange, workgroup=group, device=self.where)

    def results(self, made: Callable[[list[Any]], Event]) -> list[np.ndarray]:
        """What is in the arrays after a launch."""
        copies = self._copies()
        made(copies).wait()
        return [x.numpy() for x in copies if getattr(x, "__pykern_array__", False)]

    def repeated(self, made: Callable[[list[Any]], Event]) -> Callable[[], object]:
        """A launch that is waited for, each time on the same copies."""
        copies = self._copies()
        return lambda: made(copies).wait()

    def _copies(self) -> list[Any]:
        return [self._copy(value) for _, value in self.values]

    def _copy(self, value: Any) -> Any:
        if getattr(value, "__pykern_array__", False):
            return value.to(self.where).copy()
        return array(value, device=self.where) if hasattr(value, "shape") and value.shape else value


def _groups(rank: int, info: DeviceInfo) -> list[tuple[int, ...]]:
    """Those of a rank that the device takes."""
    found = []
    for last in LAST:
        for others in itertools.product(OTHERS, repeat=min(rank - 1, 2)):
            group = (*(1,) * (rank - 1 - len(others)), *others, last)
            limits = (*(1,) * rank, *info.max_group_sizes[2::-1])[-rank:]
            fits = all(n <= limit for n, limit in zip(group, limits, strict=True))
            if fits and FEWEST <= math.prod(group) <= min(MOST, info.max_group):
                found.append(group)
    return found
