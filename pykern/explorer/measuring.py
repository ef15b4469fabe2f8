"""Launching a kernel to see how far below its ceilings it stays.

Comes in: an exploration and the arguments of the launch. Goes out: the same with a `Run` and a measured `Roof`.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pykern.api.jit import Program
from pykern.api.kernel import KernelBase
from pykern.data.index_space import index_space
from pykern.errors import LaunchError
from pykern.explorer.data import Exploration
from pykern.explorer.processor import this_processor
from pykern.explorer.roof import Run
from pykern.launching.arguments import homes
from pykern.launching.specs import Spec
from pykern.runtime.stream import synchronize

REPEATS = 7


def measured(data: Exploration, kernel: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Exploration:
    """Launch it. Raises `LaunchError` for specs, which hold nothing to launch on, and what launches raise."""
    if not isinstance(kernel, KernelBase | Program) or any(isinstance(a, Spec) for a in args):
        raise LaunchError("measure=True launches kernels on arrays", hint="pass arrays instead of specs")
    if data.error:
        return data
    options = {k: v for k, v in keywords.items() if k not in ("target", "passes", "debug")}
    seconds = statistics.median(_timed(kernel, args, options) for _ in range(REPEATS + 1))
    run = Run(_items(kernel, options), seconds, REPEATS)
    roof = data.roof
    if data.target == "llvm" and (roof is None or roof.measured):
        roof = this_processor(remeasure=True)  # beside the run, in the same state of the machine
    return replace(data, runs=(*data.runs, run), roof=roof)


def _items(kernel: Any, options: Mapping[str, Any]) -> int:
    """Work-items of the launch; a call of a program is one."""
    if isinstance(kernel, Program):
        return 1
    return math.prod(extent.count for extent in index_space(options.get("ndrange", kernel.ndrange)))


def _timed(kernel: Any, args: Sequence[Any], options: Mapping[str, Any]) -> float:
    started = time.perf_counter()
    event = kernel(*args, **options)
    if isinstance(kernel, KernelBase):
        event.wait()
    else:
        for device in set(homes([(str(n), a) for n, a in enumerate(args)]).values()):
            synchronize(device)
    return time.perf_counter() - started
