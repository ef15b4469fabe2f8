"""The patterns in JAX: whole arrays, `vmap` and `lax` loops.

Reverse mode refuses a loop whose trip count is not known when tracing; a masked or scanned loop up to a
bound is the way around it, and stands in `WORKAROUNDS`.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
GROUP = 4
LONGEST = 5
"""A bound on the trip counts, which only the workarounds know."""


def each(item):
    """`item(x_i, c, k_i)` over all items."""
    return lambda out, x, c, k: jax.vmap(item, (0, None, 0))(x, c, k)


def branch(out, x, c, k):
    return jnp.where(x > 0.8, c[0] * x * x, jnp.sin(x) + c[1])


def atomic_sum(out, x, c, k):
    return out.at[0].add(jnp.sum(jnp.resize(c, x.shape) * x * x))


def static_loop(out, x, c, k):
    return lax.fori_loop(0, 4, lambda _, s: jnp.sin(s) * c[0] + s * s * 0.3, x)


@each
def run_time_loop(x, c, k):
    return x * x * lax.fori_loop(0, k, lambda j, a: a + c[j], 0.0)


@each
def run_time_sum_masked(x, c, k):
    return x * x * jnp.sum(jnp.where(jnp.arange(c.size) < k, c, 0.0))


@each
def product_loop(x, c, k):
    return c[0] * lax.fori_loop(0, k, lambda _, p: p * x, 1.0)


@each
def product_scanned(x, c, k):
    return c[0] * lax.fori_loop(0, LONGEST, lambda j, p: jnp.where(j < k, p * x, p), 1.0)


@each
def while_loop(x, c, k):
    return c[0] * lax.while_loop(lambda r: abs(r * r - x) > 1e-13, lambda r: 0.5 * (r + x / r), x)


@each
def while_scanned(x, c, k):
    def step(_, r):
        return jnp.where(abs(r * r - x) > 1e-13, 0.5 * (r + x / r), r)

    return c[0] * lax.fori_loop(0, 20, step, x)


@each
def max_loop(x, c, k):
    return lax.fori_loop(0, k, lambda j, best: jnp.maximum(best, c[j] * x), -1e30) ** 2


@each
def max_masked(x, c, k):
    return jnp.max(jnp.where(jnp.arange(c.size) < k, c * x, -1e30)) ** 2


def overwrite_then_read(out, x, c, k):
    out = out.at[:].set(x * c[0])
    out = out.at[:].set(jnp.sin(out) * x)
    return out.at[:].set(out * out)


def update_in_place(out, x, c, k):
    return out * x + jnp.sin(out)


def broken_loop(a, s, c):
    """The inner loop: `lax.while_loop` is how JAX breaks."""

    def step(state):
        b, s, _ = state
        s = s * 0.9 + jnp.sin(c[a] * c[b] * s)
        return b + 1, s, s > 1.6

    return lax.while_loop(lambda state: (state[0] <= a) & ~state[2], step, (0, s, False))[1]


@each
def nested_with_break(x, c, k):
    return lax.fori_loop(0, k, lambda a, s: broken_loop(a, s, c), x)


@each
def nested_masked(x, c, k):
    def inner(a, b, state):
        s, done = state
        goes = (a < k) & (b <= a) & ~done
        s = jnp.where(goes, s * 0.9 + jnp.sin(c[a] * c[b] * s), s)
        return s, done | (goes & (s > 1.6))

    return lax.fori_loop(
        0, LONGEST, lambda a, s: lax.fori_loop(0, LONGEST, partial(inner, a), (s, False))[0], x
    )


def gather(out, x, c, k):
    return jnp.sin(x[k % x.size]) * c[k % c.size]


def scatter(out, x, c, k):
    return out.at[k % out.size].add(x * x * jnp.resize(c, x.shape))


def shared_reduction(out, x, c, k):
    s = jnp.sum(jnp.sin(x).reshape(-1, GROUP) * c[0], axis=1)
    return out.at[: s.size].set(s * s)


KERNELS = {
    "branch": branch,
    "atomic add": atomic_sum,
    "static loop": static_loop,
    "run-time loop": run_time_loop,
    "product loop": product_loop,
    "while": while_loop,
    "max loop": max_loop,
    "overwrite, then read": overwrite_then_read,
    "update in place": update_in_place,
    "nested loops, break": nested_with_break,
    "gather": gather,
    "scatter": scatter,
    "shared-memory sum": shared_reduction,
}
WORKAROUNDS = {
    "run-time loop": ("masked", run_time_sum_masked),
    "product loop": ("masked, bounded", product_scanned),
    "while": ("masked, bounded", while_scanned),
    "max loop": ("masked", max_masked),
    "nested loops, break": ("masked, bounded", nested_masked),
}


def gradients(name: str, arguments: dict[str, np.ndarray], workaround: bool = False) -> dict[str, np.ndarray]:
    function = WORKAROUNDS[name][1] if workaround else KERNELS[name]

    def objective(out, x, c):
        return jnp.vdot(arguments["w"], function(out, x, c, arguments["k"]))

    found = jax.jit(jax.grad(objective, (0, 1, 2)))(*(arguments[key] for key in ("out", "x", "c")))
    return dict(zip(("out", "x", "c"), map(np.asarray, found), strict=True))
