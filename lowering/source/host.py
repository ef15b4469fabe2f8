"""The function in C that calls the kernels of an array program.

Comes in: a program on buffers that launches kernels, and how each kernel is called. Goes out: lines of C. Memory
between the kernels lies in one piece that the caller brings, the last parameter. Read next: `printer`, which prints
numbers, branches and loops here as in kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.errors import TargetError
from pykern.lowering.source.c import C
from pykern.lowering.source.expressions import ATOM, PRODUCT, SUM, Expression, binary
from pykern.lowering.source.language import CALLED, Head, Memory, Word
from pykern.lowering.source.names import Names, UserNames
from pykern.lowering.source.printer import INDENT, Printer
from pykern.passes.buffer.plan_memory import PlanMemory
from pykern.passes.ir.memory import SAME_ELEMENTS, bytes_of, root_of, users, writes
from pykern.passes.ir.values import defining
from pykern.passes.kernels import argument_marks, body, integers, programs, symbols

WORKSPACE = "workspace"


@dataclass(frozen=True)
class Callee:
    """A kernel in the text. `names` are those of its arguments, "" for one that the text leaves out; `types` are those
    of the others."""

    symbol: str
    names: tuple[str, ...]
    types: list[ir.Type]


def host_lines(
    module: ir.Module, callees: dict[str, Callee], named: UserNames, language: C, symbol: str
) -> tuple[list[str], int]:
    """The function `symbol`, and the bytes of its workspace; `callees` are kernels by their symbols in the module."""
    PlanMemory().run(module)
    program = programs(module)[0]
    arena = list(body(program).arguments)[-1]
    scratch = ir.MemRefType(arena.type).shape[0] if list(arena.uses) else 0
    names = Names(language.reserved | CALLED | {symbol, *(callee.symbol for callee in callees.values())})
    given = list(_parameters(program, named, names))
    printer = HostPrinter(program, language, named, names, given, callees=callees, globals=symbols(module))
    printer.run()
    lines = [f"{INDENT * line.depth}{line.text}" for line in printer.lines]
    language.alone, language.noalias = True, True
    head = language.kernel(Head(symbol, given if scratch else given[:-1]))
    return [*printer.constants, *head, *lines, "}"], scratch


def value_name(value: ir.Value, program: ir.Operation, named: UserNames) -> str:
    """What a value of the program is called: as the user called it, or the parameter that it is a view of."""
    if isinstance(value.type, ir.MemRefType):
        value = root_of(value)
    op = defining(value)
    if op is not None:
        return named.of(op.location) or "t"
    known = dict(zip(body(program).arguments, _argument_names(program), strict=True))
    return known.get(value, "t")


def _argument_names(program: ir.Operation) -> Iterator[str]:
    """Names of parameters, of results that have memory of their own, and of the workspace."""
    arguments = list(body(program).arguments)
    marks = [
        ir.StringAttr(mark[kern.NAME]).value if kern.NAME in mark else "" for mark in argument_marks(program)
    ]
    own = sum(place < 0 for place in integers(program, kern.RESULT_ARGUMENTS) or ())
    first = next((n for n, name in enumerate(marks) if not name), len(arguments))
    for number in range(len(arguments)):
        result = number - first
        if result < 0:
            yield marks[number]
        else:
            yield WORKSPACE if result >= own else "result" if own == 1 else f"result{result}"


def _parameters(program: ir.Operation, named: UserNames, names: Names) -> Iterator[Memory | Word]:
    for argument, name in zip(body(program).arguments, _argument_names(program), strict=True):
        name = names.fresh(name)
        if isinstance(argument.type, ir.MemRefType):
            written = any(writes(op, operand) for op, operand in users(argument))
            yield Memory(name, _element(argument.type), written, False)
        else:
            yield Word(name, argument.type)


def _element(kind: ir.Type) -> ir.Type:
    """The element of a buffer as C has it: floats that C lacks are their bits."""
    element = ir.MemRefType(kind).element_type
    if isinstance(element, ir.FloatType) and str(element) not in ("f16", "f32", "f64"):
        return ir.IntegerType.get_signless(element.width)
    return ir.IntegerType.get_signless(64) if isinstance(element, ir.IndexType) else element


@dataclass
class HostPrinter(Printer):
    """Prints a program: buffers are pointers, launches are calls."""

    language: C
    callees: dict[str, Callee] = field(default_factory=dict)
    globals: dict[str, ir.Operation] = field(default_factory=dict)
    """Symbols of the module."""
    constants: list[str] = field(default_factory=list)
    """Definitions of constant arrays."""

    def _op(self, op: ir.Operation) -> None:
        handler = _HANDLERS.get(op.name)
        if handler is None:
            super()._op(op)
        else:
            handler(self, op)

    def _above(self, text: str) -> None:
        """The program's own loops run one iteration after the other."""

    def _type(self, value: ir.Value, location: ir.Location | None = None) -> str:
        if not isinstance(value.type, ir.MemRefType):
            return super()._type(value, location)
        return (
            f"{self.language.type(_element(value.type), None if location is None else span_of(location))} *"
        )

    def _value(self, value: ir.Value) -> Expression:
        found = super()._value(value)
        if isinstance(value.type, ir.MemRefType) and self._is_read_only(value):
            return Expression(f"({self._type(value)}){found.within(ATOM)}", reads=found.reads)
        return found

    def _name(self, value: ir.Value, expression: Expression, locations: tuple[ir.Location, ...]) -> None:
        if not isinstance(value.type, ir.MemRefType):
            super()._name(value, expression, locations)
            return
        name = self.names.fresh(self._hint(value) or "t")
        self._put(self.language.constant(self._type(value), name, expression.text), locations)
        self._written[value] = Expression(name)

    def _is_read_only(self, value: ir.Value) -> bool:
        """Whether a pointer is to an argument that nothing writes: what a loop carries on is no such pointer."""
        told = self._memories.get(root_of(value))
        return told is not None and not told.written

    # -- buffers -----------------------------------------------------------------------------------

    def _pointer(self, value: ir.Value) -> Expression:
        """A buffer's first element, as it is."""
        return self._written[value]

    def _view(self, op: ir.Operation) -> None:
        """A piece of the workspace."""
        (value,) = op.results
        place = self._value(op.operands[1])
        whole = (
            binary(self._pointer(op.operands[0]), "+", place, SUM)
            if place.text != "0"
            else self._pointer(op.operands[0])
        )
        name = self.names.fresh(self.users.of(op.location) or "t")
        kind = self._type(value, op.location)
        self._statement(f"{kind}const {name} = ({kind}){whole.within(ATOM)};", op)
        self._written[value] = Expression(name)

    def _same(self, op: ir.Operation) -> None:
        self._written[op.results[0]] = self._pointer(op.operands[0])

    def _subview(self, op: ir.Operation) -> None:
        """The pointer moves by the sum of offsets times strides."""
        source = ir.MemRefType(op.operands[0].type)
        strides, _ = source.get_strides_and_offset()
        _, offsets, *_ = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        moving = iter(list(op.operands)[1 : 1 + offsets])
        at = [
            next(moving) if n == ir.ShapedType.get_dynamic_stride_or_offset() else n
            for n in ir.DenseI64ArrayAttr(op.attributes["static_offsets"])
        ]
        place = self._place(at, strides)
        base = self._pointer(op.operands[0])
        (value,) = op.results
        if place.text == "0":
            self._written[value] = base
        elif place.text.isdigit():
            self._written[value] = binary(base, "+", place, SUM)
        else:  # numbers may be used again, and change
            name = self.names.fresh(self.users.of(op.location) or "t")
            const = "const " if self._is_read_only(value) else ""
            self._statement(
                f"{const}{self._type(value)}const {name} = {binary(base, '+', place, SUM).text};", op
            )
            self._written[value] = Expression(name)

    def _place(self, at: Sequence[ir.Value | int], strides: Sequence[int]) -> Expression:
        """The sum of indices times strides."""
        fixed = sum(n * stride for n, stride in zip(at, strides, strict=True) if isinstance(n, int))
        total = Expression(str(fixed)) if fixed else None
        for index, stride in zip(at, strides, strict=True):
            if not isinstance(index, int):
                term = self._number(index)
                term = term if stride == 1 else binary(term, "*", Expression(str(stride)), PRODUCT)
                total = term if total is None else binary(total, "+", term, SUM)
        return total or Expression("0")

    def _number(self, value: ir.Value) -> Expression:
        """A number that is written down, so that it may be used several times."""
        if value in self._pending:
            pending = self._pending.pop(value)
            self._name(value, pending.expression, pending.locations)
        return self._written[value]

    def _constant_array(self, op: ir.Operation) -> None:
        known = self.globals[ir.FlatSymbolRefAttr(op.attributes["name"]).value]
        values = ir.DenseElementsAttr(known.attributes["initial_value"])
        kind = ir.MemRefType(op.results[0].type)
        texts = list(self._elements(values, kind.element_type)) or ["0"]
        name = self.names.fresh("constant")
        element = self.language.type(_element(kind), span_of(op.location))
        rows = [", ".join(texts[n : n + 12]) + "," for n in range(0, len(texts), 12)]
        self.constants += [
            f"static const {element} {name}[] = {{",
            *(f"{INDENT}{row}" for row in rows),
            "};",
            "",
        ]
        self._written[op.results[0]] = Expression(name)
        self._memories[op.results[0]] = Memory(name, _element(kind), False, False)

    def _elements(self, values: ir.DenseElementsAttr, element: ir.Type) -> Iterator[str]:
        if isinstance(element, ir.FloatType) and str(element) in ("f16", "f32", "f64"):
            for number in ir.DenseFPElementsAttr(values):
                yield self.language.literal(ir.FloatAttr.get(element, number), element).text
        elif isinstance(element, ir.FloatType):
            raise TargetError(f"C has no constants of {element}", hint="convert the array to f32 first")
        else:
            stored = element if isinstance(element, ir.IntegerType) else ir.IntegerType.get_signless(64)
            for number in ir.DenseIntElementsAttr(values):
                yield self.language.literal(ir.IntegerAttr.get(stored, int(number)), stored).text

    def _copy(self, op: ir.Operation) -> None:
        source, target = op.operands
        self._settle(memory=True)
        size = bytes_of(ir.MemRefType(target.type))
        # what a loop carries may be the same memory
        self._statement(f"memmove({self._pointer(target).text}, {self._pointer(source).text}, {size});", op)

    def _load(self, op: ir.Operation) -> None:
        strides, _ = ir.MemRefType(op.operands[0].type).get_strides_and_offset()
        place = self._place(list(op.operands)[1:], strides)
        cell = f"{self._pointer(op.operands[0]).within(ATOM)}[{place.text}]"
        self._bind(op, Expression(cell, memory=True).over(place))

    def _length(self, op: ir.Operation) -> None:
        raise TargetError("a length that is not known when the program is compiled", span_of(op.location))

    # -- launches ----------------------------------------------------------------------------------

    def _launch(self, op: ir.Operation) -> None:
        view = op.opview
        if 0 in view.ndrange:
            return
        callee = self.callees[view.kernel]
        passed = [text for value in view.call.operands for text in self._passed(value)]
        known = view.callee
        plain = known is not None and kern.PLAIN in known.attributes
        for count, start, step in zip(view.ndrange, view.starts, view.steps, strict=True):
            passed += [str(count)] if plain else [str(count), str(start), str(step)]
        kept = [text for text, name in zip(passed, callee.names, strict=False) if name]
        arguments = [
            self._cast(text, kind, value)
            for text, kind, value in zip(
                kept, callee.types, self._buffers(view.call.operands, callee), strict=True
            )
        ]
        self._settle(memory=True)
        self._statement(f"{callee.symbol}({', '.join(arguments)});", op)

    def _passed(self, value: ir.Value) -> Iterator[str]:
        """What a kernel may take of a value: of a buffer its pointer, lengths and strides."""
        if not isinstance(value.type, ir.MemRefType):
            yield self._number(value).text
            return
        kind = ir.MemRefType(value.type)
        yield self._pointer(value).text
        yield from map(str, kind.shape)
        if kind.rank and not isinstance(kind.layout, ir.AffineMapAttr):
            yield from map(str, kind.get_strides_and_offset()[0])

    def _buffers(self, operands: Sequence[ir.Value], callee: Callee) -> Iterator[ir.Value | None]:
        """For each argument that the text takes, the buffer that is passed, None for a number."""
        buffers = iter([value for value in operands if isinstance(value.type, ir.MemRefType)])
        for kind in callee.types:
            yield next(buffers) if isinstance(kind, ir.MemRefType) else None

    def _cast(self, text: str, kind: ir.Type, value: ir.Value | None) -> str:
        """A pointer where the kernel sees other elements, as bytes in place of bools."""
        if value is None or ir.MemRefType(kind).element_type == _element(value.type):
            return text
        return f"({self.language.type(ir.MemRefType(kind).element_type)} *)({text})"


_HANDLERS: dict[str, Callable[[HostPrinter, ir.Operation], None]] = {
    "memref.view": HostPrinter._view,
    "memref.subview": HostPrinter._subview,
    **dict.fromkeys(SAME_ELEMENTS, HostPrinter._same),
    "memref.get_global": HostPrinter._constant_array,
    "memref.copy": HostPrinter._copy,
    "memref.load": HostPrinter._load,
    "memref.dim": HostPrinter._length,
    "kern.launch": HostPrinter._launch,
}
