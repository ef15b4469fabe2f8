"""A function in the making: loops that a program calls where an op stood.

Comes in: the op, and the values the loops need from outside. Goes out: a `func.func` with those as its
arguments, then `lo` and `hi`; `Nest.inside` is where loops are emitted, `Nest.call` calls it.
"""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import func

from pykern.dialect import attributes as kern
from pykern.passes.ir.memory import VIEWS
from pykern.passes.ir.values import is_argument, is_inside
from pykern.passes.kernels import find, index_constant

TEAM = ".team"
"""What the symbol of a function ends with that shares another one's loop among threads."""


@dataclass
class NestContext:
    """The program that nests are made for, and the number of the next one."""

    module: ir.Module
    program: ir.Operation
    numbers: itertools.count = field(default_factory=itertools.count)


class Nest:
    """A function in the making: what it needs from outside becomes its arguments."""

    def __init__(
        self,
        place: NestContext,
        op: ir.Operation,
        outside: list[ir.Value],
        extent: int,
        has_body: bool = True,
    ) -> None:
        self.place, self.op, self.extent = place, op, extent
        self.passed: list[ir.Value] = []
        body_ops = find(op, lambda o: True) if has_body else []
        inside = [v for inner in body_ops for v in inner.operands if not is_inside(v, op)]
        for value in (*outside, *inside):
            self._need(value)
        self.inner = inside
        self.known: dict[ir.Value, ir.Value] = {}

    def _need(self, value: ir.Value) -> None:
        if _is_repeated(value):
            for operand in value.owner.operation.operands:
                self._need(operand)
        elif value not in self.passed:
            self.passed.append(value)

    def inside(self) -> _Inside:
        return _Inside(self)

    def value(self, value: ir.Value) -> ir.Value:
        """What a value of the program is in here. Views and constants are made again, at the top."""
        if value in self.known:
            return self.known[value]
        owner = value.owner.operation
        operands = [self.value(v) for v in owner.operands]
        with ir.InsertionPoint(self.views):
            made = owner.clone()
        for n, operand in enumerate(operands):
            made.operands[n] = operand
        self.known[value] = made.results[0]
        return made.results[0]

    def call(self, team: bool) -> None:
        """Call the function where the op stands."""
        symbol = self.symbol
        if team:
            symbol += TEAM
            with ir.InsertionPoint(self.place.module.body), self.op.location:
                func.FuncOp(symbol, ir.FunctionType.get(self.types, []), visibility="private")
        with ir.InsertionPoint(self.op), self.op.location:
            bounds = [index_constant(0), index_constant(self.extent)]
            func.CallOp([], ir.FlatSymbolRefAttr.get(symbol), [*self.passed, *bounds])


class _Inside:
    """The body of a nest's function, as a context."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest

    def __enter__(self) -> tuple[ir.Value, ir.Value]:
        nest = self.nest
        program = ir.StringAttr(nest.place.program.attributes["sym_name"]).value
        nest.symbol = f"{program}.nest{next(nest.place.numbers)}"
        nest.types = [*(v.type for v in nest.passed), ir.IndexType.get(), ir.IndexType.get()]
        with ExitStack() as entered:
            arguments = self._begin(nest, entered)
            self.entered = entered.pop_all()
        return arguments[-2], arguments[-1]

    def _begin(self, nest: Nest, entered: ExitStack) -> list[ir.Value]:
        entered.enter_context(nest.op.location)
        with ir.InsertionPoint(nest.place.module.body):
            made = func.FuncOp(nest.symbol, ir.FunctionType.get(nest.types, []))
        nest.function = made.operation
        _mark(made, nest.passed)
        block = made.add_entry_block()
        arguments = list(block.arguments)
        nest.known = dict(zip(nest.passed, arguments, strict=False))
        entered.enter_context(ir.InsertionPoint(block))
        nest.views = index_constant(0).owner.operation  # views stand before it, everything else behind
        inside = {value: nest.value(value) for value in nest.inner}
        for op in find(nest.op, lambda o: True):
            for n, operand in enumerate(op.operands):
                if operand in inside:
                    op.operands[n] = inside[operand]
        return arguments

    def __exit__(self, *error: object) -> None:
        with self.entered:
            if error[0] is None:
                func.ReturnOp([])


def _mark(made: func.FuncOp, passed: list[ir.Value]) -> None:
    attributes = made.operation.attributes
    attributes[kern.NEST] = ir.UnitAttr.get()
    attributes[kern.NOALIAS] = ir.UnitAttr.get()  # `passed` holds each buffer once
    attributes["sym_visibility"] = ir.StringAttr.get("private")
    attributes["passthrough"] = ir.ArrayAttr.get([ir.StringAttr.get("noinline")])
    noalias = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
    empty = ir.DictAttr.get({})
    made.arg_attrs = [
        *(noalias if isinstance(v.type, ir.MemRefType) else empty for v in passed),
        empty,
        empty,
    ]


def _is_repeated(value: ir.Value) -> bool:
    """Views and constants are made again inside of a function rather than passed."""
    if is_argument(value):
        return False
    name = value.owner.operation.name
    return name == "arith.constant" or (name in VIEWS and name not in ("arith.select", "memref.view"))
