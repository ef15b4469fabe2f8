"""The source targets: a kern module to the text of a kernel in another language.

Comes in: a module on the kern stage. Goes out: `KernelBinary`, whose binary is the text. Read next: `pipeline`,
`printer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from mlir import ir

from pykern.data.artifact import DeviceCode
from pykern.data.source import ArraySpec, KernelSource, leaves
from pykern.dialect import attributes as kern
from pykern.lowering.gpu.grid import Grid
from pykern.lowering.gpu.limits import bytes_left, shared_bytes
from pykern.lowering.gpu.tapes import tape_use
from pykern.lowering.gpu.target import KernelBinary, dynamic_arrays
from pykern.lowering.record import Record
from pykern.lowering.source.cuda import Cuda, Hip
from pykern.lowering.source.language import CALLED, Language, Memory, Word
from pykern.lowering.source.msl import Metal
from pykern.lowering.source.names import Names, UserNames
from pykern.lowering.source.opencl_c import OpenClC
from pykern.lowering.source.options import options_of
from pykern.lowering.source.pipeline import source_pipeline
from pykern.lowering.source.printer import INDENT, Printer, memories_written
from pykern.lowering.source.wgsl import Wgsl
from pykern.lowering.source.words import TypeWords
from pykern.passes import kernels
from pykern.passes.kernels import body, named
from pykern.passes.registry import register

register(TypeWords)

IDS = ("kern.global_id", "kern.local_id", "kern.group_id")
LANGUAGES: dict[str, Callable[[], Language]] = {
    "opencl-c": OpenClC,
    "cuda-cpp": Cuda,
    "hip-cpp": Hip,
    "msl": Metal,
    "wgsl": Wgsl,
}


def lower(module: ir.Module, source: KernelSource, record: Record) -> KernelBinary:
    """Lower and print. Raises `TargetError` for what the language lacks."""
    arrays = dynamic_arrays(module)
    name, options = options_of(source.target)
    names, users = list(argument_names(source, options.words)), UserNames(source.function)
    name_ids(module, users)
    language = LANGUAGES[name]()
    source_pipeline(options, language).run(module, record, texts=record.texts)
    kernel = next(kernels.kernels(module))
    started = time.perf_counter()
    symbol, text = printed(kernel, users, language, names)
    record.add("source", text if record.texts else "", started, name)
    arguments = tuple(ir.StringAttr(a).value for a in ir.ArrayAttr(kernel.attributes[kern.ARGUMENTS]))
    shared = shared_bytes(kernel)
    code = DeviceCode(name, arguments, options.words, shared, source.launch.shared, tape_use(kernel), arrays)
    resources: dict[str, object] = {"shared_bytes": shared}
    if source.options.fastmath:
        resources["fastmath"] = True  # drivers may be asked for less
    if source.launch.shared:
        resources["max_dynamic_shared"] = bytes_left(shared, arrays)
    return KernelBinary(
        text.encode(), symbol, kernels.integers(kernel, kern.WORKGROUP) or (), code, resources
    )


def printed(kernel: ir.Operation, users: UserNames, language: Language, names: list[str]) -> tuple[str, str]:
    """The name of a kernel in the text, and the whole text."""
    written, atomic = memories_written(kernel)
    taken = Names(language.reserved | CALLED)
    symbol = taken.fresh(ir.StringAttr(kernel.attributes["sym_name"]).value)
    given: list[Memory | Word] = []
    rest = iter(names)
    for argument in body(kernel).arguments:
        name = taken.fresh(next(rest, "word"))
        if isinstance(argument.type, ir.MemRefType):
            given.append(
                Memory(
                    name, ir.MemRefType(argument.type).element_type, argument in written, argument in atomic
                )
            )
        else:
            given.append(Word(name, argument.type))
    printer = Printer(kernel, language, users, taken, given)
    printer.run()
    lines = [f"{INDENT * line.depth}{line.text}" for line in printer.lines]
    block = Grid(kernels.integers(kernel, kern.WORKGROUP) or (1,)).block
    head, end = language.kernel(symbol, given, block, printer.shared, lines)
    return symbol, "\n".join([*head, *lines, *end, ""])


def name_ids(module: ir.Module, users: UserNames) -> None:
    """Ids of work-items carry the names that the user gave them: `i, j = pk.index()` is one expression with several."""
    for op in named(module.operation, *IDS):
        name = users.of(op.location, op.opview.dim)
        if name:
            op.location = ir.Location.name(name, op.location)


def argument_names(source: KernelSource, offsets: bool) -> Iterator[str]:
    """The names of a flat kernel's arguments: of arrays and their lengths, of numbers, and those of the launch."""
    for parameter in source.parameters:
        specs = list(leaves(parameter.spec))
        for number, spec in enumerate(specs):
            name = f"{parameter.name}_{number}" if len(specs) > 1 else parameter.name
            yield name
            if isinstance(spec, ArraySpec):
                if offsets:
                    yield f"{name}_at"
                yield from (f"{name}_n{dim}" for dim in range(spec.rank))
                if spec.strided:
                    yield from (f"{name}_s{dim}" for dim in range(spec.rank))
    rank = source.launch.rank
    for dim in range(rank):
        yield f"count{dim}"
        if not source.launch.plain:
            yield from (f"start{dim}", f"step{dim}")
    yield from (f"first_{axis}" for axis in "xyz"[: min(rank, 3)])
    yield "report"
