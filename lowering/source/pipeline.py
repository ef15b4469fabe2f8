"""The passes from the kern stage to structured code that is printed, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.gpu.pipeline import CLEAN, work_item_pipeline
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.lowering.llvm.tapes import LowerTapes
from pykern.lowering.source.language import Language
from pykern.lowering.source.options import SourceOptions
from pykern.lowering.source.whole_launch import WholeLaunch
from pykern.lowering.source.words import TypeWords
from pykern.lowering.spirv.pipeline import arithmetic_pipeline
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from pykern.passes.framework import Pass, Pipeline, Upstream
from pykern.passes.kernel.delinearise import Delinearise
from pykern.passes.kernel.expand_ndrange import ExpandNdrange
from pykern.passes.kernel.promote_cells import PromoteCells
from pykern.passes.kernel.promote_private import PromotePrivate
from pykern.passes.kernel.tighten_bounds import TightenBounds


def source_pipeline(options: SourceOptions, language: Language) -> Pipeline:
    """With `options.words` a kernel for drivers of pykern's own, else one that a person reads and launches."""
    small = options.small or not options.words
    functions: tuple[Pass, ...] = (ExpandLibrary(), ExpandIntegerPower())
    if options.words or not language.accurate:
        functions += (ExpandMath(library=False, native=language.native),)
    return (
        work_item_pipeline(PlaceWorkItems(small=small))
        + arithmetic_pipeline(
            FlattenMemory(offsets=options.words, whole_words=language.whole_words, small=small),
            functions,
            vulkan=not language.accurate,
        )
        + Pipeline(
            (
                Upstream("expand-strided-metadata,lower-affine"),
                TypeWords(plain=options.words),
                Upstream("canonicalize,cse"),
            )
        )
    )


def c_pipeline() -> Pipeline:
    """Kernels as loops over their work-items, with functions of the C library."""
    return (
        Pipeline(
            (
                LowerTapes(groups=True),  # there a tape is private memory of the work-item
                ExpandFp8(),  # everything below sees bytes
                ExpandNdrange(),
                WholeLaunch(),  # before bounds: all there is begins at 0
                CLEAN,
                Delinearise(),  # before divisions look different
                Upstream("canonicalize,cse"),
                TightenBounds(),  # guards become loop bounds
                PromoteCells(),  # a sum in an element is one in a variable
                PromotePrivate(),
                Upstream("canonicalize,cse"),
            )
        )
        + arithmetic_pipeline(
            FlattenMemory(float_atomics=True, atomic_width=8),
            (ExpandLibrary(), ExpandIntegerPower()),
            vulkan=False,
        )
        + Pipeline(
            (
                Upstream("expand-strided-metadata,lower-affine"),
                TypeWords(wide=True),
                CLEAN,
            )
        )
    )
