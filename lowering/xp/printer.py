"""The operations of a program on tensors, one line each.

Comes in: a function. Goes out: lines of Python in which each value has a name or is an expression. A value is kept as a
`Fill` as long as it is one number everywhere: reductions begin with such. Read next: `generics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mlir import ir

from pykern.errors import TargetError
from pykern.lowering.xp.libraries import Library
from pykern.lowering.xp.scalars import OF_NUMBERS, element, expression, literal
from pykern.passes.analysis.cost_model.code_size import PRINTED_ELEMENTS


@dataclass(frozen=True)
class Fill:
    """The same number everywhere; no number: what stands there is never read."""

    number: str


class Printer:
    """The text in the making."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.lines: list[str] = []
        self.indent = "    "
        self.values: dict[ir.Value, str | Fill] = {}
        self.used: set[str] = set()
        """Helpers that the text needs."""
        self._count = 0

    # -- names -------------------------------------------------------------------------------------

    def name(self, text: str) -> str:
        """A new variable with this value."""
        if text.isidentifier():
            return text
        self._count += 1
        self.line(f"v{self._count} = {_bare(text)}")
        return f"v{self._count}"

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def helper(self, name: str) -> str:
        self.used.add(name)
        return name

    def text(self, value: ir.Value) -> str:
        """The value where it is read."""
        known = self.values[value]
        if not isinstance(known, Fill):
            return known
        made = self.library.full.format(
            _tuple(shape_of(value)), known.number or "0", type=self.library.type(element(value.type))
        )
        self.values[value] = self.name(made)
        return self.text(value)

    def argument(self, value: ir.Value, text: str) -> str:
        """A number of Python where the library wants an array."""
        if self.library.takes_numbers or not _is_number(text):
            return text
        return self.library.cast.format(text, type=self.library.type(element(value.type)))

    def scalar(self, op: ir.Operation, operands: Sequence[str]) -> str:
        """An operation of arith or math."""
        given = list(operands)
        if op.name not in ("arith.addf", "arith.mulf", "arith.subf", "arith.divf"):
            given = [self.argument(v, t) for v, t in zip(op.operands, given, strict=True)]
        elif all(map(_is_number, given)):
            given[0] = self.library.cast.format(
                given[0], type=self.library.type(element(op.operands[0].type))
            )
        if op.name == "arith.select" and all(map(_is_number, given[1:])):
            given[1] = self.library.cast.format(given[1], type=self.library.type(element(op.results[0].type)))
        text = expression(op, given, self.library)
        for name in ("quotient",):
            if f"{name}(" in text:
                self.helper(name)
        return text

    # -- operations --------------------------------------------------------------------------------

    def block(self, ops: Sequence[ir.Operation]) -> None:
        """All operations but the terminator."""
        for op in ops:
            self.operation(op)

    def operation(self, op: ir.Operation) -> None:
        """One operation. Raises `TargetError` for one that has no form on whole arrays."""
        rule = RULES.get(op.name)
        if rule is not None:
            rule(self, op)
        elif op.name.startswith(OF_NUMBERS):
            self.values[op.results[0]] = self.name(self.scalar(op, [self.text(v) for v in op.operands]))
        else:
            raise TargetError(
                f"`{op.name}` has no form in {self.library.name}: this is no operation on whole arrays",
            )


def shape_of(value: ir.Value) -> tuple[int, ...]:
    return tuple(ir.ShapedType(value.type).shape) if isinstance(value.type, ir.ShapedType) else ()


def _bare(text: str) -> str:
    """Without the parentheses around all of it; those of a tuple stay."""
    if not text.startswith("("):
        return text
    depth = 0
    for n, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if (depth == 0 and n < len(text) - 1) or (depth == 1 and letter == ","):
            return text
    return text[1:-1]


def _tuple(numbers: Sequence[object]) -> str:
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit() or text.startswith('float("') or text in ("True", "False")


Rule = Callable[[Printer, ir.Operation], None]


def _constant(p: Printer, op: ir.Operation) -> None:
    result, attribute = op.results[0], op.attributes["value"]
    if not isinstance(result.type, ir.ShapedType):
        p.values[result] = literal(attribute, result.type)
        return
    dense = ir.DenseElementsAttr(attribute)
    kind = ir.ShapedType(result.type).element_type
    if dense.is_splat:
        p.values[result] = Fill(literal(dense.get_splat_value(), kind))
        return
    shape = shape_of(result)
    numbers = [str(n) for n in _elements(dense, kind)]
    if len(numbers) > PRINTED_ELEMENTS:
        raise TargetError(f"a table of {len(numbers)} numbers is no text")
    listed = p.library.cast.format(f"[{', '.join(numbers)}]", type=p.library.type(element(result.type)))
    p.values[result] = p.name(f"{listed}.reshape({_tuple(shape)})")


