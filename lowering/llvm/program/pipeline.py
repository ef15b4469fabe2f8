"""The passes from tensors to the llvm dialect, in order, each with the reason for its place."""

from __future__ import annotations

from pykern.environment.machine import cache_bytes
from pykern.lowering.llvm.loop_pipeline import loop_pipeline
from pykern.lowering.llvm.pipeline import CALLED_NO_MORE
from pykern.lowering.llvm.program.launches import LowerLaunches
from pykern.lowering.llvm.tapes import LowerTapes
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.buffer.destination_passing import DestinationPassing
from pykern.passes.buffer.forward_copies import ForwardCopies
from pykern.passes.buffer.inline_launches import InlineLaunches
from pykern.passes.buffer.multi_buffer import MultiBuffer
from pykern.passes.buffer.plan_memory import PlanMemory
from pykern.passes.buffer.states_in_place import StatesInPlace
from pykern.passes.buffer.swap_buffers import SwapBuffers
from pykern.passes.codegen.cpu.contraction.apply_schedules import ApplySchedules
from pykern.passes.codegen.cpu.contraction.emit_register_tiles import EmitRegisterTiles
from pykern.passes.codegen.cpu.make_nests import MakeNests
from pykern.passes.codegen.cpu.size_nests import SizeNests
from pykern.passes.framework import Pipeline, Upstream
from pykern.passes.fusion.add_fusion_barriers import AddFusionBarriers
from pykern.passes.fusion.attention.fold_first_tile import FoldFirstTile
from pykern.passes.fusion.attention.outline_attention import OutlineAttention
from pykern.passes.fusion.fuse_boxes import FuseBoxes
from pykern.passes.fusion.fuse_long_chains import FuseLongChains
from pykern.passes.fusion.fuse_siblings import FuseSiblings
from pykern.passes.fusion.fuse_windows import FuseWindows
from pykern.passes.fusion.remove_fusion_barriers import RemoveFusionBarriers
from pykern.passes.fusion.repeat_cheap import RepeatCheap
from pykern.passes.tensor.compute_diagonals import ComputeDiagonals
from pykern.passes.tensor.fresh_inserts import FreshInserts
from pykern.passes.tensor.outline_launches import OutlineLaunches
from pykern.passes.tensor.outline_scans import OutlineScans
from pykern.passes.tensor.prepare_signature import PrepareSignature
from pykern.passes.tensor.raise_launches import RaiseLaunches
from pykern.passes.tensor.read_arguments import ReadArguments
from pykern.passes.tensor.read_transposed import ReadTransposed
from pykern.passes.tensor.read_widened import ReadWidened
from pykern.passes.tensor.read_windows import ReadWindows
from pykern.passes.tensor.scalarise_elements import ScalariseElements
from pykern.passes.tensor.separate_empties import SeparateEmpties
from pykern.passes.tensor.separate_yields import SeparateYields
from pykern.passes.tensor.slice_first import SliceFirst
from pykern.passes.tensor.split_short_axes import SplitShortAxes

BUFFERIZE = (
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map "
    "unknown-type-conversion=identity-layout-map allow-return-allocs-from-loops=true}"
)


def launch_pipeline(debug: bool = False) -> Pipeline:
    """Kernels that programs launch: into the program where they are elementwise, else as calls. With `debug` all
    stay calls: their accesses are checked.

    Before anything else: a launch writes through a buffer, which common subexpressions and loop
    invariants would take for the value it was made from.
    """
    raised = Pipeline() if debug else Pipeline((RaiseLaunches(only_parallel=True),))
    return raised + Pipeline((OutlineLaunches(),))


def function_pipeline(doubles: bool = True) -> Pipeline:
    """Functions of the C library that are arithmetic before fusion. `doubles`: the target has floats of 64 bits."""
    return Pipeline((ExpandLibrary(functions=CALLED_NO_MORE, doubles=doubles),))


