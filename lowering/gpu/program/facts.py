"""What a program's kernels may rely on, beyond what is asked for any of them.

Comes in: a program on buffers that launches kernels, and its target, whose options tell what is true of the
program's arguments and results. Goes out: for each kernel the target with what is true of all of its launches.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from mlir import ir

from pykern.data.abi import SMALL_COUNT
from pykern.data.target import Target
from pykern.passes.analysis.alignment import OWN_MEMORY, is_aligned
from pykern.passes.kernels import named


def targets(program: ir.Operation, target: Target) -> dict[str, Target]:
    """The target of each kernel, by symbol."""
    small = target.small and _is_small(program)
    launches = [launch.opview for launch in named(program, "kern.launch")]
    aligned = dict.fromkeys((launch.kernel for launch in launches), target.aligned)
    for launch in launches:
        arrays = (v for v in launch.call.operands if isinstance(v.type, ir.MemRefType))
        aligned[launch.kernel] &= all(map(is_aligned, arrays))
    return {
        kernel: replace(target, aligned=told, small=small, alike=False, whole=False, many=False)
        for kernel, told in aligned.items()
    }


def _is_small(program: ir.Operation) -> bool:
    """Whether positions in all buffers, and numbers of all work-items, fit in 32 bits."""
    counts = [n for launch in named(program, "kern.launch") for n in launch.opview.ndrange]
    values = [*program.regions[0].blocks[0].arguments, *_made(program)]
    kinds = [ir.MemRefType(v.type) for v in values if isinstance(v.type, ir.MemRefType)]
    lengths = all(kind.has_static_shape and math.prod(kind.shape) <= SMALL_COUNT for kind in kinds)
    return lengths and all(n <= SMALL_COUNT for n in counts)


def _made(program: ir.Operation) -> Iterable[ir.Value]:
    return (op.results[0] for op in named(program, *OWN_MEMORY))
