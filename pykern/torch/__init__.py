"""`import pykern.torch as pkt`: kernels and array programs as operators of PyTorch.

Comes in: a kernel or a program. Goes out: a function of tensors that autograd, `torch.func`, `torch.compile` and
`torch.export` know. Read next: `op`, which users call; `registration`, where PyTorch is told; `kernel_operation`, what
an operator computes, and its derivatives.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pykern.torch.check import check
from pykern.torch.op import op
from pykern.torch.replacing import Replaced, replace
from pykern.torch.rules import like

if TYPE_CHECKING:
    from pykern.torch.backend.summary import Summary
    from pykern.torch.fused import fuse, gelu, gelu_tanh, layer_norm, rms_norm, silu, softmax, swiglu

__all__ = [
    "Replaced", "check", "fuse", "gelu", "gelu_tanh", "layer_norm", "like", "op", "replace", "rms_norm", "silu",
    "softmax", "summary", "swiglu",
]  # fmt: skip


def summary(compiled: Callable[..., Any]) -> Summary:
    """What became of a model or function that ``torch.compile(..., backend="pykern")`` gave.

    Graphs are compiled when it is called, and those of gradients when these are first computed: ask afterwards. The
    summary holds the graphs with their programs, and what stays in PyTorch and why; it prints as a table.
    """
    from pykern.torch.backend.summary import summary_of  # here: it loads PyTorch's compiler

    return summary_of(compiled)


def __getattr__(name: str) -> Any:
    """The library of layers, at its first use: its programs start the compiler."""
    if name not in __all__:
        raise AttributeError(f"module 'pykern.torch' has no attribute {name!r}")
    return getattr(importlib.import_module("pykern.torch.fused"), name)
