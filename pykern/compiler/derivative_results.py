"""What the derivative of an array program takes and gives: seeds, and the results that are left, in their form.

Read next: `program_derivatives`, which makes the derivative.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from mlir import ir
from mlir.dialects import arith, func

from pykern.compiler.program_halves import is_float_constant
from pykern.data.program_source import ProgramDerivative
from pykern.dialect import attributes as kern
from pykern.passes.autodiff.tensor.values import is_float

_FP8 = {"f8E4M3FN": "f8e4m3", "f8E5M2": "f8e5m2"}


def seed(made: func.FuncOp, seeds: int, objective: int | None) -> None:
    """Cotangents are known: one for the objective, zero for the other float results."""
    floats = [n for n, t in enumerate(list(made.type.results)) if is_float(t)]
    block = made.regions[0].blocks[0]
    first = len(block.arguments) - seeds
    for place in range(seeds):
        argument = block.arguments[first + place]
        with ir.InsertionPoint.at_block_begin(block):
            value = _constant(argument.type, 1.0 if floats[place] == objective else 0.0)
        argument.replace_all_uses_with(value)
    for number in reversed(range(first, first + seeds)):
        block.erase_argument(number)


def drop_seeds_of_updated(made: func.FuncOp, primal: func.FuncOp, kept: int) -> None:
    """Arguments written in place are no results of the program: nothing flows into them from outside."""
    block = made.regions[0].blocks[0]
    results = list(primal.type.results)
    dropped = sum(is_float(t) for t in results[kept:])
    for _ in range(dropped):
        number = len(block.arguments) - 1
        with ir.InsertionPoint.at_block_begin(block):
            zero = _constant(block.arguments[number].type, 0.0)
        block.arguments[number].replace_all_uses_with(zero)
        block.erase_argument(number)


def _constant(kind: ir.Type, value: float) -> ir.Value:
    attribute: Any
    if isinstance(kind, ir.ShapedType):
        element = ir.FloatAttr.get(ir.ShapedType(kind).element_type, value)
        attribute = ir.DenseElementsAttr.get_splat(kind, element)
    else:
        attribute = ir.FloatAttr.get(kind, value)
    return arith.ConstantOp(kind, attribute).result


def keep_results(made: func.FuncOp, tree: Any, updated: Sequence[int] = ()) -> None:
    """The function returns what the form names, in its order, and is a program of that form; its last results are the
    arguments `updated`."""
    block = made.regions[0].blocks[0]
    end = block.operations[len(block.operations) - 1].operation
    given = list(end.operands)
    kept: list[ir.Value] = []
    for leaf in _leaves(tree):
        kind = "array" if "array" in leaf else "scalar"
        value = given[leaf[kind]]
        leaf[kind] = len(kept)
        leaf.setdefault("dtype", dtype_of(value.type))
        kept.append(value)
    kept += given[len(given) - len(updated) :]
    with ir.InsertionPoint(end), end.location:
        func.ReturnOp(kept)
    end.erase()
    attributes = made.operation.attributes
    kind = ir.FunctionType.get([a.type for a in block.arguments], [v.type for v in kept])
    attributes["function_type"] = ir.TypeAttr.get(kind)
    names = list(ir.ArrayAttr(attributes["arg_attrs"]))[: len(block.arguments)]
    names += [ir.DictAttr.get({})] * (len(block.arguments) - len(names))
    attributes["arg_attrs"] = ir.ArrayAttr.get(names)
    if "res_attrs" in attributes:
        del attributes["res_attrs"]
    attributes[kern.PROGRAM] = ir.UnitAttr.get()
    attributes[kern.RESULT_TREE] = ir.StringAttr.get(json.dumps(tree))
    attributes[kern.UPDATED] = ir.DenseI64ArrayAttr.get(list(updated))


def dtype_of(kind: ir.Type) -> str:
    element = str(ir.ShapedType(kind).element_type if isinstance(kind, ir.ShapedType) else kind)
    return _FP8.get(element, element)


def jvp_tree(primal: func.FuncOp, tree: Any) -> Any:
    """Results, and the same form with the tangents of the float ones; others have none."""
    results = list(primal.type.results)
    place = {n: len(results) + k for k, n in enumerate(n for n, t in enumerate(results) if is_float(t))}

    def tangents(node: Any) -> Any:
        if not isinstance(node, dict):
            return None
        if "constant" in node:
            return node | {"constant": 0.0} if is_float_constant(node) else None
        for kind in ("array", "scalar"):
            if kind in node:
                more = {"complex": node["complex"]} if "complex" in node else {"numpy": True}
                return {kind: place[node[kind]], **more} if node[kind] in place else None
        if "dict" in node:  # its keys are the user's
            return node | {"dict": {key: tangents(item) for key, item in node["dict"].items()}}
        return node | {"tuple": [tangents(item) for item in node["tuple"]]}

    return {"tuple": [tree, tangents(tree)]}


def gradient_tree(tree: Any, gradients: Any, derivative: ProgramDerivative) -> Any:
    if derivative.value:
        return {"tuple": [tree, gradients]}
    if not derivative.aux:
        return gradients
    _, *rest = tree["tuple"]
    return {"tuple": [gradients, rest[0] if len(rest) == 1 else {"tuple": rest}]}


def numbered(form: Any, first: int) -> Any:
    """The form with its leaves counted from the result `first`."""
    if form is None:
        return None
    if "tuple" in form:
        return form | {"tuple": [numbered(item, first) for item in form["tuple"]]}
    if "dict" in form:
        return {"dict": {key: numbered(item, first) for key, item in form["dict"].items()}}
    kind = "array" if "array" in form else "scalar"
    return form | {kind: first + form[kind], "numpy": True}


def result_tree(primal: func.FuncOp) -> Any:
    """The form of what the program returns, with the number of each result."""
    return json.loads(ir.StringAttr(primal.operation.attributes[kern.RESULT_TREE]).value)


def _leaves(tree: Any) -> Iterator[dict[str, Any]]:
    """The nodes of results, in the order in which results are numbered."""
    if isinstance(tree, list):
        for item in tree:
            yield from _leaves(item)
    elif isinstance(tree, dict):
        if "array" in tree or "scalar" in tree:
            yield tree
        yield from _leaves(tree.get("tuple", []))
        yield from _leaves(list(tree.get("dict", {}).values()))
