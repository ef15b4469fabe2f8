"""The source targets: a kern module to the text of a kernel in another language.

Comes in: a module on the kern stage. Goes out: `KernelBinary`, whose binary is the text. Read next: `pipeline`,
`printer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from mlir import ir

from pykern.data.artifact import DeviceCode, Site
from pykern.data.source import ArraySpec, KernelSource, ScalarSpec
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.frontend.casts import mlir_type
from pykern.lowering.gpu.grid import Grid
from pykern.lowering.gpu.limits import bytes_left, shared_bytes
from pykern.lowering.gpu.tapes import tape_use
from pykern.lowering.gpu.target import KernelBinary, dynamic_arrays
from pykern.lowering.record import PrintedLine, Record
from pykern.lowering.source.argument_names import argument_names, known_values, named_leaves
from pykern.lowering.source.c import C
from pykern.lowering.source.comments import commented
from pykern.lowering.source.cuda import Cuda, Hip
from pykern.lowering.source.interleave_items import InterleaveItems
from pykern.lowering.source.language import CALLED, Head, Language, Memory, Word
from pykern.lowering.source.msl import Metal
from pykern.lowering.source.names import Names, UserNames
from pykern.lowering.source.narrow_choices import NarrowChoices
from pykern.lowering.source.narrow_words import NarrowWords
from pykern.lowering.source.native_msl import NativeMetal
from pykern.lowering.source.native_wgsl import NativeWgsl
from pykern.lowering.source.opencl_c import OpenClC
from pykern.lowering.source.options import SourceOptions, options_of
from pykern.lowering.source.pipeline import c_pipeline, source_memory, source_work_items
from pykern.lowering.source.printer import INDENT, Printer
from pykern.lowering.source.split_angles import SplitAngles
from pykern.lowering.source.tile_items import TileItems
from pykern.lowering.source.values import memories_written
from pykern.lowering.source.wgsl import Wgsl
from pykern.lowering.source.whole_launch import WholeLaunch
from pykern.lowering.source.word_tapes import WordTapes
from pykern.lowering.source.words import TypeWords
from pykern.lowering.spirv.cut_loops import number_added_sites
from pykern.passes import kernels
from pykern.passes.kernels import body, named, update_type
from pykern.passes.registry import register
from pykern.types import BY_NAME

register(
    InterleaveItems, NarrowChoices, NarrowWords, SplitAngles, TileItems, TypeWords, WholeLaunch, WordTapes
)

IDS = ("kern.global_id", "kern.local_id", "kern.group_id")
LANGUAGES: dict[str, Callable[[SourceOptions], Language]] = {
    "c": lambda _: C(),
    "opencl-c": lambda _: OpenClC(),
    "cuda-cpp": lambda _: Cuda(),
    "hip-cpp": lambda _: Hip(),
    "msl": lambda options: NativeMetal.of(options) if options.words else Metal(),
    "wgsl": lambda options: (NativeWgsl if options.i64 else Wgsl).of(options),
}


def lower(module: ir.Module, source: KernelSource, record: Record) -> KernelBinary:
    """Lower and print. Raises `TargetError` for what the language lacks."""
    name, options = options_of(source.target)
    language, users = LANGUAGES[name](options), UserNames(source.function)
    language.noalias = source.noalias
    if not options.words and "f64" not in language.types:
        _refuse_prints(module, language)
    flat = flattened(module, source, language, users, record)
    if not options.words:
        flat.arguments = without_known(flat.kernel, source, flat.arguments)
        type_unused(flat, source, language)
    started = time.perf_counter()
    taken = Names(language.reserved | CALLED)
    symbol = taken.fresh(source.exported_name)
    arguments = flat.named(taken)
    unsigned = frozenset() if options.words else unsigned_arrays(source, language)
    without_sign = {name for name, own in zip(arguments, flat.arguments, strict=False) if own in unsigned}
    names = Given(symbol, arguments, taken, flat.items, without_sign)
    lines = printed(flat.kernel, users, language, names, source if options.comments else None)
    whole = [*((text, ()) for text in language.top([text for text, _ in lines])), *lines]
    record.add_lines("source", whole, started, name)
    text = "\n".join([*(text for text, _ in whole), ""])
    return binary_of(flat, source, text, symbol)


def _refuse_prints(module: ir.Module, language: Language) -> None:
    """Raise for a print of floats, which a launch of pykern's own tells in 64 bits."""
    for op in named(module.operation, "kern.print"):
        kinds = [ir.StringAttr(kind).value for kind in ir.ArrayAttr(op.attributes["dtypes"])]
        if any(kind.startswith(("f", "bf")) for kind in kinds):
            raise TargetError(
                f"a kernel in {language.name} has nobody to print floats to",
                span_of(op.location),
                hint="leave the print out of what another program launches",
            )


