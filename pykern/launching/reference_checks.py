"""What the compiler says of a kernel that the reference device runs: what every device refuses, and warnings.

Comes in: a launch. Goes out: nothing, or the error of a compiled launch. The device runs more than compiles
(breakpoints, lists, functions of libraries, functions without source): of such kernels nothing is said here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pykern.data.artifact import FROM_END, Artifact
from pykern.data.runtime_source import Source
from pykern.data.source import KernelOptions, KernelSource
from pykern.data.target import REFERENCE
from pykern.errors import CAPTURED, KernelError, KernelTypeError
from pykern.launching.launch_kind import LaunchKind
from pykern.launching.warned import warn
from pykern.obtain.code import compiled

if TYPE_CHECKING:
    from pykern.launching.launched import LaunchedKernel

Places = frozenset[tuple[str, int, int, int]]


class ReferenceChecks:
    """What is known of one kernel."""

    def __init__(self) -> None:
        self._known: dict[KernelSource, Artifact | KernelTypeError | None] = {}

    def check(self, kernel: LaunchedKernel, kind: LaunchKind, options: KernelOptions) -> Places | None:
        """The accesses that count from the end; None where the compiler knows nothing of the kernel. Raises what
        compiled launches raise about types; warns as they do."""
        try:
            source = replace(kind.source(kernel), options=options, target=REFERENCE)
        except KernelError:
            return None
        found = self._said_of(source)
        if isinstance(found, KernelTypeError):
            found = self._said_of(kind.with_short_lengths(source))
        if isinstance(found, KernelTypeError):
            raise found.with_traceback(None)
        if found is None:
            return None
        warn(found, kind.shape)
        return cast(Places, frozenset(cast(Any, found.resources[FROM_END])))

    def _said_of(self, source: KernelSource) -> Artifact | KernelTypeError | None:
        if source not in self._known:
            self._known[source] = said_of(source)
        return self._known[source]


def said_of(source: Source) -> Artifact | KernelTypeError | None:
    """The error about types that every device raises; None where the compiler knows nothing of the kernel."""
    try:
        return compiled(source)
    except KernelTypeError as error:
        return None if error.code == CAPTURED else error
    except KernelError:
        return None
