"""The passes from the kern stage to the llvm dialect, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.lowering.llvm.arguments import FlattenArguments
from pykern.lowering.llvm.atomics import LowerAtomics
from pykern.lowering.llvm.chains import BreakChains
from pykern.lowering.llvm.loops import AnnotateBranches, KeepOuterLoops
from pykern.lowering.llvm.reports import LowerReports
from pykern.lowering.llvm.signed_addresses import AllowNegativeStrides
from pykern.lowering.llvm.tapes import LowerTapes
from pykern.machine import cache_bytes
from pykern.passes.expand_fp8 import ExpandFp8
from pykern.passes.expand_ndrange import ExpandNdrange
from pykern.passes.framework import Pipeline, Upstream
from pykern.passes.hoist_atomics import HoistAtomics
from pykern.passes.narrow_indices import NarrowIndices
from pykern.passes.own_sums import OwnSums
from pykern.passes.promote_private import PromotePrivate
from pykern.passes.shift_divisions import ShiftDivisions
from pykern.passes.tighten_bounds import TightenBounds
from pykern.passes.vector_math.expand import ExpandMath
from pykern.passes.vectorize.elementary import VectorizeElementary
from pykern.passes.vectorize.items.items import VectorizeItems
from pykern.passes.vectorize.reductions import VectorizeReductions
from pykern.passes.vectorize.scratch_rows import ScratchRows
from pykern.passes.vectorize.streams import VectorizeStreams
from pykern.source import KernelOptions


def cpu_pipeline(options: KernelOptions) -> Pipeline:
    """From work-items to loops, and down to the llvm dialect."""
    return Pipeline(
        (
            LowerTapes(groups=True),  # there a tape is private memory of the work-item
            ExpandFp8(),  # everything below sees bytes
            ExpandNdrange(),  # everything below sees ordinary loops
            LowerReports(),
            Upstream("canonicalize,cse,loop-invariant-code-motion"),
            ShiftDivisions(),  # before lanes, which do not divide integers
            PromotePrivate(),  # after loops are clean; where lanes will not do it, which have such memory in vectors
            VectorizeItems(),  # while what is put on tapes and added to shadows is one op each
            LowerTapes(),  # one tape a thread
            HoistAtomics(),  # wants cells that do not change outside of the loop
            OwnSums(),  # what is left of atomics in loops
            LowerAtomics(),  # after loops: shared memory is known to belong to one thread
            Upstream("canonicalize,cse"),
            Upstream("int-range-optimizations,canonicalize,cse"),  # static lengths remove bounds tests
            TightenBounds(),  # guards become loop bounds: what is left vectorises
            NarrowIndices(),  # after bounds, which it proves from; before vectors, which it makes wider
            Upstream("canonicalize,cse"),
            # before streams: what nobody reads may go past the cache
            ScratchRows(threshold_bytes=cache_bytes()),
            VectorizeStreams(
                threshold_bytes=cache_bytes()
            ),  # wants clean loops, and memrefs that are still arguments
            VectorizeElementary(),  # what is not streamed, and loops for the ends
            VectorizeReductions(),  # the same
            Upstream("canonicalize,cse"),
            FlattenArguments(),  # last look at memref arguments
            Upstream("func.func(math-extend-to-supported-types{target-type=f32 extra-types=f64})"),
            Upstream("func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32})"),
            # at once: canonicalization would join the conversions again
            Upstream("arith-expand{include-bf16=true}"),
            ExpandMath(),  # after f16 and bf16 have become f32
            Upstream("canonicalize,cse"),
            Upstream("convert-math-to-funcs"),  # integer powers become a loop, in a function of their own
            BreakChains(),  # when all arithmetic is there, and loops still are loops
            KeepOuterLoops(),  # last look at loops
            Upstream("convert-scf-to-cf"),
            Upstream("expand-strided-metadata,lower-affine"),
            Upstream("convert-vector-to-llvm,convert-math-to-llvm,convert-math-to-libm"),
            Upstream(
                "finalize-memref-to-llvm{use-generic-functions=true},convert-func-to-llvm,convert-index-to-llvm"
            ),
            Upstream("convert-cf-to-llvm,convert-arith-to-llvm,convert-ub-to-llvm"),
            Upstream("reconcile-unrealized-casts,canonicalize,cse"),
            AnnotateBranches(),  # after upstream has made the branches
            AllowNegativeStrides(),  # last: the lowering of memref is what promises too much
        )
    )
