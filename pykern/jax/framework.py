"""JAX itself, untyped: without it, type checkers would take `import jax` in this folder for the folder."""

from __future__ import annotations

import importlib
from typing import Any

try:
    jax: Any = importlib.import_module("jax")
except ImportError as error:
    raise ImportError("pykern.jax needs JAX: pip install jax") from error
jnp: Any = importlib.import_module("jax.numpy")
hijax: Any = importlib.import_module("jax.experimental.hijax")
partitioning: Any = importlib.import_module("jax.experimental.custom_partitioning")

Array = Any
"""An array or a tracer of JAX, in annotations."""
