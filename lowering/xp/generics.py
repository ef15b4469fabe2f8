"""A `linalg.generic` as an expression over whole arrays.

Comes in: the operation. Goes out: lines. Operands are brought to the order of the loops, with ``None`` where a loop is
missing, so that they broadcast; a product of two that is summed is an `einsum`; a reduction that a library has is one;
any other is written out, or a loop. Read next: `printer`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from functools import cached_property

from mlir import ir

from pykern.errors import TargetError
from pykern.lowering.xp.printer import RULES, Fill, Printer, shape_of, updated
from pykern.lowering.xp.scalars import OF_NUMBERS, element
from pykern.passes.analysis.cost_model.code_size import LONG_TEXT, WRITTEN_OUT_TERMS
from pykern.passes.ir.affine import Access, access_of
from pykern.passes.ir.structured import Structured, is_fill, reduction_loops

REDUCTIONS = {
    "arith.addf": ("sum", "0.0"), "arith.addi": ("sum", "0"), "arith.mulf": ("prod", "1.0"),
    "arith.maximumf": ("max", 'float("-inf")'), "arith.minimumf": ("min", 'float("inf")'), "arith.maxsi": ("max", ""),
    "arith.minsi": ("min", ""),
}  # fmt: skip
"""Functions of the libraries, and the number that they begin with."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Generic:
    """The operation in the making."""

    def __init__(self, p: Printer, op: ir.Operation) -> None:
        self.p, self.op = p, op
        self.s = Structured(op)
        self.reduced = reduction_loops(op)
        self.loops = [d for d, reduced in enumerate(self.reduced) if reduced]
        self.extents = self.s.extents
        found = [access_of(m) for m in self.s.maps]
        if any(a is None for a in found):
            raise TargetError("an index with a division has no form on whole arrays")
        self.accesses: list[Access] = [a for a in found if a is not None]

    def write(self) -> None:
        """All of its results."""
        if is_fill(self.op) and not self.s.ops:
            number = self.s.inputs[0] if self.s.yielded[0] == self.s.arguments[0] else self.s.yielded[0]
            self.p.values[self.op.results[0]] = Fill(self.p.text(number))
            return
        if not self.loops:
            results = self.elementwise({})
        elif math.prod(self.extents[d] for d in self.loops) == 0:
            results = [self.p.text(v) for v in self.s.outputs]
        else:
            results = self.einsum() or self.reduction() or self.folded()
        for value, text in zip(self.op.results, results, strict=True):
            self.p.values[value] = text

    # -- operands ----------------------------------------------------------------------------------

    @cached_property
    def kept(self) -> list[int]:
        """The loops that results have."""
        return [d for d, reduced in enumerate(self.reduced) if not reduced]

    def operand(self, number: int, fixed: Mapping[int, object], dims: list[int]) -> str:
        """An operand over the loops `dims`, where the others are `fixed` at iterations."""
        value = self.s.operands[number]
        known = self.p.values[value]
        if isinstance(known, Fill) and known.number:
            return known.number
        text, shape = self.p.text(value), shape_of(value)
        if not shape:
            return text
        index: list[str] = []
        order: list[int] = []
        for each, length in zip(self.accesses[number].sums, shape, strict=True):
            free = [(d, f) for d, f in each.factors if d not in fixed and f]
            base = _sum(each.constant, [(fixed[d], f) for d, f in each.factors if d in fixed])
            if not free:
                index.append(base)
            elif len(free) == 1:
                order.append(free[0][0])
                index.append(_window(base, self.extents[free[0][0]], free[0][1], length))
            else:
                raise TargetError("a window over two loops has no form on whole arrays")
        if any(i != ":" for i in index):
            text = f"{text}[{', '.join(index)}]"
        return self._aligned(text, order, dims)

    def _aligned(self, text: str, order: list[int], dims: list[int]) -> str:
        """Axes in the order of the loops, with new ones of length 1 for those that are missing behind the first."""
        if sorted(order) != order:
            places = tuple(sorted(range(len(order)), key=order.__getitem__))
            text = self.p.library.permuted.format(text, places)
        there = [d in order for d in dims]
        first = there.index(True) if True in there else len(dims)
        shown = [":" if t else "None" for t in there[first:]]
        return text if "None" not in shown else f"{text}[{', '.join(shown)}]"

    # -- bodies ------------------------------------------------------------------------------------

    def body(
        self, given: Mapping[ir.Value, str], fixed: Mapping[int, object], dims: list[int]
    ) -> dict[ir.Value, str]:
        """Texts of what the body computes; what is read twice gets a name."""
        p = self.p
        texts: dict[ir.Value, str] = dict(given)
        self.cover = {
            a: set(access.dimensions) - fixed.keys() if not self._is_number(n) else set()
            for n, (a, access) in enumerate(zip(self.s.arguments, self.accesses, strict=True))
        }
        """The loops over which each value of the body is an array."""

        def read(value: ir.Value) -> str:
            return texts[value] if value in texts else p.text(value)

        for op in self.s.ops:
            if op.name == "linalg.index":
                d = ir.IntegerAttr(op.attributes["dim"]).value
                texts[op.results[0]] = self._place(d, fixed, dims)
                self.cover[op.results[0]] = {d} - fixed.keys()
            elif op.name == "arith.constant":
                RULES[op.name](p, op)
            elif op.name == "tensor.extract":
                source, *indices = op.operands
                text = f"{p.text(source)}[{', '.join(map(read, indices)) or '()'}]"
                texts[op.results[0]] = p.name(text)
                self.cover[op.results[0]] = self._covered(indices)
            elif op.name.startswith(OF_NUMBERS) and len(op.results) == 1:
                text = p.scalar(op, [read(v) for v in op.operands])
                uses = sum(1 for _ in op.results[0].uses)
                self.cover[op.results[0]] = self._covered(op.operands)
                texts[op.results[0]] = p.name(text) if uses > 1 or len(text) > LONG_TEXT else text
            else:
                raise TargetError(f"`{op.name}` has no form in {p.library.name}")
        for value in self.s.yielded:
            texts.setdefault(value, read(value))
        return texts

    def _is_number(self, operand: int) -> bool:
        known = self.p.values[self.s.operands[operand]]
        return isinstance(known, Fill) and bool(known.number)

    def _covered(self, values: Iterable[ir.Value]) -> set[int]:
        return {d for v in values for d in self.cover.get(v, ())}

    def _place(self, d: int, fixed: Mapping[int, object], dims: list[int]) -> str:
        """The iteration of a loop."""
        if d in fixed:
            return str(fixed[d])
        return self._aligned(self.p.library.call("arange", [str(self.extents[d])]), [d], dims)

    def elementwise(self, fixed: Mapping[int, object], initial: Mapping[int, str] | None = None) -> list[str]:
        """The results of all iterations at once; `initial`: what the outputs are before, over the loops kept."""
        dims = [d for d in range(self.s.loops) if d not in fixed]
        given: dict[ir.Value, str] = {}
        for n, argument in enumerate(self.s.arguments):
            if not any(True for _ in argument.uses):
                continue
            output = n - len(self.s.inputs)
            if initial is not None and output in initial:
                given[argument] = initial[output]
            else:
                given[argument] = self.operand(n, fixed, dims)
        texts = self.body(given, fixed, dims)
        results = []
        for n, value in enumerate(self.s.yielded):
            results.append(self._result(value, texts[value], n, dims))
        return results

    def _result(self, value: ir.Value, text: str, output: int, dims: list[int]) -> str:
        """What is yielded, over all loops, in the order of the output's indices."""
        p, kind = self.p, self.s.outputs[output].type
        shape = [self.extents[d] for d in dims]
        whole = text
        if not dims or self._covered([value]) != set(dims):
            whole = p.library.call("broadcast_to", [self._array(text, kind), str(tuple(shape))])
        order = [s.loops for s in self.accesses[len(self.s.inputs) + output].sums]
        if initial_order := [o[0] for o in order if o]:
            places = tuple(dims.index(d) for d in initial_order)
            if places != tuple(range(len(dims))):
                whole = p.library.permuted.format(whole, places)
        return self._stored(p.name(whole), output)

    def _array(self, text: str, kind: ir.Type) -> str:
        return self.p.library.cast.format(text, type=self.p.library.type(element(kind)))

    def _stored(self, text: str, output: int) -> str:
        """Into the part of the output that is written."""
        value = self.s.outputs[output]
        access = self.accesses[len(self.s.inputs) + output]
        index = [
            str(s.constant)
            if not s.loops
            else _window(str(s.constant), self.extents[s.loops[0]], s.factors[0][1], n)
            for s, n in zip(access.sums, shape_of(value), strict=True)
        ]
        if all(i == ":" for i in index):
            return text
        return self.p.name(updated(self.p, self.p.text(value), ", ".join(index), text))

    # -- reductions --------------------------------------------------------------------------------

    def _combined(self) -> tuple[ir.Operation, ir.Value] | None:
        """The operation that adds to the one output, and what it adds."""
        if len(self.s.outputs) != 1:
            return None
        last, accumulator = self.s.yielded[0], self.s.output_argument(0)
        if not self.s.ops or last != self.s.ops[-1].results[0] or len(list(accumulator.uses)) != 1:
            return None
        op = self.s.ops[-1]
        if op.name not in REDUCTIONS or accumulator not in list(op.operands):
            return None
        return op, next(v for v in op.operands if v != accumulator)

    def einsum(self) -> list[str] | None:
        """A sum of products of two operands."""
        combined = self._combined()
        if (
            combined is None
            or combined[0].name not in ("arith.addf", "arith.addi")
            or len(self.s.inputs) != 2
        ):
            return None
        product = combined[1]
        if isinstance(product.owner, ir.Block) or product.owner.name not in ("arith.mulf", "arith.muli"):
            return None
        factors = [self._factor(v) for v in product.owner.operands]
        if set(factors) != {0, 1} or len(self.s.ops) != 2 + sum(
            1 for o in self.s.ops if o.name == "arith.extf"
        ):
            return None
        subscripts = []
        for access in self.accesses:
            if not all(s.is_dimension() for s in access.sums):
                return None
            subscripts.append("".join(LETTERS[s.factors[0][0]] for s in access.sums))
        if any(len(set(s)) < len(s) for s in subscripts):
            return None
        kind = self.s.outputs[0].type
        given = [self._array(self.p.text(v), kind) if element(v.type) != element(kind) else self.p.text(v)
                 for v in self.s.inputs]  # fmt: skip
        form = f"{subscripts[0]},{subscripts[1]}->{subscripts[2]}"
        text = self.p.library.einsum.format(form, ", ".join(given))
        return [self._with_initial(text, combined[0])]

    def _factor(self, value: ir.Value) -> int | None:
        """The input that it is, maybe widened."""
        if not isinstance(value.owner, ir.Block) and value.owner.name == "arith.extf":
            value = value.owner.operands[0]
        inputs = self.s.arguments[: len(self.s.inputs)]
        return inputs.index(value) if value in inputs else None

    def reduction(self) -> list[str] | None:
        """A sum, a product, a maximum or a minimum."""
        combined = self._combined()
        windows = any(len(s.loops) > 1 for a in self.accesses for s in a.sums)
        output = self.accesses[-1].sums
        if combined is None or windows or not all(s.is_dimension() for s in output):
            return None
        dims = list(range(self.s.loops))
        given = {
            a: self.operand(n, {}, dims)
            for n, a in enumerate(self.s.arguments[: len(self.s.inputs)])
            if any(True for _ in a.uses)
        }
        op, added = combined
        ops, self.s.ops = self.s.ops, self.s.ops[:-1]
        yielded, self.s.yielded = self.s.yielded, [added]
        text = self.body(given, {}, dims)[added]
        is_whole = self._covered([added]) == set(dims)
        self.s.ops, self.s.yielded = ops, yielded
        whole = text
        if not is_whole:
            whole = self.p.library.call(
                "broadcast_to", [self._array(text, added.type), str(tuple(self.extents))]
            )
        function = REDUCTIONS[op.name][0]
        made = self._reduced(function, whole, added.type)
        order = tuple(self.kept.index(s.factors[0][0]) for s in output)
        if order != tuple(range(len(order))):
            made = self.p.library.permuted.format(made, order)
        return [self._with_initial(made, op)]

    def _reduced(self, function: str, whole: str, kind: ir.Type) -> str:
        library = self.p.library
        if library.name == "torch":
            name = {"max": "amax", "min": "amin"}.get(function, function)
            if name == "prod":
                text = whole
                for d in reversed(self.loops):
                    text = f"torch.prod({text}, {d})"
                return text
            return f"torch.{name}({whole}, {tuple(self.loops)})"
        text = library.reduction.format(function, whole, tuple(self.loops))
        widened = function in ("sum", "prod") and isinstance(kind, ir.IntegerType)
        return self._array(text, kind) if widened else text

    def _with_initial(self, text: str, op: ir.Operation) -> str:
        """Combined with what the output is before, unless that changes nothing."""
        value = self.s.outputs[0]
        known = self.p.values[value]
        if isinstance(known, Fill) and known.number in (REDUCTIONS[op.name][1], ""):
            return self.p.name(text)
        return self.p.name(self.p.scalar(op, [self.p.text(value), text]))

    def folded(self) -> list[str]:
        """Iterations of the reduction one after the other: as lines where they are few, else as a loop."""
        outputs = self.accesses[len(self.s.inputs) :]
        if not all(s.is_dimension() for a in outputs for s in a.sums):
            raise TargetError("a reduction into a part has no form on whole arrays")
        ranges = [range(self.extents[d]) for d in self.loops]
        current = {n: self._in_order(self.p.text(v), n) for n, v in enumerate(self.s.outputs)}
        if math.prod(map(len, ranges)) <= WRITTEN_OUT_TERMS:
            for places in itertools.product(*ranges):
                current = self._step(dict(zip(self.loops, places, strict=True)), current)
        else:
            current = self._loop(current)
        return [self._out_of_order(current[n], n) for n in range(len(self.s.outputs))]

    def _step(self, fixed: Mapping[int, object], current: Mapping[int, str]) -> dict[int, str]:
        given: dict[ir.Value, str] = {}
        for n, argument in enumerate(self.s.arguments[: len(self.s.inputs)]):
            if any(True for _ in argument.uses):
                given[argument] = self.operand(n, fixed, self.kept)
        for n in current:
            given[self.s.output_argument(n)] = current[n]
        texts = self.body(given, fixed, self.kept)
        return {n: self.p.name(texts[v]) for n, v in enumerate(self.s.yielded)}

    def _loop(self, current: Mapping[int, str]) -> dict[int, str]:
        """One loop over all iterations of the reduction."""
        if any(len(s.loops) > 1 for a in self.accesses for s in a.sums):
            raise TargetError("a long reduction over a window has no form on whole arrays")
        p = self.p
        p._count += 1
        step = f"step{p._count}"
        outside, p.indent = p.indent, p.indent + "    "
        p.lines.append(f"{outside}def {step}(k, carry):")
        fixed: dict[int, object] = {}
        left = "k"
        for d in reversed(self.loops):
            fixed[d] = p.name(f"{left} % {self.extents[d]}" if d != self.loops[0] else left)
            left = f"({left} // {self.extents[d]})"
        before = dict(p.values)
        after = self._step(fixed, {n: p.name(f"carry[{n}]") for n in current})
        p.line(f"return ({', '.join(after[n] for n in current)},)")
        p.indent, p.values = outside, {v: t for v, t in p.values.items() if v in before}
        count = math.prod(self.extents[d] for d in self.loops)
        made = p.name(f"{p.helper('fold')}({count}, {step}, ({', '.join(current.values())},))")
        return {n: p.name(f"{made}[{n}]") for n in current}

    def _in_order(self, text: str, output: int) -> str:
        """An output over the loops kept."""
        order = [s.factors[0][0] for s in self.accesses[len(self.s.inputs) + output].sums]
        return self._aligned(text, order, self.kept)

    def _out_of_order(self, text: str, output: int) -> str:
        order = tuple(
            self.kept.index(s.factors[0][0]) for s in self.accesses[len(self.s.inputs) + output].sums
        )
        return (
            text
            if order == tuple(range(len(order)))
            else self.p.name(self.p.library.permuted.format(text, order))
        )


def _sum(constant: int, terms: list[tuple[object, int]]) -> str:
    """`constant` and factors times iterations."""
    total, shown = constant, []
    for value, factor in terms:
        if isinstance(value, int):
            total += value * factor
        else:
            shown.append(str(value) if factor == 1 else f"{value} * {factor}")
    return " + ".join([*shown, str(total)] if total or not shown else shown)


def _window(base: str, extent: int, factor: int, length: int) -> str:
    """The slice from `base` of so many elements."""
    if factor < 0:
        raise TargetError("an index that falls has no form on whole arrays")
    if not base.lstrip("-").isdigit():
        return f"{base}:{base} + {extent}"
    begin = int(base)
    end = begin + (extent - 1) * factor + 1 if extent else begin
    if (begin, end, factor) == (0, length, 1):
        return ":"
    return f"{begin}:{end}" + (f":{factor}" if factor != 1 else "")


def _generic(p: Printer, op: ir.Operation) -> None:
    Generic(p, op).write()


RULES["linalg.generic"] = _generic
