"""What the pipelines of all devices have in common, in order, each pass with the reason for its place.

Comes in: what a target does in its own way. Goes out: passes for its pipeline. Read next: `nvvm.pipeline`,
`rocdl.pipeline`, `spirv.pipeline`.
"""

from __future__ import annotations

from pykern.lowering.gpu.aggregate_atomics import AggregateAtomics
from pykern.lowering.gpu.collectives import LowerCollectives
from pykern.lowering.gpu.compare_offsets import CompareOffsets
from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.gpu.intrinsics import CallIntrinsics
from pykern.lowering.gpu.limits import CheckLimits
from pykern.lowering.gpu.merge_guards import MergeGuards
from pykern.lowering.gpu.outline import OutlineKernels
from pykern.lowering.gpu.pointers import LowerToPointers
from pykern.lowering.gpu.reports import LowerDeviceReports
from pykern.lowering.gpu.split_guards import SplitGuards
from pykern.lowering.gpu.subgroups import LowerSubgroups
from pykern.lowering.gpu.tapes import LowerDeviceTapes, PlaceTapes
from pykern.lowering.gpu.unroll_items import UnrollItems
from pykern.lowering.gpu.unroll_loops import UnrollLoops
from pykern.lowering.gpu.unroll_short_loops import UnrollShortLoops
from pykern.lowering.gpu.version_groups import VersionGroups
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.keep_roundings import KeepRoundings
from pykern.passes.framework import Pass, Pipeline, Upstream
from pykern.passes.kernel.narrow_indices import NarrowIndices
from pykern.passes.kernel.plain_divisions import PlainDivisions
from pykern.passes.kernel.shift_divisions import ShiftDivisions

RANGES = Upstream("int-range-optimizations,canonicalize,cse")
WIDER_FLOATS = Upstream("func.func(math-extend-to-supported-types{target-type=f32 extra-types=f64})")
CLEAN = Upstream("canonicalize,cse,loop-invariant-code-motion")


def work_item_pipeline(
    place: PlaceWorkItems,
    before: tuple[Pass, ...] = (),
    limits: tuple[Pass, ...] = (),
    subgroups: tuple[Pass, ...] = (),
) -> Pipeline:
    """Where work-items are, what they keep for a derivative, and what they do together. Reports are still ops.

    `before`: passes that want ids by name. `limits`: those that look at work-items before their guards are split.
    `subgroups`: how a target with subgroups lowers them.
    """
    return Pipeline(
        (
            ExpandFp8(),  # everything below sees bytes
            PlaceTapes(),  # its ids are work-items' places
            *before,
            place,
            *limits,
            SplitGuards(),  # while guards are still marked
            LowerDeviceTapes(),  # a push is one op until here
            *subgroups,
            LowerCollectives(),  # barriers, after everybody reaches them
            CLEAN,
        )
    )


def pointer_pipeline(
    place: PlaceWorkItems,
    subgroups: LowerSubgroups,
    limits: CheckLimits,
    functions: tuple[Pass, ...],
    pointers: LowerToPointers,
    alike: bool,
) -> Pipeline:
    """From work-items to a gpu.module over pointers, for targets of LLVM's.

    `functions`: what becomes of elementary functions. `pointers`: the target's address spaces and scopes. `alike`:
    whether dense arrays of a rank have the same lengths.
    """
    memory = (
        LowerDeviceReports(),  # it adds the last argument
        UnrollShortLoops(),  # bounds are numbers now, and indices not yet positions
        # LLVM makes loops where a chip has no atomic
        FlattenMemory(
            float_atomics=True,
            atomic_width=8,
            small=place.small,
            alike=alike,
            products_last=True,
            short_slots=True,
        ),
        limits,  # flat: shared memory is counted
        Upstream("lower-affine,canonicalize,cse"),  # kernels of array programs have positions as maps
        MergeGuards(),  # lengths are numbers now
        UnrollItems(),  # once there is one guard to ask for all of them
        RANGES,
        PlainDivisions(),  # while divisions are whole
        ShiftDivisions(),
        CompareOffsets(),
        CLEAN,  # what is left behind a base is one value, outside of loops
        NarrowIndices(versions=False, everywhere=True),  # while indices are arith
        WIDER_FLOATS,
        KeepRoundings(),
        *functions,  # after f16 and bf16 have become f32
        CLEAN,
        ExpandIntegerPower(),
        Upstream("arith-expand"),  # divisions that round up or down
        pointers,  # last look at kern ops
        UnrollLoops(),  # while loops are loops, and loads are as many as they will be
        CallIntrinsics(),  # before the conversion to nvvm, whose square root is inexact
        OutlineKernels(),
    )
    guarded = (
        # while the launch's guard is marked; ptxas joins integers itself
        AggregateAtomics(subgroups.subgroup_size, floats_only=not subgroups.rows),
        VersionGroups(),  # before guards are split, which is what groups without them are spared
    )
    return work_item_pipeline(place, limits=guarded, subgroups=(subgroups,)) + Pipeline(memory)
