"""JAX itself, untyped: without it, type checkers would take `import jax` in this folder for the folder."""

from __future__ import annotations

import importlib
from typing import Any

try:
    jax: Any = importlib.import_module("jax")
except ImportError as error:
    raise ImportError("pykern.jax needs JAX: pip install jax") from error
jnp: Any = importlib.import_module("jax.numpy")
core: Any = importlib.import_module("jax.extend.core")
partitioning: Any = importlib.import_module("jax.experimental.custom_partitioning")
ad: Any = importlib.import_module("jax.interpreters.ad")
own_ad: Any = importlib.import_module("jax._src.interpreters.ad")
"""What of it has no public name."""
batching: Any = importlib.import_module("jax.interpreters.batching")
mlir: Any = importlib.import_module("jax.interpreters.mlir")
needs_devices: set[Any] = getattr(
    importlib.import_module("jax._src.dispatch"), "prim_requires_devices_during_lowering", set()
)
"""Primitives that are told the devices when they are lowered, as `custom_partitioning` is, which ours hold."""

Array = Any
"""An array or a tracer of JAX, in annotations."""
