"""The passes from the kern stage to the llvm and nvvm dialects, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.gpu.collectives import LowerCollectives
from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.gpu.intrinsics import CallIntrinsics
from pykern.lowering.gpu.limits import CheckLimits
from pykern.lowering.gpu.outline import OutlineKernels
from pykern.lowering.gpu.pointers import BUFFER_ALIGNMENT, LowerToPointers
from pykern.lowering.gpu.reports import LowerDeviceReports
from pykern.lowering.gpu.split_guards import SplitGuards
from pykern.lowering.gpu.subgroups import LowerSubgroups
from pykern.lowering.gpu.tapes import LowerDeviceTapes, PlaceTapes
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.lowering.nvvm.chips import MAX_DEPTH, MAX_GROUP, STATIC_SHARED, SUBGROUP, Chip
from pykern.lowering.nvvm.library import CallLibdevice
from pykern.lowering.nvvm.options import NvvmOptions
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.keep_roundings import KeepRoundings
from pykern.passes.framework import Pipeline, Upstream, is_careful
from pykern.passes.kernel.narrow_indices import NarrowIndices


def nvvm_pipeline(chip: Chip, options: NvvmOptions) -> Pipeline:
    """From work-items to a gpu.module in the llvm and nvvm dialects."""
    level = 1 if is_careful() else 3
    return Pipeline(
        (
            ExpandFp8(),  # everything below sees bytes
            PlaceTapes(),  # its ids are work-items' places
            PlaceWorkItems(subgroup_size=SUBGROUP, small=options.small),
            SplitGuards(),  # while guards are still marked
            LowerDeviceTapes(),  # a push is one op until here
            LowerSubgroups(subgroup_size=SUBGROUP, redux=chip.redux),  # after everybody reaches them
            LowerCollectives(),  # barriers
            Upstream("canonicalize,cse,loop-invariant-code-motion"),
            LowerDeviceReports(),  # it adds the last argument
            FlattenMemory(  # LLVM makes loops where a chip has no atomic
                float_atomics=True, atomic_width=8, small=options.small
            ),
            CheckLimits(chip.name, MAX_GROUP, MAX_DEPTH, STATIC_SHARED),  # flat: shared memory is counted
            Upstream("lower-affine,canonicalize,cse"),  # kernels of array programs have positions as maps
            Upstream("int-range-optimizations,canonicalize,cse"),
            NarrowIndices(versions=False, everywhere=True),  # while indices are arith
            Upstream("func.func(math-extend-to-supported-types{target-type=f32 extra-types=f64})"),
            KeepRoundings(),
            CallLibdevice(),  # after f16 and bf16 have become f32
            Upstream("canonicalize,cse,loop-invariant-code-motion"),
            ExpandIntegerPower(),
            Upstream("arith-expand"),  # divisions that round up or down
            LowerToPointers(aligned=BUFFER_ALIGNMENT if options.aligned else 0),  # last look at kern ops
            CallIntrinsics(),  # before the conversion to nvvm, whose square root is inexact
            OutlineKernels(),
            Upstream(f"nvvm-attach-target{{chip={chip.name} features=+ptx{chip.ptx} O={level}}}"),
            Upstream(
                # elementary functions are libdevice's: CUDA's own, at most 4 ulp in f32, 2 in f64
                "gpu.module(convert-scf-to-cf,"
                "convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true index-bitwidth=64},canonicalize,cse)"
            ),
            Upstream("convert-nvvm-to-llvm,reconcile-unrealized-casts"),
        )
    )
