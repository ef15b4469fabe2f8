"""The CPU target: a kern module to a shared object.

Comes in: a module on the kern stage. Goes out: `CpuCode`. Read next: `pipeline`, `codegen`, `entry`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from mlir import ir

from pykern.data.abi import array_slots
from pykern.data.artifact import PRODUCT, SCRATCH, SHORT_NUMBERS, ArgumentUse, Stage
from pykern.data.launch_bounds import NO_BOUNDS, LaunchBounds
from pykern.data.locations import SourceSpan
from pykern.data.source import ArraySpec, KernelSource, leaves
from pykern.data.target import CPU
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.llvm.arguments import FlattenArguments
from pykern.lowering.llvm.atomics import LowerAtomics
from pykern.lowering.llvm.c_functions import C_FUNCTIONS, c_functions_text, inlined
from pykern.lowering.llvm.chains import BreakChains
from pykern.lowering.llvm.codegen import assemble, assembly_of, generate, translate
from pykern.lowering.llvm.entry import entry_text, launch_text
from pykern.lowering.llvm.exits import ThreadExits
from pykern.lowering.llvm.launch_bounds import outside_text
from pykern.lowering.llvm.launcher import launcher_text
from pykern.lowering.llvm.linked_texts import may_run_out, needed_by
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.loops import AnnotateBranches, KeepOuterLoops
from pykern.lowering.llvm.machines import Host, host_of
from pykern.lowering.llvm.object_functions import ENDINGS, object_text
from pykern.lowering.llvm.optimisation import CAREFUL, Passes, passes_for
from pykern.lowering.llvm.pipeline import cpu_pipeline
from pykern.lowering.llvm.reports import LowerReports
from pykern.lowering.llvm.resources import resources
from pykern.lowering.llvm.runtime_functions import LAUNCHED, RUNTIME
from pykern.lowering.llvm.scratch import ALLOCATE
from pykern.lowering.llvm.short_floats import MoveBf16AsWords, has_short_floats
from pykern.lowering.llvm.signed_addresses import AllowNegativeStrides
from pykern.lowering.llvm.stack import LimitStack
from pykern.lowering.llvm.tapes import GROW, LowerTapes
from pykern.lowering.record import Record
from pykern.passes import kernels
from pykern.passes.analysis.cost_model.code_size import FEW_OPTIMISATIONS_OPS
from pykern.passes.analysis.short_numbers import ShortNumbers, short_numbers
from pykern.passes.framework import carefully, is_careful
from pykern.passes.ir.argument_uses import argument_uses
from pykern.passes.registry import register
from pykern.passes.remarks import remark

register(
    AllowNegativeStrides,
    AnnotateBranches,
    BreakChains,
    FlattenArguments,
    KeepOuterLoops,
    ThreadExits,
    LowerAtomics,
    LowerReports,
    LimitStack,
    LowerTapes,
    MoveBf16AsWords,
)


EXPORTS = ("pk_run", "pk_launch")
REPEATED = (ALLOCATE, GROW, "atomicrmw", "cmpxchg")
"""What shows that each part of a launch makes something first, or adds sums of its own at its end."""


@dataclass(frozen=True)
class CpuCode:
    """A shared object; `entry` tells whether it has a compiled entry; `workgroup` is () without groups."""

    binary: bytes
    entry: bool
    workgroup: tuple[int, ...]
    resources: dict[str, object]


def lower(
    module: ir.Module,
    source: KernelSource,
    uses: tuple[ArgumentUse, ...],
    reports: bool,
    record: Record,
    bounds: LaunchBounds = NO_BOUNDS,
) -> CpuCode:
    """Lower, generate, link. A kernel that `reports` (it has sites) gets no compiled entry."""
    if is_careful() or not _is_huge(module):
        return _lowered(module, source, uses, reports, record, bounds)
    kernel = next(kernels.kernels(module))
    remark(
        kernel,
        f"made with few optimisations: of more than {FEW_OPTIMISATIONS_OPS} operations they take minutes",
    )
    with carefully():
        return _lowered(module, source, uses, reports, record, bounds)


def _lowered(
    module: ir.Module,
    source: KernelSource,
    uses: tuple[ArgumentUse, ...],
    reports: bool,
    record: Record,
    bounds: LaunchBounds,
) -> CpuCode:
    product = _is_product(module, source)
    short = _short_numbers(module, source)
    host, machine = host_of(source.target)
    alone = source.called_from_c == "object"
    known = cpu_pipeline(machine, has_short_floats(module), alone).run(module, record, texts=record.texts)
    kernel = next(kernels.kernels(module))
    symbol = ir.StringAttr(kernel.attributes["sym_name"]).value
    workgroup = kernels.integers(kernel, kern.WORKGROUP) or ()
    started = time.perf_counter()
    record.before_code(module.operation)
    text = translate(module, known.names)
    record.add("llvm-translate", text, started, "llvm")
    repeats = any(word in text for word in REPEATED)
    sequential, endless = (mark in kernel.attributes for mark in (kern.SEQUENTIAL, kern.ENDLESS))
    passes = CAREFUL if is_careful() else passes_for(text, product=False)
    if alone:
        place = span_of(kernel.location)
        return CpuCode(_object(text, source, symbol, host, passes, reports, place), False, workgroup, {})
    if source.called_from_c:
        extra = (c_functions_text(source, symbol, host.triple), *needed_by(text))
        text = inlined(text) if source.called_from_c == "function" else text
        code = generate(text, extra, C_FUNCTIONS, host, texts=record.texts, passes=passes)
        return CpuCode(link_shared(*code.objects, assemble(RUNTIME, host), host=host), False, workgroup, {})
    launcher = launcher_text(source, symbol, repeats, sequential, endless)
    entry = "" if reports else entry_text(source, uses, product)
    called = [launch_text(may_run_out(text), endless)] if entry else []
    extra = (launcher, *called, *needed_by(text))
    code = generate(text, extra, EXPORTS, host, texts=record.texts, passes=passes)
    objects = list(code.objects)
    if entry and record.texts:
        code.assembly += assembly_of(entry, host)
    for name, elapsed in code.times.items():
        texts = {"llvm-optimise": (code.optimised_ir, "llvm"), "llvm-emit": (code.assembly, "asm")}
        body, kind = texts.get(name, (code.llvm_ir, "llvm"))
        record(Stage(name, body, elapsed, kind))
    if entry:
        started = time.perf_counter()
        objects += assemble(entry, host), assemble(outside_text(bounds, source), host, quickly=True)
        record.add("entry", "", started, "none")
    started = time.perf_counter()
    binary = link_shared(*objects, assemble(LAUNCHED if entry else RUNTIME, host), host=host)
    record.add("link", "", started, "none")
    found = resources(code)
    if product:
        found[PRODUCT] = True
    if short:
        found[SHORT_NUMBERS] = short
    if ALLOCATE in text:
        found[SCRATCH] = True
    return CpuCode(binary, bool(entry), workgroup, found)


def _object(
    text: str,
    source: KernelSource,
    symbol: str,
    host: Host,
    passes: Passes,
    reports: bool,
    place: SourceSpan | None,
) -> bytes:
    """An object file for programs without pykern. Raises `TargetError` for what needs it."""
    if reports or needed_by(text) or GROW in text:
        raise TargetError(
            f"`{source.function.name}` needs pykern where it runs: it reports, or takes memory as it goes",
            place,
            hint="leave prints, asserts and debug= out; give shared memory a known length",
        )
    names = [f"{source.exported_name}{ending}" for ending in ENDINGS]
    code = generate(text, (object_text(source, symbol),), tuple(names), host, texts=True, passes=passes)
    return code.objects[0]


def _is_product(module: ir.Module, source: KernelSource) -> bool:
    """Whether large launches are better compiled for their lengths, as products in tiles."""
    launch = source.launch
    options = source.options
    checked = options.debug or options.nan or options.limited
    special = checked or source.derivatives or launch.shared
    if (
        special
        or not launch.plain
        or source.target != CPU
        or not source.noalias
        or (launch.workgroup and kernels.find(module.operation, lambda op: op.name in kernels.GROUP_OPS))
        or _writes_small_matrices(module, source)
    ):
        return False
    from pykern.passes.tensor.raise_launches import is_product  # here: most kernels have no such loop

    return is_product(module)


def _writes_small_matrices(module: ir.Module, source: KernelSource) -> bool:
    """Whether what is written surely are many matrices of a few rows and columns: these fill no tiles."""
    known, first = dict(source.known), 0
    if not known:
        return False
    uses = iter(argument_uses(next(kernels.kernels(module))))
    for spec in [leaf for parameter in source.parameters for leaf in leaves(parameter.spec)]:
        if not isinstance(spec, ArraySpec):
            first += 1
            continue
        if next(uses).writes and spec.rank > 2 and {first + spec.rank - 1, first + spec.rank} <= known.keys():
            return True
        first += array_slots(spec.rank, spec.strided)
    return False


def _short_numbers(module: ir.Module, source: KernelSource) -> ShortNumbers:
    """The numbers of a launch for which there may be other code."""
    special = source.options.debug or source.derivatives or source.launch.shared or source.called_from_c
    if special or source.known or is_careful():
        return ()
    return short_numbers(next(kernels.kernels(module)))


def _is_huge(module: ir.Module) -> bool:
    count = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += 1
        return ir.WalkResult.INTERRUPT if count > FEW_OPTIMISATIONS_OPS else ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return count > FEW_OPTIMISATIONS_OPS
