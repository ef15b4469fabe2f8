"""Calls: casts, structs, `range`, and helper functions, whose bodies are translated where they are called.

Comes in: `ast.Call`. Goes out: the value it gives; calls into the kernel language go on to `language_ops`.
"""

from __future__ import annotations

import ast

from pykern.errors import ARGUMENTS, KernelSyntaxError
from pykern.frontend import (
    call_counts,
    captured,
    complex_elements,
    cuda_calls,
    language_ops,
    row_reductions,
    rows,
)
from pykern.frontend.casts import convert
from pykern.frontend.debug_checks import check_step
from pykern.frontend.desugar import RESULT, Desugarer, always_returns
from pykern.frontend.elements import Elements
from pykern.frontend.parse import ParsedFunction, parse_function
from pykern.frontend.row_reductions import RowMethod
from pykern.frontend.translation import Frame
from pykern.frontend.values import (
    Array,
    CudaValue,
    Environment,
    FunctionValue,
    LanguageName,
    NoneValue,
    RangeValue,
    Scalar,
    StructConstructor,
    TupleValue,
    TypeValue,
    Value,
    describe,
)
from pykern.passes.analysis.cost_model.code_size import FIRST_COUNT, HOPELESS_CALLS, MOST_CALLS
from pykern.types import DType, weak_int


