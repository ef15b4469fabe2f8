"""The passes from the kern stage to a spirv.module, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.gpu.collectives import LowerCollectives
from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.gpu.limits import CheckLimits
from pykern.lowering.gpu.outline import OutlineKernels
from pykern.lowering.gpu.reports import LowerDeviceReports
from pykern.lowering.gpu.split_guards import SplitGuards
from pykern.lowering.gpu.tapes import LowerDeviceTapes, PlaceTapes
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.lowering.spirv.arithmetic import ExpandArithmetic
from pykern.lowering.spirv.cut_loops import ReportCutLoops
from pykern.lowering.spirv.entry_points import MarkEntryPoints
from pykern.lowering.spirv.finish import FinishSpirv
from pykern.lowering.spirv.flavour import Flavour
from pykern.lowering.spirv.loop_results import KeepLoopResults
from pykern.lowering.spirv.memory import LowerSpirvMemory
from pykern.lowering.spirv.nesting import CheckNesting
from pykern.lowering.spirv.opaque_zeros import OpaqueZeros
from pykern.lowering.spirv.small_types import KeepBf16AsBits
from pykern.lowering.spirv.uniform_loops import PlaceUniformLoops
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.keep_roundings import KeepRoundings
from pykern.passes.arithmetic.vector_math.expand import ExpandMath
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.framework import Pipeline, Upstream

LAVAPIPE_LIMITS = CheckLimits(
    chip="lavapipe",
    max_shared=1 << 40,  # the driver tells that one, and the launch looks
    max_private=16 << 10,  # Mesa's driver compiles for minutes where there is more
)


def work_item_pipeline(flavour: Flavour) -> Pipeline:
    """Where work-items are, what they keep for a derivative, and what they do together. Reports are still ops."""
    return Pipeline(
        (
            ExpandFp8(),  # everything below sees bytes
            PlaceTapes(),  # its ids are work-items' places
            *([] if flavour.vulkan else [PlaceUniformLoops()]),  # while ids are asked for by name
            PlaceWorkItems(),
            *([LAVAPIPE_LIMITS] if flavour.lavapipe else []),
            SplitGuards(),  # while guards are still marked
            LowerDeviceTapes(),  # a push is one op until here
            LowerCollectives(),  # after everybody reaches them
            Upstream("canonicalize,cse,loop-invariant-code-motion"),
            *([ReportCutLoops()] if flavour.lavapipe else []),  # the last that looks for scf.for
        )
    )


def memory_pipeline(flavour: Flavour) -> Pipeline:
    """Flat memory and exact arithmetic, in the spirv dialect."""
    return Pipeline(
        (
            LowerDeviceReports(),  # it adds the last argument
            FlattenMemory(
                space=f"#spirv.storage_class<{flavour.space}>",
                offsets=True,
                words_in_memory=flavour.vulkan,
                small=flavour.small,
            ),
            Upstream("canonicalize,cse"),
            Upstream("int-range-optimizations,canonicalize,cse"),
            Upstream("func.func(math-extend-to-supported-types{target-type=f32 extra-types=f64})"),
            ExpandArithmetic(),  # before bf16, which upstream knows by way of f32 only
            Upstream("func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32})"),
            KeepRoundings(),
            Upstream("arith-expand{include-bf16=true}"),  # at once: canonicalization would join them again
            ExpandLibrary(fused=not flavour.vulkan),
            ExpandIntegerPower(),
            ExpandMath(
                library=False, fused=not flavour.vulkan
            ),  # accurate to 2 ulp everywhere; drivers' own functions are not
            ExpandArithmetic(vulkan=flavour.vulkan),  # what the functions were made of
            KeepBf16AsBits(),  # what is left of bf16 only travels
            Upstream("canonicalize,cse,loop-invariant-code-motion"),
            *([OpaqueZeros()] if flavour.lavapipe else []),  # of what is left when constants are folded
            Upstream("expand-strided-metadata,lower-affine"),
            LowerSpirvMemory(),  # last look at kern ops; what follows may not merge loads
            *([KeepLoopResults()] if flavour.lavapipe else []),  # of values that are computed as they will be
            OutlineKernels(),
            MarkEntryPoints(),
            Upstream("scf-for-to-while"),  # a zero-trip scf.for reads an uninitialised variable otherwise
            Upstream("convert-math-to-spirv,convert-gpu-to-spirv{use-64bit-index=true}"),
            FinishSpirv(flavour.vulkan),
            *([CheckNesting()] if flavour.lavapipe else []),
        )
    )