def _elements(dense: ir.DenseElementsAttr, kind: ir.Type) -> list[object]:
    made = ir.DenseFPElementsAttr if str(kind).startswith(("f", "bf")) else ir.DenseIntElementsAttr
    return list(made(dense))


def _empty(p: Printer, op: ir.Operation) -> None:
    p.values[op.results[0]] = Fill("")


def _fill(p: Printer, op: ir.Operation) -> None:
    p.values[op.results[0]] = Fill(p.text(op.operands[0]))


def _same(p: Printer, op: ir.Operation) -> None:
    p.values[op.results[0]] = p.values[op.operands[0]]


def _reshape(p: Printer, op: ir.Operation) -> None:
    known = p.values[op.operands[0]]
    if isinstance(known, Fill):
        p.values[op.results[0]] = known
        return
    p.values[op.results[0]] = p.name(f"{known}.reshape({_tuple(shape_of(op.results[0]))})")


def _numbers(op: ir.Operation, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def _slices(p: Printer, op: ir.Operation, operands: Sequence[ir.Value]) -> tuple[list[str], bool]:
    """The index of a part, and whether an offset is known only when the text runs."""
    offsets, sizes, strides = (_numbers(op, f"static_{n}") for n in ("offsets", "sizes", "strides"))
    dynamic = ir.ShapedType.get_dynamic_size()
    given = iter(operands)
    shown = []
    is_dynamic = False
    for offset, size, stride in zip(offsets, sizes, strides, strict=True):
        if dynamic in (size, stride):
            raise TargetError("a part whose length is not known has no form on whole arrays")
        if offset == dynamic:
            is_dynamic = True
            if stride != 1:
                raise TargetError(
                    "a part with steps at a place that is not known has no form on whole arrays"
                )
            shown.append((p.text(next(given)), size))
        else:
            end = offset + (size - 1) * stride + 1 if size else offset
            shown.append(f"{offset}:{end}" + (f":{stride}" if stride != 1 else ""))
    if not is_dynamic:
        return shown, False
    begin = [s[0] if isinstance(s, tuple) else s.split(":")[0] for s in shown]
    return begin, True


def _extract_slice(p: Printer, op: ir.Operation) -> None:
    index, dynamic = _slices(p, op, list(op.operands)[1:])
    source = p.text(op.operands[0])
    sizes = _numbers(op, "static_sizes")
    if dynamic:
        text = _part(p, source, index, sizes)
    else:
        whole = [f"0:{n}" for n in shape_of(op.operands[0])]
        shown = [":" if i == w else i for i, w in zip(index, whole, strict=True)]
        text = source if set(shown) <= {":"} else f"{source}[{', '.join(shown)}]"
    shape = shape_of(op.results[0])
    if list(shape) != sizes:
        text += f".reshape({_tuple(shape)})"
    p.values[op.results[0]] = text if text == source else p.name(text)


def _part(p: Printer, source: str, begin: list[str], sizes: list[int]) -> str:
    if p.library.name == "jnp":
        return f"lax.dynamic_slice({source}, {_tuple(begin)}, {_tuple(sizes)})"
    return f"{source}[{', '.join(f'{b}:{b} + {n}' for b, n in zip(begin, sizes, strict=True))}]"


def _insert_slice(p: Printer, op: ir.Operation) -> None:
    index, dynamic = _slices(p, op, list(op.operands)[2:])
    sizes = _numbers(op, "static_sizes")
    value, target = p.text(op.operands[0]), p.text(op.operands[1])
    if list(shape_of(op.operands[0])) != sizes:
        value += f".reshape({_tuple(sizes)})"
    if dynamic and p.library.name == "jnp":
        p.values[op.results[0]] = p.name(
            f"lax.dynamic_update_slice({target}, {value}, {_tuple(begin_of(index))})"
        )
        return
    if dynamic:
        index = [f"{b}:{b} + {n}" for b, n in zip(index, sizes, strict=True)]
    p.values[op.results[0]] = p.name(updated(p, target, ", ".join(index), value))


def _pad(p: Printer, op: ir.Operation) -> None:
    """One number everywhere, and the operand in its place."""
    block, dynamic = op.regions[0].blocks[0], ir.ShapedType.get_dynamic_size()
    low = _numbers(op, "static_low")
    if dynamic in (*low, *_numbers(op, "static_high")) or any(list(a.uses) for a in block.arguments):
        raise TargetError("a border whose width or values are not known has no form on whole arrays")
    *inside, end = (each.operation for each in block.operations)
    p.block(inside)
    source, result = op.operands[0], op.results[0]
    p.values[result] = Fill(p.text(end.operands[0]))
    index = [f"{begin}:{begin + n}" for begin, n in zip(low, shape_of(source), strict=True)]
    p.values[result] = p.name(updated(p, p.text(result), ", ".join(index), p.text(source)))


def begin_of(index: list[str]) -> list[str]:
    """Where a part begins."""
    return [i.split(":")[0] for i in index]


def updated(p: Printer, target: str, index: str, value: str) -> str:
    """`target` with a part replaced."""
    if "updated(" in p.library.update:
        p.helper("updated")
        index = ", ".join(map(_slice, index.split(", ")))
    return p.library.update.format(target, index, value)


def _slice(index: str) -> str:
    """A part of an index, outside of brackets."""
    if index == "()":
        return "..."
    if index == ":":
        return "slice(None)"
    return f"slice({', '.join(index.split(':'))})" if ":" in index else index


def _extract(p: Printer, op: ir.Operation) -> None:
    source, *indices = op.operands
    shown = ", ".join(p.text(i) for i in indices) or "()"
    p.values[op.results[0]] = p.name(f"{p.text(source)}[{shown}]")


def _insert(p: Printer, op: ir.Operation) -> None:
    value, target, *indices = op.operands
    shown = ", ".join(p.text(i) for i in indices) or "()"
    p.values[op.results[0]] = p.name(updated(p, p.text(target), shown, p.text(value)))


def _from_elements(p: Printer, op: ir.Operation) -> None:
    kind = op.results[0].type
    numbers = [p.library.cast.format(p.text(v), type=p.library.type(element(kind))) for v in op.operands]
    text = p.library.call("stack", [f"[{', '.join(numbers)}]"])
    p.values[op.results[0]] = p.name(f"{text}.reshape({_tuple(shape_of(op.results[0]))})")


def _for(p: Printer, op: ir.Operation) -> None:
    """A loop with lengths that are known: a function of a counter and what it carries."""
    bounds = [p.text(v) for v in list(op.operands)[:3]]
    if not all(b.lstrip("-").isdigit() for b in bounds):
        raise TargetError("a loop whose length is not known has no form on whole arrays")
    low, high, by = map(int, bounds)
    block = op.regions[0].blocks[0]
    counter, *carried = block.arguments
    count = max(0, -(-(high - low) // by))
    given = [p.text(v) for v in list(op.operands)[3:]]
    p._count += 1
    step = f"step{p._count}"
    outside, p.indent = p.indent, p.indent + "    "
    p.lines.append(f"{outside}def {step}(k, carry):")
    names = [p.name(f"carry[{n}]") for n in range(len(carried))]
    p.values[counter] = p.name("k" if (low, by) == (0, 1) else f"{low} + k * {by}")
    p.values |= dict(zip(carried, names, strict=True))
    *inside, end = (each.operation for each in block.operations)
    before = dict(p.values)
    p.block(inside)
    p.line(f"return {_tuple([p.text(v) for v in end.operands])}")
    p.indent = outside
    p.values = {v: t for v, t in p.values.items() if v in before}
    results = p.name(f"{p.helper('fold')}({count}, {step}, {_tuple(given)})")
    for n, result in enumerate(op.results):
        p.values[result] = p.name(f"{results}[{n}]")


def _if(p: Printer, op: ir.Operation) -> None:
    """Both sides are computed, and one is taken."""
    condition = p.text(op.operands[0])
    sides: list[list[str]] = []
    for region in op.regions:
        *inside, end = (each.operation for each in region.blocks[0].operations)
        p.block(inside)
        sides.append([p.argument(v, p.text(v)) for v in end.operands])
    for n, result in enumerate(op.results):
        p.values[result] = p.name(p.library.call("where", [condition, sides[0][n], sides[1][n]]))


RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "tensor.empty": _empty,
    "linalg.fill": _fill,
    "tensor.splat": _fill,
    "tensor.cast": _same,
    "bufferization.materialize_in_destination": _same,
    "tensor.expand_shape": _reshape,
    "tensor.collapse_shape": _reshape,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.extract": _extract,
    "tensor.insert": _insert,
    "tensor.from_elements": _from_elements,
    "scf.for": _for,
    "scf.if": _if,
}
"""How operations are printed; those of arith and math are in `scalars`, linalg's in `generics`."""
