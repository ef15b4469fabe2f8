"""The passes from the kern stage to the llvm and nvvm dialects, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.gpu.limits import CheckLimits
from pykern.lowering.gpu.pipeline import pointer_pipeline
from pykern.lowering.gpu.pointers import BUFFER_ALIGNMENT, LowerToPointers
from pykern.lowering.gpu.subgroups import LowerSubgroups
from pykern.lowering.gpu.unroll_loops import BoundCounters
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.lowering.llvm.loops import AnnotateBranches
from pykern.lowering.nvvm.chips import MAX_DEPTH, MAX_GROUP, STATIC_SHARED, SUBGROUP, Chip
from pykern.lowering.nvvm.instructions import AddItems, FlushSubnormals
from pykern.lowering.nvvm.library import CallLibdevice
from pykern.lowering.nvvm.matrices import LowerMatrices
from pykern.lowering.nvvm.options import NvvmOptions
from pykern.lowering.nvvm.tensor_maps import PassTensorMaps
from pykern.passes.arithmetic.call_extremes import CallExtremes
from pykern.passes.framework import Pipeline, Upstream, is_careful


def nvvm_pipeline(chip: Chip, options: NvvmOptions) -> Pipeline:
    """From work-items to a gpu.module in the llvm and nvvm dialects."""
    pointers = pointer_pipeline(
        PlaceWorkItems(
            subgroup_size=SUBGROUP,
            small=options.small,
            whole_x=options.small,
            whole=options.whole,
            many=options.many,
        ),
        LowerSubgroups(subgroup_size=SUBGROUP, redux=chip.redux),
        CheckLimits(chip.name, MAX_GROUP, MAX_DEPTH, STATIC_SHARED),
        (
            CallLibdevice(),  # CUDA's own functions: at most 4 ulp in f32, 2 in f64
            LowerMatrices(),
            *((CallExtremes(only_f32=True),) if chip.extremes else ()),
        ),
        LowerToPointers(aligned=BUFFER_ALIGNMENT if options.aligned else 0),
        alike=options.alike,
    )
    level = 1 if is_careful() else 3
    return pointers + Pipeline(
        (
            Upstream(f"nvvm-attach-target{{chip={chip.name} features=+ptx{chip.ptx} O={level}}}"),
            Upstream("gpu.module(convert-scf-to-cf)"),
            BoundCounters(),  # loops are branches, and sums still sums of arith
            Upstream(
                "gpu.module("
                "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true index-bitwidth=64},canonicalize,cse)"
            ),
            PassTensorMaps(),  # functions of LLVM's, not yet its instructions
            Upstream("convert-nvvm-to-llvm,reconcile-unrealized-casts"),
            FlushSubnormals(),
            AddItems(),  # while sums are as they were written
            AnnotateBranches(),  # where the translation looks for annotations
        )
    )
