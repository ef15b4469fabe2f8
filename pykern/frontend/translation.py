"""What every part of a translation stands on: the functions being translated, their names, places, errors.

Comes in: a kernel's source and the frames of the calls being translated. Goes out: locations for ops, and
errors that name the line and the calls that led there. `names`, `elements`, `operations` and `calls` build
on it; `translator` joins them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.data.scopes import last_stores
from pykern.data.source import KernelSource
from pykern.errors import KernelSyntaxError, KernelTypeError
from pykern.frontend.advice import scalar_from
from pykern.frontend.array_writes import ArrayWrites
from pykern.frontend.parse import ParsedFunction
from pykern.frontend.values import (
    Environment,
    NoneValue,
    OperandError,
    Scalar,
    TupleValue,
    Value,
    describe,
)
from pykern.language.composed import is_composed


@dataclass
class Frame:
    """One function being translated: the kernel, or a `@pk.func` it calls."""

    function: ParsedFunction
    environment: Environment
    call_span: SourceSpan | None = None
    places: dict[str, SourceSpan] = field(default_factory=dict)
    """Where names got the values they have now."""
    unrolling: int = 0
    """How many unrolled loops with a break stand around: names of their body are read after it."""
    called: Value | None = None
    """The function, where a program defined it inside."""


@dataclass
class Translation:
    """State of one translation, and the entrances that its parts take to each other."""

    PLACE = "kernels"

    source: KernelSource
    frames: list[Frame] = field(default_factory=list)
    locations: list[ir.Location] = field(default_factory=list)
    shared_bytes: ir.Value | None = None
    """What the launch gives for `pk.shared(None, dtype)`."""
    calls: int = 0
    """Of functions, which were put in their places so far."""
    checks_lengths: bool = False
    """Whether launches are checked for lengths of rows: see `pykern.passes.kernel.launch_bounds.find.length_checks`."""
    array_writes: ArrayWrites = field(default_factory=ArrayWrites)

    # -- what `translator` gives -------------------------------------------------------------

    def statements(self, body: list[ast.stmt]) -> None:
        raise NotImplementedError

    def expression(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value, written: ast.expr | None = None) -> None:
        raise NotImplementedError

    # -- places ------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    instead_of_copies = "loop over range(...) without pk.unroll"
    instead_of_text = "strings are for pk.print, asserts and options only"

    @property
    def names(self) -> dict[str, Value]:
        return self.frame.environment.locals

    @property
    def fastmath(self) -> bool:
        return self.source.options.fastmath

    def span(self, node: ast.AST) -> SourceSpan:
        """Where `node` stands; in a text that stands for a function of NumPy, where that one is called."""
        written = self.written_frames()
        if len(written) < len(self.frames) and written[-1].call_span is not None:
            return written[-1].call_span
        return self.frame.function.span(node)

    def written_frames(self) -> list[Frame]:
        """The frames of functions that the user wrote."""
        return list(
            itertools.takewhile(lambda frame: not is_composed(frame.function.source.file), self.frames)
        )

    def location(self, node: ast.AST) -> ir.Location:
        """Where `node` stands; inside a called function the chain of calls comes with it."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0) + 1
        end_line = getattr(node, "end_lineno", line)
        end_column = getattr(node, "end_col_offset", column) + 1
        place = ir.Location.file(self.frame.function.source.file, line, column, end_line, end_column)
        callers = self.locations[::-1]
        return ir.Location.callsite(place, callers) if callers else place

    # -- errors ------------------------------------------------------------------------------

    def syntax_error(
        self, node: ast.AST, reason: str, hint: str | None = None, code: str | None = None
    ) -> KernelSyntaxError:
        return KernelSyntaxError(reason, self.span(node), hint, self.call_notes(), code)

    def type_error(
        self,
        node: ast.AST,
        reason: str,
        hint: str | None = None,
        code: str | None = None,
        notes: tuple[tuple[str, SourceSpan | None], ...] = (),
    ) -> KernelTypeError:
        return KernelTypeError(reason, self.span(node), hint, (*notes, *self.call_notes()), code)

    def place_of(self, name: str, body: list[ast.stmt]) -> SourceSpan | None:
        """Where `name` gets its last value in `body`."""
        stores = (found for statement in reversed(body) if (found := last_stores(statement).get(name)))
        last = next(stores, None)
        return None if last is None else self.span(last)

    def call_notes(self) -> tuple[tuple[str, SourceSpan | None], ...]:
        """One note per caller of the function being translated, innermost first."""
        return tuple(
            (f"called from `{frame.function.source.name}`", frame.call_span)
            for frame in self.written_frames()[-2::-1]
            if frame.call_span
        )

    @contextmanager
    def operands_of(self, node: ast.AST, operands: Callable[[], str] = lambda: "") -> Iterator[None]:
        """An `OperandError` inside becomes a `KernelTypeError` at `node`; `operands` tells which is what."""
        try:
            yield
        except OperandError as error:
            notes = ((told, None),) if (told := operands()) else ()
            raise self.type_error(node, str(error), error.hint, notes=notes) from None

    # -- scalars -----------------------------------------------------------------------------

    def scalar(self, node: ast.expr) -> Scalar:
        """The scalar an expression gives; anything else is an error at `node`."""
        return self.as_scalar(node, self.expression(node))

    def as_scalar(self, node: ast.AST, value: Value) -> Scalar:
        if isinstance(value, Scalar):
            return value
        hint = scalar_from(value)
        if isinstance(node, ast.Call) and isinstance(value, NoneValue):
            hint = f"`{ast.unparse(node.func)}` gives no value: end it with `return value`"
        elif type(value) is TupleValue and isinstance(node, ast.Name | ast.Attribute):
            hint = f"take one of its items, as in {ast.unparse(node)}[0]"
        raise self.type_error(node, f"a scalar is needed here, not {describe(value)}", hint)
