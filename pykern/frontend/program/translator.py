"""The kernel frontend's translator, on whole arrays.

What is the same for scalars, names, tuples, helper functions is inherited; here are arrays: operators,
attributes and methods, parts of arrays, launches, and the writing of arrays in place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from pykern.data.program_source import ProgramSource
from pykern.data.scopes import dotted
from pykern.data.source import KernelSource
from pykern.frontend import arithmetic
from pykern.frontend.advice import UNSUPPORTED_STATEMENTS, instead_in_program
from pykern.frontend.casts import convert
from pykern.frontend.complex_numbers import constant_pair, pair
from pykern.frontend.operations import OPERATORS
from pykern.frontend.program import (
    branches,
    calls,
    complex_arrays,
    complex_functions,
    contractions,
    custom,
    derivative_calls,
    elementwise,
    gradients,
    indexing,
    launches,
    loops,
    selections,
    shaping,
    structures,
    tiles,
)
from pykern.frontend.program.aliasing import check_fresh, current
from pykern.frontend.program.appended_lists import ListedRow
from pykern.frontend.program.arguments import dtype as wanted_dtype
from pykern.frontend.program.flow import cells
from pykern.frontend.program.selections import Selection, SelectionMethod
from pykern.frontend.program.sharing import Running
from pykern.frontend.program.tensors import Extent, extract, extract_slice, from_scalar, insert_slice, strong
from pykern.frontend.program.tile_lengths import length_value, refuse
from pykern.frontend.program.values import (
    AllAxes,
    BoundMethod,
    Cell,
    DictMethod,
    DictValue,
    LocalFunction,
    Way,
)
from pykern.frontend.program.written_arrays import WrittenArrays
from pykern.frontend.translation import Frame
from pykern.frontend.unrolling import constant_items
from pykern.frontend.values import (
    ComplexValue,
    CustomValue,
    KernelValue,
    LanguageName,
    NoneValue,
    RangeValue,
    Scalar,
    Text,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.passes.analysis.cost_model.code_size import MOST_COPIES
from pykern.types import bool_, weak_int

Gradient = Callable[[ir.Module, ProgramSource, "list[ir.Value]", ir.Module], "tuple[Any, list[ir.Value]]"]
"""Writes the derivative of a module's program where the insertion point is, for these operands, and what else there is
into a second module. Gives the form of the results, and these."""


Build = Callable[[ProgramSource, "Gradient | None"], ir.Module]
"""Builds another function that the program calls; see `pykern.frontend.program.program.build_program`."""


@dataclass
class ProgramTranslator(WrittenArrays):
    """State of one program's translation. Methods are named after what they take."""

    PLACE = "array programs"
    unsupported_statements = UNSUPPORTED_STATEMENTS | {
        "With": ("with", "write the body without it; what it does belongs around the call of the program"),
        "Try": ("try", "programs raise no exceptions: choose among values with pk.where, or test with `if`"),
        "Raise": ("raise", "assert shapes and pk.static values; look at results behind the call"),
        "Global": ("global", "return the value, and assign it where the program is called"),
    }
    instead_of_text = "programs hold numbers and arrays: return the values, and format them behind the call"
    instead_of_copies = "write pk.range(...), which stays a loop"
    instead_of_tuple = (
        "write `for k in range(...)` with constant bounds, which is unrolled, rather than pk.range; for any index "
        "stack the arrays and index the stack: pk.stack(t)[k]"
    )

    source: ProgramSource  # type: ignore[assignment]
    build: Build = field(kw_only=True)
    module: Any = None
    kernels: dict[KernelSource, tuple[str, list[bool]]] = field(default_factory=dict)
    gradient: Gradient | None = None
    may_keep_loops: bool = True
    """Whether long loops over `range` may stay loops; `has_kept_loops` says that one did."""
    has_kept_loops: bool = False
    structures: int = 0
    """So many dicts and lists have been made."""
    views: list[frozenset[int]] = field(default_factory=list)
    """Origins of what has been run through."""
    running: list[Running] = field(default_factory=list)
    """Loops that are being unrolled."""
    rows_of_lists: dict[int, ListedRow] = field(default_factory=dict)
    """Items of lists that are rows of arrays, by the identity of the item."""
    comprehensions: list[tuple[Frame, list[LocalFunction]]] = field(default_factory=list)
    tile: tiles.TileScope | None = None
    """The tile kernel that is being translated."""

    # -- values ------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Value:
        value = current(super().expression(node))
        for part in value.items if isinstance(value, ComplexValue) else (value,):
            check_fresh(self, node, part)
        return value

    def as_cell(self, value: Scalar) -> Cell:
        """A number as an array of rank 0."""
        dtype = strong(value.dtype)
        return Cell(dtype, (), from_scalar(value, dtype), is_scalar=True)

    def as_array(self, node: ast.AST, value: Value) -> Cell:
        """A tuple or list of numbers and arrays as one array."""
        assert isinstance(value, TupleValue)
        return shaping.stacked(self, node, TupleValue(value.items))

    def as_scalar(self, node: ast.AST, value: Value) -> Scalar:
        if isinstance(value, Cell) and not value.shape:
            return extract(value.dtype, value.ssa)
        if isinstance(value, Cell):
            raise self.type_error(node, f"a number is needed here, not {describe(value)}")
        return super().as_scalar(node, value)

    def condition(self, node: ast.expr) -> Scalar:
        """The number that decides; an array of several elements decides nothing."""
        value = self.expression(node)
        if isinstance(value, NoneValue):
            return Scalar(bool_, const=False)
        if isinstance(value, ComplexValue):
            return complex_arrays.condition(self, node, value)
        if isinstance(value, TupleValue):
            return Scalar(bool_, const=bool(value.items))
        if isinstance(value, Cell) and value.shape:
            raise self.type_error(node, f"the truth of {describe(value)} is not one value",
                                  "write pk.any(x) or pk.all(x); for each element, &, |, ~ or pk.where")  # fmt: skip
        return self.as_scalar(node, value)

    def spread_items(self, node: ast.Starred) -> list[Value]:
        return self.items(node.value, self.expression(node.value))

    def items(self, node: ast.AST, value: Value) -> list[Value]:
        """What a loop or `zip` runs over, known when compiling: tuples, ranges, the rows of an array."""
        if isinstance(value, ComplexValue):
            return complex_arrays.items(self, node, value)
        if isinstance(value, TupleValue | DictValue):
            self.views.append(value.origins)
        if isinstance(value, TupleValue):
            return list(value.items)
        if isinstance(value, DictValue):
            return [Text(key) for key, _ in value.items]
        if isinstance(value, RangeValue):
            loop = ast.copy_location(ast.For(), node)
            loop.iter = node  # type: ignore[attr-defined,assignment]
            return constant_items(self, loop, value)
        if isinstance(value, Cell) and value.shape and value.shape[0] <= MOST_COPIES:
            return [self._row(value, k) for k in range(value.shape[0])]
        raise self.type_error(node, f"{describe(value)} cannot be run through here",
                              "loop over pk.range(...), a tuple, or the rows of an array")  # fmt: skip

    def _row(self, x: Cell, k: int) -> Cell:
        extents = [Extent(k, 1, kept=False), *(Extent(0, n) for n in x.shape[1:])]
        ssa = extract_slice(x.ssa, x.dtype, extents)
        way = Way(
            x, lambda now: self._row(now, k), lambda now, given: insert_slice(given.ssa, now.ssa, extents)
        )
        return x.view(Cell(x.dtype, x.shape[1:], ssa, is_scalar=len(x.shape) == 1), way)

    # -- statements --------------------------------------------------------------------------

    def do_If(self, node: ast.If) -> None:  # noqa: N802
        branches.branch(self, node)

    def do_While(self, node: ast.While) -> None:  # noqa: N802
        loops.while_loop(self, node)

    def do_For(self, node: ast.For) -> None:  # noqa: N802
        loops.for_loop(self, node)

    def do_Assert(self, node: ast.Assert) -> None:  # noqa: N802
        condition = arithmetic.truth(self.condition(node.test))
        if not condition.is_const:
            raise self.syntax_error(node, "an assert over values of run time is not available in array programs",
                                    "assert shapes and pk.static values; or run it as Python: with "
                                    'pk.device("python")')  # fmt: skip
        if not condition.const:
            message = node.msg.value if isinstance(node.msg, ast.Constant) else "the assertion does not hold"
            raise self.type_error(node, str(message))

    def do_AugAssign(self, node: ast.AugAssign) -> None:  # noqa: N802
        target = node.target
        if isinstance(target, ast.Name):
            old = self.expression(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            value = self.expression(node.value)
            if getattr(node, "reorders", False):  # a sum over an axis, as of `sum`, in whichever order
                new = elementwise.apply(self, node, [old, value], lambda e: arithmetic.binary("+", *e, True))
            else:
                new = self.binary(node, node.op, old, value)
            if isinstance(old, ComplexValue) and complex_arrays.is_array(old):
                complex_arrays.update(self, node, old, new)
            elif isinstance(old, Cell) and not old.is_scalar:
                self.write(node, old, elementwise.in_type_of(self, node, old, new, old.shape).ssa)
            else:
                self.names[target.id] = new
            return
        if not isinstance(target, ast.Subscript):
            self._update_item(node, target)
            return
        base = self.expression(target.value)
        if isinstance(base, ComplexValue):
            old = pair(*(indexing.read(self, target, p) for p in base.items if isinstance(p, Cell)))
            complex_arrays.write(
                self, target, base, self.binary(node, node.op, old, self.expression(node.value))
            )
            return
        if not isinstance(base, Cell):
            self._update_item(node, target)
            return
        old = indexing.read(self, target, base)
        new = self.binary(node, node.op, old, self.expression(node.value))
        if isinstance(old, Selection) and isinstance(new, Selection):
            elementwise.in_type_of(self, node, base, new.cell, new.cell.shape)
            indexing.write(self, target, base, new)
            return
        assert isinstance(old, Cell)
        indexing.write(self, target, base, elementwise.in_type_of(self, node, base, new, old.shape))

    def _update_item(self, node: ast.AugAssign, target: ast.Subscript | ast.Attribute) -> None:
        """``p["w"] += x``, ``p.w += x``: the array that the structure holds."""
        loaded = ast.Subscript(target.value, target.slice) if isinstance(target, ast.Subscript) else None
        reading = loaded or ast.Attribute(target.value, target.attr)  # type: ignore[union-attr]
        reading.ctx = ast.Load()
        old = self.expression(ast.copy_location(reading, target))
        new = self.binary(node, node.op, old, self.expression(node.value))
        if isinstance(target, ast.Subscript) and structures.is_number(old):
            structures.assign(self, target, new)
            return
        if not isinstance(old, Cell) or old.is_scalar:
            raise self.type_error(target, f"{describe(old)} in a structure is not updated in place",
                                  "make a new one: d = {**d, 'n': d['n'] + 1}, t = (*t[:-1], t[-1] + 1)")  # fmt: skip
        self.write(node, old, elementwise.in_type_of(self, node, old, new, old.shape).ssa)

    def assign(self, target: ast.expr, value: Value, written: ast.expr | None = None) -> None:
        value = current(value)
        is_result = isinstance(target, ast.Name) and target.id.startswith(".")
        if is_result and isinstance(value, Selection):
            raise selections.refuse_result(self, written or target)
        for part in cells(value) if is_result else (value,):  # what is returned is read, parts of it as well
            check_fresh(self, target, current(part))
        if isinstance(target, ast.Subscript):
            base = self.expression(target.value)
            if isinstance(base, ComplexValue):
                complex_arrays.write(self, target, base, value)
            elif isinstance(base, Cell):
                indexing.write(self, target, base, value)
            else:
                structures.assign(self, target, value)
            return
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ComplexValue):
            value = TupleValue(tuple(self.items(target, value)))
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, Cell) and value.shape:
            value = TupleValue(tuple(self.items(target, value)))
        if isinstance(target, ast.Name) and isinstance(value, Cell) and not value.name:
            value.name = "" if is_result else target.id
        super().assign(target, value, written)

    # -- expressions -------------------------------------------------------------------------

    def of_Constant(self, node: ast.Constant) -> Value:  # noqa: N802
        return AllAxes() if node.value is ... else super().of_Constant(node)

    def of_Attribute(self, node: ast.Attribute) -> Value:  # noqa: N802
        path = dotted(node)
        known = path is not None and path.split(".")[0] not in self.names
        if known and path in self.frame.environment.captures:
            return super().of_Attribute(node)
        if known:
            self.refuse_unknown(node)
            self.refuse_undefined(node, str(path))
        value = self.expression(node.value)
        if isinstance(value, ComplexValue):
            return complex_arrays.attribute(self, node, value)
        if isinstance(value, Cell):
            return self.cell_attribute(node, value)
        if isinstance(value, Selection):
            return selections.attribute(self, node, value)
        if isinstance(value, TupleValue) and node.attr in value.fields:
            return value.items[value.fields.index(node.attr)]
        if isinstance(value, DictValue) and (method := value.method(node.attr)) is not None:
            return method
        hint = "there are the attributes of arrays and the fields of structs"
        if isinstance(value, TupleValue):
            hint = "make a new tuple: t = (*t, x); arrays hold many values"
        raise self.type_error(
            node, f"{describe(value)} has no attribute `{node.attr}` in array programs", hint
        )

    def known_functions(self) -> list[str]:
        return calls.known_names()

    def instead_of_missing(self, path: str) -> str | None:
        return instead_in_program(path) or super().instead_of_missing(path)

    def instead(self, description: str, name: str) -> str:
        if description in ("a list", "a dict", "a set"):
            return "a program changes nothing outside of itself: make it in the program, and return it; or pass it"
        return instead_in_program(name) or super().instead(description, name).replace(
            "the launch", "the call"
        )

    def cell_attribute(self, node: ast.Attribute, cell: Cell) -> Value:
        if node.attr == "shape":
            return TupleValue(tuple(map(length_value, cell.shape)))
        if node.attr in ("ndim", "size"):
            refuse(self, node, cell.shape if node.attr == "size" else (), "this counts")
            return Scalar(weak_int, const=len(cell.shape) if node.attr == "ndim" else cell.size)
        if node.attr == "dtype":
            return TypeValue(cell.dtype)
        if node.attr == "T":
            return shaping.permuted(cell, tuple(reversed(range(len(cell.shape)))))
        if node.attr in ("real", "imag"):
            return complex_arrays.of_real(node.attr, cell)
        if node.attr in calls.METHODS:
            return BoundMethod(cell, node.attr)
        there = f"there are shape, dtype, ndim, size, T, {', '.join(sorted(calls.METHODS))}"
        if node.attr in calls.known_names():
            there = f"write pk.{node.attr}(x)"
        raise self.type_error(node, f"an array has no attribute `{node.attr}` in array programs",
                              instead_in_program(node.attr) or there)  # fmt: skip

    def binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(op, ast.MatMult) and (
            isinstance(left, ComplexValue) or isinstance(right, ComplexValue)
        ):
            call = ast.copy_location(ast.Call(ast.Name("matmul", ast.Load()), [], []), node)  # type: ignore[type-var]
            return complex_functions.apply(self, call, "matmul", [left, right], {})
        if isinstance(left, ComplexValue) or isinstance(right, ComplexValue):
            return complex_arrays.computed(self, node, OPERATORS[type(op)], left, right)
        if isinstance(op, ast.MatMult):
            return contractions.matmul(self, node, left, right)
        if isinstance(left, tiles.TileValue) or isinstance(right, tiles.TileValue):
            return tiles.moved(self, node, op, left, right)
        if isinstance(left, Selection) or isinstance(right, Selection):
            return selections.operator(self, node, OPERATORS[type(op)], [left, right])
        if not (isinstance(left, Cell) or isinstance(right, Cell)):
            return super().binary(node, op, left, right)
        symbol = OPERATORS[type(op)]
        if symbol == "**" and isinstance(left, Cell) and left.dtype == bool_ and _is_two(right):
            return calls.apply(self, node, "square", [left], {})  # type: ignore[arg-type]
        if symbol == "-" and all(isinstance(v, Cell | Scalar) and v.dtype == bool_ for v in (left, right)):
            raise self.type_error(node, "NumPy does not subtract bools", "write a ^ b")
        return elementwise.apply(
            self, node, [left, right], lambda e: arithmetic.binary(symbol, e[0], e[1], self.fastmath)
        )

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:  # noqa: N802
        if isinstance(node.op, ast.Not):
            return arithmetic.logical_not(self.condition(node.operand))
        value = self.expression(node.operand)
        if isinstance(value, ComplexValue):
            sign = {ast.USub: "-", ast.UAdd: "+"}.get(type(node.op), "~")
            return complex_arrays.computed(self, node, sign, value)
        if isinstance(value, Cell) and value.dtype == bool_ and not isinstance(node.op, ast.Invert):
            sign, instead = ("-", "~x") if isinstance(node.op, ast.USub) else ("+", "x.astype(int)")
            raise self.type_error(node, f"NumPy has no `{sign}` of bools", f"write {instead}")

        def function(elements: list[Scalar]) -> Scalar:
            if isinstance(node.op, ast.Invert):
                return arithmetic.invert(elements[0])
            sign = arithmetic.negate if isinstance(node.op, ast.USub) else arithmetic.plus
            return sign(elements[0])

        if isinstance(value, Selection):
            return Selection(elementwise.apply(self, node, [value.cell], function), value.mask)  # type: ignore[arg-type]
        return elementwise.apply(self, node, [value], function)

    def comparison(self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
        symbol = OPERATORS.get(type(op))
        if symbol and (isinstance(left, ComplexValue) or isinstance(right, ComplexValue)):
            return complex_arrays.computed(self, node, symbol, left, right)
        if symbol and (isinstance(left, Selection) or isinstance(right, Selection)):
            return selections.operator(self, node, symbol, [left, right])
        if symbol is None or not (isinstance(left, Cell) or isinstance(right, Cell)):
            return super().comparison(node, op, left, right)
        return elementwise.apply(self, node, [left, right], lambda e: arithmetic.binary(symbol, e[0], e[1]))

    def of_Compare(self, node: ast.Compare) -> Value:  # noqa: N802
        """A chain joins numbers; arrays are compared pair by pair."""
        if len(node.ops) == 1:
            left, right = self.expression(node.left), self.expression(node.comparators[0])
            return self.comparison(node, node.ops[0], left, right)
        left = self.expression(node.left)
        result: Scalar | None = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.expression(right_node)
            part = self.comparison(node, op, left, right)
            if isinstance(part, Cell) and part.shape:
                raise self.type_error(node, "a chain of comparisons has no one truth for arrays",
                                      "write (a < b) & (b < c)")  # fmt: skip
            part = self.as_scalar(node, part)
            result = part if result is None else arithmetic.binary("&", result, part)
            left = right
        assert result is not None
        return result

    def of_BoolOp(self, node: ast.BoolOp) -> Value:  # noqa: N802
        return branches.short_circuit(self, node)

    def of_IfExp(self, node: ast.IfExp) -> Value:  # noqa: N802
        return branches.conditional(self, node)

    def of_Subscript(self, node: ast.Subscript) -> Value:  # noqa: N802
        base = self.expression(node.value)
        if isinstance(base, ComplexValue) and isinstance(base.real, Cell):
            return pair(*(indexing.read(self, node, p) for p in base.items if isinstance(p, Cell)))
        if isinstance(base, Cell):
            return indexing.read(self, node, base)
        if isinstance(base, TupleValue):
            return self.tuple_item(node, base)
        if isinstance(base, tiles.CutTile):
            return base.at(self.scalar(node.slice))
        if isinstance(base, DictValue):
            key = self.expression(node.slice)
            found = base.get(key.value) if isinstance(key, Text) else None
            if found is None:
                there = ", ".join((repr(key) for key, _ in base.items)) or "none"
                raise self.type_error(node, f"{describe(base)} has no such key", f"its keys are {there}")
            return found
        if isinstance(base, Selection):
            raise selections.refuse_index(self, node)
        if isinstance(base, TypeValue | LanguageName):
            return base  # an annotation such as pk.f32[:]
        raise self.type_error(
            node, f"{self.called(node.value, base)} cannot be indexed", self.instead_of_index(node)
        )

    # -- calls -------------------------------------------------------------------------------

    def of_Call(self, node: ast.Call) -> Value:  # noqa: N802
        callee = self.expression(node.func)
        if isinstance(callee, LanguageName):
            return calls.call(self, node, callee.name)
        if isinstance(callee, KernelValue):
            return launches.launch(self, node, callee)
        args, keywords = self.arguments(node)
        return self.called_with(node, callee, args, keywords)

    def called_with_name(self, node: ast.Call, name: str, arguments: list, keywords: dict) -> Value:
        """A function of the language by its name."""
        return calls.apply(self, node, name, arguments, keywords)

    def called_with(self, node: ast.Call, callee: Value, arguments: list, keywords: dict) -> Value:
        if isinstance(callee, LanguageName):
            return calls.apply(self, node, callee.name, arguments, keywords)
        if isinstance(callee, SelectionMethod):
            return selections.method(self, node, callee, arguments, keywords)
        if isinstance(callee, complex_arrays.ComplexMethod):
            return complex_functions.method(self, node, callee, arguments, keywords)
        given = (*arguments, *keywords.values())
        if isinstance(callee, _DIFFERENTIATED) and any(map(complex_arrays.holds_complex, given)):
            raise self.type_error(node, "derivatives by complex values are not available in array programs",
                                  "pass z.real and z.imag, and differentiate by them")  # fmt: skip
        if isinstance(callee, BoundMethod):
            return calls.method(self, node, callee, arguments, keywords)
        if isinstance(callee, DictMethod) and not (arguments or keywords):
            return self.made(callee.of) if callee.name == "copy" else callee.called()
        if isinstance(callee, CustomValue):
            return custom.call(self, node, callee, arguments, keywords)
        if isinstance(callee, gradients.GradientValue):
            return gradients.call(self, node, callee, arguments, keywords)
        if isinstance(callee, derivative_calls.PullValue):
            return derivative_calls.pull(self, node, callee, arguments, keywords)
        if not isinstance(callee, TypeValue):
            return super().called_with(node, callee, arguments, keywords)
        if callee.dtype.kind == "c" and len(arguments) == 2:
            real, imag = arguments
            turned = complex_arrays.computed(self, node, "*", imag, constant_pair(1j))
            made = complex_arrays.computed(self, node, "+", real, turned)
            return complex_arrays.cast(self, node, made, callee.dtype)
        if len(arguments) != 1:
            raise self.type_error(node, f"a cast takes one value: pk.{callee.dtype.name}(x)")
        if (kind := complex_arrays.wanted_type(callee)) is not None:
            return complex_arrays.cast(self, node, arguments[0], kind)
        if isinstance(arguments[0], Scalar):
            return convert(arguments[0], callee.dtype)
        return elementwise.cast(self, node, arguments[0], wanted_dtype(self, node, callee, callee.dtype))


_DIFFERENTIATED = (CustomValue, gradients.GradientValue, derivative_calls.PullValue)


def _is_two(value: Value) -> bool:
    """Whether an exponent is the number 2 of Python, for which NumPy squares."""
    return isinstance(value, Scalar) and value.dtype == weak_int and value.const == 2
