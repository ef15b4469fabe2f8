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
ad: Any = importlib.import_module("jax.interpreters.ad")
batching: Any = importlib.import_module("jax.interpreters.batching")
mlir: Any = importlib.import_module("jax.interpreters.mlir")

Array = Any
"""An array or a tracer of JAX, in annotations."""
