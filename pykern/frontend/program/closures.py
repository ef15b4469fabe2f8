"""Functions that an array program defines itself: ``def`` and ``lambda`` inside of it.

Comes in: their definition, and calls. Goes out: a `LocalFunction`, and what its body gives, translated where it is
called. Names of the functions around it are read as they are when it is called, as in Python. They are not assigned to:
an assignment makes a name of the function's own, and `nonlocal` is refused.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import replace

from pykern.data.scopes import own_names, parameters, walk
from pykern.errors import ARGUMENTS, KernelSyntaxError
from pykern.frontend import captured
from pykern.frontend.parse import ParsedFunction
from pykern.frontend.program.values import DictValue, LocalFunction, parts
from pykern.frontend.translation import Frame
from pykern.frontend.translator import Translator
from pykern.frontend.values import Environment, FunctionValue, TupleValue, Value, describe

DEEPEST = 400
"""Calls within calls, of functions that are passed to one another."""
_TOLD = 8
"""So many of them an error tells."""
_LAMBDA = "<lambda>"
_RETURN = "return the value, and assign it where the function is called: x = f(x)"


class Closures(Translator):
    """The part of a program's translator that defines functions and calls them."""

    comprehensions: list[tuple[Frame, list[LocalFunction]]]
    """Where comprehensions are being run through, and the functions made in them."""

    def made(self, value: DictValue) -> Value:
        """A dict of its own."""
        raise NotImplementedError

    # -- definitions -------------------------------------------------------------------------

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:  # noqa: N802
        if node.decorator_list:
            raise self.syntax_error(
                node.decorator_list[0], "a decorator inside of a program is not available",
                "leave it out, and call what it would call: g = pk.grad(f)",
            )  # fmt: skip
        for inner in (found for part in node.body for found in walk(part)):
            if isinstance(inner, ast.Nonlocal | ast.Global):
                what = "nonlocal" if isinstance(inner, ast.Nonlocal) else "global"
                reason = f"`{what}` is not available in array programs: functions in them assign to names of their own"
                raise self.syntax_error(inner, reason, _RETURN)
        self.names[node.name] = self._defined(node, node.name)
        self.frame.places[node.name] = self.span(node)

    def of_Lambda(self, node: ast.Lambda) -> Value:  # noqa: N802
        returned = ast.copy_location(ast.Return(node.body), node.body)
        plain = ast.FunctionDef(_LAMBDA, node.args, [returned], [])
        return self._defined(ast.copy_location(plain, node), _LAMBDA)

    def _defined(self, node: ast.FunctionDef, name: str) -> LocalFunction:
        arguments, around = node.args, self.frame.function
        plain = [*arguments.posonlyargs, *arguments.args]
        pairs = list(zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True))
        pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
        defaults = {a.arg: self.expression(d) for a, d in pairs}
        parsed = ParsedFunction(replace(around.source, name=name), node, around.lines)
        made = LocalFunction(parsed, self.frame, defaults)
        for frame, inside in self.comprehensions:
            if frame is self.frame:
                inside.append(made)
        return made

    # -- calls -------------------------------------------------------------------------------

    def called_with(self, node: ast.Call, callee: Value, arguments: list, keywords: dict) -> Value:
        if not isinstance(callee, LocalFunction):
            return super().called_with(node, callee, arguments, keywords)
        if self.is_running(callee):
            raise self.recursion(node, callee.name)
        bound = self.bound(node, callee.parsed, callee.defaults, arguments, keywords)
        return self.inlined(node, Frame(callee.parsed, Environment(bound, around(callee)), called=callee))

    def bind(
        self, node: ast.Call, parsed: ParsedFunction, arguments: list, keywords: dict
    ) -> dict[str, Value]:
        if not (parsed.node.args.vararg or parsed.node.args.kwarg):
            return super().bind(node, parsed, arguments, keywords)
        defaults = {name: captured.value(c) for name, c in parsed.source.defaults}
        return self.bound(node, parsed, defaults, arguments, keywords)

    def bound(
        self, node: ast.Call, parsed: ParsedFunction, defaults: dict, arguments: list, keywords: dict
    ) -> dict[str, Value]:
        """The parameters with their values. Raises where Python would."""
        given, name = parsed.node.args, parsed.source.name
        try:
            found = _signature(given, defaults).bind(*arguments, **keywords).arguments
        except TypeError as error:
            written = f"it is {name}({ast.unparse(given)})"
            raise self.type_error(node, f"`{name}`: {error}", written, ARGUMENTS) from None
        bound = defaults | found
        if given.vararg:
            bound[given.vararg.arg] = TupleValue(tuple(found.get(given.vararg.arg, ())))
        if given.kwarg:
            more = DictValue(tuple(found.get(given.kwarg.arg, {}).items()))
            bound[given.kwarg.arg] = self.made(more)
        return {name: bound[name] for name in parameters(given)}

    def spread(self, node: ast.expr) -> dict[str, Value]:
        value = self.expression(node)
        if not isinstance(value, DictValue):
            raise self.type_error(node, f"`**` spreads a dict, not {describe(value)}", "leave out the `**`")
        return dict(value.items)

    def is_running(self, callee: FunctionValue | LocalFunction) -> bool:
        """A function of the file may be called again by one that it was given."""
        if len(self.frames) > DEEPEST:
            return True
        if isinstance(callee, LocalFunction):
            return any(f.called is callee for f in self.frames)
        since = next(
            (n for n, f in enumerate(reversed(self.frames)) if isinstance(f.called, LocalFunction)),
            len(self.frames),
        )
        return any(f.function.source == callee.source for f in self.frames[len(self.frames) - since :])

    def recursion(self, node: ast.AST, name: str) -> KernelSyntaxError:
        error = self.syntax_error(node, f"`{name}` calls itself: {self.PLACE} have no recursion",
                                  "write a loop: for k in pk.range(n)")  # fmt: skip
        error.extra_notes = error.extra_notes[:_TOLD]
        return error

    def instead_of_unassigned(self, name: str) -> str:
        function = self.frame.called
        if isinstance(function, LocalFunction) and name in visible(function.scope):
            return (
                f"an assignment anywhere in `{function.name}` makes `{name}` a local variable, as in Python: give it "
                f"another name, or pass `{name}` as an argument"
            )
        return super().instead_of_unassigned(name)

    # -- what functions reach ----------------------------------------------------------------

    def frames_in_reach(self) -> Iterator[Frame]:
        """Those of the calls being translated, and of calls that have ended and left a function."""
        todo, seen = list(self.frames), set()
        while todo:
            frame = todo.pop()
            if id(frame) in seen:
                continue
            seen.add(id(frame))
            yield frame
            todo += [f.scope for v in frame.environment.locals.values() for f in functions(v)]
            if isinstance(frame.called, LocalFunction):
                todo.append(frame.called.scope)


