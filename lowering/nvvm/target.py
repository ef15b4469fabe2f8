"""The NVIDIA targets: a kern module to PTX, and to a cubin where ptxas is installed.

Comes in: a module on the kern stage. Goes out: `KernelBinary`. Read next: `options`, `pipeline`, `ptxas`.
"""

from __future__ import annotations

import math
import time

from mlir import ir
from mlir.dialects import gpu
from mlir.passmanager import PassManager

from pykern.data.artifact import DeviceCode
from pykern.data.source import KernelSource, cuda_functions
from pykern.errors import TargetError
from pykern.lowering.gpu.lines import annotate_lines
from pykern.lowering.gpu.pointers import check_lowered
from pykern.lowering.gpu.target import KernelBinary, code_facts, dynamic_arrays, room_of_each
from pykern.lowering.llvm_library import reduce_loops
from pykern.lowering.nvvm.chips import Chip
from pykern.lowering.nvvm.disassembly import disassembled, disassembler
from pykern.lowering.nvvm.instructions import AddItems, FlushSubnormals
from pykern.lowering.nvvm.library import CallLibdevice, ask_for_exact_roots
from pykern.lowering.nvvm.matrices import LowerMatrices
from pykern.lowering.nvvm.occupancy import occupancy
from pykern.lowering.nvvm.options import options_of
from pykern.lowering.nvvm.pipeline import nvvm_pipeline
from pykern.lowering.nvvm.ptxas import Cubin, assemble, ptxas
from pykern.lowering.nvvm.tensor_maps import PassTensorMaps
from pykern.lowering.nvvm.user_code import calls, compiled, linked
from pykern.lowering.record import Record
from pykern.passes.kernels import find
from pykern.passes.registry import register

register(AddItems, CallLibdevice, FlushSubnormals, LowerMatrices, PassTensorMaps)


def lower(module: ir.Module, source: KernelSource, record: Record) -> KernelBinary:
    """Lower, generate, assemble. Raises `TargetError` for a target or an op that there is not."""
    chip, options = options_of(source.target)
    arrays = dynamic_arrays(module)
    functions = cuda_functions(source)
    called = calls(module, functions)
    started = time.perf_counter()
    users = [compiled(functions[symbol], chip, place) for symbol, place in called.items()]
    if users:
        record.add("cuda c++", "\n".join(users), started, "asm")
    nvvm_pipeline(chip, options).run(module, record, texts=record.texts)
    device = find(module.operation, lambda op: op.name == "gpu.module")[0]
    check_lowered(device, ("llvm.", "nvvm."), chip.name)
    facts = code_facts(device)
    record.before_code(module.operation)
    if options.lines:
        annotate_lines(module)
    started = time.perf_counter()
    ptx = to_ptx(module)
    record.add("ptx", ptx, started, "asm")
    resources: dict[str, object] = {
        "shared_bytes": facts.shared_bytes,
        "max_dynamic_shared": room_of_each(chip.shared - facts.shared_bytes, arrays),
    }
    binary, form = ptx.encode(), "ptx"
    if users and options.ptx:
        raise TargetError(
            f"CUDA C++ is linked as machine code, which this GPU, newer than {chip.name}, does not run",
            next(iter(called.values())),
        )
    if users or (ptxas() is not None and not options.ptx):
        started = time.perf_counter()
        code = linked(ptx, users, chip, next(iter(called.values()))) if users else assemble(ptx, chip.name)
        record.add("nvjitlink" if users else "ptxas", "", started, "none")
        if "\t.loc\t" in ptx and disassembler() is not None:  # followed: for who looks, not for every launch
            started = time.perf_counter()
            record.add("sass", disassembled(code.binary), started, "asm")
        binary, form = code.binary, "cubin"
        shared = facts.shared_bytes + facts.launch_shared
        resources |= _measured(chip, code, math.prod(facts.workgroup), shared)
    described = DeviceCode(
        form,
        facts.arguments,
        shared_bytes=facts.shared_bytes,
        launch_shared=facts.launch_shared,
        dynamic_shared=source.launch.shared,
        tape=facts.tape,
        each=facts.each,
        dynamic_arrays=arrays,
    )
    return KernelBinary(
        binary, facts.symbol, facts.workgroup, described, resources | {"binary_bytes": len(binary)}
    )


def to_ptx(module: ir.Module) -> str:
    """PTX of the gpu.module, whose target is attached."""
    ask_for_exact_roots()
    reduce_loops(True)
    PassManager.parse("builtin.module(gpu-module-to-binary{format=isa})").run(module.operation)
    binary = find(module.operation, lambda op: op.name == "gpu.binary")[0]
    text = gpu.ObjectAttr(ir.ArrayAttr(binary.attributes["objects"])[0]).object
    return text.decode().rstrip("\0")


def _measured(chip: Chip, code: Cubin, group: int, shared: int) -> dict[str, object]:
    return {
        "registers": code.registers,
        "stack_bytes": code.stack,
        "spill_bytes": code.spill_stores + code.spill_loads,
        **occupancy(chip, group, code.registers, shared).resources(),
    }
