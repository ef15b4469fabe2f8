"""What a GPU-like target gives back, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass, field

from mlir import ir

from pykern.data.artifact import DeviceCode, TapeUse
from pykern.dialect import attributes as kern
from pykern.lowering.gpu.aggregate_atomics import AggregateAtomics
from pykern.lowering.gpu.collectives import LowerCollectives
from pykern.lowering.gpu.compare_offsets import CompareOffsets
from pykern.lowering.gpu.flat_memory import FlattenMemory
from pykern.lowering.gpu.intrinsics import CallIntrinsics
from pykern.lowering.gpu.limits import CheckLimits
from pykern.lowering.gpu.merge_guards import MergeGuards
from pykern.lowering.gpu.outline import OutlineKernels
from pykern.lowering.gpu.pointers import BUFFER_ALIGNMENT, LowerToPointers
from pykern.lowering.gpu.reports import LowerDeviceReports
from pykern.lowering.gpu.split_guards import SplitGuards
from pykern.lowering.gpu.subgroups import LowerSubgroups
from pykern.lowering.gpu.tapes import LowerDeviceTapes, PlaceTapes, tape_use
from pykern.lowering.gpu.unroll_items import UnrollItems
from pykern.lowering.gpu.unroll_loops import BoundCounters, UnrollLoops
from pykern.lowering.gpu.unroll_short_loops import UnrollShortLoops
from pykern.lowering.gpu.version_groups import VersionGroups
from pykern.lowering.gpu.work_items import PlaceWorkItems
from pykern.passes import kernels
from pykern.passes.kernels import find, named
from pykern.passes.registry import register

register(
    AggregateAtomics,
    BoundCounters,
    CallIntrinsics,
    CheckLimits,
    CompareOffsets,
    FlattenMemory,
    UnrollItems,
    LowerCollectives,
    LowerDeviceReports,
    LowerDeviceTapes,
    LowerSubgroups,
    LowerToPointers,
    MergeGuards,
    OutlineKernels,
    PlaceTapes,
    PlaceWorkItems,
    SplitGuards,
    UnrollLoops,
    UnrollShortLoops,
    VersionGroups,
)


@dataclass(frozen=True)
class KernelBinary:
    """A kernel as its driver takes it: `symbol` is the entry point, `workgroup` has one size a dimension."""

    binary: bytes
    symbol: str
    workgroup: tuple[int, ...]
    device: DeviceCode
    resources: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class CodeFacts:
    """What is read off the kernel's function in the llvm dialect."""

    symbol: str
    arguments: tuple[str, ...]
    workgroup: tuple[int, ...]
    shared_bytes: int
    launch_shared: int
    tape: TapeUse | None = None
    each: tuple[int, ...] = ()


def code_facts(device: ir.Operation) -> CodeFacts:
    """Of a gpu.module with one kernel."""
    entry = find(device, lambda op: op.name == "llvm.func" and kern.ARGUMENTS in op.attributes)[0]
    arguments = tuple(ir.StringAttr(a).value for a in ir.ArrayAttr(entry.attributes[kern.ARGUMENTS]))
    return CodeFacts(
        ir.StringAttr(entry.attributes["sym_name"]).value,
        arguments,
        kernels.integers(entry, kern.WORKGROUP) or (),
        ir.IntegerAttr(entry.attributes[kern.SHARED_BYTES]).value,
        ir.IntegerAttr(entry.attributes[kern.LAUNCH_SHARED]).value,
        tape_use(entry),
        kernels.integers(entry, kern.ITEMS_EACH) or (),
    )


def dynamic_arrays(module: ir.Module) -> int:
    """How many shared arrays the launch sizes: a derivative has two of each. Asked before the passes."""
    return max(1, len(named(module.operation, "kern.dynamic_shared")))


def room_of_each(room: int, arrays: int) -> int:
    """The most `shared_bytes` where each of several arrays takes as much, from a multiple of `BUFFER_ALIGNMENT` on."""
    return room if arrays == 1 else room // arrays // BUFFER_ALIGNMENT * BUFFER_ALIGNMENT
