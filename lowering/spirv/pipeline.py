"""The passes from the kern stage to a spirv.module, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.gpu.limits import CheckLimits
from pykern.lowering.gpu.outline import OutlineKernels
from pykern.lowering.gpu.pipeline import CLEAN, RANGES, WIDER_FLOATS, work_item_pipeline
from pykern.lowering.gpu.reports import LowerDeviceReports
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.lowering.spirv.arithmetic import ExpandArithmetic
from pykern.lowering.spirv.cut_loops import ReportCutLoops
from pykern.lowering.spirv.entry_points import MarkEntryPoints
from pykern.lowering.spirv.finish import FinishSpirv
from pykern.lowering.spirv.flavour import Flavour
from pykern.lowering.spirv.loop_results import KeepLoopResults
from pykern.lowering.spirv.memory import LowerSpirvMemory
from pykern.lowering.spirv.nesting import CheckNesting
from pykern.lowering.spirv.opaque_ids import OpaqueIds
from pykern.lowering.spirv.opaque_zeros import OpaqueZeros
from pykern.lowering.spirv.small_types import KeepBf16AsBits
from pykern.lowering.spirv.uniform_loops import PlaceUniformLoops
from pykern.passes.arithmetic.expand_f16 import ExpandF16
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.keep_roundings import KeepRoundings
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from pykern.passes.framework import Pass, Pipeline, Upstream
from pykern.passes.kernel.plain_divisions import PlainDivisions
from pykern.passes.kernel.shift_divisions import ShiftDivisions

LAVAPIPE_LIMITS = CheckLimits(
    chip="lavapipe",
    max_shared=1 << 40,  # the driver tells that one, and the launch looks
    max_private=16 << 10,  # Mesa's driver compiles for minutes where there is more
)


def spirv_work_items(flavour: Flavour) -> Pipeline:
    """What `gpu.pipeline.work_item_pipeline` is for this environment, and what looks at its loops."""
    items = work_item_pipeline(
        PlaceWorkItems(whole=flavour.whole),
        before=() if flavour.vulkan else (PlaceUniformLoops(),),
        limits=(LAVAPIPE_LIMITS,) if flavour.lavapipe else (),
    )
    # the last that looks for scf.for
    return items + Pipeline((ReportCutLoops(),) if flavour.lavapipe else ())


def arithmetic_pipeline(
    memory: FlattenMemory,
    functions: tuple[Pass, ...],
    vulkan: bool,
    printed: bool = False,
    words: tuple[Pass, ...] = (),
) -> Pipeline:
    """Flat memory and exact arithmetic, for the spirv dialect and for printed languages.

    `functions`: what becomes of elementary functions. `vulkan`: whether the compilers behind are as free as Vulkan's.
    `printed`: whether they know all divisions. f16 is computed in f32, and kept as bits, where `memory` has it so.
    `words`: passes that look at numbers of the launch.
    """
    emulated = "bf16,f16" if memory.f16_as_bits else "bf16"
    return Pipeline(
        (
            LowerDeviceReports(),  # it adds the last argument
            memory,
            Upstream("canonicalize,cse"),
            *words,
            RANGES,
            PlainDivisions(),  # while divisions are whole
            *([ShiftDivisions()] if printed else []),  # a shift is read more easily than what rounds down
            WIDER_FLOATS,
            ExpandArithmetic(printed=printed),  # before bf16, which upstream knows by way of f32 only
            Upstream(
                f"func.func(arith-emulate-unsupported-floats{{source-types={emulated} target-type=f32}})"
            ),
            KeepRoundings(),
            Upstream("arith-expand{include-bf16=true}"),  # at once: canonicalization would join them again
            *functions,
            *([ExpandF16()] if memory.f16_as_bits else []),
            ExpandArithmetic(vulkan=vulkan, printed=printed),  # what the functions were made of
            KeepBf16AsBits(memory.f16_as_bits),  # what is left of bf16 only travels
        )
    )


def memory_pipeline(flavour: Flavour) -> Pipeline:
    """Flat memory and exact arithmetic, in the spirv dialect."""
    memory = FlattenMemory(
        space=f"#spirv.storage_class<{flavour.space}>",
        offsets=True,
        slots_in_memory=flavour.vulkan,
        small=flavour.small,
        alike=flavour.alike,
    )
    functions = (
        ExpandLibrary(fused=not flavour.vulkan),
        ExpandIntegerPower(),
        # accurate to 2 ulp everywhere; drivers' own functions are not
        ExpandMath(library=False, fused=not flavour.vulkan),
    )
    return arithmetic_pipeline(memory, functions, flavour.vulkan) + Pipeline(
        (
            CLEAN,
            *([OpaqueZeros()] if flavour.lavapipe else []),  # of what is left when constants are folded
            *([] if flavour.vulkan else [OpaqueIds()]),  # behind the last merge of equal values
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
