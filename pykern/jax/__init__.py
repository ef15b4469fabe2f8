"""`import pykern.jax as pkj`: kernels and array programs as functions of JAX's arrays.

Comes in: a kernel or a program. Goes out: a function that `jax.jit`, `grad`, `jvp`, `vmap` and `shard_map` know. Read
next: `function`, what users call; `primitive`, JAX's rules; `code`, the call without Python; `halo`, many devices.
"""

from __future__ import annotations

from pykern.jax.check import check
from pykern.jax.export import export
from pykern.jax.function import primitive
from pykern.jax.halo import halo, owned
from pykern.jax.results import like

__all__ = ["check", "export", "halo", "like", "owned", "primitive"]
