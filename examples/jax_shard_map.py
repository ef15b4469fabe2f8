"""One kernel on eight devices: the heat equation under `jax.shard_map`, with a gradient through all of its steps.

Each device has a slab of the plate. Before a step it gets a row of each neighbour (`pkj.halo`), and the kernel computes
its slab; on the CPU that is pykern's machine code, called by XLA. The result equals that of one device bit by bit.

    python examples/jax_shard_map.py
"""

from __future__ import annotations

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import pykern as pk
import pykern.jax as pkj

DEVICES, ROWS, COLUMNS, STEPS = 8, 64, 48, 20


@pk.kernel
def heat(after, before, c):
    """A step in the inside of an array; its rim stays."""
    i, j = pk.index()
    n, m = before.shape
    if 0 < i < n - 1 and 0 < j < m - 1:
        around = before[i + 1, j] + before[i - 1, j] + before[i, j + 1] + before[i, j - 1]
        after[i, j] = before[i, j] + c * (around - 4 * before[i, j])


step = pkj.primitive(heat, inout={"after": 0})


def on_one(plate, c):
    """All steps on one device."""
    for _ in range(STEPS):
        plate = step(plate, plate, c)
    return plate


def on_slab(slab, c):
    """All steps on the part of one device of several."""
    for _ in range(STEPS):
        whole = pkj.halo(slab, P("rows"), heat)
        slab = pkj.owned(step(whole, whole, c), P("rows"), heat, edges=slab)
    return slab


def main() -> None:
    """Both ways, and their gradients."""
    mesh = jax.make_mesh((DEVICES,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    plate = jnp.asarray(np.random.default_rng(1).random((ROWS, COLUMNS), np.float32))
    many = jax.jit(jax.shard_map(on_slab, mesh=mesh, in_specs=(P("rows"), P()), out_specs=P("rows")))
    shared = jax.device_put(plate, NamedSharding(mesh, P("rows")))
    one = jax.jit(on_one)
    same = np.array_equal(many(shared, 0.1), one(plate, 0.1))
    print(f"{STEPS} steps on {DEVICES} devices are bit-equal to those on one: {same}")
    of_many = jax.jit(jax.grad(lambda p, c: (many(p, c) ** 2).sum()))(shared, 0.1)
    of_one = jax.jit(jax.grad(lambda p, c: (one(p, c) ** 2).sum()))(plate, 0.1)
    print(f"the gradient by the first plate differs by {float(abs(of_many - of_one).max()):.0e} at most")


if __name__ == "__main__":
    main()