def visible(frame: Frame) -> dict[str, Value]:
    """What names mean now to a function that is defined in this frame."""
    own = {n: v for n, v in frame.environment.locals.items() if not n.startswith(".")}
    outer = around(frame.called) if isinstance(frame.called, LocalFunction) else frame.environment.captures
    return outer | own


def around(function: LocalFunction) -> dict[str, Value]:
    """What names mean now to the function that are not its own."""
    own = own_names(function.parsed.node)
    found = visible(function.scope) | function.kept
    return {name: value for name, value in found.items() if name.split(".")[0] not in own}


def functions(value: Value) -> Iterator[LocalFunction]:
    """The program's own functions in a value."""
    if isinstance(value, LocalFunction):
        yield value
    for item in parts(value):
        yield from functions(item)


def _signature(given: ast.arguments, defaults: dict[str, Value]) -> inspect.Signature:
    kinds = inspect.Parameter
    named = [
        *((a, kinds.POSITIONAL_ONLY) for a in given.posonlyargs),
        *((a, kinds.POSITIONAL_OR_KEYWORD) for a in given.args),
        *([(given.vararg, kinds.VAR_POSITIONAL)] if given.vararg else []),
        *((a, kinds.KEYWORD_ONLY) for a in given.kwonlyargs),
        *([(given.kwarg, kinds.VAR_KEYWORD)] if given.kwarg else []),
    ]
    return inspect.Signature(
        [
            inspect.Parameter(a.arg, kind, default=defaults.get(a.arg, inspect.Parameter.empty))
            for a, kind in named
        ]
    )
