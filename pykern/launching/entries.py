"""The compiled entries of a kernel object: for calls of which kinds no Python runs.

Comes in: entries of variants for the CPU (`launch`) and of launches on devices (`device_entries`). Goes
out: the cells of the kernel object. Entries that promise no overlap come first, those of devices last.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pykern.data.abi import ADAPTED, ENTRIES, TABLE_INDEX
from pykern.data.source import ArraySpec, KernelSource, leaves
from pykern.obtain.adapter_code import adapter_code
from pykern.runtime import launchable
from pykern.runtime.cpu_table import publish_dtype, table
from pykern.runtime.devices import OVERRIDE
from pykern.runtime.launchable import NAME, Otherwise

if TYPE_CHECKING:
    from pykern.data.artifact import ArgumentUse
    from pykern.launching.launched import LaunchedKernel
    from pykern.obtain.variant import Variant


LAUNCH_KEYWORDS = ("ndrange", "workgroup", "stream", "device", "shared_bytes")
"""What a launch takes by name beside the arguments: a parameter that is called so is given by its place."""
OFTEN = 32
"""Calls through Python after which a variant that has been pushed out by others comes back."""


class Entries:
    """Those of one kernel; the newest of each sort first, as many as there are cells."""

    def __init__(self, kernel: LaunchedKernel) -> None:
        self.kernel = kernel
        self._otherwise = Otherwise(slow := kernel.__call__, slow)
        self._adapts = False
        self._here: list[Variant] = []
        self._there: list[tuple[int, KernelSource, int, Any]] = []
        self._missed: dict[int, int] = {}
        """Calls of variants, which are never let go, while they had no entry."""
        self._guards: Any = None
        """Those in place."""
        self._stale = 0
        """Calls of devices while names mean the same as for the entries, and are other objects."""

    def add_variant(self, variant: Variant) -> None:
        """An entry of the CPU."""
        here = any(one is variant for one in self._here)
        if here and self._are_current():
            adapter_code.wanted()  # the call is in another form, perhaps
            if adapter_code.address and not self._adapts:
                self._install(variant.source)
            return
        missed = self._missed.get(id(variant), 0)
        self._missed[id(variant)] = missed + 1
        if missed % OFTEN == 0:
            if not here:
                self._here.insert(0, variant)
            self._install(variant.source)

    def refresh(self, source: KernelSource) -> None:
        """A launch on a device went through Python although there is an entry: names may have changed, or be back."""
        if self._are_current():
            adapter_code.wanted()  # as above
            if adapter_code.address and not self._adapts:
                self._install(source)
            return
        self._stale += 1
        if self._stale % OFTEN == 1:
            self._install(source)

    def _are_current(self) -> bool:
        captured = self.kernel._captured
        return captured is not None and captured[1] is self._guards

    def add_direct(self, address: int, source: KernelSource, facts: int, kept: Any) -> None:
        """An entry of a device; `kept` lives as long as it. Those that ask for more `facts` come first."""
        self._there.insert(0, (address, source, facts, kept))
        self._install(source)

    def _adapt(self) -> None:
        """Let calls in another form be put into that of the entries."""
        if self._adapts or not adapter_code.address:
            return
        self._adapts = True
        parameters = self.kernel.signature.parameters
        if len(parameters) >= ADAPTED:
            return
        named = not any(name in parameters for name in LAUNCH_KEYWORDS)
        names = tuple(map(sys.intern, parameters)) if named else None
        plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())
        function = self.kernel.__wrapped__ if plain and not self.kernel.derivatives else None
        self._otherwise = Otherwise(adapter_code.bound(self.kernel), self._otherwise.python, names, function)

    def _install(self, source: KernelSource) -> None:
        """Those made for what the names in the kernel mean now."""
        self._adapt()
        for parameter in source.parameters:
            if isinstance(parameter.spec, ArraySpec):
                publish_dtype(parameter.spec.dtype)
        table()[TABLE_INDEX["kernel_offset"]] = launchable.offset(self.kernel)
        function, guards = self.kernel.captured()  # a name may have changed since the launch
        self._guards = guards
        self._here = [v for v in self._here if v.source.function == function]
        self._here.sort(key=lambda v: not v.source.known)  # the general code takes what is left
        self._there.sort(key=lambda item: -item[2])
        self._here.sort(key=lambda v: not v.source.noalias)
        if any(guard.computed for guard in guards):
            launchable.clear(self.kernel)  # each launch asks again, in Python
            return
        here = [(v.entry_address, writes(v.source, v.artifact.uses)) for v in self._here]
        there = [(item[0], 0) for item in self._there if item[1].function == function][:ENTRIES]
        room = max(ENTRIES - len(there), ENTRIES // 2)  # where both are many, each has half
        self._here = self._here[:room]
        launchable.install(
            self.kernel,
            [*here[:room], *there][:ENTRIES],
            self._otherwise,
            [
                (NAME, OVERRIDE, "device", None),  # a block may choose another device
                *(guard.cells() for guard in guards),
            ],
            tuple(self._there),
        )


def register_arrays(values: Iterable[tuple[str, Any]]) -> None:
    """Let entries know the `pk.Array`s of a call that they do not know yet."""
    for _, value in values:
        if getattr(value, "__pykern_array__", False) and value._launch is None:
            from pykern.launching.device_entries import (
                register,  # here: calls with NumPy alone have no devices
            )

            register(value)


def writes(source: KernelSource, uses: tuple[ArgumentUse, ...]) -> int:
    """One bit for each parameter that has an array which the code writes."""
    found, remaining = 0, iter(uses)
    for number, parameter in enumerate(source.parameters):
        arrays = [next(remaining) for leaf in leaves(parameter.spec) if isinstance(leaf, ArraySpec)]
        found |= any(use.writes for use in arrays) << number
    return found
