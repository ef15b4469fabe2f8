"""The passes from the kern stage to structured code that is printed, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.gpu.pipeline import CLEAN, work_item_pipeline
from pykern.lowering.gpu.subgroups import LowerSubgroups
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.lowering.source.interleave_items import InterleaveItems
from pykern.lowering.source.language import Language
from pykern.lowering.source.narrow_choices import NarrowChoices
from pykern.lowering.source.narrow_words import NarrowWords
from pykern.lowering.source.options import SourceOptions
from pykern.lowering.source.split_angles import SplitAngles
from pykern.lowering.source.tile_items import TileItems
from pykern.lowering.source.whole_launch import WholeLaunch
from pykern.lowering.source.word_tapes import WordTapes
from pykern.lowering.source.words import TypeWords
from pykern.lowering.spirv.cut_loops import ReportCutLoops
from pykern.lowering.spirv.loop_results import KeepLoopResults
from pykern.lowering.spirv.nesting import CheckNesting
from pykern.lowering.spirv.opaque_ids import OpaqueIds
from pykern.lowering.spirv.opaque_zeros import OpaqueZeros
from pykern.lowering.spirv.pipeline import LAVAPIPE_LIMITS, arithmetic_pipeline
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.expand_integer_power import ExpandIntegerPower
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from pykern.passes.framework import Pass, Pipeline, Upstream
from pykern.passes.kernel.delinearise import Delinearise
from pykern.passes.kernel.expand_ndrange import ExpandNdrange
from pykern.passes.kernel.join_stores import JoinStores
from pykern.passes.kernel.promote_cells import PromoteCells
from pykern.passes.kernel.promote_private import PromotePrivate
from pykern.passes.kernel.speculate_loads import SpeculateLoads
from pykern.passes.kernel.tighten_bounds import TightenBounds


def source_work_items(options: SourceOptions, language: Language) -> Pipeline:
    """Where work-items are, and what they do together. Reports are still ops."""
    items = work_item_pipeline(
        PlaceWorkItems(small=_is_small(options), whole_x=not options.words, whole=not options.words),
        limits=(LAVAPIPE_LIMITS,) if options.lavapipe else (),
        subgroups=(LowerSubgroups(lanes=options.lanes),) if language.shuffles else (),
    )
    # before branches and choices are made of each other; it ends with the last that looks for scf.for
    choices = Pipeline((NarrowChoices(),) if "f64" not in language.types else ())
    return choices + items + Pipeline((ReportCutLoops(),) if options.lavapipe else ())


def source_memory(options: SourceOptions, language: Language, offsets: bool) -> Pipeline:
    """With `options.words` a kernel for drivers of pykern's own, else one that a person reads and launches; with
    `offsets` arrays begin where a number of the launch says."""
    fused = language.accurate  # WGSL's `fma` may round twice
    doubles = has_doubles(options, language)
    functions: tuple[Pass, ...] = (ExpandLibrary(fused=fused, doubles=doubles), ExpandIntegerPower())
    if options.words or not language.accurate or language.native:
        # with floats of 64 bits nothing needs to stay
        native = () if doubles else language.native
        functions += (ExpandMath(library=False, fused=fused, doubles=doubles, native=native),)
    # before anything else is made of roundings
    words = (NarrowWords(),) if options.words and "f64" not in language.types else ()
    memory = FlattenMemory(
        offsets=offsets,
        whole_words=language.whole_words,
        f16_as_bits="f16" not in language.types,
        small=_is_small(options),
    )
    arithmetic = arithmetic_pipeline(
        memory, functions, vulkan=not language.accurate, printed=True, words=words
    )
    return arithmetic + Pipeline(
        (
            # of what is left when constants are folded
            *([CLEAN, OpaqueZeros()] if options.lavapipe else []),
            Upstream("expand-strided-metadata,lower-affine"),
            # of values that are computed as they will be
            *([KeepLoopResults(lowered=False)] if options.lavapipe else []),
            TypeWords(plain=options.words),
            Upstream("canonicalize,cse"),
            *([OpaqueIds()] if options.words and language.bounds_items else []),  # behind the last merge
            *([CheckNesting()] if options.lavapipe else []),
        )
    )


def has_doubles(options: SourceOptions, language: Language) -> bool:
    """Whether functions of f32 may be computed in floats of 64 bits."""
    return options.f64 or (language.accurate and "f64" in language.types)


def c_pipeline() -> Pipeline:
    """Kernels as loops over their work-items, with functions of the C library."""
    return (
        Pipeline(
            (
                WordTapes(),  # before short floats are bits
                ExpandFp8(),  # everything below sees bytes
                ExpandNdrange(),
                WholeLaunch(),  # before bounds: all there is begins at 0
                CLEAN,
                Delinearise(),  # before divisions look different
                Upstream("canonicalize,cse"),
                TightenBounds(),  # guards become loop bounds
                PromoteCells(),  # a sum in an element is one in a variable
                PromotePrivate(),
                JoinStores(),  # compilers make better vectors of choices than of branches that store
                CLEAN,  # one load of an element that both sides read
                SpeculateLoads(loops=False),
                Upstream("canonicalize,cse"),
            )
        )
        + arithmetic_pipeline(
            FlattenMemory(float_atomics=True, bf16_as_bits=True, atomic_width=8),
            (ExpandLibrary(), ExpandIntegerPower()),
            vulkan=False,
            printed=True,
        )
        + Pipeline(
            (
                Upstream("expand-strided-metadata,lower-affine"),
                TypeWords(wide=True),
                CLEAN,
                TileItems(),  # before loops are written twice
                InterleaveItems(),  # when nothing is left that is the same for all of them
                SplitAngles(),  # of what is innermost now
                CLEAN,
            )
        )
    )


def _is_small(options: SourceOptions) -> bool:
    return options.small or not options.words
