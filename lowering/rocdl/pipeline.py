"""The passes from the kern stage to the llvm and rocdl dialects, in order, each with the reason for its place."""

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
from pykern.lowering.rocdl.attributes import DescribeKernels
from pykern.lowering.rocdl.chips import MAX_GROUP, Chip
from pykern.lowering.rocdl.options import RocdlOptions
from pykern.lowering.rocdl.remainder import ExpandRemainder
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.keep_roundings import KeepRoundings
from pykern.passes.arithmetic.vector_math.expand import ExpandMath
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.framework import Pipeline, Upstream
from pykern.passes.kernel.narrow_indices import NarrowIndices

PRIVATE = 5
"""Address space of the memory of a work-item."""


def rocdl_pipeline(chip: Chip, options: RocdlOptions) -> Pipeline:
    """From work-items to a gpu.module in the llvm and rocdl dialects."""
    return Pipeline(
        (
            ExpandFp8(),  # everything below sees bytes
            PlaceTapes(),  # its ids are work-items' places
            PlaceWorkItems(subgroup_size=chip.subgroup_size, small=options.small),
            SplitGuards(),  # while guards are still marked
            LowerDeviceTapes(),  # a push is one op until here
            LowerSubgroups(subgroup_size=chip.subgroup_size),  # after everybody reaches them
            LowerCollectives(),  # barriers
            Upstream("canonicalize,cse,loop-invariant-code-motion"),
            LowerDeviceReports(),  # it adds the last argument
            FlattenMemory(  # LLVM makes loops where a chip has no atomic
                float_atomics=True, atomic_width=8, small=options.small
            ),
            CheckLimits(chip.name, MAX_GROUP, MAX_GROUP, chip.shared),  # flat: shared memory is counted
            Upstream("lower-affine,canonicalize,cse"),  # kernels of array programs have positions as maps
            Upstream("int-range-optimizations,canonicalize,cse"),
            NarrowIndices(versions=False, everywhere=True),  # while indices are arith
            Upstream("func.func(math-extend-to-supported-types{target-type=f32 extra-types=f64})"),
            KeepRoundings(),
            ExpandLibrary(),  # in terms of math ops: no device library is needed
            ExpandMath(library=False),  # after f16 and bf16 have become f32
            ExpandRemainder(),  # which the functions are made of too
            Upstream("canonicalize,cse,loop-invariant-code-motion"),
            ExpandIntegerPower(),
            Upstream("arith-expand"),  # divisions that round up or down
            LowerToPointers(PRIVATE, "agent", "workgroup", BUFFER_ALIGNMENT if options.aligned else 0),
            CallIntrinsics(),
            OutlineKernels(),
            Upstream(
                f"gpu.module(convert-scf-to-cf,convert-gpu-to-rocdl{{chipset={chip.name} runtime=HIP "
                "use-bare-ptr-memref-call-conv=true index-bitwidth=64},canonicalize,cse)"
            ),
            Upstream("reconcile-unrealized-casts"),
            DescribeKernels(),  # what the backend is to know of kernels and atomics
        )
    )
