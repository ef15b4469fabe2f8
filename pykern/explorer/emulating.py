"""Launching a kernel on an emulated GPU to see how its accesses fit the memory there.

Comes in: an exploration for a GPU, and the arguments of the launch. Goes out: the same with a remark at each line that
accesses memory. Read next: `pykern.runtime.memory_accesses`, what is counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pykern.api.jit import Program
from pykern.api.kernel import KernelBase
from pykern.arrays.creation import array
from pykern.data.artifact import Remark
from pykern.data.target import parse
from pykern.errors import LaunchError
from pykern.explorer.data import Exploration, in_order
from pykern.launching.arguments import is_array
from pykern.launching.specs import Spec
from pykern.runtime.memory_accesses import memory_accesses

_KINDS = {"nvvm": "cuda:emulated", "rocdl": "rocm:emulated"}


def is_emulated(data: Exploration) -> bool:
    """Whether the code is for GPUs that there is an emulator of."""
    return parse(data.target).family in _KINDS


def with_accesses(
    data: Exploration, kernel: Any, args: Sequence[Any], keywords: Mapping[str, Any]
) -> Exploration:
    """Launch it on copies of its arrays. Raises `LaunchError` for specs, and what launches raise."""
    if not isinstance(kernel, KernelBase | Program) or any(isinstance(a, Spec) for a in args):
        raise LaunchError("accesses=True launches kernels on arrays", hint="pass arrays instead of specs")
    if data.error or not is_emulated(data):
        return data
    target = parse(data.target)
    kind = _KINDS[target.family]
    chip = re.sub(r"^sm_(\d+)a?$", r"\1", target.chip)
    device = f"{kind}:{chip}" if chip else kind
    there = [
        array(each, device=device) if is_array(f"argument {number}", each) is not None else each
        for number, each in enumerate(args)
    ]
    options = {k: v for k, v in keywords.items() if k not in ("target", "passes", "debug", "device")}
    with memory_accesses() as found:
        if isinstance(kernel, KernelBase):
            kernel(*there, **options, device=device).wait()
        else:
            kernel(*there, **options)
    said = [Remark(f"{row} ({device})", row.file, row.line) for row in found.lines]
    return replace(data, remarks=in_order((*data.remarks, *said)))
