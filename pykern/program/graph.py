"""An array program inside of ``with pk.graph()``: written down, its results made, run at each replay.

Comes in: the plan of a call and its flattened arguments. Goes out: the value of the call, over arrays that every
replay fills again. Numbers are arrays without dimensions here: nobody knows them before the replay. Scalar
arguments are as captured. A program that copies arguments or results, because an array is not dense, copies at each
replay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pykern.data.source import Parameter
from pykern.program import reference as program_reference
from pykern.program.plan import is_dense
from pykern.program.results import builder, out_arrays
from pykern.runtime.graph import graph, not_captured
from pykern.runtime.pool import KeptPool
from pykern.runtime.stream import Stream

if TYPE_CHECKING:
    from pykern.program.device import DevicePlan
    from pykern.program.plan import Plan


def capture_here(captured: graph, plan: Plan, values: list[Any], out: list[np.ndarray] | None) -> Any:
    """A call on the CPU."""
    plan.check(values)
    results, given = _results(plan, values, out, np.empty, is_dense)

    def run(_: Stream | None) -> None:
        for mine, found in zip(results, plan.run(values, given), strict=True):
            if found is not mine:
                np.copyto(mine, found)

    captured.add(None, run)
    return builder(plan.layout.tree, numbers=False)(results)


def capture_on(
    captured: graph, plan: DevicePlan, values: list[Any], out: list[Any] | None, stream: Stream
) -> Any:
    """A call on a device. Its scratch memory is the graph's, from the first replay on."""
    plan.check(values)
    results, given = _results(plan, values, out, plan.fresh, lambda array: array.contiguous)
    pool = KeptPool(plan.opened.pool)

    def run(into: Stream) -> None:
        pool.begin(into.native)
        for mine, found in zip(results, plan.put(values, given, into, pool), strict=True):
            if found is not mine:
                mine[...] = found

    captured.add(stream, run)
    return builder(plan.layout.tree, numbers=False)(results)


def _results(
    plan: Any,
    values: list[Any],
    out: list[Any] | None,
    fresh: Callable[[tuple[int, ...], np.dtype], Any],
    dense: Callable[[Any], bool],
) -> tuple[list[Any], list[Any]]:
    """The arrays of the results, and which of them the plan is given to write into."""
    results, given = [], []
    for n, spec in enumerate(plan.layout.results[: plan.returned]):
        donated = spec.argument >= 0 and out is None and dense(values[spec.argument])
        array = (
            values[spec.argument] if donated else fresh(spec.shape, plan.dtypes[n]) if out is None else out[n]
        )
        results.append(array)
        given.append(None if donated else array)
    return results, given


def capture_in_python(
    captured: graph, function: Callable, values: list[tuple[str, Any]], parameters: list[Parameter], out: Any
) -> Any:
    """A call on the reference device. A run over copies tells the results' shapes."""
    copies = [(name, v.copy() if isinstance(v, np.ndarray) else v) for name, v in values]
    with not_captured():
        found = program_reference.run(function, copies, parameters, None, False)
    arrays = program_reference.arrays_of(found)
    if out is not None:
        shapes, dtypes = [a.shape for a in arrays], [a.dtype for a in arrays]
        results = out_arrays(out, len(arrays), shapes, dtypes)
    else:
        results = [np.empty_like(a) for a in arrays]

    def run(_: Stream | None) -> None:
        found = program_reference.run(function, values, parameters, None, False)
        for mine, array in zip(results, program_reference.arrays_of(found), strict=True):
            np.copyto(mine, array)

    captured.add(None, run)
    return program_reference.with_arrays(found, results)
