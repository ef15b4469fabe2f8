"""Kernels that a program launches, as operations on tensors in the program itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from mlir import ir

from pykern.data.source import KernelOptions
from pykern.dialect import attributes as kern
from pykern.errors import NotRaisable
from pykern.passes import kernels
from pykern.passes.analysis.contraction import multiplies
from pykern.passes.analysis.cost_model.code_size import FORMS_OF_A_KERNEL, RAISED_OPERATIONS
from pykern.passes.analysis.cost_model.lengths import ASSUMED_SIDE, FEWEST_TAPS, SHORT_ROW
from pykern.passes.analysis.launch_slots import is_strided
from pykern.passes.framework import Pass, Upstream, run_pass
from pykern.passes.ir.affine import access_of
from pykern.passes.ir.clone import clone
from pykern.passes.ir.constants import constant
from pykern.passes.ir.structured import indexing_maps, is_structured, loop_lengths, reduces, reduction_loops
from pykern.passes.ir.values import has_uses
from pykern.passes.kernel.delinearise_launch import DelineariseLaunch
from pykern.passes.kernels import (
    GROUP_OPS,
    body,
    find,
    index_constant,
    is_constant,
    named,
    programs,
    update_type,
)
from pykern.passes.pipelines import kern_pipeline
from pykern.passes.raise_to_linalg.raise_to_linalg import RaiseToLinalg
from pykern.passes.raise_to_linalg.unmask_sums import UnmaskSums
from pykern.passes.remarks import remark


@dataclass(frozen=True)
class RaiseLaunches(Pass):
    """Put the raised form of a kernel in place of its launch, where there is one.

    In:  programs on tensors that launch kernels on buffers of their tensors.
    Out: the same without the launches that raise; kernels nobody launches are gone.
    """

    name: ClassVar[str] = "kern-raise-launches"
    only_parallel: bool = False
    """Leave kernels whose raised form has reductions or loops to run work-item by work-item; products of matrices,
    which are tiled, are no such reductions."""

    def run(self, module: ir.Module) -> None:
        forms = _Forms(module, self.only_parallel)
        for program in programs(module):
            lengths = _lengths(program)
            for launch in named(program, "kern.launch"):
                form = forms.of(launch, lengths)
                if form is not None:
                    _put(launch, form)
        drop_unused_kernels(module)


@dataclass(frozen=True)
class _Kind:
    """What a raised form is for: a kernel, its work-items, and integers passed to it, where these are known."""

    symbol: str
    ndrange: tuple[int, ...] | None = None
    numbers: tuple[tuple[int, int], ...] = ()
    """Pairs of an argument's place and the integer that the program knows to be there."""


@dataclass
class _Forms:
    """The raised forms of a module's kernels: one for all launches, or, where there is none, one for launches alike."""

    module: ir.Module
    only_parallel: bool
    known: dict[_Kind, ir.Module | None] = field(default_factory=dict)

    def of(self, launch: ir.Operation, lengths: dict[str, tuple[int, ...] | None]) -> ir.Module | None:
        view = launch.opview
        ndrange = lengths[view.kernel]
        every = _Kind(view.kernel, ndrange if ndrange is not None and len(ndrange) == 1 else None)
        form = self._form(every)
        if form is not None:
            return form
        passed = list(view.call.operands)
        numbers = ((n, number) for n, v in enumerate(passed) if (number := _integer(v)) is not None)
        alike = _Kind(view.kernel, tuple(view.ndrange), tuple(numbers))
        if not alike.numbers and not any(map(_is_flat, passed)):
            return None
        of_kernel = [kind for kind in self.known if kind.symbol == view.kernel]
        if alike not in self.known and len(of_kernel) > FORMS_OF_A_KERNEL:
            return None
        return self._form(alike)

    def _form(self, kind: _Kind) -> ir.Module | None:
        if kind not in self.known:
            self.known[kind] = _raised(self.module, kind, self.only_parallel)
        return self.known[kind]


