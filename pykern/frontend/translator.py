"""Statements and expressions of one kernel, to ops at the current insertion point.

Comes in: a desugared AST and an `Environment`. Goes out: ops, and values in the environment.
Statements are here; of expressions `names` has the words, `elements` the subscripts, `operations` the
operators, `calls` the calls. `branches` builds `if`, `control` loops, `language_ops` what kernels alone can say.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from pykern.data.source import KernelSource
from pykern.frontend import (
    branches,
    complex_elements,
    comprehensions,
    control,
    generators,
    reports,
    row_stores,
    rows,
    short_rows,
    slices,
)
from pykern.frontend.advice import UNSUPPORTED_EXPRESSIONS, UNSUPPORTED_STATEMENTS
from pykern.frontend.calls import Calls
from pykern.frontend.casts import convert
from pykern.frontend.complex_elements import ComplexArray
from pykern.frontend.operations import Operations
from pykern.frontend.rows import Row, View
from pykern.frontend.values import (
    Array,
    ComplexValue,
    LanguageName,
    Scalar,
    TupleValue,
    TypeValue,
    Value,
    describe,
)


@dataclass
class Translator(Calls, Operations):
    """One kernel's translation. Methods are named after what they take."""

    unsupported_statements = UNSUPPORTED_STATEMENTS
    instead_of_text = "pass the values to print one by one: print('x =', x)"

    # -- statements --------------------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            with self.location(statement):
                self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            name, advice = self.unsupported_statements.get(
                type(node).__name__, (type(node).__name__.lower(), None)
            )
            raise self.syntax_error(node, f"`{name}` is not available in {self.PLACE}", advice)
        with self.operands_of(node):  # of constants that get their type where the statement ends
            method(node)

    def do_Assign(self, node: ast.Assign) -> None:  # noqa: N802
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value, node.value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        """``x: pk.f32 = 1`` makes `x` an f32."""
        if node.value is None:
            raise self.syntax_error(node, "a name needs a value here", "write `x: pk.f32 = 0`")
        annotation = self.expression(node.annotation)
        value = self.expression(node.value)
        if isinstance(annotation, TypeValue) and isinstance(value, Scalar):
            value = convert(value, annotation.dtype)
        elif not isinstance(annotation, LanguageName):
            raise self.type_error(node.annotation, f"{describe(annotation)} is no type of a local variable",
                                  "annotate with a scalar type such as pk.f32")  # fmt: skip
        self.assign(node.target, value)

    def do_AugAssign(self, node: ast.AugAssign) -> None:  # noqa: N802
        target = node.target
        if isinstance(target, ast.Subscript):
            self.update_part(node, target)
            return
        load = (
            ast.copy_location(ast.Name(target.id, ast.Load()), target)
            if isinstance(target, ast.Name)
            else None
        )
        if load is None:
            raise self.syntax_error(target, "only a name or an element can be updated in place")
        held = self.expression(load)
        value = self.binary(node, node.op, held, self.expression(node.value))
        if rows.is_row(held) and rows.shows_memory(held):  # its elements change, as NumPy's do
            assert isinstance(held, Array | View)
            row_stores.store(self, target, held, value)
            return
        if isinstance(held, Row):
            short_rows.update(self, node, held, value)
            return
        self.assign(target, value)

    def update_part(self, node: ast.AugAssign, target: ast.Subscript) -> None:
        """``x[i] += value``."""
        base = self.expression(target.value)
        if isinstance(base, ComplexArray):
            complex_elements.update(
                self, target, base, lambda old: self.binary(node, node.op, old, self.expression(node.value))
            )
            return
        if rows.is_row(base) and rows.shows_memory(base) and slices.has_slice(target.slice, len(base.shape)):
            part = slices.sliced(self, target, base)
            assert isinstance(part, Array | View)
            value = self.binary(node, node.op, part, self.expression(node.value))
            row_stores.store(self, target, part, value)
            return
        if isinstance(base, Row):
            read = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
            value = self.binary(node, node.op, self.expression(read), self.expression(node.value))
            self.store_part(target, value, None)
            return
        array, indices = self.subscript(target, base)
        if len(indices) < len(array.outer) + len(array.shape):
            part = self.part(target, array, indices)
            value = self.binary(node, node.op, part, self.expression(node.value))
            row_stores.store(self, target, part, value)
            return
        old = self.load(target, array, indices)
        self.store(target, array, indices, self.binary(node, node.op, old, self.expression(node.value)))

    def do_Expr(self, node: ast.Expr) -> None:  # noqa: N802
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str | type(...)):
            return  # a docstring, or `...`
        self.expression(node.value)

    def do_Pass(self, node: ast.Pass) -> None:  # noqa: N802
        """Nothing."""

    def do_If(self, node: ast.If) -> None:  # noqa: N802
        branches.branch(self, node)

    def do_While(self, node: ast.While) -> None:  # noqa: N802
        with self.array_writes.loop():
            control.while_loop(self, node)

    def do_For(self, node: ast.For) -> None:  # noqa: N802
        with self.array_writes.loop():
            control.for_loop(self, node)

    def do_Assert(self, node: ast.Assert) -> None:  # noqa: N802
        reports.assertion(self, node)

    def assign(self, target: ast.expr, value: Value, written: ast.expr | None = None) -> None:
        """Bind a name, unpack a tuple, or store into an element. `written` is the expression that gave the value."""
        if isinstance(target, ast.Name):
            self.names[target.id] = value
            self.frame.places[target.id] = self.span(target)
        elif isinstance(target, ast.Tuple | ast.List):
            rest = next((k for k, name in enumerate(target.elts) if isinstance(name, ast.Starred)), None)
            if rest is not None:
                self._unpack_rest(target, rest, value)
                return
            if rows.is_row(value):
                value = row_stores.items(self, written or target, value, len(target.elts))
            if (
                not isinstance(value, TupleValue)
                or isinstance(value, ComplexValue)
                or len(value.items) != len(target.elts)
            ):
                names = f"{len(target.elts)} name{'s' * (len(target.elts) != 1)}"
                raise self.type_error(target, f"{names} cannot take {describe(value)}",
                                      self.unpacking(len(target.elts), value))  # fmt: skip
            for name, item in zip(target.elts, value.items, strict=True):
                self.assign(name, item)
        elif isinstance(target, ast.Subscript):
            self.store_part(target, value, written)
        else:
            raise self.syntax_error(target, "a kernel assigns to names and elements only",
                                    "keep the value in a local name")  # fmt: skip

    def _unpack_rest(self, target: ast.Tuple | ast.List, place: int, value: Value) -> None:
        """``a, *b, c = value``: the name with the star gets a list of what the others leave."""
        behind = len(target.elts) - 1 - place
        if not isinstance(value, TupleValue) or isinstance(value, ComplexValue):
            raise self.type_error(target.elts[place], f"`*` takes what is left of a tuple, not of {describe(value)}",
                                  "write a name for each item")  # fmt: skip
        if len(value.items) < place + behind:
            few = f"{place + behind} names cannot take {describe(value)}"
            raise self.type_error(target, few, "leave a name out")
        last = len(value.items) - behind
        for name, item in zip(target.elts[:place], value.items[:place], strict=True):
            self.assign(name, item)
        starred = target.elts[place]
        assert isinstance(starred, ast.Starred)
        self.assign(starred.value, self.listed(value.items[place:last]))
        for name, item in zip(target.elts[place + 1 :], value.items[last:], strict=True):
            self.assign(name, item)

    def listed(self, items: tuple[Value, ...]) -> Value:
        """A list of these items. It cannot be changed in kernels, so that it means what a tuple means."""
        return TupleValue(items)

    def unpacking(self, names: int, value: Value) -> str:
        """What to write where names cannot take a value. A program has no index."""
        rank = self.source.launch.rank if isinstance(self.source, KernelSource) else 0
        given = len(value.items) if isinstance(value, TupleValue) else 1
        if given == rank and (names != rank or not isinstance(value, TupleValue)):  # most likely an index
            letters = ", ".join("ijklmnpq"[:rank])
            lengths = ", ".join("nmlk"[:names])
            other = f", or launch over {names}: ndrange=({lengths})" if 1 < names <= len("nmlk") else ""
            return f"the ndrange has {rank} dimension{'s' * (rank > 1)}: write {letters} = pk.index(){other}"
        if isinstance(value, TupleValue):
            return f"write {given} name{'s' * (given != 1)}: {', '.join('abcdefgh'[:given])} = ..."
        return "unpack a tuple of as many items"

    def desugared(self, body: list[ast.stmt]) -> list[ast.stmt]:
        if not isinstance(self.source, KernelSource):
            return super().desugared(body)
        return super().desugared(generators.as_loops(body, self._is_of_python))

    def _is_of_python(self, name: str) -> bool:
        """Whether a name is the function that Python has under it."""
        return name not in self.names and self.frame.environment.captures.get(name) == LanguageName(name)

    def condition(self, node: ast.expr) -> Scalar:
        """What a test says."""
        return self.scalar(node)

    # -- expressions -------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Value:
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is None:
            name, advice = UNSUPPORTED_EXPRESSIONS.get(
                type(node).__name__, (type(node).__name__.lower(), None)
            )
            raise self.syntax_error(node, f"{name} is not available in {self.PLACE}", advice)
        with self.location(node):
            return method(node)

    def of_Tuple(self, node: ast.Tuple) -> Value:  # noqa: N802
        return TupleValue(tuple(self.written_out(node.elts)))

    def of_List(self, node: ast.List) -> Value:  # noqa: N802
        return self.listed(tuple(self.written_out(node.elts)))

    def of_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> Value:  # noqa: N802
        found: list[Value] = []
        make = lambda: found.append(self.expression(node.elt))  # noqa: E731
        comprehensions.each(self, node, node.generators, lambda n: control.items(self, n), make)
        return TupleValue(tuple(found))

    def of_GeneratorExp(self, node: ast.GeneratorExp) -> Value:  # noqa: N802
        return self.of_ListComp(node)

    def of_NamedExpr(self, node: ast.NamedExpr) -> Value:  # noqa: N802
        value = self.expression(node.value)
        self.assign(node.target, value)
        return value

    def of_JoinedStr(self, node: ast.JoinedStr) -> Value:  # noqa: N802
        raise self.syntax_error(node, f"an f-string is not available in {self.PLACE}",
                                self.instead_of_text)  # fmt: skip
