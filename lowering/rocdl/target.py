"""The AMD targets: a kern module to a code object (hsaco).

Comes in: a module on the kern stage. Goes out: `KernelBinary`. Read next: `options`, `pipeline`, `codegen`.
"""

from __future__ import annotations

import math
import time

from mlir import ir
from mlir.dialects import llvm as llvm_dialect

from pykern.data.artifact import DeviceCode, Stage
from pykern.data.source import KernelSource
from pykern.lowering.gpu.lines import annotate_lines
from pykern.lowering.gpu.pointers import check_lowered
from pykern.lowering.gpu.target import KernelBinary, code_facts, dynamic_arrays, room_of_each
from pykern.lowering.record import Record
from pykern.lowering.rocdl.attributes import DescribeKernels
from pykern.lowering.rocdl.barriers import WaitAtBarriers
from pykern.lowering.rocdl.chips import Chip
from pykern.lowering.rocdl.codegen import can_generate, generate
from pykern.lowering.rocdl.matrices import LowerWaveMatrices
from pykern.lowering.rocdl.metadata import kernel_metadata
from pykern.lowering.rocdl.occupancy import occupancy
from pykern.lowering.rocdl.options import options_of
from pykern.lowering.rocdl.pipeline import rocdl_pipeline
from pykern.lowering.rocdl.remainder import ExpandRemainder
from pykern.passes.kernels import find
from pykern.passes.registry import register

register(DescribeKernels, ExpandRemainder, LowerWaveMatrices, WaitAtBarriers)


def lower(module: ir.Module, source: KernelSource, record: Record) -> KernelBinary:
    """Lower, generate, link. Raises `TargetError` for a target or an op that there is not, and without LLVM's backend,
    unless only the stages are wanted."""
    chip, options = options_of(source.target)
    arrays = dynamic_arrays(module)
    rocdl_pipeline(chip, options).run(module, record, texts=record.texts)
    device = find(module.operation, lambda op: op.name == "gpu.module")[0]
    check_lowered(device, ("llvm.", "rocdl."), chip.name)
    facts = code_facts(device)
    record.before_code(module.operation)
    if options.lines:
        annotate_lines(module)
    started = time.perf_counter()
    text = llvm_dialect.translate_module_to_llvmir(device)
    record.add("llvm-translate", text, started, "llvm")
    described = DeviceCode(
        "assembly" if options.assembly else "hsaco",
        facts.arguments,
        shared_bytes=facts.shared_bytes,
        dynamic_shared=source.launch.shared,
        tape=facts.tape,
        each=facts.each,
        dynamic_arrays=arrays,
    )
    if record.texts and not can_generate():  # who looks at the stages sees those that there are
        return KernelBinary(b"", facts.symbol, facts.workgroup, described)
    code = generate(text, chip, options, texts=record.texts)
    for name, elapsed in code.times.items():
        texts = {"llvm-optimise": (code.optimised_ir, "llvm"), "llvm-emit": (code.assembly, "asm")}
        body, kind = texts.get(name, ("", "none"))
        record(Stage(name, body, elapsed, kind))
    if options.assembly:
        return KernelBinary(code.binary, facts.symbol, facts.workgroup, described)
    resources = _resources(chip, code.binary, facts.symbol, math.prod(facts.workgroup), arrays)
    return KernelBinary(code.binary, facts.symbol, facts.workgroup, described, resources)


def _resources(chip: Chip, binary: bytes, symbol: str, group: int, arrays: int) -> dict[str, object]:
    said = kernel_metadata(binary, symbol)
    registers, shared = said["vgpr_count"], said["group_segment_fixed_size"]
    return {
        "vgprs": registers,
        "agprs": said.get("agpr_count", 0),
        "sgprs": said["sgpr_count"],
        "vgpr_spills": said["vgpr_spill_count"],
        "sgpr_spills": said["sgpr_spill_count"],
        "stack_bytes": said["private_segment_fixed_size"],
        "shared_bytes": shared,
        "max_dynamic_shared": room_of_each(chip.shared - shared, arrays),
        "argument_bytes": said["kernarg_segment_size"],
        "subgroup_size": said["wavefront_size"],
        **occupancy(chip, group, registers, shared).resources(),
        "binary_bytes": len(binary),
    }
