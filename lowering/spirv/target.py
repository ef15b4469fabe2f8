"""The SPIR-V targets: a kern module to a binary that an OpenCL or Vulkan driver takes.

Comes in: a module on the kern stage. Goes out: `KernelBinary`. Read next: `flavour`, `pipeline`, `binary`.
"""

from __future__ import annotations

import time

from mlir import ir

from pykern.data.artifact import DeviceCode
from pykern.data.source import KernelSource
from pykern.dialect import attributes as kern
from pykern.lowering.gpu.limits import bytes_left
from pykern.lowering.gpu.tapes import tape_use
from pykern.lowering.gpu.target import KernelBinary, dynamic_arrays
from pykern.lowering.record import Record
from pykern.lowering.spirv.arithmetic import ExpandArithmetic
from pykern.lowering.spirv.binary import assemble, prepare
from pykern.lowering.spirv.cut_loops import ReportCutLoops, number_added_sites
from pykern.lowering.spirv.disassembly import disassembled, disassembler
from pykern.lowering.spirv.entry_points import MarkEntryPoints
from pykern.lowering.spirv.finish import FinishSpirv
from pykern.lowering.spirv.flavour import flavour as flavour_of
from pykern.lowering.spirv.loop_results import KeepLoopResults
from pykern.lowering.spirv.memory import LowerSpirvMemory
from pykern.lowering.spirv.nesting import CheckNesting
from pykern.lowering.spirv.opaque_ids import OpaqueIds
from pykern.lowering.spirv.opaque_zeros import OpaqueZeros
from pykern.lowering.spirv.pipeline import memory_pipeline, spirv_work_items
from pykern.lowering.spirv.small_types import KeepBf16AsBits
from pykern.lowering.spirv.uniform_loops import PlaceUniformLoops
from pykern.passes import kernels
from pykern.passes.kernels import find
from pykern.passes.registry import register

register(
    CheckNesting,
    ExpandArithmetic,
    FinishSpirv,
    KeepBf16AsBits,
    LowerSpirvMemory,
    MarkEntryPoints,
    KeepLoopResults,
    OpaqueIds,
    OpaqueZeros,
    PlaceUniformLoops,
    ReportCutLoops,
)


def lower(module: ir.Module, source: KernelSource, record: Record) -> KernelBinary:
    """Lower and assemble. Raises `TargetError` for a target or an op that there is not."""
    flavour = flavour_of(source.target)
    prepare(module, flavour)
    arrays = dynamic_arrays(module)
    spirv_work_items(flavour).run(module, record, texts=record.texts)
    added = number_added_sites(module)
    memory_pipeline(flavour).run(module, record, texts=record.texts)
    entry = find(module.operation, lambda op: op.name == "spirv.func" and kern.ARGUMENTS in op.attributes)[0]
    arguments = tuple(ir.StringAttr(a).value for a in ir.ArrayAttr(entry.attributes[kern.ARGUMENTS]))
    workgroup = kernels.integers(entry, kern.WORKGROUP) or ()
    dynamic = source.launch.shared
    started = time.perf_counter()
    binary, text = assemble(module, flavour, record.before_code)
    record.add("spirv-assemble", text if record.texts else "", started)
    if record.texts and disassembler() is not None:
        started = time.perf_counter()
        record.add("spirv-dis", disassembled(binary), started, "spirv")
    symbol = ir.StringAttr(entry.attributes["sym_name"]).value
    shared = ir.IntegerAttr(entry.attributes[kern.SHARED_BYTES]).value
    code = DeviceCode("spirv", arguments, True, shared, dynamic, tape_use(entry), arrays, added)
    resources: dict[str, object] = {"binary_bytes": len(binary), "shared_bytes": shared}
    if source.options.fastmath:
        resources["fastmath"] = True  # drivers may be asked for less
    if dynamic:
        # compiled in: SPIR-V has no memory sized at launch
        resources["max_dynamic_shared"] = bytes_left(shared, arrays)
    return KernelBinary(binary, symbol, workgroup, code, resources)
