"""The two halves of a program's gradient: one that runs with the program and keeps residuals, one that pulls back.

Comes in: a callee, and the parameters by which it is differentiated. Goes out: `Halves`, callees again, or nothing
where the gradient needs the arguments alone. `pk.vjp` has the same halves: what is cheap is computed again, arguments
and results among the residuals are not copied. Read next: `primitive`, which calls them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pykern.data.program_source import ProgramDerivative, ProgramSource
from pykern.data.source import ArraySpec, Parameter
from pykern.errors import KernelError
from pykern.jax.callee import Callee, callee_of, cotangent_spec
from pykern.jax.framework import jax
from pykern.types import BY_NAME


@dataclass(frozen=True)
class Halves:
    """`forward` gives the results and, from number `first` on, residuals of its own. `backward` takes cotangents of the
    float results and, for each of `places`, a residual: the number of an argument, "r" and that of a result, or nothing
    for the next of the forward half's own."""

    primal: Callee
    forward: Callee
    backward: Callee
    first: int
    places: tuple[str, ...]

    @functools.cached_property
    def kept(self) -> tuple[int, ...]:
        """The results of the forward half that the backward half is given, each once."""
        lent = {int(place[1:]) for place in self.places if place[:1] == "r"}
        return (*sorted(lent), *range(self.first, len(self.forward.code.results)))

    @property
    def fits(self) -> bool:
        """Whether JAX has the types of all residuals: without 64 bits it has no such arrays."""
        own = self.forward.code.results[self.first :]
        dtypes = [BY_NAME[result.dtype].numpy for result in own]
        return all(jax.dtypes.canonicalize_dtype(dtype) == dtype for dtype in dtypes)

    def operands(
        self, arguments: Sequence[Any], cotangents: Sequence[Any], residuals: Sequence[Any]
    ) -> list[Any]:
        """What the backward half takes, where `residuals` are the results `kept`."""
        by_result = dict(zip(self.kept, residuals, strict=True))
        own = iter(range(self.first, len(self.forward.code.results)))
        found = list(cotangents)
        for place in self.places:
            if place[:1] == "r" or not place:
                found.append(by_result[int(place[1:]) if place else next(own)])
            else:
                found.append(arguments[int(place)])
        return found


@functools.cache
def halves_of(primal: Callee, parameters: tuple[int, ...]) -> Halves | None:
    """The halves of the gradient by these parameters; None where there is nothing to keep beside the arguments, where
    what is kept takes no product, loop or launch to compute again, or where they have no code. Sweeps over arrays are
    repeated sooner than their results are written and read, and XLA drops a forward run whose results nothing else
    needs. A program without a gradient says so when it is asked for."""
    before = primal.source
    asked = ProgramDerivative("residuals", parameters, primal.checkpoint, several=True, borrowed=True)
    source = replace(before, derivatives=(*before.derivatives, asked), added=(*before.added, 0), donated=())
    forward = callee_of(source, primal.checkpoint)
    try:
        value, residuals, _, _, lent, saves_work = json.loads(forward.tree)["tuple"]
    except KernelError:
        return None
    count, first = len(residuals["tuple"]), len(primal.code.results)
    places = tuple(lent["constant"].split(",")) if lent["constant"] else ("",) * count
    is_nothing_kept = all(place.isdigit() for place in places)
    if is_nothing_kept or not saves_work["constant"] or value != json.loads(primal.tree):
        return None
    backward = callee_of(_pullback(source, primal, forward, first, places), primal.checkpoint)
    found = Halves(primal, forward, backward, first, places)
    return found if _has_all_forms(found) else None


def _pullback(
    source: ProgramSource, primal: Callee, forward: Callee, first: int, places: tuple[str, ...]
) -> ProgramSource:
    results = forward.code.results
    own = iter(results[first:])
    specs = [cotangent_spec(results[n]) for n in primal.float_results]
    for place in places:
        if place.isdigit():
            leaf = primal.leaves[int(place)]
            assert isinstance(leaf, ArraySpec)
            specs.append(replace(leaf, strided=False))
        else:
            result = results[int(place[1:])] if place else next(own)
            specs.append(ArraySpec(result.dtype, result.shape))
    taken = len(specs) - len(places)
    names = [f"cotangent{n}" for n in range(taken)] + [f"residual{n}" for n in range(len(places))]
    *before, last = source.derivatives
    return replace(
        source,
        parameters=tuple(Parameter(name, spec) for name, spec in zip(names, specs, strict=True)),
        derivatives=(*before, replace(last, kind="pullback")),
        pulled=source.parameters,
    )


def _has_all_forms(halves: Halves) -> bool:
    """Whether both have code, and a portable source where the program has one."""
    try:
        _ = halves.forward.code, halves.backward.code
    except KernelError:
        return False
    return halves.primal.portable is None or all(
        half.portable is not None for half in (halves.forward, halves.backward)
    )
