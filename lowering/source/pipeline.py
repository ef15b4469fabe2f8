"""The passes from the kern stage to structured code that is printed, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.gpu.pipeline import RANGES, WIDER_FLOATS, work_item_pipeline
from pykern.lowering.gpu.reports import LowerDeviceReports
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.lowering.source.language import Language
from pykern.lowering.source.options import SourceOptions
from pykern.lowering.source.words import TypeWords
from pykern.lowering.spirv.arithmetic import ExpandArithmetic
from pykern.lowering.spirv.small_types import KeepBf16AsBits
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.keep_roundings import KeepRoundings
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from pykern.passes.framework import Pipeline, Upstream


def source_pipeline(options: SourceOptions, language: Language) -> Pipeline:
    """With `options.words` a kernel for drivers of pykern's own, else one that a person reads and launches."""
    small = options.small or not options.words
    return work_item_pipeline(PlaceWorkItems(small=small)) + Pipeline(
        (
            LowerDeviceReports(),  # it adds the last argument
            FlattenMemory(offsets=options.words, whole_words=language.whole_words, small=small),
            Upstream("canonicalize,cse"),
            RANGES,
            WIDER_FLOATS,
            ExpandArithmetic(),  # before bf16, which upstream knows by way of f32 only
            Upstream("func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32})"),
            KeepRoundings(),
            Upstream("arith-expand{include-bf16=true}"),
            ExpandLibrary(),
            ExpandIntegerPower(),
            *(
                [ExpandMath(library=False, native=language.native)]
                if options.words or not language.accurate
                else []
            ),
            ExpandArithmetic(vulkan=not language.accurate),  # what the functions were made of
            KeepBf16AsBits(),
            Upstream("expand-strided-metadata,lower-affine"),
            TypeWords(plain=options.words),
            Upstream("canonicalize,cse"),
        )
    )
