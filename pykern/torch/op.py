"""`pkt.op`: a kernel or an array program as a function of tensors.

Comes in: a kernel or a program. Goes out: a `KernelOp` or a `ProgramOp`, which users call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pykern.api.jit import ProgramBase
from pykern.api.kernel import KernelBase
from pykern.errors import KernelTypeError
from pykern.torch.kernel_op import KernelOp
from pykern.torch.program_op import ProgramOp
from pykern.torch.rules import Like, MakeResult


def op(
    kernel: Any = None,
    *,
    out: dict[str, Like | MakeResult] | None = None,
    ndrange: Callable[..., Any] | int | tuple | None = None,
    workgroup: int | tuple[int, ...] | None = None,
) -> Any:
    """Make an operator of PyTorch of a kernel or of an array program, whose arrays and numbers become tensors.

    With `out`, the parameters that it names are results: ``out={"o": pkt.like("x")}``; what is left are the arguments,
    and `ndrange` is a function of them, ``lambda x, y, a: x.shape``. Without, the operator takes all parameters and the
    `ndrange` of the call, and writes its arguments. Raises `KernelTypeError` for a kernel whose results are others.
    """
    if kernel is None:
        return functools.partial(op, out=out, ndrange=ndrange, workgroup=workgroup)
    if isinstance(kernel, ProgramBase) and out is None and ndrange is None and workgroup is None:
        return ProgramOp(kernel)
    if not isinstance(kernel, KernelBase):
        raise KernelTypeError(
            f"pkt.op takes a kernel, or a program alone, not {type(kernel).__name__}",
            hint="decorate the function: @pk.kernel or @pk.jit",
        )
    return KernelOp(kernel, out, ndrange, workgroup)
