"""`pkj.check`: whether a primitive computes the same in all of its ways.

Comes in: a primitive and arguments. Goes out: nothing, or an AssertionError that names what differs: the handler
against the portable source, gradients and tangents against those of the source, and a batch against its calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pykern.errors import TargetError
from pykern.jax.framework import jax, jnp
from pykern.jax.function import Primitive

SEED = 1
BATCH = 3


def check(primitive: Primitive, args: tuple, rtol: float = 1e-3, atol: float = 1e-4) -> None:
    """Compare, for these arguments. Raises AssertionError, and `TargetError` where there is no portable source."""
    callee, arguments = primitive.described(args, {})
    arrays = arguments.arrays
    portable = callee.portable
    if portable is None:
        raise TargetError(
            f"`{primitive.__name__}` has no portable source to compare with", hint=".source() says why"
        )

    def ours(*given: Any) -> list[Any]:
        return _floats(primitive.traced(callee, *given))

    def theirs(*given: Any) -> list[Any]:
        return _floats(portable(*given))

    def agree(what: str, found: Any, wanted: Any) -> None:
        for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(
                np.asarray(a, np.float64),
                np.asarray(b, np.float64),
                rtol,
                atol,
                err_msg=f"{primitive}: {what}",
            )

    agree("results", primitive.traced(callee, *arrays), portable(*arrays))
    random = np.random.default_rng(SEED)
    active = [n for n, a in enumerate(arrays) if jnp.issubdtype(a.dtype, jnp.floating)]
    ways = [jnp.asarray(random.standard_normal(arrays[n].shape), arrays[n].dtype) for n in active]

    def with_active(function: Any) -> Any:
        def of_active(*given: Any) -> Any:
            filled = dict(zip(active, given, strict=True))
            return function(*(filled.get(n, a) for n, a in enumerate(arrays)))

        return of_active

    given = [arrays[n] for n in active]
    if active:
        tangents = [jax.jvp(with_active(f), tuple(given), tuple(ways)) for f in (ours, theirs)]
        agree("tangents", *tangents)
        pulled = [jax.vjp(with_active(f), *given)[1] for f in (ours, theirs)]
        seeds = [jnp.ones_like(r) for r in tangents[0][0]]
        agree("gradients", *(pull(seeds) for pull in pulled))
    batch = [jnp.stack([a * (k + 1) for k in range(BATCH)]) for a in given]
    if active:
        agree("a batch", *(jax.vmap(with_active(f))(*batch) for f in (ours, theirs)))


def _floats(found: Any) -> list[Any]:
    return [a for a in jax.tree.leaves(found) if jnp.issubdtype(jnp.result_type(a), jnp.floating)]