def type_unused(flat: Flat, source: KernelSource, language: Language) -> None:
    """Let numbers that the kernel does not use have the types that they were passed with, where the language has them.
    In WGSL all words are of 32 bits, and not every device of OpenCL has doubles."""
    given = {name: spec.dtype for name, spec in named_leaves(source) if isinstance(spec, ScalarSpec)}
    for argument, name in zip(body(flat.kernel).arguments, flat.arguments, strict=False):
        if name in given and not list(argument.uses):
            kind = mlir_type(BY_NAME[given[name]])
            is_float, has_type = isinstance(kind, ir.FloatType), str(kind) in language.types
            if isinstance(language, Wgsl) or (isinstance(language, OpenClC) and str(kind) == "f64"):
                has_type = False
            if has_type or is_float:
                argument.set_type(kind if has_type else ir.F32Type.get())
    update_type(flat.kernel)


def unsigned_arrays(source: KernelSource, language: Language) -> frozenset[str]:
    """Arrays that callers have as arrays of unsigned integers, where the language says so."""
    if not isinstance(language, C | Cuda | Metal | OpenClC):
        return frozenset()
    leaves = named_leaves(source)
    return frozenset(name for name, s in leaves if isinstance(s, ArraySpec) and s.dtype.startswith("u"))


@dataclass
class Flat:
    """A kernel that can be printed: the names of its arguments and of its loops over work-items, the sites that were
    added, and how many shared arrays a launch sizes."""

    kernel: ir.Operation
    arguments: list[str]
    items: tuple[str, ...]
    added: tuple[Site, ...]
    arrays: int

    def named(self, taken: Names) -> list[str]:
        """A name in the text for each argument."""
        names = iter(self.arguments)
        return [taken.fresh(next(names, "word")) for _ in body(self.kernel).arguments]


def flattened(
    module: ir.Module,
    source: KernelSource,
    language: Language,
    users: UserNames,
    record: Record,
    offsets: bool = False,
) -> Flat:
    """Run the passes. With `offsets` every array is followed by the place of its first element."""
    _, options = options_of(source.target)
    arrays, named_items = dynamic_arrays(module), name_ids(module, users)
    added: tuple[Site, ...] = ()
    offsets = offsets or options.words
    if isinstance(language, C):
        c_pipeline().run(module, record, texts=record.texts)
    else:
        source_work_items(options, language).run(module, record, texts=record.texts)
        added = number_added_sites(module)
        source_memory(options, language, offsets).run(module, record, texts=record.texts)
    kernel = next(kernels.kernels(module))
    items = items_of(kernel, named_items, source.launch.rank) if isinstance(language, C) else ()
    return Flat(kernel, list(argument_names(source, offsets)), items, added, arrays)


