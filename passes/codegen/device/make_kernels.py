"""The pass: each linalg op of a program becomes a kernel, launched where the op was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import memref

from pykern.passes.analysis.reductions import add_fastmath, combines
from pykern.passes.analysis.space import space_of
from pykern.passes.codegen.device.attention import launch_attention
from pykern.passes.codegen.device.copies import copy_to_generic, generic_copy, is_contiguous
from pykern.passes.codegen.device.kernel import Kernel, KernelContext
from pykern.passes.codegen.device.reductions import launch_generic
from pykern.passes.codegen.device.row_kernels import ROWS, launch_rows
from pykern.passes.framework import Pass, Upstream, run_pass
from pykern.passes.fusion.attention.calls import AttentionCall
from pykern.passes.fusion.planner import FusionGroup, FusionPlanner, GroupForms, SingleOp
from pykern.passes.fusion.row_groups import Group
from pykern.passes.fusion.starts import Starts
from pykern.passes.ir.memory import outputs_of
from pykern.passes.ir.values import made_by
from pykern.passes.kernels import kernels, named, programs

FORMS = GroupForms(ROWS, moving_starts=False)


@dataclass(frozen=True)
class MakeKernels(Pass):
    """Turn linalg ops on buffers, and stores of numbers, into launches of kernels.

    In:  programs with linalg.generic, memref.copy, memref.store on buffers, and kern.launch.
    Out: the same with `kern.launch` in place of all of them, but copies between dense buffers, which a
         driver makes. What is left besides is for the host: scalars, views, loops, numbers that are read back.
    """

    name: ClassVar[str] = "kern-make-kernels"
    matrix_unit: str = ""
    """The instruction of the target that multiplies small matrices of 16-bit floats; empty: there is none."""
    aligned: bool = False
    """Whether the program's arguments begin at multiples of 16 bytes."""
    warpgroup_unit: str = ""
    """The instruction that four subgroups multiply matrices with; empty: there is none."""

    def run(self, module: ir.Module) -> None:
        for program in programs(module):
            place = KernelContext(
                module,
                program,
                matrix_unit=self.matrix_unit,
                aligned=self.aligned,
                warpgroup_unit=self.warpgroup_unit,
            )
            for copy in named(program, "memref.copy"):
                if not all(map(is_contiguous, copy.operands)):
                    copy_to_generic(copy)
            for op in named(program, "linalg.generic"):
                if outputs_of(op):
                    _fuse_products(op)
                else:  # its values went into another op, and the call in it kept it
                    op.erase()
            planner = FusionPlanner(module, program, FORMS)
            for group in planner.groups():
                _make(place, planner, group)
            for store in named(program, "memref.store"):
                _store(place, store)
        if any(named(kernel, "memref.subview") for kernel in kernels(module)):
            run_pass(Upstream("func.func(fold-memref-alias-ops),lower-affine,canonicalize,cse"), module)


def _make(place: KernelContext, planner: FusionPlanner, group: FusionGroup) -> None:
    """Kernels for a group, launched in place of its ops."""
    if isinstance(group, AttentionCall):
        launch_attention(place, group)
    elif isinstance(group, Group):
        launch_rows(place, group)
    else:
        assert isinstance(group, SingleOp), "devices take no pairs of products"
        _single(place, planner, group)


def _single(place: KernelContext, planner: FusionPlanner, single: SingleOp) -> None:
    op, start, space = single.op, single.starts, space_of(single.op)
    if space.iterations:
        for other in launch_generic(place, space, start):
            planner.erase(other)
    elif any(v is not None for v in start):
        _only_start(place, op, start)
    op.erase()


def _fuse_products(op: ir.Operation) -> None:
    """Products that are summed may go into the sum unrounded, as on the CPU. Sums are reordered by kernels, not by
    a driver's compiler: one of them (Intel's for OpenCL) dies of a sum it may reorder whose terms hold a loop."""
    for combine in combines(op) or []:
        if combine.op.name == "arith.addf":
            add_fastmath(combine.op, "contract")
            for value in combine.op.operands:
                if (product := made_by(value, "arith.mulf")) is not None:
                    add_fastmath(product, "contract")


def _only_start(place: KernelContext, op: ir.Operation, start: Starts) -> None:
    """Write the start values of a reduction without iterations."""
    outs = list(op.operands)[-outputs_of(op) :]
    for out, first in zip(outs, start, strict=True):
        if first is None or 0 in ir.MemRefType(out.type).shape:
            continue
        rank = ir.MemRefType(out.type).rank
        fill = generic_copy(op, [first, out], [[], list(range(rank))], rank)
        launch_generic(place, space_of(fill), [None])
        fill.erase()


def _store(place: KernelContext, store: ir.Operation) -> None:
    """Make a kernel of one work-item that stores one number."""
    with Kernel(place, store, (1,), (1,)) as kernel:
        value, target, *indices = [kernel.value(v) for v in store.operands]
        memref.StoreOp(value, target, indices)
    store.erase()
