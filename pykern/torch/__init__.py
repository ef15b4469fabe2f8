"""`import pykern.torch as pkt`: kernels and array programs as operators of PyTorch.

Comes in: a kernel or a program. Goes out: a function of tensors that autograd, `torch.func`, `torch.compile` and
`torch.export` know. Read next: `op`, which users call; `registration`, where PyTorch is told; `kernel_operation`, what
an operator computes, and its derivatives.
"""

from __future__ import annotations

from pykern.torch.op import op
from pykern.torch.rules import like

__all__ = ["like", "op"]
