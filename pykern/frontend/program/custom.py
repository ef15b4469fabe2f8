"""Calls of functions that bring their own derivative: a call stays a call until derivatives are taken.

Comes in: a call of a `CustomValue`. Goes out: ``func.call`` of a function of the module, whose mark
`kern.custom` names the two functions that reverse mode calls in its place, and `kern.gradients`: for each
operand the number of its cotangent among the results of the second, or -1.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mlir import ir
from mlir.dialects import func

from pykern.data.program_source import ProgramSource
from pykern.data.source import (
    LIST,
    ArgSpec,
    ArraySpec,
    CapturedCustom,
    Constant,
    FunctionSource,
    KernelOptions,
    Parameter,
    ScalarSpec,
    StaticSpec,
    StructSpec,
)
from pykern.dialect import attributes as kern
from pykern.errors import KernelTypeError
from pykern.frontend.arithmetic import python_constant
from pykern.frontend.casts import materialise
from pykern.frontend.parse import parse_function
from pykern.frontend.program import structures
from pykern.frontend.program.values import Cell, DictValue
from pykern.frontend.values import CustomValue, NoneValue, Scalar, Text, TupleValue, Value, describe
from pykern.types import BY_NAME

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


@dataclass(frozen=True)
class _Built:
    """A function of the module and what it returns."""

    operation: ir.Operation
    tree: Any

    @property
    def symbol(self) -> str:
        return ir.StringAttr(self.operation.attributes["sym_name"]).value

    @property
    def results(self) -> list[ir.Type]:
        kind = ir.TypeAttr(self.operation.attributes["function_type"]).value
        return list(ir.FunctionType(kind).results)


def call(t: ProgramTranslator, node: ast.Call, callee: CustomValue, args: list, keywords: dict) -> Value:
    """``f(*args)``."""
    captured = callee.custom
    values = t.bind(node, parse_function(captured.function), args, keywords)
    parameters: list[Parameter] = []
    operands: list[ir.Value] = []
    places: list[int | None] = []  # of each parameter's operand
    for name, value in values.items():
        spec, operand = passed_leaf(t, node, name, value, "a custom_vjp function")
        parameters.append(Parameter(name, spec))
        places.append(None if operand is None else len(operands))
        operands += [] if operand is None else [operand]
    options = KernelOptions(False, t.fastmath)
    primal = _build(t, node, captured.function, tuple(parameters), options)
    forward = _build(t, node, captured.forward, _named(captured.forward, parameters, t, node), options)
    value, kept = _pair(t, node, captured.forward, forward)
    before = forward.results[: len(primal.results)]
    if value != primal.tree or [str(r) for r in primal.results] != [str(r) for r in before]:
        raise t.type_error(node, f"`{captured.forward.name}` gives another value than `{captured.function.name}`",
                           "it returns (value, kept), its value that of the function")  # fmt: skip
    given = [_tree_spec(kept, forward), _tree_spec(value, forward)]
    backward_names = _parameter_names(captured.backward)
    if len(backward_names) != 2:
        raise t.type_error(node, f"`{captured.backward.name}` takes (kept, cotangent)")
    backward = _build(
        t, node, captured.backward,
        tuple(Parameter(n, s) for n, s in zip(backward_names, given, strict=True)), options,
    )  # fmt: skip
    _mark(t, node, captured, primal, forward, backward, places)
    made = func.CallOp(primal.results, ir.FlatSymbolRefAttr.get(primal.symbol), operands)
    return structures.owned(t, tree_value(primal.tree, list(made.results), primal.results))


def _mark(
    t: ProgramTranslator,
    node: ast.AST,
    captured: CapturedCustom,
    primal: _Built,
    forward: _Built,
    backward: _Built,
    places: list[int | None],
) -> None:
    """Say on the function which others reverse mode calls, and where it finds the cotangents."""
    tree = backward.tree
    given = tree["tuple"] if isinstance(tree, dict) and "tuple" in tree else [tree]
    if len(given) != len(places):
        raise t.type_error(
            node,
            f"`{captured.backward.name}` gives {len(given)} cotangents for {len(places)} arguments",
            "return a tuple with one for each, None where nothing flows",
        )
    gradients = [-1] * sum(p is not None for p in places)
    for leaf, place in zip(given, places, strict=True):
        if place is not None and isinstance(leaf, dict):
            number = leaf.get("array", leaf.get("scalar"))
            if number is not None:
                gradients[place] = number
    attributes = primal.operation.attributes
    names = [ir.FlatSymbolRefAttr.get(b.symbol) for b in (forward, backward)]
    attributes[kern.CUSTOM] = ir.ArrayAttr.get(names)
    attributes[kern.GRADIENTS] = ir.DenseI64ArrayAttr.get(gradients)
    attributes["no_inline"] = ir.UnitAttr.get()


def passed_leaf(
    t: ProgramTranslator, node: ast.AST, name: str, value: Value, of: str
) -> tuple[ArgSpec, ir.Value | None]:
    """What a function is told of an argument that is no structure, and its value where it has one."""
    if isinstance(value, Cell):
        return ArraySpec(value.dtype.name, value.shape), value.ssa
    if isinstance(value, Scalar) and not value.is_const:
        return ScalarSpec(value.dtype.name), materialise(value)
    if isinstance(value, Scalar):
        return StaticSpec(Constant(value.const, "" if value.dtype.weak else value.dtype.name)), None
    if isinstance(value, Text):
        return StaticSpec(Constant(value.value)), None
    if isinstance(value, NoneValue):
        return StaticSpec(Constant(None)), None
    raise t.type_error(node, f"`{name}` of {of} cannot be {describe(value)}",
                       "pass arrays and numbers")  # fmt: skip


def _build(
    t: ProgramTranslator,
    node: ast.AST,
    source: FunctionSource,
    parameters: tuple[Parameter, ...],
    options: KernelOptions,
) -> _Built:
    """The function for these arguments, in the module under a name of its own."""
    module = t.build(ProgramSource(source, parameters, options), t.gradient)
    operations = list(module.body.operations)
    if len(operations) > 1:
        raise t.type_error(node, f"`{source.name}` launches kernels, or calls other custom_vjp functions",
                           "write it with operations on arrays")  # fmt: skip
    made = operations[0].operation
    if list(ir.DenseI64ArrayAttr(made.attributes[kern.UPDATED])):
        raise t.type_error(node, f"`{source.name}` writes an argument", "return a new array")
    tree = json.loads(ir.StringAttr(made.attributes[kern.RESULT_TREE]).value)
    taken = {ir.StringAttr(o.attributes["sym_name"]).value for o in t.module.body.operations}
    number = sum(name.startswith(f"{source.name}.custom") for name in taken)
    with ir.InsertionPoint(t.module.body):
        copy = made.clone().operation
    copy.attributes["sym_name"] = ir.StringAttr.get(f"{source.name}.custom{number}")
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    for name in (kern.PROGRAM, kern.UPDATED, kern.RESULT_TREE):
        del copy.attributes[name]
    copy.attributes[kern.HELPER] = ir.UnitAttr.get()
    return _Built(copy, tree)


def _named(source: FunctionSource, parameters: list[Parameter], t: ProgramTranslator, node: ast.AST) -> tuple:
    """The parameters under the names another function gives them."""
    names = _parameter_names(source)
    if len(names) != len(parameters):
        raise t.type_error(
            node, f"`{source.name}` takes {len(names)} arguments, and the function {len(parameters)}"
        )
    return tuple(replace(p, name=n) for p, n in zip(parameters, names, strict=True))


def _parameter_names(source: FunctionSource) -> list[str]:
    signature = parse_function(source).node.args
    return [a.arg for a in (*signature.posonlyargs, *signature.args, *signature.kwonlyargs)]


def _pair(t: ProgramTranslator, node: ast.AST, source: FunctionSource, built: _Built) -> tuple[Any, Any]:
    tree = built.tree
    if not (isinstance(tree, dict) and len(tree.get("tuple", ())) == 2):
        raise t.type_error(node, f"`{source.name}` returns (value, kept)")
    value, kept = tree["tuple"]
    return value, kept


def _tree_spec(tree: Any, built: _Built) -> ArgSpec:
    """What is passed for a value of this form."""
    if tree is None:
        return StaticSpec(Constant(None))
    if "constant" in tree:
        return StaticSpec(Constant(tree["constant"], tree.get("dtype", "")))
    if "tuple" in tree:
        items = enumerate(tree["tuple"])
        return StructSpec("tuple", tuple((str(n), _tree_spec(item, built)) for n, item in items))
    if "dict" in tree:
        raise KernelTypeError("a custom_vjp function keeps arrays, numbers and tuples of them, no dict")
    kind = built.results[tree["array"] if "array" in tree else tree["scalar"]]
    if isinstance(kind, ir.ShapedType):
        return ArraySpec(tree["dtype"], tuple(ir.ShapedType(kind).shape))
    return ScalarSpec(tree["dtype"])


def tree_value(tree: Any, results: list[ir.Value], types: list[ir.Type]) -> Value:
    """What a call gives, from its results."""
    if tree is None:
        return NoneValue()
    if "constant" in tree:
        return (
            Scalar(BY_NAME[tree["dtype"]], const=tree["constant"])
            if "dtype" in tree
            else _python(tree["constant"])
        )
    if "tuple" in tree:
        items = tuple(tree_value(item, results, types) for item in tree["tuple"])
        name = LIST if "list" in tree else tree.get("name", "")
        return TupleValue(items, name, tuple(tree.get("fields", ())))
    if "dict" in tree:
        return DictValue(tuple((key, tree_value(item, results, types)) for key, item in tree["dict"].items()))
    number = tree["array"] if "array" in tree else tree["scalar"]
    dtype, kind = BY_NAME[tree["dtype"]], types[number]
    if isinstance(kind, ir.ShapedType):
        shape = tuple(ir.ShapedType(kind).shape)
        return Cell(dtype, shape, results[number], is_scalar="scalar" in tree)
    return Scalar(dtype, results[number])


def _python(constant: Any) -> Value:
    return python_constant(constant)