def tensor_pipeline() -> Pipeline:
    """Tensors to tensors: fewer, larger operations."""
    return Pipeline(
        (
            PrepareSignature(),  # early: marks are on the function as the frontend left it
            Upstream("convert-elementwise-to-linalg"),
            Upstream("func.func(linalg-generalize-named-ops)"),
            Upstream("canonicalize,cse", bodies=True),
            FoldFirstTile(),  # before attention is looked for: a running softmax becomes a plain one
            OutlineAttention(),  # before fusion: an operation of NumPy's is an op
            Upstream("convert-elementwise-to-linalg,canonicalize,cse", where=("func.call",), bodies=True),
            ReadArguments(),  # before fusion, which leaves what is changed in its place
            ReadTransposed(),  # before fusion, which leaves what several ops read
            ComputeDiagonals(),  # before fusion, which takes nothing into a product
            ReadWindows(),  # the same
            ReadWidened(),  # the same
            SliceFirst(),  # before fusion, which does not look through slices
            SplitShortAxes(),  # the same: what is left of a split array is elementwise
            RepeatCheap(),  # the same, for what it is cheap to compute again
            AddFusionBarriers(),  # what would be computed many times over stays apart
            FuseLongChains(),  # before upstream's fusion, which is quadratic in a chain
            Upstream("func.func(linalg-fuse-elementwise-ops)"),
            RemoveFusionBarriers(),
            FuseWindows(),  # what upstream's fusion leaves
            Upstream("canonicalize,loop-invariant-code-motion,cse", bodies=True),
            FuseBoxes(),  # when chains are one operation each
            Upstream("canonicalize,cse", bodies=True),
            FreshInserts(),  # after fusion: the inserted values are one operation each by now
            Upstream("canonicalize,cse", bodies=True),
            FuseSiblings(),  # after inserts: each of the siblings may be computed in its own place
            Upstream("canonicalize,cse", bodies=True),
            ScalariseElements(),  # after fusion: what is left without loops is arithmetic of single elements
            Upstream("canonicalize,cse", where=("tensor.insert",), bodies=True),
            OutlineScans(),  # when fusion is done: a kernel takes no part in it
            SeparateEmpties(),  # last: everything above merges and hoists them
        )
    )


def buffer_pipeline() -> Pipeline:
    """Tensors to buffers, and no more of them than needed."""
    return Pipeline(
        (
            Upstream("eliminate-empty-tensors,func.func(empty-tensor-to-alloc-tensor)"),
            SeparateYields(),  # what bufferization gets wrong
            Upstream(BUFFERIZE),
            InlineLaunches(),  # calls have told bufferization which arrays they write
            Upstream("func.func(linalg-generalize-named-ops)"),  # bufferization makes new fills
            Upstream("canonicalize,cse"),
            SwapBuffers(),  # before copies go: it looks for those that bufferization made
            ForwardCopies(),  # before multi-buffering: an initial value may be read where it is
            StatesInPlace(),  # before multi-buffering: states that are kept need no further buffers
            MultiBuffer(),
            Upstream("canonicalize,cse"),  # known turns
            DestinationPassing(),  # after multi-buffering: results are buffers again
            ForwardCopies(),
            Upstream("canonicalize,cse"),
        )
    )


def llvm_pipeline(
    schedules: tuple[str, ...] = (), machine: str = "", ordered: bool = False, short_floats: bool = True
) -> Pipeline:
    """Buffers to loops, and down to the llvm dialect. The arguments are those of `MakeNests` and `loop_pipeline`."""
    loops = Pipeline(
        (
            LowerTapes(groups=True),  # as in a kernel's pipeline
            *([ExpandFp8()] if short_floats else []),
            LowerLaunches(),  # kernels become loops too
            MakeNests(
                machine=machine, schedules=";".join(schedules), ordered=ordered, cache_bytes=cache_bytes()
            ),
            ApplySchedules(),  # the transform scripts of contractions
            EmitRegisterTiles(),  # before loops are looked at: all of them are there then
            SizeNests(),
            PlanMemory(),  # after the last buffer was made
        )
    )
    return loops + loop_pipeline(machine, short_floats, kernel=False)
