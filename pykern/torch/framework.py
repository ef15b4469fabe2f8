"""PyTorch itself, untyped: without it, type checkers would take `import torch` in this folder for the folder."""

from __future__ import annotations

import importlib
from typing import Any

try:
    torch: Any = importlib.import_module("torch")
except ImportError as error:
    raise ImportError("pykern.torch needs PyTorch: pip install torch") from error
forward_ad: Any = importlib.import_module("torch.autograd.forward_ad")
pyfunctorch: Any = importlib.import_module("torch._functorch.pyfunctorch")
unwrap_dead_wrappers: Any = importlib.import_module("torch._functorch.utils").unwrap_dead_wrappers
empty_strided: Any = getattr(importlib.import_module("torch._C._dynamo.guards"), "_empty_strided_cpu", None)
"""Memory on the CPU of lengths, strides and dtype, as Inductor gets it: no mode and no dispatcher is asked. None where
PyTorch has no such function."""

Tensor = Any
"""A tensor, in annotations."""
