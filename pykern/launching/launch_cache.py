"""What is kept of one kernel's launches, in tiers: the quicker one answers, the less it looks at.

Comes in: what a launch has found out. Goes out: the same, for the next launch like it. A call asks the tiers in their
order; those of code at the end ask cache and compiler (`pykern.obtain`).
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pykern.data.artifact import Artifact
from pykern.data.source import KernelSource
from pykern.data.target import CPU
from pykern.launching.entries import Entries
from pykern.launching.known_numbers import KnownNumbers
from pykern.obtain.code import compiled
from pykern.obtain.variant import Variant, obtain

if TYPE_CHECKING:
    from pykern.launching.launched import LaunchedKernel
    from pykern.launching.on_device import DeviceKernel
    from pykern.launching.reference_checks import ReferenceChecks
    from pykern.launching.repeats import Repeats


class LaunchCache:
    """Of one kernel. Tiers that few kernels need are None until one does."""

    def __init__(self, kernel: LaunchedKernel) -> None:
        self._kernel = kernel
        self.entries = Entries(kernel)
        """Calls of known kinds, which run without Python."""
        self.repeats: Repeats | None = None
        """Calls with the very same arguments, on devices whose drivers have no entries."""
        self.products: Any = None
        """Launches that are products, which run in tiles: `pykern.program.product.ProductLaunches`."""
        self.on_devices: dict[Any, DeviceKernel] = {}
        """Launches of known kinds on devices: by types, lengths and layouts, before anything is described."""
        self.variants: dict[KernelSource, Variant] = {}
        """Loaded code for the CPU."""
        self.known_numbers: dict[KernelSource, KnownNumbers] = {}
        """Of the general code of each kind: for which numbers there is other code."""
        self.artifacts: dict[KernelSource, Artifact] = {}
        """Code for other targets, which their drivers load."""
        self.needs_lengths = False
        """Whether its code exists for known lengths alone: `pykern.launching.short_lengths`."""
        self.counts: dict[Any, int] = {}
        """Launches of each kind on a device, up to two: the second makes the entry."""
        self.tapes: dict[Any, int] = {}
        """How much tape a launch on a device took."""
        self.reference: ReferenceChecks | None = None
        """What the compiler says of the kernel for the reference device."""
        self._signature: inspect.Signature | None = None
        self._names: tuple[str, ...] = ()

    def names(self, signature: inspect.Signature) -> tuple[str, ...]:
        """The parameters, where all may be given by their places; else ()."""
        if signature is not self._signature:
            plain = all(p.kind is not p.KEYWORD_ONLY for p in signature.parameters.values())
            self._signature, self._names = signature, tuple(signature.parameters) if plain else ()
        return self._names

    def variant(self, source: KernelSource) -> Variant:
        """Loaded code for the CPU, made once. Raises what the compiler raises."""
        found = self.variants.get(source)  # once: what it is hashed by is large
        if found is None:
            found = self.variants[source] = self.obtained(source)
        return found

    def artifact(self, source: KernelSource) -> Artifact:
        """The code of a source for any target, made once."""
        if source.target == CPU:
            return self.variant(source).artifact
        found = self.artifacts.get(source)
        if found is None:
            found = self.artifacts[source] = self.compiled(source)
        return found

    def obtained(self, source: KernelSource) -> Variant:
        """Loaded code, from the disk cache or the compiler."""
        found = obtain(source)
        self._remember()
        return found

    def compiled(self, source: KernelSource) -> Artifact:
        """Code for a driver, from the disk cache or the compiler."""
        found = compiled(source)
        self._remember()
        return found

    def _remember(self) -> None:
        from pykern.obtain.prewarm import remember  # here: entries and repeats need none of it

        remember(self._kernel.text)