def _lengths(program: ir.Operation) -> dict[str, tuple[int, ...] | None]:
    """The work-items of each kernel's launches, if all its launches have as many; else None."""
    found: dict[str, tuple[int, ...] | None] = {}
    for launch in named(program, "kern.launch"):
        view = launch.opview
        ndrange = tuple(view.ndrange)
        found[view.kernel] = ndrange if found.get(view.kernel, ndrange) == ndrange else None
    return found


def _is_flat(value: ir.Value) -> bool:
    return isinstance(value.type, ir.MemRefType) and ir.MemRefType(value.type).rank == 1


def _integer(value: ir.Value) -> int | None:
    return is_constant(value) if isinstance(value.type, ir.IndexType | ir.IntegerType) else None


def is_product(module: ir.Module) -> bool:
    """Whether the kernel of a module, on the kern stage, computes products of matrices and no other reduction, if
    lengths that are passed as integers are those of its arrays."""
    if not any(map(_multiplies_and_adds, named(module.operation, "scf.for"))):
        return False
    alone = ir.Module.create(ir.Location.unknown())
    items = 0
    with ir.InsertionPoint(alone.body):
        for op in module.body.operations:
            copy = op.operation.clone()
            if kern.KERNEL in copy.attributes:
                _forget_groups(copy)
                items = ASSUMED_SIDE**2 if _assume_lengths(copy) else 0
    if items:
        run_pass(Upstream("canonicalize"), alone)
    run_pass(DelineariseLaunch(items), alone)
    try:
        run_pass(RaiseToLinalg(), alone)
    except NotRaisable:
        return False
    run_pass(Upstream("canonicalize,cse"), alone)
    run_pass(UnmaskSums(), alone)
    return _is_parallel(alone) and bool(
        find(alone.operation, lambda op: _is_product(op) and _adds_enough(op))
    )


def _assume_lengths(kernel: ir.Operation) -> bool:
    """Take integers that are passed for lengths of matrices, and flat arrays for matrices of these lengths, one length
    for all: the question is what a kernel is like, not what it computes. False where no integers are passed."""
    arguments = list(body(kernel).arguments)
    numbers = [a for a in arguments if isinstance(a.type, ir.IndexType | ir.IntegerType) and has_uses(a)]
    if not numbers or kern.PLAIN not in kernel.attributes:
        return False
    with ir.InsertionPoint.at_block_begin(body(kernel)), kernel.location:
        for number in numbers:
            number.replace_all_uses_with(constant(number.type, ASSUMED_SIDE))
    for array in arguments:
        kind = ir.MemRefType(array.type) if isinstance(array.type, ir.MemRefType) else None
        if kind is not None and kind.rank == 1 and not is_strided(kind):
            array.set_type(ir.MemRefType.get([ASSUMED_SIDE**4], kind.element_type))
    update_type(kernel)
    rank = kernels.rank(kernel)
    lengths = [ASSUMED_SIDE**2] if rank == 1 else [ASSUMED_SIDE] * rank
    kernel.attributes[kern.NDRANGE] = ir.DenseI64ArrayAttr.get(lengths)
    return True


def _multiplies_and_adds(loop: ir.Operation) -> bool:
    """Whether a loop adds products of two loads to something."""
    names = [o.operation.name for o in body(loop).operations]
    return any(n in ("arith.mulf", "arith.muli") for n in names) and names.count("memref.load") >= 2


def drop_unused_kernels(module: ir.Module) -> None:
    """Erase the kernels no launch names."""
    used = {op.opview.kernel for op in named(module.operation, "kern.launch")}
    for op in [o.operation for o in module.body.operations]:
        if kern.KERNEL in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value not in used:
            op.erase()


