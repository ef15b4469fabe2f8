"""PyTorch itself, untyped: without it, type checkers would take `import torch` in this folder for the folder."""

from __future__ import annotations

import importlib
from typing import Any

try:
    torch: Any = importlib.import_module("torch")
except ImportError as error:
    raise ImportError("pykern.torch needs PyTorch: pip install torch") from error
forward_ad: Any = importlib.import_module("torch.autograd.forward_ad")

Tensor = Any
"""A tensor, in annotations."""
