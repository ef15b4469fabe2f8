"""Statements and expressions of one kernel, to ops at the current insertion point.

Comes in: a desugared AST and an `Environment`. Goes out: ops, and values in the environment.
`control` builds branches and loops, `language_ops` the calls into the kernel language.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref

from pykern.errors import KernelSyntaxError, KernelTypeError
from pykern.frontend import arithmetic, captured, control, language_ops
from pykern.frontend.advice import UNSUPPORTED_EXPRESSIONS, UNSUPPORTED_STATEMENTS, instead_of, scalar_from
from pykern.frontend.arithmetic import OperandError
from pykern.frontend.casts import convert, materialise, mlir_type, to_storage
from pykern.frontend.desugar import RESULT, Desugarer, always_returns
from pykern.frontend.parse import ParsedFunction, parse_function
from pykern.frontend.values import (
    Array,
    Environment,
    FunctionValue,
    LanguageName,
    NoneValue,
    RangeValue,
    Scalar,
    StructConstructor,
    Text,
    TupleValue,
    TypeValue,
    Undefined,
    UnsupportedValue,
    Value,
    describe,
)
from pykern.locations import SourceSpan
from pykern.source import KernelSource
from pykern.types import bool_, weak_int

OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


@dataclass
class Frame:
    """One function being translated: the kernel, or a `@pk.func` it calls."""

    function: ParsedFunction
    environment: Environment
    call_span: SourceSpan | None = None
    unrolling: int = 0
    """How many unrolled loops with a break stand around: names of their body are read after it."""


@dataclass
class Translator:
    """State of one translation. Methods are named after what they take."""

    PLACE = "kernels"

    source: KernelSource
    frames: list[Frame] = field(default_factory=list)
    locations: list[ir.Location] = field(default_factory=list)
    shared_bytes: ir.Value | None = None
    """What the launch gives for `pk.shared(None, dtype)`."""

    # -- places ------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def names(self) -> dict[str, Value]:
        return self.frame.environment.locals

    @property
    def fastmath(self) -> bool:
        return self.source.options.fastmath

    def span(self, node: ast.AST) -> SourceSpan:
        return self.frame.function.span(node)

    def location(self, node: ast.AST) -> ir.Location:
        """Where `node` stands; inside a called function the chain of calls comes with it."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0) + 1
        end_line = getattr(node, "end_lineno", line)
        end_column = getattr(node, "end_col_offset", column) + 1
        place = ir.Location.file(self.frame.function.source.file, line, column, end_line, end_column)
        callers = self.locations[::-1]
        return ir.Location.callsite(place, callers) if callers else place

    def syntax_error(self, node: ast.AST, reason: str, hint: str | None = None) -> KernelSyntaxError:
        return KernelSyntaxError(reason, self.span(node), hint, self.call_notes())

    def type_error(self, node: ast.AST, reason: str, hint: str | None = None) -> KernelTypeError:
        return KernelTypeError(reason, self.span(node), hint, self.call_notes())

    def call_notes(self) -> tuple[tuple[str, SourceSpan | None], ...]:
        """One note per caller of the function being translated, innermost first."""
        return tuple(
            (f"called from `{frame.function.source.name}`", frame.call_span)
            for frame in self.frames[-2::-1]
            if frame.call_span
        )

    @contextmanager
    def operands_of(self, node: ast.AST) -> Iterator[None]:
        """An `OperandError` inside becomes a `KernelTypeError` at `node`."""
        try:
            yield
        except OperandError as error:
            raise self.type_error(node, str(error), error.hint) from None

    # -- statements --------------------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            with self.location(statement):
                self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        method = getattr(self, f"do_{type(node).__name__}", None)
        if method is None:
            name, advice = UNSUPPORTED_STATEMENTS.get(
                type(node).__name__, (type(node).__name__.lower(), None)
            )
            raise self.syntax_error(node, f"`{name}` is not available in {self.PLACE}", advice)
        method(node)

    def do_Assign(self, node: ast.Assign) -> None:  # noqa: N802
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

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
            array, indices = self.subscript(target)
            old = self.load(target, array, indices)
            self.store(target, array, indices, self.binary(node, node.op, old, self.expression(node.value)))
            return
        load = (
            ast.copy_location(ast.Name(target.id, ast.Load()), target)
            if isinstance(target, ast.Name)
            else None
        )
        if load is None:
            raise self.syntax_error(target, "only a name or an element can be updated in place")
        self.assign(target, self.binary(node, node.op, self.expression(load), self.expression(node.value)))

    def do_Expr(self, node: ast.Expr) -> None:  # noqa: N802
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str | type(...)):
            return  # a docstring, or `...`
        self.expression(node.value)

    def do_Pass(self, node: ast.Pass) -> None:  # noqa: N802
        """Nothing."""

    def do_If(self, node: ast.If) -> None:  # noqa: N802
        control.branch(self, node)

    def do_While(self, node: ast.While) -> None:  # noqa: N802
        control.while_loop(self, node)

    def do_For(self, node: ast.For) -> None:  # noqa: N802
        control.for_loop(self, node)

    def do_Assert(self, node: ast.Assert) -> None:  # noqa: N802
        language_ops.assertion(self, node)

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a name, unpack a tuple, or store into an element."""
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            if not isinstance(value, TupleValue) or len(value.items) != len(target.elts):
                raise self.type_error(target, f"{len(target.elts)} names cannot take {describe(value)}",
                                      "unpack a tuple of as many items")  # fmt: skip
            for name, item in zip(target.elts, value.items, strict=True):
                self.assign(name, item)
        elif isinstance(target, ast.Subscript):
            array, indices = self.subscript(target)
            self.store(target, array, indices, value)
        else:
            raise self.syntax_error(target, "a kernel assigns to names and elements only",
                                    "keep the value in a local name")  # fmt: skip

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

    def scalar(self, node: ast.expr) -> Scalar:
        """The scalar an expression gives; anything else is an error at `node`."""
        return self.as_scalar(node, self.expression(node))

    def as_scalar(self, node: ast.AST, value: Value) -> Scalar:
        if isinstance(value, Scalar):
            return value
        raise self.type_error(node, f"a scalar is needed here, not {describe(value)}", scalar_from(value))

    def of_Constant(self, node: ast.Constant) -> Value:  # noqa: N802
        if isinstance(node.value, str):
            return Text(node.value)
        if node.value is None:
            return NoneValue()
        with self.operands_of(node):
            return arithmetic.python_constant(node.value)

    def of_Name(self, node: ast.Name) -> Value:  # noqa: N802
        value = self.names.get(node.id)
        if value is None:
            value = self.frame.environment.captures.get(node.id)
        if value is None:
            raise self.syntax_error(node, f"the name `{node.id}` is not defined",
                                    "give it a value before, or define it where the kernel is decorated")  # fmt: skip
        if isinstance(value, Undefined):
            notes = ((f"`{node.id}` gets a value here only", value.where),) if value.where else ()
            raise KernelSyntaxError(
                f"`{node.id}` has no value on some paths that lead here", self.span(node),
                f"give `{node.id}` a value before the branch or the loop", notes,
            )  # fmt: skip
        if isinstance(value, UnsupportedValue):
            raise self.unsupported(node, node.id, value)
        return value

    def unsupported(self, node: ast.expr, name: str, value: UnsupportedValue) -> KernelTypeError:
        """An object that kernels have no use for; what to pass instead depends on its kind."""
        reason = f"`{name}` is {value.description}, which {self.PLACE} cannot use"
        return self.type_error(node, reason, instead_of(value.description))

    def of_Attribute(self, node: ast.Attribute) -> Value:  # noqa: N802
        path = captured.dotted(node)
        if path is not None and path.split(".")[0] not in self.names:
            value = self.frame.environment.captures.get(path)
            if isinstance(value, UnsupportedValue):
                raise self.unsupported(node, path, value)
            if value is not None:
                return value
        value = self.expression(node.value)
        if isinstance(value, Array):
            return self.array_attribute(node, value)
        if isinstance(value, TupleValue) and node.attr in value.fields:
            return value.items[value.fields.index(node.attr)]
        raise self.type_error(node, f"{describe(value)} has no attribute `{node.attr}` in {self.PLACE}",
                              "there are those of arrays, as x.shape, and the fields of structs")  # fmt: skip

    def array_attribute(self, node: ast.Attribute, array: Array) -> Value:
        if node.attr == "shape":
            return TupleValue(tuple(self.length(array, d) for d in range(len(array.shape))))
        if node.attr == "ndim":
            return Scalar(weak_int, const=len(array.shape))
        if node.attr == "dtype":
            return TypeValue(array.dtype)
        if node.attr == "size":
            total = Scalar(weak_int, const=1)
            for d in range(len(array.shape)):
                total = arithmetic.binary("*", total, self.length(array, d))
            return total
        raise self.type_error(node, f"an array has no attribute `{node.attr}` in kernels",
                              "there are shape, dtype, ndim, size")  # fmt: skip

    def length(self, array: Array, dimension: int) -> Scalar:
        known = array.shape[dimension]
        if known is not None:
            return Scalar(weak_int, const=known)
        index = arith.ConstantOp(ir.IndexType.get(), dimension).result
        return Scalar(weak_int, memref.DimOp(array.ssa, index).result)

    def of_Tuple(self, node: ast.Tuple) -> Value:  # noqa: N802
        return TupleValue(tuple(self.expression(item) for item in node.elts))

    def of_BinOp(self, node: ast.BinOp) -> Value:  # noqa: N802
        return self.binary(node, node.op, self.expression(node.left), self.expression(node.right))

    def binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        symbol = OPERATORS.get(type(op))
        if isinstance(left, TupleValue) and isinstance(right, TupleValue) and symbol == "+":
            return TupleValue(left.items + right.items)
        if symbol is None:
            raise self.syntax_error(node, "`@` works on tiles and arrays, not in a work-item kernel",
                                    "write a loop that adds products, or use pk.dot in a tile kernel")  # fmt: skip
        if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
            wrong = right if isinstance(left, Scalar) else left
            raise self.type_error(node, f"`{symbol}` takes scalars, not {describe(wrong)}",
                                  scalar_from(wrong))  # fmt: skip
        with self.operands_of(node):
            return arithmetic.binary(symbol, left, right, self.fastmath)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:  # noqa: N802
        value = self.scalar(node.operand)
        with self.operands_of(node):
            if isinstance(node.op, ast.Not):
                return arithmetic.logical_not(value)
            if isinstance(node.op, ast.Invert):
                return arithmetic.invert(value)
            return arithmetic.negate(value) if isinstance(node.op, ast.USub) else value

    def of_Compare(self, node: ast.Compare) -> Value:  # noqa: N802
        """A chain ``a < b < c``: each operand once, joined as `and`."""
        left = self.expression(node.left)
        result: Scalar | None = None
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.expression(right_node)
            part = self.comparison(node, op, left, right)
            with self.operands_of(node):
                result = part if result is None else arithmetic.binary("&", result, part)
            left = right
        assert result is not None
        return result

    def comparison(self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Scalar:
        symbol = OPERATORS.get(type(op))
        if isinstance(op, ast.Is | ast.IsNot) and (
            isinstance(left, NoneValue) or isinstance(right, NoneValue)
        ):
            same = isinstance(left, NoneValue) and isinstance(right, NoneValue)
            return Scalar(bool_, const=same == isinstance(op, ast.Is))
        if isinstance(left, Text | TypeValue | NoneValue) and symbol in ("==", "!="):
            return Scalar(bool_, const=(left == right) == (symbol == "=="))
        if symbol is None:
            raise self.syntax_error(
                node, f"`{_word(op)}` is not available in kernels", "compare with == or <"
            )
        if not (isinstance(left, Scalar) and isinstance(right, Scalar)):
            wrong = right if isinstance(left, Scalar) else left
            raise self.type_error(
                node, f"`{symbol}` compares scalars, not {describe(wrong)}", scalar_from(wrong)
            )
        with self.operands_of(node):
            return arithmetic.binary(symbol, left, right)

    def of_BoolOp(self, node: ast.BoolOp) -> Value:  # noqa: N802
        return control.short_circuit(self, node)

    def of_IfExp(self, node: ast.IfExp) -> Value:  # noqa: N802
        return control.conditional(self, node)

    def of_NamedExpr(self, node: ast.NamedExpr) -> Value:  # noqa: N802
        value = self.expression(node.value)
        self.assign(node.target, value)
        return value

    def of_JoinedStr(self, node: ast.JoinedStr) -> Value:  # noqa: N802
        raise self.syntax_error(node, "an f-string is not available in kernels",
                                "pass the values to print one by one: pk.print('x =', x)")  # fmt: skip

    # -- elements ----------------------------------------------------------------------------

    def of_Subscript(self, node: ast.Subscript) -> Value:  # noqa: N802
        base = self.expression(node.value)
        if isinstance(base, TupleValue):
            return self.tuple_item(node, base)
        if isinstance(base, TypeValue | LanguageName):
            return base  # an annotation such as pk.f32[:]
        array, indices = self.subscript(node, base)
        return self.load(node, array, indices)

    def tuple_item(self, node: ast.Subscript, base: TupleValue) -> Value:
        if isinstance(node.slice, ast.Slice):
            bounds = [
                self.scalar(b) if b else None for b in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            if all(b is None or b.is_const for b in bounds):
                return TupleValue(base.items[slice(*(b.const if b else None for b in bounds))])
        index = self.scalar(node.slice)
        if not index.is_const or not isinstance(index.const, int):
            raise self.type_error(node.slice, "a tuple is indexed by a constant",
                                  "use pk.unroll(range(...)) for a loop over it, or an array")  # fmt: skip
        if not -len(base.items) <= index.const < len(base.items):
            raise self.type_error(node, f"index {index.const} is outside of a tuple of {len(base.items)}",
                                  "its first item is t[0], its last one t[-1]")  # fmt: skip
        return base.items[index.const]

    def subscript(self, node: ast.Subscript, base: Value | None = None) -> tuple[Array, list[ir.Value]]:
        """The array and the index values of ``x[i, j]``."""
        if base is None:
            base = self.expression(node.value)
        if not isinstance(base, Array):
            hint = "write x[i, j] rather than x[i][j]" if isinstance(node.value, ast.Subscript) else None
            raise self.type_error(node, f"{describe(base)} cannot be indexed", hint)
        return base, self.indices(node.slice, base)

    def indices(self, node: ast.expr, array: Array) -> list[ir.Value]:
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        items: list[tuple[ast.expr, Value]] = []
        for item in nodes:
            if isinstance(item, ast.Slice) or (isinstance(item, ast.Constant) and item.value in (None, ...)):
                raise self.syntax_error(item, "slices are not available in a work-item kernel",
                                        "a work-item reads and writes single elements: x[i, j]")  # fmt: skip
            if isinstance(item, ast.Starred):
                spread = self.expression(item.value)
                items += (
                    [(item, v) for v in spread.items] if isinstance(spread, TupleValue) else [(item, spread)]
                )
                continue
            value = self.expression(item)
            items += [(item, v) for v in value.items] if isinstance(value, TupleValue) else [(item, value)]
        if len(items) != len(array.shape):
            raise self.type_error(node, f"{describe(array)} has {len(array.shape)} dimensions, "
                                  f"and {len(items)} {'index is' if len(items) == 1 else 'indices are'} given",
                                  f"write {array.name}[{', '.join('ijklmnpq'[: len(array.shape)])}]")  # fmt: skip
        return [self.index(item, value, array, d) for d, (item, value) in enumerate(items)]

    def index(self, node: ast.expr, value: Value, array: Array, dimension: int) -> ir.Value:
        """An index as `index`; a negative constant counts from the end, as Python's does."""
        scalar = self.as_scalar(node, value)
        if not scalar.dtype.is_integer:
            raise self.type_error(node, f"an index is an integer, not {describe(scalar)}",
                                  "use pk.cast(x, pk.i64) to cut off the fraction")  # fmt: skip
        if scalar.is_const:
            length = array.shape[dimension]
            if length is not None and not -length <= scalar.const < length:
                raise self.type_error(node, f"index {scalar.const} is outside of dimension {dimension} of "
                                      f"{describe(array)}")  # fmt: skip
            if scalar.const < 0:
                scalar = arithmetic.binary(
                    "+", self.length(array, dimension), Scalar(weak_int, const=scalar.const)
                )
        return materialise(convert(scalar, weak_int))

    def load(self, node: ast.AST, array: Array, indices: list[ir.Value]) -> Scalar:
        if not array.reads:
            raise self.type_error(node, f"`{array.name}` is annotated pk.Out: the kernel may not read it",
                                  "annotate it pk.InOut")  # fmt: skip
        value = memref.LoadOp(array.ssa, indices).result
        if array.dtype == bool_:
            value = arith.CmpIOp(arith.CmpIPredicate.ne, value,
                                 arith.ConstantOp(value.type, 0).result).result  # fmt: skip
        if array.dtype.is_storage:
            value = arith.ExtFOp(mlir_type(array.dtype.loaded), value).result
        return Scalar(array.dtype.loaded, value)

    def store(self, node: ast.AST, array: Array, indices: list[ir.Value], value: Value) -> None:
        if not array.writes:
            raise self.type_error(node, f"`{array.name}` is annotated pk.In: the kernel may not write it",
                                  "annotate it pk.InOut or pk.Out")  # fmt: skip
        stored = materialise(convert(self.as_scalar(node, value), array.dtype.loaded))
        memref.StoreOp(self.in_memory(stored, array), array.ssa, indices)

    def in_memory(self, value: ir.Value, array: Array) -> ir.Value:
        """An element as memory holds it."""
        if array.dtype.is_storage:
            return to_storage(value, array.dtype)
        if array.dtype != bool_:
            return value
        return arith.ExtUIOp(ir.IntegerType.get_signless(8), value).result

    # -- calls -------------------------------------------------------------------------------

    def of_Call(self, node: ast.Call) -> Value:  # noqa: N802
        callee = self.expression(node.func)
        if isinstance(callee, LanguageName):
            return language_ops.call(self, node, callee.name)
        if isinstance(callee, TypeValue):
            arguments, keywords = self.arguments(node)
            if len(arguments) != 1 or keywords:
                raise self.type_error(node, f"pk.{callee.dtype.name} takes one value, not {len(arguments)}",
                                      f"write pk.{callee.dtype.name}(x)")  # fmt: skip
            return convert(self.as_scalar(node.args[0], arguments[0]), callee.dtype)
        return self.call_value(node, callee)

    def call_value(self, node: ast.Call, callee: Value) -> Value:
        """A call of a struct or of a function."""
        arguments, keywords = self.arguments(node)
        if isinstance(callee, StructConstructor):
            return self.construct(node, callee, arguments, keywords)
        if isinstance(callee, FunctionValue):
            return self.call_function(node, callee, arguments, keywords)
        raise self.type_error(node, f"{describe(callee)} cannot be called in {self.PLACE}",
                              "decorate a helper function with @pk.func")  # fmt: skip

    def arguments(self, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        positional: list[Value] = []
        for item in node.args:
            if isinstance(item, ast.Starred):
                spread = self.expression(item.value)
                if not isinstance(spread, TupleValue):
                    raise self.type_error(
                        item, f"`*` spreads a tuple, not {describe(spread)}", "leave out the `*`"
                    )
                positional += spread.items
            else:
                positional.append(self.expression(item))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.syntax_error(
                    node, f"`**` arguments are not available in {self.PLACE}", "name each argument"
                )
            keywords[keyword.arg] = self.expression(keyword.value)
        return positional, keywords

    def construct(self, node: ast.Call, made: StructConstructor, arguments: list, keywords: dict) -> Value:
        items = dict(zip(made.fields, arguments, strict=False)) | keywords
        if len(arguments) > len(made.fields) or set(items) != set(made.fields):
            raise self.type_error(
                node, f"`{made.name}` takes {', '.join(made.fields)}", "give each field once"
            )
        return TupleValue(tuple(items[name] for name in made.fields), made.name, made.fields)

    def call_function(self, node: ast.Call, callee: FunctionValue, arguments: list, keywords: dict) -> Value:
        """Translate the body of a `@pk.func` here, in a scope of its own."""
        if any(f.function.source == callee.source for f in self.frames):
            raise self.syntax_error(node, f"`{callee.source.name}` calls itself: {self.PLACE} have no recursion",
                                    "write a loop, or a stack in pk.private memory")  # fmt: skip
        parsed = parse_function(callee.source)
        bound = self.bind(node, parsed, arguments, keywords)
        place = self.location(node)
        self.frame.call_span = self.span(node)
        self.locations.append(place)
        self.frames.append(Frame(parsed, Environment(bound, captured.values(callee.source.captures))))
        try:
            self.statements(Desugarer().function_body(parsed.node.body))
            result = self.names.get(RESULT, NoneValue())
        finally:
            self.frames.pop()
            self.locations.pop()
        if not isinstance(result, NoneValue) and not always_returns(parsed.node.body):
            raise self.syntax_error(node, f"`{callee.source.name}` returns a value on some paths only",
                                    "end the function with a return")  # fmt: skip
        return result

    def bind(
        self, node: ast.Call, parsed: ParsedFunction, arguments: list, keywords: dict
    ) -> dict[str, Value]:
        signature = parsed.node.args
        names = [a.arg for a in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)]
        if signature.vararg or signature.kwarg:
            raise self.syntax_error(node, f"`{parsed.source.name}` has *args or **kwargs: {self.PLACE} have not",
                                    "name each parameter")  # fmt: skip
        if len(arguments) > len(names):
            raise self.type_error(node, f"`{parsed.source.name}` takes {len(names)} positional, {len(arguments)} given",
                                  f"it is {parsed.source.name}({', '.join(names)})")  # fmt: skip
        defaults = {name: captured.value(c) for name, c in parsed.source.defaults}
        bound = defaults | dict(zip(names, arguments, strict=False)) | keywords
        wrong = [n for n in keywords if n not in names] or [n for n in names if n not in bound]
        if wrong:
            what = "has no parameter" if wrong[0] in keywords else "needs the argument"
            raise self.type_error(node, f"`{parsed.source.name}` {what} `{wrong[0]}`",
                                  f"it is {parsed.source.name}({', '.join(names)})")  # fmt: skip
        return bound

    def range_value(self, node: ast.Call, unroll: bool = False) -> RangeValue:
        """``range(stop)``, ``range(start, stop[, step])``."""
        bounds = [self.scalar(a) for a in node.args]
        if not 1 <= len(bounds) <= 3 or node.keywords:
            raise self.type_error(node, "range takes one to three integers",
                                  "write range(stop), range(start, stop) or range(start, stop, step)")  # fmt: skip
        for item, bound in zip(node.args, bounds, strict=True):
            if not bound.dtype.is_integer:
                raise self.type_error(item, f"range takes integers, not {describe(bound)}",
                                      "cut off the fraction: int(x)")  # fmt: skip
        bounds = [convert(b, weak_int) for b in bounds]
        nil, one = Scalar(weak_int, const=0), Scalar(weak_int, const=1)
        start, stop = (nil, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = bounds[2] if len(bounds) == 3 else one
        if step.is_const and step.const == 0:
            raise self.type_error(node, "the step of a range is not zero",
                                  "use 1, or a negative step to count down")  # fmt: skip
        return RangeValue(start, stop, step, unroll)


def _word(op: ast.cmpop) -> str:
    return {ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}.get(
        type(op), "this comparison"
    )