def _raised(module: ir.Module, kind: _Kind, only_parallel: bool) -> ir.Module | None:
    """A module of the kernel's raised form alone, for launches of one kind; None where it has none."""
    symbol = kind.symbol
    kernel = next(
        o.operation
        for o in module.body.operations
        if "sym_name" in o.attributes and ir.StringAttr(o.attributes["sym_name"]).value == symbol
    )
    if not only_parallel and named(
        kernel, "kern.stop_gradient"
    ):  # it is to be differentiated, and would lose them
        _stays(kernel, symbol, "pk.stop_gradient has no form on tensors")
        return None
    with kernel.location:
        alone = ir.Module.create()
        with ir.InsertionPoint(alone.body):
            for op in (o.operation for o in module.body.operations):
                if op == kernel or _is_declaration(op):  # it may call a function of C by its name
                    copy = op.clone()
                    if op == kernel:
                        _forget_groups(copy)
                        _know(copy, kind)
        kern_pipeline(KernelOptions()).run(alone, texts=False)
        if kind.ndrange is not None and len(kind.ndrange) == 1:
            run_pass(DelineariseLaunch(kind.ndrange[0]), alone)
        try:
            run_pass(RaiseToLinalg(), alone)
        except NotRaisable as reason:
            _stays(kernel, symbol, reason.reason)
            return None
        run_pass(Upstream("canonicalize,cse"), alone)  # lengths known from the arrays
        if only_parallel:
            run_pass(UnmaskSums(), alone)
    if find(alone.operation, is_of_run_time_length):
        _stays(kernel, symbol, "a length in it is known at launch only")
        return None  # programs take lengths from types
    if only_parallel and not _is_parallel(alone):
        _stays(kernel, symbol, "as operations on arrays it has reductions or loops")
        return None
    if only_parallel and len(find(alone.operation, is_structured)) > RAISED_OPERATIONS:
        _stays(kernel, symbol, "as operations on arrays it is too many")
        return None
    remark(kernel, f"the launch of `{symbol}` became operations on whole arrays")
    return alone


def _forget_groups(kernel: ir.Operation) -> None:
    """Leave out the size of a workgroup where a kernel uses nothing of it: it is one of other devices then."""
    if kern.WORKGROUP in kernel.attributes and not find(kernel, lambda op: op.name in GROUP_OPS):
        del kernel.attributes[kern.WORKGROUP]


def _know(kernel: ir.Operation, kind: _Kind) -> None:
    """Put into a kernel what is known of its launch."""
    arguments = list(body(kernel).arguments)
    with ir.InsertionPoint.at_block_begin(body(kernel)), kernel.location:
        for place, number in kind.numbers:
            arguments[place].replace_all_uses_with(constant(arguments[place].type, number))
    if kern.PLAIN in kernel.attributes and kind.ndrange is not None:
        kernel.attributes[kern.NDRANGE] = ir.DenseI64ArrayAttr.get(list(kind.ndrange))


def _is_declaration(op: ir.Operation) -> bool:
    return op.name == "func.func" and not list(op.regions[0].blocks)


def _stays(kernel: ir.Operation, symbol: str, why: str) -> None:
    remark(kernel, f"the launch of `{symbol}` stays a loop over work-items: {why}")


def is_of_run_time_length(op: ir.Operation) -> bool:
    """Whether an op gives a tensor whose length only the run tells."""
    types = [r.type for r in op.results if isinstance(r.type, ir.RankedTensorType)]
    return any(not ir.RankedTensorType(t).has_static_shape for t in types)


def _is_parallel(module: ir.Module) -> bool:
    """Whether every operation runs over independent elements, or is a product of matrices, or sums up over fewer loops
    than a product, as the norms of its rows do."""
    loops = find(module.operation, lambda op: op.name.startswith(("linalg.", "scf.")) and bool(op.regions))
    loops = [op for op in loops if op.name != "linalg.fill"]
    most = max((indexing_maps(op)[0].n_dims for op in loops if _is_product(op)), default=0)
    return all(
        _is_product(op)
        or (op.name == "linalg.generic" and not (reduces(op) and len(reduction_loops(op)) >= most))
        for op in loops
    )


