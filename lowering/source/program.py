"""Array programs as texts: kernels one below the other, and in C the function that calls them.

Comes in: a module with one `kern.program` function on tensors, and a source target. Goes out: `DeviceProgram`. All
kernels of a text have that whole text as their binary; in WGSL, whose bindings belong to a text, each has its own.
Read next: `host`, which prints the function that calls the kernels; `pykern.lowering.gpu.program.target`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.data.source import (
    ArraySpec,
    FunctionSource,
    KernelOptions,
    KernelSource,
    LaunchSpec,
    Parameter,
    ScalarSpec,
)
from pykern.data.target import Target
from pykern.dialect import attributes as kern
from pykern.lowering.gpu.program import target as device
from pykern.lowering.gpu.program.target import DeviceProgram
from pykern.lowering.gpu.target import KernelBinary
from pykern.lowering.record import Record
from pykern.lowering.source import target as kernel_target
from pykern.lowering.source.c import C
from pykern.lowering.source.host import Callee, host_lines, value_name
from pykern.lowering.source.language import CALLED, Language
from pykern.lowering.source.names import Names, UserNames
from pykern.lowering.source.options import OFFSETS, SourceOptions, matrix_unit, options_of
from pykern.lowering.source.pipeline import has_doubles
from pykern.lowering.source.target import LANGUAGES, Given, binary_of, flattened, printed
from pykern.passes.kernels import body, integers, kernels, named, programs, rank, update_type

ITEMS = ("i", "j", "k")
"""Names of loops over work-items, from the outermost one."""
APART = ("wgsl",)
"""Languages in which each kernel is a text of its own."""


def lower(
    module: ir.Module,
    function: FunctionSource,
    options: KernelOptions,
    target: Target,
    symbol: str,
    record: Record,
) -> DeviceProgram:
    """Lower the program to a text that a person reads, whose function in C is called `symbol`; with the option `words`
    to the texts that pykern launches."""
    name, how = options_of(target)
    text = ProgramText(module, UserNames(function), name, how)
    kernel = kernel_target.lower if how.words else text.add
    made = device.lower(
        module, function, options, target, kernel, record, matrix_unit(target),
        doubles=has_doubles(how, text.language),
    )  # fmt: skip
    if how.words:
        return made
    if name in APART:
        return made
    started = time.perf_counter()
    scratch = text.call_all(made, symbol) if name == "c" else 0
    whole = text.whole()
    record.add("source", whole if record.texts else "", started, name)
    binary = whole.encode()
    plan = replace(made.plan, kernels=tuple(replace(k, begin=0, end=len(binary)) for k in made.plan.kernels))
    return replace(made, binary=binary, plan=plan, scratch_bytes=scratch)


@dataclass
class ProgramText:
    """The text of a program in the making. `symbols` are names that its functions have."""

    module: ir.Module
    users: UserNames
    name: str
    options: SourceOptions
    language: Language = field(init=False)
    symbols: Names = field(init=False)
    lines: list[str] = field(default_factory=list)
    callees: list[Callee] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.language = self._language()
        self.symbols = Names(self.language.reserved | CALLED)

    def _language(self) -> Language:
        made = LANGUAGES[self.name](self.options)
        made.alone, made.noalias = self.name in APART, False  # a program may pass an array twice
        return made

    def add(self, alone: ir.Module, source: KernelSource, record: Record) -> KernelBinary:
        """Print one kernel, the only one of its module. See `pykern.lowering.gpu.program.target.Lower`."""
        kernel = next(kernels(alone))
        symbol = self.symbols.fresh(ir.StringAttr(kernel.attributes["sym_name"]).value)
        source = self._described(kernel, source)
        if self._is_single(kernel):
            kernel.attributes[kern.NDRANGE] = ir.DenseI64ArrayAttr.get([1])
        language = self._language() if self.name in APART else self.language
        flat = flattened(alone, source, language, self.users, record, offsets=self.name in OFFSETS)
        taken = Names(language.reserved | CALLED | {symbol})
        kept = _without_unused(flat.kernel, flat.named(taken))
        names = Given(symbol, [name for name in kept if name], taken, ITEMS)
        comments = source if self.options.comments else None
        lines = [text for text, _ in printed(flat.kernel, self.users, language, names, comments)]
        if self.name not in APART:
            self.lines += ["", *lines] if self.lines else lines
        self.callees.append(Callee(symbol, tuple(kept), [a.type for a in body(flat.kernel).arguments]))
        text = "\n".join([*language.top(lines), *lines, ""]) if self.name in APART else ""
        return binary_of(flat, source, text, symbol, tuple(kept))

    def _described(self, kernel: ir.Operation, source: KernelSource) -> KernelSource:
        """The source with parameters, named by what the first launch passes."""
        symbol = ir.StringAttr(kernel.attributes["sym_name"]).value
        program = programs(self.module)[0]
        launch = next(op.opview for op in named(program, "kern.launch") if op.opview.kernel == symbol)
        parameters = tuple(
            Parameter(value_name(value, program, self.users), _spec(argument.type))
            for value, argument in zip(launch.call.operands, body(kernel).arguments, strict=True)
        )
        launched = LaunchSpec(rank(kernel), kern.PLAIN in kernel.attributes)
        return replace(source, parameters=parameters, launch=launched, noalias=False)

    def _is_single(self, kernel: ir.Operation) -> bool:
        """Whether a kernel in C whose count is open has one work-item: then there is no loop over them."""
        if self.name != "c" or kern.NDRANGE in kernel.attributes or integers(kernel, kern.WORKGROUP) != (1,):
            return False
        launches = [op.opview for op in named(programs(self.module)[0], "kern.launch")]
        alike = [each for each in launches if integers(each.callee, kern.WORKGROUP) == (1,)]
        return all(each.ndrange == (1,) for each in alike)

    def call_all(self, made: DeviceProgram, symbol: str) -> int:
        """Print the function that calls the kernels; gives the bytes of memory that it works in."""
        assert isinstance(self.language, C)
        callees = {name: self.callees[number] for name, number in made.numbers.items()}
        lines, scratch = host_lines(
            self.module, callees, self.users, self.language, self.symbols.fresh(symbol)
        )
        self.lines += ["", *lines]
        return scratch

    def whole(self) -> str:
        """The text."""
        return "\n".join([*self.language.top(self.lines), *self.lines, ""])


def _spec(kind: ir.Type) -> ArraySpec | ScalarSpec:
    """An argument of a kernel as its names need it."""
    if not isinstance(kind, ir.MemRefType):
        return ScalarSpec(str(kind))
    is_dense = kind.rank == 0 or isinstance(kind.layout, ir.AffineMapAttr)
    return ArraySpec(str(kind.element_type), tuple(kind.shape), strided=not is_dense)


def _without_unused(kernel: ir.Operation, names: list[str]) -> list[str]:
    """The names of the arguments, "" for one that nothing uses, which the kernel no longer takes."""
    block, kept = body(kernel), list(names)
    for number in reversed(range(len(block.arguments))):
        if not list(block.arguments[number].uses):
            block.erase_argument(number)
            kept[number] = ""
    update_type(kernel)
    return kept
