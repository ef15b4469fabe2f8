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

Tensor = Any
"""A tensor, in annotations."""
