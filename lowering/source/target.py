"""The source targets: a kern module to the text of a kernel in another language.

Comes in: a module on the kern stage. Goes out: `KernelBinary`, whose binary is the text. Read next: `pipeline`, `printer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from mlir import ir

from pykern.data.artifact import DeviceCode
from pykern.data.source import KernelSource, leaves
from pykern.data.source import ArraySpec
from pykern.lowering.gpu.flat_memory import ARGUMENTS
from pykern.lowering.gpu.grid import Grid
from pykern.lowering.gpu.limits import shared_bytes
from pykern.lowering.gpu.target import KernelBinary, dynamic_arrays
from pykern.lowering.record import Record
from pykern.lowering.source.cuda import Cuda, Hip
from pykern.lowering.source.language import Language, Memory, Word
from pykern.lowering.source.msl import Metal
from pykern.lowering.source.names import UserNames
from pykern.lowering.source.opencl_c import OpenClC
from pykern.lowering.source.pipeline import source_pipeline
from pykern.lowering.source.printer import INDENT, Printer, memories_written
from pykern.lowering.source.wgsl import Wgsl
from pykern.lowering.source.words import TypeWords
from pykern.passes import kernels
from pykern.passes.kernels import body, named
from pykern.passes.registry import register

register(TypeWords)

IDS = ("kern.global_id", "kern.local_id", "kern.group_id")
LANGUAGES: dict[str, Callable[[], Language]] = {"opencl-c": OpenClC, "cuda-c++": Cuda, "hip-c++": Hip, "msl": Metal, "wgsl": Wgsl}


def lower(module: ir.Module, source: KernelSource, record: Record) -> KernelBinary:
    """Lower and print. Raises `TargetError` for what the language lacks."""
    arrays = dynamic_arrays(module)
    names = list(argument_names(module, source))
    name_ids(module, UserNames(source.function))
    source_pipeline(small=True, offsets=False).run(module, record, texts=record.texts)
    kernel = next(kernels.kernels(module))
    started = time.perf_counter()
    text = printed(kernel, source, LANGUAGES[source.target](), names)
    record.add("source", text if record.texts else "", started, source.target)
    arguments = tuple(ir.StringAttr(a).value for a in ir.ArrayAttr(kernel.attributes[ARGUMENTS]))
    shared = shared_bytes(kernel)
    code = DeviceCode(source.target, arguments, False, shared, source.launch.shared, None, arrays)
    symbol = ir.StringAttr(kernel.attributes["sym_name"]).value
    return KernelBinary(text.encode(), symbol, kernels.integers(kernel, "kern.workgroup") or (), code)


def printed(kernel: ir.Operation, source: KernelSource, language: Language, names: list[str]) -> str:
    """The whole text of a kernel."""
    written, atomic = memories_written(kernel)
    given: list[Memory | Word] = []
    rest = iter(names)
    for argument in body(kernel).arguments:
        name = next(rest, f"word{len(given)}")
        if isinstance(argument.type, ir.MemRefType):
            given.append(Memory(name, ir.MemRefType(argument.type).element_type, argument in written, argument in atomic))
        else:
            given.append(Word(name, argument.type))
    printer = Printer(kernel, language, UserNames(source.function), given)
    printer.run()
    lines = [f"{INDENT * line.depth}{line.text}" for line in printer.lines]
    memories = [each for each in given if isinstance(each, Memory)]
    words = [each for each in given if isinstance(each, Word)]
    block = Grid(kernels.integers(kernel, "kern.workgroup") or (1,)).block
    symbol = ir.StringAttr(kernel.attributes["sym_name"]).value
    head, end = language.kernel(symbol, memories, words, block, printer.shared, lines)
    return "\n".join([*head, *lines, *end, ""])


def name_ids(module: ir.Module, users: UserNames) -> None:
    """Ids of work-items carry the names that the user gave them: `i, j = pk.index()` is one expression with several."""
    for op in named(module.operation, *IDS):
        name = users.of(op.location, op.opview.dim)
        if name:
            op.location = ir.Location.name(name, op.location)


def argument_names(module: ir.Module, source: KernelSource) -> Iterator[str]:
    """The names of a flat kernel's arguments: of arrays and their lengths, of numbers, and those of the launch."""
    for parameter in source.parameters:
        for number, spec in enumerate(leaves(parameter.spec)):
            several = len(list(leaves(parameter.spec))) > 1
            name = f"{parameter.name}_{number}" if several else parameter.name
            yield name
            if isinstance(spec, ArraySpec):
                yield from (f"{name}_n{dim}" for dim in range(spec.rank))
                if spec.layout != "C":
                    yield from (f"{name}_s{dim}" for dim in range(spec.rank))
    rank = source.launch.rank
    for dim in range(rank):
        yield f"count{dim}"
        if not source.launch.plain:
            yield from (f"start{dim}", f"step{dim}")
    yield from (f"first_{axis}" for axis in "xyz"[: min(rank, 3)])
    yield "report"
