"""JAX on the CPU: compiled functions; into a given array is into a donated one, whose memory the result takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from workloads import EPS, A, C, Case, Contender


def _both(case: Case, function: Callable, like: np.ndarray, inner: Any = ...) -> Iterator[Contender]:
    inputs = [jnp.asarray(array) for array in case.arrays.values()]
    fresh = jax.jit(function)
    given = jax.jit(lambda out, *inputs: function(*inputs), donate_argnums=0, keep_unused=True)
    kept = [jnp.zeros(like[inner].shape, like.dtype)]

    def into() -> jax.Array:
        kept[0] = given(kept[0], *inputs)
        return kept[0]

    yield Contender("jax", into)
    yield Contender("jax", lambda: fresh(*inputs), allocates=True)


def saxpy(case: Case) -> Iterator[Contender]:
    yield from _both(case, saxpy_of, case["x"])


def heat(case: Case) -> Iterator[Contender]:
    yield from _both(case, heat_of, case["old"], (slice(1, -1), slice(1, -1)))


def softmax(case: Case) -> Iterator[Contender]:
    yield from _both(case, softmax_of, case["x"])


def layernorm(case: Case) -> Iterator[Contender]:
    yield from _both(case, layernorm_of, case["x"])


def residual_layernorm(case: Case) -> Iterator[Contender]:
    yield from _both(case, residual_layernorm_of, case["x"])


def swiglu(case: Case) -> Iterator[Contender]:
    yield from _both(case, swiglu_of, case["gate"])


def matmul(case: Case) -> Iterator[Contender]:
    yield from _both(case, jnp.matmul, case["a"])


def attention(case: Case) -> Iterator[Contender]:
    yield from _both(case, attention_of, case["q"])


# -- the functions; IREE compiles them too -------------------------------------------------------


def saxpy_of(x, y):
    return A * x + y


def heat_of(old):
    inner = old[1:-1, 1:-1]
    return inner + C * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2] - 4 * inner)


def softmax_of(x):
    return jax.nn.softmax(x, axis=-1)


def layernorm_of(x, weight, bias):
    centred = x - x.mean(1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(1, keepdims=True) + EPS) * weight + bias


def residual_layernorm_of(x, residual, weight, bias):
    return layernorm_of(x + residual, weight, bias)


def swiglu_of(gate, up):
    return jax.nn.silu(gate) * up


def attention_of(q, k, v):
    scores = jnp.einsum("hqd,hkd->hqk", q, k) * q.shape[-1] ** -0.5
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, axis=-1), v)
