"""What a program returns: its leaves as results of the function, its form as JSON.

The form, in the attribute `kern.result_tree`: ``{"array": k, "dtype": "f32"}`` for result k, an array of the
shape its type says; ``{"scalar": k, "dtype": "f64"}`` for a number (of rank 0, or a scalar type; "int" and
"float" are Python's, and so is "bool" unless ``"numpy": true`` stands beside it); ``{"constant": 3}`` (with
"dtype" for NumPy's) for what was known when compiling; ``{"tuple": [...]}``, with "name" and "fields" where it
is a named tuple or dataclass, and ``"list": true`` in the derivative by a list; ``{"dict": {...}}``; and null for
None.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from mlir import ir

from pykern.frontend.casts import materialise
from pykern.frontend.program import complex_arrays
from pykern.frontend.program.aliasing import check_fresh, current
from pykern.frontend.program.values import Cell, DictValue
from pykern.frontend.values import ComplexValue, NoneValue, Scalar, Text, TupleValue, Value, describe
from pykern.types import bool_

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator


def result_tree(t: ProgramTranslator, node: ast.AST, value: Value, results: list[ir.Value]) -> Any:
    """The form of a returned value; its leaves are added to `results`."""
    if isinstance(value, NoneValue):
        return None
    if isinstance(value, ComplexValue):
        return complex_arrays.result(t, node, value, results)
    if isinstance(value, Cell):
        value = current(value)
        check_fresh(t, node, value)
        assert isinstance(value, Cell)
        results.append(value.ssa)
        if not value.is_scalar:
            return {"array": len(results) - 1, "dtype": value.dtype.name}
        return {"scalar": len(results) - 1, "dtype": value.dtype.name, "numpy": True}
    if isinstance(value, Scalar):
        return _number(value, results)
    if isinstance(value, Text):
        return {"constant": value.value}
    if isinstance(value, TupleValue):
        tree: dict[str, Any] = {"tuple": [result_tree(t, node, item, results) for item in value.items]}
        return tree | ({"name": value.name, "fields": list(value.fields)} if value.fields else {})
    if isinstance(value, DictValue):
        return {"dict": {key: result_tree(t, node, item, results) for key, item in value.items}}
    raise t.type_error(node, f"an array program cannot return {describe(value)}",
                       "it returns arrays, numbers, tuples and dicts of them")  # fmt: skip


def _number(value: Scalar, results: list[ir.Value]) -> dict[str, Any]:
    python = value.dtype.weak or value.dtype == bool_
    if value.is_const and python:
        return {"constant": value.const}
    if value.is_const:
        return {"constant": value.const, "dtype": value.dtype.name}
    results.append(materialise(value))
    return {"scalar": len(results) - 1, "dtype": value.dtype.name}
