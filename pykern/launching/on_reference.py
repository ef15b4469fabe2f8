"""The way of a launch on the reference device: the checks of a compiled launch, then plain Python.

Comes in: the values of a call. Goes out: nothing; every work-item has run (`pykern.runtime.python_device`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pykern.data.index_space import LaunchShape
from pykern.errors import DeviceError
from pykern.launching.arguments import on_host, pass_value
from pykern.launching.checks import overlap_in_part
from pykern.launching.launch_kind import LaunchKind
from pykern.launching.reference_checks import ReferenceChecks
from pykern.launching.reference_rewrite import rewritten
from pykern.runtime import python_device
from pykern.runtime.reference_program import checks

if TYPE_CHECKING:
    from pykern.launching.launch import Launcher


def run(launcher: Launcher, values: list[tuple[str, Any]], shape: LaunchShape) -> None:
    """Run one index space. Raises what compiled launches raise, and what the kernel's own Python does."""
    kernel = launcher.kernel
    if kernel.derivatives:
        raise DeviceError(
            "the reference device runs kernels, not their derivatives",
            hint="compare with pk.check_grads, or differentiate on the CPU",
        )
    passed = [pass_value(name, value, kernel.annotations.get(name)) for name, value in values]
    kind = LaunchKind(passed, shape)
    names = kind.names
    refused = {
        name: overlap_in_part(kernel.__name__, names[a], names[b])
        for a, b, same in kind.overlaps
        if not same
        for name in (names[a], names[b])
    }
    cache = launcher.cache
    cache.reference = cache.reference or ReferenceChecks()
    options = replace(kernel.options, debug=kernel.options.debug or checks())
    from_end = cache.reference.check(kernel, kind, options)
    python_device.run(
        kernel.__wrapped__,
        [on_host(name, value) for name, value in values],
        ndrange=tuple((e.start, e.step, e.count) for e in shape.space),
        workgroup=shape.workgroup,
        debug=options.debug,
        nan=options.nan,
        races=options.races,
        timeout=kernel.timeout,
        shared_bytes=shape.shared,
        annotations=kernel.annotations,
        rewrite=rewritten,
        refused=refused,
        from_end=from_end,
    )