def binary_of(
    flat: Flat, source: KernelSource, text: str, symbol: str, names: tuple[str, ...] = ()
) -> KernelBinary:
    """What a launch has to know beside the text; `names` are those of `DeviceCode`."""
    language, options = options_of(source.target)
    kernel, arrays = flat.kernel, flat.arrays
    arguments = tuple(ir.StringAttr(a).value for a in ir.ArrayAttr(kernel.attributes[kern.ARGUMENTS]))
    shared = shared_bytes(kernel)
    code = DeviceCode(
        language,
        arguments,
        options.words,
        shared,
        source.launch.shared,
        tape_use(kernel),
        arrays,
        flat.added,
        names,
    )
    resources: dict[str, object] = {"shared_bytes": shared}
    if source.options.fastmath:
        resources["fastmath"] = True  # drivers may be asked for less
    if source.launch.shared:
        resources["max_dynamic_shared"] = bytes_left(shared, arrays)
    return KernelBinary(
        text.encode(), symbol, kernels.integers(kernel, kern.WORKGROUP) or (), code, resources
    )


@dataclass
class Given:
    """Names that a kernel has in the text: its own, those of its arguments in order, the `taken` ones, and those of its
    loops over work-items. `unsigned` are arrays whose elements have no sign for who calls it."""

    symbol: str
    arguments: list[str]
    taken: Names
    items: tuple[str, ...] = ()
    unsigned: Collection[str] = ()


def printed(
    kernel: ir.Operation,
    users: UserNames,
    language: Language,
    names: Given,
    comments: KernelSource | None = None,
) -> list[PrintedLine]:
    """The lines of a kernel, with the locations of what they were made of; with `comments` lines of that source stand
    in them."""
    written, atomic = memories_written(kernel)
    given: list[Memory | Word] = []
    for argument, name in zip(body(kernel).arguments, names.arguments, strict=True):
        if isinstance(argument.type, ir.MemRefType):
            given.append(
                Memory(
                    name,
                    ir.MemRefType(argument.type).element_type,
                    argument in written,
                    argument in atomic,
                    unsigned=name in names.unsigned and argument not in atomic,
                )
            )
        else:
            given.append(Word(name, argument.type, used=bool(list(argument.uses))))
    printer = Printer(kernel, language, users, names.taken, given, items=names.items)
    printer.run()
    whole = printer.lines if comments is None else commented(printer.lines, comments)
    texts = [f"{INDENT * line.depth}{line.text}" for line in whole]
    block = Grid(kernels.integers(kernel, kern.WORKGROUP) or (1,)).block
    head = language.kernel(Head(names.symbol, given, block, printer.shared))
    inner = zip(texts, (line.locations for line in whole), strict=True)
    return [*((text, ()) for text in head), *inner, ("}", ())]


def without_known(kernel: ir.Operation, source: KernelSource, names: list[str]) -> list[str]:
    """The names of what is left when lengths, counts and first groups that are known are no arguments."""
    known, block = known_values(source), body(kernel)
    kinds = list(ir.ArrayAttr(kernel.attributes[kern.ARGUMENTS]))
    firsts = len(names) - 1 - min(source.launch.rank, 3)
    kept: list[str] = []
    for number, (argument, name) in reversed(list(enumerate(zip(block.arguments, names, strict=False)))):
        if name in known or firsts <= number < len(names) - 1:
            block.erase_argument(argument.arg_number)
            del kinds[number]
        else:
            kept.insert(0, name)
    kernel.attributes[kern.ARGUMENTS] = ir.ArrayAttr.get(kinds)
    update_type(kernel)
    return kept


def name_ids(module: ir.Module, users: UserNames) -> dict[int, str]:
    """Ids of work-items carry the names that the user gave them: `i, j = pk.index()` is one expression with several.
    Gives those of the index by dimension."""
    found: dict[int, str] = {}
    for op in named(module.operation, *IDS):
        name = users.of(op.location, op.opview.dim)
        if name:
            op.location = ir.Location.name(name, op.location)
            if op.name == IDS[0]:
                found.setdefault(op.opview.dim, name)
    return found


def items_of(kernel: ir.Operation, found: dict[int, str], rank: int) -> tuple[str, ...]:
    """Names of the loops over work-items, from the outermost one."""
    if kernels.integers(kernel, kern.WORKGROUP) is not None:
        return ("group", "item")
    return tuple(found.get(dim, f"item{dim}") for dim in range(rank))
