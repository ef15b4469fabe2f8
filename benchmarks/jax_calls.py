"""What a call from JAX costs: of a kernel in an executable, by `jax.jit`, and alone, beside operations of JAX.

    python benchmarks/jax_calls.py

A call in an executable is the difference of a chain of many and a chain of one. The operations of JAX are such that XLA
cannot make one loop of a chain: a sort and a product of matrices; additions would be one. Times are minima.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import pykern as pk
import pykern.jax as pkj

LENGTH, CHAIN, ROUNDS, CALLS = 64, 201, 30, 50


@pk.kernel
def axpy(o, x, y, a):
    """``o = a x + y``."""
    i = pk.index()
    o[i] = a * x[i] + y[i]


def microseconds(function: Callable[[Any], Any], x: Any) -> float:
    """Of a call that is waited for."""
    function(x).block_until_ready()
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(CALLS):
            function(x).block_until_ready()
        best = min(best, (time.perf_counter() - started) / CALLS)
    return best * 1e6


def chained(function: Callable[[Any], Any], count: int) -> Callable[[Any], Any]:
    """An executable with so many calls, one after the other."""

    def chain(x: Any) -> Any:
        for _ in range(count):
            x = function(x)
        return x

    return jax.jit(chain)


def inside(function: Callable[[Any], Any], x: Any) -> float:
    """Microseconds of one of many calls in an executable."""
    many, one = (microseconds(chained(function, n), x) for n in (CHAIN, 1))
    return (many - one) / (CHAIN - 1)


def main() -> None:
    """Print the table."""
    saxpy = pkj.primitive(axpy, out={"o": pkj.like("x")}, ndrange=lambda x, y, a: x.shape)
    x, y = jnp.arange(LENGTH, dtype=jnp.float32), jnp.ones(LENGTH)
    square = jnp.eye(8)
    rows = {
        "axpy, in an executable": inside(lambda x: saxpy(x, y, 0.5), x),
        "jnp.sort, in an executable": inside(jnp.sort, x),
        "8x8 matrix product, in an executable": inside(lambda m: m @ square, square),
        "axpy, jitted": microseconds(jax.jit(lambda x: saxpy(x, y, 0.5)), x),
        "a * x + y, jitted": microseconds(jax.jit(lambda x: 0.5 * x + y), x),
        "axpy, alone": microseconds(lambda x: saxpy(x, y, 0.5), x),
        "a * x + y, alone": microseconds(lambda x: 0.5 * x + y, x),
    }
    for name, figure in rows.items():
        print(f"{name:40} {figure:8.2f} us")


if __name__ == "__main__":
    main()