class Calls(Elements):
    """The part of a translator that calls."""

    def of_Call(self, node: ast.Call) -> Value:  # noqa: N802
        callee = self.expression(node.func)
        if isinstance(callee, LanguageName):
            return language_ops.call(self, node, callee.name)
        if isinstance(callee, TypeValue):
            arguments, keywords = self.arguments(node)
            if callee.dtype.kind == "c" and not keywords:
                return complex_elements.cast(self, node, arguments, callee.dtype)
            if len(arguments) != 1 or keywords:
                raise self.type_error(node, f"pk.{callee.dtype.name} takes one value, not {len(arguments)}",
                                      f"write pk.{callee.dtype.name}(x)")  # fmt: skip
            return self.converted(node, node.args[0], arguments[0], callee.dtype)
        if isinstance(callee, RowMethod):
            return row_reductions.method(self, node, callee, *self.arguments(node))
        return self.call_value(node, callee)

    def converted(self, node: ast.Call, place: ast.expr, value: Value, dtype: DType) -> Value:
        """``pk.f32(x)`` of a number, or of each element of a row."""
        if rows.is_row(value):
            return rows.computed(self, node, [value], lambda one: convert(one[0], dtype))
        return convert(self.as_scalar(place, value), dtype)

    def call_value(self, node: ast.Call, callee: Value) -> Value:
        """A call of a struct or of a function."""
        arguments, keywords = self.arguments(node)
        return self.called_with(node, callee, arguments, keywords)

    def called_with(self, node: ast.Call, callee: Value, arguments: list, keywords: dict) -> Value:
        if isinstance(callee, StructConstructor):
            return self.construct(node, callee, arguments, keywords)
        if isinstance(callee, FunctionValue):
            return self.call_function(node, callee, arguments, keywords)
        if isinstance(callee, CudaValue):
            return cuda_calls.call(self, node, callee.function, arguments, keywords)
        hint = "decorate a helper function with @pk.func"
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        what = describe(callee)
        if isinstance(callee, Array):
            indices = ", ".join(ast.unparse(item) for item in node.args) or "i"
            hint = f"arrays are indexed: write {ast.unparse(node.func)}[{indices}]"
        elif name in self.names:
            what = f"`{name}` is {what} here, and"
            hint = f"give the variable another name: it hides what `{name}` means outside"
        raise self.type_error(node, f"{what} cannot be called in {self.PLACE}", hint)

    def arguments(self, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        positional = self.written_out(node.args)
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                keywords |= self.spread(keyword.value)
            else:
                keywords[keyword.arg] = self.expression(keyword.value)
        return positional, keywords

    def written_out(self, parts: list[ast.expr]) -> list[Value]:
        """The values of arguments, or of the items of a tuple or list: ``a, *b``."""
        found: list[Value] = []
        for part in parts:
            found += self.spread_items(part) if isinstance(part, ast.Starred) else [self.expression(part)]
        return found

    def spread_items(self, node: ast.Starred) -> list[Value]:
        """``*node``."""
        spread = self.expression(node.value)
        if not isinstance(spread, TupleValue):
            raise self.type_error(node, f"`*` spreads a tuple, not {describe(spread)}", "leave out the `*`")
        return list(spread.items)

    def spread(self, node: ast.expr) -> dict[str, Value]:
        """``**node``."""
        raise self.syntax_error(
            node, f"`**` arguments are not available in {self.PLACE}", "name each argument"
        )

    def construct(self, node: ast.Call, made: StructConstructor, arguments: list, keywords: dict) -> Value:
        items = dict(zip(made.fields, arguments, strict=False)) | keywords
        if len(arguments) > len(made.fields) or set(items) != set(made.fields):
            raise self.type_error(
                node, f"`{made.name}` takes {', '.join(made.fields)}", "give each field once"
            )
        return TupleValue(tuple(items[name] for name in made.fields), made.name, made.fields)

    def call_function(self, node: ast.Call, callee: FunctionValue, arguments: list, keywords: dict) -> Value:
        """Translate the body of a `@pk.func` here, in a scope of its own."""
        if self.is_running(callee):
            raise self.recursion(node, callee.source.name)
        self.count_call(node, callee)
        parsed = parse_function(callee.source)
        bound = self.bind(node, parsed, arguments, keywords)
        return self.inlined(
            node, Frame(parsed, Environment(bound, captured.values(callee.source.captures)), called=callee)
        )

    def count_call(self, node: ast.Call, callee: FunctionValue) -> None:
        """Refuse what would be too many bodies, at the line of the kernel: see `call_counts`."""
        self.calls += 1
        if self.calls != FIRST_COUNT and self.calls <= MOST_CALLS:
            return
        called = [*(frame.function.source for frame in self.frames[1:]), callee.source][0]
        count = max(self.calls, call_counts.calls_in(called))
        if self.calls <= MOST_CALLS and count <= HOPELESS_CALLS:
            return
        first = self.frames[0]
        raise KernelSyntaxError(
            f"`{first.function.source.name}` would inline {count:,} calls of functions, and "
            f"{MOST_CALLS:,} are the most",
            first.call_span if len(self.frames) > 1 else self.span(node),
            "call a function once, keep its value in a name, and use the name twice; or write a loop",
        )

    def is_running(self, callee: FunctionValue) -> bool:
        """Whether a call of the function is being translated. A reduction of the language reads elements that are sums
        themselves, and is no recursion."""
        if callee.source.file.startswith(row_reductions.FILE):
            return False
        return any(f.function.source == callee.source for f in self.frames)

    def recursion(self, node: ast.AST, name: str) -> KernelSyntaxError:
        return self.syntax_error(node, f"`{name}` calls itself: {self.PLACE} have no recursion",
                                 "write a loop, or a stack in pk.private memory")  # fmt: skip

    def inlined(self, node: ast.Call, frame: Frame) -> Value:
        """What the function of the frame returns; its body stands here."""
        place = self.location(node)
        self.frame.call_span = self.span(node)
        self.locations.append(place)
        self.frames.append(frame)
        body = frame.function.node.body
        try:
            self.statements(self.desugared(body))
            result = self.names.get(RESULT, NoneValue())
        finally:
            self.frames.pop()
            self.locations.pop()
        if not isinstance(result, NoneValue) and not always_returns(body):
            raise self.syntax_error(node, f"`{frame.function.source.name}` returns a value on some paths only",
                                    "end the function with a return")  # fmt: skip
        return result

    def desugared(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of the function that is being translated, in the statements that there are methods for."""
        return Desugarer().function_body(body)

    def bind(
        self, node: ast.Call, parsed: ParsedFunction, arguments: list, keywords: dict
    ) -> dict[str, Value]:
        signature = parsed.node.args
        placed = [a.arg for a in (*signature.posonlyargs, *signature.args)]
        names = [*placed, *(a.arg for a in signature.kwonlyargs)]
        if signature.vararg or signature.kwarg:
            reason = f"`{parsed.source.name}` has *args or **kwargs, which {self.PLACE} do not support"
            raise self.syntax_error(node, reason, "name each parameter")
        if len(arguments) > len(placed):
            few = f"`{parsed.source.name}` takes {len(placed)} positional, {len(arguments)} given"
            raise self.type_error(node, few,
                                  f"it is {parsed.source.name}({', '.join(names)})", ARGUMENTS)  # fmt: skip
        defaults = {name: captured.value(c) for name, c in parsed.source.defaults}
        bound = defaults | dict(zip(names, arguments, strict=False)) | keywords
        wrong = [n for n in keywords if n not in names] or [n for n in names if n not in bound]
        if wrong:
            what = "has no parameter" if wrong[0] in keywords else "needs the argument"
            raise self.type_error(node, f"`{parsed.source.name}` {what} `{wrong[0]}`",
                                  f"it is {parsed.source.name}({', '.join(names)})", ARGUMENTS)  # fmt: skip
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
        check_step(self.source, step)
        return RangeValue(start, stop, step, unroll)
