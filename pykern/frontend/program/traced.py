"""A function of a program on tensors of its own, as derivatives are taken of it.

Comes in: a call inside of a program, and the arguments it is differentiated by. Goes out: a `Traced`, a module with one
program whose arguments are those, then every value of the program around that the body reads; and the derivatives'
values, whose ops stand where they are asked for. Who differentiates is above the frontend: the translator's `gradient`
(`pykern.compiler.inner_gradients`).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Union

from mlir import ir
from mlir.dialects import func

from pykern.data.program_source import ProgramDerivative, ProgramSource
from pykern.data.source import (
    DICT,
    ArgSpec,
    ArraySpec,
    Constant,
    KernelOptions,
    Parameter,
    ScalarSpec,
    StaticSpec,
    StructSpec,
)
from pykern.dialect import attributes as kern
from pykern.frontend.casts import materialise
from pykern.frontend.kernel import argument_names
from pykern.frontend.program import structures
from pykern.frontend.program.custom import tree_value
from pykern.frontend.program.results import result_tree
from pykern.frontend.program.values import Cell, DictValue, parts, with_parts
from pykern.frontend.values import Scalar, TupleValue, Value
from pykern.passes.ir.clone import replace_operands
from pykern.passes.ir.values import free_values

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

Slot = Union[int, str]
"""An argument of a call: its place, or its keyword."""
_CAPTURED = ".captured"


@dataclass(frozen=True)
class Traced:
    """`module` holds the function, `source` tells its parameters, `operands` are what they are here."""

    module: ir.Module
    source: ProgramSource
    operands: list[ir.Value]

    def derivative(
        self, t: ProgramTranslator, asked: ProgramDerivative, more: list[ir.Value] | None = None
    ) -> Value:
        """What it gives here; `more` are the tangents or cotangents it takes."""
        more = more or []
        added = tuple(Parameter(f".added{n}", _spec_of_type(v.type)) for n, v in enumerate(more))
        source = replace(
            self.source,
            parameters=(*self.source.parameters, *added),
            derivatives=(asked,),
            added=(len(added),),
        )
        assert t.gradient is not None, "whoever builds the program says who differentiates"
        tree, results = t.gradient(_copy(self.module), source, [*self.operands, *more], t.module)
        return structures.owned(t, tree_value(tree, results, [r.type for r in results]))


def trace(
    t: ProgramTranslator,
    node: ast.Call,
    callee: Value,
    args: list[Value],
    keywords: dict[str, Value],
    active: dict[Slot, str],
) -> Traced:
    """The function as it is called here, by the arguments `active`, which have these names."""
    operands: list[ir.Value] = []
    given = {slot: args[slot] if isinstance(slot, int) else keywords[slot] for slot in active}
    parameters = [Parameter(name, _passed(given[slot], operands)) for slot, name in active.items()]
    place = t.location(node)
    with place:
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            made = func.FuncOp("traced", ir.FunctionType.get([v.type for v in operands], []))
        block = made.add_entry_block()
    arguments = iter(list(block.arguments))
    around = t.module, t.kernels
    t.module, t.kernels = module, {}
    t.sealed.append(t.mark())
    bound = {slot: structures.owned(t, _with_arguments(value, arguments)) for slot, value in given.items()}
    args = [bound.get(n, structures.owned(t, _copied(value))) for n, value in enumerate(args)]
    keywords = {name: bound.get(name, structures.owned(t, _copied(v))) for name, v in keywords.items()}
    try:
        with ir.InsertionPoint(block), place, t.writes() as changed:
            value = t.called_with(node, callee, args, keywords)
            results: list[ir.Value] = []
            tree = result_tree(t, node, value, results)
            func.ReturnOp(results)
        for cell in (c for c in changed if c.born < t.sealed[-1]):
            raise t.type_error(node, f"the function changes {cell.description}, which is none of its arguments",
                               "let it make a copy: x2 = x.copy()")  # fmt: skip
    finally:
        t.sealed.pop()
        t.module, t.kernels = around
        captured = _isolate(made, place)
    parameters += [Parameter(f"{_CAPTURED}{n}", _spec_of_type(v.type)) for n, v in enumerate(captured)]
    _mark(made, parameters, results, tree)
    options = KernelOptions(t.source.options.debug, t.fastmath, t.source.options.ordered)
    source = ProgramSource(t.frame.function.source, tuple(parameters), options)
    return Traced(module, source, [*operands, *captured])


def _passed(value: Value, operands: list[ir.Value]) -> ArgSpec:
    """What the function is told of an argument; its arrays and numbers go to `operands`."""
    if isinstance(value, TupleValue | DictValue):
        named = value.items if isinstance(value, DictValue) else _named(value)
        kind = DICT if isinstance(value, DictValue) else value.name or "tuple"
        return StructSpec(kind, tuple((n, _passed(item, operands)) for n, item in named))
    if isinstance(value, Cell):
        operands.append(value.ssa)
        return ArraySpec(value.dtype.name, value.shape)
    if isinstance(value, Scalar) and is_variable(value):
        operands.append(materialise(value))
        return ScalarSpec(value.dtype.name)
    return StaticSpec(Constant(None))  # not differentiated: it is what it is


def is_variable(value: Scalar) -> bool:
    """Whether a number is an argument of the function; whole numbers that are known stay known."""
    return not value.is_const or value.dtype.is_float


def _named(value: TupleValue) -> tuple[tuple[str, Value], ...]:
    names = value.fields or tuple(str(n) for n in range(len(value.items)))
    return tuple(zip(names, value.items, strict=True))


def _with_arguments(value: Value, arguments: Iterator[ir.Value]) -> Value:
    """The value, its arrays and numbers what the function is given."""
    if isinstance(value, Cell):
        return Cell(value.dtype, value.shape, next(arguments), value.name, value.is_scalar)
    if isinstance(value, Scalar):
        return Scalar(value.dtype, next(arguments)) if is_variable(value) else value
    return _rebuilt(value, lambda item: _with_arguments(item, arguments))


def _copied(value: Value) -> Value:
    """Arrays that the function may write without anybody's seeing it."""
    if isinstance(value, Cell):
        return Cell(value.dtype, value.shape, value.ssa, value.name, value.is_scalar)
    return _rebuilt(value, _copied)


