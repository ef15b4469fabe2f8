"""Reverse mode: a call that is to be pulled back keeps residuals.

Comes in: a call, where JAX linearizes it for `grad` or `vjp`. Goes out: results, residuals, and the call that is linear
by tangents, whose transposition takes them. The arguments are kept, too: the derivative of the derivative is theirs.
Everything else, `jvp` and `linearize` among it, has the rule of `jvp` alone (`primitive`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pykern.jax.framework import Array, jax, own_ad
from pykern.jax.halves import Halves, halves_of
from pykern.jax.primitive import Call, call_p


def linearize(is_vjp: bool, nonzeros: Sequence[bool], *arrays: Array, call: Call) -> Any:
    """JAX's rule: results, which of them have tangents, residuals, and the function of residuals and tangents."""
    parameters = call.parameters_of([n for n, nonzero in enumerate(nonzeros) if nonzero])
    halves = _halves(call, parameters, arrays) if is_vjp else None
    if halves is None:
        return own_ad.fallback_linearize_rule(call_p, is_vjp, nonzeros, *arrays, call=call)
    kept = tuple(dict.fromkeys((*call.kept, *halves.kept)))
    arguments = arrays[: len(call.callee.leaves)]
    batch = replace(call.batch, batched=call.batch.batched[: len(arguments)])
    found = dict(zip(kept, Call(call.callee, batch, kept, halves=halves).bind(*arguments), strict=True))
    results = [found[n] for n in call.kept]

    def pushed(kept_arrays: Sequence[Array], *tangents: Any) -> list[Any]:
        given, residuals = kept_arrays[: len(arguments)], kept_arrays[len(arguments) :]
        return call.tangents(parameters, given, tangents, results, halves, residuals)

    have = [n in call.callee.float_results for n in call.kept]
    return results, have, [*arguments, *(found[n] for n in halves.kept)], pushed


def _halves(call: Call, parameters: tuple[int, ...], arrays: Sequence[Array]) -> Halves | None:
    """Those of the call's program, where it may keep residuals."""
    if call.tangents_of is not None or _may_be_cut(arrays):
        return None
    halves = halves_of(call.callee, parameters)
    keeps_others = call.halves is not None and call.halves.primal is call.callee and call.halves != halves
    return None if halves is None or keeps_others or not halves.fits else halves


def _may_be_cut(arrays: Sequence[Array]) -> bool:
    """Whether XLA may cut the call among devices: how residuals are cut depends on the lengths of the parts."""
    kinds = [jax.typeof(a) for a in arrays]
    if any(kind.sharding.mesh.explicit_axes for kind in kinds):
        return True
    return len(jax.devices()) > 1 and all(kind.manual_axis_type.empty for kind in kinds)


def register() -> None:
    """Tell JAX of the rule. One that has no such rules goes on by that of `jvp`."""
    rules = getattr(own_ad, "primitive_linearizations", None)
    if rules is not None:
        rules[call_p] = linearize
