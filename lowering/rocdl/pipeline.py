"""The passes from the kern stage to the llvm and rocdl dialects, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.gpu.limits import CheckLimits
from pykern.lowering.gpu.pipeline import pointer_pipeline
from pykern.lowering.gpu.pointers import BUFFER_ALIGNMENT, LowerToPointers
from pykern.lowering.gpu.subgroups import LowerSubgroups
from pykern.lowering.gpu.unroll_loops import BoundCounters
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.lowering.llvm.loops import AnnotateBranches
from pykern.lowering.rocdl.attributes import DescribeKernels
from pykern.lowering.rocdl.barriers import WaitAtBarriers
from pykern.lowering.rocdl.chips import MAX_GROUP, Chip
from pykern.lowering.rocdl.matrices import LowerWaveMatrices
from pykern.lowering.rocdl.options import RocdlOptions
from pykern.lowering.rocdl.remainder import ExpandRemainder
from pykern.passes.arithmetic.call_extremes import CallExtremes
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from pykern.passes.framework import Pipeline, Upstream

PRIVATE = 5
"""Address space of the memory of a work-item."""


def rocdl_pipeline(chip: Chip, options: RocdlOptions) -> Pipeline:
    """From work-items to a gpu.module in the llvm and rocdl dialects."""
    generation = "cdna" if chip.is_cdna else chip.name[: len("gfx11")]
    pointers = pointer_pipeline(
        PlaceWorkItems(
            subgroup_size=chip.subgroup_size,
            small=options.small,
            whole_x=options.small,
            whole=options.whole,
            many=options.many,
        ),
        LowerSubgroups(subgroup_size=chip.subgroup_size, rows="cdna" if chip.is_cdna else "rdna"),
        CheckLimits(chip.name, MAX_GROUP, MAX_GROUP, chip.shared),
        (
            LowerWaveMatrices(),  # powers that may be flushed are an instruction
            ExpandLibrary(),  # in terms of math ops: no device library is needed
            ExpandMath(library=False),
            ExpandRemainder(),  # which the functions are made of too
            CallExtremes(only_f32=True),  # a maximum, and one test for NaN; on RDNA 4 one instruction
        ),
        LowerToPointers(PRIVATE, "agent", "workgroup", BUFFER_ALIGNMENT if options.aligned else 0),
        alike=options.alike,
    )
    return pointers + Pipeline(
        (
            Upstream("gpu.module(convert-scf-to-cf)"),
            BoundCounters(),  # loops are branches, and sums still sums of arith
            Upstream(
                f"gpu.module(convert-gpu-to-rocdl{{chipset={chip.name} runtime=HIP "
                "use-bare-ptr-memref-call-conv=true index-bitwidth=64},canonicalize,cse)"
            ),
            Upstream("reconcile-unrealized-casts"),
            AnnotateBranches(),  # where the translation looks for annotations
            WaitAtBarriers(generation, not (chip.is_cdna or options.cumode)),
            DescribeKernels(),  # what the backend is to know of kernels and atomics
        )
    )