def _rebuilt(value: Value, made: Any) -> Value:
    if isinstance(value, TupleValue | DictValue):
        return with_parts(value, [made(item) for item in parts(value)])
    return value


def _isolate(made: func.FuncOp, place: ir.Location) -> list[ir.Value]:
    """Values from outside become arguments, constants are made again inside; the former."""
    block = made.regions[0].blocks[0]
    known: dict[ir.Value, ir.Value] = {}
    captured: list[ir.Value] = []
    for value in free_values(made.operation, nested_only=True):
        owner = value.owner
        if not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant":
            with ir.InsertionPoint.at_block_begin(block):
                known[value] = owner.operation.clone().operation.results[0]
        else:
            known[value] = block.add_argument(value.type, place)
            captured.append(value)
    replace_operands(made.operation, known)
    return captured


def _mark(made: func.FuncOp, parameters: list[Parameter], results: list[ir.Value], tree: Any) -> None:
    """The function as a program: see `pykern.frontend.program.program`."""
    block = made.regions[0].blocks[0]
    names = [name for p in parameters for name in argument_names(p.spec, p.name)]
    kind = ir.FunctionType.get([a.type for a in block.arguments], [r.type for r in results])
    attributes = made.operation.attributes
    attributes["function_type"] = ir.TypeAttr.get(kind)
    attributes["arg_attrs"] = ir.ArrayAttr.get(
        [ir.DictAttr.get({kern.NAME: ir.StringAttr.get(name)}) for name in names]
    )
    attributes[kern.PROGRAM] = ir.UnitAttr.get()
    attributes[kern.RESULT_TREE] = ir.StringAttr.get(json.dumps(tree))
    attributes[kern.UPDATED] = ir.DenseI64ArrayAttr.get([])


def _spec_of_type(kind: ir.Type) -> ArgSpec:
    if isinstance(kind, ir.ShapedType):
        shaped = ir.ShapedType(kind)
        return ArraySpec(str(shaped.element_type), tuple(shaped.shape))
    return ScalarSpec(str(kind))


def _copy(module: ir.Module) -> ir.Module:
    """A module to be changed, where this one may be asked for again."""
    with ir.Location.unknown(module.context):
        made = ir.Module.create()
    for op in module.body.operations:
        with ir.InsertionPoint(made.body):
            op.operation.clone()
    return made