def _is_product(op: ir.Operation) -> bool:
    """Whether two factors are multiplied as matrices are, each read again for other results, or convolved."""
    if op.name in ("linalg.matmul", "linalg.batch_matmul"):
        return True
    if op.name.startswith("linalg.conv_"):
        return _is_large_filter(ir.RankedTensorType(op.operands[1].type))
    if op.name != "linalg.generic" or len(op.operands) != 3 or not multiplies(op):
        return False
    reductions = reduction_loops(op)
    accesses = list(map(access_of, indexing_maps(op)))
    left, right, result = (a.dimensions if a is not None else set() for a in accesses)
    if not any(reductions) or any(a is None for a in accesses):
        return False
    if any(len(s.factors) > 1 for a in accesses if a is not None for s in a.sums):
        return bool(result - right) or bool(result - left)
    summed = {d for d, is_sum in enumerate(reductions) if is_sum}
    return bool(result - left) and bool(result - right) and summed <= left & right


def _adds_enough(op: ir.Operation) -> bool:
    """Whether a product adds so many terms that tiles gain; of points and colours lanes have all in registers."""
    if op.name.startswith("linalg.conv_"):
        return True
    if op.name == "linalg.generic":
        lengths = [n for n, is_sum in zip(loop_lengths(op), reduction_loops(op), strict=True) if is_sum]
    else:
        lengths = ir.RankedTensorType(op.operands[0].type).shape[-1:]
    return any(ir.ShapedType.is_dynamic_size(n) for n in lengths) or math.prod(lengths) > SHORT_ROW


def _is_large_filter(kind: ir.RankedTensorType) -> bool:
    """Whether tiles gain for a filter over an array without channels, whose results share nothing but the filter."""
    return kind.rank > 1 and (not kind.has_static_shape or math.prod(kind.shape) >= FEWEST_TAPS)


def _put(launch: ir.Operation, form: ir.Module) -> None:
    """The raised body at the place of the launch, on the tensors its buffers came from."""
    function = form.body.operations[0].operation
    view = launch.opview
    passed = list(view.call.operands)
    arguments = list(body(function).arguments)
    buffers = dict(zip(arguments, passed, strict=False))
    tensors = {a: _tensor_of(v) for a, v in buffers.items() if isinstance(v.type, ir.MemRefType)}
    known: dict[ir.Value, ir.Value] = {
        a: v for a, v in buffers.items() if not isinstance(v.type, ir.MemRefType)
    }
    with ir.InsertionPoint(launch), launch.location:
        counts = arguments[len(passed) :]  # none where the form is for one length of launches
        for argument, value in zip(counts, _extent(launch) if counts else (), strict=True):
            known[argument] = index_constant(value)
    after: dict[ir.Value, ir.Value] = {}
    with ir.InsertionPoint(launch):
        for op in [o.operation for o in body(function).operations][:-1]:
            if op.name == "bufferization.to_tensor":
                known[op.results[0]] = tensors[op.operands[0]]
            elif op.name == "bufferization.materialize_in_destination":
                after[buffers[op.operands[1]]] = known[op.operands[0]]
            else:
                copy = clone(op, lambda value: known.get(value, value))
                known.update(zip(op.results, copy.results, strict=True))
    _replace_results(launch, after)
    launch.erase()
    for buffer in {v for v in passed if isinstance(v.type, ir.MemRefType)}:
        if next(iter(buffer.uses), None) is None:
            buffer.owner.operation.erase()


def _extent(launch: ir.Operation) -> list[int]:
    """The numbers of the launch that the raised function takes; see `kern-raise-to-linalg`."""
    view = launch.opview
    marks = view.callee.attributes
    given: list[int] = []
    for count, start, step in zip(view.ndrange, view.starts, view.steps, strict=True):
        given += [] if kern.NDRANGE in marks else [count]
        given += [] if kern.PLAIN in marks else [start, step]
    return given


def _replace_results(launch: ir.Operation, after: dict[ir.Value, ir.Value]) -> None:
    """Replace what is read from the buffers behind the launch by the results of the raised function."""
    for buffer, value in after.items():
        for use in list(buffer.uses):
            reader = use.owner.operation
            if reader.name == "bufferization.to_tensor":
                reader.results[0].replace_all_uses_with(value)
                reader.erase()


def _tensor_of(buffer: ir.Value) -> ir.Value:
    owner = buffer.owner.operation
    assert owner.name == "bufferization.to_buffer", f"a launch on {owner.name}"
    return owner.operands[0]
