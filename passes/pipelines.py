"""Pipelines that no target owns."""

from __future__ import annotations

from pykern.data.source import KernelOptions
from pykern.passes.framework import Pass, Pipeline, Upstream
from pykern.passes.kernel.check_bounds import CheckBounds
from pykern.passes.kernel.check_nans import CheckNans
from pykern.passes.kernel.count_loops import CountLoops
from pykern.passes.kernel.drop_stop_gradient import DropStopGradient
from pykern.passes.kernel.limit_time import LimitTime
from pykern.passes.kernel.reuse_loads import ReuseLoads
from pykern.passes.kernel.simplify import Simplify


def kern_pipeline(options: KernelOptions, derivatives: tuple[Pass, ...] = ()) -> Pipeline:
    """The passes of the kern stage, which run before those of a target."""
    passes: list[Pass] = []
    for step in (*derivatives, None):
        passes.append(Simplify())  # ids are one value each before upstream compares expressions over them
        # before `cse`, which takes the square of what is left of them; where each store is checked all stay
        passes.append(ReuseLoads(stores=not options.debug))
        passes.append(Upstream("canonicalize,cse"))  # the frontend writes what is easy to write
        passes.append(CountLoops())  # before derivatives and raising, which read loops
        if step is not None:
            passes.append(step)  # wants clean code, and leaves what nobody needs
    passes.insert(-1, DropStopGradient())  # before the last look at common subexpressions
    if options.debug:
        passes.append(CheckBounds())  # before loops: the accesses are still where the user put them
    if options.nan:
        passes.append(CheckNans())
    if options.limited:
        passes.append(LimitTime())
    return Pipeline(tuple(passes))
