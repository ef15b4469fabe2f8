"""The passes from loops over memrefs to the llvm dialect, in order, each with the reason for its place.

Comes in: loops over work-items, or loop nests of an array program. Goes out: functions in the llvm dialect. Kernels and
programs share these passes. Read next: `pipeline` and `program.pipeline`, which make the loops.
"""

from __future__ import annotations

from pykern.environment.machine import cache_bytes, cpu
from pykern.lowering.llvm.arguments import FlattenArguments
from pykern.lowering.llvm.atomics import LowerAtomics
from pykern.lowering.llvm.chains import BreakChains
from pykern.lowering.llvm.exits import ThreadExits
from pykern.lowering.llvm.loops import AnnotateBranches, KeepOuterLoops
from pykern.lowering.llvm.reports import LowerReports
from pykern.lowering.llvm.short_floats import EMULATE_BF16
from pykern.lowering.llvm.signed_addresses import AllowNegativeStrides
from pykern.lowering.llvm.stack import LimitStack
from pykern.lowering.llvm.tapes import LowerTapes
from pykern.passes.arithmetic.branch_conversions import BranchConversions
from pykern.passes.arithmetic.call_extremes import CallExtremes
from pykern.passes.arithmetic.join_choices import JoinChoices
from pykern.passes.arithmetic.join_nan_tests import JoinNanTests
from pykern.passes.arithmetic.keep_roundings import KeepRoundings
from pykern.passes.arithmetic.vector_math.expand_math import ExpandMath
from pykern.passes.framework import Pipeline, Upstream
from pykern.passes.kernel.carry_cells import CarryCells
from pykern.passes.kernel.carry_divisions import CarryDivisions
from pykern.passes.kernel.carry_selected_loads import CarrySelectedLoads
from pykern.passes.kernel.choose_loads import ChooseLoads
from pykern.passes.kernel.delinearise import Delinearise
from pykern.passes.kernel.hoist_atomics import HoistAtomics
from pykern.passes.kernel.hoist_column_sums import HoistColumnSums
from pykern.passes.kernel.hoist_sums import HoistSums
from pykern.passes.kernel.interchange_strides import InterchangeStrides
from pykern.passes.kernel.items_from_loops import ItemsFromLoops
from pykern.passes.kernel.join_stores import JoinStores
from pykern.passes.kernel.keep_elements import KeepElements
from pykern.passes.kernel.loops_around_items import LoopsAroundItems
from pykern.passes.kernel.narrow_indices import NarrowIndices
from pykern.passes.kernel.privatise_reductions import PrivatiseReductions
from pykern.passes.kernel.promote_cells import PromoteCells
from pykern.passes.kernel.promote_private import PromotePrivate
from pykern.passes.kernel.rebase_loops import RebaseLoops
from pykern.passes.kernel.shift_divisions import ShiftDivisions
from pykern.passes.kernel.speculate_loads import SpeculateLoads
from pykern.passes.kernel.split_edges import SplitEdges
from pykern.passes.kernel.tighten_bounds import TightenBounds
from pykern.passes.kernel.unroll_index_loops import UnrollIndexLoops
from pykern.passes.kernel.unroll_short_rows import UnrollShortRows
from pykern.passes.vectorize.items.transpose_items import TransposeItems
from pykern.passes.vectorize.items.vectorize_items import VectorizeItems
from pykern.passes.vectorize.masked_rows import MaskShortRows
from pykern.passes.vectorize.ordered.vectorize_rows import VectorizeRows
from pykern.passes.vectorize.scratch_rows import ScratchRows
from pykern.passes.vectorize.short_rows import VersionShortRows
from pykern.passes.vectorize.vectorize_elementary import VectorizeElementary
from pykern.passes.vectorize.vectorize_reductions import VectorizeReductions
from pykern.passes.vectorize.vectorize_streams import VectorizeStreams

MATH = ("math.",)
RANGED = ("scf.", "arith.cmp", "arith.min", "arith.max", "arith.select", "arith.div", "arith.rem", "arith.floordiv",
          "arith.ceildiv", "arith.and", "arith.or", "arith.xor", "arith.sh", "arith.ext", "arith.trunc")  # fmt: skip
"""Ops that ranges of integers tell something about; in loops they do of most."""
EXPANDED = ("arith.ceildiv", "arith.floordiv", "arith.extf", "arith.truncf", "arith.scaling_",
            "arith.minnumf", "arith.maxnumf")  # fmt: skip
"""Ops that have no form in LLVM, or had none always."""

PARTS = ("memref.subview", "memref.collapse_shape", "memref.expand_shape", "memref.extract_strided_metadata")
"""Views that are computed; others are lowered as they are."""

BRANCHES = (
    "cf.br",
    "cf.cond_br",
    "cf.switch",
    "arith.addi",
    "arith.cmpi",
    "arith.constant",
    "arith.index_castui",
)
"""What becomes of loops and conditions."""

_PLAIN = "bitcast broadcast extract fma insert load maskedload maskedstore shuffle store"
PLAIN_VECTORS = frozenset(f"vector.{name}" for name in _PLAIN.split())
"""Ops that `TO_LLVM` converts. Others are first made of these, or not with vectors of one dimension."""
TO_LLVM = "convert-to-llvm{filter-dialects=arith,cf,index,ub,vector}"
"""All at once: a pass for each dialect has to convert between its types and those of the others."""


BARE_POINTERS = "{use-bare-ptr-memref-call-conv=true}"
"""Of functions whose arrays all have known shapes: an argument is its pointer."""


def loop_pipeline(
    machine: str = "", short_floats: bool = True, kernel: bool = True, alone: bool = False
) -> Pipeline:
    """From loops to the llvm dialect.

    `machine`: a name of `pykern.environment.machine.cpu`. `short_floats`: there may be bf16 or fp8. `kernel`: the loops
    are those of one kernel that is called from outside, with arrays of any shape; not those of a program. `alone`: the
    code runs without pykern, and nobody gives it memory.
    """
    return Pipeline(
        (
            LowerReports(),
            Upstream("canonicalize,loop-invariant-code-motion,cse"),
            InterchangeStrides(),  # of groups; before divisions in their loops are looked for
            LoopsAroundItems(),  # the same
            Delinearise(),  # before divisions look different
            Upstream("canonicalize,cse"),
            TightenBounds(),  # guards of all there is become loop bounds: they have no rims
            RebaseLoops(),  # before loops of known length are looked for
            PromoteCells(),  # before loops are written out for what is tested in them
            UnrollIndexLoops(),  # before edges are looked for in their branches
            UnrollShortRows(),  # before loops over such rows are taken for others
            ItemsFromLoops(),  # when guards are gone; what follows looks at loops over work-items
            SplitEdges(),  # before lanes, which take no branches and no indices that clamp
            Upstream("canonicalize,cse"),
            RebaseLoops(),  # what clamped bounds were is a window
            ShiftDivisions(),  # before lanes, which do not divide integers
            JoinStores(),  # before lanes, which take no branches that store
            CarryCells(),  # before lanes and reductions, which see what loops carry
            PromoteCells(),  # the same
            UnrollIndexLoops(),  # of windows, and of what was a cell
            SpeculateLoads(),  # the same: they have choices and no branches that read; some only give what was a cell
            ChooseLoads(),  # of indices that are choices now; before lanes, which would gather
            CarrySelectedLoads(),  # of branches that are choices now
            # before what looks whether loops are left; it takes memory
            *([HoistColumnSums()] if kernel and not alone else []),
            HoistSums(),  # before lanes, each of which would do the same
            KeepElements(),  # before lanes
            PromotePrivate(),  # after loops are clean; where lanes will not do it, which have such memory in vectors
            TransposeItems(),  # before lanes, which would gather
            VectorizeRows(),  # of what lanes would not gain from
            # while what is put on tapes and added to shadows is one op each
            VectorizeItems(masks=cpu(machine).isa == "avx512"),
            LowerTapes(),  # one tape a thread
            HoistAtomics(),  # wants cells that do not change outside of the loop
            *([] if alone else [PrivatiseReductions()]),  # what is left of atomics in loops
            CarryDivisions(),  # what neither lanes nor rows have taken apart; after loops are written twice
            LowerAtomics(),  # after loops: shared memory is known to belong to one thread
            Upstream("canonicalize,cse"),
            # static lengths remove bounds tests
            Upstream("int-range-optimizations,canonicalize,cse", where=RANGED, scalar=True),
            TightenBounds(),  # guards become loop bounds: what is left vectorises
            NarrowIndices(),  # after bounds, which it proves from; before vectors, which it makes wider
            Upstream("canonicalize,cse"),
            # before streams: what nobody reads may go past the cache; nests of programs have decided that by now
            *([ScratchRows(threshold_bytes=cache_bytes())] if kernel else []),
            # wants clean loops, and memrefs that are still arguments
            VectorizeStreams(threshold_bytes=cache_bytes(), first_cache_bytes=cpu(machine).l1),
            VectorizeElementary(),  # what is not streamed, and loops for the ends
            VectorizeReductions(),  # the same
            # of what is left for LLVM; masks are quick there
            *([MaskShortRows()] if cpu(machine).isa == "avx512" else []),
            # of what is left for LLVM; while memrefs are arguments; programs know all lengths
            *([VersionShortRows()] if kernel else []),
            Upstream("canonicalize,cse"),
            # last look at memref arguments; functions of programs are called by programs alone
            *([FlattenArguments()] if kernel else []),
            Upstream(
                "func.func(math-extend-to-supported-types{target-type=f32 extra-types=f64})", where=MATH
            ),
            *([Upstream(EMULATE_BF16)] if short_floats else []),
            # behind lanes, which take extremes as they are; other processors have one instruction
            *([] if cpu(machine).isa == "neon" else [JoinNanTests()]),
            CallExtremes(),  # before `arith-expand`, which makes chains of them wait
            KeepRoundings(),
            # at once: canonicalization would join the conversions again
            Upstream("arith-expand{include-bf16=true}", where=EXPANDED),
            ExpandMath(),  # after f16 and bf16 have become f32
            Upstream("canonicalize,cse"),
            # integer powers become a loop, in a function of their own
            Upstream("convert-math-to-funcs", where=MATH),
            BranchConversions(),  # of what is not in vectors now; before choices are joined
            JoinChoices(),  # after reductions and lanes, which know each comparison by itself
            BreakChains(),  # when all arithmetic is there, and loops still are loops
            Upstream("convert-vector-to-llvm", where=("vector.",), but=PLAIN_VECTORS),
            Upstream("convert-math-to-llvm,convert-math-to-libm", where=MATH),
            KeepOuterLoops(),  # last look at loops
            LimitStack(),  # after lanes, which make buffers wider
            Upstream("convert-scf-to-cf", makes=BRANCHES),
            ThreadExits(),  # while bools are bools, and choices in one op each
            Upstream("expand-strided-metadata", where=PARTS),
            Upstream("lower-affine", where=("affine.",)),
            Upstream(
                f"convert-func-to-llvm{'' if kernel else BARE_POINTERS},"
                "finalize-memref-to-llvm{use-generic-functions=true}"
            ),
            Upstream(TO_LLVM),
            Upstream("reconcile-unrealized-casts,canonicalize,cse"),
            AnnotateBranches(),  # after upstream has made the branches
            AllowNegativeStrides(),  # last: the lowering of memref is what promises too much
        )
    )
